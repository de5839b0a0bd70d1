"""The one place where messages of either format meet the collectors: tokens, actions, spawns, hooks, texts, the end."""

import re
from collections.abc import Callable
from typing import Any

import orjson

from heldout.transcript import reads, results
from heldout.transcript.actions import READING, Actions, Call
from heldout.transcript.agents import MAIN, Agents
from heldout.transcript.answers import Answers
from heldout.transcript.bounds import ACTIONS, ARGUMENTS, COMMANDS, HUGE
from heldout.transcript.ending import Ending
from heldout.transcript.hooks import Hooks
from heldout.transcript.lines import Tally
from heldout.transcript.mend import Record, shorten
from heldout.transcript.messages import Block, Message
from heldout.transcript.session import Session
from heldout.transcript.spawns import Spawns
from heldout.transcript.tokens import Ledger

SYNTHETIC = "<synthetic>"
# Tools of whose result more than the text is needed: the line's toolUseResult is parsed for them.
TELLING = frozenset(("Agent", "SendMessage", "TaskOutput", "AgentOutputTool"))

_SKILLS = frozenset(("Skill", "SlashCommand"))
TYPED = "<command-name>"
_COMMAND = re.compile(r"<command-name>\s*/?([^<\s]{1,200})\s*</command-name>")
_ARGUMENTS = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)


class Collector:
    """Everything learned from the files of one session, in the order in which they are read."""

    def __init__(self) -> None:
        self.tally = Tally()
        self.agents = Agents()
        self.ledger = Ledger()
        self.session = Session()
        self.lengths: dict[str, int] = {}  # of strings that mend.shorten cut on the present line
        self.actions = Actions(self.agents, self.lengths)
        self.spawns = Spawns(self.agents)
        self.hooks = Hooks(self.lengths)
        self.answers = Answers()
        self.ending = Ending()
        self.seen: set[int] = set()  # agents of which any line was read
        self.from_stream = False  # whether messages of stream-json, with their start usage, are among those counted
        self.slash_commands: list[dict[str, Any]] = []
        self.slash_total = self.api_errors = self.compactions = self.orphan_agents = 0
        self.last_main_line = self.interrupted_line = 0
        self._denied: set[str] = set()
        self._told: set[int] = set()
        self._bare: list[tuple[int, dict[str, Any]]] = []

    def whole(self, line: bytes, number: int, take: Callable[[Any, int, bytes], None]) -> None:
        """Parse all of a line, for `take`; raises JSONDecodeError where it is not one JSON value."""
        self.lengths.clear()
        if len(line) > HUGE:
            line = shorten(line, self.lengths)
            if len(line) > HUGE:  # no long strings, but more values than memory should hold
                self.tally.oversized += 1
                return
        take(orjson.loads(line), number, line)
        self.lengths.clear()

    def assistant(self, message: Message, key: str | int, agent: int, line: int, room: int, skill: str | None) -> bool:
        """One line of a message. `room`: bytes of the line; `skill`: its attributionSkill. True where it is new."""
        stop = message.stop_reason
        new = self.ledger.add(key, agent, message.usage, stop is not None)
        model = message.model
        if self.agents.latest[agent] != model and model is not None:
            self.agents.served(agent, model)
        if agent == MAIN:
            self.last_main_line = line
            if new:
                self.answers.begin(key)
            if new or key == self.answers.last_message:
                self.ending.stop_reason = stop
                self.ending.answered = True
                if self.ending.marked:
                    self.ending.go_on()
        if skill is not None and self._bare:
            self._attribute(skill, agent)
        content = message.content
        if type(content) is list:
            for block in content:
                if block.type == "tool_use":
                    self._call(block, agent, line, key, room)
                elif agent == MAIN and block.type == "text" and block.text is not None:
                    self.answers.text(key, block.text)
        elif type(content) is str and agent == MAIN:
            self.answers.text(key, content)
        return new

    def _call(self, block: Block, agent: int, line: int, key: str | int, room: int) -> None:
        call = self.actions.start(block, agent, line, key, room)
        if call is None:
            return
        if call.tool == "Agent":
            self.spawns.start(call, self.actions.read_main)
        elif call.tool in _SKILLS and call.action is not None:
            spelt = call.input.get("skill", call.input.get("command"))
            if type(spelt) is str:
                name = spelt.strip().split(None, 1)[0].lstrip("/") if spelt.strip() else ""
                call.action["skill"] = self.session.full_name(name)
                call.action["skill_spelt"] = spelt[:COMMANDS]
                if ":" not in call.action["skill"]:
                    self._bare.append((agent, call.action))

    def _attribute(self, skill: str, agent: int) -> None:
        """A later line names in full the skill it owes itself to: the robust key for a call by the bare name."""
        for waiting in list(self._bare):
            number, entry = waiting
            key = "skill" if "skill" in entry else "name"
            if number == agent and skill.endswith(f":{entry[key]}"):
                entry[key] = skill
                self._bare.remove(waiting)

    def result(self, block: Block, agent: int, line: int, outcome: Any, denied: bool) -> None:
        """One tool_result block. `outcome`: the line's toolUseResult where the tool is TELLING or the call failed."""
        call = self.actions.answered(block.tool_use_id, agent)
        if call is None:
            return
        content = block.content
        text = content if type(content) is str else "".join(block.texts()[:1])
        error = block.is_error is True or results.looks_failed(text, outcome)
        denied = error and (denied or results.is_denied(text, outcome))
        if type(content) is str and content.isascii() and not self.lengths:
            size = len(content)
        else:
            size = results.size(block.texts(), self.lengths)
        self.actions.finish(call, error, denied, size)
        if call.tool in TELLING:
            self._telling(call, block, outcome, error)
        elif call.action is not None and call.tool in READING:
            call.action["_answered"] = line
            if call.tool != "Read" and (agent != MAIN or self.spawns.all) and not error:
                text = "\n".join(block.texts())
                call.action["_rows"] = text.count("\n") + (not text.endswith("\n"))
                found = reads.by_prefix(text)
                if found:
                    call.action["_lines"] = found

    def _telling(self, call: Call, block: Block, outcome: Any, error: bool) -> None:
        if call.tool == "Agent":
            self.spawns.finish(call, block, outcome, error)
        elif call.tool == "SendMessage" and not error:
            self.spawns.message(call)
        elif call.tool in ("TaskOutput", "AgentOutputTool") and type(outcome) is dict:
            task = outcome.get("task")
            if type(task) is dict:
                self.spawns.report(task.get("task_id"), None, task.get("status"))

    def asked(self, turn: Message) -> bool:
        """Whether a turn answers a call of a TELLING tool, or is a typed command, which is told once only."""
        for block in turn.blocks():
            call = self.actions.open.get(block.tool_use_id or "")
            if (call is not None and call.tool in TELLING) or (block.text is not None and TYPED in block.text):
                return True
        return type(turn.content) is str and TYPED in turn.content

    def again(self, record: Record) -> bool:
        """Whether a line that counts for itself was read before: files repeat lines, with their uuids (trap 19)."""
        uuid = record.get("uuid")
        if type(uuid) is not str:
            return False
        seen = hash(uuid) in self._told
        self._told.add(hash(uuid))
        return seen

    def user_text(self, text: str, agent: int, line: int, meta: bool) -> None:
        """Text in a user's turn: a prompt, a typed command, a notice, an interruption."""
        if "-notification>" in text:
            self.spawns.notices(text)
        if agent != MAIN or meta:
            return
        if text.startswith("[Request interrupted by user"):
            self.ending.interrupt()
            self.interrupted_line = line
        elif TYPED in text:
            name = _COMMAND.search(text)
            if name:
                self._slash(name[1], text, line)

    def _slash(self, name: str, text: str, line: int) -> None:
        self.slash_total += 1
        if len(self.slash_commands) >= COMMANDS:
            return
        given = _ARGUMENTS.search(text)
        full = self.session.full_name(name)
        arguments = given[1].strip() if given else ""
        command = {"name": full, "spelt": f"/{name}", "args": arguments[:ARGUMENTS], "line": line}
        if len(arguments) > ARGUMENTS:
            command["cut"] = {"args": len(arguments)}
        self.slash_commands.append(command)
        if ":" not in full:
            self._bare.append((MAIN, command))
            del self._bare[:-COMMANDS]

    def deny(self, call_id: Any) -> None:
        """The client's own word, before or after the result, that a call was refused."""
        if type(call_id) is str and len(self._denied) < ACTIONS:
            self._denied.add(call_id)

    def moved_on(self, call: Call) -> bool:
        """Whether the main loop went on after a call without waiting for its result."""
        later = self.last_main_line > call.line and call.message != self.answers.last_message
        return call.agent == MAIN and (later or self.interrupted_line > call.line)

    def close(self) -> None:
        """Once all files are read: what could only be known at the end."""
        for call in self.actions.open.values():
            if call.tool == "SendMessage":
                self.spawns.message(call)
        for action in self.actions.kept:
            if action["id"] in self._denied and action["ok"] is False and not action["denied"]:
                action["denied"] = True
                self.actions.denied += 1
        over = self.ending.result is not None and not self.ending.open_after_result
        if self.ending.result is None:
            over = self.ending.finished() or self.ending.interrupted or self.ending.max_turns
        self.spawns.settle(over, self.moved_on)
