"""Tool calls and their results, joined by tool_use_id in file order, whatever the order of the results."""

from typing import Any, NamedTuple

from heldout.transcript.agents import MAIN, Agents
from heldout.transcript.bounds import ACTIONS, INPUTS, SHORT, STRING, bounded
from heldout.transcript.messages import Block, fingerprint

SPAWNING = ("Agent", "Task")  # one tool: Task until 2.1.42, Agent from 2.1.63 (trap 7, report 21)
ADDRESSED = frozenset(("Agent", "SendMessage"))  # tools whose inputs say which agent is meant
RECIPIENT = ("to", "recipient")  # keys of the input of SendMessage
READING = frozenset(("Read", "Grep", "Glob", "Bash"))
WRITING = frozenset(("Edit", "Write", "MultiEdit", "NotebookEdit"))


class Call(NamedTuple):
    """A call until its result is read. `action` is None where only counting goes on; see `start` for `input`."""

    id: str
    tool: str
    agent: int
    line: int
    message: str | int
    input: dict[str, Any]
    action: dict[str, Any] | None


class Actions:
    """All calls of a session. `before_spawn` holds what the main loop had read when each launch was called."""

    def __init__(self, agents: Agents, lengths: dict[str, int]) -> None:
        self.agents = agents
        self._lengths = lengths
        self.kept: list[dict[str, Any]] = []
        self.open: dict[str, Call] = {}
        self.by_tool: dict[str, int] = {}
        self.total = self.main = self.failed = self.denied = self.orphans = self.edit_write_ops = 0
        self.read_main = self.read_sidechain = 0
        self._closed: set[int] = set()
        self._room = INPUTS

    def start(self, block: Block, agent: int, line: int, message: str | int, room: int) -> Call | None:
        """Note a tool_use block; None where the same call was noted before. `room`: bytes of the line it came on."""
        tool = block.name or "unknown"
        if tool in SPAWNING:
            tool = "Agent"
        id = block.id or f"line-{fingerprint([message, tool, block.given()])}"
        # Ids of finished calls are kept as hashes only; a doubled line or a copy in another file counts once.
        if id in self.open or hash(id) in self._closed:
            return None
        # Where actions are only counted, few inputs are asked for; one that is damaged raises before anything is noted.
        kept = self.total < ACTIONS
        input = block.given() if kept or tool in ADDRESSED else {}
        self.total += 1
        if agent == MAIN:
            self.main += 1
        self.by_tool[tool] = self.by_tool.get(tool, 0) + 1
        action = self._keep(id, tool, agent, line, input, room) if kept else None
        # While it is open a call is kept without what may be long in its input.
        asked = {key: input[key] for key in RECIPIENT if key in input} if tool == "SendMessage" else {}
        self.open[id] = Call(id, tool, agent, line, message, asked, action)
        return Call(id, tool, agent, line, message, input, action)

    def _keep(self, id: str, tool: str, agent: int, line: int, input: dict[str, Any], room: int) -> dict[str, Any]:
        limit = STRING if self._room > 0 else SHORT
        self._room -= min(room, STRING)
        cut: dict[str, int] = {}
        action: dict[str, Any] = {
            "n": self.total,
            "agent": agent,
            "tool": tool,
            "input": bounded(input, limit, cut, self._lengths),
            "ok": None,
            "denied": False,
            "result_bytes": None,
            "line": line,
            "id": id,
        }
        if cut:
            action["cut"] = cut
        self.kept.append(action)
        return action

    def answered(self, id: str | None, agent: int) -> Call | None:
        """The call that a result answers, which is open no more; None where there is none or it was answered before.

        A fork's file holds a result for its parent's call; only the agent that called is answered.
        """
        if id is None:
            return None
        call = self.open.pop(id, None)
        if call is None:
            self.orphans += hash(id) not in self._closed
        elif call.agent != agent:
            self.open[call.id] = call
            return None
        else:
            self._closed.add(hash(id))
        return call

    def finish(self, call: Call, error: bool, denied: bool, size: int) -> None:
        """Note how an answered call ended, and the bytes of its result."""
        tool = call.tool
        if error:
            self.failed += 1
            self.denied += denied
        elif tool in WRITING and call.agent == MAIN:
            self.edit_write_ops += 1
        if tool in READING:
            if call.agent == MAIN:
                self.read_main += size
            else:
                self.read_sidechain += size
        action = call.action
        if action is not None:
            action["ok"] = not error
            action["denied"] = error and denied
            action["result_bytes"] = size
