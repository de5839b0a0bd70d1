"""Gates for CI: what the mean rate of a model, or the low end of its interval, must at least be.

    haiku>=2/3                 the mean over the scenarios of each suite
    vault-write/haiku>=0.67    of one suite alone
    low(haiku)>=0.5            the low end of its 95 % interval, for scenarios like these
    *>=0.67                    every model

What was measured is compared exactly, as a fraction: 2/3 is less than 0.67, and 209 of 210 are less than 1.

Reps of ERROR, and those asked for and never measured, are no trials, yet they could have gone either way: a gate
holds if it would hold had they all failed, is missed if it would be missed had they all passed, and is undecided
between the two.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from heldout import stats
from heldout.errors import Refusal
from heldout.reporting import inference, summary
from heldout.reporting.printed import short
from heldout.reporting.summary import Group
from heldout.reporting.text import between
from heldout.reporting.unmeasured import Unmeasured
from heldout.rows import Row

APART = {"errors": "ERROR", "unmeasured": "unmeasured"}  # of a group: what is no trial
HELD, MISSED, UNDECIDED = "held", "missed", "undecided"
MOST_DIGITS = 12
NONE = Fraction(2)  # no rate
_GATE = re.compile(
    r"\s*(?P<low>low\()?(?:(?P<suite>[^/()\s]+)/)?(?P<model>[^()\s]+?)(?(low)\))\s*>=\s*(?P<rate>[\d.]+(?:/\d+)?)\s*"
)


@dataclass(frozen=True)
class Gate:
    text: str
    suite: str
    model: str
    low: bool
    rate: Fraction


def parse(text: str) -> Gate:
    """One gate; Refusal if it is none."""
    match = _GATE.fullmatch(text)
    try:
        rate = Fraction(match["rate"]) if match else NONE
    except (ValueError, ZeroDivisionError):
        rate = NONE
    if not match or not 0 <= rate <= 1:
        raise Refusal(
            f"'{text}' is no gate",
            "write MODEL>=RATE, SUITE/MODEL>=RATE or low(MODEL)>=RATE, RATE from 0 to 1, such as 0.8 or 2/3",
        )
    return Gate(
        text,
        match["suite"] or "*",
        match["model"],
        bool(match["low"]),
        rate,
    )


def tried(gate: Gate, rows: Sequence[Row], unmeasured: Sequence[Unmeasured] = ()) -> list[tuple[str, str]]:
    """(outcome, line for people) for each suite × model that the gate is about; Refusal where it is about none."""
    found: dict[tuple[str, str], list[Group]] = {}
    strays: list[Group] = []
    for group in summary.groups(rows, unmeasured):
        if gate.model not in ("*", group.model):
            continue
        if not group.suite:
            strays.append(group)  # it could not be read so far as to say its suite, which may be any
        elif gate.suite in ("*", group.suite):
            found.setdefault((group.suite, group.model), []).append(group)
    for group in strays:
        places = [place for place in found if place[1] == group.model]
        for place in places or [("", group.model)]:
            found.setdefault(place, []).append(group)
    if not found:
        models = ", ".join(dict.fromkeys(f"{row.info.get('suite', '')}/{row.model}" for row in rows))
        raise Refusal(f"gate '{gate.text}' is about nothing that was measured", f"there are {models}")
    return [_one(gate, " ".join(place), groups) for place, groups in found.items()]


def _one(gate: Gate, place: str, groups: list[Group]) -> tuple[str, str]:
    worst = _measured(gate, [replace(group, failed=group.failed + group.open) for group in groups])
    best = _measured(gate, [replace(group, passed=group.passed + group.open) for group in groups])
    outcome = HELD if worst >= gate.rate else MISSED if best < gate.rate else UNDECIDED
    told, mean = inference.of_suite(groups), "no trial"
    if told["scenarios"]:
        mean = f"{_told(_mean(groups), gate.rate)} {between(told['interval'])}".rstrip()
        mean += f", low {_told(_measured(gate, groups), gate.rate)}" if gate.low else ""
    apart = {name: sum(getattr(group, key) for group in groups) for key, name in APART.items()}
    more = "".join(f", {number} {name}" for name, number in apart.items() if number)
    return outcome, f"gate {gate.text} {outcome}: {place} {mean}{more}"


def _measured(gate: Gate, groups: list[Group]) -> Fraction:
    """The figure that the gate is about; 0 without a trial."""
    if gate.low and not all(group.trace for group in groups):  # a saved trace is the same each time
        return Fraction(stats.suite_interval([inference.counts(group) for group in groups]).low)
    return _mean(groups)


def _mean(groups: list[Group]) -> Fraction:
    rates = [Fraction(group.passed, group.trials) for group in groups if group.trials]
    return sum(rates, Fraction()) / len(rates) if rates else Fraction()


def _told(value: Fraction, limit: Fraction) -> str:
    """The figure with as many digits as it takes to see on which side of the limit it is."""
    figures = (short(float(value), digits) for digits in range(3, MOST_DIGITS))
    return next((text for text in figures if (Fraction(text) >= limit) == (value >= limit)), str(value))
