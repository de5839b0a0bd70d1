"""Hooks, skills, denials, texts, endings: what a transcript proves about them."""

import hashlib
import json
from typing import Any

import pytest
from extracting import DATA, Session, call, dump, native, said, stream
from heldout.transcript import collect, mend
from heldout.transcript.reader import extract, extract_stream

CONTEXT = "ADR tools are in bin/"


def start_hook(session: Session, context: str = CONTEXT, given: str | None = None) -> None:
    """A SessionStart hook with JSON stdout, as the client notes it: two attachments."""
    output = json.dumps({"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": context}})
    named = {"hookName": "SessionStart:startup", "hookEvent": "SessionStart"}
    session.attaches("hook_success", **named, content="", stdout=output, exitCode=0, command="hooks/start.sh")
    given = context if given is None else given
    wrapped = f"<system-reminder>\nSessionStart hook additional context: {given}\n</system-reminder>"
    session.attaches(
        "hook_additional_context", wrapped, content=[given], hookName="SessionStart", hookEvent="SessionStart"
    )


def only_hook(session: Session) -> dict[str, Any]:
    hooks = session.facts()["hooks"]
    assert len(hooks) == 1, hooks
    return hooks[0]


def test_trap16_a_hook_with_json_stdout_is_one_hook_although_it_has_two_lines() -> None:
    session = Session()
    start_hook(session)
    session.user("go")
    session.ends()
    hook = only_hook(session)
    assert (hook["event"], hook["name"], hook["outcome"]) == ("SessionStart", "SessionStart:startup", "success")
    assert (hook["delivered"], hook["before_first_action"], hook["chars"]) == ("full", True, len(CONTEXT))
    assert (hook["text"], hook["text_sha256"]) == (CONTEXT, hashlib.sha256(CONTEXT.encode()).hexdigest())


def test_hooks_that_share_one_context_line_are_told_apart() -> None:
    """11a: nine hooks; two with JSON, whose contexts arrive together; four plain; two failed; one timed out."""
    hooks = [h for h in extract(native("11a-hooks-all"))["hooks"] if h["event"] == "SessionStart"]
    assert [h["outcome"] for h in hooks] == ["error", "error", *["success"] * 6, "cancelled"]
    assert [h["text"] for h in hooks if h["text"] and "ENV_FILE" not in h["text"]] == [
        "PROJ_ADDCTX",
        "USER_STDOUT",
        "FLAG_SETTINGS_STDOUT",
        "LOCAL_STDOUT",
        "PLUGIN_SESSIONSTART_MARKER tool contract v1",
    ]
    assert "CLAUDE_PLUGIN_ROOT" in hooks[7]["command"]


def test_a_context_over_ten_thousand_characters_is_a_preview_and_stdout_is_not_believed() -> None:
    """27-h10001: stdout shows all 10,001 characters, the model got 2 KB and a path."""
    hook = extract(native("27-h10001"))["hooks"][0]
    assert (hook["delivered"], hook["chars"], hook["before_first_action"]) == ("preview", 10_001, True)
    assert hook["text"].startswith("<persisted-output>")
    assert len(hook["text"]) == 2_000


def test_text_is_cut_at_two_thousand_characters_and_the_digest_is_of_all_of_it() -> None:
    session = Session()
    start_hook(session, "x" * 9_000)
    session.ends()
    hook = only_hook(session)
    assert (len(hook["text"]), hook["chars"], hook["delivered"]) == (2_000, 9_000, "full")
    assert hook["text_sha256"] == hashlib.sha256(b"x" * 9_000).hexdigest()


def test_plain_stdout_is_delivered_as_its_content() -> None:
    session = Session()
    session.attaches(
        "hook_success",
        "<system-reminder>SessionStart:startup hook success: hello</system-reminder>",
        hookName="SessionStart:startup",
        hookEvent="SessionStart",
        content="hello",
        stdout="hello\n",
    )
    session.ends()
    assert (only_hook(session)["text"], only_hook(session)["delivered"]) == ("hello", "full")


def test_content_that_the_client_did_not_render_did_not_reach_the_model() -> None:
    session = Session()
    start_hook(session)
    session.user("go")
    session.calls_tool("Bash", {"command": "ls"})
    session.attaches(
        "hook_success", hookName="PostToolUse:Bash", hookEvent="PostToolUse", content="logged", stdout="logged"
    )
    session.ends()
    assert [h["delivered"] for h in session.facts()["hooks"]] == ["full", "no"]


def test_p1_a_hook_line_off_the_chain_is_not_proven_to_precede_the_first_action() -> None:
    session = Session()
    start_hook(session)
    session.parent = None  # the prompt hangs on nothing: the context is no ancestor
    session.user("go")
    session.ends()
    assert only_hook(session)["before_first_action"] is False


def test_p1_a_hook_after_the_first_action_does_not_precede_it() -> None:
    session = Session()
    session.user("go")
    session.calls_tool("Bash", {"command": "ls"})
    start_hook(session)
    session.ends()
    assert (only_hook(session)["delivered"], only_hook(session)["before_first_action"]) == ("full", False)


def test_without_an_action_nothing_is_said_about_before_it() -> None:
    session = Session()
    start_hook(session)
    session.user("go")
    assert only_hook(session)["before_first_action"] is None


def test_a_subagents_hook_is_proven_in_its_own_file() -> None:
    hooks = [h for h in extract(native("03-sub"))["hooks"] if h["event"] == "SubagentStart"]
    assert [h["before_first_action"] for h in hooks] == [True] * 6 + [False] * 2
    assert {h["agent"] for h in hooks} == {s["agent_id"] for s in extract(native("03-sub"))["spawns"] if s["agent_id"]}


def test_report35_an_old_hook_progress_line_proves_nothing_about_delivery() -> None:
    session = Session("2.1.17")
    data = {"type": "hook_progress", "hookEvent": "SessionStart", "hookName": "SessionStart:startup", "command": "x.sh"}
    session.add({"type": "progress", "data": data})
    session.user("go")
    session.ends()
    hook = only_hook(session)
    assert (hook["command"], hook["delivered"], hook["before_first_action"]) == ("x.sh", None, None)


def test_stream_json_alone_does_not_say_what_the_model_got() -> None:
    hooks = extract(stream("11a-hooks-all"))["hooks"]
    assert [h["delivered"] for h in hooks] == ["no", "no", *[None] * 6, "no"]
    assert {h["text"] for h in hooks} == {None}


def test_a_blocking_hooks_words_are_noted() -> None:
    session = Session()
    session.calls_tool("Bash", {"command": "rm x"})
    blocking = {"blockingError": "not here", "command": "guard.sh"}
    session.attaches("hook_blocking_error", hookName="PreToolUse:Bash", hookEvent="PreToolUse", blockingError=blocking)
    assert (only_hook(session)["outcome"], only_hook(session)["text"]) == ("blocking", "not here")


# Skills and slash commands


def test_skills_are_told_apart_full_name_bare_name_and_typed() -> None:
    session = Session()
    text = "<command-message>os-adr:find</command-message>\n<command-name>/os-adr:find</command-name>"
    session.user(f"{text}\n<command-args>auth</command-args>")
    full = session.calls_tool("Skill", {"skill": "os-adr:create", "args": "x"})
    session.answers(full, "Launching skill: os-adr:create", {"success": True, "commandName": "os-adr:create"})
    bare = session.calls_tool("Skill", {"skill": "create"})
    session.answers(bare, "Launching skill: create", {"success": True, "commandName": "create"})
    session.says("msg_9", said("now"), attributionSkill="os-adr:create", attributionPlugin="os-adr")
    session.ends()
    facts = session.facts()
    assert [(a["skill"], a["skill_spelt"]) for a in facts["actions"]] == [
        ("os-adr:create", "os-adr:create"),
        ("os-adr:create", "create"),
    ]
    assert facts["slash_commands"] == [{"name": "os-adr:find", "spelt": "/os-adr:find", "args": "auth", "line": 1}]
    assert facts["counts"]["skill"] == 2


def test_a_bare_skill_is_resolved_by_the_loaded_list_where_one_plugin_has_it() -> None:
    init = {"type": "system", "subtype": "init", "session_id": "s", "skills": ["verify", "os-adr:find", "a:x", "b:x"]}
    given = [{"skill": s} for s in ("find", "x", "verify")]
    events: list[dict[str, Any]] = [init]
    for i, skill in enumerate(given):
        message = {"id": f"m{i}", "role": "assistant", "content": [call(f"t{i}", "Skill", skill)]}
        events.append({"type": "assistant", "message": message, "parent_tool_use_id": None, "session_id": "s"})
    actions = extract_stream(dump(events).splitlines(keepends=True))["actions"]
    assert [a["skill"] for a in actions] == ["os-adr:find", "x", "verify"], "two plugins have x"


def test_trap15_a_skill_that_did_not_load_is_a_failed_call() -> None:
    session = Session()
    id = session.calls_tool("Skill", {"skill": "nope:nope"})
    session.answers(id, "<tool_use_error>Unknown skill: nope:nope</tool_use_error>", "Error: Unknown skill", error=True)
    action = session.facts()["actions"][0]
    assert (action["skill"], action["ok"], action["denied"]) == ("nope:nope", False, False)


def test_a_typed_skill_has_a_body_line_and_no_skill_call() -> None:
    facts = extract(DATA / "20c-slash")
    assert facts["actions"] == []
    assert facts["slash_commands"][0] == {
        "name": "demo-plug:greet",
        "spelt": "/demo-plug:greet",
        "args": "[[SCN:hello]] Bob",
        "line": 5,
    }


def test_a_command_name_that_somebody_else_wrote_was_not_typed() -> None:
    session = Session()
    session.user("<command-name>/clear</command-name>", isMeta=True)
    session.user("Summary: the user ran <command-name>/clear</command-name>", isCompactSummary=True)
    session.answers(session.calls_tool("Read", {"file_path": "x"}), "<command-name>/clear</command-name>")
    assert session.facts()["slash_commands"] == []


# Denied and failed calls


def test_denied_calls_are_told_from_failed_ones_in_both_formats() -> None:
    for path in (native("04b-root-default"), stream("04b-root-default"), DATA / "04b-root-default"):
        facts = extract(path)
        by_tool = sorted((a["tool"], a["denied"], a["ok"]) for a in facts["actions"])
        assert by_tool == [
            ("Agent", False, True),
            ("Bash", True, False),
            ("Bash", True, False),
            ("Skill", False, True),
            ("Write", True, False),
            ("Write", True, False),
            ("Write", True, False),
        ]
        assert (facts["counts"]["denied"], facts["counts"]["edit_write_ops"]) == (5, 0)
    failed = [a for a in extract(native("02-tools"))["actions"] if a["ok"] is False]
    assert len(failed) == 6
    assert not any(a["denied"] for a in failed)


def test_a_rejection_of_old_versions_has_no_is_error() -> None:
    session = Session("1.0.98")
    session.answers(session.calls_tool("Edit", {"file_path": "x"}), "User rejected tool use", "User rejected tool use")
    action = session.facts()["actions"][0]
    assert (action["ok"], action["denied"]) == (False, True)


def test_edit_write_ops_are_the_successful_writes_of_the_main_loop() -> None:
    facts = extract(native("02-tools"))
    assert facts["counts"]["edit_write_ops"] == 2, "a Write and an Edit; the second Edit failed"
    assert facts["counts"]["bash"] == 4


def test_results_are_joined_by_id_in_whatever_order_they_come() -> None:
    actions = extract(native("02-tools"))["actions"]
    assert [(a["tool"], a["result_bytes"], a["ok"]) for a in actions] == [
        ("Bash", 941, True),
        ("Skill", 32, True),
        ("Read", 15, True),
        ("Read", 86, False),
        ("Bash", 19, False),
        ("Write", 134, True),
        ("Edit", 138, True),
        ("Bash", 2236, True),
        ("Glob", 161, False),
        ("Grep", 171, False),
        ("Bash", 138, False),
        ("Edit", 82, False),
    ]
    assert [a["n"] for a in actions] == list(range(1, 13))


def test_trap12_result_content_may_be_text_a_list_or_an_image() -> None:
    session = Session()
    contents = ["é", [{"type": "text", "text": "ab"}, "c"], [{"type": "image", "source": {"data": "QUJD"}}], None, 7]
    for content in contents:
        session.answers(session.calls_tool("Read", {"file_path": "x"}), content)
    assert [a["result_bytes"] for a in session.facts()["actions"]] == [2, 3, 0, 0, 0]


def test_inputs_are_kept_whole_up_to_a_bound_and_a_cut_is_marked() -> None:
    session = Session()
    session.calls_tool("Write", {"file_path": "x", "content": "a" * 70_000, "edits": [{"new": "b" * 66_000}]})
    action = session.facts()["actions"][0]
    assert (len(action["input"]["content"]), len(action["input"]["edits"][0]["new"])) == (65_536, 65_536)
    assert action["cut"] == {"content": 70_000, "edits.0.new": 66_000}
    assert "cut" not in extract(native("02-tools"))["actions"][0]


# Texts and endings


def test_final_message_is_the_last_message_however_it_ended() -> None:
    assert extract(native("06a-sigkill-tool"))["answers"]["final_message"] == "now long"
    assert extract(native("07a-maxturns"))["answers"]["final_message"] == "", "it was a call without a word"
    assert extract(native("05b-529-max2"))["answers"]["final_message"] == "", "an API error is not the model's word"


def test_texts_of_one_message_are_joined_and_subagents_are_not_heard() -> None:
    session = Session()
    session.says("msg_1", said("before"))
    session.says("msg_2", said("first"))
    session.says("msg_2", call("t1", "Agent", {"prompt": "p"}))
    session.says("msg_2", said("second"), stop="end_turn")
    assert session.facts()["answers"] == {
        "final_message": "first\nsecond",
        "visible_text": ["before", "first", "second"],
    }
    assert extract(native("03-sub"))["answers"]["visible_text"] == ["waiting for bg", "after sendmessage", "final"]


def result(**fields: Any) -> dict[str, Any]:
    return {"type": "result", "subtype": "success", "is_error": False, "session_id": "s", "num_turns": 2, **fields}


@pytest.mark.parametrize(
    ("fields", "ended"),
    [
        ({}, "completed"),
        ({"is_error": True, "terminal_reason": "api_error", "api_error_status": 529}, "api_error"),
        ({"is_error": True}, "api_error"),
        ({"subtype": "error_max_turns"}, "max_turns"),
        ({"subtype": "error_max_budget_usd"}, "budget"),
        ({"subtype": "error_during_execution", "terminal_reason": "aborted_tools"}, "aborted"),
        ({"subtype": "error_during_execution"}, "unknown"),
        ({"subtype": "something_new"}, "unknown"),
        ({"subtype": ["odd"], "terminal_reason": {}}, "unknown"),
    ],
)
def test_report33_how_a_stream_ended(fields: dict[str, Any], ended: str) -> None:
    facts = extract_stream(dump([result(**fields)]).splitlines(keepends=True))
    assert (facts["ended"], facts["source"]["complete"]) == (ended, True)


def test_trap23_max_turns_with_is_error_false_is_still_max_turns() -> None:
    facts = extract_stream(dump([result(subtype="error_max_turns", is_error=False)]).splitlines(keepends=True))
    assert facts["ended"] == "max_turns"


def test_several_results_are_read_to_the_end_of_file() -> None:
    facts = extract(stream("09e-bgbash"))
    assert (facts["counts"]["results"], facts["num_turns"], facts["duration_ms"]) == (2, 3, 637)
    assert facts["answers"]["final_message"] == "after notification"
    init = {"type": "system", "subtype": "init", "session_id": "s"}
    facts = extract_stream(dump([init, result(), init]).splitlines(keepends=True))
    assert (facts["ended"], facts["source"]["complete"]) == ("killed", False), "a turn began and has no result"


def test_report34_a_stream_without_a_result_was_killed() -> None:
    facts = extract_stream([b'{"type":"system","subtype":"init","session_id":"s","model":"m"}\n'])
    assert (facts["ended"], facts["cost_usd"], facts["num_turns"]) == ("killed", None, None)


def test_an_interactive_file_that_stops_is_unknown_and_a_headless_one_was_killed() -> None:
    session = Session()
    session.answers(session.calls_tool("Bash", {"command": "ls"}), "x")
    assert session.facts()["ended"] == "unknown"
    session.common["entrypoint"] = "sdk-cli"
    session.lines[0]["entrypoint"] = "sdk-cli"
    assert session.facts()["ended"] == "killed"


def test_trap14_an_api_error_in_the_middle_is_not_the_end() -> None:
    session = Session()
    session.says("u-u-i-d", said("API Error: 529"), model="<synthetic>", isApiErrorMessage=True, apiErrorStatus=529)
    assert session.facts()["ended"] == "api_error"
    session.ends("went on")
    assert (session.facts()["ended"], session.facts()["answers"]["final_message"]) == ("completed", "went on")


def test_unknown_is_null_and_never_zero() -> None:
    session = Session()
    session.ends()
    facts = session.facts()
    assert [facts[k] for k in ("cost_usd", "num_turns", "duration_ms")] == [None] * 3
    unknown = ("plugins", "skills", "tools", "mcp_servers", "model_requested", "permission_mode")
    assert [facts["session"][k] for k in unknown] == [None] * 6
    assert facts["tokens"]["cli"] is None


def test_the_stream_gives_the_session_and_the_native_file_the_rest() -> None:
    facts = extract(DATA / "03-sub")
    session = facts["session"]
    assert facts["source"]["format"] == "native+stream-json"
    assert session["plugins"][0]["name"] == "demo-plug"
    assert (session["model_requested"], session["models_served"]) == ("claude-sonnet-4-5", ["claude-sonnet-4-5"])
    assert (session["permission_mode"], session["cli_version"]) == ("bypassPermissions", "2.1.332")
    assert "demo-plug:greet" in session["skills"] and "Task" in session["tools"]
    assert (facts["cost_usd"], facts["num_turns"]) == (0.21992100000000006, 14)
    assert facts["hooks"][0]["before_first_action"] is True
    served = extract(DATA / "24-apimodel")["session"]
    assert (served["model_requested"], served["models_served"]) == ("claude-sonnet-4-5", ["claude-sonnet-4-5-20250929"])


def test_a_huge_context_is_known_by_its_length_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (mend, collect):
        monkeypatch.setattr(module, "HUGE", 3_000)
    monkeypatch.setattr(mend, "HUGE_STRING", 1_000)
    session = Session()
    session.user("go")
    session.attaches("hook_success", "x", hookName="S", hookEvent="SessionStart", content="x" * 9_000, stdout="x")
    hook = only_hook(session)
    assert (hook["chars"], hook["delivered"], hook["text_sha256"]) == (9_000, "full", None)


@pytest.mark.parametrize("content", ["Permission to use Bash has been denied.", None])
def test_trap12_a_refusal_may_be_a_string_or_a_list(content: Any) -> None:
    given = content or [{"type": "text", "text": "Permission to use Bash has been denied."}]
    session = Session()
    session.answers(session.calls_tool("Bash", {"command": "ls"}), given, error=True)
    assert session.facts()["actions"][0]["denied"] is True


def test_long_arguments_of_a_command_are_cut_and_marked() -> None:
    session = Session()
    session.user(f"<command-name>/x</command-name><command-args>{'y' * 5_000}</command-args>")
    session.user("<command-name>/z</command-name><command-args>y</command-args>")
    long, short = session.facts()["slash_commands"]
    assert (long["args"], long["cut"]) == ("y" * 2_000, {"args": 5_000})
    assert (short["args"], "cut" in short) == ("y", False)
