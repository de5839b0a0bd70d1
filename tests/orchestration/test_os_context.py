"""The os-context plugins: the hook delivers its pages whole, and the two differ in wording only."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

PLUGINS = Path(__file__).parents[2] / "fixture/plugins"
WORDINGS = [PLUGINS / "os-context", PLUGINS / "os-context-v2"]
LIMIT = 10_000  # characters, as the client counts them


def start(plugin: Path, root: Path | None = None) -> tuple[str, str]:
    """Run the hook as the client does; its context ("" for none) and its stderr. The status must be 0."""
    hooks = json.loads((plugin / "hooks/hooks.json").read_text())["hooks"]["SessionStart"]
    assert len(hooks) == 1 and len(hooks[0]["hooks"]) == 1
    result = subprocess.run(
        ["/bin/sh", "-c", hooks[0]["hooks"][0]["command"]],
        input=json.dumps({"hook_event_name": "SessionStart", "source": "startup", "session_id": "s", "cwd": "/"}),
        env={"PATH": os.environ["PATH"], "CLAUDE_PLUGIN_ROOT": str(root or plugin)},
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr
    if not result.stdout:
        return "", result.stderr
    output = json.loads(result.stdout)["hookSpecificOutput"]
    assert output["hookEventName"] == "SessionStart"
    return output["additionalContext"], result.stderr


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    """A copy under a path with a blank and a quote in it, to be spoilt."""
    return Path(shutil.copytree(WORDINGS[0], tmp_path / "an author's plugins"))


@pytest.mark.parametrize("wording", WORDINGS, ids=lambda path: path.name)
def test_the_page_is_delivered_whole_and_fits(wording: Path) -> None:
    page = (wording / "prompts/session-start/10-orchestration.md").read_text()
    context, complaints = start(wording)
    assert context == page.strip()
    assert complaints == ""
    assert len(context.encode("utf-16-le")) // 2 < LIMIT


@pytest.mark.parametrize("wording", WORDINGS, ids=lambda path: path.name)
@pytest.mark.parametrize("needed", ["`model:`", "exact model id", "60 KB", "script", "three|1 to 3", "review"])
def test_the_wording_covers_what_the_suite_measures(wording: Path, needed: str) -> None:
    text = (wording / "prompts/session-start/10-orchestration.md").read_text()
    assert any(part in text for part in needed.split("|"))


def test_the_two_differ_in_wording_files_only() -> None:
    trees = [
        {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}
        for root in WORDINGS
    ]
    assert trees[0].keys() == trees[1].keys()
    different = {name for name in trees[0] if trees[0][name] != trees[1][name]}
    assert different == {"prompts/session-start/10-orchestration.md"}


def test_manifest_and_hooks_are_where_the_client_looks() -> None:
    for root in WORDINGS:
        manifest = json.loads((root / ".claude-plugin/plugin.json").read_text())
        assert manifest["name"] == "os-context"
        hook = json.loads((root / "hooks/hooks.json").read_text())["hooks"]["SessionStart"][0]
        assert "startup" in hook["matcher"].split("|")
        assert os.access(root / "hooks/session-start", os.X_OK)


def test_pages_come_in_order_of_their_names(plugin: Path) -> None:
    pages = plugin / "prompts/session-start"
    (pages / "20-last.md").write_text("last\n")
    (pages / "05-first.md").write_bytes(b"\xef\xbb\xbffirst \xf0\x9f\x98\x80\r\nline\r\n")
    (pages / ".hidden.md").write_text("hidden")
    (pages / "notes.txt").write_text("notes")
    (pages / "30-empty.md").write_text("\n")
    context, complaints = start(plugin)
    assert context.startswith("first \U0001f600\nline\n\n# ")
    assert context.endswith("\n\nlast")
    assert "hidden" not in context and "notes" not in context
    assert complaints == ""


def test_a_page_that_does_not_fit_is_left_out_and_named(plugin: Path) -> None:
    pages = plugin / "prompts/session-start"
    (pages / "10-orchestration.md").write_text("x" * 9_000)
    (pages / "20-long.md").write_text("y" * 999)
    (pages / "30-short.md").write_text("z" * 998)
    context, complaints = start(plugin)
    assert len(context) == LIMIT and context.endswith("z")
    assert "'20-long.md' left out" in complaints


def test_astral_characters_count_twice_as_in_the_client(plugin: Path) -> None:
    (plugin / "prompts/session-start/10-orchestration.md").write_text("\U0001f600" * 5_001)
    assert start(plugin)[0] == ""


def test_nothing_to_say_is_not_an_error(plugin: Path) -> None:
    shutil.rmtree(plugin / "prompts/session-start")
    context, complaints = start(plugin)
    assert context == ""
    assert "cannot list" in complaints


def test_a_page_that_cannot_be_read_does_not_take_the_others_along(plugin: Path) -> None:
    pages = plugin / "prompts/session-start"
    (pages / "00-dangling.md").symlink_to("nowhere")
    (pages / "01-folder.md").mkdir()
    (pages / "02-latin1.md").write_bytes(b"caf\xe9")
    context, complaints = start(plugin)
    assert context.startswith("caf\ufffd\n\n# ")
    assert "'00-dangling.md'" in complaints and "'01-folder.md'" in complaints


def test_without_the_variable_the_hook_finds_its_own_pages(plugin: Path) -> None:
    result = subprocess.run(
        [plugin / "hooks/session-start"], env={"PATH": os.environ["PATH"]}, capture_output=True, text=True, check=True
    )
    assert json.loads(result.stdout)["hookSpecificOutput"]["additionalContext"] == start(plugin)[0]
