"""Two runs of the same scenarios: how much they differ, and what may be claimed."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from heldout.stats.exact import attainable_p, holm, permutation
from heldout.stats.intervals import Counts, Interval, checked, difference_interval, mean_rate, reps_interval
from heldout.stats.planning import ALPHA, reps_needed

Decision = Literal["regression", "improvement", "change", "same", "undecided"]


Run = Mapping[str, Counts]


@dataclass(frozen=True)
class Comparison:
    """`difference`: mean over the compared scenarios of current - base rate; `interval`: for it, over reps: it contains
    0 exactly when nothing is claimed. `p`: see `permutation`; `adjusted`: p after Holm over what was compared with
    it. `floor`: the smallest p these numbers of reps could give. `reps_needed`: for an undecided comparison the reps
    per scenario and run that would do (None: over 1,000, or nothing to compare), else None. `scenarios`: how
    many were compared; `left_out`: names without a valid rep in one of the runs."""

    difference: float
    interval: Interval
    p: float
    adjusted: float
    floor: float
    decision: Decision
    reps_needed: int | None
    scenarios: int
    left_out: tuple[str, ...]


def compare(base: Run, current: Run, alpha: float = ALPHA, worth: float = 0.2) -> Comparison:
    """Compare two runs, each scenario name -> (passes, valid reps), and decide by the first rule that holds:

    1. adjusted p <= alpha: `regression` if the mean fell, `improvement` if it rose.
    2. `undecided` ("not enough reps to say"): the grid has fewer reps (harmonic mean over cells) than it takes to find,
       with power .8 at p <= alpha, the difference seen or `worth`, whichever is greater, were it spread over the
       scenarios as one odds ratio about the rates that both runs show together. `reps_needed` is that number.
    3. `change`: a difference was seen, is not significant, and one of that size would probably have been found.
    4. `same`: as 3, with no difference at all.
    """
    return compare_all({"": (base, current)}, alpha, worth)[""]


def compare_all(runs: Mapping[str, tuple[Run, Run]], alpha: float = ALPHA, worth: float = 0.2) -> dict[str, Comparison]:
    """`compare` for several models, name -> (base, current), with Holm's adjustment over those that can be compared."""
    pairs = {name: _common(*pair) for name, pair in runs.items()}
    tested = [name for name, (first, _, _) in pairs.items() if first]
    ps = {name: permutation(*pairs[name][:2]) for name in tested}
    adjusted = dict(zip(tested, holm([ps[name] for name in tested]), strict=True))
    return {name: _judged(*pairs[name], ps.get(name, 1.0), adjusted.get(name, 1.0), alpha, worth) for name in runs}


def _common(base: Run, current: Run) -> tuple[list[Counts], list[Counts], tuple[str, ...]]:
    """Both runs' cells of the scenarios with valid reps in both, and the names of the others."""
    checked([*base.values(), *current.values()])
    names = [name for name in base if base[name][1] and current.get(name, (0, 0))[1]]
    left_out = tuple(sorted({*base, *current} - {*names}))
    return [base[name] for name in names], [current[name] for name in names], left_out


def _judged(
    first: list[Counts],
    second: list[Counts],
    left_out: tuple[str, ...],
    p: float,
    adjusted: float,
    alpha: float,
    worth: float,
) -> Comparison:
    before, after = mean_rate(first), mean_rate(second)
    if before is None or after is None:
        return Comparison(0.0, Interval(-1.0, 1.0), 1.0, 1.0, 1.0, "undecided", None, 0, left_out)
    difference = after - before
    decision: Decision = "regression" if difference < 0 else "improvement"
    needed = None
    if adjusted > alpha:
        # Beside others it is in effect tested at a lower level, and at that one enough reps must be enough.
        decision, needed = _decide(first, second, difference, worth, alpha * p / adjusted)
    interval = difference_interval(before, reps_interval(first), after, reps_interval(second))
    interval = _agreeing(interval, difference, adjusted <= alpha)
    floor = attainable_p([n for _, n in first], [n for _, n in second])
    return Comparison(difference, interval, p, adjusted, floor, decision, needed, len(first), left_out)


def _decide(
    first: Sequence[Counts], second: Sequence[Counts], difference: float, worth: float, alpha: float
) -> tuple[Decision, int | None]:
    """Rules 2 to 4: what a difference that is not significant means, and the reps needed if it means nothing yet."""
    cells = [*first, *second]
    reps = len(cells) / math.fsum(1 / n for _, n in cells)
    needed = reps_needed(*_alternative(first, second, max(abs(difference), worth)), alpha=alpha)
    if needed is None or reps < needed:
        return "undecided", needed
    return ("change" if abs(difference) > 1e-12 else "same"), None


def _alternative(first: Sequence[Counts], second: Sequence[Counts], size: float) -> tuple[list[float], list[float]]:
    """Rates of two runs whose means are `size` apart: one odds ratio about each scenario's rate in both runs.

    The rates are drawn towards their mean by one pseudo-rep, so that a scenario seen only passing can fail.
    """
    both = [(a + b, n + k) for (a, n), (b, k) in zip(first, second, strict=True)]
    mean = (sum(c for c, _ in both) + 0.5) / (sum(n for _, n in both) + 1)
    # Sorted and rounded: grids with the same counts in another order then share reps_needed's cached search.
    odds = sorted((c + mean) / (n + 1 - c - mean) for c, n in both)
    low, high = 0.0, 30.0
    base, current = [0.0], [0.0]
    for _ in range(30):
        shift = math.exp((low + high) / 2)
        base = [o * shift / (1 + o * shift) for o in odds]
        current = [o / (o + shift) for o in odds]
        wide = (sum(base) - sum(current)) / len(odds) > size
        low, high = (low, (low + high) / 2) if wide else ((low + high) / 2, high)
    return [round(rate, 4) for rate in base], [round(rate, 4) for rate in current]


def _agreeing(interval: Interval, difference: float, significant: bool) -> Interval:
    """The interval, cut at or stretched to 0 so that it never contradicts the test, which is the sharper of the two."""
    if not significant:
        return Interval(min(interval.low, 0.0), max(interval.high, 0.0))
    # The smallest step away from 0 keeps "contains 0" decidable for a reader of the numbers.
    if difference < 0:
        return Interval(interval.low, min(interval.high, -1e-9))
    return Interval(max(interval.low, 1e-9), interval.high)
