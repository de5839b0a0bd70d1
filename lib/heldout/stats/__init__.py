"""Intervals and tests for small grids: scenarios times a handful of reps that pass or do not.

A cell's outcome is `Counts`: (passes, valid reps). A rep that ended in ERROR is no trial: it is in neither
number, and whoever prints a rate prints the number of ERRORs beside it. Rates and differences are fractions
of 1, p-values are two-sided, intervals are 95 % unless asked otherwise. Impossible counts are a ValueError.

Two kinds of statement are kept apart. *Over reps*: the scenarios are the ones that were run, and only the
luck of the reps is uncertain (`wilson`, `reps_interval`, `permutation`, `compare`). *Over scenarios*: the
scenarios are a sample of what they stand for (`suite_interval`, `sign_flip`).
"""

from heldout.stats.compare import Comparison, compare, compare_all
from heldout.stats.curves import (
    Discrimination,
    Monotonicity,
    bar_needed,
    bar_rate,
    discrimination,
    monotonicity,
    pattern,
)
from heldout.stats.exact import attainable_p, holm, mcnemar, permutation, sign_flip
from heldout.stats.intervals import (
    Counts,
    Interval,
    difference_interval,
    mean_rate,
    pass_at_k,
    pass_hat_k,
    reps_interval,
    suite_interval,
    wilson,
)
from heldout.stats.planning import detectable, power, reps_needed

__all__ = [
    "Comparison",
    "Counts",
    "Discrimination",
    "Interval",
    "Monotonicity",
    "attainable_p",
    "bar_needed",
    "bar_rate",
    "compare",
    "compare_all",
    "detectable",
    "difference_interval",
    "discrimination",
    "holm",
    "mcnemar",
    "mean_rate",
    "monotonicity",
    "pass_at_k",
    "pass_hat_k",
    "pattern",
    "permutation",
    "power",
    "reps_interval",
    "reps_needed",
    "sign_flip",
    "suite_interval",
    "wilson",
]
