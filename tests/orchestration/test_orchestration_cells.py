"""Cells of the suite through the programs: what is scored from what is kept, and the overrides of the requirement."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml
from heldout import rows, scenario
from heldout.rows import Row
from programs import ROOT, bin, one_line

PLAYED = {
    "E1P-pipeline-review": ("compliant", "flagged-on-the-way"),
    "E3P-dropped-events": ("compliant", "overread"),
    "E5P-alert-runbooks": ("missing-page",),
}
ECONOMICS = {"mltok", "sctok", "mlshare", "prebytes", "spawns", "maxrounds"}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run folder with the cells of PLAYED. Tests that change one copy it."""
    folder = tmp_path_factory.mktemp("orchestration")
    place = {"HELDOUT_SANDBOXES": str(tmp_path_factory.getbasetemp() / "sandboxes")}
    cells = [f"{cell_of(folder, name, actor)}/cell.json\n" for name, actors in PLAYED.items() for actor in actors]
    done = bin("run", "--cells", "-", "--no-check", "--withhold-task", stdin="".join(cells), env=place)
    assert done.returncode == 0, done.stderr
    return folder


def cell_of(run: Path, name: str, actor: str) -> Path:
    return run / "orchestration" / name / actor / "r1"


@pytest.fixture
def copy(run: Path, tmp_path: Path):
    """A function that copies a cell to a run folder of its own."""

    def make(name: str, actor: str) -> Path:
        target = cell_of(tmp_path / "run", name, actor)
        shutil.copytree(cell_of(run, name, actor), target)
        return target

    return make


def row(*words: object, env: Mapping[str, str] | None = None) -> Row:
    return rows.parse(one_line(bin("check", *words, "--tsv", "m", env=env).stdout), "x")


def test_every_row_has_the_economics(run: Path) -> None:
    done = bin("check", "--cells", run)
    table = [rows.parse(line, "x") for line in done.stdout.splitlines()[1:]]
    assert len(table) == 5
    assert all(item.info.keys() >= ECONOMICS for item in table)
    shown = next(item for item in table if (item.scenario, item.model) == ("E3P-dropped-events", "compliant")).info
    assert (shown["spawns"], shown["maxrounds"]) == ("1", "1")
    assert 0 < int(shown["prebytes"]) < 1000
    facts = json.loads((cell_of(run, "E3P-dropped-events", "compliant") / "facts.json").read_text())
    assert facts["bytes_read"]["sidechain"] > 74_000 > facts["bytes_read"]["main"]  # what subagents read is not counted
    share = int(shown["mltok"]) / (int(shown["mltok"]) + int(shown["sctok"]))
    assert float(shown["mlshare"]) == round(share, 3)


def test_a_missing_transcript_is_an_error_whatever_the_axes(copy) -> None:
    folder = copy("E3P-dropped-events", "overread")
    (folder / "transcript.jsonl").unlink()
    (folder / "facts.json").unlink()
    shutil.rmtree(folder / "session")
    gone = row("E3P", folder)
    assert (gone.verdict, gone.code) == ("ERROR", "no-transcript")


def test_the_native_transcript_alone_is_enough_but_not_without_its_subagents(run: Path, tmp_path: Path) -> None:
    folder = cell_of(run, "E3P-dropped-events", "compliant")
    native = next((folder / "session").glob("*.jsonl"))
    whole = row("E3P", folder / "sandbox.tar.gz", "--transcript", native)
    assert (whole.verdict, whole.info["sctok"] > "0") == ("PASS", True)
    shutil.copy2(native, tmp_path)
    alone = row("E3P", folder / "sandbox.tar.gz", "--transcript", tmp_path / native.name)
    assert (alone.verdict, alone.axes, alone.code) == (
        "ERROR", {"A": "pass", "B": "pass", "C": "undecided"}, "no-transcript",
    )  # fmt: skip


def test_pending_questions_carry_the_text_and_the_judge_gets_exactly_that(copy, tmp_path: Path) -> None:
    folder = copy("E1P-pipeline-review", "flagged-on-the-way")
    pending = bin("check", "--pending", folder)
    place, rubric, text = one_line(pending.stdout).split("\t")
    assert (place, rubric) == (str(folder), "orchestration/downgrade-flag")
    wanted = "Before I go on, about the queue review. Requested: sonnet. Delivered: claude-haiku-5-5."
    assert json.loads(text) == wanted
    assert wanted not in json.loads((folder / "facts.json").read_text())["answers"]["final_message"]
    record = json.loads((folder / "cell.json").read_text())
    (folder / "cell.json").write_text(json.dumps({**record, "agent": "claude"}))  # a script has its own judge
    judge = {"ORCH_EVAL_JUDGE_CMD": f'tee {tmp_path}/asked >/dev/null; echo \'{{"answer": "no"}}\''}
    done = bin("judge", "--cells", stdin=pending.stdout, env=judge)
    assert done.returncode == 0, done.stderr
    asked = (tmp_path / "asked").read_text()
    fence = next(line for line in asked.splitlines() if line.startswith("MESSAGE-"))
    assert f"\n{fence}\n{wanted}\n{fence}\n" in asked
    assert bin("check", "--pending", folder).stdout == ""


def test_lines_that_are_no_questions_are_refused() -> None:
    done = bin("judge", "--cells", stdin="/some/cell\torchestration/downgrade-flag\n")
    assert done.returncode == 2
    assert "line 1 of stdin is not 'cell<TAB>rubric<TAB>text in JSON'" in one_line(done.stderr)


MADE_UP = """\
---
id: E5P-made-up
suite: orchestration
title: two notes
posture: prompted
fixture: orchestration
cwd: project
axes:
  A: {no_grind: {edits: 3}}
  C: {expected_files: {}}
---
## Task
Write two notes.
## Criteria
Both are there.
## Expected files
notes/one.md
* `notes/two.md`
"""


def test_a_fabricated_scenario_and_transcript_are_scored(run: Path, tmp_path: Path) -> None:
    file = tmp_path / "orchestration" / "E5P-made-up.md"
    file.parent.mkdir()
    file.write_text(MADE_UP)
    assert bin("sandbox", "E5P-alert-runbooks", tmp_path / "box").returncode == 0
    notes = tmp_path / "box/project/notes"
    notes.mkdir()
    (notes / "one.md").write_text("one\n")
    (notes / "two.md").touch()
    native = next((cell_of(run, "E5P-alert-runbooks", "missing-page") / "session").glob("*.jsonl"))
    env = {"ORCH_EVAL_SCENARIO_FILE": str(file), "ORCH_EVAL_TRANSCRIPT": str(native)}
    found = row("E5P-made-up", tmp_path / "box", env=env)
    assert (found.verdict, found.axes) == ("FAIL", {"A": "pass", "C": "fail"})
    assert found.reasons == ("project/notes/two.md is empty",)
    (notes / "two.md").write_text("two\n")
    assert row("E5P-made-up", tmp_path / "box", env=env).verdict == "PASS"
    lacking = row("E5P-made-up", tmp_path / "box", env={"ORCH_EVAL_SCENARIO_FILE": str(file)})
    assert (lacking.verdict, lacking.axes["A"], lacking.code) == ("ERROR", "undecided", "no-transcript")
    missing = bin("check", "E5P-made-up", tmp_path / "box")
    assert "unknown scenario 'E5P-made-up'" in one_line(missing.stderr)


def test_the_overrides_leave_other_scenarios_and_suites_alone(run: Path, tmp_path: Path, cell: Path) -> None:
    env = {"ORCH_EVAL_SCENARIO_FILE": str(tmp_path / "E5P-made-up.md"), "ORCH_EVAL_TRANSCRIPT": str(tmp_path / "none")}
    assert row("P1", cell, env=env).verdict == "PASS"
    assert row("E5P", cell_of(run, "E5P-alert-runbooks", "missing-page"), env=env).code == "no-transcript"


def test_the_stub_belongs_to_the_instrument_and_outlives_another_wording(tmp_path: Path) -> None:
    wording = ROOT / "fixture/plugins/os-context-v2"
    done = bin("run", "E1P", "compliant", tmp_path, "--plugin", wording, "--withhold-task")
    assert rows.parse(one_line(done.stdout), "x").verdict == "PASS"
    record = json.loads((cell_of(tmp_path, "E1P-pipeline-review", "compliant") / "cell.json").read_text())
    assert record["plugins"] == ["os-context", "subagent-model"]
    assert [key for key in record["subjects"] if key.startswith("plugin:")] == ["plugin:os-context-v2"]
    assert "stubs" in record["run_parts"]


ALWAYS = {"E1P": "PASS", "E1N": "PASS", "E2P": "PASS", "E2N": "FAIL", "E3P": "PASS", "E3N": "FAIL"}
ALWAYS |= {"E5P": "FAIL", "E5N": "FAIL"}
NEVER = {"E1P": "FAIL", "E1N": "PASS", "E2P": "FAIL", "E2N": "PASS", "E3P": "PASS", "E3N": "PASS"}
NEVER |= {"E5P": "FAIL", "E5N": "PASS"}


@pytest.mark.parametrize("path", [*scenario.files(suite="orchestration")], ids=lambda path: path.stem)
def test_followers_pass_and_the_two_extremes_are_told_apart(path: Path) -> None:
    actors = yaml.safe_load((ROOT / f"fixture/orchestration/actors/{path.stem}.yaml").read_text())
    kind = path.stem.split("-")[0]
    played = {name: actor["expect"]["verdict"] for name, actor in actors.items() if actor.get("default")}
    assert played == {"compliant": "PASS", "always": ALWAYS[kind], "never": NEVER[kind]}


def test_there_are_as_many_cases_over_the_run_set_as_the_document_has() -> None:
    found = [
        yaml.safe_load((ROOT / f"fixture/orchestration/actors/{path.stem}.yaml").read_text())
        for path in scenario.files("run", "orchestration")
    ]
    assert sum(map(len, found)) >= 32
    assert {actor["expect"]["verdict"] for item in found for actor in item.values()} == {"PASS", "FAIL", "ERROR"}
