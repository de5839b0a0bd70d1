"""One cell as the page shows it: axes with evidence, judge, final message, actions, spawns, identity; all as text."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

import orjson

from heldout.reporting.details import Details
from heldout.reporting.tasks import Tasks
from heldout.reporting.visible import cut

REASONS, EVIDENCE, ACTIONS, SPAWNS = 20, 20, 40, 40  # shown a cell
LINE, INPUT, MESSAGE = 1000, 240, 4000  # characters of a reason or evidence line, of an action's input, of a message

FIGURES = {
    "turns": "turns",
    "tools": "tool calls",
    "ms": "milliseconds",
    "usd": "US dollars",
    "mltok": "main loop output tokens",
    "sctok": "subagent output tokens",
    "mlshare": "main loop share of output",
    "prebytes": "bytes read before the first spawn",
    "spawns": "spawns",
    "maxrounds": "most rounds with one subagent",
}
IDENTITY = {
    "agent": "agent",
    "cli": "client",
    "served": "models served",
    "plays": "plays the script of",
    "answered-by": "answer written by",
    "plugins": "plugins",
    "instrument": "instrument (run digest.score digest)",
    "case": "case digest",
    "ended": "ended",
}
_ELSEWHERE = {"suite", "judge", "failed", *FIGURES, *IDENTITY}  # shown in other words, or as a figure or identity

View = dict[str, Any]


def view(number: int, row: Mapping[str, Any], details: Details, tasks: Tasks) -> View:
    """What the template needs of one cell of a report. Texts of the session are left out where its Task is unknown."""
    record, notes = details.record, list(details.notes)
    facts: Mapping[str, Any] = details.facts
    suite = record.suite if record else row["suite"] or ""
    # A row quotes no Task (heldout.checks.scoring); the files of a session may.
    why = tasks.why_unknown(suite, row["scenario"], record.run_parts.get("task") if record else None)
    why = why if details.facts or details.judgements else ""
    texts = not why
    if why:
        notes.append(f"texts of the session are left out: {why}, so that what they quote of it cannot be hidden")
        facts = dict[str, Any]()
    shorten = _shortener(record.sandbox if record else "")
    return {
        "id": f"c{number}",
        **{key: row[key] for key in ("scenario", "model", "rep", "verdict", "code", "agent_verdict")},
        "axes": [_axis(letter, row, details if texts else Details()) for letter in row["axes"]],
        "failed": row["failed_checks"],
        "reasons": _some(row["reasons"], REASONS),
        "notes": notes,
        "folder": details.folder,
        "judgements": details.judgements if texts else [],
        "message": _message(facts),
        "actions": [_action(item, shorten) for item in _dicts(facts.get("actions"))[:ACTIONS]],
        "more_actions": max(0, len(_dicts(facts.get("actions"))) - ACTIONS),
        "spawns": [_spawn(item) for item in _dicts(facts.get("spawns"))[:SPAWNS]],
        "more_spawns": max(0, len(_dicts(facts.get("spawns"))) - SPAWNS),
        "read": bool(facts),
        "info": cut("; ".join(f"{key}={value}" for key, value in row["info"].items()), LINE),
        **(_by_name(row["info"], details) if details.folder else {}),
    }


def _by_name(info: Mapping[str, str], details: Details) -> View:
    other = [(key, cut(value, LINE)) for key, value in info.items() if key not in _ELSEWHERE]
    return {
        "figures": [*_named(info, FIGURES), *other],
        "identity": [*_named(info, IDENTITY), *_recorded(details)],
    }


def _axis(letter: str, row: Mapping[str, Any], details: Details) -> View:
    return {
        "letter": letter,
        "outcome": row["axes"][letter],
        "via": row["via"].get(letter, ""),
        "judged": letter in row["judged"],
        "evidence": _some(details.evidence.get(letter, ()), EVIDENCE),
    }


def _some(lines: Sequence[str], most: int) -> list[str]:
    more = [f"and {len(lines) - most} more"] if len(lines) > most else []
    return [*(cut(line, LINE) for line in lines[:most]), *more]


def _message(facts: Mapping[str, Any]) -> str | None:
    """The final message; None where it is not known, or where there was none."""
    answers = facts.get("answers")
    text = cast(Mapping[str, Any], answers).get("final_message") if isinstance(answers, dict) else None
    return cut(text, MESSAGE) if isinstance(text, str) else None


def _action(item: Mapping[str, Any], shorten: Callable[[str], str]) -> View:
    given: Any = item.get("input")
    parts = cast(dict[str, Any], given).items() if isinstance(given, dict) else [("", given)] if given else []
    done = item.get("ok")
    ended = "done" if done is True else "no result" if done is not False else "failed"
    return {
        "n": _text(item.get("n")),
        "agent": _text(item.get("agent")),
        "tool": _text(item.get("tool")),
        "input": [(_text(key), cut(shorten(_text(value)), INPUT)) for key, value in list(parts)[:8]],
        "ended": "denied" if item.get("denied") is True else ended,
        "bytes": _text(item.get("result_bytes")),
    }


def _spawn(item: Mapping[str, Any]) -> View:
    keys = ("type", "description", "requested_model", "resolved_model", "status", "rounds", "output_tokens")
    return {key: cut(_text(item.get(key)), LINE) for key in keys}


def _shortener(sandbox: str) -> Callable[[str], str]:
    """Paths in the sandbox are told from its root: the folder of a session says nothing to a reader."""
    if len(sandbox) < 2:
        return lambda text: text
    inside = re.compile(re.escape(sandbox) + r"(?:/|\b)")
    return lambda text: inside.sub("", text)


def _recorded(details: Details) -> Iterable[tuple[str, str]]:
    record = details.record
    if record is None:
        return []
    found = {
        "model asked for": record.asked,
        "started": record.started,
        "finished": record.ended_at,
        "attempt": str(record.attempt),
        "run digest by part": ", ".join(f"{key} {str(value)[:12]}" for key, value in record.run_parts.items()),
        "subject": ", ".join(f"{key} {str(value)[:12]}" for key, value in record.subjects.items()),
        "environment": ", ".join(map(str, record.environment)),
    }
    return [(name, cut(value, LINE)) for name, value in found.items() if value]


def _named(info: Mapping[str, str], names: Mapping[str, str]) -> list[tuple[str, str]]:
    return [(name, cut(info[key], LINE)) for key, name in names.items() if key in info]


def _dicts(value: Any) -> list[dict[str, Any]]:
    items = cast(list[Any], value) if isinstance(value, list) else []
    return [cast(dict[str, Any], item) for item in items if isinstance(item, dict)]


def _text(value: Any) -> str:
    """Whatever stands in a transcript, as text."""
    if value is None or isinstance(value, str):
        return value or ""
    return orjson.dumps(value, default=str).decode()
