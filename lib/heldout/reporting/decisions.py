"""What the difference of two runs of sessions amounts to: an exact test per suite × model, bar flips, the tuning rule.

Saved traces and embedded actors do the same each time and are not decided here (heldout.reporting.comparison).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from heldout import stats
from heldout.errors import Refusal
from heldout.reporting import inference, summary
from heldout.reporting.summary import Group
from heldout.rows import Row

KEEP, DISCARD, UNDECIDED = "KEEP", "DISCARD", "UNDECIDED"
HELPED, HURT, NEUTRAL, UNCLEAR = "helped", "hurt", "neutral", "unclear"

Rows = Sequence[Row]
Place = tuple[str, str]  # suite, model


def deterministic(rows: Iterable[Row]) -> bool:
    """Whether no model had a hand in any of the rows: each of their differences is real."""
    return all(row.info.get("agent") in ("trace", "actor") for row in rows)


def of_runs(base: Rows, current: Rows) -> dict[Place, stats.Comparison]:
    """Each suite × model that both runs have, over the reps of its scenarios; Holm's adjustment is over all of them."""
    before, after = _by_place(base), _by_place(current)
    runs = {
        "\t".join(place): (_counts(before[place]), _counts(after[place]))
        for place in before
        if place in after and not deterministic([*before[place], *after[place]])
    }
    decided = stats.compare_all(runs)
    return {(suite, model): decided[name] for name in runs for suite, _, model in [name.partition("\t")]}


def plain(place: Place, told: stats.Comparison) -> dict[str, Any]:
    """A comparison as data: fractions of 1; `reps_needed` is null where it does not apply or is over 1,000."""
    return {
        "suite": place[0],
        "model": place[1],
        "difference": round(told.difference, 4),
        "interval": inference.pair(told.interval),
        "p": round(told.p, 4),
        "adjusted": round(told.adjusted, 4),
        "floor": round(told.floor, 4),
        "decision": told.decision,
        "reps_needed": told.reps_needed,
        "scenarios": told.scenarios,
        "left_out": list(told.left_out),
    }


def flips(base: Rows, current: Rows) -> dict[tuple[str, str], tuple[str, str]]:
    """(scenario, model) whose pass bar has another outcome in the two runs, with both."""
    before, after = _groups(base), _groups(current)
    pairs = {key: (inference.bar(before[key]), inference.bar(after[key])) for key in before if key in after}
    return {key: pair for key, pair in pairs.items() if pair[0] != pair[1]}


@dataclass(frozen=True)
class Side:
    """What the tuning rule saw of one model: `effect` is HELPED, HURT, NEUTRAL or UNCLEAR, `told` the figures."""

    model: str
    effect: str
    told: str


def tuning(base: Rows, current: Rows, keep_on: Sequence[str], guard: Sequence[str]) -> tuple[str, list[Side]]:
    """KEEP, DISCARD or UNDECIDED for a changed wording: a screen on point estimates and bar flips, not a proof.

    DISCARD if a guard is hurt (a bar flips from met to missed, or the fall is significant) or if a keep-on model is not
    helped (its mean did not rise and no bar was newly met). UNDECIDED if anything is unclear: a mean and a flip that
    point in opposite directions, a guard whose mean fell without a flip, reps of ERROR that leave a bar open, a
    scenario that only one run could decide. KEEP otherwise.
    """
    compared, flipped = of_runs(base, current), flips(base, current)
    sides = [_side(model, True, compared, flipped) for model in keep_on]
    sides += [_side(model, False, compared, flipped) for model in guard]
    helped, guarded = sides[: len(keep_on)], sides[len(keep_on) :]
    if any(side.effect == HURT for side in sides) or any(side.effect == NEUTRAL for side in helped):
        return DISCARD, sides
    unclear = any(side.effect == UNCLEAR for side in [*helped, *guarded])
    return UNDECIDED if unclear else KEEP, sides


def _side(
    model: str,
    must_help: bool,
    compared: Mapping[Place, stats.Comparison],
    flipped: Mapping[tuple[str, str], tuple[str, str]],
) -> Side:
    mine = [told for (_, name), told in compared.items() if name == model]
    if not mine:
        raise Refusal(f"'{model}' has no sessions in both runs", "name models of MODELS")
    outcomes = [pair for (_, name), pair in flipped.items() if name == model]
    gained, lost = outcomes.count(("missed", "met")), outcomes.count(("met", "missed"))
    weight = sum(told.scenarios for told in mine)
    difference = sum(told.difference * told.scenarios for told in mine) / weight if weight else 0.0
    unknown = any("undecided" in pair for pair in outcomes) or any(told.left_out for told in mine) or not weight
    significant = any(told.decision == "regression" for told in mine)
    figures = (
        f"mean {difference:+.2f}, bars {gained} gained and {lost} lost, p {min(told.adjusted for told in mine):.3g}"
    )
    effect = _effect(difference, gained, lost, significant, unknown, must_help)
    return Side(model, effect, figures + (", some cells undecided" if unknown else ""))


def _effect(difference: float, gained: int, lost: int, significant: bool, unknown: bool, must_help: bool) -> str:
    falls, rises = difference < -1e-9, difference > 1e-9
    if must_help:
        if falls and not gained:
            return HURT
        if unknown or (rises and lost) or (falls and gained) or (gained and lost):
            return UNCLEAR
        return HELPED if rises or gained else NEUTRAL
    if lost or significant:
        return HURT
    return UNCLEAR if falls or unknown else NEUTRAL


def _by_place(rows: Rows) -> dict[Place, list[Row]]:
    found: dict[Place, list[Row]] = {}
    for row in rows:
        found.setdefault((row.info.get("suite", ""), row.model), []).append(row)
    return found


def _counts(rows: Rows) -> dict[str, stats.Counts]:
    return {group.scenario: inference.counts(group) for group in summary.groups(rows)}


def _groups(rows: Rows) -> dict[tuple[str, str], Group]:
    return {(group.scenario, group.model): group for group in summary.groups(rows)}
