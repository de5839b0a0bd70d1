"""What a session is measured with stands still while it runs, or the cell is ERROR fixture-changed."""

import os
import threading
from pathlib import Path

import pytest
from heldout import rows
from heldout.agents import guard
from programs import bin, one_line


@pytest.fixture
def guarded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fixture folder that stands in for the project's own."""
    folder = tmp_path / "fixture"
    (folder / "suite/__pycache__").mkdir(parents=True)
    (folder / "suite/a.txt").write_text("a\n")
    (folder / "suite/link").symlink_to("a.txt")
    monkeypatch.setattr(guard, "FIXTURES", folder)
    monkeypatch.setattr(guard, "SETS", {})
    monkeypatch.setattr(guard, "ROOT", tmp_path)
    return folder / "suite"


def test_nothing_happened(guarded: Path) -> None:
    watched = guard.Guard()
    assert watched.changes() == []
    # Another signature with the same content: somebody saved a file, checked it out again, or made a cache.
    os.utime(guarded / "a.txt", (1, 1))
    (guarded / "a.txt").chmod(0o600)
    other = guarded / "b.txt"
    other.write_text("a\n")
    other.rename(guarded / "a.txt")
    (guarded / "__pycache__/x.pyc").write_bytes(b"x")
    (guarded / ".ruff_cache").mkdir()
    (guarded / ".ruff_cache/x").write_text("x")
    (guarded / ".git").mkdir()
    (guarded / ".git/index").write_text("x")
    (guarded / "empty").mkdir()
    assert watched.changes() == []


def test_every_kind_of_change_is_named(guarded: Path, tmp_path: Path) -> None:
    plugin = tmp_path / "plugins/mine"
    plugin.mkdir(parents=True)
    (plugin / "hook").write_text("x")
    (guarded / "gone.txt").write_text("x")
    (guarded / "run").write_text("x")
    watched = guard.Guard([plugin])
    stamp = (guarded / "a.txt").stat()
    (guarded / "a.txt").write_text("b\n")
    os.utime(guarded / "a.txt", ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    (guarded / "gone.txt").unlink()
    (guarded / "run").chmod(0o755)
    (guarded / "link").unlink()
    (guarded / "link").symlink_to("run")
    (guarded / "new.txt").write_text("x")
    (plugin / "hook").write_text("y")
    assert watched.changes() == [
        "fixture/suite/a.txt is changed",
        "fixture/suite/gone.txt is gone",
        "fixture/suite/link is changed",
        "fixture/suite/new.txt is new",
        "fixture/suite/run is changed",
        "plugins/mine/hook is changed",
    ]
    assert guard.summary(watched.changes()).endswith("link is changed and 3 more since the session began")


def test_every_session_that_overlapped_a_change_sees_it_and_a_later_one_does_not(guarded: Path) -> None:
    first = guard.Guard()
    second = guard.Guard()
    (guarded / "a.txt").write_text("b\n")
    third = guard.Guard()
    assert first.changes() == second.changes() == ["fixture/suite/a.txt is changed"]
    assert third.changes() == []
    (guarded / "a.txt").write_text("a\n")
    assert first.changes() == [] and third.changes() == ["fixture/suite/a.txt is changed"]


def test_what_cannot_be_read_is_no_crash(guarded: Path) -> None:
    os.mkfifo(guarded / "pipe")
    watched = guard.Guard()
    found: list[list[str]] = []
    worker = threading.Thread(target=lambda: found.append(watched.changes()), daemon=True)
    worker.start()
    worker.join(20)
    assert found == [[]]


def test_an_actor_that_writes_into_the_fixture_measures_nothing(repository: Path, tmp_path: Path) -> None:
    script = repository / "fixture/adr-unprompted/actors/R4-late-cancellations.yaml"
    target = repository / "fixture/adr-unprompted/project/README.md"
    calls = f'[{{Bash: {{command: "echo more >> {target}"}}}}, {{Bash: {{command: "ls docs/adr"}}}}]'
    turns = f"[{{calls: {calls}}}, {{text: ADR 0014 holds.}}]"
    script.write_text(script.read_text() + f"\nbreaks-out:\n  expect: {{verdict: ERROR}}\n  turns: {turns}\n")
    run = tmp_path / "run"
    done = bin("run", "R4", "breaks-out", run, root=repository, env={"RETRIES": "3"})
    row = rows.parse(one_line(done.stdout), "x")
    assert (done.returncode, row.verdict, row.code) == (2, "ERROR", "fixture-changed")
    assert "'" not in row.reasons[0] and "fixture/adr-unprompted/project/README.md is changed" in row.reasons[0]
    attempts = sorted(path.relative_to(run).as_posix() for path in run.rglob("cell.json"))
    assert attempts == ["attempts/adr-unprompted/R4-late-cancellations/breaks-out/r1/1/cell.json"], "none is retried"
    again = bin("check", "--cells", run, root=repository)
    assert "fixture-changed: fixture/adr-unprompted/project/README.md" in again.stdout
