"""The script language of actors: what one plays, message by message, read from `fixture/<suite>/actors/<id>.yaml`.

A file maps actor names to actors, an actor holds turns, a turn is one assistant message: `think`, `text`, `calls`.
A call is one tool with the client's input; an `Agent` (or `Task`) call carries the `turns` of the subagent it starts.
One that is meant to fail says `fails: true` beside the tool: the embedded agent tells of every other that does.
Everything here is free of side effects and knows nothing of how a script is played: the embedded agent carries
the calls out itself, a stub of the Messages API serves the same turns to the real client.
"""

import difflib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from heldout.errors import Refusal
from heldout.rows import VERDICTS
from heldout.scenario import model_families
from heldout.yamlfile import Document, kind, near_miss
from heldout.yamlfile import load as load_yaml

# tool: (parameters the client demands, the others it takes)
TOOLS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "Bash": (("command",), ("description", "timeout")),
    "Read": (("file_path",), ("offset", "limit")),
    "Write": (("file_path", "content"), ()),
    "Edit": (("file_path", "old_string", "new_string"), ("replace_all",)),
    "Glob": (("pattern",), ("path",)),
    "Grep": (("pattern",), ("path", "glob", "output_mode")),
    "Skill": (("skill",), ("args",)),
    "Agent": (("description", "prompt"), ("subagent_type", "model", "run_in_background")),
    "Task": (("description", "prompt"), ("subagent_type", "model", "run_in_background")),
    "SendMessage": (("to",), ("message", "summary")),
}
SPAWNERS = ("Agent", "Task")
SAVED = "trace"  # the one model of a scenario that is a saved trace
ENDS = ("completed", "killed", "api_error", "max_turns", "budget", "empty")
# Every request costs the same on the way in, so that sums are easy to check by hand.
INPUT = {"input_tokens": 100, "cache_creation_input_tokens": 2000, "cache_read_input_tokens": 3000}
_ACTOR_KEYS = ("default", "expect", "judge", "env", "turns", "ends")
_TURN_KEYS = ("think", "text", "calls", "output", "usage")
_EXPECT_KEYS = ("verdict", "axes", "reasons", "info")
_ANSWERS = ("yes", "no", "abstain")
_TYPES = {"timeout": int, "offset": int, "limit": int, "replace_all": bool, "run_in_background": bool}  # others: text
PLACEHOLDERS = ("sandbox", "cwd", "home", "model", "plugin", "agent")
_PATHS = ("file_path", "path", "to")
_CODE = ("content", "old_string", "new_string")
_BRACES = re.compile(r"(?<![$#%{\\\w])\{([A-Za-z_]+(?::[^{}]*)?)\}(?!\})")
_PLACEHOLDER = re.compile(r"\{(sandbox|cwd|home|model|(?:plugin|agent):[^{}]+)\}")


@dataclass(frozen=True)
class Call:
    """One tool call: the tool's name, its input as written, the script of a subagent it starts, whether it `fails`."""

    tool: str
    input: Mapping[str, Any]
    turns: tuple["Turn", ...] = ()
    fails: bool = False


@dataclass(frozen=True)
class Turn:
    """One assistant message; `usage` has the four token counts of the Messages API."""

    text: str = ""
    think: str = ""
    calls: tuple[Call, ...] = ()
    usage: Mapping[str, int] = field(default_factory=lambda: {**INPUT, "output_tokens": 1})


@dataclass(frozen=True)
class Actor:
    """One actor: its turns, how its session `ends` (of ENDS), what the self-test `expect`s, scripted judge answers.

    `env` is where the session's environment departs from the scenario's, as on a machine that is set up wrongly:
    variables set after all else, or removed where the value is None.
    """

    name: str
    default: bool = False
    expect: Mapping[str, Any] = field(default_factory=dict)
    judge: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    turns: tuple[Turn, ...] = ()
    ends: str = "completed"
    env: Mapping[str, str | None] = field(default_factory=dict)


# Actors that every scenario has: one that looks at nothing and touches nothing, one whose transcript is 0 bytes.
COMMON = {
    "untouched": Actor("untouched", turns=(Turn("I have nothing to add."),)),
    "empty": Actor("empty", ends="empty"),
}


def load(path: Path) -> dict[str, Actor]:
    """The actors of one file, in its order; Refusal names file, line and key, and the near miss."""
    document = load_yaml(path)
    if not isinstance(document.data, dict) or not document.data:
        raise document.refuse(f"must map names to actors, not {kind(document.data)}")
    return {str(name): _actor(document, name) for name in document.data}


def load_for(path: Path) -> dict[str, Actor]:
    """The actors of a scenario: those of its file, if there is one, and COMMON, which the file may redefine."""
    own = load(path) if path.exists() else {}
    return {**own, **{name: actor for name, actor in COMMON.items() if name not in own}}


def turn_at(turns: tuple[Turn, ...], number: int) -> Turn:
    """The message to play at a position; past the end the last words are said again, so that being asked once
    more (a hook, a notification) never changes what was said last."""
    if number < len(turns):
        return turns[number]
    last = turns[-1] if turns else Turn("Done.")
    return Turn(last.text or "Done.", usage=last.usage)


def expand(value: Any, places: Mapping[str, str]) -> Any:
    """`value` with its placeholders replaced, at any depth; every other brace stays as it is.

    `places` maps the name between the braces to its text: `sandbox`, `cwd`, `home`, `model`, `plugin:NAME`,
    `agent:DESCRIPTION`. A placeholder that it lacks is a Refusal.
    """
    if isinstance(value, str):
        return _PLACEHOLDER.sub(lambda found: _place(found.group(1), places), value) if "{" in value else value
    if isinstance(value, Mapping):
        return {key: expand(item, places) for key, item in value.items()}
    return [expand(item, places) for item in value] if isinstance(value, list) else value


def spawns(turns: Iterable[Turn]) -> Iterator[Call]:
    """Every call of the script that starts a subagent, at any depth, in order of writing."""
    for turn in turns:
        for call in turn.calls:
            if call.tool in SPAWNERS:
                yield call
            yield from spawns(call.turns)


def spawned(turns: Iterable[Turn], prompt: str, places: Mapping[str, str]) -> tuple[Turn, ...] | None:
    """The script of the subagent that was started with `prompt`; None if no call of the script has it."""
    for call in spawns(turns):
        template = str(call.input.get("prompt", ""))
        wanted = [found for found in _PLACEHOLDER.findall(template) if found not in places]
        if not wanted and expand(template, places) == prompt:
            return call.turns
    return None


def placeholders(turns: Iterable[Turn]) -> Iterator[str]:
    """The names of all placeholders of a script, subagents' turns included."""
    for turn in turns:
        for text in (turn.text, turn.think, *(str(value) for call in turn.calls for value in call.input.values())):
            yield from _PLACEHOLDER.findall(text)
        for call in turn.calls:
            yield from placeholders(call.turns)


def _place(name: str, places: Mapping[str, str]) -> str:
    if name not in places:
        raise Refusal(f"placeholder '{{{name}}}' stands for nothing in this run", near_miss(name, places))
    return places[name]


def _actor(document: Document, name: Any) -> Actor:
    data = document.data[name]
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name):
        raise document.refuse(f"actor name '{name}' must be letters, digits, '.', '_' and '-'", name)
    if told := _means_another(name):
        raise document.refuse(f"actor name '{name}' {told}", name, mend="name it otherwise")
    document.only_keys(data, _ACTOR_KEYS, name)
    _typed(document, data, bool, name, "default")
    ends = data.get("ends", "completed")
    if ends not in ENDS:
        raise document.refuse(f"'ends' is '{ends}'", name, "ends", mend=near_miss(str(ends), ENDS))
    turns = _turns(document, name, "turns") if "turns" in data else ()
    expect, judge, env = expectation(document, name), _judge(document, name), _env(document, name)
    actor = Actor(name, data.get("default", False), expect, judge, turns, ends, env)
    _check_end(document, actor)
    _check_spawns(document, actor)
    return actor


def _means_another(name: str) -> str:
    """Why a run of that name would not play the actor, or ''. A live session would be started, and paid for."""
    if name in model_families():
        return "is an alias of lib/models.yaml"
    if name.startswith("claude-"):
        return "is read as the full id of a model"
    if name == SAVED:
        return "is the model of saved traces"
    if ".." in name or any(word in name for word in VERDICTS):
        return f"has '..' or one of {', '.join(VERDICTS)}, which no name of a cell has"
    return ""


def _check_end(document: Document, actor: Actor) -> None:
    """A session is cut in the middle of its calls, and completed by a message without any."""
    if actor.ends == "empty" or (actor.ends == "api_error" and not actor.turns):
        return
    if not actor.turns:
        raise document.refuse(f"actor '{actor.name}' has no turns", actor.name)
    if actor.ends != "completed" and not actor.turns[-1].calls:
        raise document.refuse(
            f"actor '{actor.name}' ends '{actor.ends}', but its last turn has no calls and so completes the session",
            actor.name,
            "turns",
            len(actor.turns) - 1,
        )
    if actor.ends == "completed":
        _must_end(document, actor.turns, actor.name, "turns")


def _must_end(document: Document, turns: tuple[Turn, ...], *trail: str | int) -> None:
    if turns and turns[-1].calls:
        raise document.refuse("the last turn has calls", *trail, len(turns) - 1, mend="end with a turn of text alone")


def _check_spawns(document: Document, actor: Actor) -> None:
    prompts: set[str] = set()
    for call in spawns(actor.turns):
        prompt = str(call.input.get("prompt", ""))
        if prompt and prompt in prompts:
            what = f"actor '{actor.name}' starts two subagents with one prompt ('{prompt[:40]}')"
            raise document.refuse(what, actor.name, mend="make the prompts differ: a subagent's script is found by it")
        prompts.add(prompt)
    described = [f"agent:{call.input.get('description')}" for call in spawns(actor.turns)]
    for name in placeholders(actor.turns):
        if name.startswith("agent:") and name not in described:
            what = f"placeholder '{{{name}}}' names no subagent"
            raise document.refuse(what, actor.name, mend=near_miss(name, described))


def expectation(document: Document, name: str) -> Mapping[str, Any]:
    """What the self-test expects of the entry called `name`: verdict, axes, a part of the reasons, some of the info."""
    expect = document.data[name].get("expect", {})
    document.only_keys(expect, _EXPECT_KEYS, name, "expect")
    if expect.get("verdict", "PASS") not in ("PASS", "FAIL", "ERROR"):
        what = f"verdict '{expect['verdict']}' is none"
        raise document.refuse(what, name, "expect", "verdict", mend="PASS, FAIL or ERROR")
    for key in ("axes", "reasons"):
        _typed(document, expect, str, name, "expect", key)
    if "info" in expect and not isinstance(expect["info"], dict):
        raise document.refuse(f"'info' must be a mapping, not {kind(expect['info'])}", name, "expect", "info")
    return expect


def _env(document: Document, name: str) -> Mapping[str, str | None]:
    data = document.data[name].get("env", {})
    if not isinstance(data, dict):
        raise document.refuse(f"'env' must be a mapping, not {kind(data)}", name, "env")
    for variable, value in data.items():
        if not isinstance(variable, str) or not isinstance(value, (str, type(None))):
            what = f"variable '{variable}' must be text, or null to remove it, not {kind(value)}"
            raise document.refuse(what, name, "env", variable, mend="quote it")
    return data


def _judge(document: Document, name: str) -> Mapping[str, Mapping[str, str]]:
    """Rubric -> {answer, quote}. A bare `yes` is a YAML boolean: taken for the word that was written."""
    found: dict[str, Mapping[str, str]] = {}
    data = document.data[name].get("judge", {})
    if not isinstance(data, dict):
        raise document.refuse(f"'judge' must map rubrics to answers, not {kind(data)}", name, "judge")
    for rubric, item in data.items():
        _refuse_unknown_rubric(document, name, rubric)
        document.only_keys(item, ("answer", "quote"), name, "judge", rubric)
        answer = {True: "yes", False: "no"}.get(item.get("answer"), item.get("answer"))
        if answer not in _ANSWERS:
            mend = f"use one of: {', '.join(_ANSWERS)}"
            raise document.refuse(f"answer '{answer}' is none", name, "judge", rubric, mend=mend)
        found[str(rubric)] = {"answer": answer, "quote": str(item.get("quote", ""))}
    return found


def _refuse_unknown_rubric(document: Document, name: str, rubric: Any) -> None:
    """A rubric of the suite whose actors these are: a script that lies elsewhere belongs to none."""
    actors = document.path.parent
    known = [path.stem for path in (actors.parent / "rubrics").glob("*.md")]
    if actors.name == "actors" and rubric not in known:
        what = f"'judge' answers rubric '{rubric}', which '{actors.parent.name}' does not have"
        raise document.refuse(what, name, "judge", rubric, mend=near_miss(str(rubric), known))


def _turns(document: Document, *trail: str | int) -> tuple[Turn, ...]:
    data = _at(document, trail)
    if not isinstance(data, list):
        raise document.refuse(f"'turns' must be a list, not {kind(data)}", *trail)
    return tuple(_turn(document, *trail, place) for place in range(len(data)))


def _turn(document: Document, *trail: str | int) -> Turn:
    data = _at(document, trail)
    document.only_keys(data, _TURN_KEYS, *trail)
    for key in ("think", "text"):
        _typed(document, data, str, *trail, key)
        _refuse_near_placeholder(document, data.get(key), *trail, key)
    calls = data.get("calls", [])
    if not isinstance(calls, list):
        raise document.refuse(f"'calls' must be a list, not {kind(calls)}", *trail, "calls")
    built = tuple(_call(document, *trail, "calls", place) for place in range(len(calls)))
    text, think = data.get("text", ""), data.get("think", "")
    if not built and not text.strip():
        raise document.refuse("a turn needs 'text' or 'calls'", *trail)
    size = len(text) + len(think) + sum(len(json.dumps(call.input)) for call in built)
    usage = {**INPUT, "output_tokens": max(1, round(size / 4)), **_usage(document, *trail)}
    return Turn(text, think, built, usage)


def _usage(document: Document, *trail: str | int) -> dict[str, int]:
    data = _at(document, trail)
    usage = data.get("usage", {})
    document.only_keys(usage, (*INPUT, "output_tokens"), *trail, "usage")
    given = {**usage, **({"output_tokens": data["output"]} if "output" in data else {})}
    for key, value in given.items():
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise document.refuse(f"'{key}' must be a number of tokens, not '{value}'", *trail)
    return given


def _call(document: Document, *trail: str | int) -> Call:
    data = _at(document, trail)
    document.only_keys(data, (*TOOLS, "turns", "fails"), *trail, what="tool")
    _typed(document, data, bool, *trail, "fails")
    tools = [key for key in data if key not in ("turns", "fails")]
    if len(tools) != 1:
        raise document.refuse("a call names exactly one tool", *trail)
    tool = tools[0]
    given = data[tool] if data[tool] is not None else {}
    required, others = TOOLS[tool]
    document.only_keys(given, (*required, *others), *trail, tool, what=f"{tool} parameter")
    for key in given:
        _typed(document, given, _TYPES.get(key, str), *trail, tool, key)
        _refuse_near_placeholder(document, given[key], *trail, tool, key)
    fails = data.get("fails", False)
    if "turns" not in data:
        return Call(tool, given, fails=fails)
    if tool not in SPAWNERS:
        raise document.refuse(f"'turns' belong to a call of {' or '.join(SPAWNERS)}, not of {tool}", *trail, "turns")
    turns = _turns(document, *trail, "turns")
    _must_end(document, turns, *trail, "turns")
    return Call(tool, given, turns, fails)


def _refuse_near_placeholder(document: Document, value: Any, *trail: str | int) -> None:
    """Refuse braces that are a slip of a placeholder: any in a path, elsewhere those that are nearly one.

    What a file is to hold is left alone: it may well be code with braces of its own.
    """
    key = trail[-1]
    if not isinstance(value, str) or key in _CODE:
        return
    for name in _BRACES.findall(value):
        near = difflib.get_close_matches(name.partition(":")[0], PLACEHOLDERS, n=1)
        if not _PLACEHOLDER.fullmatch(f"{{{name}}}") and (near or key in _PATHS):
            mend = near_miss(name.partition(":")[0], PLACEHOLDERS)
            raise document.refuse(f"'{{{name}}}' in '{key}' stands for nothing", *trail, mend=mend)


def _typed(document: Document, data: Mapping[str, Any], wanted: type, *trail: str | int) -> None:
    """Refuse the value of `data` at the last key of `trail` unless it is absent or of the type."""
    key = str(trail[-1])
    if key in data and type(data[key]) is not wanted:
        mend = "quote it" if wanted is str else ""
        raise document.refuse(f"'{key}' must be {kind(wanted())}, not {kind(data[key])}", *trail, mend=mend)


def _at(document: Document, trail: tuple[str | int, ...]) -> Any:
    data = document.data
    for step in trail:
        data = data[step]
    return data
