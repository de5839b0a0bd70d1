"""Native transcripts: lines of a session file or of a subagent's file, of every version met, into a Collector."""

from typing import Any

import orjson

from heldout.transcript import results
from heldout.transcript.agents import MAIN
from heldout.transcript.bounds import HUGE
from heldout.transcript.collect import SYNTHETIC, Collector
from heldout.transcript.lines import damaged
from heldout.transcript.mend import Record, shorten
from heldout.transcript.quiet import NEAR, quiet, thought

_TYPE = b'"type":"'
_NEVER_QUIET = (b'user"', b"assis")  # the beginnings of types whose lines are always parsed
_RECENT = 4_096  # uuids remembered of inline sidechains; a line's parent is among the last lines


class Native:
    """Reads the lines of one file. `agent` is the number of the agent whose file it is, `name` the file's name.

    A line that holds only a thinking block tells the usage of its message, which the message's next line tells again:
    it is held back and parsed only where no such line follows.
    """

    def __init__(self, to: Collector, agent: int, name: str) -> None:
        self.to = to
        self.agent = agent
        self.name = name
        self._held: tuple[bytes, bytes, int] | None = None  # message id, line, number
        self.started = False
        self._version: Any = None
        self._parents: dict[str, Any] = {}
        self._copied: set[bytes] = set()
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
        at = line.find(_TYPE, 1, NEAR)
        kind = line[at + 8 : at + 13]
        if kind == b"messa":
            if self.started and (id := thought(line, at)):
                if self._held is not None and self._held[0] != id:
                    self.close()
                self._held = (id, line, number)
                return
        elif kind not in _NEVER_QUIET and at > 0 and quiet(line, at, self.started, self._copied):
            return
        if len(line) > HUGE:
            line = shorten(line, self.to.lengths)
        self.take(orjson.loads(line), number, line)
        if self.to.lengths:
            self.to.lengths.clear()

    def close(self) -> None:
        """Read the line held back, if there is one; to be called at the end of the file as well."""
        if self._held is not None:
            _, line, number = self._held
            self._held = None
            try:
                self.take(orjson.loads(line), number, line)
            except orjson.JSONDecodeError:
                damaged(line, number, self.name, self.to.tally, self.take)

    def _pass(self, record: Record) -> None:
        """Drop the line held back where `record` is a later line of its message, else read it first."""
        message = record.get("message")
        if self._held is None or (
            type(message) is dict and message.get("id") == self._held[0].decode("utf-8", "replace")
        ):
            self._held = None
        else:
            self.close()

    def take(self, record: Any, number: int, line: bytes) -> None:
        try:
            handler = self._handlers.get(record.get("type"))
        except (AttributeError, TypeError):
            self._odd(record, number)
            return
        if self._held is not None:
            self._pass(record)
        if not self.started:
            uuid = record.get("uuid")
            if type(uuid) is str:
                self._parents[uuid] = record.get("parentUuid")
            self.to.session.see(record)
        if handler is not None:
            handler(record, number, line)

    def _odd(self, record: Any, number: int) -> None:
        """A line that is no object, or one whose type is no string: an array of records is read as its records."""
        for item in record if type(record) is list else ():
            if type(item) is dict:
                self.take(item, number, b"")

    def _sidechain(self, record: Record, content: Any) -> int:
        """The subagent whose line stands in a session file."""
        name = record.get("agentId")
        agent = self.to.agents.number(name) if type(name) is str and name else self._chain(record, content)
        self.to.seen.add(agent)
        return agent

    def _speaker(self, record: Record, content: Any) -> int:
        """Whose line it is: the file's agent, or in a session file the sidechain that the line belongs to."""
        if self.agent == MAIN and record.get("isSidechain") is True:
            return self._sidechain(record, content)
        return self.agent

    def _chain(self, record: Record, content: Any) -> int:
        """1.0.x writes subagents into the session file, each under a new root and linked by its prompt (trap 6a)."""
        uuid, parent = record.get("uuid"), record.get("parentUuid")
        agent = self._chains.get(parent) if type(parent) is str else None
        if agent is None:
            text = "\n".join(results.texts(content))
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
            if len(self._chains) > _RECENT:
                del self._chains[next(iter(self._chains))]
        return agent

    def _assistant(self, record: Record, number: int, line: bytes) -> None:
        message = record.get("message")
        if type(message) is not dict:
            return
        agent = self.agent
        if agent == MAIN and record.get("isSidechain") is True:
            agent = self._sidechain(record, message.get("content"))
        if message.get("model") == SYNTHETIC:
            if agent == MAIN:
                self.to.ending.synthetic(record)
            return
        version = record.get("version")
        if version != self._version:
            self._version = version
            self.to.session.answered_by(version)
        key = message.get("id") or record.get("uuid")
        if type(key) is not str:
            key = hash(line) if line else hash(orjson.dumps(record))
        new = self.to.assistant(message, key, agent, number, len(line), record.get("attributionSkill"))
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
        message = record.get("message")
        if type(message) is not dict:
            return
        content = message.get("content")
        agent = self.agent
        if agent == MAIN and record.get("isSidechain") is True:
            agent = self._sidechain(record, content)
        meta = record.get("isMeta") is True or record.get("isCompactSummary") is True
        if type(content) is not list:
            if type(content) is str:
                self.to.user_text(content, agent, number, meta)
            return
        for block in content:
            if type(block) is str:
                self.to.user_text(block, agent, number, meta)
            if type(block) is not dict:
                continue
            kind = block.get("type")
            if kind == "tool_result":
                denied = "toolDenialKind" in record
                self.to.result(block, agent, number, record.get("toolUseResult"), denied)
            elif kind == "text" and type(block.get("text")) is str:
                self.to.user_text(block["text"], agent, number, meta)

    def _attachment(self, record: Record, number: int, line: bytes) -> None:
        attachment = record.get("attachment")
        if type(attachment) is not dict:
            return
        kind = attachment.get("type")
        if type(kind) is str and kind.startswith("hook_"):
            self.to.hooks.attachment(record, attachment, self._speaker(record, None))
        elif kind == "queued_command" and type(attachment.get("prompt")) is str:
            self.to.user_text(attachment["prompt"], self.agent, number, True)
        elif kind == "max_turns_reached" and self.agent == MAIN:
            self.to.ending.reach_max_turns()
        elif kind == "budget_usd" and self.agent == MAIN and type(attachment.get("total")) in (int, float):
            self.to.ending.budget = attachment["total"]
        elif kind == "skill_listing" and self.agent == MAIN and type(attachment.get("names")) is list:
            names = [name for name in attachment["names"] if type(name) is str]
            self.to.session.listed_skills = names or self.to.session.listed_skills

    def _system(self, record: Record, number: int, line: bytes) -> None:
        kind = record.get("subtype")
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
                self._copied.add(parent.encode())

    def _queue(self, record: Record, number: int, line: bytes) -> None:
        if type(record.get("content")) is str and record.get("operation") == "enqueue":
            self.to.spawns.notices(record["content"])

    def _cost(self, record: Record, number: int, line: bytes) -> None:
        self.to.ending.cost_state = record
