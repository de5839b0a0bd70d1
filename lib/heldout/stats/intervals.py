"""Intervals for one cell, for the mean of a suite and for a difference, and the pass-k estimators."""

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

Counts = tuple[int, int]


class Interval(NamedTuple):
    low: float
    high: float


def checked(cells: Sequence[Counts]) -> list[Counts]:
    """The cells with at least one valid rep; ValueError for counts that cannot be."""
    for passes, reps in cells:
        if not 0 <= passes <= reps:
            raise ValueError(f"{passes} passes of {reps} reps")
    return [cell for cell in cells if cell[1]]


def mean_rate(cells: Sequence[Counts]) -> float | None:
    """Mean over scenarios of passes / valid reps, each scenario counting once; None without a valid rep."""
    rates = [passes / reps for passes, reps in checked(cells)]
    return math.fsum(rates) / len(rates) if rates else None


def wilson(passes: int, reps: int, level: float = 0.95) -> Interval:
    """Wilson's score interval for one cell's pass probability; (0, 1) for 0 reps.

    Centre (p + z²/2n) / (1 + z²/n), half-width z √(p(1-p)/n + z²/4n²) / (1 + z²/n).
    Source: Wilson 1927, JASA 22:209; recommended for small n by Brown, Cai and DasGupta 2001, Stat. Sci. 16:101.
    """
    cells = checked([(passes, reps)])
    return _score(passes / reps, reps, level) if cells else Interval(0.0, 1.0)


def pass_hat_k(reps: int, passes: int, k: int) -> float | None:
    """pass^k, the chance that k reps drawn from these all pass: C(passes, k) / C(reps, k).

    Unbiased for p^k. None if fewer than k reps are valid; ERROR reps are no trials, so they lower `reps`.
    Source: Yao et al. 2024 (tau-bench), arXiv 2406.12045.
    """
    checked([(passes, reps)])
    return _of_k(passes, reps, k)


def pass_at_k(reps: int, passes: int, k: int) -> float | None:
    """pass@k, the chance that at least one of k reps drawn from these passes: 1 - C(reps - passes, k) / C(reps, k).

    None if fewer than k reps are valid; ERROR reps are no trials. Source: Chen et al. 2021, arXiv 2107.03374.
    """
    checked([(passes, reps)])
    none = _of_k(reps - passes, reps, k)
    return None if none is None else 1 - none


def _of_k(count: int, reps: int, k: int) -> float | None:
    if k < 1:
        raise ValueError(f"k is {k}, not a positive number")
    return math.comb(count, k) / math.comb(reps, k) if k <= reps else None


def reps_interval(cells: Sequence[Counts], level: float = 0.95) -> Interval:
    """Interval for the mean pass probability of *these* scenarios: what many more reps of them would show.

    Wilson's formula at the mean rate p with n = p(1-p) / V reps, V being the variance of the mean. If all m
    scenarios had the same p, V = p(1-p) / N with N = m² / Σ 1/n_i, and no other mixture has a greater one
    (Hoeffding 1956, Ann. Math. Stat. 27:713). Where scenarios differ, V is Σ q_i(1-q_i) g_i / (n_i m²) with the
    rates q_i = (c_i + p) / (n_i + 1) drawn towards p by one pseudo-rep, and g = (n+1)² / ((n+1)² - n) undoing
    what that takes from the variance; the smaller V counts. Scenarios without a valid rep are left out; (0, 1) if
    none remains.
    Source: effective sample size in Wilson's formula, Korn and Graubard 1998, Survey Methodology 24:193.
    """
    cells = checked(cells)
    rate = mean_rate(cells)
    if rate is None:
        return Interval(0.0, 1.0)
    m = len(cells)
    alike = m * m / math.fsum(1 / n for _, n in cells)
    inner = rate * (1 - rate)
    pooled = (sum(c for c, _ in cells) + 0.5) / (sum(n for _, n in cells) + 1)
    variance = 0.0
    for c, n in cells:
        q = (c + pooled) / (n + 1)
        variance += q * (1 - q) * (n + 1) ** 2 / ((n + 1) ** 2 - n) / n / m**2
    return _score(rate, max(alike, inner / variance), level)


def suite_interval(cells: Sequence[Counts], level: float = 0.95) -> Interval:
    """Interval for the mean pass probability of *scenarios like these*: it holds for scenarios not yet written.

    A smoothed scenario bootstrap in closed form. The Bayesian bootstrap weighs scenario rates by a Dirichlet(1, …, 1);
    for each limit half a pseudo-scenario at the pessimistic end (0 for the low, 1 for the high limit) joins them, so
    that a suite without a failure still has an interval; the Beta distribution of the same mean and variance gives
    the limit. For rates that are all 0 or 1 this is Beta(k, m - k + ½) and Beta(k + ½, m - k), inside Clopper-Pearson.
    More reps cannot narrow it beyond what the number of scenarios allows. (0, 1) without a valid rep.
    Source: Rubin 1981, Ann. Stat. 9:130; the pseudo-observation: Gaffke 2005, Learned-Miller and Thomas 2019,
    arXiv 1905.06208, who add a whole one. Coverage: tests/simulate_stats.py.
    """
    rates = [c / n for c, n in checked(cells)]
    if not rates:
        return Interval(0.0, 1.0)
    tail = (1 - level) / 2
    return Interval(_bootstrap_limit(rates, 0.0, tail), _bootstrap_limit(rates, 1.0, 1 - tail))


def difference_interval(first: float, first_interval: Interval, second: float, second_interval: Interval) -> Interval:
    """Interval for second - first from an interval of each (MOVER): difference -/+ √(sum of squared distances).

    Source: Newcombe 1998, Stat. Med. 17:873, method 10; Zou and Donner 2008, Stat. Med. 27:1693.
    """
    difference = second - first
    down = math.hypot(second - second_interval.low, first_interval.high - first)
    up = math.hypot(second_interval.high - second, first - first_interval.low)
    return Interval(max(-1.0, difference - down), min(1.0, difference + up))


def _score(rate: float, n: float, level: float) -> Interval:
    """Wilson's formula for a rate on n trials, n not necessarily whole."""
    z = NormalDist().inv_cdf((1 + level) / 2)
    shrink = 1 + z * z / n
    centre = (rate + z * z / (2 * n)) / shrink
    half = z * math.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n)) / shrink
    # At 0 and 1 the limit is the rate itself; rounding must not put it a hair inside.
    low = 0.0 if rate <= 0 else max(0.0, centre - half)
    high = 1.0 if rate >= 1 else min(1.0, centre + half)
    return Interval(low, high)


PSEUDO_SCENARIO = 0.5


def _bootstrap_limit(rates: Sequence[float], end: float, quantile: float) -> float:
    """Quantile of the Dirichlet-weighted mean of the rates and a pseudo-scenario at `end`, by a Beta of its moments."""
    weight = len(rates) + PSEUDO_SCENARIO
    mean = (math.fsum(rates) + PSEUDO_SCENARIO * end) / weight
    square = (math.fsum(rate * rate for rate in rates) + PSEUDO_SCENARIO * end) / weight
    variance = (square - mean * mean) / (weight + 1)
    if variance < 1e-15:
        return end
    size = mean * (1 - mean) / variance - 1
    return _beta_quantile(quantile, mean * size, (1 - mean) * size)


def _beta_quantile(quantile: float, a: float, b: float) -> float:
    low, high = 0.0, 1.0
    for _ in range(34):
        middle = (low + high) / 2
        low, high = (middle, high) if _beta_cdf(middle, a, b) < quantile else (low, middle)
    return (low + high) / 2


def _beta_cdf(x: float, a: float, b: float) -> float:
    """Regularised incomplete beta function by its continued fraction (DLMF 8.17.22)."""
    if x > (a + 1) / (a + b + 2):
        return 1 - _beta_cdf(1 - x, b, a)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)) / a
    fraction = 1.0
    # Terms needed grow with √(a + b); the fraction is evaluated from its tail.
    for j in range(12 + int(math.sqrt(a + b)), 0, -1):
        fraction = 1 + (j * (b - j) * x / ((a + 2 * j - 1) * (a + 2 * j))) / fraction
        fraction = 1 - ((a + j - 1) * (a + b + j - 1) * x / ((a + 2 * j - 2) * (a + 2 * j - 1))) / fraction
    return front / fraction
