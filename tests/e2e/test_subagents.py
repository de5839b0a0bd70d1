"""Subagents of the real client: the files it writes of them hold what the suite orchestration is scored from."""

import json
from pathlib import Path
from typing import Any

from heldout import rows
from heldout.rows import Row
from programs import bin, one_line


def _run(name: str, actor: str, folder: Path) -> tuple[Row, Path, dict[str, Any]]:
    done = bin("run", name, f"{actor}@claude", folder, "--withhold-task")
    cell = next(path.parent for path in folder.glob(f"**/{name}-*/{actor}@claude/r1/**/facts.json"))
    return rows.parse(one_line(done.stdout), "x"), cell, json.loads((cell / "facts.json").read_text())


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_forced_model_is_in_the_files_of_the_subagents_and_nowhere_else(tmp_path: Path) -> None:
    row, cell, facts = _run("E1P", "compliant", tmp_path)
    assert (row.verdict, row.axes, row.info["B-via"]) == ("PASS", {"A": "pass", "B": "pass"}, "plain")
    metas = {path: json.loads(path.read_text()) for path in cell.glob("session/*/subagents/agent-*.meta.json")}
    assert sorted(meta["description"] for meta in metas.values()) == [
        "Review delivery",
        "Review intake",
        "Review queue",
    ]
    for path in metas:
        served = {
            line["message"]["model"]
            for line in _lines(path.with_name(path.name.replace(".meta.json", ".jsonl")))
            if line["type"] == "assistant"
        }
        assert served == {"claude-haiku-5-5"}
    spawns = facts["spawns"]
    assert {(item["requested_model"], item["resolved_model"]) for item in spawns} == {("sonnet", "claude-haiku-5-5")}
    assert {item["agent_id"] for item in spawns} == {path.name[6:].partition(".")[0] for path in metas}
    # The caller is shown neither the hook nor the model: only the report that it asked for tells.
    native = next(cell.glob("session/*.jsonl"))
    shown = [json.dumps(line["message"]["content"]) for line in _lines(native) if line["type"] in ("user", "assistant")]
    told = [text for text in shown if "haiku" in text and "model: claude-haiku-5-5" not in text]
    assert len(told) == 1 and "every report came back from claude-haiku-5-5" in told[0]


def test_token_figures_are_the_clients_own_totals(tmp_path: Path) -> None:
    """With subagents side by side, below one another, in the background, and continued by a message."""
    for name, actor in (("E2P", "delegated"), ("E1P", "asked-again"), ("E5N", "one-for-all")):
        row, cell, facts = _run(name, actor, tmp_path)
        result = [line for line in _lines(cell / "transcript.jsonl") if line["type"] == "result"][-1]
        theirs = sum(model["outputTokens"] for model in result["modelUsage"].values())
        assert int(row.info["mltok"]) + int(row.info["sctok"]) == theirs
        assert int(row.info["sctok"]) > 0
        assert set(facts["tokens"]["residual"].values()) == {0}
        share = int(row.info["mltok"]) / theirs
        assert row.info["mlshare"] == str(round(share, 3))
