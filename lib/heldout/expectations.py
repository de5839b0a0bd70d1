"""What a row must be: the `expect` of an actor's script held against the row that came out."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from heldout.rows import Row
from heldout.scenario import Scenario


def of_common(item: Scenario, actor: str) -> dict[str, Any]:
    """What the actors of every scenario must get: nothing done passes no positive, nothing recorded decides nothing."""
    if actor == "empty":
        return {"verdict": "ERROR", "reasons": "empty-transcript"}
    return {"verdict": "PASS" if item.polarity == "negative" else "FAIL"}


def differences(expected: Mapping[str, Any], row: Row) -> list[str]:
    """Where a row is not what was expected: verdict, axes, a part of the reasons, entries of the info."""
    axes = " ".join(f"{letter}:{outcome}" for letter, outcome in row.axes.items())
    reasons = "; ".join(row.reasons)
    wrong = [
        f"{key} is '{got}', expected '{expected[key]}'"
        for key, got, same in (
            ("verdict", row.verdict, row.verdict == expected["verdict"]),
            ("axes", axes, axes == expected.get("axes", axes)),
            ("reasons", reasons, expected.get("reasons", "") in reasons),
        )
        if not same
    ]
    for key, value in expected.get("info", {}).items():
        if row.info.get(key) != str(value):
            wrong.append(f"info {key} is '{row.info.get(key)}', expected '{value}'")
    return wrong


def proven(expected: Mapping[str, Any], row: Row) -> dict[str, str]:
    """What a row that is as expected proves: the axes, by letter, that could not have come out otherwise unnoticed.

    An undecided axis proves nothing, and neither does one whose turn the expectation would have taken as well.
    """
    turned = {letter: _turned(row, letter) for letter, outcome in row.axes.items() if outcome in _OTHER}
    return {letter: row.axes[letter] for letter, other in turned.items() if differences(expected, other)}


_OTHER = {"pass": "fail", "fail": "pass"}


def _turned(row: Row, letter: str) -> Row:
    """The row with one axis turned round, and with it what follows of that: the verdict, and what failed."""
    axes = {**row.axes, letter: _OTHER[row.axes[letter]]}
    outcomes = set(axes.values())
    verdict = "FAIL" if "fail" in outcomes else "PASS" if outcomes == {"pass"} else "ERROR"
    failed = [item for item in row.info.get("failed", "").split(",") if item and item[:2] != f"{letter}:"]
    failed += [f"{letter}:"] if axes[letter] == "fail" else []
    return replace(row, verdict=verdict, axes=axes, info={**row.info, "failed": ",".join(failed)})
