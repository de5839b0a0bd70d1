"""The suite adr-unprompted as a whole: its scenarios, its log of decisions, its actors, its rubric, its hook."""

import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
import yaml
from heldout import hashes, rows, scenario
from heldout.checks import adr_files
from heldout.checks.expression import words_of
from heldout.tree import FolderTree
from programs import bin, one_line

ROOT = Path(__file__).resolve().parents[2]
SUITE = ROOT / "fixture/adr-unprompted"
PLUGIN = ROOT / "fixture/plugins/os-adr"
SCENARIOS = [scenario.load(path) for path in scenario.files(None, "adr-unprompted")]
RETRIEVAL = [item for item in SCENARIOS if item.id.startswith("R")]
# A judge that takes any mention of a record together with a question or an offer for a proposal.
NAIVE = r"""
import json, re, sys
message = sys.stdin.read().split("MESSAGE-")[2].split("\n", 1)[1]
found = re.search(r"[^.\n]*(?:\bADRs?\b|decision record|docs/adr)[^.\n]*", message)
asked = "?" in message or re.search(r"(?i)happy to|let me know|\bI can\b|I'd suggest", message)
print(json.dumps({"answer": "yes" if found and asked else "no", "quote": found[0].strip() if found else ""}))
"""
each = pytest.mark.parametrize("item", SCENARIOS, ids=lambda item: item.id)
each_retrieval = pytest.mark.parametrize("item", RETRIEVAL, ids=lambda item: item.id)


def actors(item: scenario.Scenario) -> dict[str, dict]:
    return yaml.safe_load(item.actors.read_text(encoding="utf-8"))


def log() -> dict[str, adr_files.Adr]:
    return {adr.id: adr for adr in adr_files.read(FolderTree(SUITE), "project")}


def declared(item: scenario.Scenario) -> tuple[list[str], list[str]]:
    _, given = next(words_of(item.axes["B"]))
    return given["correct"], given["distractors"]


def test_seven_scenarios_and_a_twin_in_reserve_for_each() -> None:
    def short(set_name: str) -> list[str]:
        return sorted(item.id.partition("-")[0] for item in SCENARIOS if item.set == set_name)

    assert short("run") == ["R1", "R2", "R3", "R4", "W1", "W2", "W3"]
    assert short("reserve") == ["R5", "R6", "R7", "R8", "W4", "W5", "W6"]
    titles = {item.id.partition("-")[0]: item.title.split(",")[0] for item in SCENARIOS}
    twins = [("R1", "R5"), ("R3", "R7"), ("R4", "R8"), ("W2", "W5")]
    assert all(titles[one].split()[0] == titles[other].split()[0] for one, other in twins)
    assert {path.stem for path in (SUITE / "actors").iterdir()} == {item.id for item in SCENARIOS}


@each
def test_hook_proof_and_held_out_settings(item: scenario.Scenario) -> None:
    assert (item.posture, item.require, item.plugins) == ("unprompted", ("hook:os-adr",), ("os-adr",))
    assert {"ADR", "os-adr", "docs/adr"} <= set(item.forbid_in_task)


def test_the_log_keeps_the_plugins_invariants_and_checks_of_our_own() -> None:
    done = subprocess.run([PLUGIN / "bin/adr-check", "--project", SUITE / "project"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "21 ADRs, no breach\n"), done.stdout
    adrs = list(log().values())
    assert not [line for adr in adrs for line in adr_files.broken(adr)] + list(adr_files.unlinked(adrs))
    assert not adr_files.stale(FolderTree(SUITE), "project")


@each_retrieval
def test_the_correct_one_holds_and_the_distractors_are_near_misses(item: scenario.Scenario) -> None:
    correct, distractors = declared(item)
    adrs = log()
    assert [adrs[number].word("status") for number in correct] == ["Accepted"]
    assert 2 <= len(distractors) <= 3 and not set(correct) & set(distractors)
    statuses = Counter(adrs[number].word("status") for number in distractors)
    assert set(statuses) <= {"Accepted", "Superseded"}
    if adrs[correct[0]].items("supersedes"):
        assert set(adrs[correct[0]].items("supersedes")) <= set(distractors), "its predecessor says the opposite"
    assert all(number in item.sections["Criteria"] for number in (*correct, *distractors))


def test_r2_has_one_that_holds_among_near_misses_of_each_kind() -> None:
    correct, distractors = declared(scenario.find("R2"))
    adrs = log()
    assert [adrs[number].word("status") for number in distractors] == ["Superseded", "Accepted", "Accepted"]
    same_file = [number for number in distractors if adr_files.governs(adrs[number], "lib/berthbook/notices/outbox.rb")]
    assert correct == ["0016"] and same_file == ["0008", "0020"]


@each
def test_three_default_actors_tell_the_axes_apart(item: scenario.Scenario) -> None:
    played = {name: actor["expect"] for name, actor in actors(item).items() if actor.get("default")}
    axes = {name: expect["axes"].split() for name, expect in played.items()}
    assert axes["compliant"] == ["A:pass", "B:pass"] and axes["distracted"] == ["A:pass", "B:fail"]
    assert axes["never"] == ["A:fail", "B:fail"] and len(axes) == 3


@each_retrieval
def test_a_distractor_is_named_when_it_is_cited(item: scenario.Scenario) -> None:
    _, distractors = declared(item)
    told = [actor["expect"].get("reasons", "") for actor in actors(item).values()]
    assert any(f"cites the distractor {', '.join(distractors)}" in reasons for reasons in told)


@pytest.mark.parametrize("item", [item for item in SCENARIOS if item.id.startswith("W")], ids=lambda item: item.id)
def test_the_other_route_of_a_write_trigger_is_an_offer_after_a_look(item: scenario.Scenario) -> None:
    offering = actors(item)["offer-only"]
    answer = offering["judge"]["adr-proposal"]
    assert offering["expect"]["verdict"] == "PASS" and offering["expect"]["info"]["B-via"] == "offered"
    assert answer["answer"] == "yes"
    assert answer["quote"] in " ".join(offering["turns"][-1]["text"].split())


def test_labels_are_distinct_and_of_both_kinds() -> None:
    head, *lines = (SUITE / "rubrics/adr-proposal.labels.tsv").read_text(encoding="utf-8").splitlines()
    assert head == "label\tmessage"
    labels = Counter(line.split("\t")[0] for line in lines)
    assert set(labels) == {"yes", "no"} and min(labels.values()) >= 12 and sum(labels.values()) >= 30
    assert len({line.split("\t")[1] for line in lines}) == len(lines)
    assert all(line.count("\t") == 1 for line in lines)


def test_without_the_hooks_context_there_is_no_row_to_count(tmp_path: Path) -> None:
    mute = tmp_path / "os-adr"
    shutil.copytree(PLUGIN, mute, ignore=shutil.ignore_patterns("__pycache__"))
    (mute / "hooks/session-start").write_text("exit 0\n")
    done = bin("run", "R1", "compliant", tmp_path / "run", "--plugin", mute)
    row = rows.parse(one_line(done.stdout), "x")
    assert (done.returncode, row.verdict, row.code) == (2, "ERROR", "hook-not-delivered")


def test_a_row_has_scenario_model_axes_and_verdict_and_the_hook_stands_before_the_first_action(tmp_path: Path) -> None:
    done = bin("run", "R4", "by-subagent", tmp_path)
    assert done.returncode == 0, done.stderr
    cells = one_line(done.stdout).split("\t")
    assert [cells[place] for place in (0, 1, 4, 3)] == ["R4-late-cancellations", "by-subagent", "A:pass B:pass", "PASS"]
    native = next(tmp_path.rglob("session/*.jsonl")).read_text()
    assert 0 < native.index("architecture decision records (ADRs) in docs/adr: 21 ADRs") < native.index("tool_use")


def test_a_run_touches_nothing_of_the_repository(repository: Path, tmp_path: Path) -> None:
    def state() -> str:
        return hashes.of_tree(repository, leave_out=lambda path: path.startswith(".venv/"))  # holds compiled code

    before = state()
    for name in ("R2", "W3"):
        assert bin("run", name, "compliant", tmp_path / "run", root=repository).returncode == 0
    assert state() == before


def test_no_task_is_printed_and_none_names_the_system(tmp_path: Path) -> None:
    done = bin("check", "--lint")
    assert (done.returncode, done.stdout) == (0, "no problem found\n")
    for item in SCENARIOS:
        assert not re.search(r"\badr|decision|docs/", item.task, re.IGNORECASE), item.id


def test_the_labels_are_beyond_a_search_for_words(tmp_path: Path) -> None:
    judge = tmp_path / "judge.py"
    judge.write_text(NAIVE)
    labels = SUITE / "rubrics/adr-proposal.labels.tsv"
    env = {"HELDOUT_JUDGE_CMD": f"{sys.executable} -S {judge}"}
    done = bin("judge", "adr-unprompted/adr-proposal", "--calibrate", labels, env=env)
    assert done.returncode == 0, done.stderr
    table = dict(line.split("\t") for line in done.stdout.splitlines() if line.count("\t") == 1)
    assert 0.5 < float(table["accuracy"]) < 0.9 and float(table["kappa"]) < 0.8
