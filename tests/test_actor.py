"""A played session as a whole: its two transcripts, how it ends, its limits, and that nothing leaks or stays behind."""

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
from acting import SESSION, Line, Played, answer, bash, calls, each, hook, play, plugin, settings, specific
from heldout.agents.job import Limits
from heldout.errors import Refusal

# Key paths of every kind of line, from real runs of Claude Code 2.1.332.
SHAPES = json.loads((Path(__file__).parent / "data" / "client-shapes.json").read_text())
OPAQUE = ("input", "tool_input", "by_type", "structuredPatch")

# What readers of transcripts rely on.
NEEDED = {
    "stream": {
        "system.init": "cwd tools model permissionMode claude_code_version plugins skills agents mcp_servers",
        "system.hook_response": "hook_id hook_name hook_event output stdout stderr exit_code outcome",
        "assistant.tool_use": "uuid session_id timestamp parent_tool_use_id message.id message.model message.usage",
        "user.tool_result": "uuid parent_tool_use_id message.content[].tool_use_id",
        "system.task_started": "task_id tool_use_id description subagent_type is_backgrounded spawn_depth prompt",
        "system.task_notification": "task_id tool_use_id status summary usage",
        "result": "subtype is_error num_turns duration_ms total_cost_usd usage modelUsage terminal_reason stop_reason",
    },
    "native": {
        "assistant.text": "parentUuid uuid timestamp cwd sessionId version message.stop_reason requestedModel",
        "assistant.tool_use": "message.id message.usage.output_tokens apiBlockIndex requestId attributionSkill",
        "user.string": "promptId message.content gitBranch entrypoint userType",
        "user.tool_result": "toolUseResult sourceToolAssistantUUID permissionDecision toolDenialKind",
        "attachment.hook_additional_context": "attachment.content attachment.hookEvent rendered[].content",
        "cost-state": "modelUsage totalCostUSD",
        "queue-operation": "operation content",
    },
}

SKILL = "---\nname: greet\ndescription: Greets.\n---\n\nSay hello to $ARGUMENTS from ${CLAUDE_PLUGIN_ROOT}\n"
SUB = [{"text": "looking", "calls": [bash("echo in sub")]}, {"text": "report"}]
RICH: list[Line] = [
    {"think": "hm", "text": "I start.", "calls": [{"Write": {"file_path": "{cwd}/a.txt", "content": "one\ntwo\n"}}]},
    calls(
        {"Read": {"file_path": "{cwd}/a.txt"}},
        {"Edit": {"file_path": "{cwd}/a.txt", "old_string": "two", "new_string": "2"}},
        {"Read": {"file_path": "{cwd}/none"}},
        bash("seq 1 9000"),
        {"Glob": {"pattern": "*"}},
    ),
    calls({"Skill": {"skill": "greet", "args": "Bob"}}, {"Skill": {"skill": "nope"}}),
    calls({"Agent": {"description": "one", "prompt": "p1", "model": "haiku"}, "turns": SUB}),
    calls({"Agent": {"description": "full", "prompt": "p2", "model": "claude-haiku-4-5"}}),
    calls({"SendMessage": {"to": "{agent:one}", "message": "go on"}}, bash("echo FORBIDDEN")),
    {"text": "The end."},
]
HOOKS = {
    "SessionStart": [hook(specific("SessionStart", additionalContext="CTX"), "echo plain", "exit 1", "exit 2")],
    "UserPromptSubmit": [hook(answer(systemMessage="hi"))],
    "PreToolUse": [hook("grep -q FORBIDDEN && exit 2; exit 0", matcher="Bash")],
    "PostToolUse": [hook(answer(decision="block", reason="mind it"), matcher="Write|Edit")],
    "Stop": [hook("true")],
}


def paths(value: Any, trail: str = "") -> set[str]:
    """Key paths of a line; keys that are names of models or tools count as one."""
    if isinstance(value, list):
        return set().union(*(paths(item, trail + "[]") for item in value)) if value else set()
    found = set[str]()
    for key, item in value.items() if isinstance(value, dict) else ():
        path = f"{trail}.{'*' if key.startswith(('claude-', 'heldout-')) else key}".removeprefix(".")
        found |= {path} if key in OPAQUE else {path} | paths(item, path)
    return found


def kind(line: Line) -> str:
    if line["type"] == "attachment":
        return f"attachment.{line['attachment']['type']}"
    if line["type"] in ("user", "assistant"):
        content = line["message"]["content"]
        block = "string" if isinstance(content, str) else content[0]["type"]
        return f"{line['type']}.{block}" + (".synthetic" if line["message"].get("model") == "<synthetic>" else "")
    return f"system.{line['subtype']}" if line["type"] == "system" else line["type"]


def foreign(played: Played) -> list[str]:
    """Keys that the actor writes and the client does not."""
    found = list[str]()
    for form, source in (("stream", played.stream), ("native", played.everything)):
        for line in source:
            known = set(SHAPES[form].get(kind(line), ()))
            found += [f"{form} {kind(line)}: {path}" for path in sorted(paths(line) - known)]
    return found + [f"meta: {key}" for meta in played.metas.values() for key in meta if key not in SHAPES["meta"][""]]


@pytest.fixture
def rich(tmp_path: Path) -> Played:
    settings(tmp_path, HOOKS)
    (tmp_path / "work" / "project" / "CLAUDE.md").write_text("Be kind.\n")
    return play(tmp_path, RICH, plugins=[plugin(tmp_path, "demo", {"skills/greet/SKILL.md": SKILL})])


def test_every_key_that_is_written_is_one_of_the_client(rich: Played) -> None:
    assert not foreign(rich)


@pytest.mark.parametrize("form", ["stream", "native"])
def test_keys_that_readers_rely_on_are_there(rich: Played, form: str) -> None:
    source = rich.stream if form == "stream" else rich.native
    for what, needed in NEEDED[form].items():
        lines = [line for line in source if kind(line) == what]
        assert lines, what
        everywhere = set().union(*map(paths, lines))
        assert not set(needed.split()) - everywhere, what


def test_the_chain_of_the_native_transcript(rich: Played) -> None:
    seen, first = set[str](), True
    owner: dict[str, str] = {}
    for line in rich.native:
        if "uuid" not in line:
            continue
        assert (line["parentUuid"] is None) == first
        assert first or line["parentUuid"] in seen
        first = False
        seen.add(line["uuid"])
        for block in line.get("message", {}).get("content", ()):
            if isinstance(block, dict) and block["type"] == "tool_use":
                owner[block["id"]] = line["uuid"]
            elif isinstance(block, dict) and block["type"] == "tool_result":
                assert line["parentUuid"] == line["sourceToolAssistantUUID"] == owner[block["tool_use_id"]]


def test_a_message_is_a_line_a_block_and_repeats_its_final_usage(rich: Played) -> None:
    first = [line for line in rich.native if line["type"] == "assistant"][:3]
    assert [line["message"]["content"][0]["type"] for line in first] == ["thinking", "text", "tool_use"]
    assert len({line["message"]["id"] for line in first}) == 1
    assert {line["message"]["usage"]["output_tokens"] for line in first} == {RICH_OUTPUT}
    streamed = [line for line in rich.stream if line["type"] == "assistant"][:3]
    assert {line["message"]["usage"]["output_tokens"] for line in streamed} == {1}
    assert [line["uuid"] for line in streamed] == [line["uuid"] for line in first]


RICH_OUTPUT = 16  # a quarter of thinking, text and input of the first message


def test_tokens_of_all_files_are_those_of_the_result(rich: Played) -> None:
    usage: dict[str, Line] = {}
    for line in rich.everything:
        if line["type"] == "assistant":
            usage[line["message"]["id"]] = line["message"]
    result = rich.events("result")[-1]
    for model, entry in result["modelUsage"].items():
        mine = [message["usage"] for message in usage.values() if message["model"] == model]
        assert entry["outputTokens"] == sum(item["output_tokens"] for item in mine)
        assert entry["inputTokens"] == sum(item["input_tokens"] for item in mine) == 100 * len(mine)
    assert list(result["modelUsage"]) == ["heldout-actor", "claude-haiku-5-5"] == rich.ended.served
    cost = next(line for line in rich.native if line["type"] == "cost-state")
    assert {model: item["outputTokens"] for model, item in cost["modelUsage"].items()} == {
        model: item["outputTokens"] for model, item in result["modelUsage"].items()
    }


def test_turns_are_counted_as_the_client_does(rich: Played) -> None:
    """One for the prompt, and one for each user event of the main loop: results and what the client puts in."""
    result = rich.events("result")[0]
    results, bodies = len(rich.results()), 1
    assert result["num_turns"] == 1 + results + bodies == 14
    assert (result["subtype"], result["is_error"], result["result"]) == ("success", False, "The end.")
    assert [denial["tool_input"]["command"] for denial in result["permission_denials"]] == ["echo FORBIDDEN"]


def test_init_names_what_is_loaded(rich: Played) -> None:
    init = rich.events("system", "init")[0]
    assert init["plugins"] == [
        {"name": "demo", "path": str(rich.root / "plugins" / "demo"), "source": "demo@inline", "version": "0.1.0"}
    ]
    assert (init["model"], init["cwd"], init["skills"]) == ("heldout-actor", str(rich.cwd), ["demo:greet"])
    assert {"Bash", "Task", "Skill"} <= set(init["tools"])
    assert "Glob" not in init["tools"]
    assert rich.attachments("instructions")[0]["attachment"]["files"][0]["content"] == "Be kind."


def test_a_plugin_that_is_not_there_is_told_and_not_fatal(tmp_path: Path) -> None:
    played = play(tmp_path, [{"text": "x"}], plugins=[tmp_path / "none"])
    assert played.events("system", "init")[0]["plugin_errors"][0]["type"] == "path-not-found"


def test_two_runs_differ_in_nothing_but_the_clock(tmp_path: Path) -> None:
    def still(value: Any) -> Any:
        if isinstance(value, dict):
            clocks = ("timestamp", "durationMs", "duration_ms", "totalDurationMs", "totalDuration", "patch")
            return {key: still(item) for key, item in value.items() if key not in clocks}
        if isinstance(value, list):
            return [still(item) for item in value]
        return (
            value.partition("<usage>")[0].replace("/one", "/two").replace("-one-", "-two-")
            if isinstance(value, str)
            else value
        )

    both = list[Any]()
    for name in ("one", "two"):
        settings(tmp_path / name, HOOKS)
        both.append(
            play(tmp_path / name, RICH, plugins=[plugin(tmp_path / name, "demo", {"skills/greet/SKILL.md": SKILL})])
        )
    for part in ("stream", "native", "family"):
        assert still(getattr(both[0], part)) == still(getattr(both[1], part))


CUT = [calls(bash("echo one > first")), calls(bash("echo two > second"))]


@pytest.mark.parametrize(
    ("ends", "status", "subtype", "reason", "second"),
    [
        ("max_turns", 1, "error_max_turns", "max_turns", True),
        ("budget", 1, "error_max_budget_usd", "budget_exhausted", False),
        ("api_error", 1, "success", "api_error", True),
        ("killed", 137, None, None, False),
    ],
)
def test_scripted_ends(
    tmp_path: Path, ends: str, status: int, subtype: str | None, reason: str | None, second: bool
) -> None:
    played = play(tmp_path, CUT, ends=ends)
    assert (played.ended.how, played.ended.exit) == (ends, status)
    assert (played.cwd / "first").exists()
    assert (played.cwd / "second").exists() == second
    assert not foreign(played)
    results = played.events("result")
    if subtype is None:
        assert not results
        assert played.stream[-1]["message"]["content"][0]["type"] == "tool_use"
        assert not any(line["type"] == "cost-state" for line in played.native)
        return
    assert [(item["subtype"], item["is_error"], item["terminal_reason"]) for item in results] == [
        (subtype, True, reason)
    ]
    if ends == "api_error":
        assert results[0]["api_error_status"] == 529
        assert played.native[-3]["message"]["model"] == "<synthetic>"
        assert played.native[-3]["isApiErrorMessage"]
    else:
        assert "result" not in results[0]
        assert results[0]["errors"]


def test_an_api_error_at_once(tmp_path: Path) -> None:
    played = play(tmp_path, [], ends="api_error")
    assert (played.ended.how, played.events("result")[0]["num_turns"]) == ("api_error", 1)


def test_an_empty_transcript(tmp_path: Path) -> None:
    played = play(tmp_path, [], ends="empty")
    assert (played.ended.how, played.ended.exit) == ("unknown", 1)
    assert (played.cell / "transcript.jsonl").read_bytes() == b""
    assert not list((played.cell / "session").iterdir())


def test_the_turn_limit(tmp_path: Path) -> None:
    played = play(tmp_path, each(*(bash(f"touch {n}") for n in range(5))), limits=Limits(turns=3, seconds=60, usd=None))
    assert sorted(path.name for path in played.cwd.iterdir()) == ["0", "1", "2"]
    result = played.events("result")[0]
    assert (played.ended.how, result["errors"], result["num_turns"]) == (
        "max_turns",
        ["Reached maximum number of turns (3)"],
        4,
    )
    assert played.attachments("max_turns_reached")[0]["attachment"]["maxTurns"] == 3


def test_a_command_does_not_outlive_the_time_limit(tmp_path: Path) -> None:
    command = "sleep 600 & echo $! > child; echo $$ > shell; wait"
    played = play(tmp_path, each(bash(command)), limits=Limits(turns=None, seconds=1.0, usd=None))
    assert (played.ended.how, played.ended.exit) == ("timeout", None)
    assert not played.events("result")
    assert dies(played.cwd / "shell")
    assert dies(played.cwd / "child")


def test_a_hook_does_not_outlive_the_time_limit(tmp_path: Path) -> None:
    settings(tmp_path, {"SessionStart": [hook("echo $$ > shell; sleep 600")]})
    played = play(tmp_path, [{"text": "x"}], limits=Limits(turns=None, seconds=1.0, usd=None))
    assert played.ended.how == "timeout"
    assert dies(played.cwd / "shell")


def test_what_a_command_leaves_running_is_not_waited_for_and_not_left(tmp_path: Path) -> None:
    played = play(tmp_path, each(bash("sleep 600 & echo $! > child; echo started")))
    assert played.texts() == ["started"]
    assert dies(played.cwd / "child")


def dies(file: Path) -> bool:
    """Whether the process whose id is in `file` is gone; a signal takes its time, so it is given ten seconds."""
    status = Path("/proc", file.read_text().strip(), "stat")
    until = time.monotonic() + 10
    while time.monotonic() < until:
        try:
            if status.read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.01)
    return False


def test_the_agent_sees_nothing_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "users-home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("SECRET_OF_THE_USER", "s3cret")
    settings(tmp_path, {"SessionStart": [hook("env > hook.txt; touch ~/from-hook")]})
    played = play(
        tmp_path, each(bash("env; touch ~/from-bash")), env={"OF_THE_SCENARIO": "yes", "GONE": "x"}, unset=["GONE"]
    )
    for seen in (played.texts()[0], (played.cwd / "hook.txt").read_text()):
        assert "s3cret" not in seen
        assert "GONE" not in seen
        for line in (
            "OF_THE_SCENARIO=yes",
            "CLAUDECODE=1",
            f"CLAUDE_CODE_SESSION_ID={SESSION}",
            f"HOME={tmp_path / 'home'}",
        ):
            assert line in seen.splitlines()
    assert sorted(path.name for path in (tmp_path / "home").iterdir()) == ["from-bash", "from-hook"]
    assert not list(home.iterdir())
    assert {"OF_THE_SCENARIO", "HOME", "TMPDIR", "PATH"} <= set(played.ended.environment)
    assert "SECRET_OF_THE_USER" not in played.ended.environment


def test_the_prompt_is_not_in_what_is_kept_of_the_command(tmp_path: Path) -> None:
    played = play(tmp_path, [{"text": "x"}], prompt="a task nobody may see")
    assert "task" not in json.dumps(played.ended.argv)
    assert any(word.startswith("sha256:") for word in played.ended.argv)
    assert played.events("system", "informational") == []


def test_refusals(tmp_path: Path) -> None:
    with pytest.raises(Refusal, match=r"unknown actor 'emty' .*did you mean 'empty'\?"):
        play(tmp_path, [{"text": "x"}], name="emty")
    with pytest.raises(Refusal, match="names no plugin of this run"):
        play(tmp_path, each(bash("ls {plugin:os-adr}")))
    assert not os.listdir(tmp_path / "home")
