"""Check expressions: Kleene logic, every branch evaluated, a judge asked last, a defect never a FAIL."""

from itertools import product
from typing import Any

import pytest
from heldout import scenario
from heldout.checks import library, scoring
from heldout.checks.expression import evaluate
from heldout.checks.words import Context, Finding, Word
from heldout.errors import CODES, Fault

NONE, TRUE, FALSE = None, True, False
OUTCOMES = {"pass": True, "fail": False, "undecided": None}


@pytest.fixture(autouse=True)
def words(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Words with a known outcome, and the order in which they were called."""
    called: list[str] = []

    def make(name: str, needs: tuple[str, ...] = ("sandbox",)) -> None:
        def function(context: Context, ask: bool = True) -> Finding:
            called.append(name)
            if "judge" in needs and not ask:
                return Finding("undecided", code="judge-missing")
            if "judge" in needs:
                context.pending.append(name)  # type: ignore[arg-type]
            if name == "boom":
                raise ZeroDivisionError("in a check")
            if name == "lost":
                raise Fault("no-transcript", "nothing there")
            outcome = name.removeprefix("j")
            return Finding(
                outcome,
                (f"{name} says so",),
                code="judge-missing" if outcome == "undecided" else "",
                judged="judge" in needs,
            )

        monkeypatch.setitem(library.WORDS, name, Word(name, function, needs, {}))

    for name in ("pass", "fail", "undecided", "boom", "lost"):
        make(name)
    for name in ("jpass", "jfail", "jundecided"):
        make(name, ("message", "judge"))
    return called


def _context() -> Context:
    return Context(scenario.find("P1"))


def _kleene(operator: str, values: tuple[bool | None, ...]) -> bool | None:
    decisive = operator == "any"
    if decisive in values:
        return decisive
    return None if None in values else not decisive


@pytest.mark.parametrize(
    ("operator", "names"), [(op, names) for op in ("all", "any") for names in product(OUTCOMES, repeat=3)]
)
def test_all_and_any_are_kleene(operator: str, names: tuple[str, ...]) -> None:
    finding = evaluate({operator: [{name: {}} for name in names]}, _context())
    assert OUTCOMES[finding.outcome] is _kleene(operator, tuple(OUTCOMES[name] for name in names))


@pytest.mark.parametrize("name", OUTCOMES)
def test_not_turns_pass_and_fail_and_leaves_undecided(name: str) -> None:
    value = OUTCOMES[name]
    assert OUTCOMES[evaluate({"not": {name: {}}}, _context()).outcome] is (None if value is None else not value)


def test_every_deterministic_branch_is_evaluated_and_every_reason_kept(words: list[str]) -> None:
    finding = evaluate({"all": [{"fail": {}}, {"pass": {}}, {"fail": {}}]}, _context())
    assert words == ["fail", "pass", "fail"]
    assert finding.evidence == ("fail says so", "fail says so")


@pytest.mark.parametrize(
    ("expression", "asked"),
    [
        ({"any": [{"pass": {}}, {"jpass": {}}]}, False),
        ({"any": [{"fail": {}}, {"jpass": {}}]}, True),
        ({"any": [{"undecided": {}}, {"jpass": {}}]}, True),
        ({"all": [{"fail": {}}, {"jpass": {}}]}, False),
        ({"all": [{"pass": {}}, {"jpass": {}}]}, True),
        ({"all": [{"fail": {}}, {"any": [{"fail": {}}, {"jpass": {}}]}]}, False),
        ({"all": [{"pass": {}}, {"any": [{"fail": {}}, {"jpass": {}}]}]}, True),
        ({"all": [{"pass": {}}, {"any": [{"pass": {}}, {"jpass": {}}]}]}, False),
        ({"not": {"any": [{"fail": {}}, {"jfail": {}}]}}, True),
        ("jpass", True),
    ],
)
def test_a_judge_is_asked_only_where_the_rest_leaves_it_open(expression: Any, asked: bool) -> None:
    context = _context()
    evaluate(expression, context)
    assert bool(context.pending) is asked


def test_an_exception_in_a_check_is_undecided_with_check_error() -> None:
    finding = evaluate({"boom": {}}, _context())
    assert (finding.outcome, finding.code) == ("undecided", "check-error")
    assert "ZeroDivisionError: in a check" in finding.evidence[0]


def test_a_missing_need_is_undecided_with_its_code() -> None:
    assert evaluate({"lost": {}}, _context()).code == "no-transcript"


@pytest.mark.parametrize("name", ["boom", "lost"])
@pytest.mark.parametrize("polarity", ["positive", "negative"])
def test_a_defect_never_becomes_a_fail_row(name: str, polarity: str) -> None:
    from dataclasses import replace

    item = replace(scenario.find("P1"), axes={"A": {"not": {name: {}}}, "B": {"pass": {}}}, polarity=polarity)
    row = scoring.score(Context(item), "m", 1)
    assert row.verdict == "ERROR"
    assert row.code in CODES


@pytest.mark.parametrize(
    ("axes", "verdict"),
    [
        ({"A": "pass", "B": "pass"}, "PASS"),
        ({"A": "pass", "B": "fail"}, "FAIL"),
        ({"A": "undecided", "B": "fail"}, "FAIL"),
        ({"A": "undecided", "B": "pass"}, "ERROR"),
    ],
)
def test_the_order_of_verdicts(axes: dict[str, str], verdict: str) -> None:
    from dataclasses import replace

    item = replace(scenario.find("P1"), axes={letter: {name: {}} for letter, name in axes.items()})
    assert scoring.score(Context(item), "m", 1).verdict == verdict


def test_a_harness_fault_comes_before_a_failing_axis() -> None:
    from dataclasses import replace

    item = replace(scenario.find("P1"), axes={"A": {"fail": {}}})
    row = scoring.score(Context(item, facts_or_fault=Fault("empty-transcript", "0 bytes")), "m", 1)
    assert (row.verdict, row.reasons) == ("ERROR", ("empty-transcript: 0 bytes",))
    assert row.axes == {"A": "undecided"}
