"""What a row must be: the `expect` of an actor's script held against the row that came out."""

from collections.abc import Mapping
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
