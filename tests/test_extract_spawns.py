"""Spawns: what was asked for, what ran, how it ended, how often it was spoken to, and what was read around it."""

from pathlib import Path
from typing import Any

import pytest
from extracting import DATA, Session, call, launched, native, notification, said, stream
from heldout.transcript.reader import extract


def spawn(facts: dict[str, Any], number: int = 0) -> dict[str, Any]:
    return facts["spawns"][number]


@pytest.mark.parametrize("name", ["Task", "Agent"])
def test_trap7_report21_task_and_agent_are_one_tool(name: str) -> None:
    session = Session()
    session.answers(session.calls_tool(name, {"prompt": "p"}), "done", {"status": "completed", "agentId": "a1"})
    facts = session.facts()
    assert facts["actions"][0]["tool"] == "Agent"
    assert spawn(facts)["status"] == "completed"


def test_trap8_a_failed_spawn_is_a_spawn_that_failed() -> None:
    facts = extract(native("03-sub"))
    failed = [s for s in facts["spawns"] if s["status"] == "failed"]
    assert [s["description"] for s in failed] == ["bad model", "bad type"]
    assert [s["rounds"] for s in failed] == [0, 0]
    assert [a["ok"] for a in facts["actions"] if a["input"].get("description") in ("bad model", "bad type")] == [
        False
    ] * 2


def test_report22_the_model_that_ran_is_never_inferred_from_the_call() -> None:
    """14d: CLAUDE_CODE_SUBAGENT_MODEL forced haiku although opus was asked for."""
    asked = spawn(extract(native("14d-subforce")), 1)
    assert (asked["requested_model"], asked["model_explicit"]) == ("opus", True)
    assert asked["resolved_model"] == "claude-haiku-4-5"
    assert spawn(extract(native("14d-subforce")))["model_explicit"] is False


def test_report22_the_subagents_own_messages_are_believed_before_the_launch_result(tmp_path: Path) -> None:
    main = Session()
    outcome = {"status": "completed", "agentId": "a1", "resolvedModel": "claude-fable-5"}
    main.answers(main.calls_tool("Agent", {"prompt": "p", "model": "fable"}), "done", outcome)
    agent = Session(agent="a1")
    agent.says("msg_a", said("x"), model="claude-opus-5")
    agent.write(tmp_path / "s" / "subagents" / "agent-a1.jsonl")
    assert spawn(extract(main.write(tmp_path / "s.jsonl")))["resolved_model"] == "claude-opus-5"


def test_trap9_report24_a_launch_is_no_completion_and_a_silent_agent_is_abandoned() -> None:
    session = Session()
    session.answers(session.calls_tool("Agent", {"prompt": "p"}), "Async agent launched", launched("a1"))
    session.ends()
    found = spawn(session.facts())
    assert (found["background"], found["status"], found["agent_id"]) == (True, "abandoned", "a1")


@pytest.mark.parametrize("form", ["user", "queue", "attachment"])
def test_trap10_report24_a_notice_completes_in_each_of_its_three_forms(form: str) -> None:
    session = Session()
    session.answers(session.calls_tool("Agent", {"prompt": "p"}), "launched", launched("a1"))
    text = notification("a1")
    if form == "user":
        session.user(text)
    elif form == "queue":
        session.lines.append({"type": "queue-operation", "operation": "enqueue", "content": text, "sessionId": "s"})
    else:
        session.attaches("queued_command", prompt=text)
    session.ends()
    assert spawn(session.facts())["status"] == "completed"


def test_report24_of_several_notices_for_an_agent_the_last_counts() -> None:
    session = Session()
    session.answers(session.calls_tool("Agent", {"prompt": "p"}), "launched", launched("a1"))
    session.user(notification("a1", "stopped"))
    assert spawn(session.facts())["status"] == "abandoned"
    session.user(notification("a1", "completed"))
    assert spawn(session.facts())["status"] == "completed"
    session.user(notification("a1", "failed"))
    assert spawn(session.facts())["status"] == "failed"


def test_trap10_a_notice_for_an_agent_of_another_session_is_ignored() -> None:
    session = Session()
    session.user(notification("elsewhere"))
    session.answers(session.calls_tool("Agent", {"prompt": "p"}), "launched", launched("a1"))
    session.ends()
    assert spawn(session.facts())["status"] == "abandoned"


def test_trap9_a_polled_task_output_completes_an_agent() -> None:
    session = Session("2.0.76")
    session.answers(session.calls_tool("Task", {"prompt": "p"}), "launched", launched("a1"))
    poll = session.calls_tool("TaskOutput", {"task_id": "a1"})
    session.answers(poll, "…", {"retrieval_status": "not_ready", "task": {"task_id": "a1", "status": "running"}})
    assert spawn(session.facts())["status"] == "abandoned"
    poll = session.calls_tool("TaskOutput", {"task_id": "a1"})
    session.answers(poll, "…", {"retrieval_status": "success", "task": {"task_id": "a1", "status": "completed"}})
    assert spawn(session.facts())["status"] == "completed"


def test_trap11_an_unanswered_call_is_launched_at_the_end_and_abandoned_when_passed_over() -> None:
    session = Session()
    session.says("msg_1", call("t1", "Agent", {"prompt": "a"}), call("t2", "Agent", {"prompt": "b"}))
    session.answers("t1", "done", {"status": "completed", "agentId": "a1"})
    facts = session.facts()
    assert (spawn(facts, 1)["status"], facts["counts"]["unanswered"]) == ("launched", 1)
    session.says("msg_2", said("I will not wait."), stop="end_turn")
    assert spawn(session.facts(), 1)["status"] == "abandoned"


def test_interrupted_spawn_is_abandoned() -> None:
    session = Session()
    session.calls_tool("Agent", {"prompt": "p"})
    session.user("[Request interrupted by user]")
    facts = session.facts()
    assert (spawn(facts)["status"], facts["ended"]) == ("abandoned", "aborted")


def test_a_teammate_reports_by_messages_and_stays_launched() -> None:
    session = Session()
    outcome = {"status": "teammate_spawned", "agent_id": "planner@team", "name": "planner"}
    session.answers(session.calls_tool("Task", {"prompt": "p", "name": "planner"}), "Spawned", outcome)
    session.answers(session.calls_tool("SendMessage", {"to": "planner", "message": "go"}), "sent")
    session.ends()
    found = spawn(session.facts())
    assert (found["status"], found["agent_id"], found["rounds"]) == ("launched", "planner@team", 2)


def test_rounds_are_one_and_the_messages_to_an_agent_by_id_or_description() -> None:
    assert spawn(extract(native("03-sub")), 7)["rounds"] == 3
    session = Session()
    for agent, description in (("a1", "review queue"), ("a2", "review auth")):
        spawned = session.calls_tool("Agent", {"prompt": "p", "description": description})
        session.answers(spawned, "launched", launched(agent))
    for to, failed in (("a1", None), ("review queue", None), ("review auth", None), ("a2", True), ("nobody", None)):
        session.answers(session.calls_tool("SendMessage", {"to": to, "message": "m"}), "{}", error=failed)
    session.calls_tool("SendMessage", {"to": "a2", "message": "not answered yet"})
    facts = session.facts()
    assert [s["rounds"] for s in facts["spawns"]] == [3, 3], "a message that failed was no round"
    assert facts["economics"]["maxrounds"] == 3


def test_of_namesakes_the_latest_is_meant() -> None:
    session = Session()
    for agent in ("a1", "a2"):
        session.answers(session.calls_tool("Agent", {"prompt": "p", "description": "d"}), "launched", launched(agent))
    session.answers(session.calls_tool("SendMessage", {"to": "d", "message": "m"}), "{}")
    assert [s["rounds"] for s in session.facts()["spawns"]] == [1, 2]


def test_nested_spawns_have_a_depth_and_a_parent() -> None:
    nested = spawn(extract(native("20b-nest")), 2)
    assert (nested["depth"], nested["agent"], nested["requested_model"]) == (2, "a6b8194ecdb07ed08", "haiku")
    streamed = extract(stream("20b-nest"))
    assert sorted(s["depth"] for s in streamed["spawns"]) == [1, 1, 2]
    assert streamed["dual_read"] is None, "a nested agent's own calls are not in the stream"


def test_a_forked_skill_is_an_agent_but_no_spawn() -> None:
    facts = extract(native("20b-nest"))
    assert len(facts["spawns"]) == 3
    forked = next(a for a in facts["agents"] if a["id"] == "a431eaa2d8b6babc5")
    assert (forked["spawn"], forked["models"], forked["output"]) == (None, ["claude-haiku-5-5"], 50)


def test_trap6a_inline_sidechains_of_1_0_are_linked_by_their_prompt() -> None:
    session = Session("1.0.98")
    session.says("msg_1", call("t1", "Task", {"prompt": "look at A"}), call("t2", "Task", {"prompt": "look at B"}))
    main = session.parent
    for prompt, id in (("look at B", "msg_b"), ("look at A", "msg_a")):
        session.parent = None
        session.user(prompt, isSidechain=True)
        session.says(id, call(f"{id}-read", "Read", {"file_path": "/x"}), isSidechain=True, output=30)
        session.answers(f"{id}-read", "12345", isSidechain=True)
    session.parent = main
    session.answers("t2", "B is fine", {"totalTokens": 1, "usage": {}})
    facts = session.facts()
    assert [s["output_tokens"] for s in facts["spawns"]] == [30, 30]
    assert [(a["agent"], a["tool"]) for a in facts["actions"]] == [
        ("main", "Agent"),
        ("main", "Agent"),
        ("t2", "Read"),
        ("t1", "Read"),
    ]
    assert (facts["tokens"]["main"]["output"], facts["tokens"]["sidechain"]["output"]) == (10, 60)
    assert facts["bytes_read"] == {"main": 0, "before_first_spawn": 0, "sidechain": 10, "by_path": {}}


def test_bytes_before_the_first_spawn_and_the_economics() -> None:
    session = Session()
    session.answers(session.calls_tool("Read", {"file_path": "a"}), "é" * 10)
    session.answers(session.calls_tool("TodoWrite", {}), "not read by a reading tool")
    failed = session.calls_tool("Agent", {"prompt": "p", "model": "gpt"})
    session.answers(failed, "InputValidationError", "InputValidationError: x", error=True)
    session.answers(session.calls_tool("Grep", {"pattern": "x"}), [{"type": "text", "text": "12345"}])
    session.answers(session.calls_tool("Agent", {"prompt": "p"}), "done", {"status": "completed", "agentId": "a1"})
    session.answers(session.calls_tool("Bash", {"command": "ls"}), "123", error=True)
    session.ends()
    facts = session.facts()
    assert facts["bytes_read"]["main"] == 28
    assert facts["bytes_read"]["before_first_spawn"] == 25, "a spawn that failed launched nothing"
    assert facts["economics"] == {
        "mltok": 70,
        "sctok": 0,
        "mlshare": None,
        "prebytes": 25,
        "spawns": 2,
        "maxrounds": 1,
    }


class Reading:
    """A session whose subagent reads one file by `sub`, and whose main loop reads by `main` after it was launched."""

    def __init__(self, tmp_path: Path) -> None:
        self.path, self.main, self.agent = tmp_path / "s.jsonl", Session(), Session(agent="a1")

    def launch(self, tool: str, given: dict[str, Any], result: str = "x" * 50) -> None:
        self.main.answers(self.main.calls_tool("Agent", {"prompt": "p"}), "launched", launched("a1"))
        self.agent.answers(self.agent.calls_tool(tool, given), result)

    def read(self, tool: str, given: dict[str, Any], result: str = "y" * 4_097) -> None:
        self.main.answers(self.main.calls_tool(tool, given), result)

    def dual(self) -> list[str]:
        self.agent.write(self.path.parent / "s" / "subagents" / "agent-a1.jsonl")
        return extract(self.main.write(self.path))["dual_read"]


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("Read", {"file_path": "/home/dev/project/logs/a.log"}),
        ("Read", {"file_path": "logs/a.log"}),
        ("Bash", {"command": "cat logs/a.log"}),
        ("Bash", {"command": "cd logs && grep -n -A 3 'x y' a.log | head -50"}),
        ("Bash", {"command": "sed -n '1,200p' ./logs/a.log"}),
        ("Bash", {"command": "LC_ALL=C awk -F: '{print $2}' < logs/a.log"}),
        ("Grep", {"pattern": "x", "path": "logs/a.log", "output_mode": "content"}),
    ],
)
def test_dual_read_is_the_same_file_by_any_tool_after_the_launch(
    tool: str, given: dict[str, Any], tmp_path: Path
) -> None:
    reading = Reading(tmp_path)
    reading.launch("Read", {"file_path": "logs/a.log"})
    reading.read(tool, given)
    assert reading.dual() == ["/home/dev/project/logs/a.log"]


def test_dual_read_counts_grep_lines_by_the_file_they_name(tmp_path: Path) -> None:
    reading = Reading(tmp_path)
    reading.launch("Bash", {"command": "grep -rn worker logs/"}, "logs/a.log:1:worker died\nlogs/b.log:2:worker\n")
    lines = "".join(f"logs/{name}.log:{i}:some text that is long enough\n" for i in range(110) for name in "abc")
    reading.read("Bash", {"command": "grep -rn text logs/"}, lines)
    assert reading.dual() == ["/home/dev/project/logs/a.log", "/home/dev/project/logs/b.log"]


@pytest.mark.parametrize(
    ("tool", "given", "size"),
    [
        ("Read", {"file_path": "logs/a.log"}, 4_096),
        ("Read", {"file_path": "logs/other.log"}, 9_000),
        ("Bash", {"command": "grep -c a.log README.md"}, 9_000),
        ("Bash", {"command": "ls -l logs/a.log; wc -l logs/a.log > logs/a.log"}, 9_000),
        ("Glob", {"pattern": "logs/*", "path": "logs/a.log"}, 9_000),
    ],
)
def test_dual_read_is_not_a_small_or_another_or_a_listing_read(
    tool: str, given: dict[str, Any], size: int, tmp_path: Path
) -> None:
    reading = Reading(tmp_path)
    reading.launch("Read", {"file_path": "logs/a.log"})
    reading.read(tool, given, "y" * size)
    assert reading.dual() == []


def test_dual_read_is_not_a_read_before_the_launch(tmp_path: Path) -> None:
    reading = Reading(tmp_path)
    reading.read("Read", {"file_path": "logs/a.log"})
    reading.launch("Read", {"file_path": "logs/a.log"})
    assert reading.dual() == []


def test_dual_read_is_unknown_where_a_subagents_transcript_is_missing() -> None:
    session = Session()
    session.answers(session.calls_tool("Agent", {"prompt": "p"}), "done", {"status": "completed", "agentId": "a1"})
    session.ends()
    assert session.facts()["dual_read"] is None
    assert extract(DATA / "03-sub")["dual_read"] == []


def test_by_path_sums_what_the_main_loop_got_of_each_file() -> None:
    session = Session()
    for given in ({"file_path": "a"}, {"file_path": "/home/dev/project/a"}, {"file_path": "b"}):
        session.answers(session.calls_tool("Read", given), "12345")
    session.answers(session.calls_tool("Read", {"file_path": "c"}), "File does not exist.", error=True)
    assert session.facts()["bytes_read"]["by_path"] == {"/home/dev/project/a": 10, "/home/dev/project/b": 5}


@pytest.mark.parametrize("again", [False, True])
def test_trap6d_the_copies_tell_the_model_also_of_an_agent_that_finished(again: bool) -> None:
    """Up to 2.1.42 the result has no resolvedModel, and the agent's own file may be missing."""
    session = Session(version="2.1.20")
    session.user("go")
    id = session.calls_tool("Task", {"prompt": "p"})
    copy = {"type": "assistant", "message": {"model": "claude-haiku-4-5", "id": "m", "content": []}, "uuid": "x"}
    progress = {"type": "progress", "data": {"type": "agent_progress", "agentId": "a1", "message": copy}}
    session.add(progress, parentToolUseID=id)
    session.answers(id, "done", {"status": "completed", "agentId": "a1"})
    if again:
        session.add(progress, parentToolUseID=id)
    assert spawn(session.facts())["resolved_model"] == "claude-haiku-4-5"
