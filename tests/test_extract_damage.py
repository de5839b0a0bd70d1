"""Damaged, foreign and oversized input: what can be read is read, the rest is counted or refused with a reason."""

import io
import json
import os
from pathlib import Path
from typing import Any

import orjson
import pytest
from extracting import Session, call, dump, native, of_bytes, said
from heldout.errors import Fault
from heldout.transcript import bounds, collect, formats, lines, mend
from heldout.transcript import native as native_module
from heldout.transcript.reader import extract, extract_stream
from programs import bin


def three() -> list[bytes]:
    """Three whole lines: a prompt, a call, its result; 10 output tokens, 5 bytes read."""
    session = Session()
    session.user("go")
    session.answers(session.calls_tool("Read", {"file_path": "/x"}), "12345")
    return session.bytes().splitlines(keepends=True)


def facts_of(content: bytes, tmp_path: Path) -> dict[str, Any]:
    return of_bytes(content, tmp_path / "s.jsonl")


def found(facts: dict[str, Any]) -> tuple[int, int]:
    return facts["tokens"]["main"]["output"], facts["bytes_read"]["main"]


@pytest.mark.parametrize(
    ("spoil", "bad", "recovered"),
    [
        (lambda a, b, c: a + b"\0" * 400 + b + c, 1, 1),  # report 28: a run of NULs before a record
        (lambda a, b, c: a + b"\0" * 400 + b"\n" + b + c, 1, 0),  # and on a line of its own
        (lambda a, b, c: a.rstrip(b"\n") + b + c, 1, 2),  # trap 18, report 28: the newline is missing
        (lambda a, b, c: a[:-60] + b + c, 1, 1),  # report 28: a cut-off record, then a whole one
        (lambda a, b, c: b'{"type":"summary","summary":"x","leafUuid":"u"}' + a + b + c, 1, 2),
        (lambda a, b, c: a + b"not json at all\n" + b + c, 1, 0),  # report 29: skip, count, carry on
        (lambda a, b, c: a + b"\n\r\n" + b + c, 0, 0),  # blank lines are nothing
        (lambda a, b, c: b"\xef\xbb\xbf" + a + b + c, 1, 1),  # a byte order mark
        (lambda a, b, c: a + b.replace(b'"/x"', b'"/\xff\xfe"') + c, 1, 1),  # not UTF-8
        (lambda a, b, c: a + b.replace(b'"/x"', b'"/\\ud83d"') + c, 1, 1),  # half an emoji, cut off by the client
        (lambda a, b, c: a + b[:-1] + b[:-1] + c, 1, 0),  # nothing of the third is lost: see below
    ],
)
def test_a_damaged_line_costs_only_what_is_lost(spoil: Any, bad: int, recovered: int, tmp_path: Path) -> None:
    content = spoil(*three())
    facts = facts_of(content, tmp_path)
    if content.count(b'"msg_') == 2:
        recovered = 3  # the same record twice and the next one, on one line
    assert (facts["source"]["bad_lines"], facts["source"]["recovered"]) == (bad, recovered)
    assert found(facts) == (10, 5)
    assert facts["source"]["truncated"] is False


def test_trap6d_a_part_of_a_cut_off_record_is_no_record(tmp_path: Path) -> None:
    """A progress line holds a copy of a subagent's message, which is not the main loop's when the line was cut off."""
    a, b, c = three()
    copy = {
        "type": "assistant",
        "message": {"id": "m9", "model": "x", "content": [call("t9", "Bash", {})]},
        "uuid": "u",
    }
    data = {"type": "agent_progress", "message": copy, "more": [copy, "text"]}
    whole = json.dumps({"type": "progress", "data": data, "uuid": "p", "sessionId": "s"}).encode()
    for stop in range(20, len(whole)):
        for after in (b"\n", b""):
            facts = facts_of(a + b + whole[:stop] + after + c, tmp_path)
            assert (facts["counts"]["actions"], facts["source"]["bad_lines"]) == (1, 1)
            assert found(facts) == (10, 5)


def test_many_records_on_one_line_are_all_saved(tmp_path: Path) -> None:
    session = Session()
    session.user("go")
    for i in range(200):
        session.answers(session.calls_tool("Read", {"file_path": f"/{i}", "n": 2**70}), "12345")
    facts = facts_of(session.bytes().replace(b"\n", b"") + b"\n", tmp_path)
    assert (facts["source"]["recovered"], facts["source"]["bad_lines"], found(facts)) == (401, 1, (2_000, 1_000))
    json.dumps(facts)


def test_a_line_of_many_beginnings_is_given_up_in_the_end(tmp_path: Path) -> None:
    """Each beginning inside another one, and each behind another one that was cut off: tried once each, if at all."""
    inner = b'{"type":"u","a":[' * 20_000 + b"1," * 500_000
    behind = b'{"type":"u","a":"x{"type":"u","b":y' * 20_000
    facts = facts_of(b"".join(three()) + inner + b"\n" + behind + b"\n", tmp_path)
    assert (found(facts), facts["source"]["bad_lines"]) == ((10, 5), 2)


def test_bad_lines_are_described_with_file_and_line(tmp_path: Path) -> None:
    a, b, c = three()
    facts = facts_of(a + b"oops\n" + b + b"\0\0\0\n" + c, tmp_path)
    assert facts["source"]["bad"] == [
        {"file": "s.jsonl", "line": 2, "why": "not JSON"},
        {"file": "s.jsonl", "line": 4, "why": "only NUL bytes"},
    ]


def test_report29_report52387_a_last_line_cut_off_is_truncated_and_the_rest_counts(tmp_path: Path) -> None:
    a, b, c = three()
    facts = facts_of(a + b + c[: len(c) // 2], tmp_path)
    assert (facts["source"]["truncated"], facts["source"]["bad_lines"]) == (True, 1)
    assert found(facts) == (10, 0)
    assert facts["counts"]["unanswered"] == 1


def test_a_missing_last_newline_is_no_truncation(tmp_path: Path) -> None:
    facts = facts_of(b"".join(three()).rstrip(b"\n"), tmp_path)
    assert (facts["source"]["truncated"], facts["source"]["bad_lines"], found(facts)) == (False, 0, (10, 5))


def test_a_cut_off_quiet_line_does_not_hide_the_record_behind_it(tmp_path: Path) -> None:
    a, b, c = three()
    quiet = b'{"type":"api-request-blob","sessionId":"s","message":{"role":"user","cont'
    progress = a.replace(b'"type": "user"', b'"type":"progress"').replace(b": ", b":").replace(b", ", b",")[:90]
    assert found(facts_of(a + quiet + b + progress + c, tmp_path)) == (10, 5)


def test_only_its_own_type_makes_a_line_quiet(tmp_path: Path) -> None:
    """The types of quiet lines, deeper in a line and before its own type, mean nothing."""
    session = Session()
    session.user("go")
    session.says("msg_1", said("a"))
    odd = session.says("msg_2", call("t1", "X", {"type": "progress", "data": {"type": "bash_progress"}}))
    session.lines[-1] = {"parentUuid": None, "isSidechain": False, "z": {"type": "progress"}, **odd}
    compact = b"".join(json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in session.lines)
    facts = facts_of(compact, tmp_path)
    assert (facts["counts"]["actions"], facts["tokens"]["main"]["output"]) == (1, 20)


def test_a_line_that_only_thinks_counts_whatever_follows(tmp_path: Path) -> None:
    def lines_of(blocks: list[tuple[str, dict[str, Any]]]) -> bytes:
        session = Session()
        session.user("go")
        session.says("msg_0", said("first"))
        for id, block in blocks:
            session.says(id, block, stop="end_turn", output=7)
        return b"".join(json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in session.lines)

    thinks = {"type": "thinking", "thinking": "hm", "signature": "x"}
    for blocks, output, last in (
        ([("msg_1", thinks)], 17, ""),
        ([("msg_1", thinks), ("msg_1", said("x"))], 17, "x"),
        ([("msg_1", thinks), ("msg_2", thinks)], 24, ""),
        ([("msg_1", thinks), ("msg_2", said("y"))], 24, "y"),
    ):
        facts = facts_of(lines_of(blocks), tmp_path)
        assert (facts["tokens"]["main"]["output"], facts["answers"]["final_message"]) == (output, last)


QUIET = b'{"type":"api-request-blob","sessionId":"s","message":{"role":"user","content":"HERE"}}\n'
RESULT = b'"toolUseResult": {"stdout": "HERE"}'


@pytest.mark.parametrize(
    ("inside", "bad"),
    [
        (b'a"b', 1),
        (b"a\x01b", 1),
        (b"a\\qb", 1),
        (b"a\\ud83d", 1),
        (b"a\xffb", 0),  # text that nothing rests on is not decoded
        ("naïve ✅".encode(), 0),
    ],
)
def test_what_is_passed_over_is_still_checked_to_be_json(inside: bytes, bad: int, tmp_path: Path) -> None:
    a, b, c = three()
    odd = c.replace(b'"uuid"', RESULT.replace(b"HERE", inside) + b', "uuid"')
    facts = facts_of(a + b + QUIET.replace(b"HERE", inside) + odd, tmp_path)
    assert facts["source"]["bad_lines"] == 2 * bad
    assert found(facts)[0] == 10


def test_report30_valid_json_of_the_wrong_shape_is_ignored(tmp_path: Path) -> None:
    a, b, c = three()
    odd: list[dict[str, Any]] = [
        {"type": "assistant", "message": {"0": "h", "1": "i"}, "content": [], "uuid": "u", "sessionId": "s"},
        {"type": "assistant", "message": "text", "uuid": "u2", "sessionId": "s"},
        {"type": "user", "message": ["x"], "uuid": "u3", "sessionId": "s"},
        {"type": ["user"], "message": {}, "uuid": "u4", "sessionId": "s"},
        {"type": "attachment", "attachment": "x", "uuid": "u5"},
        {"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": ["t"], "content": 1}]}},
    ]
    facts = facts_of(a + b + dump(odd) + b'7\n"x"\n[1]\nnull\n' + c, tmp_path)
    assert (found(facts), facts["source"]["bad_lines"]) == ((10, 5), 0)


def test_report30_a_first_line_whose_type_is_no_string_is_ignored(tmp_path: Path) -> None:
    odd = b'{"type":["user"],"sessionId":"s"}\n{"type":{"a":1},"sessionId":"s"}\n{"type":null}\n'
    assert found(facts_of(odd + b"".join(three()), tmp_path)) == (10, 5)


def test_numbers_and_nesting_that_break_parsers_do_not_break_this_one(tmp_path: Path) -> None:
    a, b, c = three()
    deep = b'{"type":"user","message":' + b"[" * 5_000 + b"]" * 5_000 + b"}\n"
    wide = b'{"type":"cost-state","totalCostUSD":1e999,"modelUsage":{"m":{"outputTokens":123456789012345678901234}}}\n'
    assert found(facts_of(a + deep + b + wide + c, tmp_path)) == (10, 5)


# Other programs' files


@pytest.mark.parametrize(
    ("content", "code", "reason"),
    [
        (b"", "empty-transcript", "0 bytes"),
        (b"\n \n\r\n", "empty-transcript", "no record, only blank lines"),
        (b"\0" * 5_000, "unreadable-transcript", "only NUL bytes"),
        (b"\0" * 50 + b"\n" + b"\0" * 50, "unreadable-transcript", "only NUL bytes"),
        (bytes(range(256)) * 40, "unreadable-transcript", "JSON"),
        (b"just some words\nand more\n", "unreadable-transcript", "none of its first 2 lines is JSON"),
        (b'{"a": 1}\n{"b": 2}\n', "unreadable-transcript", "no record of a Claude Code transcript"),
        (
            b'{"timestamp":"t","type":"session_meta","payload":{"id":"x","cli_version":"0.128"}}\n',
            "unreadable-transcript",
            "Codex rollout, not a Claude Code transcript",
        ),
        (
            b'{"timestamp":"t","type":"event_msg","payload":{"type":"token_count","info":{}}}\n',
            "unreadable-transcript",
            "Codex rollout, not a Claude Code transcript",
        ),
        (
            b'{\n "sessionId": "s",\n "projectHash": "h",\n "messages": []\n}\n',
            "unreadable-transcript",
            "Gemini CLI session, not a Claude Code transcript",
        ),
        (
            b'{"type":"init","timestamp":"t","session_id":"s","model":"gemini-3"}\n{"type":"message","role":"user"}\n',
            "unreadable-transcript",
            "Gemini CLI stream, not a Claude Code transcript",
        ),
        (
            b'{"type":"started","key":"v2:1","agentId":"a1"}\n{"type":"result","key":"v2:1","agentId":"a1","result":{}}\n',
            "unreadable-transcript",
            "workflow journal, not a Claude Code transcript",
        ),
    ],
)
def test_what_is_no_transcript_is_refused_by_name(content: bytes, code: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(Fault) as caught:
        facts_of(content, tmp_path)
    assert caught.value.code == code
    assert reason in caught.value.detail
    with pytest.raises(Fault) as caught:
        extract_stream(io.BytesIO(content))
    assert (caught.value.code, reason in caught.value.detail) == (code, True)


def test_the_json_output_of_the_client_is_read_as_an_object_and_as_an_array(tmp_path: Path) -> None:
    result = {"type": "result", "subtype": "success", "is_error": False, "session_id": "s", "num_turns": 1}
    events = [{"type": "system", "subtype": "init", "session_id": "s", "cwd": "/c"}, result]
    assert facts_of(json.dumps(result, indent=2).encode(), tmp_path)["ended"] == "completed"
    for indent in (None, 2):
        facts = facts_of(json.dumps(events, indent=indent).encode(), tmp_path)
        assert (facts["ended"], facts["session"]["cwd"]) == ("completed", "/c")


def test_a_record_after_many_damaged_lines_is_found(tmp_path: Path) -> None:
    facts = facts_of(b"x\n" * 150 + b"".join(three()), tmp_path)
    assert (found(facts), facts["source"]["bad_lines"]) == ((10, 5), 150)


# Long lines


def shrink(monkeypatch: pytest.MonkeyPatch, **limits: int) -> None:
    """Lower the limits wherever a module took them from bounds."""
    for name, value in limits.items():
        for module in (bounds, collect, lines, formats, mend, native_module):
            if hasattr(module, name):
                monkeypatch.setattr(module, name, value)


def test_an_oversized_line_is_counted_and_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shrink(monkeypatch, OVERSIZED=2_000, PIECE=300)
    session = Session()
    session.user("go")
    session.answers(session.calls_tool("Read", {"file_path": "/x"}), "y" * 9_000)
    session.answers(session.calls_tool("Read", {"file_path": "/x"}), "z" * 1_000)
    content = session.bytes()
    for facts in (facts_of(content, tmp_path), of_pipe(content), extract_stream(content.splitlines(keepends=True))):
        assert (facts["source"]["oversized"], facts["source"]["lines"]) == (1, 5)
        assert (facts["source"]["bytes"], facts["bytes_read"]["main"]) == (len(content), 1_000)
        assert facts["counts"]["unanswered"] == 1
        assert [a["line"] for a in facts["actions"]] == [2, 4]


def of_pipe(content: bytes) -> dict[str, Any]:
    """The facts of a stream that cannot go back."""
    reading, writing = os.pipe()
    with os.fdopen(writing, "wb") as sink, os.fdopen(reading, "rb") as source:
        sink.write(content)
        sink.close()
        return extract_stream(source)


def test_an_oversized_line_at_the_very_end_and_of_exactly_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b, c = three()
    shrink(monkeypatch, OVERSIZED=len(b) + 1, PIECE=100)
    assert found(facts_of(a + b + c, tmp_path)) == (10, 5)
    facts = facts_of(a + b + c + b'{"type":"user","x":"' + b"y" * 9_000, tmp_path)
    assert (facts["source"]["oversized"], found(facts)) == (1, (10, 5))


@pytest.mark.parametrize("text", ["y" * 9_000, "é" * 5_000 + "\n", '\\"\t\x1b' * 2_000, "😀" * 3_000, "a\\" * 4_000])
def test_a_huge_lines_strings_are_shortened_and_still_counted_whole(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shrink(monkeypatch, HUGE=3_000, HUGE_STRING=1_000)
    for ascii_only in (True, False):
        session = Session()
        id = session.calls_tool("Bash", {"command": "cat x"})
        session.answers(id, [{"type": "text", "text": text}, {"type": "text", "text": "end"}], {"stdout": text})
        rows = [json.dumps(line, ensure_ascii=ascii_only).encode() for line in session.lines]
        assert len(mend.shorten(rows[1], {})) < 6_000
        facts = facts_of(b"\n".join(rows) + b"\n", tmp_path)
        assert facts["bytes_read"]["main"] == len(text.encode()) + 3


def test_actions_beyond_the_bound_are_counted_and_said_to_be_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    from heldout.transcript import actions

    monkeypatch.setattr(actions, "ACTIONS", 3)
    session = Session()
    for i in range(5):
        session.answers(session.calls_tool("Bash", {"command": f"echo {i}"}), "12")
    facts = session.facts()
    assert (len(facts["actions"]), facts["counts"]["actions"], facts["source"]["actions_omitted"]) == (3, 5, 2)
    assert (facts["bytes_read"]["main"], facts["counts"]["bash"]) == (10, 5)


def test_facts_of_every_capture_can_be_written_as_json() -> None:
    for case in ("02-tools", "03-sub", "11a-hooks-all", "20b-nest"):
        assert json.loads(json.dumps(extract(native(case))))["schema"] == 1


# Facts stay small, and can always be written


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize("extra", [{}, {"content": "x" * 70_000}])
@pytest.mark.parametrize("levels", [300, 700])
def test_a_deep_input_is_cut_where_it_is_too_deep(levels: int, extra: dict[str, Any], tmp_path: Path) -> None:
    session = Session()
    session.user("go")
    session.answers(session.calls_tool("X", {"a": nested(levels), **extra}), "ok")
    session.answers(session.calls_tool("Read", {"file_path": "/x"}), "12345")
    for facts in (session.facts(), facts_of(session.bytes(), tmp_path)):
        orjson.dumps(facts)
        assert (facts["counts"]["actions"], facts["bytes_read"]["main"]) == (2, 5)
        assert facts["actions"][0]["cut"]["a" + ".0" * (bounds.DEPTH - 1)] == 1


def test_a_wide_input_is_cut_where_it_is_too_wide() -> None:
    session = Session()
    session.answers(session.calls_tool("X", {"rows": [{"k": i} for i in range(9_000)], "z": 1}), "ok")
    action = session.facts()["actions"][0]
    assert len(action["input"]["rows"]) < bounds.VALUES
    assert action["cut"] == {"rows": 9_000, "": 2}


def test_numbers_that_no_json_writer_takes_are_left_out(tmp_path: Path) -> None:
    result = {"type": "result", "subtype": "success", "num_turns": 2**64 - 1, "duration_ms": 2**63, "session_id": "s"}
    facts = facts_of(dump([result, result | {"uuid": "u"}, result | {"uuid": "v", "num_turns": 3}]), tmp_path)
    orjson.dumps(facts)
    assert (facts["num_turns"], facts["duration_ms"]) == (3, None)


def test_the_clients_own_lists_are_cut_like_inputs(tmp_path: Path) -> None:
    init = {"type": "system", "subtype": "init", "session_id": "s", "tools": ["x"] * 9_000, "plugins": [nested(400)]}
    facts = facts_of(json.dumps(init).encode() + b"\n", tmp_path)
    orjson.dumps(facts)
    assert len(facts["session"]["tools"]) < bounds.VALUES


def test_a_huge_line_of_small_values_is_oversized(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shrink(monkeypatch, HUGE=3_000)
    a, b, c = three()
    wide = json.dumps({"type": "user", "message": {"content": [[1]] * 3_000}, "uuid": "w", "sessionId": "s"}).encode()
    facts = facts_of(a + b + wide + b"\n" + c, tmp_path)
    assert (facts["source"]["oversized"], found(facts)) == (1, (10, 5))


def test_many_lines_before_the_first_action_are_not_all_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    shrink(monkeypatch, PARENTS=20)
    session = Session()
    for i in range(200):
        session.user(f"go {i}")
    session.attaches("hook_additional_context", "hello", hookEvent="SessionStart", hookName="S", content=["hello"])
    session.calls_tool("Read", {"file_path": "/x"})
    assert session.facts()["hooks"][0]["before_first_action"] is True


def huge(monkeypatch: pytest.MonkeyPatch, session: Session) -> dict[str, Any]:
    shrink(monkeypatch, HUGE=3_000, HUGE_STRING=1_000)
    return session.facts()


def test_strings_of_a_huge_line_that_begin_alike_keep_their_own_lengths(monkeypatch: pytest.MonkeyPatch) -> None:
    session = Session()
    session.user("go")
    session.answers(session.calls_tool("Bash", {"command": "cat x"}), "q" * 2_000, {"stdout": "q" * 9_000})
    facts = huge(monkeypatch, session)
    assert (facts["actions"][0]["result_bytes"], facts["bytes_read"]["main"]) == (2_000, 2_000)


def test_a_text_cut_on_a_huge_line_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    session = Session()
    session.user("go")
    session.ends("w" * 9_000)
    facts = huge(monkeypatch, session)
    assert facts["answers"]["final_message"].endswith("w […9000 bytes, 1]")
    assert len(facts["answers"]["visible_text"][0]) < 1_100


def test_an_input_cut_on_a_huge_line_tells_its_length(monkeypatch: pytest.MonkeyPatch) -> None:
    from heldout.transcript import actions

    monkeypatch.setattr(actions, "STRING", 500)
    session = Session()
    session.user("go")
    session.calls_tool("Write", {"file_path": "/x", "content": "z" * 9_000})
    assert huge(monkeypatch, session)["actions"][0]["cut"] == {"content": 9_000}


def test_one_block_in_place_of_a_list_is_read(tmp_path: Path) -> None:
    session = Session()
    session.user("go")
    session.answers(session.calls_tool("Read", {"file_path": "/x"}), {"type": "text", "text": "hello"})
    session.ends()
    session.lines[-1]["message"]["content"] = said("bye")
    facts = facts_of(session.bytes(), tmp_path)
    assert (facts["bytes_read"]["main"], facts["answers"]["final_message"]) == (5, "bye")


def test_what_has_no_id_has_the_same_name_in_every_process(tmp_path: Path) -> None:
    session = Session()
    block = call("", "Bash", {"command": "ls"})
    del block["id"]
    line = session.says("m", block)
    del line["message"]["id"], line["uuid"]
    path = session.write(tmp_path / "s.jsonl")
    once, twice = (bin("extract", path, env={"PYTHONHASHSEED": seed}).stdout for seed in ("1", "2"))
    assert once == twice
    assert json.loads(once)["counts"]["actions"] == 1


@pytest.mark.parametrize(("written", "read"), [("7.0", 7), ("7", 7), ("7.5", 0), ("true", None)])
def test_a_count_with_a_fraction_of_zero_is_a_count(written: str, read: int | None, tmp_path: Path) -> None:
    content = b"".join(three()).replace(b'"output_tokens": 10', f'"output_tokens": {written}'.encode())
    assert facts_of(content, tmp_path)["tokens"]["main"]["output"] == read
