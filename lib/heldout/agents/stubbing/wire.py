"""Messages of the API as they travel: JSON, and the server-sent events that the client reads when it streams.

Order of events: message_start, for each block content_block_start, its deltas and content_block_stop, then
message_delta with the stop reason, message_stop. As with the real API the usage of the start has one output token
and that of message_delta is final. The client needs the `event:` lines and each content_block_stop.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

Json = dict[str, Any]
_SIGNATURE = "c3R1Yg=="  # any base64: nobody verifies it


@dataclass(frozen=True)
class Answer:
    """One assistant message to be sent. `blocks` are content blocks of the API, thinking ones without signature.

    cut     end the connection after so many whole blocks, within the next one; None: do not
    pause   seconds before every event
    """

    id: str
    model: str
    blocks: tuple[Json, ...]
    stop_reason: str
    usage: Mapping[str, int]
    request_id: str
    cut: int | None = None
    pause: float = 0.0


@dataclass(frozen=True)
class Problem:
    """An error of the API: HTTP status, type and message of its error object, seconds for `retry-after` ("": none)."""

    status: int
    type: str
    message: str
    retry_after: str = ""

    def body(self) -> bytes:
        return orjson.dumps({"type": "error", "error": {"type": self.type, "message": self.message}})


def text_of(content: Any) -> str:
    """The text blocks of a message's content, joined and stripped; the client trims what it sends back."""
    if isinstance(content, str):
        return content.strip()
    return "".join(block["text"] for block in content if block.get("type") == "text").strip()


def body(answer: Answer) -> bytes:
    """The whole message, for a request that does not stream."""
    content = [{**block, "signature": _SIGNATURE} if block["type"] == "thinking" else block for block in answer.blocks]
    final = {"content": content, "stop_reason": answer.stop_reason, "usage": dict(answer.usage)}
    return orjson.dumps({**_frame(answer), **final})


def events(answer: Answer) -> Iterator[bytes]:
    """The events of the message, in order; those of a cut one end after the first half of a block, if one is left."""
    yield _event("message_start", message=_frame(answer))
    for index, block in enumerate(answer.blocks):
        begun, deltas = _parts(block)
        ends = answer.cut is not None and index >= answer.cut
        yield _event("content_block_start", index=index, content_block=begun)
        for delta in deltas[:1] if ends else deltas:
            yield _event("content_block_delta", index=index, delta=delta)
        if ends:
            return
        yield _event("content_block_stop", index=index)
    if answer.cut is None:
        stop = {"stop_reason": answer.stop_reason, "stop_sequence": None}
        yield _event("message_delta", delta=stop, usage=dict(answer.usage))
        yield _event("message_stop")


def halves(text: str) -> tuple[str, str]:
    middle = len(text) // 2
    return text[:middle], text[middle:]


def _frame(answer: Answer) -> Json:
    message: Json = {"id": answer.id, "type": "message", "role": "assistant", "model": answer.model, "content": []}
    return {**message, "stop_reason": None, "stop_sequence": None, "usage": {**answer.usage, "output_tokens": 1}}


def _parts(block: Json) -> tuple[Json, list[Json]]:
    """A block as it begins, and the deltas that fill it: the halves of what it carries."""
    if block["type"] == "tool_use":
        raw = orjson.dumps(block["input"]).decode()
        return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": half} for half in halves(raw)]
    kind = block["type"]
    deltas: list[Json] = [{"type": f"{kind}_delta", kind: half} for half in halves(block[kind])]
    if kind == "text":
        return {"type": kind, "text": ""}, deltas
    return {"type": kind, kind: "", "signature": ""}, [*deltas, {"type": "signature_delta", "signature": _SIGNATURE}]


def _event(kind: str, **fields: Any) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (kind.encode(), orjson.dumps({"type": kind, **fields}))
