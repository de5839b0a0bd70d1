"""The embedded actor is honest: its facts are those of the real client playing the same script."""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from heldout import cell, rows, scenario
from heldout.agents import roster, script
from programs import bin

VOLATILE = [
    re.compile(item["field"].replace("*", "[^/]+"))
    for item in yaml.safe_load((Path(__file__).parent / "volatile.yaml").read_text())
]
EVERYTHING = bool(os.environ.get("HELDOUT_E2E_ALL"))
# What the first actors of a scenario do not do: messages to subagents, nested ones, a forced model, and none forced.
MORE = [
    ("E1N-pipeline-review", "env-leak"),
    ("E1P-pipeline-review", "asked-again"),
    ("E1P-pipeline-review", "stub-not-applied"),
    ("E2P-retry-policy", "delegated"),
    ("E5N-drain-timeout", "one-for-all"),
]


def _playable(item: scenario.Scenario) -> list[str]:
    """Actors that a client can play: those whose session ends by itself. All, or `compliant` and one that fails."""
    actors = script.load_for(item.actors)
    names = [name for name, actor in actors.items() if actor.ends == "completed" and name != "untouched"]
    failing = [name for name in names if actors[name].expect.get("verdict") == "FAIL"]
    return names if EVERYTHING else ["compliant", *failing[:1]]


PLAYED = [
    item
    for set_name in (("run", "reserve") if EVERYTHING else ("run",))
    for item in map(scenario.load, scenario.files(set_name))
    if item.posture != "trace"
]
CASES = [(item.id, name) for item in PLAYED for name in _playable(item)]
CASES += [case for case in MORE if case not in CASES]


def _folder(run: Path, name: str, model: str) -> Path:
    """The cell, or the attempt where it ended in ERROR."""
    return next(path.parent for path in run.glob(f"**/{name}/{model}/r1/**/facts.json"))


def _reasons(row: rows.Row) -> list[str]:
    return [re.sub(r"/[^ ']*/[0-9a-f]{16}(?=/)", "CELL", line) for line in row.reasons]


def _facts(folder: Path) -> tuple[dict[str, Any], cell.Record]:
    record = cell.read(folder)
    text = (folder / "facts.json").read_text()
    # The places of a cell are its own, and so are ids; what is compared is where in them something is, and who did it.
    # A subagent without a model of its own inherits the main loop's.
    names = {str(Path(record.sandbox).parent): "CELL", record.session_id: "SESSION", "heldout-actor": roster.STUB_MODEL}
    for place, spawn in enumerate(json.loads(text)["spawns"]):
        names |= {spawn[key]: f"{key} of spawn {place:02}" for key in ("id", "agent_id") if spawn[key]}
    for path, name in names.items():
        text = text.replace(path, name)
    facts = json.loads(text)
    # The files of subagents are read in the order of ids that the client draws at random.
    facts["agents"].sort(key=lambda agent: agent["id"])
    facts["actions"].sort(key=lambda action: action["agent"])
    for place, action in enumerate(facts["actions"]):
        action["n"] = place
        if action["tool"] in ("Agent", "SendMessage"):
            action["result_bytes"] = "the client has its own words around a report"
    return facts, record


def _differences(ours: Any, theirs: Any, way: str = "") -> list[str]:
    if any(pattern.fullmatch(way) for pattern in VOLATILE):
        return []
    if isinstance(ours, dict) and isinstance(theirs, dict):
        keys = sorted(ours.keys() | theirs.keys())
        return [
            line
            for key in keys
            for line in _differences(ours.get(key, "absent"), theirs.get(key, "absent"), f"{way}/{key}".lstrip("/"))
        ]
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        return [
            line
            for place, pair in enumerate(zip(ours, theirs, strict=True))
            for line in _differences(*pair, f"{way}/{place}")
        ]
    return [] if ours == theirs else [f"{way}: actor {str(ours)[:200]!r}, client {str(theirs)[:200]!r}"]


@pytest.mark.parametrize(("name", "actor"), CASES)
def test_facts_and_row_are_the_same(name: str, actor: str, tmp_path: Path) -> None:
    try:
        _are_the_same(name, actor, tmp_path / "1")
    except AssertionError:
        # The client may be done before an agent that a SendMessage woke has reported: seen once in a hundred sessions.
        if "SendMessage" not in scenario.find(name).actors.read_text():
            raise
        _are_the_same(name, actor, tmp_path / "2")


def _are_the_same(name: str, actor: str, tmp_path: Path) -> None:
    found = []
    for model in (actor, f"{actor}@claude"):
        done = bin("run", name, model, tmp_path, "--withhold-task")
        assert done.stdout, done.stderr
        found.append(rows.parse(done.stdout.strip(), "x"))
    ours, theirs = found
    assert (ours.verdict, ours.axes) == (theirs.verdict, theirs.axes)
    assert _reasons(ours) == _reasons(theirs)
    (a, _), (b, record) = (_facts(_folder(tmp_path, name, model)) for model in (actor, f"{actor}@claude"))
    assert _differences(a, b) == []
    assert (
        {item["name"] for item in a["session"]["plugins"]}
        == set(record.plugins)
        <= {item["name"] for item in b["session"]["plugins"]}
    )
    assert set(a["session"]["skills"]) <= set(b["session"]["skills"])
    assert sum(b["tokens"]["residual"].values()) == 0


def test_the_cases_are_not_none() -> None:
    assert len(CASES) >= 2 * len(PLAYED) >= 50
