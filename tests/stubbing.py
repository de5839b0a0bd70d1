"""Asking a stub of the Messages API as the client does, and putting its answers together."""

import http.client
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from heldout.agents import script
from heldout.agents.stub import Stub

Json = dict[str, Any]
PLACES = {"sandbox": "/sandbox", "cwd": "/sandbox/project", "home": "/home", "plugin:demo": "/plugins/demo"}
SID = "11111111-2222-4333-8444-555555555555"
MODEL = "claude-sonnet-5-5"
TASK: Json = {"role": "user", "content": [{"type": "text", "text": "Do the work."}]}
REMINDER: Json = {"role": "user", "content": [{"type": "text", "text": "<system-reminder>\n…\n</system-reminder>"}]}


def bash(word: str) -> Json:
    return {"Bash": {"command": f"echo {word}"}}


TURNS = [
    {
        "think": "where?",
        "text": "I look at {cwd}.",
        "calls": [bash("{model}"), bash("{plugin:demo} {x}")],
        "output": 77,
    },
    {"text": "In between.", "calls": [bash("two")]},
    {"text": "All is said.\n"},
]


@dataclass
class Answered:
    """An HTTP answer; the events of a stream, `broken` where the connection ended before the body did."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    broken: bool

    @property
    def json(self) -> Json:
        return json.loads(self.body)

    @property
    def error(self) -> Json:
        assert self.json["type"] == "error"
        return self.json["error"]

    @property
    def events(self) -> list[Json]:
        found: list[Json] = []
        for item in self.body.decode().removesuffix("\n\n").split("\n\n"):
            head, data = item.split("\n")
            event = json.loads(data.removeprefix("data: "))
            assert head == f"event: {event['type']}"
            found.append(event)
        return found

    @property
    def message(self) -> Json:
        """The message put together from its events as the client does it; fails where their order is not the API's."""
        events = iter(self.events)
        first = next(events)
        assert first["type"] == "message_start"
        message = first["message"]
        assert (message["content"], message["stop_reason"], message["usage"]["output_tokens"]) == ([], None, 1)
        for event in events:
            if event["type"] == "message_delta":
                message |= event["delta"]
                message["usage"] |= event["usage"]
                assert next(events) == {"type": "message_stop"}
                assert next(events, None) is None
                return message
            assert (event["type"], event["index"]) == ("content_block_start", len(message["content"]))
            message["content"].append(_block(event["content_block"], event["index"], events))
        raise AssertionError("the message has no end")


def _block(block: Json, index: int, events: Iterator[Json]) -> Json:
    partial = ""
    for event in events:
        assert event["index"] == index
        if event["type"] == "content_block_stop":
            return {**block, "input": json.loads(partial)} if block["type"] == "tool_use" else block
        assert event["type"] == "content_block_delta"
        (kind, value) = next(item for item in event["delta"].items() if item[0] != "type")
        if kind == "partial_json":
            partial += value
        else:
            block[kind] += value
    raise AssertionError("the block has no end")


def send(
    stub: Stub,
    messages: Sequence[Json],
    *,
    session: str = SID,
    agent: str = "",
    stream: bool = True,
    model: str = MODEL,
) -> Answered:
    """A request for a message, as the client sends it."""
    body = {"model": model, "max_tokens": 32000, "stream": stream, "system": [], "tools": [], "messages": messages}
    headers = {"X-Claude-Code-Session-Id": session, **({"x-claude-code-agent-id": agent} if agent else {})}
    return call(stub.port, "POST", "/v1/messages?beta=true", json.dumps(body), headers)


def call(port: int, method: str, path: str, body: str = "", headers: Mapping[str, str] | None = None) -> Answered:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request(method, path, body.encode(), {"Content-Type": "application/json", **(headers or {})})
        answer = connection.getresponse()
        try:
            raw, broken = answer.read(), False
        except http.client.IncompleteRead as error:
            raw, broken = error.partial, True
        return Answered(answer.status, {name.lower(): value for name, value in answer.getheaders()}, raw, broken)
    finally:
        connection.close()


def actor(turns: Sequence[Json], tmp_path: Path, **more: Any) -> script.Actor:
    path = tmp_path / "actors.yaml"
    path.write_text(yaml.safe_dump({"x": {"turns": list(turns), **more}}, allow_unicode=True))
    return script.load(path)["x"]


def said(message: Json) -> list[Json]:
    """What the client adds to its history for a message: the message, and results of its calls."""
    uses = [block for block in message["content"] if block["type"] == "tool_use"]
    results = [{"type": "tool_result", "tool_use_id": block["id"], "content": "…"} for block in uses]
    content: Json = {"role": "assistant", "content": message["content"]}
    return [content, {"role": "user", "content": results}] if results else [content]


def texts(message: Json) -> list[str]:
    return [block["text"] for block in message["content"] if block["type"] == "text"]


def inputs(message: Json) -> list[Json]:
    return [block["input"] for block in message["content"] if block["type"] == "tool_use"]


def ids(message: Json) -> list[str]:
    return [block["id"] for block in message["content"] if block["type"] == "tool_use"]


def listening(port: int) -> set[str]:
    """The addresses that listen on a port, as the kernel writes them."""
    table = Path("/proc/net/tcp")
    if not table.exists():
        pytest.skip("no /proc/net/tcp")
    rows = [line.split() for source in (table, table.with_name("tcp6")) for line in source.read_text().splitlines()[1:]]
    return {row[1].split(":")[0] for row in rows if row[3] == "0A" and int(row[1].split(":")[1], 16) == port}
