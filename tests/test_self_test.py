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


EDITS = """\
writes:
  expect: {verdict: FAIL, axes: "A:fail"}
  turns:
  - calls:
    - Write: {file_path: "{sandbox}/vault/x.md", content: x}
    - Edit: {file_path: "{cwd}/README.md", old_string: "no such line", new_string: y}
    - Bash: {command: "false"}
  - text: Done.
"""


def test_a_call_that_fails_unexpectedly_is_told(tiny: Path) -> None:
    _plays(tiny, EDITS)
    status, told = _told(tiny)
    assert (status, told.count("DIFFERENT")) == (1, 1)
    assert "DIFFERENT\tC1-quiet\twrites\tFAIL\tA:fail\tEdit '" in told
    assert "String to replace not found in file. String: no such line" in told
    assert "(a call that is to fail says 'fails: true' beside its tool)" in told
    _plays(tiny, EDITS.replace("new_string: y}", "new_string: y}\n      fails: true"))
    assert _told(tiny) == (0, "self-test: 4 cases, 0 different\n")


def test_a_call_that_does_not_fail_as_it_should_is_told(tiny: Path) -> None:
    _plays(tiny, WRITES.replace("content: x}", "content: x}\n      fails: true"))
    status, told = _told(tiny)
    assert (status, "/vault/x.md' did not fail (a call" in told) == (1, True)


def test_a_rubric_that_the_suite_does_not_have_is_refused(tiny: Path) -> None:
    (tiny / "fixture/tiny/rubrics").mkdir()
    (tiny / "fixture/tiny/rubrics/offer.md").write_text("x")
    _plays(tiny, WRITES.replace("  turns:", "  judge: {ofer: {answer: 'yes', quote: x}}\n  turns:"))
    status, told = _told(tiny)
    assert status == 2
    assert "C1-quiet.yaml:3: 'judge' answers rubric 'ofer', which 'tiny' does not have; did you mean 'offer'?" in told


PATTERNS = SCENARIO.replace("negative", "positive").replace(
    "{no_note_written: {}}", "{note_written: {topics: [finch]}}"
)
SET = "C1-quiet/A/topics"


def _phrases(root: Path, *more: str, mark: str = "") -> None:
    texts = [f"{SET}\tmatch\tfinch {n}" for n in range(10)] + [f"{SET}\tmiss\tfitch {n}" for n in range(10)]
    lines = ["set\tkind\ttext", *texts, *more]
    (root / "fixture/tiny/phrases.tsv").write_text(mark + "".join(f"{line}\n" for line in lines), encoding="utf-8")
    (root / "scenarios/tiny/C1-quiet.md").write_text(PATTERNS)


def test_slips_in_phrases_are_told_by_lint_and_self_test(tiny: Path) -> None:
    _plays(tiny, WRITES.replace("content: x", "content: finch").replace('FAIL, axes: "A:fail"', 'PASS, axes: "A:pass"'))
    _phrases(tiny, mark="\ufeff")
    assert _told(tiny) == (0, "self-test: 6 cases, 0 different\n")
    for line, told in (
        ("C1-quiet/A/topic\tmatch\tfinch", ":22: 'C1-quiet/A/topic' is a set of no scenario; did you mean"),
        (f"{SET}\tmatch\tFinch  3", ":22: the phrase 'Finch 3' of 'C1-quiet/A/topics' stands in line 5 too; write"),
        (f"{SET}\tmiss\tfinch 3", ":22: the phrase 'finch 3' of 'C1-quiet/A/topics' stands in line 5 too; write"),
    ):
        _phrases(tiny, line)
        done = bin("check", "--lint", root=tiny)
        assert done.returncode == 2 and f"phrases.tsv{told}" in done.stdout
    status, said = _told(tiny)
    assert status in (1, 2) and f"phrases.tsv{told}" in said
