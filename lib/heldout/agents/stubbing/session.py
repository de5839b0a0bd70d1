"""One session that a stub plays: which step of which script a request asks for, and the answer to it.

The step of a request is read from the history that it carries, not from a count of what was served: a request that
is sent again gets its message again, and an answer that the client lost or threw away is not skipped. What ends up
in a history: whole messages, told apart by the ids of their calls (the client moves and merges blocks, and may send
one message as several), messages without calls, each counted, and the halves that a failure left, which count for
nothing. A subagent's history may begin with its parent's (a fork): only what follows its own prompt is read.
"""

import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from heldout.agents import script
from heldout.agents.acting.ids import Ids
from heldout.agents.script import Actor, Turn
from heldout.agents.stubbing.failures import CONTENT, STATUSES, Due, Failure
from heldout.agents.stubbing.wire import Answer, Json, Problem, halves, text_of
from heldout.errors import Refusal
from heldout.yamlfile import near_miss

SPAWN_WAIT = 20.0  # seconds for the first request of a subagent that another conversation speaks of
_MAIN = "main"
_LAST_WORDS = "the script of the actor ends so"


@dataclass(frozen=True)
class Part:
    """What a session plays. `places`: sandbox, cwd, home and plugin:NAME, as far as the script names them."""

    actor: Actor
    places: Mapping[str, str]
    failures: tuple[Failure, ...] = ()

    def __post_init__(self) -> None:
        """Refusal for a script that the client cannot play, before anything runs."""
        if self.actor.ends == "empty":
            raise Refusal(f"actor '{self.actor.name}' leaves an empty transcript, which no real client does")
        for name in script.placeholders(self.actor.turns):
            if name not in self.places and name != "model" and not name.startswith("agent:"):
                what = f"placeholder '{{{name}}}' of actor '{self.actor.name}' stands for nothing in this session"
                raise Refusal(what, near_miss(name, self.places))


@dataclass(frozen=True)
class Reply:
    """What a request gets; `what` None: nothing at all. `step` is None where there is no such conversation."""

    step: int | None
    what: Answer | Problem | None
    played: tuple[str, ...] = ()  # kinds of the failures


@dataclass
class _Talk:
    """One conversation. `start` is the place of its prompt in the history."""

    who: str
    turns: tuple[Turn, ...]
    start: int = 0
    said: dict[str, int] = field(default_factory=dict)  # id of a call -> its step
    left: Counter[str] = field(default_factory=Counter)  # texts that failures leave in the history
    answers: Counter[int] = field(default_factory=Counter)  # by step

    def step(self, messages: Sequence[Json]) -> int:
        """The number of the message that the history asks for."""
        last, left = -1, self.left.copy()
        for message in messages[self.start :]:
            if message["role"] != "assistant":
                continue
            content = message["content"]
            blocks = content if isinstance(content, list) else []
            steps = [self.said[block["id"]] for block in blocks if block.get("id") in self.said]
            if steps:
                last = max(last, *steps)
            elif left[text := text_of(content)]:
                left[text] -= 1
            else:
                last += 1
        return last + 1


class Session:
    """The conversations of one session: the main loop's, and those of the subagents that its messages spawned."""

    def __init__(self, session_id: str, part: Part) -> None:
        self._part, self._due, self._ids = part, Due(part.failures), Ids(session_id)
        self._talks = {"": _Talk(_MAIN, part.actor.turns)}
        self._spawned: dict[str, script.Call] = {}  # by prompt
        self._agents: dict[str, str] = {}  # `agent:DESCRIPTION` -> id
        self._met = threading.Condition()  # guards all of the session

    def reply(self, agent: str, body: Json) -> Reply:
        """The reply to a request of the main loop (`agent` empty) or of the subagent with that id."""
        with self._met:
            talk = self._talks.get(agent) or self._meet(agent, body["messages"])
            if talk is None:
                return Reply(None, Problem(404, "not_found_error", f"the script starts no subagent like '{agent}'"))
            step = talk.step(body["messages"])
            if talk.who == _MAIN and self._part.actor.ends == "api_error" and step >= len(talk.turns):
                return Reply(step, Problem(529, STATUSES["529"], _LAST_WORDS), ("529",))
            failures = {failure.kind: failure for failure in self._due.take(step)}
            played = tuple(failures)
            if status := next((kind for kind in STATUSES if kind in failures), ""):
                problem = Problem(int(status), STATUSES[status], "the stub was asked to fail", failures[status].value)
                return Reply(step, problem, played)
            if "hang" in failures:
                return Reply(step, None, played)
            try:
                return Reply(step, self._answer(talk, step, str(body["model"]), failures), played)
            except Refusal as error:
                return Reply(step, Problem(404, "not_found_error", str(error)), played)

    def _meet(self, agent: str, messages: Sequence[Json]) -> _Talk | None:
        """A subagent's first request: its script is that of the call whose prompt ends a text of its history.

        The texts around the prompt are the client's reminders; a fork's prompt follows the rules for forks in one
        text. Backwards, and the longest: a fork's history holds its parent's prompt too.
        """
        for start, message in reversed(list(enumerate(messages))):
            texts = _texts(message) if message["role"] == "user" else []
            prompts = [prompt for prompt in self._spawned for text in texts if prompt and text.endswith(prompt)]
            if prompts:
                call = self._spawned[max(prompts, key=len)]
                self._agents[f"agent:{call.input.get('description')}"] = agent
                self._met.notify_all()
                talk = self._talks[agent] = _Talk(agent, call.turns, start)
                return talk
        return None

    def _answer(self, talk: _Talk, step: int, model: str, failures: Mapping[str, Failure]) -> Answer:
        turn = script.turn_at(talk.turns, step)
        places = self._places(turn, model)
        # A message that is sent again is another one to the API; the first has the ids that the embedded agent gives.
        who = f"{talk.who}.{talk.answers[step]}" if talk.answers[step] else talk.who
        talk.answers[step] += 1
        text = script.expand(turn.text, places)
        stop_reason = "tool_use" if turn.calls else "end_turn"
        short = next((kind for kind in CONTENT if kind in failures), "")
        if short:
            text = "" if short == "empty" else halves(text)[0]
            blocks = [{"type": "text", "text": text}] if text else []
            stop_reason = "end_turn" if short == "empty" else short
        else:
            blocks = self._blocks(talk, step, turn, text, places, who)
        cut = int(failures["cut"].value or 0) if "cut" in failures else None
        if short or cut is not None:
            talk.left[text_of(blocks[:cut])] += 1
        return Answer(
            id=self._ids.message(who, step),
            model=failures["model"].value if "model" in failures else model,
            blocks=tuple(blocks),
            stop_reason=stop_reason,
            usage=turn.usage,
            request_id=self._ids.request(who, step),
            cut=cut,
            pause=float(failures["slow"].value) if "slow" in failures else 0.0,
        )

    def _blocks(self, talk: _Talk, step: int, turn: Turn, text: str, places: Mapping[str, str], who: str) -> list[Json]:
        """The content of a whole message; what its calls spawn is known from here on."""
        blocks: list[Json] = []
        if turn.think:
            blocks.append({"type": "thinking", "thinking": script.expand(turn.think, places)})
        if text:
            blocks.append({"type": "text", "text": text})
        for place, call in enumerate(turn.calls):
            given = script.expand(call.input, places)
            tool_use_id = self._ids.tool(who, step, place)
            talk.said[tool_use_id] = step
            blocks.append({"type": "tool_use", "id": tool_use_id, "name": call.tool, "input": given})
            if call.tool in script.SPAWNERS:
                self._spawned[str(given.get("prompt", "")).strip()] = call
        return blocks

    def _places(self, turn: Turn, model: str) -> Mapping[str, str]:
        """What placeholders of this message stand for. A subagent is known by its own first request, which may still
        be under way when another conversation speaks of it."""
        own = replace(turn, calls=tuple(replace(call, turns=()) for call in turn.calls))
        for name in script.placeholders([own]):
            if name.startswith("agent:"):
                self._met.wait_for(lambda name=name: name in self._agents, SPAWN_WAIT)
        return {**self._part.places, **self._agents, "model": model}


def _texts(message: Json) -> list[str]:
    content: Any = message["content"]
    if isinstance(content, str):
        return [content.strip()]
    return [block["text"].strip() for block in content if block.get("type") == "text"]
