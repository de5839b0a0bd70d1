"""Subagents of the embedded agent: files, models, background work and messages to them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from acting import Line, Played, bash, calls, each, play, plugin

REPORT: list[Line] = [{"text": "report of {model}", "output": 50}]


def agent(description: str, turns: list[Line] | None = None, **more: Any) -> Line:
    return {
        "Agent": {"description": description, "prompt": f"prompt of {description}", **more},
        "turns": turns or REPORT,
    }


def ids(played: Played) -> dict[str, str]:
    """Agent ids by description, from the first line of each file."""
    return {lines[0]["message"]["content"].removeprefix("prompt of "): name for name, lines in played.family.items()}


ROLES = {"agents/reviewer.md": "---\nname: reviewer\nmodel: haiku\ntools: Read, Bash\n---\nYou review.\n"}
ENV = "CLAUDE_CODE_SUBAGENT_MODEL"
MINE, HAIKU, SONNET, OPUS = "heldout-actor", "claude-haiku-5-5", "claude-sonnet-5-5", "claude-opus-5-5"


@pytest.mark.parametrize(
    ("given", "env", "model", "label", "named"),
    [
        ({}, {}, MINE, MINE, False),
        ({"model": "haiku"}, {}, HAIKU, "haiku", True),
        ({"model": "sonnet"}, {}, SONNET, "sonnet", True),
        ({"model": "fable"}, {}, "claude-fable-5-2", "fable", True),
        ({"subagent_type": "demo:reviewer"}, {}, HAIKU, HAIKU, False),
        ({"subagent_type": "demo:reviewer", "model": "opus"}, {}, OPUS, "opus", True),
        ({}, {ENV: "haiku"}, HAIKU, HAIKU, False),
        ({}, {ENV: "claude-x-1"}, "claude-x-1", "claude-x-1", False),
        ({}, {ENV: "inherit"}, MINE, MINE, False),
        ({"model": "opus"}, {ENV: "haiku"}, OPUS, "opus", True),
        ({"subagent_type": "demo:reviewer"}, {ENV: "sonnet"}, HAIKU, HAIKU, False),
        ({"model": "opus"}, {ENV: "haiku", f"{ENV}_FORCE": "1"}, HAIKU, HAIKU, False),
        ({"subagent_type": "demo:reviewer"}, {ENV: "sonnet", f"{ENV}_FORCE": "1"}, SONNET, SONNET, False),
        ({"model": "opus"}, {ENV: "inherit", f"{ENV}_FORCE": "1"}, MINE, MINE, False),
        ({"model": "haiku"}, {"ANTHROPIC_DEFAULT_HAIKU_MODEL": "claude-haiku-4-5"}, "claude-haiku-4-5", "haiku", True),
    ],
)
def test_the_model_of_a_spawn(
    tmp_path: Path, given: Line, env: Mapping[str, str], model: str, label: str, named: bool
) -> None:
    played = play(tmp_path, each(agent("d", **given)), env=env, plugins=[plugin(tmp_path, "demo", ROLES)])
    assert played.native_result(0)["resolvedModel"] == model
    (lines,) = played.family.values()
    said = [line for line in lines if line["type"] == "assistant"]
    assert {line["message"]["model"] for line in said} == {line["requestedModel"] for line in said} == {model}
    assert said[0]["message"]["content"][0]["text"] == f"report of {model}"
    meta = played.metas["d"]
    assert (meta["model"], "modelNotNamed" in meta) == (label, not named)


def test_spawns_that_fail(tmp_path: Path) -> None:
    items = [
        agent("full", model="claude-haiku-4-5"),
        agent("inherit", model="inherit"),
        agent("type", subagent_type="nope"),
    ]
    played = play(tmp_path, each(*items, {"Agent": {"description": "no prompt"}}))
    full, inherit, kind, missing = played.texts()
    for text in (full, inherit):
        assert text.startswith("<tool_use_error>InputValidationError: [")
        assert 'expected one of \\"sonnet\\"|\\"opus\\"|\\"haiku\\"|\\"fable\\"' in text
    assert (
        kind
        == "Agent type 'nope' not found. Available agents: claude, Explore, general-purpose, Plan, statusline-setup"
    )
    assert "`prompt` is missing" in missing
    assert all(block["is_error"] for block in played.results())
    assert not played.family
    assert played.events("result")[0]["subagent_stats"]["spawned"] == 0


def test_where_a_model_is_forced_the_tool_takes_any_name(tmp_path: Path) -> None:
    """The client takes `model` out of the tool's schema then, and so nobody checks it."""
    forced = {ENV: "haiku", f"{ENV}_FORCE": "1"}
    played = play(tmp_path, each(agent("full", model="claude-sonnet-5-5")), env=forced)
    assert played.native_result(0)["resolvedModel"] == HAIKU


def test_files_of_a_subagent(tmp_path: Path) -> None:
    turns: list[Line] = [
        {"text": "working", "calls": [bash("echo in sub"), {"Read": {"file_path": "{cwd}/none"}}]},
        *REPORT,
    ]
    played = play(tmp_path, each(agent("d", turns)))
    ((name, lines),) = played.family.items()
    assert name[0] == "a"
    assert len(name) == 17
    assert all(line["isSidechain"] and line["agentId"] == name for line in lines)
    assert not any(line.get("isSidechain") for line in played.native)
    assert lines[0]["message"]["content"] == "prompt of d"
    assert lines[0]["parentUuid"] is None
    assert played.results(lines)[0]["content"] == "in sub"
    results = [line for line in lines if "sourceToolAssistantUUID" in line]
    assert "toolUseResult" not in results[0]  # only failures say more there
    assert results[1]["toolUseResult"].startswith("Error: File does not exist.")
    assert {line["attributionAgent"] for line in lines if line["type"] == "assistant"} == {"general-purpose"}
    result = played.native_result(0)
    assert (result["status"], result["agentId"], result["agentType"]) == ("completed", name, "general-purpose")
    assert result["content"] == [{"type": "text", "text": "report of heldout-actor"}]
    assert (result["totalTokens"], result["totalToolUseCount"], result["toolsUsed"]) == (5150, 2, ["Bash", "Read"])
    text = played.texts()[0][0]["text"]
    assert "\n  report of heldout-actor\n" in text
    assert f"agentId: {name}" in text
    assert played.metas["d"]["toolUseId"] == played.results()[0]["tool_use_id"]


def test_what_the_stream_shows_of_a_subagent(tmp_path: Path) -> None:
    """The prompt and the calls of one in the foreground, not its text; nothing of one below it but its tasks."""
    deep = agent("deep", [calls(bash("echo deep")), *REPORT], model="haiku")
    played = play(tmp_path, each(agent("outer", [{"text": "I go", "calls": [deep]}, *REPORT])))
    spawn = played.results()[0]["tool_use_id"]
    inside = [line for line in played.stream if line.get("parent_tool_use_id")]
    assert {line["parent_tool_use_id"] for line in inside} == {spawn}
    kinds = [(line["type"], line["message"]["content"][0]["type"]) for line in inside]
    assert kinds == [("user", "text"), ("assistant", "tool_use"), ("user", "tool_result")]
    assert {line["agent_id"] for line in inside} == {ids(played)["outer"]}
    started = played.events("system", "task_started")
    assert [(event["description"], event["spawn_depth"], event["is_backgrounded"]) for event in started] == [
        ("outer", 1, False),
        ("deep", 2, False),
    ]
    assert started[1]["parent_task_id"] == ids(played)["outer"]
    assert (played.metas["deep"]["spawnDepth"], played.metas["deep"]["parentAgentId"]) == (2, ids(played)["outer"])
    stats = played.events("result")[0]["subagent_stats"]
    assert (stats["spawned"], stats["max_depth"], stats["spawned_by_subagents"], stats["completed"]) == (2, 2, 1, 2)
    assert stats["by_type"] == {"general-purpose": 2}


def test_tools_of_a_role(tmp_path: Path) -> None:
    write: Line = {"Write": {"file_path": "{cwd}/made", "content": "x"}}
    roles = [("demo:reviewer", [write, bash("echo ok")]), ("Explore", [write, agent("in explore")])]
    for name, items in roles:
        root = tmp_path / name.replace(":", "-")
        demo = plugin(tmp_path, "demo", ROLES)
        played = play(root, each(agent("d", [calls(*items), *REPORT], subagent_type=name)), plugins=[demo])
        (lines,) = played.family.values()
        said = [block["content"] for block in played.results(lines)]
        assert said[0].startswith("<tool_use_error>Error: No such tool available: Write. Write is not among the tools")
        assert (said[1] == "ok") == (name == "demo:reviewer")
        assert not (played.cwd / "made").exists()
        assert ("SendMessage" in played.texts()[0][0]["text"]) == (name == "demo:reviewer")


def test_a_subagent_starts_where_the_main_loop_is_and_goes_back_there(tmp_path: Path) -> None:
    (tmp_path / "work" / "project" / "sub" / "deep").mkdir(parents=True)
    turns = [calls(bash("cd deep && pwd")), calls(bash("pwd")), *REPORT]
    played = play(tmp_path, each(bash("cd sub"), agent("d", turns)))
    (lines,) = played.family.values()
    assert [block["content"] for block in played.results(lines)] == [f"{played.cwd}/sub/deep", f"{played.cwd}/sub"]


def test_without_background_every_spawn_is_waited_for(tmp_path: Path) -> None:
    played = play(tmp_path, each(agent("asked", run_in_background=True), agent("not asked")))
    assert [played.native_result(n)["status"] for n in (0, 1)] == ["completed", "completed"]
    assert {meta["requestShape"] for meta in played.metas.values()} == {"foreground"}
    assert played.events("result")[0]["subagent_stats"]["requested"] == {"background": 0, "foreground": 0, "unset": 2}
    env = play(tmp_path / "two", each(bash("echo $CLAUDE_CODE_DISABLE_BACKGROUND_TASKS"))).texts()
    assert env == ["1"]


def test_a_message_continues_the_same_file(tmp_path: Path) -> None:
    turns: list[Line] = [{"text": "first"}, calls(bash("echo again")), {"text": "second"}]
    items = [agent("d", turns), {"SendMessage": {"to": "{agent:d}", "message": "more", "summary": "s"}}]
    played = play(
        tmp_path, each(*items, {"SendMessage": {"to": "nobody", "message": "x"}}, {"SendMessage": {"to": "x"}})
    )
    (lines,) = played.family.values()
    said = [line["message"]["content"][0].get("text") for line in lines if line["type"] == "assistant"]
    assert said == ["first", None, "second"]
    message = next(line for line in lines if line.get("isMeta"))
    assert message["message"]["content"] == "The coordinator sent a message while you were working:\nmore"
    assert message["origin"] == {"kind": "coordinator"}
    _, sent, nobody, empty = played.texts()
    assert "  second" in sent[0]["text"]
    assert played.native_result(1)["success"] is True
    assert '"success":false' in nobody[0]["text"]
    assert "message must not be empty" in empty
    given = next(
        b for line in played.native for b in line.get("message", {}).get("content", ()) if b_is(b, "SendMessage")
    )
    assert given["input"]["recipient"] == ids(played)["d"]
    assert given["input"]["recipient_kind"] == "agent"


def b_is(block: Any, tool: str) -> bool:
    return isinstance(block, dict) and block.get("name") == tool


def test_background_agents_report_by_notification(tmp_path: Path) -> None:
    turns: list[Line] = [
        calls(agent("d", [calls(bash("touch made")), *REPORT])),
        {"text": "waiting"},
        {"text": "final"},
    ]
    played = play(tmp_path, turns, background=True)
    launched = played.native_result(0)
    assert (launched["status"], launched["isAsync"], launched["resolvedModel"]) == ("async_launched", True, MINE)
    assert (played.cwd / "made").exists()
    assert [event["result"] for event in played.events("result")] == ["waiting", "final"]
    assert [event["num_turns"] for event in played.events("result")] == [2, 1]
    assert played.events("result")[0]["modelUsage"] == played.events("result")[1]["modelUsage"]
    assert played.events("result")[1]["origin"]["kind"] == "task-notification"
    assert len(played.events("system", "init")) == 2
    notified = [line for line in played.native if line.get("origin", {}).get("kind") == "task-notification"]
    assert [line["type"] for line in notified] == ["user"]
    assert "<result>report of heldout-actor</result>" in notified[0]["message"]["content"]
    operations = [line["operation"] for line in played.native if line["type"] == "queue-operation"]
    assert operations == ["enqueue", "dequeue", "enqueue", "dequeue"]
    texts = [line for line in played.stream if line.get("agent_id") and line["type"] == "assistant"]
    assert [line["message"]["content"][0]["type"] for line in texts] == ["tool_use", "text"]
    tasks = [len(event["tasks"]) for event in played.events("system", "background_tasks_changed")]
    assert tasks == [1, 0]
    assert (played.metas["d"]["requestShape"], played.metas["d"]["finished"]) == ("background", True)


def test_a_report_that_comes_while_the_main_loop_works_is_absorbed(tmp_path: Path) -> None:
    turns: list[Line] = [calls(agent("d")), calls(bash("echo busy")), {"text": "end"}]
    played = play(tmp_path, turns, background=True)
    (queued,) = played.attachments("queued_command")
    assert "report of heldout-actor" in queued["attachment"]["prompt"]
    order = [line.get("attachment", {}).get("type", line["type"]) for line in played.native]
    assert order.index("queued_command") > [place for place, kind in enumerate(order) if kind == "user"][-1]
    assert len(played.events("result")) == 1


def test_a_message_to_a_background_agent(tmp_path: Path) -> None:
    turns: list[Line] = [
        calls(agent("d", [{"text": "first"}, {"text": "second"}])),
        {"text": "waiting"},
        calls({"SendMessage": {"to": "{agent:d}", "message": "more"}}),
        {"text": "sent"},
        {"text": "final"},
    ]
    played = play(tmp_path, turns, background=True)
    assert [event["result"] for event in played.events("result")] == ["waiting", "sent", "final"]
    sent = played.native_result(1)
    assert sent["resumedAgentId"] == ids(played)["d"]
    assert [event["prompt"] for event in played.events("system", "task_started")] == ["prompt of d", "more"]
    assert [event["summary"] for event in played.events("system", "task_notification")] == ["first", "second"]


def test_background_can_be_declined(tmp_path: Path) -> None:
    played = play(tmp_path, each(agent("d", run_in_background=False)), background=True)
    assert played.native_result(0)["status"] == "completed"
    stats = played.events("result")[0]["subagent_stats"]
    assert (stats["requested"]["foreground"], stats["started_in_background"]) == (1, 0)
