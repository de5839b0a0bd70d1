"""bin/check: verdicts from kept files, and never a FAIL that is the harness's own doing."""

import json
import os
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest
from heldout.rows import HEADER, parse
from programs import ROOT, bin, one_line

P1 = "P1-L1-reporting"


def _row(done: subprocess.CompletedProcess[str]):
    return parse(one_line(done.stdout), "stdout")


def _native(cell: Path) -> Path:
    """The native transcript of a cell; unlike the stream it proves that the hook's context arrived."""
    return next((cell / "session").glob("*.jsonl"))


def test_human_output_shows_axes_evidence_and_reason(played: Path) -> None:
    done = bin("check", "P1", played / f"vault-write/{P1}/never/r1")
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert lines[0] == f"{P1}: FAIL"
    assert any(line.strip().startswith("A fail") for line in lines)
    assert "  reason: no note was written below vault/" in lines


def test_tsv_row_and_status(played: Path) -> None:
    for actor, verdict, status in (("compliant", "PASS", 0), ("never", "FAIL", 1)):
        done = bin("check", "P1", played / f"vault-write/{P1}/{actor}/r1", "--tsv", "haiku", "--rep", 4)
        assert done.returncode == status
        row = _row(done)
        assert (row.scenario, row.model, row.rep, row.verdict) == (P1, "haiku", 4, verdict)


def test_a_sandbox_alone_is_scored_as_far_as_it_goes(tmp_path: Path, played: Path) -> None:
    """Without a transcript the sandbox decides what it can; what needs the transcript stays undecided, not failed."""
    bin("sandbox", "P1", tmp_path / "s")
    row = _row(bin("check", "P1", tmp_path / "s", "--tsv", "m"))
    assert (row.verdict, row.code) == ("ERROR", "no-transcript")
    transcript = _native(played / f"vault-write/{P1}/compliant/r1")
    note = (
        "---\ntitle: Finch pages\nsummary: Finch lists come in pages of at most 250 rows\nscope: global\n"
        "type: reference\ntags: [type/reference]\n---\nThe Finch API returns lists in pages of at most 250 rows.\n"
    )
    (tmp_path / "s/vault/finch-pages.md").write_text(note)
    done = bin("check", "P1", tmp_path / "s", "--tsv", "m", "--transcript", transcript)
    assert _row(done).verdict == "PASS", done.stdout
    archive = tmp_path / "sandbox.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(tmp_path / "s/vault", "vault")
        tar.add(tmp_path / "s/project", "project")
    shutil.copy(tmp_path / "s.start.tsv", tmp_path / "start.tsv")
    assert _row(bin("check", "P1", archive, "--tsv", "m", "--transcript", transcript)).verdict == "PASS"


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (None, "no-transcript"),
        (b"", "empty-transcript"),
        (b"\x7fELF\x00\x01\x02" * 50, "unreadable-transcript"),
        (b"\x00" * 400, "unreadable-transcript"),
        (b"hello\nworld\n", "unreadable-transcript"),
        (b'{"a": 1}\n', "unreadable-transcript"),
    ],
)
@pytest.mark.parametrize("scenario", ["P1", "N1"])
def test_a_transcript_that_is_none_is_an_error_row(
    tmp_path: Path, scenario: str, content: bytes | None, code: str
) -> None:
    bin("sandbox", scenario, tmp_path / "s")
    path = tmp_path / "transcript.jsonl"
    if content is not None:
        path.write_bytes(content)
    done = bin("check", scenario, tmp_path / "s", "--tsv", "m", "--transcript", path)
    assert done.returncode == 2
    row = _row(done)
    assert (row.verdict, row.code) == ("ERROR", code)


@pytest.mark.parametrize("lost", ["cell.json", "sandbox.tar.gz", "start.tsv"])
def test_a_cell_that_lost_a_file_is_an_error_row(cell: Path, lost: str) -> None:
    (cell / lost).unlink()
    done = bin("check", "P1", cell, "--tsv", "m")
    assert done.returncode == 2
    assert _row(done).code in ("sandbox-error", "no-transcript")
    (cell / lost).write_bytes(b"{ not what it was")
    assert _row(bin("check", "P1", cell, "--tsv", "m")).verdict == "ERROR"


def test_a_vault_that_became_a_link_out_of_the_sandbox_is_an_error(tmp_path: Path, played: Path) -> None:
    for scenario in ("P1", "N1"):
        root = tmp_path / scenario
        bin("sandbox", scenario, root)
        shutil.rmtree(root / "vault")
        os.symlink(tmp_path, root / "vault")
        cell = next((played / "vault-write").glob(f"{scenario}-*/compliant/r1"))
        done = bin("check", scenario, root, "--tsv", "m", "--transcript", _native(cell))
        row = _row(done)
        assert (done.returncode, row.verdict, row.code) == (2, "ERROR", "sandbox-error")
        assert "'vault' is a symbolic link" in row.reasons[0]


def test_facts_are_made_again_when_they_are_lost_or_foreign(cell: Path) -> None:
    before = bin("check", "P1", cell, "--tsv", "m").stdout
    for content in (None, "{half", '{"made_by": "somebody else"}'):
        (cell / "facts.json").unlink()
        if content:
            (cell / "facts.json").write_text(content)
        assert bin("check", "P1", cell, "--tsv", "m").stdout == before
        assert json.loads((cell / "facts.json").read_text())["schema"] == 1


def test_a_batch_gives_the_same_rows_as_single_calls(played: Path) -> None:
    done = bin("check", "--cells", played)
    assert done.returncode == 0, done.stderr
    header, *lines = done.stdout.splitlines()
    assert header == HEADER
    singles = [
        bin(
            "check", row.scenario, played / f"vault-write/{row.scenario}/{row.model}/r{row.rep}", "--tsv", row.model
        ).stdout
        for row in (parse(line, "x") for line in lines)
    ]
    assert "".join(singles).splitlines() == lines
    assert len(lines) == 4


def test_a_batch_with_nothing_in_it_is_refused(tmp_path: Path) -> None:
    done = bin("check", "--cells", tmp_path)
    assert done.returncode == 2 and done.stdout == ""
    assert "no cell below" in one_line(done.stderr)


def test_one_broken_cell_in_a_batch_is_an_error_row_and_the_others_are_scored(cell: Path) -> None:
    shutil.copytree(cell, cell.with_name("r2"))
    (cell.with_name("r2") / "transcript.jsonl").write_bytes(b"")
    shutil.rmtree(cell.with_name("r2") / "session")
    (cell.with_name("r2") / "facts.json").unlink()
    done = bin("check", "--cells", cell.parents[3])
    assert done.returncode == 2
    assert [line.split("\t")[3] for line in done.stdout.splitlines()[1:]] == ["PASS", "ERROR"]


def test_a_crash_of_the_program_is_status_2_and_prints_no_half_table(repository: Path, cell: Path) -> None:
    below = repository / "lib/heldout/cell.py"
    below.write_text(
        below.read_text().replace("def below(", "def below(*_):\n    raise KeyError('boom')\n\n\ndef _below(")
    )
    done = bin("check", "--cells", cell.parents[3], root=repository)
    assert (done.returncode, done.stdout) == (2, "")
    assert "internal error at cell.py" in one_line(done.stderr)


def test_a_program_that_cannot_start_ends_with_2(repository: Path, cell: Path) -> None:
    (repository / "lib/heldout/errors.py").write_text("raise ImportError('gone')\n")
    done = bin("check", "P1", cell, root=repository)
    assert (done.returncode, done.stdout) == (2, "")
    assert one_line(done.stderr) == "check: cannot start: ImportError: gone; run 'make setup'"


def test_a_cell_that_the_scorer_cannot_stand_is_an_error_row(repository: Path, cell: Path) -> None:
    scoring = repository / "lib/heldout/checks/scoring.py"
    scoring.write_text(
        scoring.read_text().replace("def score(", "def score(*_):\n    raise KeyError('boom')\n\n\ndef _score(")
    )
    done = bin("check", "--cells", cell.parents[3], root=repository)
    assert done.returncode == 2
    assert "\tERROR\t\tcheck-error: KeyError: 'boom'" in done.stdout.splitlines()[1]


def test_an_exception_in_a_check_word_is_check_error(repository: Path, cell: Path) -> None:
    vault = repository / "lib/heldout/checks/vault.py"
    vault.write_text(
        vault.read_text().replace(
            "def _written(context: Context, root: str) -> list[str]:\n",
            "def _written(context, root):\n    return 1 / 0\n\n\n"
            "def _unused(context: Context, root: str) -> list[str]:\n",
        )
    )
    row = _row(bin("check", "P1", cell, "--tsv", "m", root=repository))
    assert (row.verdict, row.code) == ("ERROR", "check-error")


def test_a_fixture_edited_after_the_run_changes_no_score(repository: Path, cell: Path) -> None:
    before = _row(bin("check", "P1", cell, "--tsv", "m", root=repository))
    for path in (repository / "fixture/vault-write/vault").rglob("*.md"):
        path.write_text("edited after the run\n")
    (repository / "fixture/vault-write/vault/new.md").write_text("new in the fixture\n")
    after = _row(bin("check", "P1", cell, "--tsv", "m", root=repository))
    assert (after.verdict, after.axes, after.reasons) == (before.verdict, before.axes, before.reasons)
    assert after.info["vault-writes"] == before.info["vault-writes"]


def test_a_closed_pipe_ends_by_sigpipe_and_never_with_1(played: Path) -> None:
    check = ROOT / "bin/check"
    script = f"""set -o pipefail
        {check} --list | true; echo $?
        {check} --cells {played} | head -c 1 >/dev/null; echo ${{PIPESTATUS[0]}}"""
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
    assert set(done.stdout.split()) <= {"0", "141"}
    closed = subprocess.run(
        ["bash", "-c", f"{ROOT}/bin/check --list >&- 2>/dev/null; echo $?"], capture_output=True, text=True, check=False
    )
    assert closed.stdout.strip() != "1"


def test_list_has_every_word_with_a_docstring() -> None:
    from heldout.checks.library import all_words

    out = bin("check", "--list").stdout
    assert all(f"{name}(" in out for name in all_words())
    assert bin("check", "--header").stdout == HEADER + "\n"


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ((), "SCENARIO and TARGET are needed, 0 arguments"),
        (("P1",), "SCENARIO and TARGET are needed, 1 arguments"),
        (("P9", "x"), "unknown scenario 'P9'"),
        (("--nope",), "no such option: --nope"),
        (("P1", "x", "--rep", "0"), "invalid value for '--rep'"),
        (("--cells", "/nonexistent"), "no folder '/nonexistent'"),
        (("--cells",), "no folder with cells was given"),
    ],
)
def test_wrong_usage_is_one_line_and_status_2(words: tuple[str, ...], complaint: str) -> None:
    done = bin("check", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert complaint in one_line(done.stderr)


def test_a_target_that_does_not_exist_still_gives_a_row(tmp_path: Path) -> None:
    done = bin("check", "P1", tmp_path / "nothing", "--tsv", "m")
    assert (done.returncode, _row(done).code) == (2, "sandbox-error")


def _edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_files_that_are_not_what_the_run_left_are_an_error(cell: Path) -> None:
    lines = (cell / "start.tsv").read_text().splitlines(keepends=True)
    (cell / "start.tsv").write_text("".join(lines[:2]))
    row = _row(bin("check", "P1", cell, "--tsv", "m"))
    assert (row.verdict, row.code) == ("ERROR", "sandbox-error")
    assert "start.tsv' is not what the run left" in row.reasons[0]


def test_a_transcript_that_went_away_is_not_scored_from_kept_facts(cell: Path) -> None:
    shutil.rmtree(cell / "session")
    (cell / "transcript.jsonl").write_bytes(b"")
    assert _row(bin("check", "P1", cell, "--tsv", "m")).code == "empty-transcript"


def test_another_cells_transcript_is_refused(cell: Path, played: Path) -> None:
    other = played / f"vault-write/{P1}/never/r1"
    for name in ("transcript.jsonl", "session"):
        target = cell / name
        shutil.rmtree(target) if target.is_dir() else target.unlink()
        (shutil.copytree if (other / name).is_dir() else shutil.copy)(other / name, target)
    row = _row(bin("check", "P1", cell, "--tsv", "m"))
    assert row.code == "unreadable-transcript" and "is not what the run left" in row.reasons[0]


def test_an_edited_transcript_is_not_scored(cell: Path) -> None:
    path = next((cell / "session").glob("*.jsonl"))
    path.write_text(path.read_text().replace("note", "nope"))
    row = _row(bin("check", "P1", cell, "--tsv", "m"))
    assert (row.verdict, row.code) == ("ERROR", "unreadable-transcript")
    assert f"'session/{path.name}' is not what the run left" in row.reasons[0]


def test_a_cell_of_another_scenario_is_not_scored_by_this_one(cell: Path) -> None:
    row = _row(bin("check", "N1", cell, "--tsv", "m"))
    assert row.verdict == "ERROR" and f"is a cell of vault-write/{P1}" in row.reasons[0]


def test_a_folder_that_is_no_sandbox_is_not_scored(tmp_path: Path, played: Path) -> None:
    native = _native(played / "vault-write/N1-L1-reporting/never/r1")
    bin("sandbox", "N1", tmp_path / "s")
    for folder in (tmp_path / "s/project", played):
        row = _row(bin("check", "N1", folder, "--tsv", "m", "--transcript", native))
        assert row.verdict == "ERROR" and "is no sandbox of N1" in row.reasons[0]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"served": [', '"served": null, "x": ['),
        ('"fault": null', '"fault": ["x", ""]'),
        ('"homes": [', '"homes": 5, "y": ['),
        ('"schema": 1', '"schema": 2'),
        ('"served": [', '"served": [1], "x": ['),
        ('"fault": null', '"fault": ["killed"]'),
        ('"rep": 1,', ""),
        ('"cwd":', '"cdw":'),
    ],
)
def test_a_record_with_a_wrong_field_is_an_error_row_and_the_others_are_scored(cell: Path, old: str, new: str) -> None:
    shutil.copytree(cell, cell.with_name("r2"))
    _edit(cell.with_name("r2") / "cell.json", '"rep": 1', '"rep": 2')
    _edit(cell / "cell.json", old, new)
    (cell.parents[3] / "attempts/foo/r1/1").mkdir(parents=True)
    shutil.copytree(cell, cell.with_name("r1.bak"))
    done = bin("check", "--cells", cell.parents[3])
    assert [line.split("\t")[2:4] for line in done.stdout.splitlines()[1:]] == [["1", "ERROR"], ["2", "PASS"]], (
        done.stderr
    )
    assert f"sandbox-error: '{cell}/cell.json' is " in done.stdout


def test_an_empty_record_is_what_the_fault_is_about(cell: Path) -> None:
    (cell / "cell.json").write_text("")
    done = bin("check", "--cells", cell.parents[3])
    assert parse(done.stdout.splitlines()[-1], "x").reasons == (
        f"sandbox-error: '{cell}/cell.json' is empty: a writer was cut off",
    )


def test_help_through_a_closed_pipe_does_not_end_with_1() -> None:
    script = f"set -o pipefail; for i in 1 2 3 4 5; do {ROOT}/bin/check --help | true; echo $?; done"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
    assert set(done.stdout.split()) <= {"0", "141"}


def test_it_starts_whatever_cdpath_says() -> None:
    script = f"export CDPATH=.:/tmp; cd {ROOT} && bin/check --header"
    assert subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False).stdout == HEADER + "\n"


@pytest.mark.parametrize("model", ["a\tb", "PASS", "a b"])
def test_a_model_that_would_break_the_table_is_refused(cell: Path, model: str) -> None:
    done = bin("check", "P1", cell, "--tsv", model)
    assert (done.returncode, done.stdout) == (2, "")
    assert "cannot be a path" in done.stderr


@pytest.mark.parametrize("lost", ["oversized", "actions_omitted"])
def test_a_session_of_which_a_part_was_not_read_is_no_verdict(lost: str, tmp_path: Path) -> None:
    """What was passed over may be the very call that an axis says there was none of."""
    assert bin("run", "E2N", "never", tmp_path).returncode == 0
    cell = next(tmp_path.rglob("cell.json")).parent
    facts = json.loads((cell / "facts.json").read_text())
    assert bin("check", "E2N", cell).returncode == 0
    facts["source"][lost] = 1
    (cell / "facts.json").write_text(json.dumps(facts))
    done = bin("check", "E2N", cell, "--tsv", "never")
    assert done.returncode == 2
    assert "\tERROR\t" in done.stdout and "unreadable-transcript" in done.stdout


@pytest.mark.parametrize(("scenario", "actor"), [("N1", "never"), ("R1", "compliant")])
def test_what_a_command_did_not_do_is_not_told_from_its_beginning(scenario: str, actor: str, tmp_path: Path) -> None:
    assert bin("run", scenario, actor, tmp_path).returncode == 0
    cell = next(tmp_path.rglob("cell.json")).parent
    facts = json.loads((cell / "facts.json").read_text())
    assert bin("check", scenario, cell).returncode == 0
    call = {"n": 1, "agent": "main", "tool": "Bash", "input": {"command": "ls"}, "cut": {"command": 70_000}}
    facts["actions"] = [call]
    (cell / "facts.json").write_text(json.dumps(facts))
    done = bin("check", scenario, cell)
    assert done.returncode == 2 and "unreadable-transcript" in done.stdout


def test_a_cell_that_was_copied_is_no_trial_of_another_model_or_rep(cell: Path) -> None:
    """Its row would count one session twice."""
    for place in (cell.with_name("r2"), cell.parent.with_name("never") / "r1"):
        shutil.copytree(cell, place)
    done = bin("check", "--cells", cell.parents[3])
    found = [parse(line, "x") for line in done.stdout.splitlines()[1:]]
    assert [(row.model, row.rep, row.verdict) for row in found] == [
        ("compliant", 1, "PASS"),
        ("compliant", 2, "ERROR"),
        ("never", 1, "ERROR"),
    ]
    assert "r2' is a copy of the cell compliant r1; delete it" in done.stdout


def test_a_copy_of_a_suite_within_its_run_is_passed_over(cell: Path) -> None:
    run = cell.parents[3]
    shutil.copytree(run / "vault-write", run.with_name("copy"))
    shutil.move(run.with_name("copy"), run / "old/vault-write")
    assert len(bin("check", "--cells", run).stdout.splitlines()) == 2
    assert len(bin("check", "--cells", run / "old").stdout.splitlines()) == 2, "it is named"
    assert len(bin("check", "--cells", run.parent).stdout.splitlines()) == 2
