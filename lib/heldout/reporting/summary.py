"""Rows summed up: passes of n per scenario and model, faults apart, reasons by frequency."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from heldout.reporting.unmeasured import Unmeasured
from heldout.rows import Row

TRACE = "trace"  # the model of saved traces


@dataclass
class Group:
    """The reps of one scenario × model. What ended in ERROR or was not measured is no trial: it is counted apart."""

    scenario: str
    model: str
    suite: str = ""
    polarity: str = ""
    level: str = ""
    trace: bool = False
    passed: int = 0
    failed: int = 0
    errors: int = 0
    unmeasured: int = 0
    judged: int = 0
    reasons: Counter[str] = field(default_factory=Counter[str])

    @property
    def key(self) -> tuple[str, str, str]:
        return self.suite, self.scenario, self.model

    @property
    def trials(self) -> int:
        return self.passed + self.failed

    @property
    def open(self) -> int:
        """Reps that were asked for and could have gone either way."""
        return self.errors + self.unmeasured

    @property
    def asked(self) -> int:
        return self.trials + self.open

    def add(self, row: Row) -> None:
        self.passed += row.verdict == "PASS"
        self.failed += row.verdict == "FAIL"
        self.errors += row.verdict == "ERROR"
        self.judged += "judge" in row.info
        self.reasons.update(row.reasons)

    def shown(self) -> str:
        """`2/3`, with ` +1 ERROR` for reps that could not be measured or decided, ` +1 unmeasured` for those that were
        not even tried, and `*` where a judge decided."""
        more = f" +{self.errors} ERROR" * bool(self.errors) + f" +{self.unmeasured} unmeasured" * bool(self.unmeasured)
        return f"{self.passed}/{self.trials}{'*' * bool(self.judged)}{more}"


def groups(rows: Iterable[Row], unmeasured: Iterable[Unmeasured] = ()) -> list[Group]:
    """One group a suite × scenario × model, in order of first appearance; those without any row come last."""
    found: dict[tuple[str, str, str], Group] = {}
    for row in rows:
        suite = row.info.get("suite", "")
        group = found.setdefault((suite, row.scenario, row.model), Group(row.scenario, row.model, suite))
        for key in ("polarity", "level"):
            setattr(group, key, row.info.get(key, getattr(group, key)))
        group.trace = group.trace or row.info.get("agent") == "trace"
        group.add(row)
    for item in unmeasured:
        key = (item.suite, item.scenario, item.model)
        found.setdefault(key, Group(item.scenario, item.model, item.suite, trace=item.model == TRACE)).unmeasured += 1
    return list(found.values())


def matrix(found: list[Group]) -> tuple[list[str], list[str], dict[tuple[str, str], Group]]:
    """Scenarios, models, and the groups by both, of one suite, in order of appearance."""
    scenarios = list(dict.fromkeys(group.scenario for group in found))
    models = list(dict.fromkeys(group.model for group in found))
    return scenarios, models, {(group.scenario, group.model): group for group in found}
