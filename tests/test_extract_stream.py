"""stream-json: what doubled, joined and late events do to the totals and to the end."""

import json
from pathlib import Path
from typing import Any

import pytest
from extracting import SESSION, Line, call, dump, said, stream, usage
from heldout.transcript.reader import extract, extract_stream

INIT = {"type": "system", "subtype": "init", "session_id": SESSION, "model": "m", "tools": [], "cwd": "/w"}
RESULT = {
    "type": "result",
    "subtype": "success",
    "is_error": False,
    "session_id": SESSION,
    "uuid": "r1",
    "num_turns": 1,
    "usage": usage(10),
    "modelUsage": {"m": {"outputTokens": 10, "inputTokens": 3}},
}


def says(id: str, *blocks: Line, **extra: Any) -> Line:
    message = {"model": "m", "id": id, "content": list(blocks), "stop_reason": None, "usage": usage(10)}
    return {"type": "assistant", "message": message, "session_id": SESSION, "parent_tool_use_id": None, **extra}


def facts_of(lines: list[Line]) -> dict[str, Any]:
    return extract_stream(dump(lines).splitlines(keepends=True))


@pytest.mark.parametrize("case", ["03-sub", "13c-nobg", "20b-nest", "09e-bgbash"])
def test_report31_a_doubled_result_changes_nothing(case: str, tmp_path: Path) -> None:
    lines = stream(case).read_bytes().splitlines(keepends=True)
    doubled = [line for line in lines for _ in range(2 if b'"type":"result"' in line else 1)]
    expected, found = extract_stream(lines), extract_stream(doubled)
    for facts in (expected, found):
        facts.pop("source")
    assert found == expected


EVENTS = [
    {"type": "stream_event", "event": {"type": "ping"}},
    {"type": "system", "subtype": "thinking_tokens", "n": 1},
    {"type": "system", "subtype": "status", "status": "x"},
]


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("cut", [0, 8])
def test_an_empty_event_hides_no_record_that_shares_its_line(event: Line, cut: int) -> None:
    head = json.dumps(event, separators=(",", ":")).encode()
    lines = [*dump([INIT, says("m1", said("x"))]).splitlines(keepends=True), head[: len(head) - cut] + dump([RESULT])]
    facts = extract_stream(lines)
    assert (facts["ended"], facts["tokens"]["main"]["output"], facts["source"]["bad_lines"]) == ("completed", 10, 1)


def cell(tmp_path: Path, native: list[Line], events: list[Line | bytes]) -> dict[str, Any]:
    (tmp_path / "session").mkdir()
    envelope = {"parentUuid": None, "isSidechain": False, "sessionId": SESSION, "version": "2.1.332"}
    rows = [{**envelope, **line, "uuid": f"u{i}"} for i, line in enumerate(native)]
    (tmp_path / "session" / f"{SESSION}.jsonl").write_bytes(dump(rows))
    told = [
        event if isinstance(event, bytes) else json.dumps(event, separators=(",", ":")).encode() for event in events
    ]
    (tmp_path / "transcript.jsonl").write_bytes(b"".join(line + b"\n" for line in told))
    return extract(tmp_path)


def turn(id: str, *blocks: Line) -> Line:
    line = says(id, *blocks)
    return {"message": line["message"], "type": "assistant"}


GO = {"type": "user", "message": {"role": "user", "content": "go"}}


@pytest.mark.parametrize(
    "late",
    [says("m9", said("late"), parent_tool_use_id="t1"), says("m9", said("x")) | {"message": {"model": "<synthetic>"}}],
)
def test_a_late_line_of_another_speaker_does_not_open_the_session_again(late: Line, tmp_path: Path) -> None:
    facts = cell(tmp_path, [GO, turn("m1", said("x"))], [INIT, says("m1", said("x")), RESULT, late])
    assert (facts["ended"], facts["source"]["complete"]) == ("completed", True)


def test_a_known_line_hides_no_record_that_shares_its_line(tmp_path: Path) -> None:
    both = json.dumps(says("m1", said("x")), separators=(",", ":")).encode()
    both += json.dumps(RESULT, separators=(",", ":")).encode()
    facts = cell(tmp_path, [GO, turn("m1", said("x"))], [INIT, both])
    assert (facts["ended"], facts["source"]["bad_lines"]) == ("completed", 1)


def test_of_two_results_on_a_line_the_one_that_only_the_stream_has_counts(tmp_path: Path) -> None:
    def result(*ids: str) -> Line:
        return {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": id, "content": "12345"} for id in ids],
        }

    calls = turn("m1", call("t1", "Read", {}), call("t2", "Read", {}))
    native = [GO, calls, {"type": "user", "message": result("t1")}]
    event = {"type": "user", "message": result("t1", "t2"), "session_id": SESSION, "parent_tool_use_id": None}
    facts = cell(tmp_path, native, [INIT, says("m1"), event, RESULT])
    assert [action["ok"] for action in facts["actions"]] == [True, True]
    assert facts["bytes_read"]["main"] == 10


@pytest.mark.parametrize(
    ("event", "counted"),
    [
        ({"subtype": "hook_response", "hook_event": "Stop", "hook_name": "x", "outcome": "success"}, "hooks"),
        ({"subtype": "api_retry"}, "api_errors"),
        ({"subtype": "compact_boundary"}, "compactions"),
    ],
)
def test_an_event_counts_once_however_often_it_is_written(event: Line, counted: str) -> None:
    def counts(*events: Line) -> int:
        facts = facts_of([INIT, *({"type": "system", "session_id": SESSION, **item} for item in events), RESULT])
        return len(facts["hooks"]) if counted == "hooks" else facts["counts"][counted]

    once, other = {**event, "uuid": "u1"}, {**event, "uuid": "u2"}
    assert (counts(once), counts(once, once), counts(once, other)) == (1, 1, 2)
