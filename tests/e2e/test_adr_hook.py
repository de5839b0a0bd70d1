"""The SessionStart context of os-adr with the real client: there before the first action, or no row to count."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from heldout import rows
from programs import ROOT, bin, one_line

PLUGIN = ROOT / "fixture/plugins/os-adr"


def _lines(run: Path) -> list[dict[str, Any]]:
    native = next(run.glob("adr-unprompted/*/*@claude/r1/session/*.jsonl"))
    return [json.loads(line) for line in native.read_text(encoding="utf-8").splitlines()]


def _first(lines: list[dict[str, Any]], wanted: str) -> int:
    """The number of the first line whose attachment or content block is of that type."""
    for number, line in enumerate(lines):
        content = line.get("message", {}).get("content")
        blocks = content if isinstance(content, list) else []
        if wanted in [line.get("attachment", {}).get("type"), *(block.get("type") for block in blocks)]:
            return number
    raise AssertionError(f"no {wanted} in the native transcript")


@pytest.mark.parametrize("name", ["R1", "W1"])
def test_the_native_transcript_has_the_context_before_the_first_action(name: str, tmp_path: Path) -> None:
    done = bin("run", name, "compliant@claude", tmp_path, "--withhold-task")
    row = rows.parse(one_line(done.stdout), "x")
    assert (row.verdict, dict(row.axes)) == ("PASS", {"A": "pass", "B": "pass"}), row.reasons
    lines = _lines(tmp_path)
    place = _first(lines, "hook_additional_context")
    assert place < _first(lines, "tool_use")
    said = lines[place]["attachment"]
    assert said["hookEvent"] == "SessionStart"
    assert "architecture decision records (ADRs) in docs/adr: 21 ADRs" in "".join(said["content"])


def test_a_plugin_whose_hook_says_nothing_measures_nothing(tmp_path: Path) -> None:
    mute = tmp_path / "os-adr"
    shutil.copytree(PLUGIN, mute, ignore=shutil.ignore_patterns("__pycache__"))
    (mute / "hooks/session-start").write_text("exit 0\n")
    done = bin("run", "R1", "compliant@claude", tmp_path / "run", "--plugin", mute, "--withhold-task")
    row = rows.parse(one_line(done.stdout), "x")
    assert (done.returncode, row.verdict, row.code) == (2, "ERROR", "hook-not-delivered")
