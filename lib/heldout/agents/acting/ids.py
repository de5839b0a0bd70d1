"""Deterministic identifiers in the client's shapes: the same session and position give the same id."""

import hashlib


class Ids:
    """Identifiers of one session; every method hashes the session id with the position it is given."""

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        self._lines = 0

    def digest(self, *position: object) -> str:
        """64 hex digits of the session id and the position."""
        return hashlib.sha256("\0".join((self.session_id, *map(str, position))).encode()).hexdigest()

    def message(self, agent: str, number: int) -> str:
        return "msg_01" + self.digest("message", agent, number)[:22]

    def tool(self, agent: str, number: int, call: int) -> str:
        return "toolu_01" + self.digest("tool", agent, number, call)[:22]

    def request(self, agent: str, number: int) -> str:
        return "req_01" + self.digest("request", agent, number)[:22]

    def agent(self, tool_use_id: str) -> str:
        return "a" + self.digest("agent", tool_use_id)[:16]

    def output(self, tool_use_id: str) -> str:
        """Name of the file that keeps a large tool output."""
        return "b" + self.digest("output", tool_use_id)[:8]

    def uuid(self) -> str:
        """The next id of a line or event, in the form of a version 4 UUID."""
        self._lines += 1
        h = self.digest("line", self._lines)
        return f"{h[:8]}-{h[8:12]}-4{h[13:16]}-{'89ab'[int(h[16], 16) % 4]}{h[17:20]}-{h[20:32]}"
