"""The self-test itself: what it takes for proven, and what it says of slips in what it plays."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from copying import copied
from heldout.expectations import proven
from heldout.rows import Row
from programs import bin, one_line

SCENARIO = """\
---
id: C1-quiet
suite: tiny
title: a test
posture: unprompted
polarity: negative
fixture: vault-write
trees: [project, vault]
cwd: project
axes:
  A: {no_note_written: {}}
---
## Task
Do something.
## Criteria
Nothing is written down.
"""
TRACE = """\
---
id: C1-quiet
suite: tiny
title: a test
posture: trace
fixture: diagnosis
trace: traces/D1-cpu-saturation.json
axes:
  A: {audit_closed: {}}
---
## Task
x
## Criteria
x
"""
WRITES = """\
writes:
  expect: {verdict: FAIL, axes: "A:fail"}
  turns:
  - calls:
    - Write: {file_path: "{sandbox}/vault/x.md", content: x}
  - text: Done.
"""


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project for all tests that only add a suite of their own to it."""
    return copied(tmp_path_factory.mktemp("shared"))


@pytest.fixture
def tiny(shared: Path) -> Iterator[Path]:
    """The suite 'tiny' in the copy: one negative without actors of its own."""
    (shared / "scenarios/tiny").mkdir()
    (shared / "fixture/tiny").mkdir()
    (shared / "scenarios/tiny/C1-quiet.md").write_text(SCENARIO)
    yield shared
    shutil.rmtree(shared / "scenarios/tiny")
    shutil.rmtree(shared / "fixture/tiny")


def _plays(root: Path, actors: str) -> None:
    (root / "fixture/tiny/actors").mkdir(exist_ok=True)
    (root / "fixture/tiny/actors/C1-quiet.yaml").write_text(actors)


def _told(root: Path) -> tuple[int, str]:
    done = bin("self-test", "--suite", "tiny", "--quiet", root=root)
    return done.returncode, done.stdout + done.stderr


def test_an_axis_that_nobody_fails_is_different(tiny: Path) -> None:
    mend = "no actor is expected to fail it; add one to fixture/tiny/actors/C1-quiet.yaml"
    assert _told(tiny) == (1, f"DIFFERENT\tC1-quiet\taxis A\t{mend}\nself-test: 3 cases, 1 different\n")
    _plays(tiny, WRITES)
    assert _told(tiny) == (0, "self-test: 4 cases, 0 different\n")


def test_an_axis_that_nobody_passes_is_different(tiny: Path) -> None:
    path = tiny / "scenarios/tiny/C1-quiet.md"
    path.write_text(
        SCENARIO.replace("negative", "positive").replace("{no_note_written: {}}", "{not: {no_note_written: {}}}")
    )
    status, told = _told(tiny)
    assert (status, "\taxis A\tno actor is expected to pass it; add one to" in told) == (1, True)


def test_variants_prove_the_axes_of_a_trace(tiny: Path) -> None:
    (tiny / "scenarios/tiny/C1-quiet.md").write_text(TRACE)
    shutil.copy(tiny / "fixture/diagnosis/trace.schema.json", tiny / "fixture/tiny")
    status, told = _told(tiny)
    mend = "no variant is expected to fail it; add one to fixture/tiny/variants/C1-quiet.yaml"
    assert (status, f"DIFFERENT\tC1-quiet\taxis A\t{mend}\n" in told) == (1, True)


PROVEN = [
    ({"verdict": "PASS"}, Row("S", "m", 1, "PASS", {"A": "pass", "B": "pass"}), "A:pass B:pass"),
    ({"verdict": "FAIL"}, Row("S", "m", 1, "FAIL", {"A": "fail", "B": "pass"}), "A:fail"),
    ({"verdict": "FAIL"}, Row("S", "m", 1, "FAIL", {"A": "fail", "B": "fail"}), ""),
    (
        {"verdict": "FAIL", "axes": "A:fail B:fail"},
        Row("S", "m", 1, "FAIL", {"A": "fail", "B": "fail"}),
        "A:fail B:fail",
    ),
    ({"verdict": "FAIL"}, Row("S", "m", 1, "FAIL", {"A": "fail", "B": "undecided"}), "A:fail"),
    ({"verdict": "ERROR"}, Row("S", "m", 1, "ERROR", {"A": "undecided"}), ""),
    (
        {"verdict": "FAIL", "info": {"failed": "A:x,B:y"}},
        Row("S", "m", 1, "FAIL", {"A": "fail", "B": "fail", "C": "pass"}, (), {"failed": "A:x,B:y"}),
        "A:fail B:fail C:pass",
    ),
]


@pytest.mark.parametrize(("expected", "row", "wanted"), PROVEN)
def test_an_axis_is_proven_by_what_would_be_noticed(expected: dict, row: Row, wanted: str) -> None:
    assert " ".join(f"{letter}:{outcome}" for letter, outcome in proven(expected, row).items()) == wanted


BROKEN = [
    ("{no_note_written: {}}", "{no_note_writen: {}}", ":11: unknown check word 'no_note_writen'; did you mean"),
    ("  A: {no_note_written: {}}", "  A:", ":11: axis A must be one check word"),
    ("{no_note_written: {}}", "{no_note_written: {root: project/dcos}}", ":11: 'no_note_written: root' is"),
]


@pytest.mark.parametrize(("old", "new", "complaint"), BROKEN)
def test_a_mistake_in_a_scenario_is_told_as_lint_tells_it(tiny: Path, old: str, new: str, complaint: str) -> None:
    (tiny / "scenarios/tiny/C1-quiet.md").write_text(SCENARIO.replace(old, new))
    status, told = _told(tiny)
    assert status == 2
    assert f"C1-quiet.md{complaint}" in told
    assert one_line(told).removeprefix("self-test: ") in bin("check", "--lint", root=tiny).stdout


@pytest.mark.parametrize("name", ["haiku", "claude-haiku-4-5", "trace"])
def test_an_actor_is_not_named_like_a_model(tiny: Path, tmp_path: Path, name: str) -> None:
    """The client that such a name would start leaves a mark; it is never there."""
    client = tmp_path / "client"
    client.write_text(f"#!/bin/sh\ntouch {tmp_path}/started\n")
    client.chmod(0o755)
    _plays(tiny, WRITES.replace("writes:", f"{name}:"))
    done = bin("self-test", "--suite", "tiny", "--quiet", root=tiny, env={"HELDOUT_CLAUDE": str(client)})
    assert done.returncode == 2
    assert f"C1-quiet.yaml:1: actor name '{name}' " in done.stdout + done.stderr
    assert not (tmp_path / "started").exists()


@pytest.mark.parametrize("model", ["haiku", "claude-haiku-4-5", "claude:x"])
def test_no_live_session_is_started_without_its_task(tmp_path: Path, model: str) -> None:
    client = tmp_path / "client"
    client.write_text(f"#!/bin/sh\ntouch {tmp_path}/started\n")
    client.chmod(0o755)
    done = bin("run", "P1", model, tmp_path / "run", "--withhold-task", env={"HELDOUT_CLAUDE": str(client)})
    assert (done.returncode, f"model '{model}' is no embedded actor" in one_line(done.stderr)) == (2, True)
    assert not (tmp_path / "started").exists() and not (tmp_path / "run").exists()
