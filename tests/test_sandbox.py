"""The sandbox: fresh, the same every time, whole or not at all, and nobody else's files near it."""

import os
import resource
import shutil
import subprocess
from pathlib import Path

import pytest
from heldout.hashes import of_tree
from programs import ROOT, bin, command, one_line


def _head(cwd: str) -> str:
    return command(["git", "-C", cwd, "rev-parse", "HEAD"]).stdout.strip()


def test_two_sandboxes_are_the_same_and_have_one_commit(tmp_path: Path) -> None:
    first, second = (bin("sandbox", "P1", tmp_path / name) for name in "ab")
    assert first.returncode == 0, first.stderr
    cwd = first.stdout.strip()
    assert cwd == str(tmp_path / "a" / "project")
    # before git looks at either of them: it writes to its index when it does
    assert command(["diff", "-r", tmp_path / "a", tmp_path / "b"]).stdout == ""
    assert _head(cwd) == _head(second.stdout.strip()) != ""
    assert command(["git", "-C", cwd, "status", "--porcelain"]).stdout == ""
    assert command(["git", "-C", cwd, "log", "--format=%H %an %ae %cI"]).stdout.split()[1:] == [
        "Developer",
        "developer@example.com",
        "2026-01-05T09:00:00+00:00",
    ]
    assert (tmp_path / "a.start.tsv").read_bytes() == (tmp_path / "b.start.tsv").read_bytes()
    assert (tmp_path / "a" / "vault").is_dir() and not (tmp_path / "a" / "vault" / ".git").exists()


def test_the_commit_does_not_depend_on_the_users_git(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / ".gitconfig").write_text(
        "[user]\nname = X\nemail = x@y.z\n[core]\nautocrlf = true\n"
        "[init]\ndefaultBranch = trunk\n[commit]\ngpgsign = true\n"
    )
    own = {
        "HOME": str(tmp_path / "home"),
        "HELDOUT_SANDBOXES": str(tmp_path / "other"),
        "GIT_AUTHOR_NAME": "Y",
        "TZ": "Asia/Tokyo",
    }
    odd = bin("sandbox", "P1", tmp_path / "odd", env=own).stdout.strip()
    plain = bin("sandbox", "P1", tmp_path / "plain").stdout.strip()
    assert _head(odd) == _head(plain) != ""


def test_start_tsv_lists_what_the_agent_finds(tmp_path: Path) -> None:
    bin("sandbox", "P1", tmp_path / "a")
    lines = [line.split("\t") for line in (tmp_path / "a.start.tsv").read_text().splitlines()]
    assert lines[0] == ["path", "kind", "mode", "sha256"]
    listed = {path: (kind, digest) for path, kind, _, digest in lines[1:]}
    found = {str(path.relative_to(tmp_path / "a")) for path in (tmp_path / "a").rglob("*") if ".git" not in path.parts}
    assert set(listed) == found
    digest = subprocess.run(
        ["sha256sum", tmp_path / "a" / "project" / "README.md"], capture_output=True, text=True, check=True
    ).stdout.split()[0]
    assert listed["project/README.md"] == ("file", digest)


def test_a_destination_that_exists_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    done = bin("sandbox", "P1", tmp_path / "a")
    assert done.returncode == 2 and done.stdout == ""
    assert one_line(done.stderr) == f"sandbox: '{tmp_path / 'a'}' exists; name a new folder"
    os.symlink("nowhere", tmp_path / "dangling")
    assert bin("sandbox", "P1", tmp_path / "dangling").returncode == 2


@pytest.mark.parametrize("name", ["CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", ".claude", ".git"])
def test_a_parent_with_an_agents_files_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / "deep").mkdir()
    done = bin("sandbox", "P1", tmp_path / "deep" / "a")
    assert done.returncode == 2
    assert f"'{tmp_path / name}' would be read by an agent" in one_line(done.stderr)
    assert not (tmp_path / "deep" / "a").exists()


def test_an_edited_fixture_makes_another_sandbox(repository: Path, tmp_path: Path) -> None:
    first = bin("sandbox", "P1", tmp_path / "a", root=repository).stdout.strip()
    (repository / "fixture/vault-write/project/README.md").write_text("edited\n")
    second = bin("sandbox", "P1", tmp_path / "b", root=repository).stdout.strip()
    assert (Path(second) / "README.md").read_text() == "edited\n"
    assert _head(first) != _head(second)


def test_what_tools_leave_in_a_fixture_or_a_plugin_is_nothing(repository: Path, tmp_path: Path) -> None:
    """A plugin under development is a git checkout: looking at it changes no digest, and each clone has the same."""
    plugin = shutil.copytree(repository / "fixture/plugins/os-vault", tmp_path / "os-vault")
    before = [of_tree(plugin), bin("sandbox", "P1", tmp_path / "before", root=repository).returncode]
    for folder in (plugin, repository / "fixture/vault-write/project"):
        (folder / "sub/__pycache__").mkdir(parents=True)
        (folder / "sub/__pycache__/x.pyc").write_text("x")
        (folder / ".DS_Store").write_text("x")
        command(["git", "-C", folder, "init", "-q"])
    assert [of_tree(plugin), bin("sandbox", "P1", tmp_path / "after", root=repository).returncode] == before
    assert (tmp_path / "before.start.tsv").read_text() == (tmp_path / "after.start.tsv").read_text()
    assert not (tmp_path / "after/project/.DS_Store").exists()
    (repository / "fixture/vault-write/project/leftover").mkdir()
    (repository / "fixture/vault-write/project/leftover/.DS_Store").write_text("x")
    scenario = next((repository / "scenarios/vault-write").glob("N1-*"))
    scenario.write_text(
        scenario.read_text().replace("no_note_written: {}", "no_note_written: {root: project/leftover}")
    )
    refused = bin("sandbox", "N1", tmp_path / "never", root=repository)
    assert refused.returncode == 2 and "project/leftover" in one_line(refused.stderr), "nothing of it is copied"


def test_subject_paths_come_from_the_overlay(tmp_path: Path) -> None:
    (tmp_path / "wording" / "project").mkdir(parents=True)
    (tmp_path / "wording" / "project" / "CLAUDE.md").write_text("another wording\n")
    done = bin("sandbox", "P1", tmp_path / "a", "--subject", tmp_path / "wording")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "a/project/CLAUDE.md").read_text() == "another wording\n"


def test_prepare_runs_before_the_commit(repository: Path, tmp_path: Path) -> None:
    prepare = repository / "fixture/vault-write/prepare"
    prepare.write_text("#!/bin/sh\necho made > project/made.txt\n")
    prepare.chmod(0o755)
    cwd = bin("sandbox", "P1", tmp_path / "a", root=repository).stdout.strip()
    assert "made.txt" in command(["git", "-C", cwd, "ls-files"]).stdout.split()


def test_a_failing_prepare_is_one_line_and_leaves_nothing(repository: Path, tmp_path: Path) -> None:
    prepare = repository / "fixture/vault-write/prepare"
    prepare.write_text("#!/bin/sh\necho 'no disk for that' >&2\nexit 7\n")
    prepare.chmod(0o755)
    done = bin("sandbox", "P1", tmp_path / "a", root=repository)
    assert done.returncode == 2
    assert one_line(done.stderr) == "sandbox: sandbox-error: prepare ended with 7: no disk for that"
    assert not [path for path in tmp_path.iterdir() if path != repository]


def test_a_full_disk_is_a_sandbox_error_and_leaves_nothing(tmp_path: Path) -> None:
    """A size limit on files stands in for the full disk: writing fails in the middle, as it does there."""
    place = tmp_path / "sandboxes"
    done = subprocess.run(
        [ROOT / "bin" / "sandbox", "P1", tmp_path / "a"],
        env={**os.environ, "HELDOUT_SANDBOXES": str(place)},
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048)),
        check=False,
    )
    assert done.returncode == 2
    assert one_line(done.stderr).startswith("sandbox: sandbox-error: ")
    assert not (tmp_path / "a").exists() and not (tmp_path / "a.start.tsv").exists()
    assert not list((place / "templates").iterdir())


def test_another_users_workplace_is_refused(tmp_path: Path) -> None:
    if os.getuid() != 0:
        pytest.skip("1 test needs root, to give a folder away")
    place = tmp_path / "theirs"
    place.mkdir()
    os.chown(place, 12345, 12345)
    done = bin("sandbox", "P1", tmp_path / "a", env={"HELDOUT_SANDBOXES": str(place)})
    assert done.returncode == 2
    assert "belongs to another user; set HELDOUT_SANDBOXES" in one_line(done.stderr)
