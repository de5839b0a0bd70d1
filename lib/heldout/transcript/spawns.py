"""Subagents that a session started: what was asked for, what ran, how it ended, how often it was spoken to."""

import re
from collections.abc import Callable
from typing import Any

from heldout.transcript.actions import Call
from heldout.transcript.agents import MAIN, Agents
from heldout.transcript.bounds import ACTIONS
from heldout.transcript.mend import Record
from heldout.transcript.messages import Block
from heldout.transcript.tokens import Sum

_NOTIFICATION = re.compile(r"<(task|agent)-notification>(.*?)(?:</\1-notification>|\Z)", re.DOTALL)
_TASK_ID = re.compile(r"<(?:task|agent)-id>\s*([^<\s]{1,200})\s*<")
_CALL_ID = re.compile(r"<tool-use-id>\s*([^<\s]{1,200})\s*<")
_STATUS = re.compile(r"<status>\s*([a-z_]{1,40})\s*<")
_AGENT_ID = re.compile(r"\bagentId: ([\w@.-]{1,200})")
_ENDED = {
    "completed": "completed",
    "failed": "failed",
    "error": "failed",
    "killed": "abandoned",
    "stopped": "abandoned",
}


class Spawn:
    """One call of the Agent tool (Task until 2.1.42)."""

    def __init__(self, call: Call) -> None:
        given = call.input
        self.call = call._replace(input={})
        self.agent_id: str | None = None
        self.type = _text(given.get("subagent_type"))
        self.description = _text(given.get("description"))
        self.name = _text(given.get("name"))
        self.requested_model = _text(given.get("model"))
        self.model_explicit = self.requested_model is not None
        self.result_model: str | None = None
        self.background: bool | None = True if given.get("run_in_background") is True else None
        self.status = "launched"
        self.answered = self.reported = False
        self.ran = True
        self.messages = 0
        self.read_before = 0


def _text(value: Any) -> str | None:
    return value if type(value) is str and value else None


class Spawns:
    def __init__(self, agents: Agents) -> None:
        self.agents = agents
        self.all: list[Spawn] = []
        self.omitted = 0
        self._by_call: dict[str, Spawn] = {}
        self._by_agent: dict[str, Spawn] = {}
        self._by_prompt: dict[int, list[Spawn]] = {}

    def start(self, call: Call, read_before: int) -> None:
        if len(self.all) >= ACTIONS:
            self.omitted += 1
            return
        spawn = Spawn(call)
        spawn.read_before = read_before
        self.all.append(spawn)
        self._by_call[call.id] = spawn
        prompt = call.input.get("prompt")
        if type(prompt) is str:
            self._by_prompt.setdefault(hash(prompt), []).append(spawn)

    def of_call(self, call_id: str | None) -> Spawn | None:
        return self._by_call.get(call_id) if call_id else None

    def of_prompt(self, prompt: str) -> Spawn | None:
        """The first spawn without an agent that was given this prompt: 1.0.x links them by nothing else (trap 6a)."""
        waiting = self._by_prompt.get(hash(prompt), [])
        while waiting:
            spawn = waiting.pop(0)
            if spawn.agent_id is None:
                return spawn
        return None

    def known(self, spawn: Spawn, agent_id: str | None) -> None:
        """The agent id of a spawn, by the file's meta data, its result or its copies."""
        if agent_id and spawn.agent_id is None:
            spawn.agent_id = agent_id
            self._by_agent[agent_id] = spawn
            self.agents.rename(spawn.call.id, agent_id)

    def finish(self, call: Call, block: Block, outcome: Any, error: bool) -> None:
        """The result of the call. For a background agent that is the launch, not its report (trap 9, report 24)."""
        spawn = self._by_call.get(call.id)
        if spawn is None:
            return
        spawn.answered = True
        if error:
            spawn.status, spawn.ran = "failed", False
            return
        text = "\n".join(block.texts())
        result: Record = outcome if type(outcome) is dict else {}
        named = _AGENT_ID.search(text)
        self.known(
            spawn, _text(result.get("agentId")) or _text(result.get("agent_id")) or (named[1] if named else None)
        )
        spawn.type = spawn.type or _text(result.get("agentType"))
        spawn.result_model = _text(result.get("resolvedModel")) or spawn.result_model  # that of its copies (trap 6d)
        status = result.get("status")
        if result.get("isAsync") is True or status == "async_launched" or text.startswith("Async agent launched"):
            spawn.background = True
        elif status == "teammate_spawned":
            spawn.background = True
            spawn.reported = True  # a teammate answers by messages and never by a notice
        else:
            spawn.background = False
            spawn.status = _ENDED.get(status, "completed") if type(status) is str else "completed"

    def notices(self, text: str) -> None:
        """Completion notices in a text; one event is written up to three times (trap 10), the last status counts."""
        for notice in _NOTIFICATION.finditer(text):
            task, call, status = (p.search(notice[2]) for p in (_TASK_ID, _CALL_ID, _STATUS))
            self.report(task and task[1], call and call[1], status and status[1])

    def report(self, agent_id: Any, call_id: Any, status: Any) -> None:
        """A background agent's end. Notices for agents of another session (trap 10) find no spawn."""
        spawn = self._by_agent.get(_text(agent_id) or "") or self._by_call.get(_text(call_id) or "")
        ended = _ENDED.get(status) if type(status) is str else None
        if spawn is None or ended is None or spawn.background is not True:
            return
        spawn.status = ended
        spawn.reported = True

    def message(self, call: Call) -> None:
        """A SendMessage call: to an agent's id, or to its description or name; of namesakes the latest is meant."""
        to = _text(call.input.get("to")) or _text(call.input.get("recipient"))
        if to is None:
            return
        spawn = self._by_agent.get(to)
        if spawn is None:
            spawn = next((s for s in reversed(self.all) if s.ran and to in (s.description, s.name)), None)
        if spawn is not None:
            spawn.messages += 1

    def settle(self, over: bool, moved_on: Callable[[Call], bool]) -> None:
        """Final states once everything is read.

        A background agent that never reported is abandoned. A call without an answer is abandoned where the
        conversation went on without it or the session ended, and still launched where the transcript stops there.
        """
        for spawn in self.all:
            silent = spawn.status == "launched" and not spawn.reported
            if silent and (spawn.answered or over or moved_on(spawn.call)):
                spawn.status = "abandoned"

    def depth(self, spawn: Spawn) -> int:
        """1 for a spawn of the main loop, 2 for one of its subagents, and so on."""
        depth = 1
        parent: Spawn | None = spawn
        while parent is not None and parent.call.agent != MAIN and depth < 100:
            depth += 1
            parent = self._by_agent.get(self.agents.names[parent.call.agent])
        return depth

    def facts(self, sums: dict[int, Sum]) -> list[dict[str, Any]]:
        return [self._fact(spawn, sums) for spawn in self.all]

    def _fact(self, spawn: Spawn, sums: dict[int, Sum]) -> dict[str, Any]:
        number = self.agents.find(spawn.agent_id)
        own = sums.get(number) if number is not None else None
        models = self.agents.models[number] if number is not None else []
        return {
            "id": spawn.call.id,
            "agent_id": spawn.agent_id,
            "agent": self.agents.names[spawn.call.agent],
            "type": spawn.type,
            "description": spawn.description,
            "requested_model": spawn.requested_model,
            "model_explicit": spawn.model_explicit,
            "resolved_model": models[0] if models else spawn.result_model,
            "background": spawn.background,
            "status": spawn.status,
            "rounds": 1 + spawn.messages if spawn.ran else 0,
            "depth": self.depth(spawn),
            "output_tokens": own.counts()["output"] if own else None,
            "line": spawn.call.line,
        }
