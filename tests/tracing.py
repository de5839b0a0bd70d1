"""Saved traces in tests: the suite's own, changed by a function, scored in this process."""

import json
from collections.abc import Callable
from typing import Any

from heldout import scenario
from heldout.checks import expression, scoring, traces
from heldout.checks.words import Context
from heldout.errors import Fault
from heldout.rows import Row
from programs import ROOT

FIXTURE = ROOT / "fixture/diagnosis"
CASES = [path.stem for path in scenario.files("run", "diagnosis")]


def saved(case: str) -> dict[str, Any]:
    """The trace of a case, to be changed."""
    item = scenario.find(f"diagnosis/{case}" if "-" in case else case)
    return json.loads((item.fixture_root / (item.trace or "")).read_text(encoding="utf-8"))


def evaluation(trace: dict[str, Any]) -> dict[str, Any]:
    return trace["selfEvaluation"]["verifier_evaluation"]


def score(case: str, change: Callable[[dict[str, Any]], Any] | None = None) -> Row:
    """The row of a case's trace after `change`, as bin/check would give it."""
    item, trace = scenario.find(case), saved(case)
    expression.validate(item)
    if change:
        change(trace)
    wrong = traces.problems(trace, item.trace_schema)
    found: Any = Fault("unreadable-transcript", ", ".join(wrong)) if wrong else trace
    return scoring.score(Context(item, trace_or_fault=found), "trace", 1)


def says(text: str) -> Callable[[dict[str, Any]], None]:
    """A change that adds `text` to the final answer."""
    return lambda trace: trace.update(finalAnswer=f"{trace['finalAnswer']}\n\n{text}")


def answers(text: str) -> Callable[[dict[str, Any]], None]:
    return lambda trace: trace.update(finalAnswer=text)
