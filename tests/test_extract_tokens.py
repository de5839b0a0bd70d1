"""Token rules, each named after the trap (transcript formats) or the public report that broke other readers."""

from pathlib import Path
from typing import Any

from extracting import DATA, MODEL, Session, call, dump, native, of_bytes, said, stream, usage
from heldout.transcript.reader import extract
from heldout.transcript.tokens import placeholder_version

THINKING = {"type": "thinking", "thinking": "", "signature": "c2ln"}


def main_tokens(facts: dict[str, Any]) -> list[int]:
    return list(facts["tokens"]["main"].values())


def test_trap1_report1_one_response_of_several_lines_counts_once() -> None:
    session = Session()
    session.user("go")
    for block in (THINKING, said("a"), call("t1", "Bash", {"command": "ls"})):
        session.says("msg_1", block, output=111)
    assert main_tokens(session.facts()) == [3, 20, 100, 111]
    assert extract(native("02-tools"))["tokens"]["main"]["output"] == 796, "the naive sum over lines is 2204"


def test_trap2_report4_report13_the_last_line_of_an_id_is_the_value() -> None:
    session = Session("2.1.1")
    for output in (4, 4, 321):
        session.says("msg_1", said(f"{output}"), output=output)
    assert session.facts()["tokens"]["main"]["output"] == 321


def test_report3_blocks_of_all_lines_of_an_id_are_kept() -> None:
    session = Session()
    session.says("msg_1", call("t1", "Bash", {"command": "a"}))
    session.says("msg_1", call("t2", "mcp__x__y", {}))
    assert [a["tool"] for a in session.facts()["actions"]] == ["Bash", "mcp__x__y"]


def test_lines_of_one_id_need_not_be_adjacent() -> None:
    session = Session()
    session.says("msg_1", call("t1", "Bash", {"command": "a"}), output=5)
    session.answers("t1", "ok")
    session.says("msg_1", call("t2", "Bash", {"command": "b"}), output=9)
    assert session.facts()["tokens"]["main"]["output"] == 9


def test_report5_report6_an_id_without_request_id_is_enough() -> None:
    session = Session()
    session.says("msg_1", said("a"), requestId="req_1")
    session.says("msg_1", said("b"))
    session.says("msg_1", said("c"), requestId="req_2")
    assert session.facts()["tokens"]["messages"]["main"] == 1


def test_report10_lines_without_an_id_are_their_own_message() -> None:
    session = Session()
    for text in ("a", "b"):
        del session.says("x", said(text), output=7)["message"]["id"]
    session.lines.append(session.lines[-1])  # and the same line again is not another message
    assert session.facts()["tokens"]["main"]["output"] == 14


def test_trap14_report11_report39_synthetic_messages_are_dropped() -> None:
    session = Session()
    session.says("msg_1", said("real"), output=7)
    session.says("3da83564", said("No response requested."), model="<synthetic>", usage=usage(999))
    facts = session.facts()
    assert main_tokens(facts) == [3, 20, 100, 7]
    assert facts["session"]["models_served"] == [MODEL]
    assert facts["answers"]["final_message"] == "real"


def test_report18_report19_an_id_in_parent_and_agent_file_counts_once_and_is_the_parents(tmp_path: Path) -> None:
    """20b-nest holds a fork, whose file begins with a copy of its parent's line."""
    main = Session()
    main.says("msg_1", call("t1", "Agent", {"prompt": "p"}), output=50)
    main.answers("t1", "report", {"status": "completed", "agentId": "a1"})
    fork = Session(agent="a1")
    fork.says("msg_1", call("t1", "Agent", {"prompt": "p"}), output=50, requestId="req_replayed")
    fork.says("msg_2", said("mine"), output=8, stop="end_turn")
    path = main.write(tmp_path / "s.jsonl")
    fork.write(tmp_path / "s" / "subagents" / "agent-a1.jsonl")
    tokens = extract(path)["tokens"]
    assert (tokens["main"]["output"], tokens["sidechain"]["output"]) == (50, 8)
    assert len(extract(path)["actions"]) == 1
    nested = extract(native("20b-nest"))["tokens"]
    assert nested["main"]["output"] + nested["sidechain"]["output"] == 500


def test_report31_rows_appended_again_by_a_second_compaction_count_once() -> None:
    session = Session()
    session.says("msg_1", said("first"), output=7)
    session.says("msg_2", call("t1", "Read", {"file_path": "/x"}), output=5)
    session.answers("t1", "12345")
    session.lines += session.lines[:]
    session.ends("last")
    facts = session.facts()
    assert facts["tokens"]["main"]["output"] == 22
    assert (facts["counts"]["actions"], facts["bytes_read"]["main"]) == (1, 5)
    assert facts["answers"]["visible_text"] == ["first", "last"]


def test_rows_appended_after_the_end_do_not_become_the_final_message() -> None:
    session = Session()
    session.says("msg_1", said("first"))
    session.ends("last")
    session.lines.append(session.lines[0])
    facts = session.facts()
    assert facts["answers"]["final_message"] == "last"
    assert facts["ended"] == "completed"


def test_trap3_report8_output_of_2_1_12_to_2_1_42_is_flagged_as_a_lower_bound() -> None:
    assert [v for v in ("2.1.11", "2.1.12", "2.1.42", "2.1.43", "2.0.20", "2.1.332", "", "2.1", "2.1.x")
            if placeholder_version(v)] == ["2.1.12", "2.1.42"]  # fmt: skip
    for version, flagged in (("2.1.25", True), ("2.1.7", False), ("2.1.332", False)):
        session = Session(version)
        session.ends()
        assert session.facts()["tokens"]["output_is_lower_bound"] is flagged
    changed = Session("2.1.7")
    changed.says("msg_1", said("a"))
    changed.common["version"] = "2.1.12"  # a resumed session (trap 18)
    changed.ends()
    assert changed.facts()["tokens"]["output_is_lower_bound"]


def test_report12_messages_without_a_stop_reason_are_counted_as_unfinished() -> None:
    session = Session()
    session.says("msg_1", said("a"), stop=None)
    session.ends()
    assert session.facts()["tokens"]["unfinished"] == 1


def test_report23_unknown_usage_stays_unknown_and_is_not_zero() -> None:
    session = Session()
    session.says("msg_1", said("a"), usage={})
    facts = session.facts()
    assert main_tokens(facts) == [None] * 4
    assert facts["tokens"]["main_loop_share"] is None
    assert facts["economics"]["mltok"] is None
    session.says("msg_1", said("b"), output=4)
    session.says("msg_1", said("c"), usage=None)
    assert session.facts()["tokens"]["main"]["output"] == 4, "a line without usage does not take away what was known"


def test_usage_of_odd_shapes_counts_what_is_a_count() -> None:
    session = Session()
    session.says("msg_1", said("a"), usage={"output_tokens": 5, "input_tokens": "many", "cache_read_input_tokens": -3})
    assert main_tokens(session.facts()) == [0, 0, 0, 5]


def test_trap5_total_tokens_of_a_spawn_is_its_last_call_not_its_sum(tmp_path: Path) -> None:
    main = Session()
    id = main.calls_tool("Agent", {"prompt": "p", "description": "d"})
    main.answers(id, "report", {"status": "completed", "agentId": "a1", "totalTokens": 133, "usage": usage(10)})
    main.ends()
    agent = Session(agent="a1")
    for i in range(3):
        agent.says(f"msg_a{i}", said("."), output=100)
    agent.write(tmp_path / "s" / "subagents" / "agent-a1.jsonl")
    facts = extract(main.write(tmp_path / "s.jsonl"))
    assert facts["spawns"][0]["output_tokens"] == 300
    assert facts["tokens"]["sidechain"]["output"] == 300
    assert facts["tokens"]["main_loop_share"] == round(20 / 320, 3)


def test_trap6d_copies_in_progress_lines_are_no_usage_but_tell_the_model() -> None:
    session = Session("2.1.17")
    id = session.calls_tool("Task", {"prompt": "p", "model": "sonnet"}, output=4)
    copy = {
        "model": "claude-sonnet-4-5-20250929",
        "id": "msg_c",
        "role": "assistant",
        "content": [],
        "usage": usage(500),
    }
    for _ in range(3):
        session.add(
            {
                "type": "progress",
                "data": {"message": {"type": "assistant", "message": copy}, "type": "agent_progress", "agentId": "a9"},
                "toolUseID": "agent_msg",
                "parentToolUseID": id,
            }
        )
    facts = session.facts()
    assert facts["tokens"]["main"]["output"] == 4
    assert facts["tokens"]["sidechain"]["output"] == 0
    assert facts["tokens"]["sidechain_complete"] is False
    assert facts["tokens"]["main_loop_share"] is None, "what the subagent used is unknown, so its share is"
    spawn = facts["spawns"][0]
    assert (spawn["requested_model"], spawn["resolved_model"]) == ("sonnet", "claude-sonnet-4-5-20250929")
    assert (spawn["agent_id"], spawn["output_tokens"]) == ("a9", None)


def test_share_is_one_without_a_sidechain() -> None:
    session = Session()
    session.ends()
    assert session.facts()["tokens"]["main_loop_share"] == 1.0


def test_trap23_report7_stream_totals_come_from_the_last_result_not_from_start_usage() -> None:
    facts = extract(stream("03-sub"))
    lines = sum(1 for line in stream("03-sub").open() if '"output_tokens":1}' in line)
    assert lines >= 12, "the lines say 1"
    assert facts["tokens"]["main"] == {"input": 1300, "cache_creation": 26000, "cache_read": 39000, "output": 221}
    assert facts["tokens"]["sidechain"]["output"] == 3160
    assert facts["tokens"]["source"] == "result.modelUsage"


def test_report27_result_usage_is_not_the_sum_of_model_usage() -> None:
    """07b-budget: result.usage lacks the call that broke the budget, modelUsage has it."""
    facts = extract(stream("07b-budget"))
    assert facts["tokens"]["main"]["output"] == 40000
    assert facts["cost_usd"] == 0.6174000000000001


def test_a_stream_whose_result_has_no_model_usage_falls_back_on_its_usage(tmp_path: Path) -> None:
    events = [
        {"type": "system", "subtype": "init", "session_id": "s", "model": MODEL},
        {"type": "result", "subtype": "success", "is_error": False, "session_id": "s", "usage": usage(25)},
    ]
    tokens = of_bytes(dump(events), tmp_path / "f")["tokens"]
    assert (tokens["main"]["output"], tokens["source"]) == (25, "result.usage")


def test_cost_state_gives_the_clients_totals_where_there_is_no_stream() -> None:
    tokens = extract(native("03-sub"))["tokens"]
    assert tokens["cli"]["source"] == "cost-state"
    assert tokens["cli"]["by_model"]["claude-haiku-5-5"]["output"] == 702
    assert tokens["residual"]["output"] == 0
    assert extract(native("06a-sigkill-tool"))["tokens"]["cli"] is None


def test_a_message_cut_off_by_a_kill_is_taken_from_the_stream() -> None:
    """06d: the finished block was printed and never written to the transcript; its usage is that of the start."""
    facts = extract(DATA / "06d-sigkill-stream")
    assert facts["answers"]["final_message"] == "block one of a slow message"
    assert (facts["tokens"]["main"]["output"], facts["tokens"]["output_is_lower_bound"]) == (51, True)
