"""What a grid can show before it is paid for: power, reps needed, the smallest detectable difference.

All three speak of `heldout.stats.permutation` on two runs with the same number of valid reps per scenario.
Rates are assumed pass probabilities, one a scenario, base and current in the same order.
"""

import math
import random
from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import accumulate
from statistics import NormalDist

from heldout.stats.exact import Lattice, binomial, convolve, hypergeometric

ALPHA = 0.05
POWER = 0.8
MOST_REPS = 1000

# Steps of work up to which the exact computation is used: about half a second, and about two milliseconds.
AFFORDABLE, CHEAP = 5e6, 2e4
DRAWS = 4000

# Passes of a scenario in both runs, t of 2n, folded to min(t, 2n - t): the null distribution is the same.
Folded = tuple[int, ...]


def power(base: Sequence[float], current: Sequence[float], reps: int, alpha: float = ALPHA) -> float:
    """Chance that `permutation` gives p <= alpha in the direction of the true change (a rise if there is none).

    Exact where affordable: the critical value depends on the run pair only through each scenario's passes in both runs,
    so the joint distribution of those totals and of the statistic is built scenario by scenario. Larger grids:
    4,000 grids drawn with a fixed seed (standard error at most .8 points). ValueError if rates are not probabilities.
    """
    sign = _direction(base, current)
    if _work(len(base), reps) <= AFFORDABLE:
        return _exact_power(base, current, reps, alpha, sign)
    return _drawn_power(base, current, reps, alpha, sign)


def reps_needed(
    base: Sequence[float], current: Sequence[float], wanted: float = POWER, alpha: float = ALPHA
) -> int | None:
    """Reps per scenario and run at which `power` reaches `wanted`; None if 1,000 do not do it.

    Searched with the exact power where it is cheap and with a normal approximation elsewhere (mostly a point
    or two below the truth, so the answer errs by a rep on the safe side).
    """
    return _reps_needed(tuple(base), tuple(current), wanted, alpha)


def detectable(rate: float, scenarios: int, reps: int, wanted: float = POWER, alpha: float = ALPHA) -> float | None:
    """The smallest change of the mean rate found with power `wanted` if every scenario has pass probability `rate`.

    Looks towards the farther end (a drop from .8, a rise from .3). None if even the whole way is not found.
    """
    reach = max(rate, 1 - rate)
    direction = -1 if rate >= 0.5 else 1

    def enough(thousandths: int) -> bool:
        other = min(1.0, max(0.0, rate + direction * thousandths / 1000))
        return _quick_power((rate,) * scenarios, (other,) * scenarios, reps, alpha) >= wanted

    found = _first(enough, int(reach * 1000))
    return None if found is None else found / 1000


@lru_cache(maxsize=4096)
def _reps_needed(base: tuple[float, ...], current: tuple[float, ...], wanted: float, alpha: float) -> int | None:
    if base == current:
        return None
    return _first(lambda reps: _quick_power(base, current, reps, alpha) >= wanted, MOST_REPS)


def _first(enough: Callable[[int], bool], most: int) -> int | None:
    """The smallest number in 1…most that is enough, by doubling and halving; None if `most` is not.

    Power goes up in a saw-tooth, so smaller numbers are tried once more at the end.
    """
    high = 1
    while not enough(high):
        if high == most:
            return None
        high = min(2 * high, most)
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    while high > 1 and enough(high - 1):
        high -= 1
    return high


def _direction(base: Sequence[float], current: Sequence[float]) -> int:
    if len(base) != len(current) or not all(0 <= rate <= 1 for rate in (*base, *current)):
        raise ValueError("rates are probabilities, one a scenario in both runs")
    return 1 if math.fsum(current) >= math.fsum(base) else -1


def _quick_power(base: Sequence[float], current: Sequence[float], reps: int, alpha: float) -> float:
    sign = _direction(base, current)
    if _work(len(base), reps) <= CHEAP:
        return _exact_power(base, current, reps, alpha, sign)
    return _normal_power(base, current, reps, alpha)


def _work(scenarios: int, reps: int) -> float:
    """Steps of the exact computation: (multisets of totals) × (values of the statistic) × (outcomes of a scenario)."""
    work = 0.0
    for done in range(scenarios):
        work += math.comb(done + reps, reps) * (2 * reps * done + 1) * (reps + 1) ** 2 / 2
        if work > AFFORDABLE:
            break
    return work


def _exact_power(base: Sequence[float], current: Sequence[float], reps: int, alpha: float, sign: int) -> float:
    states: dict[Folded, Lattice] = {(): {0: 1.0}}
    for p, q in zip(base, current, strict=True):
        outcomes = _outcomes(reps, p, q)
        grown: dict[Folded, Lattice] = {}
        for totals, distribution in states.items():
            for folded, differences in outcomes.items():
                target = grown.setdefault(tuple(sorted((*totals, folded))) if folded else totals, {})
                for value, weight in convolve(distribution, differences).items():
                    target[value] = target.get(value, 0.0) + weight
        states = grown
    critical = _Critical(reps, alpha)
    hit = math.fsum(
        weight
        for totals, distribution in states.items()
        for value, weight in distribution.items()
        if value * sign >= critical(totals)
    )
    return min(1.0, hit)


def _drawn_power(base: Sequence[float], current: Sequence[float], reps: int, alpha: float, sign: int) -> float:
    draw = random.Random(f"{reps} {len(base)}").random
    chances = zip(base, current, strict=True)
    tables = [(list(accumulate(binomial(reps, p))), list(accumulate(binomial(reps, q)))) for p, q in chances]
    critical = _Critical(reps, alpha)
    hits = 0
    for _ in range(DRAWS):
        value = 0
        totals: list[int] = []
        for first, second in tables:
            a, b = min(bisect_left(first, draw()), reps), min(bisect_left(second, draw()), reps)
            value += b - a
            if folded := min(a + b, 2 * reps - a - b):
                totals.append(folded)
        hits += value * sign >= critical(tuple(sorted(totals)))
    return hits / DRAWS


class _Critical:
    """The smallest |sum over scenarios of (current - base) passes| that has p <= alpha, given the folded totals."""

    NORMAL_FROM = 40.0

    def __init__(self, reps: int, alpha: float) -> None:
        self.reps, self.alpha = reps, alpha
        self.z = NormalDist().inv_cdf(1 - alpha / 2)
        self.null: dict[Folded, Lattice] = {(): {0: 1.0}}
        self.known: dict[Folded, float] = {}

    def __call__(self, totals: Folded) -> float:
        if totals not in self.known:
            variance = sum(t * (2 * self.reps - t) for t in totals) / max(1, 2 * self.reps - 1)
            # The sum moves in steps of 2; 1 is its continuity correction.
            wide = variance > self.NORMAL_FROM
            self.known[totals] = 1 + self.z * math.sqrt(variance) if wide else self._from_null(totals)
        return self.known[totals]

    def _from_null(self, totals: Folded) -> float:
        mass: Lattice = {}
        for value, p in self._distribution(totals).items():
            mass[abs(value)] = mass.get(abs(value), 0.0) + p
        tail = 0.0
        smallest = math.inf
        for size in sorted(mass, reverse=True):
            tail += mass[size]
            if tail > self.alpha * (1 + 1e-12):
                break
            smallest = size
        return smallest

    def _distribution(self, totals: Folded) -> Lattice:
        if totals not in self.null:
            last = totals[-1]
            one = {2 * k - last: p for k, p in hypergeometric(self.reps, self.reps, last).items()}
            self.null[totals] = convolve(self._distribution(totals[:-1]), one)
        return self.null[totals]


def _outcomes(reps: int, p: float, q: float) -> dict[int, Lattice]:
    """One scenario's folded total -> difference of passes -> probability; what happens once in 10^14 is dropped."""
    result: dict[int, Lattice] = {}
    for a, p_a in enumerate(binomial(reps, p)):
        for b, p_b in enumerate(binomial(reps, q)):
            if (weight := p_a * p_b) > 1e-14:
                # (a, b) and its mirror image share a folded total, and may share a difference.
                differences = result.setdefault(min(a + b, 2 * reps - a - b), {})
                differences[b - a] = differences.get(b - a, 0.0) + weight
    return result


def _normal_power(base: Sequence[float], current: Sequence[float], n: int, alpha: float) -> float:
    """Normal approximation with continuity correction.

    S, the sum of differences of passes, has conditional null variance W = Σ t(2n - t) / (2n - 1); the test claims when
    S > 1 + z√W. √W is linearised about its mean, and S - z√W taken as normal with the covariance of S and W
    from the binomials' central moments.
    """
    z = NormalDist().inv_cdf(1 - alpha / 2)
    mean_s = var_s = mean_w = var_w = both = 0.0
    for p, q in zip(base, current, strict=True):
        (v_a, third_a, fourth_a), (v_b, third_b, fourth_b) = _moments(n, p), _moments(n, q)
        total, v, slope = n * (p + q), v_a + v_b, 2 * n - 2 * n * (p + q)
        fourth = fourth_a + fourth_b + 6 * v_a * v_b
        mean_s += n * (q - p)
        var_s += v
        mean_w += (total * (2 * n - total) - v) / (2 * n - 1)
        var_w += (slope**2 * v + fourth - v * v - 2 * slope * (third_a + third_b)) / (2 * n - 1) ** 2
        both += (slope * (v_b - v_a) - (third_b - third_a)) / (2 * n - 1)
    if mean_w <= 0:
        return 0.0
    root = math.sqrt(mean_w)
    mean = abs(mean_s) - 1 - z * (root - var_w / (8 * mean_w * root))
    variance = var_s + z * z * var_w / (4 * mean_w) - z * math.copysign(both, both * mean_s) / root
    return NormalDist().cdf(mean / math.sqrt(max(variance, 1e-12)))


def _moments(n: int, p: float) -> tuple[float, float, float]:
    """Variance, third and fourth central moment of a binomial."""
    variance = n * p * (1 - p)
    return variance, variance * (1 - 2 * p), variance * (1 + 3 * (n - 2) * p * (1 - p))
