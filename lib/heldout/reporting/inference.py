"""What counts support: an interval beside each rate, the pass bar, the ladder by level, positives against negatives.

A rep that ended in ERROR, or was asked for and never measured, is no trial and in no rate; it counts for the bar alone,
which asks for passes of the reps that were asked. Saved traces are deterministic: one rep is all there is, so they get
no interval.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import Any

from heldout import stats
from heldout.files import natural
from heldout.reporting.printed import rounded
from heldout.reporting.summary import Group

Groups = Sequence[Group]
MOST_K = 10
BAR = 2 / 3
CURVE = (0.5, 0.8, 0.95)  # pass probabilities at which the bar's operating curve is told


def counts(group: Group) -> stats.Counts:
    return group.passed, group.trials


def of_group(group: Group) -> dict[str, Any]:
    """`rate` (None without a trial), its Wilson `interval`, the `bar`, pass^k, pass@k.

    `settled`: the interval lies on one side of the bar, so the reps are enough to say on which side the rate is. k goes
    up to the trials, at most MOST_K.
    """
    ks = range(1, min(group.trials, MOST_K) + 1)
    interval = stats.wilson(*counts(group))
    return {
        "trials": group.trials,
        "rate": _rounded(group.passed / group.trials if group.trials else None),
        "interval": None if group.trace else pair(interval),
        "bar": bar(group),
        "settled": interval.low > BAR or interval.high < BAR,
        "pass_hat_k": {str(k): _rounded(stats.pass_hat_k(group.trials, group.passed, k)) for k in ks},
        "pass_at_k": {str(k): _rounded(stats.pass_at_k(group.trials, group.passed, k)) for k in ks},
    }


def bar(group: Group) -> str:
    """The screen of 2/3 of the reps asked: `met`, `missed`, or `undecided` while reps of no outcome could turn it."""
    needed = stats.bar_needed(group.asked)
    if group.trials and group.passed >= needed:
        return "met"
    return "missed" if group.passed + group.open < needed else "undecided"


def of_suite(groups: Groups) -> dict[str, Any]:
    """The mean over scenarios: its interval for scenarios like these, and `over_reps` for more reps of these alone.

    `pass_hat_k` is the mean of pass^k at the smallest number of trials that a scenario has, which is `k`.
    """
    cells = [counts(group) for group in groups if group.trials]
    trace = all(group.trace for group in groups)
    k = min((trials for _, trials in cells), default=0)
    powers = [stats.pass_hat_k(trials, passed, k) or 0.0 for passed, trials in cells] if k else []
    return {
        "scenarios": len(cells),
        "mean_rate": _rounded(stats.mean_rate(cells)),
        "interval": None if trace else pair(stats.suite_interval(cells)),
        "over_reps": None if trace else pair(stats.reps_interval(cells)),
        "k": k,
        "pass_hat_k": _rounded(sum(powers) / len(powers)) if powers else None,
        "bars": {outcome: sum(bar(group) == outcome for group in groups) for outcome in ("met", "missed", "undecided")},
    }


def ladders(groups: Groups) -> Iterator[dict[str, Any]]:
    """The response by level of each suite × model × polarity that has more than one level, level 1 first."""
    for (suite, model, polarity), found in _split(groups, "suite", "model", "polarity"):
        by_level = sorted(
            _split([group for group in found if group.level], "level"), key=lambda item: natural(item[0][0])
        )
        measured = [
            (level, cells)
            for (level,), same in by_level
            if (cells := [counts(group) for group in same if group.trials])
        ]
        levels = [
            {
                "level": level,
                "scenarios": len(cells),
                "passed": sum(passed for passed, _ in cells),
                "trials": sum(trials for _, trials in cells),
                "rate": _rounded(stats.mean_rate(cells)),
                "interval": pair(stats.reps_interval(cells)),
            }
            for level, cells in measured
        ]
        if len(levels) > 1:
            rises = stats.monotonicity([stats.mean_rate(cells) or 0.0 for _, cells in measured])
            place = {"suite": suite, "model": model, "polarity": polarity}
            yield {**place, "levels": levels, "violations": rises.violations, "largest": _rounded(rises.largest)}


def discriminations(groups: Groups) -> Iterator[dict[str, Any]]:
    """Youden's J of each suite × model that has positive and negative scenarios."""
    for (suite, model), found in _split(groups, "suite", "model"):
        sides = [[counts(item) for item in found if item.polarity == side] for side in ("positive", "negative")]
        if told := stats.discrimination(*sides):
            rates = {"tpr": _rounded(told.tpr), "fpr": _rounded(told.fpr), "j": _rounded(told.j)}
            yield {"suite": suite, "model": model, **rates, "interval": pair(told.interval), "pattern": told.pattern}


def curve(reps: int) -> dict[float, float]:
    """The bar's operating curve: pass probability -> how often `reps` reps meet the bar."""
    return {p: rounded(stats.bar_rate(reps, p)) for p in CURVE}


def reps_to_settle() -> int:
    """The reps after which a scenario that passes each time has its whole interval above the bar."""
    return next(reps for reps in count(1) if stats.wilson(reps, reps).low > BAR)


def pair(interval: stats.Interval) -> list[float]:
    return [rounded(interval.low), rounded(interval.high)]


def _rounded(value: float | None) -> float | None:
    return None if value is None else rounded(value)


def _split(groups: Iterable[Group], *keys: str) -> list[tuple[tuple[str, ...], list[Group]]]:
    found: dict[tuple[str, ...], list[Group]] = {}
    for group in groups:
        found.setdefault(tuple(getattr(group, key) for key in keys), []).append(group)
    return list(found.items())
