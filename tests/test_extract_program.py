"""bin/extract as a user runs it: streams, statuses, messages, several inputs, rows."""

import json
import os
import runpy
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from extracting import DATA, Session, native, stream
from programs import ROOT, bin, one_line

EXTRACT = ROOT / "bin" / "extract"


def test_one_input_is_one_indented_document() -> None:
    done = bin("extract", stream("02-tools"))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith('{\n  "schema": 1,')
    assert json.loads(done.stdout)["tokens"]["main"]["output"] == 796


def test_several_inputs_are_one_document_a_line() -> None:
    done = bin("extract", stream("01-hello"), native("02-tools"), DATA / "03-sub")
    documents = [json.loads(line) for line in done.stdout.splitlines()]
    assert [d["source"]["format"] for d in documents] == ["stream-json", "native", "native+stream-json"]


def test_standard_input_is_read_for_a_dash() -> None:
    done = bin("extract", "-", stdin=native("02-tools").read_text())
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["counts"]["actions"] == 12
    done = bin("extract", "-")
    assert (done.returncode, one_line(done.stderr)) == (2, "extract: cannot read '-': empty-transcript: 0 bytes")


def test_what_cannot_be_read_is_named_and_the_others_are_printed(tmp_path: Path) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.write_bytes(b"")
    done = bin("extract", empty, stream("01-hello"), tmp_path / "none")
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        f"extract: cannot read '{empty}': empty-transcript: 0 bytes",
        f"extract: cannot read '{tmp_path / 'none'}': no-transcript: no such file or directory",
    ]
    assert json.loads(done.stdout)["ended"] == "completed"


def test_a_file_that_may_not_be_read_is_a_message_not_a_traceback(tmp_path: Path) -> None:
    folder = tmp_path / "loop"
    folder.symlink_to(folder)
    done = bin("extract", folder)
    assert done.returncode == 2
    assert one_line(done.stderr).startswith(f"extract: cannot read '{folder}': ")


def test_tsv_prints_one_row_an_action_with_its_agent() -> None:
    done = bin("extract", "--tsv", native("20b-nest"))
    header, *rows = [line.split("\t") for line in done.stdout.splitlines()]
    assert header == ["agent", "n", "tool", "ok", "bytes", "input"]
    assert {len(row) for row in rows} == {6}
    assert [row[2] for row in rows] == ["Agent", "Agent", "Skill", "Agent", "Bash"]
    assert rows[-1] == ["a7d18b219e402bded", "5", "Bash", "ok", "4", "echo deep"]


def test_tsv_keeps_rows_whole_whatever_the_input_holds(tmp_path: Path) -> None:
    session = Session()
    session.calls_tool("Bash", {"command": "printf 'a\tb\n'\x1b[31m\u2028" + "x" * 500})
    session.answers(session.calls_tool("Write", {}), "no", "User rejected tool use", error=True)
    done = bin("extract", "--tsv", session.write(tmp_path / "s.jsonl"))
    rows = [line.split("\t") for line in done.stdout.split("\n")[1:-1]]
    assert [(row[0], row[2], row[3], row[4]) for row in rows] == [
        ("main", "Bash", "-", "-"),
        ("main", "Write", "denied", "2"),
    ]
    assert rows[0][5].startswith("printf 'a b '")
    assert len(rows[0][5]) == 160


def test_tsv_of_several_inputs_has_one_header() -> None:
    done = bin("extract", "--tsv", native("02-tools"), native("07a-maxturns"))
    assert done.stdout.count("agent\tn\t") == 1
    assert len(done.stdout.splitlines()) == 16


def test_a_session_of_a_projects_folder_by_id(tmp_path: Path) -> None:
    for name in ("01-hello", "02-tools"):
        shutil.copytree(DATA / name / "session", tmp_path / "projects" / f"-tmp-{name}")
    done = bin("extract", tmp_path / "projects")
    assert done.returncode == 2
    assert "name one with --session" in one_line(done.stderr)
    done = bin("extract", tmp_path / "projects", "--session", native("02-tools").stem)
    assert json.loads(done.stdout)["counts"]["actions"] == 12


def test_a_file_of_another_session_than_the_one_asked_for_is_refused(tmp_path: Path) -> None:
    resumed = Session(session="old")
    resumed.user("go")
    resumed.user("go on", sessionId="own")
    resumed.ends(sessionId="own")
    path = resumed.write(tmp_path / "named.jsonl")
    for session in ("old", "own", "named"):
        assert bin("extract", path, "--session", session).returncode == 0
    done = bin("extract", path, "--session", "nonsense")
    assert (done.returncode, done.stdout) == (2, "")
    assert one_line(done.stderr) == (
        f"extract: cannot read '{path}': no-transcript: of session 'old', 'own', not 'nonsense'; "
        "leave out --session, or name that session's file or folder"
    )


def test_streams_and_standard_input_of_another_session_are_refused() -> None:
    for words, stdin in (([stream("02-tools")], ""), (["-"], stream("02-tools").read_text())):
        asked = json.loads(bin("extract", *words, stdin=stdin).stdout)["session"]["id"]
        assert bin("extract", *words, "--session", asked, stdin=stdin).returncode == 0
        done = bin("extract", *words, "--session", "nonsense", stdin=stdin)
        assert (done.returncode, done.stdout) == (2, "")
        assert f"'{asked}', not 'nonsense'" in one_line(done.stderr)


def test_an_empty_name_is_refused_and_does_not_mean_the_folder_one_is_in(tmp_path: Path) -> None:
    shutil.copy(native("02-tools"), tmp_path)
    why = "no-transcript: an empty name, as of a variable that is not set; name a file or folder"
    done = bin("extract", "", native("02-tools"), cwd=tmp_path)
    assert (done.returncode, one_line(done.stderr)) == (2, f"extract: cannot read '': {why}")
    assert json.loads(done.stdout)["counts"]["actions"] == 12
    for target in (".", native("02-tools"), stream("02-tools"), "-"):
        done = bin("extract", target, "--session", "", cwd=tmp_path, stdin=native("02-tools").read_text())
        assert (done.returncode, done.stdout) == (2, "")
        assert "--session '' is no id, as of a variable that is not set; name one, or leave it out" in done.stderr


def test_a_message_is_one_line_of_text_whatever_a_name_holds(tmp_path: Path) -> None:
    for name, shown in ((b"a\nb\x1b[31m\xe2\x80\xa8", r"a\nb\x1b[31m\u2028"), (b"\xff\xc3\xa9", r"\xff" + "é")):
        target = tmp_path / os.fsdecode(name)
        target.write_bytes(b"")
        done = bin("extract", target, target)
        line = f"extract: cannot read '{tmp_path / shown}': empty-transcript: 0 bytes"
        assert done.stderr.split("\n") == [line, line, ""]
    done = bin("extract", "--no\nnsense")
    assert done.stderr.count("\n") == 1
    done = bin("report", "no\nrun")
    assert r"no\nrun" in one_line(done.stderr)


def test_an_internal_error_is_said_of_its_target_and_the_others_are_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """Whether it comes while reading or while writing: the reader is made to fail, since none is known."""
    from heldout.transcript import reader

    def failing(target: str, session: str | None) -> Any:
        if target == "raises":
            raise RuntimeError("of a\nmodule")
        return {"actions": [{}], "odd": "\udcff"} if target == "odd" else reader_extract(target, session)

    reader_extract = reader.extract
    monkeypatch.setattr(reader, "extract", failing)
    main = runpy.run_path(str(EXTRACT))["main"]
    for tsv in (False, True):
        assert main(["raises", "odd", str(stream("01-hello"))], None, tsv) == 2
        said, printed = capfdbinary.readouterr()[::-1]
        first, second = said.decode().splitlines()
        assert "cannot read 'raises': internal error at test_extract_program.py:" in first
        assert r"RuntimeError: of a\nmodule (HELDOUT_DEBUG=1 shows the traceback)" in first
        assert "cannot read 'odd': internal error at extract:" in second
        assert printed.count(b"\n") == 1


def test_a_closed_pipe_ends_it_by_sigpipe_and_never_with_1() -> None:
    command = f"'{EXTRACT}' '{native('03-sub')}' '{native('02-tools')}' | head -c 10; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1].endswith(("141", "0"))
    assert done.stderr == ""


def test_it_works_from_any_directory_and_in_a_pipe(tmp_path: Path) -> None:
    shutil.copy(native("02-tools"), tmp_path / "x.jsonl")
    done = subprocess.run([str(EXTRACT), "x.jsonl"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["source"]["files"] == ["x.jsonl"]


def test_a_named_pipe_is_read_like_standard_input() -> None:
    command = f"'{EXTRACT}' <(cat '{native('02-tools')}')"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["counts"]["actions"] == 12


def test_wrong_usage_is_two_and_a_hint() -> None:
    done = bin("extract")
    assert (done.returncode, done.stdout) == (2, "")
    assert "extract --help" in one_line(done.stderr)
    assert bin("extract", "--nonsense", "x").returncode == 2
