"""Prompted scenarios: one prompt for a run and for a driver, and a score of what a driver brings back."""

import hashlib
import json
import os
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest
from heldout import cell, digests, prompts, rows, scenario
from heldout.agents import roster
from heldout.errors import Refusal
from programs import ROOT, bin, command, one_line

PLUGIN = ROOT / "fixture/plugins/os-adr"
NAMES = [path.stem for path in scenario.files("run", "adr-skills")]
S5 = scenario.find("S5")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run folder with a cell of each scenario, played by its compliant actor, and one that answers by itself."""
    folder = tmp_path_factory.mktemp("run")
    lines = [f"{folder}/adr-skills/{name}/compliant/r1/cell.json\n" for name in NAMES]
    lines.append(f"{folder}/adr-skills/S3-find-plan/writes-the-answer/r1/cell.json\n")
    place = {"HELDOUT_SANDBOXES": str(tmp_path_factory.getbasetemp() / "sandboxes")}
    done = bin("run", "--cells", "-", stdin="".join(lines), env=place)
    assert done.returncode == 0, done.stderr
    return folder


def _cell(run: Path, name: str, actor: str = "compliant") -> Path:
    return run / "adr-skills" / name / actor / "r1"


def _unpacked(run: Path, name: str, to: Path) -> Path:
    with tarfile.open(_cell(run, name) / "sandbox.tar.gz") as tar:
        tar.extractall(to, filter="data")
    return to


def _kept(folder: Path, path: str) -> str:
    with tarfile.open(folder / "sandbox.tar.gz") as tar:
        stream = tar.extractfile(path)
        assert stream
        return stream.read().decode()


@pytest.mark.parametrize("name", NAMES)
def test_a_sandbox_alone_is_scored_both_ways(run: Path, tmp_path: Path, name: str) -> None:
    """What a driver brings back has no transcript; a fresh sandbox fails."""
    done = bin("check", name, _unpacked(run, name, tmp_path / "done"), "--tsv", "haiku", "--rep", 2)
    row = rows.parse(done.stdout, "x")
    assert (done.returncode, row.verdict, row.model, row.rep) == (0, "PASS", "haiku", 2), done.stdout
    bin("sandbox", name, tmp_path / "fresh")
    row = rows.parse(bin("check", name, tmp_path / "fresh", "--tsv", "haiku").stdout, "x")
    assert row.verdict == "FAIL" and row.reasons


def test_an_answer_counts_in_the_working_directory_and_in_the_root(tmp_path: Path) -> None:
    bin("sandbox", "S4", tmp_path / "s")
    (tmp_path / "s/ANSWER.md").write_text("It is ADR 0002.\n")
    assert bin("check", "S4", tmp_path / "s").returncode == 0
    (tmp_path / "s/project/ANSWER.md").write_text("It is ADR 0004.\n")
    told = bin("check", "S4", tmp_path / "s")
    assert told.returncode == 1 and "cites 0004 'Send reminders from a nightly job' (Accepted)" in told.stdout


def test_run_writes_a_missing_answer_and_no_other(run: Path, played: Path) -> None:
    said = json.loads((_cell(run, "S4-find-rule") / "facts.json").read_text())["answers"]["final_message"]
    assert _kept(_cell(run, "S4-find-rule"), "project/ANSWER.md") == f"{said.rstrip()}\n"
    own = _cell(run, "S3-find-plan", "writes-the-answer")
    assert _kept(own, "project/ANSWER.md").startswith("# Answer\n\n**Conflict.**")
    assert [cell.read(item).answered_by for item in (_cell(run, "S4-find-rule"), own)] == ["run", "agent"]
    unprompted = played / "vault-write/P1-L1-reporting/compliant/r1"
    with tarfile.open(unprompted / "sandbox.tar.gz") as tar:
        assert not [name for name in tar.getnames() if "ANSWER" in name]
    assert cell.read(unprompted).answered_by == ""


def test_run_and_prompt_give_the_same_words(run: Path, tmp_path: Path) -> None:
    def given(item: scenario.Scenario) -> str:
        """The prompt that the run gave, known by its digest."""
        record = cell.read(_cell(run, item.id))
        text = prompts.render(item, Path(record.cwd), item.plugin_roots())
        assert f"sha256:{hashlib.sha256(text.encode()).hexdigest()}" in record.argv
        assert text.count(record.cwd) == 2
        return text.replace(record.cwd, str(tmp_path / item.cwd))

    for item in map(scenario.find, NAMES):
        text = given(item)
        assert item.task in text and f"{PLUGIN}/skills/{item.skill}/SKILL.md" in text and "{{" not in text
    (tmp_path / S5.cwd).mkdir()
    assert bin("prompt", "S5", tmp_path).stdout == given(S5)


def test_prompt_takes_another_plugin_and_refuses_one_without_the_skill(tmp_path: Path) -> None:
    (tmp_path / "s/legacy-project").mkdir(parents=True)
    (tmp_path / "mine/skills/init").mkdir(parents=True)
    (tmp_path / "mine/skills/init/SKILL.md").touch()
    done = bin("prompt", "S5", tmp_path / "s", "--plugin", tmp_path / "mine")
    assert f"{tmp_path}/mine/skills/init/SKILL.md" in done.stdout and str(PLUGIN) not in done.stdout
    done = bin("prompt", "S6", tmp_path / "s", "--plugin", tmp_path / "mine")
    assert done.returncode == 2 and "skill 'migrate' is not in" in one_line(done.stderr)
    done = bin("prompt", "S1", tmp_path / "s")
    assert done.returncode == 2 and "has no folder 'project'" in one_line(done.stderr)


def test_what_is_held_out_is_never_shown(tmp_path: Path) -> None:
    task = scenario.find("N4").task.split()
    for words in (("N4", tmp_path), ("--cells", tmp_path / "f")):
        line = f"{tmp_path}/vault-write/N4-L1-delivery/haiku/r1/cell.json\n"
        done = bin("prompt", *words, stdin=line)
        assert (done.returncode, done.stdout) == (2, "")
        assert "nothing but a run may carry its Task" in one_line(done.stderr)
        assert " ".join(task[:6]) not in done.stderr


@pytest.fixture
def template(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The runner prompt of adr-skills, to be written by a test."""
    monkeypatch.setattr(scenario, "FIXTURES", tmp_path)
    (tmp_path / "adr-skills").mkdir()
    return tmp_path / "adr-skills/runner-prompt.md"


def test_a_runner_prompt_with_a_placeholder_misspelt(template: Path) -> None:
    template.write_text("one\ntwo {{SANDBOXX}}\n")
    with pytest.raises(Refusal, match=r"md:2: unknown placeholder '\{\{SANDBOXX\}\}'; did you mean 'SANDBOX'\?"):
        prompts.render(S5, Path("/w"), [PLUGIN])


def test_a_runner_prompt_that_wants_what_the_scenario_does_not_name(template: Path) -> None:
    item = replace(S5, skill=None)
    template.write_text("{{SANDBOX}} {{SKILL}}\n")
    with pytest.raises(Refusal, match=r"S5-init\.md: key 'skill' is missing: 'runner-prompt\.md' has"):
        prompts.render(item, Path("/w"), [PLUGIN])
    template.write_text("{{SANDBOX}}: {{TASK}}\n")
    assert prompts.render(item, Path("/w"), []) == f"/w: {item.task}\n"


def test_without_a_runner_prompt_the_task_is_the_prompt(template: Path) -> None:
    assert prompts.render(S5, Path("/w"), [PLUGIN]) == S5.task
    unprompted = replace(S5, posture="unprompted")
    template.write_text("Be careful. {{TASK}}\n")
    assert prompts.render(unprompted, Path("/w"), [PLUGIN]) == S5.task


def test_the_runner_prompt_is_part_of_the_instrument(template: Path) -> None:
    parts = []
    for text in ("{{TASK}}", "Hurry. {{TASK}}"):
        template.write_text(text)
        parts.append(digests.run_parts(S5, "actor"))
    assert digests.moved(*parts) == ["task"]


def test_a_placeholder_in_a_task_is_text() -> None:
    item = replace(S5, sections={**S5.sections, "Task": "Write {{SKILL}} and {{OTHER}}."})
    assert "Write {{SKILL}} and {{OTHER}}." in prompts.render(item, Path("/w"), [PLUGIN])


def test_only_a_prompted_scenario_names_a_skill(tmp_path: Path) -> None:
    folder = tmp_path / "vault-write"
    folder.mkdir()
    text = (ROOT / "scenarios/vault-write/P1-L1-reporting.md").read_text()
    (folder / "P1-L1-reporting.md").write_text(text.replace("posture:", "skill: vault-write\nposture:"))
    with pytest.raises(Refusal, match="5: 'skill' is for prompted scenarios, and this one is unprompted"):
        scenario.load(folder / "P1-L1-reporting.md")


def test_a_skill_that_no_plugin_of_the_scenario_has(tmp_path: Path) -> None:
    (tmp_path / "adr-skills").mkdir()
    path = tmp_path / "adr-skills/S5-init.md"
    path.write_text(S5.path.read_text().replace("skill: init", "skill: initt"))
    with pytest.raises(Refusal, match="no plugin of the scenario has the skill 'initt'; did you mean 'init'"):
        scenario.load(path)


def test_a_driver_gets_blind_prompts_of_the_run_set_and_is_scored(repository: Path, run: Path, tmp_path: Path) -> None:
    source = (ROOT / "scenarios/adr-skills/S5-init.md").read_text().replace("id: S5-init", "id: S9-init")
    (repository / "scenarios-reserve/adr-skills").mkdir()
    (repository / "scenarios-reserve/adr-skills/S9-init.md").write_text(source)
    done = bin("seal", "accept", "--reason", "a new reserve", root=repository)
    assert done.returncode == 0, done.stderr
    done = bin("prompt", "S9", tmp_path, root=repository)
    assert done.returncode == 2 and "'S9-init' is in the reserve" in one_line(done.stderr)
    to = tmp_path / "driver"
    words = [f"TO={to}", "MODELS=sonnet haiku", "SCENARIOS=S3 S5", "REPS=1"]
    done = command(["make", "-C", repository, "prompts", *words])
    assert done.returncode == 0, done.stderr
    table = [line.split("\t") for line in (to / "cells.tsv").read_text().splitlines()]
    assert table[0] == ["prompt", "sandbox", "scenario", "model", "rep"]
    assert [row[2:] for row in table[1:]] == [
        [f"adr-skills/{name}", model, "1"] for name in ("S3-find-plan", "S5-init") for model in ("sonnet", "haiku")
    ]
    for prompt, sandbox, name, *_ in table[1:]:
        text = Path(prompt).read_text()
        assert sandbox in text and Path(sandbox).name.isdigit()
        assert not [word for word in (name, name.partition("/")[2], "sonnet", "haiku") if word in text]
    _unpacked(run, "S3-find-plan", Path(table[1][1]))
    (Path(table[2][1]) / "ANSWER.md").write_text("Done.\n")
    (Path(table[3][1]) / S5.cwd / "ANSWER.md").write_text("Done.\n")
    done = command(["make", "-C", repository, "answers", f"TO={to}"])
    assert done.returncode == 2, "a sandbox that nobody worked in is no trial"
    assert [(row.scenario, row.model, row.verdict, row.code) for row in rows.read(to / "results.tsv")] == [
        ("S3-find-plan", "sonnet", "PASS", ""),
        ("S3-find-plan", "haiku", "FAIL", ""),
        ("S5-init", "sonnet", "FAIL", ""),
        ("S5-init", "haiku", "ERROR", "no-result"),
    ]
    done = command(["make", "-C", repository, "prompts", *words])
    assert done.returncode == 2 and "is not empty; name a new folder" in done.stderr


def test_a_driver_needs_no_client_and_gets_prompted_scenarios_alone(tmp_path: Path) -> None:
    done = bin("cells", tmp_path / "x", "--models", "haiku", "--in-session", env={"PATH": os.defpath})
    assert done.returncode == 0, done.stderr
    listed = {cell.at(Path(line).parent).scenario for line in done.stdout.splitlines()}
    assert listed >= set(NAMES) and all(scenario.find(name).posture == "prompted" for name in listed)
    assert roster.resolve("haiku", scenario.find("S1")).agent == "claude"
