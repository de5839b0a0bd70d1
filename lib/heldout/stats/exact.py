"""Exact tests: permutation of reps, sign-flip, McNemar, Holm, and the smallest p a design can reach."""

import math
import sys
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

from heldout.stats.intervals import Counts, checked

# A distribution over whole numbers: value -> probability.
Lattice = dict[int, float]

# Beyond this many points a distribution is rounded to fewer: see _two_sided.
POINTS = 30_000


def permutation(base: Sequence[Counts], current: Sequence[Counts]) -> float:
    """Two-sided p of the difference between two runs: the two runs' valid reps permuted within each scenario.

    Statistic: mean over scenarios of the rates' difference. With n_A and n_B reps of which t pass in all, the
    passes of one run are hypergeometric under the hypothesis that the scenario's pass probability did not change; the
    mean's distribution is their convolution, so nothing is enumerated or drawn. p = P(|T| >= |observed|); not mid-p,
    so the chance of p <= α never exceeds α whatever the pass probabilities. Both sequences are in the same order of
    scenarios; a scenario without a valid rep in one run says nothing and is left out (p is 1 if none remains).
    Exact, unless the rep numbers are so ragged that the mean has over 30,000 attainable values: then a tight upper
    bound. Source: Fisher 1935, The Design of Experiments; stratified: Good 2005, Permutation, Parametric and
    Bootstrap Tests of Hypotheses.
    """
    checked([*base, *current])
    pairs = [(a, b) for a, b in zip(base, current, strict=True) if a[1] and b[1]]
    scale = math.lcm(*(n for pair in pairs for _, n in pair))
    parts: list[Lattice] = []
    observed = 0
    for (passes_a, n_a), (passes_b, n_b) in pairs:
        total = passes_a + passes_b
        up, down = scale // n_b, scale // n_a
        parts.append({k * up - (total - k) * down: p for k, p in hypergeometric(n_a, n_b, total).items()})
        observed += passes_b * up - passes_a * down
    return _two_sided(parts, observed)


def sign_flip(differences: Sequence[float]) -> float:
    """Two-sided p that scenarios *like these* differ: each scenario's difference keeps or flips its sign.

    For generalising beyond the suite only; it needs 6 scenarios to reach .05 (smallest p 2 / 2^m). Computed by
    convolution, so exact at any number of scenarios, with the same exception as `permutation`; differences are read
    as fractions with a denominator up to 10^6.
    Source: Fisher 1935; Good 2005, as for `permutation`.
    """
    values = [Fraction(difference).limit_denominator(10**6) for difference in differences]
    scale = math.lcm(*(value.denominator for value in values))
    whole = [int(value * scale) for value in values]
    return _two_sided([{value: 0.5, -value: 0.5} if value else {0: 1.0} for value in whole], sum(whole))


def mcnemar(lost: int, gained: int) -> float:
    """Exact two-sided McNemar p for bar flips: 2 P(Bin(lost + gained, ½) <= min(lost, gained)), at most 1.

    Source: McNemar 1947, Psychometrika 12:153, with the binomial instead of χ².
    """
    flips = lost + gained
    tail = sum(math.comb(flips, k) for k in range(min(lost, gained) + 1))
    return min(1.0, 2 * tail / 2**flips)


def holm(ps: Sequence[float]) -> list[float]:
    """Holm's adjusted p-values in the order given; the chance of any false claim among them stays below α.

    Source: Holm 1979, Scand. J. Stat. 6:65.
    """
    adjusted = [0.0] * len(ps)
    highest = 0.0
    for rank, index in enumerate(sorted(range(len(ps)), key=ps.__getitem__)):
        highest = max(highest, min(1.0, (len(ps) - rank) * ps[index]))
        adjusted[index] = highest
    return adjusted


def attainable_p(base_reps: Sequence[int], current_reps: Sequence[int]) -> float:
    """The smallest p `permutation` can give with these numbers of reps per scenario: at perfect separation.

    Π 1 / C(n_A + n_B, n_A), twice that when every scenario has as many reps in both runs, for then the opposite
    separation is as extreme. One scenario at 3 and 3 reps: .1; at 4 and 4: .029; two scenarios at 3 and 3: .005.
    """
    pairs = [(a, b) for a, b in zip(base_reps, current_reps, strict=True) if a and b]
    if not pairs:
        return 1.0
    sides = 2 if all(a == b for a, b in pairs) else 1
    return max(sides / math.prod(math.comb(a + b, a) for a, b in pairs), sys.float_info.min)


@lru_cache(maxsize=4096)
def hypergeometric(n_a: int, n_b: int, total: int) -> Lattice:
    """Passes of the second run, when `total` of n_a + n_b exchangeable reps pass -> probability."""
    ways = math.comb(n_a + n_b, total)
    fewest, most = max(0, total - n_a), min(total, n_b)
    return {k: math.comb(n_b, k) * math.comb(n_a, total - k) / ways for k in range(fewest, most + 1)}


def binomial(reps: int, p: float) -> list[float]:
    """P(0), …, P(reps) passes of that many reps with pass probability p."""
    if reps <= 1000:
        return [math.comb(reps, k) * p**k * (1 - p) ** (reps - k) for k in range(reps + 1)]
    if p in (0.0, 1.0):
        return [float(k == reps * p) for k in range(reps + 1)]
    # Here the coefficients are beyond a float.
    whole, log_p, log_q = math.lgamma(reps + 1), math.log(p), math.log1p(-p)
    return [
        math.exp(whole - math.lgamma(k + 1) - math.lgamma(reps - k + 1) + k * log_p + (reps - k) * log_q)
        for k in range(reps + 1)
    ]


def convolve(first: Lattice, second: Lattice) -> Lattice:
    """Distribution of the sum of two independent whole numbers."""
    result: Lattice = {}
    for x, p in first.items():
        for y, q in second.items():
            result[x + y] = result.get(x + y, 0.0) + p * q
    return result


def _two_sided(parts: Sequence[Lattice], observed: int) -> float:
    """P(|sum of the parts| >= |observed|).

    A sum with too many attainable values is rounded to a coarser lattice. Each part is then off by at most half a
    step, so the threshold is lowered by half a step a part: p is an upper bound and the test stays valid.
    """
    threshold = abs(observed)
    if not threshold:
        return 1.0
    total = _sum(parts)
    if total is None:
        step = -(-2 * sum(max(map(abs, part)) for part in parts) // POINTS)
        threshold = math.ceil(threshold / step - len(parts) / 2)
        total = _sum([_rounded(part, step) for part in parts])
        assert total is not None
    p = math.fsum(p for value, p in total.items() if abs(value) >= threshold)
    # Twelve digits: a p of exactly .05 must not miss it by the rounding errors of the sums.
    return float(f"{min(1.0, max(p, sys.float_info.min)):.12g}")


def _sum(parts: Sequence[Lattice]) -> Lattice | None:
    """Distribution of the sum of the parts; None if it has over POINTS (and a margin for rounding) values."""
    total: Lattice = {0: 1.0}
    for part in sorted(parts, key=len):
        total = convolve(total, part)
        if len(total) > POINTS + len(parts):
            return None
    return total


def _rounded(part: Lattice, step: int) -> Lattice:
    result: Lattice = {}
    for value, p in part.items():
        key = round(value / step)
        result[key] = result.get(key, 0.0) + p
    return result
