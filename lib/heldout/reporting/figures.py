"""The figures of rows: what one row shows, and what many add up to. A figure that is absent is not zero."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from math import isfinite
from statistics import median
from typing import Any

from heldout.reporting.printed import rounded
from heldout.rows import VERDICTS, Row

# What a session cost, by the key of a row's info: turns and calls, time, money, and how the work was split.
ECONOMICS = ("turns", "tools", "ms", "usd", "mltok", "sctok", "mlshare", "prebytes", "spawns", "maxrounds")

MOST = 1e15  # a figure beyond it is a damaged one: sums must stay exact

Figure = Callable[[Row], float | None]


def agent_verdict(row: Row) -> str | None:
    """What the verifier of a saved trace said; `verdict` alone is always ours."""
    return row.info.get("agent_verdict")


def tool_calls(row: Row) -> float | None:
    return number(row, "tools")


def duration_ms(row: Row) -> float | None:
    return number(row, "ms")


def evidence(row: Row) -> dict[str, Any] | None:
    """`covered` and `uncovered` evidence tools of a row, and the share that is covered; None where none is required."""
    covered, uncovered = (list(filter(None, row.info.get(key, "").split(","))) for key in ("covered", "uncovered"))
    if not covered and not uncovered:
        return None
    share = len(covered) / (len(covered) + len(uncovered))
    return {"covered": covered, "uncovered": uncovered, "coverage": rounded(share)}


def vias(row: Row) -> dict[str, str]:
    """By axis, the route on which it passed."""
    found = {"A" if key == "via" else key[0]: value for key, value in row.info.items() if key.endswith("via")}
    return dict(sorted(found.items()))


def failed_checks(row: Row) -> list[str]:
    """`AXIS:word` of each check that failed."""
    return list(filter(None, row.info.get("failed", "").split(",")))


def aggregate(rows: Sequence[Row]) -> dict[str, Any]:
    """What rows add up to. Rows of ERROR are no trials: they are counted, by code, and give no figures."""
    count = Counter(row.verdict for row in rows)
    trials = [row for row in rows if row.verdict != "ERROR"]
    return {
        "cells": len(rows),
        "verdicts": {verdict: count[verdict] for verdict in VERDICTS},
        "trials": len(trials),
        "passed": count["PASS"],
        "pass_rate": rounded(count["PASS"] / len(trials)) if trials else None,
        "errors": dict(sorted(Counter(row.code or "unknown" for row in rows if row.verdict == "ERROR").items())),
        "agent_verdicts": dict(sorted(Counter(filter(None, map(agent_verdict, trials))).items())),
        "tool_calls": _mean(trials, tool_calls),
        "duration_ms": _mean(trials, duration_ms),
    }


def economics(rows: Sequence[Row]) -> dict[str, Any]:
    """Median, lowest and highest of each figure of ECONOMICS, and how many trials have it; never part of a verdict."""
    trials = [row for row in rows if row.verdict != "ERROR"]
    found: dict[str, Any] = {}
    for key in ECONOMICS:
        if values := [value for row in trials if (value := number(row, key)) is not None]:
            middle = round(median(values), 4)
            found[key] = {"median": middle, "low": min(values), "high": max(values), "of": len(values)}
    return found


def tiers(rows: Iterable[Row]) -> dict[str, int]:
    """How often calls for subagents named each model, over all trials (info `tiers`: `haiku:2,unnamed:1`)."""
    found: Counter[str] = Counter()
    for row in rows:
        for part in filter(None, row.info.get("tiers", "").split(",") if row.verdict != "ERROR" else ()):
            model, _, number = part.rpartition(":")
            found[model] += int(number) if number.isascii() and number.isdigit() and len(number) < 10 else 0
    return dict(sorted(found.items()))


def _mean(trials: Iterable[Row], figure: Figure) -> dict[str, Any]:
    """The mean of the trials that have a figure, and how many have it."""
    found = [value for row in trials if (value := figure(row)) is not None]
    return {"mean": round(sum(found) / len(found), 2) if found else None, "of": len(found)}


def number(row: Row, key: str) -> float | None:
    """A figure of the row's info; None where it has none."""
    try:
        value = float(row.info[key])
    except (KeyError, ValueError):
        return None
    if not isfinite(value) or abs(value) > MOST:
        return None
    return int(value) if value.is_integer() else value
