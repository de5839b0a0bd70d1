"""Native transcripts: lines of a session file or of a subagent's file, of every version met, into a Collector."""

from itertools import islice
from typing import Any

from heldout.transcript import messages
from heldout.transcript.agents import MAIN
from heldout.transcript.bounds import PARENTS
from heldout.transcript.collect import SYNTHETIC, TYPED, Collector
from heldout.transcript.mend import Record
from heldout.transcript.messages import Line, Message
from heldout.transcript.quiet import LINES, quiet

_BARE = b'{"type":"'  # a line without an envelope
_COUNTED = ("stop_hook_summary", "api_error", "compact_boundary")
_RECENT = 4_096  # uuids remembered of inline sidechains; a line's parent is among the last lines


class Native:
    """Reads the lines of one file. `agent` is the number of the agent whose file it is."""

    def __init__(self, to: Collector, agent: int) -> None:
        self.to = to
        self.agent = agent
        self.started = False
        self._version: Any = None  # of the latest answer
        self._parents: dict[str, Any] = {}
        self._copied: set[str] = set()
        self._chains: dict[str, int] = {}  # uuid of a recent inline sidechain line -> agent
        self._handlers = {
            "assistant": self._assistant,
            "user": self._user,
            "attachment": self._attachment,
            "system": self._system,
            "progress": self._progress,
            "queue-operation": self._queue,
            "cost-state": self._cost,
        }
        to.seen.add(agent)

    def feed(self, line: bytes, number: int) -> None:
        """Read one line; raises JSONDecodeError where it is not one JSON value."""
        if self.started:  # before the first action more is asked of a line
            if line.startswith(_BARE) and messages.kind(line) in LINES:
                return
            usual = messages.usual(line)
            if usual is not None and self._usual(usual, number, len(line)):
                return
        self.to.whole(line, number, self.take)

    def _usual(self, line: Line, number: int, size: int) -> bool:
        """Read a usual line; false, and nothing is done, where all of it must be parsed."""
        message, kind = line.message, line.type
        if message is None or (kind != "assistant" and kind != "user"):
            return quiet(line, self._copied)
        if line.isSidechain and self.agent == MAIN:
            return False
        if kind == "assistant":
            key = message.id
            if not key or message.model == SYNTHETIC:
                return False
            if line.version != self._version:
                self._answered_by(line.version)
            self.to.assistant(message, key, self.agent, number, size, line.attributionSkill)
            return True
        if line.failed() or self.to.asked(message):  # its toolUseResult tells more
            return False
        denied = line.toolDenialKind is not None
        self._turn(message, self.agent, number, None, denied, line.isMeta or line.isCompactSummary)
        return True

    def take(self, record: Any, number: int, line: bytes) -> None:
        try:
            handler = self._handlers.get(record.get("type"))
        except (AttributeError, TypeError):
            self._odd(record, number)
            return
        if not self.started:
            uuid = record.get("uuid")
            if type(uuid) is str:
                self._parents[uuid] = record.get("parentUuid")
                _forget(self._parents, PARENTS)
            self.to.session.see(record)
        if handler is not None:
            handler(record, number, line)

    def _odd(self, record: Any, number: int) -> None:
        """A line that is no object, or one whose type is no string: an array of records is read as its records."""
        for item in record if type(record) is list else ():
            if type(item) is dict:
                self.take(item, number, b"")

    def _speaker(self, record: Record, said: Message | None = None) -> int:
        """Whose line it is: the file's agent, or in a session file the sidechain that the line belongs to."""
        if self.agent != MAIN or record.get("isSidechain") is not True:
            return self.agent
        name = record.get("agentId")
        agent = self.to.agents.number(name) if type(name) is str and name else self._chain(record, said)
        self.to.seen.add(agent)
        return agent

    def _chain(self, record: Record, said: Message | None) -> int:
        """1.0.x writes subagents into the session file, each under a new root and linked by its prompt (trap 6a)."""
        uuid, parent = record.get("uuid"), record.get("parentUuid")
        agent = self._chains.get(parent) if type(parent) is str else None
        if agent is None:
            text = "\n".join(said.texts()) if said else ""
            spawn = self.to.spawns.of_prompt(text) if text else None
            if spawn is not None:
                name = spawn.call.id
                self.to.spawns.known(spawn, name)
            else:
                self.to.orphan_agents += 1
                name = f"sidechain-{self.to.orphan_agents}"
            agent = self.to.agents.number(name)
        if type(uuid) is str:
            self._chains[uuid] = agent
            _forget(self._chains, _RECENT)
        return agent

    def _answered_by(self, version: Any) -> None:
        self._version = version
        self.to.session.answered_by(version)

    def _assistant(self, record: Record, number: int, line: bytes) -> None:
        if type(record.get("message")) is not dict:
            return
        message = messages.of_record(record["message"])
        agent = self._speaker(record, message)
        if message.model == SYNTHETIC:
            if agent == MAIN:
                self.to.ending.synthetic(record)
            return
        self._answered_by(record.get("version"))
        key: Any = message.id or record.get("uuid")
        if type(key) is not str:
            key = messages.fingerprint(record)
        skill = record.get("attributionSkill")
        new = self.to.assistant(message, key, agent, number, len(line), skill if type(skill) is str else None)
        # A fork's file begins with a copy of its parent's line: not this agent's first action.
        if not self.started and agent == self.agent and new:
            self._first_action(record)

    def _first_action(self, record: Record) -> None:
        self.started = True
        ancestors: set[str] = set()
        parent = record.get("parentUuid")
        while type(parent) is str and parent not in ancestors:
            ancestors.add(parent)
            parent = self._parents.get(parent)
        self.to.hooks.first_action(self.agent, ancestors)
        self._parents.clear()
        if self.agent == MAIN and self.to.session.model_requested is None:
            asked = record.get("requestedModel")
            self.to.session.model_requested = asked if type(asked) is str else None

    def _user(self, record: Record, number: int, line: bytes) -> None:
        if type(record.get("message")) is not dict:
            return
        message = messages.of_record(record["message"])
        agent = self._speaker(record, message)
        if any(TYPED in text for text in message.texts()) and self.to.again(record):
            return
        meta = record.get("isMeta") is True or record.get("isCompactSummary") is True
        denied = record.get("toolDenialKind") is not None
        self._turn(message, agent, number, record.get("toolUseResult"), denied, meta)

    def _turn(self, message: Message, agent: int, number: int, outcome: Any, denied: bool, meta: bool) -> None:
        """A user's turn: results and texts in their order."""
        if type(message.content) is str:
            self.to.user_text(message.content, agent, number, meta)
        for block in message.blocks():
            if block.type == "tool_result":
                self.to.result(block, agent, number, outcome, denied)
            elif block.type == "text" and block.text is not None:
                self.to.user_text(block.text, agent, number, meta)

    def _attachment(self, record: Record, number: int, line: bytes) -> None:
        attachment = record.get("attachment")
        if type(attachment) is not dict:
            return
        kind = attachment.get("type")
        if type(kind) is str and kind.startswith("hook_"):
            if self.to.again(record):
                return
            self.to.hooks.attachment(record, attachment, self._speaker(record))
        elif kind == "queued_command" and type(attachment.get("prompt")) is str:
            self.to.user_text(attachment["prompt"], self.agent, number, True)
        elif kind == "max_turns_reached" and self.agent == MAIN:
            self.to.ending.reach_max_turns()
        elif kind == "budget_usd" and self.agent == MAIN and type(attachment.get("total")) in (int, float):
            self.to.ending.budget = attachment["total"]
        elif kind == "skill_listing" and self.agent == MAIN and not self.started:  # a later one lists only what is new
            self.to.session.list_skills(attachment.get("names"))

    def _system(self, record: Record, number: int, line: bytes) -> None:
        kind = record.get("subtype")
        if kind in _COUNTED and self.to.again(record):
            return
        if kind == "stop_hook_summary":
            self.to.hooks.summary(record, self.agent)
        elif kind == "api_error":
            self.to.api_errors += 1
        elif kind == "compact_boundary":
            self.to.compactions += 1

    def _progress(self, record: Record, number: int, line: bytes) -> None:
        """Copies of a subagent's messages tell its model and id; they are no lines of their own (trap 6d)."""
        data = record.get("data")
        if type(data) is not dict:
            return
        if data.get("type") == "hook_progress":
            if not self.to.again(record):
                self.to.hooks.progress(record, data, self.agent)
            return
        parent = record.get("parentToolUseID")
        spawn = self.to.spawns.of_call(parent) if type(parent) is str else None
        if data.get("type") != "agent_progress" or spawn is None:
            return
        name = data.get("agentId")
        self.to.spawns.known(spawn, name if type(name) is str else None)
        copy = data.get("message")
        message = copy.get("message") if type(copy) is dict else None
        model = message.get("model") if type(message) is dict else None
        if type(model) is str and model != SYNTHETIC:
            spawn.result_model = spawn.result_model or model
            if spawn.agent_id is not None and type(parent) is str:
                self._copied.add(parent)

    def _queue(self, record: Record, number: int, line: bytes) -> None:
        if type(record.get("content")) is str and record.get("operation") == "enqueue":
            self.to.spawns.notices(record["content"])

    def _cost(self, record: Record, number: int, line: bytes) -> None:
        self.to.ending.cost_state = record


def _forget(kept: dict[str, Any], most: int) -> None:
    """Drop all but the latest once there are twice as many as `most`: to find the oldest takes long each time."""
    if len(kept) > 2 * most:
        for key in list(islice(kept, len(kept) - most)):
            del kept[key]
