"""heldout.stats against scipy and statsmodels, published values, brute force, and its own simulations."""

import itertools
import math
import random
from collections.abc import Sequence
from typing import Any

import pytest
import scipy.stats
import simulate_stats
import statsmodels.stats.contingency_tables
import statsmodels.stats.multitest
import statsmodels.stats.proportion
from heldout import stats
from heldout.stats import Counts, Interval, exact, planning
from hypothesis import given, settings
from hypothesis import strategies as st

# Their type stubs are partial.
scipy_stats: Any = scipy.stats
statsmodels_stats: Any = statsmodels.stats

cells = st.integers(1, 5).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
pairs = st.lists(st.tuples(cells, cells), min_size=1, max_size=4)
rates = st.floats(0, 1)


def random_cells(rng: random.Random, scenarios: int, most: int) -> list[Counts]:
    sizes = [rng.randint(1, most) for _ in range(scenarios)]
    return [(rng.randint(0, n), n) for n in sizes]


def close(found: Sequence[float], expected: Sequence[float], tolerance: float = 1e-6) -> bool:
    return all(abs(a - b) <= tolerance for a, b in zip(found, expected, strict=True))


# Intervals


@pytest.mark.parametrize(
    ("passes", "reps", "low", "high"),
    [
        (0, 3, 0, 0.56),
        (1, 3, 0.06, 0.79),
        (2, 3, 0.21, 0.94),
        (3, 3, 0.44, 1),
        (6, 6, 0.61, 1),
        (10, 10, 0.72, 1),
        (15, 15, 0.80, 1),
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
    ],
)
def test_wilson_published(passes: int, reps: int, low: float, high: float) -> None:
    # The last two are rows of Newcombe 1998, Stat. Med. 17:857, table I.
    assert close(stats.wilson(passes, reps), (low, high), 0.005 if reps < 20 else 5e-5)


def test_wilson_equals_statsmodels() -> None:
    rng = random.Random(1)
    for _ in range(200):
        reps = rng.randint(1, 400)
        passes, level = rng.randint(0, reps), rng.choice([0.8, 0.9, 0.95, 0.99])
        assert close(
            stats.wilson(passes, reps, level),
            statsmodels_stats.proportion.proportion_confint(passes, reps, 1 - level, "wilson"),
            1e-9,
        )


def test_no_reps_say_nothing() -> None:
    assert stats.wilson(0, 0) == stats.suite_interval([(0, 0)]) == stats.reps_interval([]) == (0, 1)
    assert stats.mean_rate([(0, 0)]) is None
    assert stats.discrimination([(3, 3)], [(0, 0)]) is None


@given(st.integers(0, 9), st.integers(0, 9), st.integers(1, 5))
def test_pass_k_by_enumeration(passes: int, fails: int, k: int) -> None:
    reps = passes + fails
    drawn = list(itertools.combinations([True] * passes + [False] * fails, k))
    if not drawn:
        assert stats.pass_hat_k(reps, passes, k) is stats.pass_at_k(reps, passes, k) is None
        return
    assert stats.pass_hat_k(reps, passes, k) == pytest.approx(sum(map(all, drawn)) / len(drawn))
    assert stats.pass_at_k(reps, passes, k) == pytest.approx(sum(map(any, drawn)) / len(drawn))


@pytest.mark.parametrize(("passes", "reps"), [(-1, 3), (4, 3), (1, 0)])
def test_impossible_counts_are_refused(passes: int, reps: int) -> None:
    with pytest.raises(ValueError, match=f"{passes} passes of {reps} reps"):
        stats.wilson(passes, reps)
    with pytest.raises(ValueError):
        stats.suite_interval([(1, 1), (passes, reps)])
    with pytest.raises(ValueError):
        stats.permutation([(passes, reps)], [(1, 1)])
    with pytest.raises(ValueError):
        stats.pass_hat_k(reps, passes, 1)


def test_k_must_be_positive() -> None:
    with pytest.raises(ValueError, match="k is 0"):
        stats.pass_at_k(3, 1, 0)


@pytest.mark.parametrize(("passed", "scenarios"), [(0, 6), (3, 6), (6, 6), (9, 10), (1, 1), (150, 200)])
def test_suite_interval_of_all_or_nothing_scenarios_is_a_beta(passed: int, scenarios: int) -> None:
    found = stats.suite_interval([(4, 4)] * passed + [(0, 4)] * (scenarios - passed))
    failed = scenarios - passed
    low = scipy_stats.beta.ppf(0.025, passed, failed + 0.5) if passed else 0
    high = scipy_stats.beta.ppf(0.975, passed + 0.5, failed) if failed else 1
    assert close(found, (low, high))


def test_suite_interval_is_the_smoothed_bootstrap() -> None:
    """The closed form against the Dirichlet weights that it stands for, drawn."""
    rng = random.Random(2)
    for _ in range(8):
        table = random_cells(rng, rng.randint(6, 15), 6)
        limits: list[float] = []
        for end, quantile in ((0.0, 0.025), (1.0, 0.975)):
            values = [*(c / n for c, n in table), end]
            means: list[float] = []
            for _ in range(4000):
                weights = [rng.expovariate(1) for _ in table] + [rng.gammavariate(0.5, 1)]
                means.append(sum(w * v for w, v in zip(weights, values, strict=True)) / sum(weights))
            limits.append(sorted(means)[int(quantile * 4000)])
        assert close(stats.suite_interval(table), limits, 0.02)


@given(st.lists(cells, min_size=1, max_size=12), st.sampled_from([0.8, 0.95]))
def test_intervals_hold_their_mean_and_mirror(table: list[Counts], level: float) -> None:
    mean = stats.mean_rate(table)
    assert mean is not None
    mirrored = [(n - c, n) for c, n in table]
    for interval in (stats.suite_interval, stats.reps_interval):
        low, high = interval(table, level)
        assert 0 <= low <= mean + 1e-9 and mean - 1e-9 <= high <= 1
        other = interval(mirrored, level)
        assert close((1 - other.high, 1 - other.low), (low, high))
        assert interval([*table, (0, 0)], level) == (low, high)
        wider = interval(table, 0.99)
        assert wider.low <= low + 1e-9 and high - 1e-9 <= wider.high


@given(cells, st.integers(1, 8))
def test_reps_interval_of_equal_cells_is_wilson_of_all_reps(cell: Counts, scenarios: int) -> None:
    assert close(stats.reps_interval([cell] * scenarios), stats.wilson(cell[0] * scenarios, cell[1] * scenarios), 1e-9)


def test_reps_interval_is_narrower_where_scenarios_differ() -> None:
    low, high = stats.reps_interval([(0, 6)] * 5 + [(6, 6)] * 5)
    alike_low, alike_high = stats.wilson(30, 60)
    assert high - low < 0.8 * (alike_high - alike_low)


def test_difference_interval_equals_newcombe() -> None:
    rng = random.Random(3)
    for _ in range(100):
        (a, n), (b, m) = random_cells(rng, 2, 40)
        expected = statsmodels_stats.proportion.confint_proportions_2indep(b, m, a, n, method="newcomb", compare="diff")
        found = stats.difference_interval(a / n, stats.wilson(a, n), b / m, stats.wilson(b, m))
        assert close(found, expected, 1e-9)


# Exact tests


def brute_permutation(base: Sequence[Counts], current: Sequence[Counts]) -> float:
    """Every way to deal a scenario's reps to the two runs, in whole numbers over a common denominator."""
    scale = math.lcm(*(n for _, n in [*base, *current]))
    observed = abs(sum(scale // m * b - scale // n * a for (a, n), (b, m) in zip(base, current, strict=True)))
    dealt: list[list[int]] = []
    for (a, n), (b, m) in zip(base, current, strict=True):
        reps = [1] * (a + b) + [0] * (n + m - a - b)
        hands = [sum(hand) for hand in itertools.combinations(reps, m)]
        dealt.append([scale // m * hand - scale // n * (a + b - hand) for hand in hands])
    sums = [abs(sum(values)) for values in itertools.product(*dealt)]
    return sum(value >= observed for value in sums) / len(sums)


small = st.integers(0, 3).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(st.lists(st.tuples(small, small), min_size=1, max_size=3))
@settings(max_examples=60, deadline=None)
def test_permutation_by_enumeration(table: list[tuple[Counts, Counts]]) -> None:
    kept = [(a, b) for a, b in table if a[1] and b[1]]
    expected = brute_permutation([a for a, _ in kept], [b for _, b in kept]) if kept else 1
    assert stats.permutation([a for a, _ in table], [b for _, b in table]) == pytest.approx(expected, rel=1e-12)


def test_permutation_of_one_scenario_is_fisher() -> None:
    rng = random.Random(4)
    for _ in range(200):
        n = rng.randint(1, 60)
        a, b = rng.randint(0, n), rng.randint(0, n)
        expected = scipy_stats.fisher_exact([[a, n - a], [b, n - b]]).pvalue
        assert stats.permutation([(a, n)], [(b, n)]) == pytest.approx(expected, rel=1e-9)


@given(pairs, st.randoms(use_true_random=False))
def test_permutation_properties(table: list[tuple[Counts, Counts]], rng: random.Random) -> None:
    base, current = [a for a, _ in table], [b for _, b in table]
    p = stats.permutation(base, current)
    assert 0 < p <= 1
    assert stats.permutation(current, base) == pytest.approx(p)
    mirrored = [[(n - c, n) for c, n in side] for side in (base, current)]
    assert stats.permutation(*mirrored) == pytest.approx(p)
    shuffled = rng.sample(table, len(table))
    assert stats.permutation([a for a, _ in shuffled], [b for _, b in shuffled]) == pytest.approx(p)
    assert p >= stats.attainable_p([n for _, n in base], [n for _, n in current]) - 1e-12


@given(pairs)
def test_permutation_is_monotone(table: list[tuple[Counts, Counts]]) -> None:
    """A pass that moves from the base to the current run, totals unchanged, cannot weaken a rise."""
    base, current = [a for a, _ in table], [b for _, b in table]
    rise = sum(b / m - a / n for (a, n), (b, m) in table)
    (a, n), (b, m) = table[0]
    if rise < 0 or a == 0 or b == m:
        return
    p = stats.permutation(base, current)
    assert stats.permutation([(a - 1, n), *base[1:]], [(b + 1, m), *current[1:]]) <= p + 1e-12


@pytest.mark.parametrize("rate", [0.05, 0.3, 0.5, 0.8, 0.95])
def test_permutation_keeps_its_level_exactly(rate: float) -> None:
    """P(p <= alpha) summed over every outcome of two unchanged scenarios with unequal reps."""
    sizes = [(3, 2), (4, 3)]
    weights: list[tuple[float, float]] = []
    for outcome in itertools.product(*(range(n + 1) for pair in sizes for n in pair)):
        reps = [n for pair in sizes for n in pair]
        chance = math.prod(float(scipy_stats.binom.pmf(c, n, rate)) for c, n in zip(outcome, reps, strict=True))
        runs = list(zip(outcome, reps, strict=True))
        weights.append((stats.permutation(runs[::2], runs[1::2]), chance))
    for alpha in (0.01, 0.05, 0.1, 0.2):
        assert sum(chance for p, chance in weights if p <= alpha) <= alpha


def test_too_ragged_a_grid_gets_a_tight_upper_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(5)
    for _ in range(20):
        base = [(min(n, rng.randint(2, 9)), n) for n in rng.choices([8, 9, 10], k=6)]
        current = [(max(0, min(n, rng.randint(0, 9))), n) for n in rng.choices([8, 9, 10], k=6)]
        monkeypatch.setattr(exact, "POINTS", 10**7)
        p = stats.permutation(base, current)
        monkeypatch.setattr(exact, "POINTS", 3000)
        bound = stats.permutation(base, current)
        assert p <= bound + 1e-12
        assert bound <= 1.1 * p + 0.005


def test_large_ragged_grid_is_answered() -> None:
    rng = random.Random(6)
    base, current = random_cells(rng, 50, 12), random_cells(rng, 50, 12)
    assert 0 < stats.permutation(base, current) <= 1
    separated = stats.permutation([(0, n) for _, n in base], [(n, n) for _, n in current])
    assert 0 < separated < 1e-12


@given(st.lists(st.sampled_from([0.0, 1 / 3, -1 / 3, 2 / 3, 0.5, -1.0, 0.2]), max_size=8))
def test_sign_flip_by_enumeration(differences: list[float]) -> None:
    observed = abs(sum(differences))
    flipped = [
        abs(sum(sign * d for sign, d in zip(signs, differences, strict=True)))
        for signs in itertools.product((1, -1), repeat=len(differences))
    ]
    expected = sum(value >= observed - 1e-9 for value in flipped) / len(flipped)
    assert stats.sign_flip(differences) == pytest.approx(expected)


def test_sign_flip_equals_scipy_and_the_normal() -> None:
    rng = random.Random(7)
    for _ in range(10):
        differences = [rng.randint(-6, 6) / 6 for _ in range(9)]
        expected = scipy_stats.permutation_test(
            (differences,), lambda x, axis: x.sum(axis=axis), permutation_type="samples", n_resamples=math.inf
        ).pvalue
        assert stats.sign_flip(differences) == pytest.approx(expected)
    many = [rng.randint(-5, 6) / 6 for _ in range(300)]
    z = abs(sum(many)) / math.sqrt(sum(d * d for d in many))
    assert stats.sign_flip(many) == pytest.approx(2 * scipy_stats.norm.sf(z), abs=0.02)


def test_p_of_exactly_alpha_is_not_missed_by_rounding() -> None:
    for repeats in range(1, 6):
        steady = [(3, 3)] * repeats
        assert stats.permutation([(0, 19), *steady], [(1, 1), *steady]) <= 0.05
        assert stats.permutation([*steady, (19, 19)], [*steady, (0, 1)]) <= 0.05


def test_sign_flip_floor() -> None:
    assert [stats.sign_flip([0.5] * m) for m in (5, 6)] == [0.0625, 0.03125]
    assert stats.sign_flip([]) == 1


@given(st.integers(0, 40), st.integers(0, 40))
def test_mcnemar_equals_statsmodels(lost: int, gained: int) -> None:
    expected = statsmodels_stats.contingency_tables.mcnemar([[3, lost], [gained, 4]], exact=True).pvalue
    assert stats.mcnemar(lost, gained) == pytest.approx(expected)


def test_holm_equals_statsmodels() -> None:
    rng = random.Random(9)
    for _ in range(15):
        ps = [rng.choice([rng.random(), rng.random() / 50, 0.02]) for _ in range(rng.randint(1, 8))]
        assert stats.holm(ps) == pytest.approx(list(statsmodels_stats.multitest.multipletests(ps, method="holm")[1]))
    assert stats.holm([]) == []


def test_published_floors() -> None:
    assert [round(stats.attainable_p([n], [n]), 3) for n in (3, 4, 5)] == [0.1, 0.029, 0.008]
    assert stats.attainable_p([3, 0], [3, 3]) == pytest.approx(0.1)
    assert stats.attainable_p([0], [3]) == stats.attainable_p([], []) == 1


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=2))
@settings(max_examples=40, deadline=None)
def test_attainable_p_is_the_least_of_all_tables(sizes: list[tuple[int, int]]) -> None:
    smallest = 1.0
    for outcome in itertools.product(*(range(n + 1) for pair in sizes for n in pair)):
        runs = list(zip(outcome, [n for pair in sizes for n in pair], strict=True))
        smallest = min(smallest, stats.permutation(runs[::2], runs[1::2]))
    assert stats.attainable_p([a for a, _ in sizes], [b for _, b in sizes]) == pytest.approx(smallest)


# Planning


def brute_power(base: Sequence[float], current: Sequence[float], reps: int) -> float:
    total = 0.0
    sign = 1 if sum(current) >= sum(base) else -1
    for outcome in itertools.product(range(reps + 1), repeat=2 * len(base)):
        before, after = outcome[: len(base)], outcome[len(base) :]
        p = stats.permutation([(c, reps) for c in before], [(c, reps) for c in after])
        if p <= 0.05 and sign * (sum(after) - sum(before)) > 0:
            chances = zip(outcome, [*base, *current], strict=True)
            total += math.prod(math.comb(reps, c) * q**c * (1 - q) ** (reps - c) for c, q in chances)
    return total


@given(st.lists(st.tuples(rates, rates), min_size=1, max_size=2), st.integers(1, 3))
@settings(max_examples=30, deadline=None)
def test_power_by_enumeration(chances: list[tuple[float, float]], reps: int) -> None:
    base, current = [p for p, _ in chances], [q for _, q in chances]
    assert stats.power(base, current, reps) == pytest.approx(brute_power(base, current, reps), abs=1e-9)


def test_power_of_one_scenario_is_fishers() -> None:
    for p, q, reps in ((0.3, 0.9, 12), (0.9, 0.5, 20)):
        hits = 0.0
        for a, b in itertools.product(range(reps + 1), repeat=2):
            towards = (b - a) * (q - p) > 0
            if towards and scipy_stats.fisher_exact([[a, reps - a], [b, reps - b]]).pvalue <= 0.05:
                hits += float(scipy_stats.binom.pmf(a, reps, p) * scipy_stats.binom.pmf(b, reps, q))
        assert stats.power([p], [q], reps) == pytest.approx(hits, abs=1e-9)


def test_drawn_power_agrees_with_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    designs = [([0.9] * 6, [0.6] * 6, 5), ([0.3, 0.8], [0.6, 0.95], 15), ([0.0, 0.95], [0.9, 0.95], 3)]
    exactly = [stats.power(*design) for design in designs]
    monkeypatch.setattr(planning, "AFFORDABLE", 0)
    drawn = [stats.power(*design) for design in designs]
    assert drawn != exactly
    assert close(drawn, exactly, 0.025)
    assert drawn == [stats.power(*design) for design in designs]


@given(st.lists(st.tuples(rates, rates), min_size=1, max_size=3), st.integers(1, 4))
@settings(max_examples=40, deadline=None)
def test_power_is_symmetric_and_within_bounds(chances: list[tuple[float, float]], reps: int) -> None:
    base, current = [p for p, _ in chances], [q for _, q in chances]
    power = stats.power(base, current, reps)
    assert 0 <= power <= 1
    if math.fsum(base) != math.fsum(current):
        assert stats.power(current, base, reps) == pytest.approx(power)
    if stats.attainable_p([reps] * len(base), [reps] * len(base)) > 0.05:
        assert power == 0


@pytest.mark.parametrize(
    ("before", "after", "normal"), [(0.3, 0.9, 10), (0.67, 0.95, 30), (0.5, 0.8, 39), (0.8, 0.95, 76)]
)
def test_reps_needed_near_the_published_normal_figures(before: float, after: float, normal: int) -> None:
    needed = stats.reps_needed([before], [after])
    assert needed is not None
    # An exact test needs somewhat more than the uncorrected normal approximation says.
    assert normal <= needed <= 1.2 * normal
    assert stats.power([before], [after], needed) >= 0.8


@pytest.mark.parametrize("scenarios", [1, 2, 6, 10])
@pytest.mark.parametrize(("before", "after"), [(0.3, 0.9), (0.5, 0.8), (0.95, 0.65), (1, 0.5)])
def test_reps_needed_is_enough_and_hardly_more(scenarios: int, before: float, after: float) -> None:
    base, current = [before] * scenarios, [after] * scenarios
    needed = stats.reps_needed(base, current)
    assert needed is not None
    assert stats.power(base, current, needed) >= 0.79
    assert needed <= 2 or stats.power(base, current, needed - 2) < 0.8


def test_reps_needed_says_when_there_is_no_number() -> None:
    assert stats.reps_needed([0.5], [0.5]) is None
    assert stats.reps_needed([0.5], [0.501]) is None
    assert stats.reps_needed([], []) is None


@pytest.mark.parametrize("rate", [0.0, 0.3, 0.5, 0.8, 0.95, 1.0])
def test_detectable_difference(rate: float) -> None:
    size = stats.detectable(rate, 6, 6)
    assert size is not None
    towards = -1 if rate >= 0.5 else 1
    assert stats.power([rate] * 6, [rate + towards * size] * 6, 6) >= 0.78
    assert stats.power([rate] * 6, [rate + towards * (size - 0.05)] * 6, 6) < 0.8
    assert stats.detectable(rate, 1, 3) is None


def test_rates_must_be_probabilities() -> None:
    for base, current in (([0.5], [1.5]), ([0.5], [])):
        with pytest.raises(ValueError, match="probabilities"):
            stats.power(base, current, 3)
        with pytest.raises(ValueError, match="probabilities"):
            stats.reps_needed(base, current)


# Bar, ladder, discrimination


def test_bar_published_curve() -> None:
    published = {0.2: 0.10, 0.3: 0.22, 0.5: 0.50, 0.67: 0.75, 0.8: 0.90, 0.9: 0.97, 0.95: 0.99}
    assert {p: round(stats.bar_rate(3, p), 2) for p in published} == published
    assert [stats.bar_needed(n) for n in (1, 2, 3, 4, 5, 6, 9, 10)] == [1, 2, 2, 3, 4, 4, 6, 7]
    meets = stats.bar_rate(3, 0.8)
    assert 1 - (1 - meets * (1 - meets)) ** 20 == pytest.approx(0.86, abs=0.005)


@pytest.mark.parametrize(
    ("ladder", "violations", "largest"),
    [([], 0, 0), ([0.5], 0, 0), ([1, 0.6, 0.6, 0.2], 0, 0), ([1, 0.2, 0.5, 0.4, 0.9], 2, 0.7), ([0, 1], 1, 1)],
)
def test_monotonicity(ladder: list[float], violations: int, largest: float) -> None:
    assert stats.monotonicity(ladder) == (violations, pytest.approx(largest))


def test_discrimination_of_single_cells_is_newcombe() -> None:
    rng = random.Random(8)
    for _ in range(50):
        (hits, n), (quiet, m) = random_cells(rng, 2, 30)
        found = stats.discrimination([(hits, n)], [(quiet, m)])
        assert found is not None
        assert found.j == pytest.approx(hits / n + quiet / m - 1)
        assert close(
            found.interval,
            statsmodels_stats.proportion.confint_proportions_2indep(
                hits, n, m - quiet, m, method="newcomb", compare="diff"
            ),
            1e-9,
        )


@pytest.mark.parametrize(
    ("positive", "negative", "name"),
    [
        ((3, 3), (0, 3), "always-writer"),
        ((0, 3), (3, 3), "never-writer"),
        ((3, 3), (3, 3), "discriminating"),
        ((0, 3), (0, 3), "inverted"),
        ((3, 6), (6, 6), "mixed"),
        ((2, 3), (1, 3), "always-writer"),
        ((1, 3), (2, 3), "never-writer"),
    ],
)
def test_patterns(positive: Counts, negative: Counts, name: str) -> None:
    found = stats.discrimination([positive] * 2, [negative] * 3)
    assert found is not None
    assert found.pattern == name == stats.pattern(found.tpr, found.fpr)


# Comparing two runs


def suite(*counts: Counts) -> dict[str, Counts]:
    return {f"P{index}": cell for index, cell in enumerate(counts)}


def test_a_separated_suite_is_a_regression() -> None:
    found = stats.compare(suite(*[(3, 3)] * 3), suite(*[(0, 3)] * 3))
    assert (found.decision, found.difference, found.reps_needed) == ("regression", -1, None)
    assert (found.p, found.adjusted, found.floor) == pytest.approx([2 / 20**3] * 3)
    assert found.interval.high < 0


def test_one_scenario_at_three_reps_cannot_decide() -> None:
    found = stats.compare(suite((3, 3)), suite((0, 3)))
    assert (found.decision, found.reps_needed) == ("undecided", 4)
    assert (found.p, found.floor) == pytest.approx((0.1, 0.1))
    assert found.interval.low <= 0 <= found.interval.high
    assert stats.compare(suite((4, 4)), suite((0, 4))).decision == "regression"
    assert stats.compare(suite((0, 4)), suite((4, 4))).decision == "improvement"


def test_enough_reps_tell_change_and_same_from_undecided() -> None:
    steady = suite(*[(10, 10)] * 5, *[(0, 10)] * 5)
    assert stats.compare(steady, steady).decision == "same"
    assert stats.compare(steady, {**steady, "P0": (9, 10)}).decision == "change"
    few = suite(*[(3, 3)] * 3, *[(0, 3)] * 3)
    undecided = stats.compare(few, {**few, "P0": (2, 3)})
    assert undecided.decision == "undecided"
    assert undecided.reps_needed is not None and undecided.reps_needed > 3


def test_error_reps_are_no_trials() -> None:
    base = {"P1": (3, 3), "P2": (2, 2), "P3": (0, 0), "only-here": (3, 3)}
    current = {"P1": (3, 3), "P2": (3, 3), "P3": (3, 3), "only-there": (1, 3)}
    found = stats.compare(base, current)
    assert found.left_out == ("P3", "only-here", "only-there")
    assert (found.scenarios, found.difference) == (2, 0)
    nothing = stats.compare({"P1": (0, 0)}, {"P1": (3, 3)})
    assert (nothing.decision, nothing.p, nothing.reps_needed, nothing.scenarios) == ("undecided", 1, None, 0)


def test_holm_over_models() -> None:
    drop = (suite((4, 4)), suite((0, 4)))
    alone = stats.compare(*drop)
    three = stats.compare_all({"a": drop, "b": (suite((4, 4)), suite((4, 4))), "c": ({}, {})})
    assert alone.decision == "regression"
    assert three["a"].p == alone.p
    # The model without a comparable scenario is no member of the family.
    assert three["a"].adjusted == pytest.approx(2 * alone.p)
    assert three["a"].decision != "regression"


@given(pairs)
@settings(max_examples=60, deadline=None)
def test_comparison_properties(table: list[tuple[Counts, Counts]]) -> None:
    base, current = suite(*(a for a, _ in table)), suite(*(b for _, b in table))
    found, swapped = stats.compare(base, current), stats.compare(current, base)
    opposite = {"regression": "improvement", "improvement": "regression"}
    assert swapped.decision == opposite.get(found.decision, found.decision)
    assert swapped.p == pytest.approx(found.p)
    assert swapped.reps_needed == found.reps_needed
    assert close(swapped.interval, Interval(-found.interval.high, -found.interval.low))
    assert -1 <= found.interval.low <= found.difference + 1e-9
    assert found.difference - 1e-9 <= found.interval.high <= 1
    assert (found.interval.low <= 0 <= found.interval.high) == (found.p > 0.05)
    assert found.p >= found.floor - 1e-12
    if found.reps_needed is not None:
        assert found.decision == "undecided"


# Simulations: 200 grids here, 2,000 by running simulate_stats.py


def check(figures: list[simulate_stats.Figure]) -> None:
    simulate_stats.show(figures)
    assert figures
    assert [figure for figure in figures if not figure.holds] == []


def test_simulated_diffs_of_several_models_have_no_more_false_regressions() -> None:
    check(list(simulate_stats.diff_false_regressions(200, 3)))


def test_simulated_wilson_coverage() -> None:
    check(list(simulate_stats.wilson_coverage(200)))


@pytest.mark.parametrize(("scenarios", "reps", "low"), [(10, 6, 0.93), (6, 3, None)])
def test_simulated_interval_coverage(scenarios: int, reps: int, low: float | None) -> None:
    check(list(simulate_stats.interval_coverage(200, scenarios, reps, low)))


@pytest.mark.parametrize(("scenarios", "reps"), [(6, 3), (10, 6)])
def test_simulated_false_regressions(scenarios: int, reps: int) -> None:
    check(list(simulate_stats.false_regressions(200, scenarios, reps)))


def test_simulated_power_of_three_positives() -> None:
    check(list(simulate_stats.three_positives(200)))


def test_simulated_power_is_the_claimed_power() -> None:
    check(list(simulate_stats.claimed_power(2000)))
