"""Hooks of the embedded agent: real commands of plugins and the project, and what becomes of their answers."""

import json
from pathlib import Path
from typing import Any

import pytest
from acting import SESSION, Line, Played, answer, bash, calls, each, hook, lines, play, plugin, settings, specific
from heldout.agents.acting.hooks import matches
from heldout.errors import Refusal


def started(tmp_path: Path, *commands: str, **more: Any) -> Played:
    """A session with these SessionStart hooks."""
    settings(tmp_path, {"SessionStart": [hook(*commands, **more)]})
    return play(tmp_path, [{"text": "x"}])


def test_json_context_reaches_the_model_before_it_speaks(tmp_path: Path) -> None:
    played = started(
        tmp_path, specific("SessionStart", additionalContext="CTX"), specific("SessionStart", additionalContext="MORE")
    )
    context = played.attachments("hook_additional_context")
    assert [line["attachment"]["content"] for line in context] == [["CTX", "MORE"]]
    assert context[0]["rendered"][0]["content"] == (
        "<system-reminder>\nSessionStart hook additional context: CTX\nMORE\n</system-reminder>"
    )
    success = played.attachments("hook_success")
    assert [line["attachment"]["content"] for line in success] == ["", ""]
    assert not any("rendered" in line for line in success)
    ancestors, line = set[str](), next(line for line in played.native if line["type"] == "assistant")
    by_id = {line["uuid"]: line for line in played.native if "uuid" in line}
    while line["parentUuid"]:
        line = by_id[line["parentUuid"]]
        ancestors.add(line["uuid"])
    assert context[0]["uuid"] in ancestors


@pytest.mark.parametrize(
    ("command", "outcome", "attachment", "seen"),
    [
        ("echo ' plain '", "success", "hook_success", "SessionStart:startup hook success: plain"),
        ("echo '{broken'", "success", "hook_success", "SessionStart:startup hook success: {broken"),
        ("echo boom >&2; exit 1", "error", "hook_non_blocking_error", None),
        ("echo boom >&2; exit 2", "error", "hook_non_blocking_error", None),
        ("nosuchcommand", "error", "hook_non_blocking_error", None),
        (answer(systemMessage="SM"), "success", "hook_system_message", None),
        ("true", "success", None, None),
    ],
)
def test_answers_at_the_start(
    tmp_path: Path, command: str, outcome: str, attachment: str | None, seen: str | None
) -> None:
    played = started(tmp_path, command)
    response = played.events("system", "hook_response")[0]
    assert response["outcome"] == outcome
    assert response["hook_id"] == played.events("system", "hook_started")[0]["hook_id"]
    assert response["output"] == response["stdout"] + response["stderr"]
    written = [line for line in played.native if line.get("attachment", {}).get("hookEvent")]
    assert [line["attachment"]["type"] for line in written][-1:] == ([attachment] if attachment else [])
    shown = [line["rendered"][0]["content"] for line in written if "rendered" in line]
    assert shown == ([f"<system-reminder>\n{seen}\n</system-reminder>"] if seen else [])


def test_a_hook_that_takes_too_long_is_cancelled(tmp_path: Path) -> None:
    played = started(tmp_path, "echo early; sleep 600", timeout=0.5)
    attachment = played.attachments("hook_cancelled")[0]["attachment"]
    assert (attachment["timedOut"], attachment["timeoutMs"]) == (True, 500)
    assert played.events("system", "hook_response")[0]["outcome"] == "cancelled"
    assert played.ended.how == "completed"


@pytest.mark.parametrize("size", [10_000, 10_001])
def test_long_contexts_are_cut_to_a_preview(tmp_path: Path, size: int) -> None:
    played = started(tmp_path, specific("SessionStart", additionalContext="L" * size))
    content = played.attachments("hook_additional_context")[0]["attachment"]["content"][0]
    if size == 10_000:
        assert content == "L" * size
        return
    assert content.startswith("<persisted-output>\nOutput too large (9.8KB). Full output saved to: ")
    assert content.endswith("L" * 2000 + "\n...\n</persisted-output>")
    kept = content.partition("saved to: ")[2].partition("\n")[0]
    assert Path(kept).read_text() == "L" * size
    assert "L" * size in played.events("system", "hook_response")[0]["stdout"]


@pytest.mark.parametrize(
    ("matcher", "subject", "found"),
    [
        ("", "Bash", True),
        ("*", "Bash", True),
        ("Bash", "Bash", True),
        ("Write|Edit", "Edit", True),
        ("Ba.*", "Bash", True),
        ("Task", "Agent", True),
        ("Agent", "Agent", True),
        ("ash", "Bash", False),
        ("bash", "Bash", False),
        ("resume", "startup", False),
        ("startup|resume", "startup", True),
        ("[", "Bash", False),
    ],
)
def test_matchers(matcher: str, subject: str, found: bool) -> None:
    assert matches(matcher, subject) == found


LOG = "cat >> $TMPDIR/log"
EVENTS = """SessionStart UserPromptSubmit PreToolUse PostToolUse PostToolUseFailure SubagentStart SubagentStop Stop
SessionEnd Notification PreCompact"""


def test_events_and_what_hooks_are_told(tmp_path: Path) -> None:
    demo = plugin(tmp_path, "demo", {}, {event: [hook(LOG)] for event in EVENTS.split()})
    spawn: Line = {"Agent": {"description": "d", "prompt": "p"}, "turns": [{"text": "report"}]}
    turns = [calls(bash("echo hi")), calls(bash("exit 3")), calls({"Read": {}}), calls(spawn), {"text": "bye"}]
    played = play(tmp_path, turns, plugins=[demo])
    told = lines(tmp_path / "tmp" / "log")
    assert [item["hook_event_name"] for item in told] == [
        "SessionStart",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "PreToolUse",
        "PostToolUseFailure",
        "PreToolUse",
        "SubagentStart",
        "SubagentStop",
        "PostToolUse",
        "Stop",
        "SessionEnd",
    ]
    for item in told:
        assert (item["session_id"], item["cwd"]) == (SESSION, str(played.cwd))
        assert Path(item["transcript_path"]).name == f"{SESSION}.jsonl"
    start, prompt, before, after, _, failed, *_, stop, end = told
    assert start["source"] == "startup"
    assert (prompt["prompt"], prompt["permission_mode"]) == ("do it", "bypassPermissions")
    assert (before["tool_name"], before["tool_input"]) == ("Bash", {"command": "echo hi"})
    assert after["tool_response"]["stdout"] == "hi"
    assert after["tool_use_id"] == before["tool_use_id"]
    assert failed["error"] == "Exit code 3"
    assert (stop["last_assistant_message"], stop["stop_hook_active"]) == ("bye", False)
    assert end["reason"] == "other"
    agent = next(iter(played.family))
    assert (told[7]["agent_id"], told[8]["agent_type"]) == (agent, "general-purpose")
    assert told[8]["last_assistant_message"] == "report"


def test_plugin_and_project_hooks_have_their_environment(tmp_path: Path) -> None:
    show = "echo root=$CLAUDE_PLUGIN_ROOT data=$CLAUDE_PLUGIN_DATA dir=$CLAUDE_PROJECT_DIR env=$CLAUDE_ENV_FILE"
    settings(tmp_path, {"SessionStart": [hook(f"{show}; echo export LATER=1 >> $CLAUDE_ENV_FILE")]})
    demo = plugin(
        tmp_path,
        "demo",
        {"hooks/show.sh": f"#!/bin/sh\n{show}\n"},
        {"SessionStart": [hook('"${CLAUDE_PLUGIN_ROOT}/hooks/show.sh"')]},
    )
    played = play(tmp_path, each(bash("echo later=$LATER")), plugins=[demo])
    mine, theirs = [line["attachment"]["content"] for line in played.attachments("hook_success")]
    assert mine.startswith(f"root= data= dir={played.cwd} env=/")
    assert theirs.startswith(f"root={demo} data={tmp_path}/config/plugins/data/demo-inline dir={played.cwd} env=/")
    assert played.texts() == ["later=1"]


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (specific("PreToolUse", permissionDecision="deny", permissionDecisionReason="not here"), "not here"),
        (answer(decision="block", reason="old way"), "old way"),
        ("cat >/dev/null; echo no >&2; exit 2", "[cat >/dev/null; echo no >&2; exit 2]: no\n"),
    ],
)
def test_a_denied_call_is_not_carried_out(tmp_path: Path, command: str, why: str) -> None:
    settings(tmp_path, {"PreToolUse": [hook(command, matcher="Bash")]})
    played = play(tmp_path, each(bash("touch made"), {"Read": {"file_path": "{cwd}/.claude/settings.json"}}))
    assert not (played.cwd / "made").exists()
    denied, allowed = played.results()
    assert (denied["content"], denied["is_error"]) == (f"PreToolUse:Bash hook error: {why}", True)
    assert allowed["content"].startswith("1\t{")
    line = next(line for line in played.native if "toolDenialKind" in line)
    assert (line["toolDenialKind"], line["permissionDecision"]["source"]) == ("permission-rule", "hook")
    event = next(line for line in played.events("user") if "tool_result_meta" in line)
    assert event["tool_result_meta"][0]["non_execution_kind"] == "permission-rule"
    result = played.events("result")[0]
    assert (result["permission_denials"][0]["tool_name"], result["is_error"]) == ("Bash", False)


def test_asking_is_denying_where_nobody_can_be_asked(tmp_path: Path) -> None:
    ask = specific("PreToolUse", permissionDecision="ask", permissionDecisionReason="may I")
    settings(tmp_path, {"PreToolUse": [hook(ask)]})
    played = play(tmp_path, each(bash("touch made")))
    assert played.texts() == ["may I"]
    assert played.events("system", "permission_denied")[0]["message"] == "may I"
    assert not (played.cwd / "made").exists()


def test_hooks_around_a_call(tmp_path: Path) -> None:
    changed = specific("PreToolUse", permissionDecision="allow", updatedInput={"command": "echo changed"})
    settings(
        tmp_path,
        {
            "PreToolUse": [hook(changed), hook(specific("PreToolUse", additionalContext="BEFORE"))],
            "PostToolUse": [hook(specific("PostToolUse", additionalContext="AFTER"), "echo mind >&2; exit 2")],
        },
    )
    played = play(tmp_path, each(bash("echo asked")))
    assert played.texts() == ["changed"]
    order = [line.get("attachment", {}).get("type", line["type"]) for line in played.native]
    at = order.index("hook_additional_context")
    result = next(place for place, line in enumerate(played.native) if "toolUseResult" in line)
    assert at < result
    assert order[result + 1 : result + 4] == ["hook_success", "hook_blocking_error", "hook_additional_context"]
    blocking = played.attachments("hook_blocking_error")[0]
    assert "mind" in blocking["rendered"][0]["content"]


def test_a_stop_hook_that_blocks_makes_the_agent_go_on(tmp_path: Path) -> None:
    once = "[ -e $TMPDIR/once ] || { touch $TMPDIR/once; echo 'write it down' >&2; exit 2; }"
    settings(tmp_path, {"Stop": [hook(once)]})
    played = play(tmp_path, [{"text": "first"}, calls(bash("echo more")), {"text": "second"}])
    assert played.texts() == ["more"]
    feedback = next(line for line in played.native if line.get("isMeta"))
    assert feedback["message"]["content"].startswith("Stop hook feedback:\n")
    assert "write it down" in feedback["message"]["content"]
    result = played.events("result")
    assert [(item["result"], item["num_turns"]) for item in result] == [("second", 3)]
    summaries = [line for line in played.native if line.get("subtype") == "stop_hook_summary"]
    assert [len(line["hookErrors"]) for line in summaries] == [1, 0]


def test_a_stop_hook_that_always_blocks_does_not_go_on_for_ever(tmp_path: Path) -> None:
    settings(tmp_path, {"Stop": [hook("exit 2")]})
    played = play(tmp_path, [{"text": "last words"}])
    assert (played.ended.how, played.events("result")[0]["result"]) == ("completed", "last words")


def test_a_prompt_can_be_refused(tmp_path: Path) -> None:
    settings(tmp_path, {"UserPromptSubmit": [hook("echo not this >&2; exit 2")]})
    played = play(tmp_path, each(bash("touch made")))
    assert not (played.cwd / "made").exists()
    assert (played.ended.how, played.events("result")[0]["num_turns"]) == ("completed", 0)
    assert "not this" in played.events("system", "informational")[0]["content"]


def test_context_for_subagents(tmp_path: Path) -> None:
    settings(
        tmp_path,
        {
            "SessionStart": [hook(specific("SessionStart", additionalContext="MAIN"))],
            "SubagentStart": [hook(specific("SubagentStart", additionalContext="SUB"), matcher="general-purpose")],
        },
    )
    turns = [
        calls({"Agent": {"description": "a", "prompt": "p"}, "turns": [{"text": "1"}, {"text": "2"}]}),
        calls({"Agent": {"description": "b", "prompt": "q", "subagent_type": "Explore"}, "turns": [{"text": "3"}]}),
        calls({"SendMessage": {"to": "{agent:a}", "message": "more"}}),
        {"text": "end"},
    ]
    played = play(tmp_path, turns)
    by_prompt = {source[0]["message"]["content"]: source for source in played.family.values()}
    contexts = {
        prompt: [line["attachment"]["content"] for line in played.attachments("hook_additional_context", source)]
        for prompt, source in by_prompt.items()
    }
    assert contexts == {"p": [["SUB"]], "q": []}
    assert len(played.attachments("hook_success", by_prompt["p"])) == 2  # the resumed one runs it again


def test_hooks_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    for broken in ("{", json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command"}]}]}})):
        folder = tmp_path / "work" / "project" / ".claude"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "settings.json").write_text(broken)
        with pytest.raises(Refusal, match=r"cannot read '.*settings\.json'"):
            play(tmp_path, [{"text": "x"}])
