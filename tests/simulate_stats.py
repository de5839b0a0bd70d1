"""Simulations behind the claims of heldout.stats: coverage, false regressions, power.

`python tests/simulate_stats.py [GRIDS]` prints every figure with its limit and ends with 1 if one is broken;
tests/test_stats.py calls the same functions with fewer grids. Seeds are fixed, so a figure is reproducible.
"""

import math
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from heldout.reporting.decisions import of_runs
from heldout.stats import Counts, compare, permutation, power, reps_interval, suite_interval, wilson
from tabling import sessions

Draw = Callable[[random.Random, int], list[float]]


class Figure(NamedTuple):
    """One measured share; `low` and `high` are what it must lie between, None where it is printed only."""

    name: str
    value: float
    low: float | None = None
    high: float | None = None

    @property
    def holds(self) -> bool:
        return (self.low is None or self.value >= self.low) and (self.high is None or self.value <= self.high)


def _same(p: float) -> Draw:
    return lambda _, m: [p] * m


def _beta(a: float, b: float) -> Draw:
    return lambda rng, m: [rng.betavariate(a, b) for _ in range(m)]


def _either(share: float, one: float, other: float) -> Draw:
    return lambda rng, m: [one if rng.random() < share else other for _ in range(m)]


# How the scenarios' pass probabilities come about, and their mean in the long run.
POPULATIONS: dict[str, tuple[float, Draw]] = {
    "all .3": (0.3, _same(0.3)),
    "all .5": (0.5, _same(0.5)),
    "all .8": (0.8, _same(0.8)),
    "all .95": (0.95, _same(0.95)),
    "all .99": (0.99, _same(0.99)),
    "beta(2,2)": (0.5, _beta(2, 2)),
    "beta(8,2)": (0.8, _beta(8, 2)),
    "beta(.5,.5)": (0.5, _beta(0.5, 0.5)),
    "beta(.9,.1)": (0.9, _beta(0.9, 0.1)),
    "0 or 1": (0.5, _either(0.5, 0, 1)),
    ".95, one in seven 0": (0.95 * 6 / 7, _either(6 / 7, 0.95, 0)),
}
UNCHANGED = (0.3, 0.5, 0.8, 0.95)


def grid(rng: random.Random, rates: Sequence[float], reps: int) -> list[Counts]:
    return [(sum(rng.random() < p for _ in range(reps)), reps) for p in rates]


def named(cells: Sequence[Counts]) -> dict[str, Counts]:
    return {f"S{index}": cell for index, cell in enumerate(cells)}


def wilson_coverage(grids: int) -> Iterator[Figure]:
    """Simulated minus exact coverage of Wilson's interval, for 20 cells a grid; the exact one sums binomial terms."""
    rng = random.Random(101)
    for reps in (3, 6, 10):
        for p in UNCHANGED:
            covers = [low <= p <= high for low, high in (wilson(k, reps) for k in range(reps + 1))]
            exact = math.fsum(math.comb(reps, k) * p**k * (1 - p) ** (reps - k) for k in range(reps + 1) if covers[k])
            drawn = sum(covers[passes] for passes, _ in grid(rng, [p] * 20 * grids, reps)) / (20 * grids)
            yield Figure(f"wilson {reps} reps, p {p}: exact {exact:.3f}, simulated - exact", drawn - exact, -0.02, 0.02)


def interval_coverage(grids: int, scenarios: int, reps: int, low: float | None) -> Iterator[Figure]:
    """Coverage of the mean of the population by `suite_interval`, and of the mean of the scenarios run by both."""
    rng = random.Random(202)
    for name, (mean, draw) in POPULATIONS.items():
        beyond = these = over_reps = 0
        for _ in range(grids):
            rates = draw(rng, scenarios)
            cells = grid(rng, rates, reps)
            own = math.fsum(rates) / scenarios
            suite, runs = suite_interval(cells), reps_interval(cells)
            beyond += suite.low <= mean <= suite.high
            these += suite.low - 1e-9 <= own <= suite.high + 1e-9
            over_reps += runs.low - 1e-9 <= own <= runs.high + 1e-9
        design = f"{scenarios} x {reps}, {name}"
        yield Figure(f"suite interval {design}: mean of scenarios like these", beyond / grids, low)
        yield Figure(f"suite interval {design}: mean of these scenarios", these / grids, low)
        yield Figure(f"reps interval  {design}: mean of these scenarios", over_reps / grids, low and low - 0.02)


def false_regressions(grids: int, scenarios: int, reps: int) -> Iterator[Figure]:
    """Share of comparisons of two runs of unchanged scenarios that are called a regression."""
    rng = random.Random(303)
    for p in UNCHANGED:
        rates = [p] * scenarios
        found = sum(
            compare(named(grid(rng, rates, reps)), named(grid(rng, rates, reps))).decision == "regression"
            for _ in range(grids)
        )
        yield Figure(f"false regressions, {scenarios} x {reps}, p {p}", found / grids, None, 0.05)


def diff_false_regressions(grids: int, models: int) -> Iterator[Figure]:
    """Share of whole comparisons, as bin/diff makes them of rows of several unchanged models, with any regression."""
    rng = random.Random(606)
    for p in UNCHANGED:
        found = 0
        for _ in range(grids):
            base, current = (
                [
                    row
                    for model in range(models)
                    for name, (passes, reps) in named(grid(rng, [p] * 6, 3)).items()
                    for row in sessions(name, f"m{model}", "p" * passes + "f" * (reps - passes))
                ]
                for _ in range(2)
            )
            found += any(told.decision == "regression" for told in of_runs(base, current).values())
        yield Figure(f"false regressions of a diff, {models} models x 6 x 3, p {p}", found / grids, None, 0.05)


def three_positives(grids: int) -> Iterator[Figure]:
    """Power for three positives going 0 -> .9 at 3 reps; three further scenarios stay where they are."""
    rng = random.Random(404)
    for unchanged, low in ((1.0, 0.8), (0.95, 0.8), (0.8, None), (0.5, None)):
        before, after = [0.0] * 3 + [unchanged] * 3, [0.9] * 3 + [unchanged] * 3
        found = sum(
            compare(named(grid(rng, before, 3)), named(grid(rng, after, 3))).decision == "improvement"
            for _ in range(grids)
        )
        claimed = power(before, after, 3)
        yield Figure(f"power, 3 of 6 go 0 -> .9, 3 reps, others {unchanged}: claimed {claimed:.3f}", found / grids, low)


CLAIMS: tuple[tuple[list[float], list[float], int], ...] = (
    ([0.0] * 3 + [0.95] * 3, [0.9] * 3 + [0.95] * 3, 3),
    ([0.9] * 6, [0.6] * 6, 4),
    ([0.3], [0.9], 12),
    ([0.5] * 2, [0.8] * 2, 23),
    ([0.9, 0.8, 0.6, 0.4, 0.2] * 2, [0.7, 0.5, 0.3, 0.3, 0.1] * 2, 6),
    ([0.95] * 20, [0.85] * 20, 5),
)


def claimed_power(grids: int) -> Iterator[Figure]:
    """Simulated minus claimed power: exact (the first four designs) and drawn."""
    rng = random.Random(505)
    for before, after, reps in CLAIMS:
        sign = 1 if sum(after) > sum(before) else -1
        found = 0
        for _ in range(grids):
            base, current = grid(rng, before, reps), grid(rng, after, reps)
            towards = sign * sum(b[0] - a[0] for a, b in zip(base, current, strict=True)) > 0
            found += towards and permutation(base, current) <= 0.05
        claimed = power(before, after, reps)
        name = f"power {len(before)} x {reps}, {before[0]} -> {after[0]}: claimed {claimed:.3f}, simulated - claimed"
        yield Figure(name, found / grids - claimed, -0.03, 0.03)


def figures(grids: int) -> Iterator[Figure]:
    yield from wilson_coverage(grids)
    yield from interval_coverage(grids, 10, 6, 0.93)
    yield from interval_coverage(grids, 20, 6, 0.93)
    yield from interval_coverage(grids, 6, 3, None)
    yield from false_regressions(grids, 6, 3)
    yield from false_regressions(grids, 10, 6)
    yield from diff_false_regressions(grids, 3)
    yield from three_positives(grids)
    # The standard error of a share is 1.1 points at 2,000 grids; 3 points need as many.
    yield from claimed_power(max(grids, 2000))


def show(measured: Sequence[Figure]) -> None:
    for figure in measured:
        limits = " ".join(
            f"{sign} {limit:g}" for sign, limit in ((">=", figure.low), ("<=", figure.high)) if limit is not None
        )
        print(f"{'' if figure.holds else 'BROKEN '}{figure.name}: {figure.value:.3f} {limits}".rstrip())


def main(grids: int) -> int:
    measured = list(figures(grids))
    show(measured)
    broken = sum(not figure.holds for figure in measured)
    print(f"{len(measured)} figures from {grids} grids each, {broken} broken")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000))
