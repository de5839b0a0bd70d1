"""What rates say together: the pass bar's operating curve, the ladder's order, positives against negatives."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Literal, NamedTuple

from heldout.stats.exact import binomial
from heldout.stats.intervals import Counts, Interval, difference_interval, mean_rate, reps_interval

Pattern = Literal["always-writer", "never-writer", "discriminating", "inverted", "mixed"]


def bar_needed(reps: int) -> int:
    """Passes that meet the pass bar: the smallest whole number that is at least 2/3 of the reps asked."""
    return -(-2 * reps // 3)


def bar_rate(reps: int, p: float) -> float:
    """Operating curve of the bar: P(passes >= 2/3 of the reps) if each rep passes with probability p.

    The bar is a screen: at 3 reps a coin-flip meets it half of the time, and p = .8 misses it one time in ten.
    """
    return math.fsum(binomial(reps, p)[bar_needed(reps) :])


class Monotonicity(NamedTuple):
    """`violations`: neighbouring levels at which the rate rises; `largest`: the most by which any level
    exceeds an easier one (0 if none does). Neither says that a rise is more than luck."""

    violations: int
    largest: float


def monotonicity(rates: Sequence[float]) -> Monotonicity:
    """How far a ladder's rates, level 1 (the most explicit cue) first, are from falling or staying level by level."""
    rises = sum(after > before for before, after in pairwise(rates))
    return Monotonicity(rises, max([0.0, *(harder - easier for easier, harder in combinations(rates, 2))]))


@dataclass(frozen=True)
class Discrimination:
    """Does the behaviour occur where it should and only there? `j` = tpr - fpr (Youden), 1 is perfect, 0 is blind."""

    tpr: float
    fpr: float
    j: float
    interval: Interval
    pattern: Pattern


def discrimination(positive: Sequence[Counts], negative: Sequence[Counts]) -> Discrimination | None:
    """Youden's J of the positive and the negative scenarios, each cell as (PASSes, valid reps).

    A PASS of a negative scenario means that the behaviour did not occur: tpr is the positives' mean rate, fpr is
    1 - the negatives'. The interval is over reps, by MOVER on `reps_interval` of each side. None if a side has no
    valid rep.
    Source: Youden 1950, Cancer 3:32; Newcombe 1998, Stat. Med. 17:873.
    """
    tpr, quiet = mean_rate(positive), mean_rate(negative)
    if tpr is None or quiet is None:
        return None
    low, high = reps_interval(negative)
    fpr = 1 - quiet
    interval = difference_interval(fpr, Interval(1 - high, 1 - low), tpr, reps_interval(positive))
    return Discrimination(tpr, fpr, tpr - fpr, interval, pattern(tpr, fpr))


def pattern(tpr: float, fpr: float) -> Pattern:
    """The name of a pair of rates; high is at least 2/3 (the bar), low at most 1/3.

    always-writer: both high (it acts whatever the case); never-writer: both low; discriminating: tpr high, fpr low;
    inverted: the reverse; mixed: anything between. A point estimate's name, so print the interval beside it.
    """

    def band(rate: float) -> str:
        # Whole thirds such as 1 - 1/3 must not miss the bar by a rounding error.
        return "high" if rate >= 2 / 3 - 1e-9 else "low" if rate <= 1 / 3 + 1e-9 else ""

    names: dict[tuple[str, str], Pattern] = {
        ("high", "high"): "always-writer",
        ("low", "low"): "never-writer",
        ("high", "low"): "discriminating",
        ("low", "high"): "inverted",
    }
    return names.get((band(tpr), band(fpr)), "mixed")
