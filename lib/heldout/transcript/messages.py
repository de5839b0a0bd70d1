"""Messages as the handlers take them: decoded from the bytes of a usual line, or taken from a record of any shape.

Most of a line is content that no fact rests on, and building objects is what parsing costs. The typed decoder builds
only what is asked for; of the rest it checks that it is JSON, but not that its text is UTF-8 or its numbers are in
range. A line that it refuses is parsed as a whole, and `of_record` takes from it what has the right type.
"""

import hashlib
from typing import Any, cast

import msgspec
import orjson

from heldout.transcript.bounds import HUGE, STRING, bounded
from heldout.transcript.mend import Record
from heldout.transcript.tokens import Usage

_NOTHING = msgspec.Raw()


class Part(msgspec.Struct, gc=False):
    """A block of a tool result."""

    type: str = ""
    text: str | None = None


class Block(msgspec.Struct, gc=False):
    """A content block: text; tool_use with id, name and input; tool_result with tool_use_id, content and is_error."""

    type: str = ""
    text: str | None = None
    id: str | None = None
    name: str | None = None
    input: msgspec.Raw = _NOTHING
    tool_use_id: str | None = None
    content: str | list[Part] | None = None
    is_error: bool | None = None

    def given(self) -> Record:
        """The input of a call, {} where it is no object; raises JSONDecodeError where it is damaged."""
        value: Any = self.input
        if type(value) is msgspec.Raw:
            value = orjson.loads(memoryview(value)) if value is not _NOTHING else None
        return value if type(value) is dict else {}

    def texts(self) -> list[str]:
        """The text of a tool result: its content where that is a string, or the texts of its parts (trap 12)."""
        if type(self.content) is str:
            return [self.content]
        parts = self.content or ()
        return [p.text for p in parts if type(p) is Part and p.type == "text" and p.text is not None]


class Message(msgspec.Struct, gc=False):
    """What was said in a turn; of a prompt only the content is given."""

    id: str | None = None
    model: str | None = None
    content: str | list[Block] | None = None
    stop_reason: str | None = None
    usage: Usage | None = None

    def blocks(self) -> list[Block]:
        return self.content if type(self.content) is list else []

    def texts(self) -> list[str]:
        """The texts of its text blocks; the content where that is a string."""
        if type(self.content) is str:
            return [self.content]
        return [block.text for block in self.blocks() if block.type == "text" and block.text is not None]


class Kind(msgspec.Struct, gc=False):
    """What a line, an attachment or a piece of progress is about."""

    type: str = ""


class Line(msgspec.Struct, gc=False):
    """A line of a native transcript: of a turn what the facts need, of others enough to tell whether they matter."""

    type: str
    message: Message | None = None
    version: str | None = None
    isSidechain: bool = False
    isMeta: bool = False
    isCompactSummary: bool = False
    attributionSkill: str | None = None
    toolDenialKind: str | None = None
    toolUseResult: msgspec.Raw = _NOTHING
    attachment: Kind | None = None
    data: Kind | None = None
    parentToolUseID: str | None = None

    def failed(self) -> bool:
        """Whether toolUseResult is a string, which it is where a call failed (trap 8)."""
        return memoryview(self.toolUseResult)[:1] == b'"'


class Event(msgspec.Struct, gc=False):
    """An event of stream-json, as far as it takes to tell whether it says something new."""

    type: str
    subtype: str | None = None
    message: Message | None = None
    parent_tool_use_id: str | None = None
    agent_id: str | None = None


_line = msgspec.json.Decoder(Line).decode
_kind = msgspec.json.Decoder(Kind).decode
_event = msgspec.json.Decoder(Event).decode


def usual(line: bytes) -> Line | None:
    """The line where it has the usual shape, else None; lines of more than HUGE bytes are not usual."""
    try:
        return _line(line) if len(line) <= HUGE else None
    except (ValueError, RecursionError):  # the decoder's errors are ValueErrors
        return None


def kind(line: bytes) -> str:
    """The type of a line where it is a record that has one, else ''."""
    try:
        return _kind(line).type
    except (ValueError, RecursionError):
        return ""


def event(line: bytes) -> Event | None:
    """The event of a line of stream-json where it has the usual shape, else None."""
    try:
        return _event(line) if len(line) <= HUGE else None
    except (ValueError, RecursionError):
        return None


def fingerprint(value: Any) -> str:
    """A name for what has no id: the same for a copy, in every process."""
    return hashlib.blake2b(orjson.dumps(bounded(value, STRING, {})), digest_size=8).hexdigest()


def of_record(record: Record) -> Message:
    """The message of a record of any shape; what has not the type it should have is as good as missing."""
    return Message(
        id=_text(record.get("id")),
        model=_text(record.get("model")),
        content=_content(record.get("content")),
        stop_reason=_text(record.get("stop_reason")),
        usage=Usage.of(record.get("usage")),
    )


def texts(content: Any) -> list[str]:
    """The texts of a content of any shape, as `Block.texts`."""
    return Block(content=_parts(content)).texts()


def _content(content: Any) -> str | list[Block] | None:
    if type(content) is str:
        return content
    if type(content) is dict:
        content = [content]
    if type(content) is not list:
        return None
    found = [_block(item) for item in cast("list[Any]", content)]
    return [block for block in found if block is not None]


def _block(item: Any) -> Block | None:
    if type(item) is str:
        return Block(type="text", text=item)
    if type(item) is not dict:
        return None
    block = cast("Record", item)
    return Block(
        type=_text(block.get("type")) or "",
        text=_text(block.get("text")),
        id=_text(block.get("id")),
        name=_text(block.get("name")),
        input=cast("msgspec.Raw", block.get("input", _NOTHING)),
        tool_use_id=_text(block.get("tool_use_id")),
        content=_parts(block.get("content")),
        is_error=block.get("is_error") is True,
    )


def _parts(content: Any) -> str | list[Part] | None:
    if type(content) is dict:
        content = [content]
    if type(content) is not list:
        return _text(content)
    found: list[Part] = []
    for item in cast("list[Any]", content):
        if type(item) is str:
            found.append(Part("text", item))
        elif type(item) is dict:
            found.append(Part(_text(item.get("type")) or "", _text(item.get("text"))))
    return found


def _text(value: Any) -> str | None:
    return value if type(value) is str else None
