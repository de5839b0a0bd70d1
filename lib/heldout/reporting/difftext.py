"""A comparison of two runs for people, as aligned text or as Markdown."""

from collections.abc import Sequence
from typing import Any, cast

from heldout.reporting import mixture
from heldout.reporting.printed import p_value, rate, short
from heldout.reporting.tables import escaped, heading, table


def shown(found: dict[str, Any], form: str, notes: Sequence[str] = ()) -> str:
    """The whole comparison (lib/diff.schema.json). `form` is text or md; `notes` come below the headline."""
    lines = [*_head(found, notes, form), *table(_sums(found), form)]
    if found["tests"]:
        lines += [*heading("sessions, tested", form), *table(_tests(found["tests"]), form)]
    if found["items"]:
        lines += [*heading("differences", form), *table(_items(found["items"]), form)]
    bullet = "- " if form == "md" else ""
    if because := [f"{_place(item)}: {reason}" for item in found["items"] for reason in item["reasons"]]:
        lines += [*heading("reasons", form), *(bullet + escaped(line, form) for line in because)]
    if found["errors"]:
        lines += heading("errors, kept apart", form)
        lines += [bullet + escaped(line, form) for error in found["errors"] for line in _error(error)]
    if found["mixed"]:
        lines += ["", f"mixed: {mixture.told(found['mixed'])}"]
    return "\n".join(lines) + "\n"


def _head(found: dict[str, Any], notes: Sequence[str], form: str) -> list[str]:
    summary, base, current = found["summary"], found["base"], found["current"]
    told = ", ".join(f"{summary[f'{outcome}s']} {outcome}s" for outcome in ("regression", "improvement", "change"))
    told += f", {summary['undecided']} undecided" if summary["undecided"] else ""
    errors = sum(len(error["current"]) for error in found["errors"])
    lines = [
        f"{'# ' if form == 'md' else ''}{base['name']} to {current['name']}: {summary['compared']} cases compared, "
        f"{told}" + (f", {errors} ERROR" if errors else "")
    ]
    lines += notes
    if summary["left_out"]:
        left_out = f"{summary['left_out']} others are left out"
        lines.append(f"the figures are of the {summary['decided']} cases that both decided; {left_out}")
    if found["unknown"]:
        sides = " and ".join(found["unknown"])
        lines.append(f"the instrument of {sides} is not on record: cases were known by what their files say")
    return [line for text in lines for line in ([text, ""] if form == "md" else [text])] + [""] * (form != "md")


def _sums(found: dict[str, Any]) -> list[list[str]]:
    summary = found["summary"]
    lines = [["", "base", "current", "delta"]]
    for key, name, unit in (
        ("pass_rate", "pass rate", 1),
        ("tool_calls", "tool calls", 1),
        ("duration_ms", "seconds", 1000),
    ):
        pair = summary[key]
        lines.append([name, *(_number(pair[side], unit) for side in ("old", "new")), _signed(pair["delta"], unit)])
    verdicts = summary["agent_verdicts"]
    if verdicts["old"] or verdicts["new"]:
        told = [_counts(verdicts[side]) or "-" for side in ("old", "new")]
        lines.append(["agent verdicts", *told, _counts(verdicts["delta"], "+") or "-"])
    return lines


def _tests(tests: list[dict[str, Any]]) -> list[list[str]]:
    lines = [["suite", "model", "scenarios", "difference", "95 %", "p", "outcome"]]
    for test in tests:
        difference, low, high = (rate(value, sign="+") for value in (test["difference"], *test["interval"]))
        figures = [f"{test['scenarios']}", difference, f"{low} to {high}"]
        lines.append([test["suite"], test["model"], *figures, p_value(test["adjusted"]), _outcome(test)])
    return lines


def _outcome(test: dict[str, Any]) -> str:
    """The decision; of an undecided one what it would take."""
    if test["decision"] != "undecided":
        return test["decision"]
    if not test["scenarios"]:
        return "undecided: no scenario was measured in both"
    enough = f"{test['reps_needed']} a scenario would be" if test["reps_needed"] else "even 1,000 would not be"
    return f"undecided: not enough reps to say, {enough}"


def _items(items: list[dict[str, Any]]) -> list[list[str]]:
    """One line a difference: what weighs most comes first."""
    order = ("regression", "improvement", "undecided", "change")
    lines = [["outcome", "what", "where", "base", "current", "delta", "bar"]]
    for item in sorted(items, key=lambda item: order.index(item["outcome"])):
        unit = 1000 if item["kind"] == "duration_ms" else 1
        what = {"duration_ms": "seconds"}.get(item["kind"], item["kind"].replace("_", " ").replace("-", " "))
        values = [_value(item[side], unit) for side in ("old", "new")]
        lines.append([item["outcome"], what, _place(item), *values, _value(item["delta"], unit, "+"), item["bar"]])
    return lines if any(line[-1] for line in lines[1:]) else [line[:-1] for line in lines]


def _place(item: dict[str, Any]) -> str:
    where = f"{item['scenario'] or item['suite']} {item['model']}"
    return f"{where}: {item['tool']}" if item["tool"] else where


def _error(error: dict[str, Any]) -> list[str]:
    where = f"{error['scenario']} {error['model']}"
    lost = ", which BASE could decide" if error["lost"] else ""
    return [
        f"{where}: {side}{lost if side == 'current' else ''}: {reason}"
        for side in ("base", "current")
        for reason in dict.fromkeys(error[side])
    ]


def _value(value: Any, unit: int, sign: str = "") -> str:
    if value is None or isinstance(value, str):
        return value or "-"
    if isinstance(value, dict):
        return _counts(cast(dict[str, int], value), sign)
    return _signed(value, unit) if sign else _number(value, unit)


def _counts(counts: dict[str, int], sign: str = "") -> str:
    return ", ".join(f"{count:{sign}d} {verdict}" for verdict, count in counts.items())


def _number(value: float | None, unit: int) -> str:
    return "-" if value is None else short(value / unit)


def _signed(value: float | None, unit: int) -> str:
    return "-" if value is None else short(value / unit, sign="+")
