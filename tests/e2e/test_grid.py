"""Whole grids with the real client on a stub: the actors' verdicts, apart, and without a trace outside the cells."""

import hashlib
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from heldout import cell, rows
from heldout.rows import Row
from programs import ROOT, bin, command, one_line


def _digest(*folders: Path) -> dict[str, str]:
    skipped = {"results", ".git", ".venv", ".pytest_cache", ".hypothesis"}
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest()
        for folder in folders
        for path in folder.rglob("*")
        if path.is_file() and not path.is_symlink() and not skipped & set(path.relative_to(folder).parts)
    }


def _verdicts(table: Path) -> dict[tuple[str, str], tuple[str, dict[str, str], tuple[str, ...]]]:
    return {
        (row.scenario, row.model.partition("@")[0]): (row.verdict, dict(row.axes), row.reasons)
        for row in rows.read(table)
    }


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """A user's home with things in it that must neither be used nor touched."""
    folder = tmp_path / "home"
    (folder / ".claude").mkdir(parents=True)
    (folder / ".claude/CLAUDE.md").write_text("Always write a note into the vault.\n")
    (folder / ".claude/settings.json").write_text(
        '{"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "touch ~/ran"}]}]}}'
    )
    (folder / ".claude.json").write_text("{}")
    yield folder


def test_a_grid_gives_the_actors_verdicts_and_leaves_no_trace(repository: Path, home: Path) -> None:
    before = _digest(repository, home)
    env = {"HOME": str(home)}
    words = ["make", "-C", repository, "grid", "SUITE=vault-write", "JOBS=8"]
    done = command([*words, "MODELS=compliant@claude never@claude", "RUN=client"], env=env)
    assert done.returncode == 0, done.stderr
    assert command([*words, "MODELS=compliant never", "RUN=actors"], env=env).returncode == 0
    results = repository / "results"
    assert _verdicts(results / "client/results.tsv") == _verdicts(results / "actors/results.tsv")
    assert len(rows.read(results / "client/results.tsv")) == 12
    assert "embedded actors: no model was measured" in done.stdout
    assert _digest(repository, home) == before
    records = [cell.read(path.parent) for path in results.glob("client/**/cell.json")]
    assert len({record.sandbox for record in records}) == len({record.session_id for record in records}) == 12
    assert all("TMPDIR" in record.environment and "CLAUDE_CONFIG_DIR" in record.environment for record in records)


def test_dots_and_long_paths_do_not_matter(tmp_path: Path) -> None:
    place = tmp_path / "with.dots" / ("long-" * 45)
    done = bin("run", "P1", "compliant@claude", tmp_path / "run", env={"HELDOUT_SANDBOXES": str(place)})
    row = rows.parse(one_line(done.stdout), "x")
    assert (row.verdict, row.info["ended"]) == ("PASS", "completed")
    assert list((tmp_path / "run").glob("**/session/*.jsonl"))


def test_project_settings_and_claude_md_are_the_treatment(repository: Path, tmp_path: Path) -> None:
    """A SessionStart hook of the sandbox's own .claude reaches the model, and SUBJECT= overlays the wording."""
    project = tmp_path / "wording/project"
    (project / ".claude").mkdir(parents=True)
    (project / "CLAUDE.md").write_text("OVERLAID_WORDING\n")
    path = next((repository / "scenarios/vault-write").glob("N1-*.md"))
    path.write_text(
        path.read_text().replace("subject: [project/CLAUDE.md]", "subject: [project/CLAUDE.md, project/.claude]")
    )
    (project / ".claude/settings.json").write_text(
        '{"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "echo PROJECT_HOOK_SPOKE"}]}]}}'
    )
    done = bin("run", "N1", "never@claude", tmp_path / "run", "--subject", tmp_path / "wording", root=repository)
    assert rows.parse(one_line(done.stdout), "x").verdict == "PASS"
    native = next((tmp_path / "run").glob("**/session/*.jsonl")).read_text()
    assert "PROJECT_HOOK_SPOKE" in native and "OVERLAID_WORDING" in native


def test_the_users_own_configuration_is_used_when_asked(home: Path, tmp_path: Path) -> None:
    quiet = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1", "IS_SANDBOX": "1"}
    env = {"HOME": str(home), "ISOLATE": "user", **quiet}
    done = bin("run", "N1", "never@claude", tmp_path / "run", env=env)
    assert rows.parse(one_line(done.stdout), "x").verdict == "PASS", done.stderr
    assert (home / "ran").exists()
    assert "Always write a note" in next((tmp_path / "run").glob("**/session/*.jsonl")).read_text()


def test_confined_by_bubblewrap_nothing_outside_is_written(repository: Path, tmp_path: Path) -> None:
    if not shutil.which("bwrap") or subprocess.run(["bwrap", "--ro-bind", "/", "/", "true"], check=False).returncode:
        pytest.skip("1 test needs bubblewrap")
    target = tmp_path / "outside.txt"
    path = next((repository / "fixture/vault-write/actors").glob("N1-*.yaml"))
    call = f'{{Bash: {{command: "echo x > {target}; echo y > {{cwd}}/inside.txt", description: write}}}}'
    path.write_text(
        f"{path.read_text()}\nescaper:\n  expect: {{verdict: PASS}}\n  turns: [{{calls: [{call}]}}, {{text: done}}]\n"
    )
    done = bin("run", "N1", "escaper@claude", tmp_path / "run", env={"CONFINE": "bwrap"}, root=repository)
    row = rows.parse(one_line(done.stdout), "x")
    assert (row.verdict, row.info["project-write"]) == ("PASS", "yes"), done.stdout
    assert not target.exists()


def _none(done: subprocess.CompletedProcess[str], complaint: str) -> None:
    assert done.returncode == 2
    assert complaint in done.stderr
    assert not [row for row in done.stdout.splitlines() if row]


def test_a_live_grid_without_client_or_credentials_stops_before_anything_is_spent(repository: Path) -> None:
    words = ["make", "--no-print-directory", "-C", repository, "grid", "MODELS=haiku", "SCENARIOS=P1"]
    _none(command(words), "no credentials for the client; set one of ANTHROPIC_API_KEY")
    _none(command(words, env={"HELDOUT_CLAUDE": "/nonexistent/claude"}), "which cannot be run")
    _none(command(words, env={"HELDOUT_CLAUDE": shutil.which("true") or "true"}), "printed no version")
    assert not list((repository / "results").rglob("cell.json"))


def test_cost_served_models_and_client_go_to_info(tmp_path: Path) -> None:
    done = bin("run", "N1", "never@claude", tmp_path)
    row: Row = rows.parse(one_line(done.stdout), "x")
    assert row.info["served"] == "claude-sonnet-5-5"
    assert row.info["cli"].startswith("claude 2.")
    assert float(row.info["usd"]) > 0
    assert row.info["plugins"].startswith("os-vault@")
    assert ROOT.name not in row.info["plugins"]
