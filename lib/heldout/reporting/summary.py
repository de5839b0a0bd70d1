"""Rows summed up: passes of n per scenario and model, faults apart, reasons by frequency."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from heldout.rows import Row


@dataclass
class Group:
    """The reps of one scenario × model. A rep that ended in ERROR is no trial: it is counted apart."""

    scenario: str
    model: str
    suite: str = ""
    polarity: str = ""
    level: str = ""
    trace: bool = False
    passed: int = 0
    failed: int = 0
    errors: int = 0
    judged: int = 0
    reasons: Counter[str] = field(default_factory=Counter[str])

    @property
    def trials(self) -> int:
        return self.passed + self.failed

    def add(self, row: Row) -> None:
        self.passed += row.verdict == "PASS"
        self.failed += row.verdict == "FAIL"
        self.errors += row.verdict == "ERROR"
        self.judged += "judge" in row.info
        self.reasons.update(row.reasons)

    def shown(self) -> str:
        """`2/3`, with ` +1 ERROR` for reps that could not be measured and `*` where a judge decided."""
        star = "*" * bool(self.judged)
        return f"{self.passed}/{self.trials}{star}" + (f" +{self.errors} ERROR" if self.errors else "")


def groups(rows: Iterable[Row]) -> list[Group]:
    """One group a suite × scenario × model, in order of first appearance."""
    found: dict[tuple[str, str, str], Group] = {}
    for row in rows:
        suite = row.info.get("suite", "")
        group = found.setdefault((suite, row.scenario, row.model), Group(row.scenario, row.model, suite))
        for key in ("polarity", "level"):
            setattr(group, key, row.info.get(key, getattr(group, key)))
        group.trace = group.trace or row.info.get("agent") == "trace"
        group.add(row)
    return list(found.values())


def matrix(found: list[Group]) -> tuple[list[str], list[str], dict[tuple[str, str], Group]]:
    """Scenarios, models, and the groups by both, of one suite, in order of appearance."""
    scenarios = list(dict.fromkeys(group.scenario for group in found))
    models = list(dict.fromkeys(group.model for group in found))
    return scenarios, models, {(group.scenario, group.model): group for group in found}
