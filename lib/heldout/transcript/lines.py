"""Reading a file of JSON lines whatever its bytes: one line at a time, damage counted and reported, never fatal."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, BinaryIO

import orjson

from heldout.transcript.bounds import BAD_LINES, OVERSIZED
from heldout.transcript.mend import Record, mend


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


class Source:
    """The lines of a binary stream with their ends; of an oversized line only its first OVERSIZED bytes come."""

    def __init__(self, stream: BinaryIO) -> None:
        self.stream = stream
        self.lines: Iterator[bytes] = iter(partial(stream.readline, OVERSIZED), b"")

    def pass_over(self) -> int:
        """Read up to the end of the present line without keeping it; returns the bytes passed over."""
        size = 0
        while rest := self.stream.readline(1 << 20):
            size += len(rest)
            if rest[-1] == 0x0A:
                break
        return size


def read(
    lines: Iterable[bytes],
    source: Source | None,
    name: str,
    tally: Tally,
    feed: Callable[[bytes, int], None],
    take: Callable[[Record, int, bytes], None],
) -> None:
    """Feed each line (with its number) to `feed`; records mended from a line that does not parse go to `take`.

    `source`: where the lines come from, if that is a stream of which an oversized line's rest is still to be read.
    """
    number = size = cut_off = 0
    line = b""
    for number, line in enumerate(lines, 1):
        length = len(line)
        size += length
        if length >= OVERSIZED:
            tally.oversized += 1
            if source is not None and line[-1] != 0x0A:
                size += source.pass_over()
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
