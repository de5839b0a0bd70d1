"""Mending lines that are not one JSON record: NUL runs, doubled records, half records, bad UTF-8, lone surrogates."""

import json
import re
from typing import Any

import orjson

from heldout.transcript.bounds import HUGE, HUGE_STRING

Record = dict[str, Any]

# Where the next record may begin on a line whose first record was cut off: the client writes one of these keys first.
_BEGINS = re.compile(r'\{"(?:parentUuid|type|uuid|duration_api_ms|isSidechain)":')
_BLANKS = " \t\r\n"
_HOLDERS = 8  # of these are looked into to their ends
_COPIES = re.compile(r'"type":\s*"progress"')
_CUT_OFF = 64  # records cut off on one line, after which the rest of it is given up
_LITERAL = re.compile(r'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
# Keys of which a real record has at least one: a content block ({"type": "text", …}) has none of them.
_IDENTITY = ("uuid", "sessionId", "session_id", "leafUuid", "messageId", "parentUuid")
# An escaped backslash is consumed first, then whole surrogate pairs; what is left of \uD800–\uDFFF stands alone.
_SURROGATE = re.compile(
    rb"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_LONG_ESCAPE = re.compile(rb"\\\\|\\u([0-9a-fA-F]{4})")  # an escaped backslash is consumed first
_PADDING = b"\0 \t\r\n\xef\xbb\xbf"


def _int(digits: str) -> int | float:
    """As orjson does, so that what is mended can be written: beyond 64 bits a float."""
    number = float(digits)
    return int(digits) if abs(number) < 2**63 else number


_DECODER = json.JSONDecoder(parse_int=_int, parse_constant=lambda name: None)


def mend(line: bytes) -> list[Record]:
    """The whole records of a line that did not parse, in order; empty where nothing could be saved."""
    text = line.strip(_PADDING)
    if not text or len(text) > HUGE:
        return []
    text = _SURROGATE.sub(_replace_lone, text)
    try:
        record = orjson.loads(text.decode("utf-8", "replace"))
    except (orjson.JSONDecodeError, RecursionError):
        return _several(text.decode("utf-8", "replace"))
    return [record] if isinstance(record, dict) else []


def _replace_lone(match: re.Match[bytes]) -> bytes:
    found = match[0]
    return rb"\ufffd" if len(found) == 6 else found


def _several(text: str) -> list[Record]:
    """Records that share a line: each complete object that looks like one, skipping cut-off ones between them."""
    found: list[Record] = []
    at, cut_off = text.find("{"), 0
    while at >= 0 and cut_off < _CUT_OFF:
        record, end = _object(text, at)
        if end < 0:
            cut_off += 1
            at = _behind(text, at)
            continue
        if isinstance(record, dict) and isinstance(record.get("type"), str) and any(k in record for k in _IDENTITY):
            found.append(record)
        at = text.find("{", end)
    return found


def _object(text: str, at: int) -> tuple[Any, int]:
    """What begins at `at`, and where it ends: -1 where it is cut off."""
    try:
        return _DECODER.raw_decode(text, at)
    except (ValueError, RecursionError):
        return None, -1


def _behind(text: str, start: int) -> int:
    """Where the next record begins behind one that begins at `start` and was cut off; -1 where there is none.

    A part of a record that was cut off is none of its own: an object that stands where a value may stand, outside a
    string, belongs to it. But lines begin with their parent, their parts do not; and what ends with the line, or before
    another record, is no part, except in the lines that hold copies of records (trap 6d).
    """
    literals = _LITERAL.finditer(text, start)
    literal = next(literals, None)
    copies = _COPIES.search(text, start)
    holders = 0  # objects that hold the place of the cut
    for begins in _BEGINS.finditer(text, start + 1):
        at = begins.start()
        while literal is not None and literal.end() <= at:
            literal = next(literals, None)
        inside = literal is not None and literal.start() < at
        before = text[max(start, at - 20) : at].rstrip(_BLANKS)
        if inside or not before.endswith((":", ",", "[")) or begins[0].startswith('{"parentUuid"'):
            return at
        if holders < _HOLDERS and not (copies and copies.start() < at):
            _, end = _object(text, at)
            holders += end < 0
            if end >= 0 and text[end : end + 20].lstrip(_BLANKS)[:1] in ("", "{"):
                return at
    return -1


def shorten(line: bytes, lengths: dict[str, int]) -> bytes:
    """A huge line with its long strings cut, so that parsing it needs little memory.

    `lengths` gets, for each cut string as it will be parsed, the UTF-8 bytes of the whole one. A cut string ends in a
    mark with its number, since two may begin alike.
    """
    parts: list[bytes] = []
    last = 0
    for match in _STRING.finditer(line):
        start, end = match.span()
        if end - start <= HUGE_STRING:
            continue
        kept, parsed = _head(line, start)
        if parsed is None:
            continue
        whole = _decoded_bytes(line, start + 1, end - 1)
        mark = f" […{whole} bytes, {len(lengths) + 1}]"
        lengths[parsed + mark] = whole
        parts += (line[last:start], kept[:-1], mark.encode(), b'"')
        last = end
    return b"".join((*parts, line[last:])) if parts else line


def _head(line: bytes, start: int) -> tuple[bytes, str | None]:
    """The first HUGE_STRING bytes of the string literal at `start`, and what they parse to.

    A cut may fall into a UTF-8 sequence, an escape or a surrogate pair; a few bytes less then make a string again.
    """
    kept = b""
    for stop in range(start + 1 + HUGE_STRING, start + HUGE_STRING - 16, -1):
        kept = line[start:stop] + b'"'
        try:
            return kept, orjson.loads(kept)
        except orjson.JSONDecodeError:
            continue
    return kept, None


def _decoded_bytes(line: bytes, start: int, end: int) -> int:
    """UTF-8 bytes of the string literal between the quotes at start - 1 and end (RFC 8259 escapes)."""
    # In a run of backslashes each pair is one escape, and a single one left over begins another.
    size = end - start - line.count(b"\\", start, end) + line.count(b"\\\\", start, end)
    if line.find(b"\\u", start, end) >= 0:
        for escape in _LONG_ESCAPE.finditer(line, start, end):
            if escape[1] is not None:
                point = int(escape[1], 16)
                # Six bytes, one of them subtracted above, stand for one to three; half a pair for two of its four.
                size -= 4 if point < 0x80 else 3 if point < 0x800 or 0xD800 <= point < 0xE000 else 2
    return size
