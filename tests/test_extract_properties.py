"""What holds for any transcript: order, copies, cuts and unknown things never change the totals of what is left.

HELDOUT_FUZZ=1 (see fuzz_extract.py) spends more examples on each property.
"""

import json
import os
from typing import Any

import pytest
from extracting import DATA, call, said, usage
from heldout.errors import Fault
from heldout.transcript import messages
from heldout.transcript.reader import extract_stream
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

# The same for every property here, and for no other module's.
extractor = settings(
    max_examples=150 if os.environ.get("HELDOUT_FUZZ") else 40,
    deadline=None,
    derandomize=not os.environ.get("HELDOUT_FUZZ"),
    suppress_health_check=(HealthCheck.too_slow, HealthCheck.data_too_large),
)
FACES = ("02-tools", "03-sub", "04b-root-default", "11a-hooks-all", "20b-nest")
FILES = {
    **{f"{case} native": next((DATA / case / "session").glob("*.jsonl")).read_bytes() for case in FACES},
    **{f"{case} stream": (DATA / case / "transcript.jsonl").read_bytes() for case in FACES},
}
ANY = st.sampled_from(sorted(FILES))
NATIVE = st.sampled_from([name for name in FILES if name.endswith("native")])
KINDS = ("assistant", "user", "system", "attachment", "progress", "queue-operation", "cost-state", "result", "summary")


def totals(facts: dict[str, Any]) -> dict[str, Any]:
    return {
        "main": facts["tokens"]["main"],
        "sidechain": facts["tokens"]["sidechain"],
        "messages": facts["tokens"]["messages"],
        "actions": facts["counts"]["actions"],
        "by_tool": facts["counts"]["by_tool"],
        "spawns": facts["counts"]["spawns"],
    }


def read(lines: list[bytes]) -> dict[str, Any]:
    return extract_stream(lines)


# Any JSON value; the keys are those that the reader looks at, so that wrong shapes land where they hurt.
KEY_WORDS = """
    type message content usage id model uuid parentUuid isSidechain sessionId session_id name input tool_use_id is_error
    toolUseResult tool_use_result attachment data rendered agentId agent_id parent_tool_use_id subtype text status task
    output_tokens input_tokens hookEvent hookName stdout operation result modelUsage total prompt description to skill
    command version cwd permissionMode attributionSkill totalCostUSD tool_result_meta permission_denials plugins skills
    names hookInfos stop_reason isMeta isAsync resolvedModel patch task_id error content_block agentType
"""
KEYS = st.sampled_from(KEY_WORDS.split())
VALUE_WORDS = """
    assistant user tool_use tool_result text thinking Agent Task Bash Read Skill SendMessage hook_success
    hook_additional_context hook_progress agent_progress <synthetic> init toolu_1 m1 async_launched completed 2.1.20
    <task-notification><task-id>a</task-id><status>completed</status> <command-name>/x</command-name>
    {"hookSpecificOutput":{"additionalContext":1}} → \ud83d \0
"""
WORDS = st.sampled_from(["[Request interrupted by user]", *VALUE_WORDS.split()])
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | WORDS | st.text(max_size=8)
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5), max_leaves=12
)
RECORDS = st.builds(lambda kind, rest: {**rest, "type": kind}, st.sampled_from(KINDS), st.dictionaries(KEYS, VALUES))


@extractor
@given(st.lists(RECORDS, max_size=12), st.booleans())
def test_records_of_any_shape_never_raise(records: list[dict[str, Any]], with_head: bool) -> None:
    head = [{"type": "user", "message": {"role": "user", "content": "go"}, "sessionId": "s"}] if with_head else []
    lines = [json.dumps(record).encode() + b"\n" for record in [*head, *records]]
    try:
        json.dumps(read(lines))
    except Fault as fault:
        assert fault.detail


@extractor
@given(st.lists(st.binary(max_size=60), max_size=20))
@example([b"\x0b"])  # white space of Python, not of JSON
def test_any_bytes_are_facts_or_a_fault(lines: list[bytes]) -> None:
    try:
        read(lines)
    except Fault as fault:
        assert fault.code in ("empty-transcript", "unreadable-transcript")


@extractor
@given(ANY, st.data())
def test_spoilt_bytes_never_raise(name: str, data: st.DataObject) -> None:
    spoilt = bytearray(FILES[name])
    for _ in range(data.draw(st.integers(1, 8))):
        at = data.draw(st.integers(0, len(spoilt) - 1))
        spoilt[at : at + data.draw(st.integers(0, 400))] = data.draw(st.binary(max_size=20) | st.just(b"\0" * 50))
    try:
        read(bytes(spoilt).splitlines(keepends=True))
    except Fault as fault:
        assert fault.code == "unreadable-transcript"


@extractor
@given(ANY, st.data())
def test_cut_at_any_byte_the_whole_lines_before_the_cut_are_what_counts(name: str, data: st.DataObject) -> None:
    content = FILES[name]
    cut = data.draw(st.integers(content.index(b"\n") + 1, len(content)))
    whole = content[: content.rindex(b"\n", 0, cut) + 1]
    try:
        expected = totals(read(whole.splitlines(keepends=True)))
    except Fault:
        return
    facts = read(content[:cut].splitlines(keepends=True))
    rest = content[len(whole) : cut]
    if rest.endswith(b"}") and _is_json(rest):
        return  # only the newline is missing: the line is whole
    assert totals(facts) == expected
    assert facts["source"]["truncated"] == bool(rest)


def _is_json(text: bytes) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


@extractor
@given(NATIVE, st.data())
def test_doubled_lines_change_no_total(name: str, data: st.DataObject) -> None:
    lines = FILES[name].splitlines(keepends=True)
    expected = read(lines)
    for _ in range(data.draw(st.integers(1, 12))):
        copied = data.draw(st.integers(0, len(lines) - 1))
        lines.insert(data.draw(st.integers(copied, len(lines))), lines[copied])
    facts = read(lines)
    assert totals(facts) == totals(expected)
    assert facts["answers"] == expected["answers"]
    assert facts["bytes_read"]["main"] == expected["bytes_read"]["main"]
    results = [(a["id"], a["ok"], a["result_bytes"]) for a in expected["actions"]]
    assert [(a["id"], a["ok"], a["result_bytes"]) for a in facts["actions"]] == results


@extractor
@given(NATIVE, st.randoms(use_true_random=False))
def test_the_order_of_independent_lines_changes_no_total(name: str, random: Any) -> None:
    """Lines of one message keep their order (the last one counts); everything else may come in any."""
    lines = FILES[name].splitlines(keepends=True)
    expected = totals(read(lines))
    messages: dict[str, list[bytes]] = {}
    slots: list[bytes | str] = []
    for line in lines:
        record = json.loads(line)
        id = record.get("message", {}).get("id") if record["type"] == "assistant" else None
        if id is None:
            slots.append(line)
        else:
            messages.setdefault(id, []).append(line)
            slots.append(id)
    random.shuffle(slots)
    shuffled = [messages[slot].pop(0) if isinstance(slot, str) else slot for slot in slots]
    assert totals(read(shuffled)) == expected


@extractor
@given(ANY, st.data())
def test_unknown_types_and_fields_change_no_total(name: str, data: st.DataObject) -> None:
    content = FILES[name]
    records = [json.loads(line) for line in content.splitlines()]
    expected = totals(read(content.splitlines(keepends=True)))
    strange = st.dictionaries(st.text(min_size=1, max_size=6).map(lambda t: f"x-{t}"), VALUES, max_size=3)
    for record in records:
        if data.draw(st.integers(0, 9)) == 0:
            record.update(data.draw(strange))
            if isinstance(record.get("message"), dict):
                record["message"].update(data.draw(strange))
    for _ in range(data.draw(st.integers(0, 6))):
        unknown = {**data.draw(strange), "type": data.draw(st.sampled_from(("x-new", "event", "note")))}
        records.insert(data.draw(st.integers(1, len(records))), unknown)
    lines = [json.dumps(record).encode() + b"\n" for record in records]
    assert totals(read(lines)) == expected


def spoil(value: Any, data: st.DataObject) -> None:
    """Put anything in the place of something somewhere in a record, or take it out."""
    while True:
        keys = sorted(value) if isinstance(value, dict) else range(len(value))
        key = data.draw(st.sampled_from(keys))
        if isinstance(value[key], dict | list) and value[key] and data.draw(st.integers(0, 3)):
            value = value[key]
            continue
        if data.draw(st.integers(0, 3)) == 0:
            del value[key]
        else:
            value[key] = data.draw(VALUES)
        return


@extractor
@given(NATIVE, st.data())
def test_a_usual_line_tells_what_all_of_it_tells(name: str, data: st.DataObject) -> None:
    """Lines after the first action are decoded as far as they matter; parsed as a whole they tell the same."""
    records = [json.loads(line) for line in FILES[name].splitlines()]
    for _ in range(data.draw(st.integers(1, 12))):
        spoil(data.draw(st.sampled_from([record for record in records if record])), data)
    compact = data.draw(st.booleans())
    separators = (",", ":") if compact else (", ", ": ")
    lines = [json.dumps(r, ensure_ascii=not compact, separators=separators) for r in records]
    encoded = [line.encode("utf-8", "replace") + b"\n" for line in lines]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(messages, "usual", lambda line: None)
        patch.setattr(messages, "kind", lambda line: "")
        expected = tell(encoded)
    assert tell(encoded) == expected


def tell(lines: list[bytes]) -> str:
    try:
        return json.dumps(read(lines))
    except Fault as fault:
        return str(fault)


BLOCKS = st.sampled_from((said("a"), {"type": "thinking", "thinking": "", "signature": "x"}, call("t", "Bash", {})))


@extractor
@given(st.lists(st.tuples(st.integers(0, 5), BLOCKS, st.integers(1, 900)), min_size=1, max_size=25), st.booleans())
def test_output_is_the_sum_over_ids_of_each_ids_last_line(lines: list[tuple[int, Any, int]], compact: bool) -> None:
    """Against a dictionary, on the shapes that are usual and on those that are parsed as a whole."""
    rows: list[bytes] = []
    last: dict[int, int] = {}
    for i, (message, block, output) in enumerate(lines):
        last[message] = output
        record = {
            "parentUuid": None,
            "isSidechain": False,
            "message": {
                "model": "m",
                "id": f"msg_{message}",
                "type": "message",
                "role": "assistant",
                "content": [block],
                "stop_reason": None,
                "usage": usage(output),
            },
            "type": "assistant",
            "uuid": f"u{i}",
            "sessionId": "s",
            "version": "2.1.332",
        }
        separators = (",", ":") if compact else (", ", ": ")
        rows.append(json.dumps(record, separators=separators).encode() + b"\n")
    facts = read(rows)
    assert facts["tokens"]["main"]["output"] == sum(last.values())
    assert facts["tokens"]["messages"]["main"] == len(last)
