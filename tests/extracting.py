"""Lines of transcripts in the client's shape, for tests that need a session with one thing in it."""

import json
from pathlib import Path
from typing import Any

from heldout.transcript.reader import extract, extract_stream

DATA = Path(__file__).resolve().parent / "data" / "captures"
SESSION = "11111111-2222-4333-8444-555555555555"
CWD = "/home/dev/project"
MODEL = "claude-sonnet-4-5"
Line = dict[str, Any]


class Session:
    """A native transcript under construction: each method adds one line and keeps the parentUuid chain."""

    def __init__(
        self, version: str = "2.1.332", session: str = SESSION, agent: str | None = None, **common: Any
    ) -> None:
        self.lines: list[Line] = []
        self.common: Line = {"sessionId": session, "version": version, "cwd": CWD, **common}
        if agent:
            self.common |= {"agentId": agent, "isSidechain": True}
        self.parent: str | None = None
        self.calls = 0

    def add(self, record: Line, **extra: Any) -> Line:
        uuid = f"{self.common.get('agentId', 'main')}-{len(self.lines)}"
        line = {"parentUuid": self.parent, "isSidechain": False, **record, "uuid": uuid, **self.common, **extra}
        self.parent = uuid
        self.lines.append(line)
        return line

    def user(self, content: Any, **extra: Any) -> Line:
        return self.add({"type": "user", "message": {"role": "user", "content": content}}, **extra)

    def says(self, id: str, *blocks: Line, stop: str | None = "tool_use", output: int = 10, **extra: Any) -> Line:
        message = {
            "id": id,
            "type": "message",
            "role": "assistant",
            "model": extra.pop("model", MODEL),
            "content": list(blocks),
            "stop_reason": stop,
            "usage": extra.pop("usage", usage(output)),
        }
        return self.add({"message": message, "type": "assistant"}, **extra)

    def calls_tool(
        self, tool: str, given: Line, id: str | None = None, message: str | None = None, **extra: Any
    ) -> str:
        """An assistant line with one tool_use block; returns the call's id."""
        self.calls += 1
        id = id or f"toolu_{self.common.get('agentId', '')}{self.calls}"
        self.says(message or f"msg_{id}", call(id, tool, given), **extra)
        return id

    def answers(self, id: str, content: Any, outcome: Any = None, error: bool | None = None, **extra: Any) -> Line:
        block = {"type": "tool_result", "tool_use_id": id, "content": content}
        if error is not None:
            block["is_error"] = error
        if outcome is not None:
            extra["toolUseResult"] = outcome
        return self.user([block], **extra)

    def attaches(self, kind: str, rendered: str | None = None, **attachment: Any) -> Line:
        extra = {} if rendered is None else {"rendered": [{"content": rendered}]}
        return self.add({"attachment": {"type": kind, **attachment}, "type": "attachment"}, **extra)

    def ends(self, text: str = "done", id: str = "msg_end", **extra: Any) -> Line:
        return self.says(id, said(text), stop="end_turn", **extra)

    def bytes(self) -> bytes:
        return dump(self.lines)

    def write(self, path: Path) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self.bytes())
        return path

    def facts(self) -> dict[str, Any]:
        return extract_stream(self.bytes().splitlines(keepends=True))


def usage(output: int, input: int = 3, creation: int = 20, read: int = 100) -> Line:
    return {
        "input_tokens": input,
        "cache_creation_input_tokens": creation,
        "cache_read_input_tokens": read,
        "output_tokens": output,
    }


def said(text: str) -> Line:
    return {"type": "text", "text": text}


def call(id: str, tool: str, given: Line) -> Line:
    return {"type": "tool_use", "id": id, "name": tool, "input": given}


def dump(lines: list[Line]) -> bytes:
    return b"".join(json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in lines)


def of_bytes(content: bytes, path: Path) -> dict[str, Any]:
    """The facts of a file with this content."""
    path.write_bytes(content)
    return extract(path)


def native(case: str) -> Path:
    """The main transcript of a capture."""
    return next((DATA / case / "session").glob("*.jsonl"))


def stream(case: str) -> Path:
    return DATA / case / "transcript.jsonl"


def launched(agent: str, model: str = MODEL) -> Line:
    return {"isAsync": True, "status": "async_launched", "agentId": agent, "resolvedModel": model}


def notification(agent: str, status: str = "completed", call: str = "toolu_x") -> str:
    return (
        f"<task-notification>\n<task-id>{agent}</task-id>\n<tool-use-id>{call}</tool-use-id>\n"
        f"<status>{status}</status>\n<summary>Agent finished</summary>\n</task-notification>"
    )
