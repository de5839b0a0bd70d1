"""The client's two formats, line by line: stream-json events on stdout, and the native transcript.

Shapes follow Claude Code 2.1.332 headless: one assistant line a content block; stream-json carries the usage of
the message's start (output_tokens 1), the native line the final one. Prompt texts of the client are not written.
"""

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from io import FileIO
from pathlib import Path
from typing import Any

import orjson

from heldout.agents.acting.ids import Ids

VERSION = "2.1.332"
NOT_BILLED = {
    "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
    "service_tier": "standard",
    "cache_creation": {"ephemeral_1h_input_tokens": 0, "ephemeral_5m_input_tokens": 0},
}


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def final_usage(usage: Mapping[str, int]) -> dict[str, Any]:
    """The usage object of a finished message."""
    return {**usage, "output_tokens_details": {"thinking_tokens": 0}, **NOT_BILLED}


def branch(cwd: Path) -> str:
    """The branch that the client notes: the checked-out one, `HEAD` where there is none or no repository."""
    for folder in (cwd, *cwd.parents):
        try:
            head = (folder / ".git" / "HEAD").read_text("utf-8")
        except OSError:
            continue
        return head.strip().removeprefix("ref: refs/heads/") if head.startswith("ref: ") else "HEAD"
    return "HEAD"


def project_key(cwd: Path) -> str:
    """The folder name of a working directory under `projects/`: every UTF-16 unit outside [A-Za-z0-9] is a dash."""
    real = os.path.realpath(cwd)
    key = "".join(c if c.isascii() and c.isalnum() else "-" * (2 if ord(c) > 0xFFFF else 1) for c in real)
    return key if len(key) <= 200 else f"{key[:200]}-{Ids(real).digest()[:6]}"


def shorten(text: str, limit: int, path: Path) -> str:
    """`text`, or where it is longer than `limit` characters its preview, the whole kept in `path`."""
    return text if len(text) <= limit else persist(text, text.encode("utf-8", "replace"), path)


def persist(text: str, raw: bytes, path: Path) -> str:
    """Keep `raw` in `path`; returns what the model gets instead: size, path, and the first 2,000 characters."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(raw)
    head = text[:2000]
    cut = head.rfind("\n")
    if cut > 1000:
        head = head[:cut]
    where = f"Output too large ({kilobytes(len(raw))}). Full output saved to: {path}"
    return f"<persisted-output>\n{where}\n\nPreview (first 2KB):\n{head}\n...\n</persisted-output>"


def kilobytes(size: int) -> str:
    """A size as the client writes it, halves rounded up: `340.7KB`."""
    return f"{int(size / 1024 * 10 + 0.5) / 10:.1f}KB"


def reminder(text: str) -> list[dict[str, str]]:
    """The `rendered` form of an attachment: what the model got to see."""
    return [{"content": f"<system-reminder>\n{text}\n</system-reminder>"}]


class Stream:
    """The stream-json of one session; every event has its uuid and the session id."""

    def __init__(self, path: Path, ids: Ids) -> None:
        self._file = FileIO(path, "wb")
        self._ids = ids

    def event(self, kind: str, uuid: str = "", **fields: Any) -> None:
        event = {"type": kind, **fields, "session_id": self._ids.session_id, "uuid": uuid or self._ids.uuid()}
        self._file.write(orjson.dumps(event, option=orjson.OPT_APPEND_NEWLINE))

    def system(self, subtype: str, **fields: Any) -> None:
        self.event("system", subtype=subtype, **fields)

    def close(self) -> None:
        self._file.close()


class Native:
    """One native transcript file: the main loop's, or with `agent_id` a subagent's.

    Lines with a uuid form the client's chain: the parent is the last chained line unless it is given. `cwd` is
    written to each of them and follows the shell of the loop.
    """

    def __init__(self, path: Path, ids: Ids, cwd: Path, agent_id: str = "") -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path, self.cwd, self.tip = path, cwd, None
        self._branch, self._agent = branch(cwd), {"agentId": agent_id} if agent_id else {}
        self._ids = ids
        # Unbuffered: hooks and the agent itself may read the transcript while it grows.
        self._file = FileIO(path, "ab")

    def note(self, kind: str, **fields: Any) -> None:
        """A line outside the chain, such as `queue-operation` or `last-prompt`."""
        self._write({"type": kind, **fields, "sessionId": self._ids.session_id})

    def chain(self, kind: str, body: Mapping[str, Any], *, parent: str | None = None, uuid: str = "") -> str:
        """A line of the chain; returns its uuid."""
        uuid = uuid or self._ids.uuid()
        line = {
            "parentUuid": parent or self.tip,
            "isSidechain": bool(self._agent),
            **self._agent,
            "type": kind,
            **body,
            "uuid": uuid,
            "timestamp": now(),
            "userType": "external",
            "entrypoint": "sdk-cli",
            "cwd": str(self.cwd),
            "sessionId": self._ids.session_id,
            "version": VERSION,
            "gitBranch": self._branch,
        }
        self._write(line)
        self.tip = uuid
        return uuid

    def attach(self, attachment: Mapping[str, Any], rendered: str = "", role: str = "system") -> None:
        """An attachment line; `rendered` is what the model sees of it, if anything."""
        shown = {"rendered": reminder(rendered), "renderedRole": role} if rendered else {}
        self.chain("attachment", {"attachment": attachment, **shown})

    def close(self) -> None:
        self._file.close()

    def _write(self, line: Mapping[str, Any]) -> None:
        self._file.write(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))
