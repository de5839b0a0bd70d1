"""stream-json: the events that `claude -p --output-format stream-json` prints, into a Collector.

As the only source it gives everything it has. Beside a native family (`beside=True`), read after it, it gives what only
the client says (its init event, results, totals, denials), and of messages and results only those that the native files
lack: a client killed in a message has printed the finished blocks and not yet written them to its transcript.
"""

from typing import Any

from heldout.transcript import messages
from heldout.transcript.agents import MAIN
from heldout.transcript.collect import SYNTHETIC, Collector
from heldout.transcript.mend import Record
from heldout.transcript.messages import Block, Event

_OFTEN_EMPTY = (b'{"type":"stream_event"', b'{"type":"system"')
_COUNTED = ("hook_response", "api_retry", "compact_boundary")
_EMPTY = frozenset(("thinking_tokens", "status"))  # subtypes


class Stream:
    """Reads the events of one run."""

    def __init__(self, to: Collector, beside: bool = False) -> None:
        self.to = to
        self.beside = beside
        self._own: set[str | int] = set()  # messages that only the stream has
        self._handlers = {
            "assistant": self._assistant,
            "user": self._user,
            "system": self._system,
            "result": self._result,
        }
        if not beside:
            to.seen.add(MAIN)

    def feed(self, line: bytes, number: int) -> None:
        """Read one event; raises JSONDecodeError where the line is not one JSON value."""
        if self.beside or line.startswith(_OFTEN_EMPTY):
            event = messages.event(line)
            if event is not None and self._tells_nothing(event):
                return
        self.to.whole(line, number, self.take)

    def _tells_nothing(self, event: Event) -> bool:
        """Whether an event is empty, or a message or a result that the native files hold as well."""
        if event.type == "system":
            return event.subtype in _EMPTY
        if not self.beside or event.message is None:
            return event.type == "stream_event"
        if event.type == "user":
            return not any(block.tool_use_id in self.to.actions.open for block in event.message.blocks())
        if event.type != "assistant" or event.message.model == SYNTHETIC:
            return False
        if not event.parent_tool_use_id and not event.agent_id:
            self._goes_on()
        id = event.message.id
        return id is not None and id in self.to.ledger and id not in self._own

    def _goes_on(self) -> None:
        """The main loop speaks: after a result that is another turn."""
        if self.to.ending.results:
            self.to.ending.open_after_result = True

    def take(self, record: Any, number: int, line: bytes) -> None:
        if type(record) is not dict:
            for item in record if type(record) is list else ():
                if type(item) is dict:
                    self.take(item, number, b"")
            return
        if self.to.session.id is None and type(record.get("session_id")) is str:
            self.to.session.id = record["session_id"]
        kind = record.get("type")
        handler = self._handlers.get(kind) if type(kind) is str else None
        if handler is not None:
            handler(record, number, line)

    def _speaker(self, record: Record) -> int:
        """The subagent of a line by its id, or by its spawn's call where that is all that the client says (2.1.41)."""
        parent, name = record.get("parent_tool_use_id"), record.get("agent_id")
        if not (type(name) is str and name):
            if not (type(parent) is str and parent):
                return MAIN
            spawn = self.to.spawns.of_call(parent)
            name = spawn.agent_id if spawn is not None and spawn.agent_id else parent
        agent = self.to.agents.number(name)
        self.to.seen.add(agent)
        return agent

    def _assistant(self, record: Record, number: int, line: bytes) -> None:
        message = record.get("message")
        if type(message) is not dict:
            return
        agent = self._speaker(record)
        if message.get("model") == SYNTHETIC:
            if agent == MAIN:
                self.to.ending.synthetic(record)
            return
        key = message.get("id") or record.get("uuid")
        if type(key) is not str:
            key = messages.fingerprint(record)
        if agent == MAIN:
            self._goes_on()
        if self.beside and key not in self._own:
            if key in self.to.ledger:
                return
            self._own.add(key)
        self.to.from_stream = True
        self.to.assistant(messages.of_record(message), key, agent, number, len(line), None)

    def _user(self, record: Record, number: int, line: bytes) -> None:
        message = record.get("message")
        if type(message) is not dict:
            return
        said = messages.of_record(message)
        agent = self._speaker(record)
        for block in said.blocks():
            if block.type == "tool_result":
                self._one_result(record, block, agent, number)
        if not self.beside:
            for text in said.texts():
                self.to.user_text(text, agent, number, record.get("isSynthetic") is True)

    def _one_result(self, record: Record, block: Block, agent: int, number: int) -> None:
        notes, id = record.get("tool_result_meta"), block.tool_use_id
        denied = any(
            type(note) is dict and note.get("id") == id and note.get("non_execution_kind") is not None
            for note in (notes if type(notes) is list else ())
        )
        self.to.result(block, agent, number, record.get("tool_use_result"), denied)

    def _system(self, record: Record, number: int, line: bytes) -> None:
        kind = record.get("subtype")
        if kind in _COUNTED and self.to.again(record):
            return
        if kind == "init":
            self.to.session.see_init(record)
            if self.to.ending.results:
                self.to.ending.open_after_result = True
        elif kind == "permission_denied":
            self.to.deny(record.get("tool_use_id"))
        elif self.beside:
            return
        elif kind == "hook_response":
            self.to.hooks.response(record)
        elif kind == "api_retry":
            self.to.api_errors += 1
        elif kind == "compact_boundary":
            self.to.compactions += 1
        elif kind == "task_started":
            self._started(record)
        elif kind == "task_notification":
            self.to.spawns.report(record.get("task_id"), record.get("tool_use_id"), record.get("status"))
        elif kind == "task_updated" and type(record.get("patch")) is dict:
            self.to.spawns.report(record.get("task_id"), None, record["patch"].get("status"))

    def _started(self, record: Record) -> None:
        call, task = record.get("tool_use_id"), record.get("task_id")
        spawn = self.to.spawns.of_call(call) if type(call) is str else None
        if spawn is not None and type(task) is str:
            self.to.spawns.known(spawn, task)
            if type(record.get("is_backgrounded")) is bool:
                spawn.background = record["is_backgrounded"]

    def _result(self, record: Record, number: int, line: bytes) -> None:
        if self.to.again(record) or record == self.to.ending.result:
            return  # a doubled line: the results of two turns have uuids of their own
        self.to.ending.see_result(record)
        denials = record.get("permission_denials")
        for denial in denials if type(denials) is list else ():
            if type(denial) is dict:
                self.to.deny(denial.get("tool_use_id"))
