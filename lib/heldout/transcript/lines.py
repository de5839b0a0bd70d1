"""Reading a file of JSON lines whatever its bytes: one line at a time, damage counted and reported, never fatal."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, BinaryIO

import orjson

from heldout.transcript.bounds import BAD_LINES, OVERSIZED
from heldout.transcript.mend import Record, mend

PIECE = 1 << 20  # bytes read at once of a line
_END = ord("\n")


@dataclass
class Tally:
    """What was read, over all files of a family. `bad` describes the first bad lines."""

    lines: int = 0
    bytes: int = 0
    bad_lines: int = 0
    recovered: int = 0
    oversized: int = 0
    truncated: bool = False
    bad: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def spoilt(self, name: str, line: int, why: str) -> None:
        self.bad_lines += 1
        if len(self.bad) < BAD_LINES:
            self.bad.append({"file": name, "line": line, "why": why})


class Oversized(bytes):
    """The beginning of a line of at least OVERSIZED bytes. `passed`: the bytes that follow it on its line."""

    passed: int


def of_stream(stream: BinaryIO) -> Iterator[bytes]:
    """The lines of a binary stream with their ends, and an Oversized for each that is too long to be kept."""
    for line in iter(partial(stream.readline, PIECE), b""):
        yield line if len(line) < PIECE or line[-1] == _END else _long(line, stream)


def _long(start: bytes, stream: BinaryIO) -> bytes:
    """The line that begins with `start`. Where the stream can go back, its length is taken before it is kept."""
    here = stream.tell() if stream.seekable() else None
    pieces = [start]
    size = len(start)
    for piece in _rest(stream):
        size += len(piece)
        if here is None and size < OVERSIZED:
            pieces.append(piece)
    if size >= OVERSIZED:
        found = Oversized(start)
        found.passed = size - len(start)
        return found
    if here is not None:
        stream.seek(here)
        pieces.append(stream.readline())
    return b"".join(pieces)


def _rest(stream: BinaryIO) -> Iterator[bytes]:
    """What is left of the present line, in pieces."""
    piece = b""
    while piece[-1:] != b"\n" and (piece := stream.readline(PIECE)):
        yield piece


def is_oversized(line: bytes) -> bool:
    return len(line) >= OVERSIZED or isinstance(line, Oversized)


def read(
    lines: Iterable[bytes],
    name: str,
    tally: Tally,
    feed: Callable[[bytes, int], None],
    take: Callable[[Record, int, bytes], None],
) -> None:
    """Feed each line (with its number) to `feed`; records mended from a line that does not parse go to `take`."""
    number = size = cut_off = 0
    line = b""
    for number, line in enumerate(lines, 1):
        length = len(line)
        size += length
        if length >= PIECE and is_oversized(line):
            tally.oversized += 1
            size += line.passed if isinstance(line, Oversized) else 0
            continue
        try:
            feed(line, number)
        except (orjson.JSONDecodeError, RecursionError):
            if damaged(line, number, name, tally, take):
                cut_off = number
    tally.lines += number
    tally.bytes += size
    if cut_off and cut_off == number and line[-1:] != b"\n":
        tally.truncated = True


def damaged(line: bytes, number: int, name: str, tally: Tally, take: Callable[[Record, int, bytes], None]) -> bool:
    """Save what can be saved of a line; true if it may end in a record that was cut off."""
    if not line.strip(b" \t\r\n"):
        return False
    records = mend(line)
    tally.recovered += len(records)
    blank = not line.strip(b"\0 \t\r\n")
    why = "only NUL bytes" if blank else f"{len(records)} records on one line" if records else "not JSON"
    tally.spoilt(name, number, why)
    for record in records:
        take(record, number, line)
    return not (records and line.rstrip(b"\0 \t\r\n").endswith(b"}"))
