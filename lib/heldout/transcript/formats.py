"""Telling which program wrote a file of JSON lines, and refusing by name what is no Claude Code transcript."""

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path

import orjson

from heldout.errors import Fault
from heldout.transcript.bounds import HUGE, OVERSIZED
from heldout.transcript.lines import is_oversized, of_stream
from heldout.transcript.mend import Record, mend

NATIVE, STREAM = "native", "stream-json"

_HEAD = 200  # lines looked at; a session file that begins with more damage than this is no transcript
_STREAM_ONLY = {"stream_event", "control_request", "control_response", "keep_alive", "rate_limit_event"}
_NATIVE_ONLY = {
    "ai-title", "agent-name", "api-request", "api-request-blob", "api-request-shape", "atis-latch", "attachment",
    "bridge-session", "cost-state", "custom-title", "file-history-delta", "file-history-snapshot", "fork-context-ref",
    "last-prompt", "mode", "permission-mode", "pr-link", "progress", "queue-operation", "summary", "tools-used",
}  # fmt: skip
_BLANK = "\0\ufeff \t\r\n"
_NOTHING = b"\0 \t\r\n"  # a line of these alone has nothing on it
_CODEX = {"session_meta", "response_item", "event_msg", "turn_context", "compacted"}


def classify(record: Record) -> tuple[str | None, str]:
    """(NATIVE | STREAM, ""), (None, name of the program that wrote it), or (None, "") for a record of no known kind."""
    kind = record.get("type")
    kind = kind if isinstance(kind, str) else None
    if kind in _CODEX and "payload" in record:
        return None, "Codex rollout"
    if "record_type" in record and "id" in record:
        return None, "Codex rollout"
    if "projectHash" in record:
        return None, "Gemini CLI session"
    if kind == "init" and "session_id" in record:
        return None, "Gemini CLI stream"
    if kind in ("started", "result") and "key" in record and "agentId" in record:
        return None, "workflow journal"
    if kind is None:
        return None, ""
    if kind in _STREAM_ONLY or (kind == "result" and ("subtype" in record or "is_error" in record)):
        return STREAM, ""
    if kind in _NATIVE_ONLY:
        return NATIVE, ""
    if kind in ("assistant", "user", "system"):
        return (NATIVE if _is_native(record, kind) else STREAM), ""
    return None, ""


def _is_native(record: Record, kind: str) -> bool:
    if "parentUuid" in record or "sessionId" in record or "isSidechain" in record:
        return True
    # Native lines of some versions carry session_id as well, but always one of the keys above.
    return not ("parent_tool_use_id" in record or "session_id" in record or kind == "system")


def of_file(path: Path) -> str:
    """The format of a file; Fault as `sniff`, OSError where it cannot be opened."""
    with path.open("rb") as file:
        return sniff(of_stream(file))[0]


def sniff(lines: Iterable[bytes]) -> tuple[str, Iterable[bytes]]:
    """The format of the lines and the lines again; Fault where they are empty or no transcript."""
    source = iter(lines)
    head: list[bytes] = []
    blank = True
    for line in islice(source, _HEAD):
        head.append(line)
        if is_oversized(line):
            raise Fault(
                "unreadable-transcript",
                f"line {len(head)} has more than {OVERSIZED >> 20} MB and no record precedes it",
            )
        if not line.strip(_NOTHING):
            continue
        blank = False
        for record in records(line):
            found, other = classify(record)
            if other:
                raise Fault("unreadable-transcript", f"{other}, not a Claude Code transcript")
            if found:
                return found, chain(head, source)
    if blank:
        _refuse_blank(head, source)
    return _document(head, source)


def _refuse_blank(head: list[bytes], source: Iterator[bytes]) -> None:
    """Fault for a file without content; returns where content may still follow."""
    if any(line.strip(_NOTHING) for line in source):
        raise Fault("unreadable-transcript", f"the first {_HEAD} lines hold no record")
    if not any(head):
        raise Fault("empty-transcript", "0 bytes")
    if any(b"\0" in line for line in head):
        raise Fault("unreadable-transcript", "only NUL bytes")
    raise Fault("empty-transcript", "no record, only blank lines")


def records(line: bytes) -> list[Record]:
    """The records of a line, mended where it is damaged; none of one that is too long to be parsed whole."""
    try:
        value = orjson.loads(line) if len(line) < HUGE else None
    except (orjson.JSONDecodeError, RecursionError):
        return mend(line)
    values = value if isinstance(value, list) else [value]
    return [v for v in values if isinstance(v, dict)]


def _document(head: list[bytes], source: Iterator[bytes]) -> tuple[str, Iterable[bytes]]:
    """A file of JSON over several lines: the output of `--output-format json`, records that were made readable by a
    formatter, or another program's. A record is a line then, and what follows the last whole one is one more.
    """
    size = 0
    text: list[bytes] = []
    for line in chain(head, source):
        size += len(line)
        if size > HUGE:
            break
        text.append(line)
    whole, rest = _values(b"".join(text).decode("utf-8", "replace")) if size <= HUGE else ([], "")
    for record, _ in whole:
        found, other = classify(record)
        if other:
            raise Fault("unreadable-transcript", f"{other}, not a Claude Code transcript")
        if found:
            return found, [line.encode() for line in (*(f"{line}\n" for _, line in whole), rest) if line]
    if whole or any(records(line) for line in head):
        raise Fault("unreadable-transcript", "no record of a Claude Code transcript in it")
    raise Fault("unreadable-transcript", _unparsed(head, size))


def _values(text: str) -> tuple[list[tuple[Record, str]], str]:
    """The records that a text begins with, in arrays or not, each also on one line; and the text that follows them."""
    decoder = json.JSONDecoder()
    found: list[tuple[Record, str]] = []
    text = text.strip(_BLANK)
    at = 0
    with suppress(ValueError, RecursionError):
        while at < len(text):
            value, end = decoder.raw_decode(text, at)
            values = value if isinstance(value, list) else [value]
            found += [(item, json.dumps(item)) for item in values if isinstance(item, dict)]
            at = next((place for place in range(end, len(text)) if text[place] not in _BLANK), len(text))
    return found, text[at:]


def _unparsed(head: list[bytes], size: int) -> str:
    first = next(line for line in head if line.strip(_NOTHING))  # there is one, or the lines would be blank
    if first.strip(b"\xef\xbb\xbf \t\r\n") not in (b"{", b"["):
        return f"none of its first {len(head)} lines is JSON"
    if size > HUGE:
        return f"more than {HUGE >> 20} MB of JSON over several lines; write one record a line, as 'jq -c .' does"
    return "JSON over several lines, damaged or cut off in its first record"
