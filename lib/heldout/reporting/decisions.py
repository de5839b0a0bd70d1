"""What the difference of two runs of sessions amounts to: an exact test per suite × model, bar flips, the tuning rule.

Saved traces and embedded actors do the same each time and are not decided here (heldout.reporting.comparison).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from heldout import stats
from heldout.errors import Refusal
from heldout.reporting import inference, summary
from heldout.reporting.build import by_suite
from heldout.reporting.printed import LEAST_P, p_value, rate, rounded
from heldout.reporting.summary import Group
from heldout.reporting.unmeasured import Unmeasured
from heldout.rows import Row

KEEP, DISCARD, UNDECIDED = "KEEP", "DISCARD", "UNDECIDED"
HELPED, HURT, NEUTRAL, UNCLEAR = "helped", "hurt", "neutral", "unclear"

Rows = Sequence[Row]
Place = tuple[str, str]  # suite, model
Key = tuple[str, str, str]  # suite, scenario, model
Left = tuple[Sequence[Unmeasured], Sequence[Unmeasured]]  # what base and current were asked for and did not measure
NONE_LEFT: Left = ((), ())


def deterministic(rows: Iterable[Row]) -> bool:
    """Whether no model had a hand in any of the rows, as far as they say: each of their differences is real."""
    agents = {row.info["agent"] for row in rows if "agent" in row.info}
    return bool(agents) and agents <= {"trace", "actor"}


def of_runs(base: Rows, current: Rows) -> dict[Place, stats.Comparison]:
    """Each suite × model that both runs have, over the reps of its scenarios; Holm's adjustment is over all of them."""
    before, after = by_suite(base), by_suite(current)
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
        "difference": rounded(told.difference),
        "interval": inference.pair(told.interval),
        "p": _p(told.p),
        "adjusted": _p(told.adjusted),
        "floor": _p(told.floor),
        "decision": told.decision,
        "reps_needed": told.reps_needed,
        "scenarios": told.scenarios,
        "left_out": list(told.left_out),
    }


def _p(value: float) -> float:
    """Four digits, of a small one the first four that it has: 0 would claim more than any test can."""
    return round(value, 4) if value >= LEAST_P else float(f"{value:.4g}")


def flips(base: Rows, current: Rows, unmeasured: Left = NONE_LEFT) -> dict[Key, tuple[str, str]]:
    """(suite, scenario, model) whose pass bar has another outcome in the two runs, with both."""
    before, after = _groups(base, unmeasured[0]), _groups(current, unmeasured[1])
    pairs = {key: (inference.bar(before[key]), inference.bar(after[key])) for key in before if key in after}
    return {key: pair for key, pair in pairs.items() if pair[0] != pair[1]}


@dataclass(frozen=True)
class Side:
    """What the tuning rule saw of one model: `effect` is HELPED, HURT, NEUTRAL or UNCLEAR, `told` a line a suite."""

    model: str
    effect: str
    told: tuple[str, ...]


def tuning(
    base: Rows, current: Rows, keep_on: Sequence[str], guard: Sequence[str], unmeasured: Left = NONE_LEFT
) -> tuple[str, list[Side]]:
    """KEEP, DISCARD or UNDECIDED for a changed wording: a screen on point estimates and bar flips, not a proof.

    DISCARD if a model is hurt in a suite (a significant fall; for a guard a bar that flips from met to missed; for a
    keep-on model a mean that falls with no bar newly met), or if a keep-on model is helped in none (no mean rose and
    no bar was newly met). UNDECIDED if anything is unclear: a mean and a flip that point in opposite directions, a
    guard whose mean fell without a flip, reps of ERROR that leave a bar open, a scenario that only one run could
    decide or has, reps that were asked for and not measured, or that BASE has and CURRENT lacks. KEEP otherwise.
    """
    compared, flipped = of_runs(base, current), flips(base, current, unmeasured)
    missing = {(suite, model) for suite, _, model in _groups(base).keys() ^ _groups(current).keys()}
    cut = short(base, current, unmeasured)
    sides = [
        _side(model, model in keep_on, compared, flipped, missing, cut) for model in dict.fromkeys([*keep_on, *guard])
    ]
    effects = [side.effect for side in sides]
    if HURT in effects or any(side.effect == NEUTRAL for side in sides if side.model in keep_on):
        return DISCARD, sides
    return UNDECIDED if UNCLEAR in effects else KEEP, sides


def short(base: Rows, current: Rows, unmeasured: Left) -> dict[Key, str]:
    """What a case lacks: `P1 has 1 of 3 reps`. A run that stopped in the middle must not look like a whole one."""
    found: dict[Key, str] = {}
    before, after = _groups(base, unmeasured[0]), _groups(current, unmeasured[1])
    for key, group in before.items():
        if group.unmeasured:
            found[key] = f"{group.scenario} of BASE has {_reps(group)} of {group.asked} reps"
    for key, group in after.items():
        wanted = max(group.asked, _reps(before[key]) if key in before else 0)
        if _reps(group) < wanted:
            found[key] = f"{group.scenario} has {_reps(group)} of {wanted} reps"
    return found


def _reps(group: Group) -> int:
    """Those that were tried: one of ERROR, too, has been."""
    return group.asked - group.unmeasured


def _side(
    model: str,
    must_help: bool,
    compared: Mapping[Place, stats.Comparison],
    flipped: Mapping[Key, tuple[str, str]],
    missing: Iterable[Place],
    cut: Mapping[Key, str],
) -> Side:
    effects: list[str] = []
    lines: list[str] = []
    for (suite, name), told in compared.items():
        if name != model:
            continue
        outcomes = [pair for (where, _, who), pair in flipped.items() if (where, who) == (suite, model)]
        gained, lost = outcomes.count(("missed", "met")), outcomes.count(("met", "missed"))
        lacking = [line for (where, _, who), line in cut.items() if (where, who) == (suite, model)]
        open_bars = any("undecided" in pair for pair in outcomes)
        unknown = open_bars or bool(lacking) or bool(told.left_out) or not told.scenarios
        effects.append(_effect(told, gained, lost, unknown, must_help))
        figures = f"mean {rate(told.difference, sign='+')}, bars {gained} gained and {lost} lost"
        lines.append(f"{suite} {figures}, p {p_value(told.adjusted)}" + (", some cells undecided" if unknown else ""))
        lines += [f"{suite} {line}" for line in lacking]
    if not lines:
        raise Refusal(f"'{model}' has no sessions in both runs", "name models of MODELS")
    suites = {suite for suite, name in compared if name == model}
    lacking = {where: line for (where, _, who), line in cut.items() if who == model and where not in suites}
    lines += [f"{suite} {line}" for suite, line in lacking.items()]
    absent = sorted(suite for suite, name in missing if name == model)
    lines += [f"{suite} has scenarios in one run alone" for suite in absent]
    effects += [UNCLEAR] * (len(absent) + len(lacking))
    worst = (HURT, UNCLEAR, HELPED, NEUTRAL) if must_help else (HURT, UNCLEAR, NEUTRAL)
    return Side(model, next(effect for effect in worst if effect in effects), tuple(lines))


def _effect(told: stats.Comparison, gained: int, lost: int, unknown: bool, must_help: bool) -> str:
    """What happened to one model in one suite."""
    falls, rises = told.difference < -1e-9, told.difference > 1e-9
    if told.decision == "regression" or (must_help and falls and not gained) or (not must_help and lost):
        return HURT
    if unknown or falls or (must_help and lost):
        return UNCLEAR
    return HELPED if must_help and (rises or gained) else NEUTRAL


def _counts(rows: Rows) -> dict[str, stats.Counts]:
    return {group.scenario: inference.counts(group) for group in summary.groups(rows)}


def _groups(rows: Rows, unmeasured: Sequence[Unmeasured] = ()) -> dict[Key, Group]:
    return {group.key: group for group in summary.groups(rows, unmeasured)}
