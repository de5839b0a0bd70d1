"""Token sums: one entry an API response, whatever number of lines and files repeat it.

One response is one line per content block, each with the same `message.id` and usage (formats trap 1; reports 1, 2,
10). The last line of an id has the final output count (trap 2; reports 3, 4, 13). A subagent's or a fork's file may
repeat lines of its parent, so ids are unique over the whole family and belong to the file read first (reports 18-20).
"""

import struct
from dataclasses import dataclass
from typing import Annotated, Any

import msgspec

FIELDS = ("input", "cache_creation", "cache_read", "output")

# An entry is a few bytes, because a 1 GB transcript has some 100,000 of them: four counts, then the owner's number with
# two marks below it.
_ENTRY = struct.Struct("<5I")
_LAST = struct.Struct("<I")
_KNOWN, _FINISHED, _OWNER = 1, 2, 2  # usage was given; the message has a stop reason; bits that the owner is shifted by
_MOST = (1 << 32) - 1


@dataclass
class Sum:
    """Tokens of one agent. `known` counts the messages that carried usage, `unfinished` those without a stop reason."""

    messages: int = 0
    known: int = 0
    unfinished: int = 0
    input: int = 0
    cache_creation: int = 0
    cache_read: int = 0
    output: int = 0

    def add(self, other: "Sum") -> None:
        for name in vars(self):
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def counts(self) -> dict[str, int | None]:
        """The four counts; unknown, not 0, where messages were seen but none said what it used (report 23)."""
        if self.messages and not self.known:
            return dict.fromkeys(FIELDS)
        return {name: getattr(self, name) for name in FIELDS}


def whole(value: Any) -> int:
    """A count: a whole number, also one written with a fraction of 0; 0 for anything else."""
    if type(value) is float and value.is_integer():
        value = int(value)
    return value if type(value) is int and 0 <= value <= _MOST else 0


_Count = Annotated[int, msgspec.Meta(ge=0, le=_MOST)]


class Usage(msgspec.Struct, gc=False):
    """The usage that a line gives of its message: tokens, all four counts."""

    input_tokens: _Count
    cache_creation_input_tokens: _Count
    cache_read_input_tokens: _Count
    output_tokens: _Count

    @staticmethod
    def of(record: Any) -> "Usage | None":
        """The usage in a record of any shape: other counts than whole numbers are 0; None without output tokens."""
        if type(record) is not dict or type(record.get("output_tokens")) not in (int, float):
            return None
        return Usage(*(whole(record.get(name)) for name in Usage.__struct_fields__))


class Ledger:
    """Usage by message id. Owners are small numbers: 0 is the main loop."""

    def __init__(self) -> None:
        self.entries: dict[str | int, bytes] = {}

    def add(self, key: str | int, owner: int, usage: Usage | None, finished: bool) -> bool:
        """Note the usage of a line of message `key`; the last line wins. True where the message is new."""
        before = self.entries.get(key)
        if before is not None:
            owner = _LAST.unpack_from(before, 16)[0] >> _OWNER
        marks = owner << _OWNER | (_FINISHED if finished else 0)
        if usage is not None:
            self.entries[key] = _ENTRY.pack(
                usage.input_tokens,
                usage.cache_creation_input_tokens,
                usage.cache_read_input_tokens,
                usage.output_tokens,
                marks | _KNOWN,
            )
        elif before is None:
            self.entries[key] = _ENTRY.pack(0, 0, 0, 0, marks)
        else:  # what was known stays
            self.entries[key] = before[:16] + _LAST.pack(marks | before[16] & _KNOWN)
        return before is None

    def __contains__(self, key: str | int) -> bool:
        return key in self.entries

    def sums(self) -> dict[int, Sum]:
        """The sum of each owner that has a message."""
        result: dict[int, Sum] = {}
        for entry in self.entries.values():
            a, b, c, d, marks = _ENTRY.unpack(entry)
            total = result.get(marks >> _OWNER)
            if total is None:
                total = result[marks >> _OWNER] = Sum()
            total.messages += 1
            total.known += marks & _KNOWN
            total.unfinished += not marks & _FINISHED
            total.input += a
            total.cache_creation += b
            total.cache_read += c
            total.output += d
        return result


def cli_total(usage: Any) -> dict[str, int] | None:
    """The client's own totals over all models, from a `modelUsage` object; None where there is none."""
    if type(usage) is not dict:
        return None
    models = [m for m in usage.values() if type(m) is dict]
    keys = ("inputTokens", "cacheCreationInputTokens", "cacheReadInputTokens", "outputTokens")
    return {name: sum(whole(m.get(key)) for m in models) for name, key in zip(FIELDS, keys, strict=True)}


def placeholder_version(version: str) -> bool:
    """Whether a client of this version stored placeholders as output tokens: 2.1.12 to 2.1.42 (trap 3, report 8)."""
    parts = version.split(".")
    try:
        return parts[:2] == ["2", "1"] and 12 <= int(parts[2].split("-")[0]) <= 42
    except (IndexError, ValueError):
        return False
