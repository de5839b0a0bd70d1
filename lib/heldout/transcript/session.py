"""What a session was: its id, place, client, models asked for and served, and what the client had loaded."""

from typing import Any

from heldout.transcript.agents import MAIN, Agents
from heldout.transcript.bounds import STRING, bounded
from heldout.transcript.mend import Record
from heldout.transcript.tokens import placeholder_version


class Session:
    """First values win, except where the client's own init event says better; unknown stays None."""

    def __init__(self) -> None:
        self.id: str | None = None
        self.cwd: str | None = None
        self.version: str | None = None
        self.permission_mode: str | None = None
        self.model_requested: str | None = None
        self.entrypoint: str | None = None
        self.placeholders = False
        self.init: Record | None = None
        self.listed_skills: list[str] | None = None
        self._id_of_message = False

    def see(self, record: Record) -> None:
        """The envelope of a native line; the client's version may change within a file (trap 18)."""
        if not self._id_of_message:
            # Other lines of a file may carry another session's id (trap 19).
            self._id_of_message = record.get("type") in ("user", "assistant") and "sessionId" in record
            self.id = _text(record.get("sessionId")) if self._id_of_message or self.id is None else self.id
        if self.cwd is None:
            self.cwd = _text(record.get("cwd"))
        if self.entrypoint is None:
            self.entrypoint = _text(record.get("entrypoint"))
        if self.version is None:
            self.version = _text(record.get("version"))
        if self.permission_mode is None:
            self.permission_mode = _text(record.get("permissionMode"))

    def answered_by(self, version: Any) -> None:
        """The client's version on an assistant line."""
        if type(version) is str:
            self.placeholders = self.placeholders or placeholder_version(version)

    def see_init(self, record: Record) -> None:
        """A `system/init` event; it is repeated at each turn that a notice causes, the first one counts."""
        if self.init is None:
            self.init = record
            self.answered_by(record.get("claude_code_version"))

    def list_skills(self, names: Any) -> None:
        """The names of a `skill_listing`; what the init event lists goes before it."""
        self.listed_skills = _texts(names) or self.listed_skills

    def skills(self) -> list[str] | None:
        loaded = _texts(self.init.get("skills")) if self.init else None
        return self.listed_skills if loaded is None else loaded

    def full_name(self, skill: str) -> str:
        """A bare skill name as `plugin:name` where exactly one loaded skill has that name (trap: skills' spellings)."""
        loaded = self.skills() or []
        if self.init:
            loaded = [*loaded, *(_texts(self.init.get("slash_commands")) or [])]
        if ":" in skill or skill in loaded:
            return skill
        owners = {name for name in loaded if name.endswith(f":{skill}")}
        return owners.pop() if len(owners) == 1 else skill

    def facts(self, agents: Agents) -> dict[str, Any]:
        init = self.init or {}
        return {
            "id": _text(init.get("session_id")) or self.id,
            "cwd": _text(init.get("cwd")) or self.cwd,
            "cli_version": _text(init.get("claude_code_version")) or self.version,
            "entrypoint": self.entrypoint,
            "permission_mode": _text(init.get("permissionMode")) or self.permission_mode,
            "model_requested": _text(init.get("model")) or self.model_requested,
            "models_served": agents.models[MAIN],
            "plugins": _list(init.get("plugins")),
            "plugin_errors": _list(init.get("plugin_errors")),
            "skills": self.skills(),
            "tools": _list(init.get("tools")),
            "mcp_servers": _list(init.get("mcp_servers")),
        }


def _text(value: Any) -> str | None:
    return value if type(value) is str and value else None


def _list(value: Any) -> list[Any] | None:
    return bounded(value, STRING, {}) if type(value) is list else None


def _texts(value: Any) -> list[str] | None:
    return [v for v in value if type(v) is str] if type(value) is list else None
