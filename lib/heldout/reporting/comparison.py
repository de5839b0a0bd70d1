"""Two runs compared, as plain data (lib/diff.schema.json): what each adds up to, and every difference with its weight.

Saved traces and embedded actors are deterministic: the same trace gives the same row, so each drop is a regression.
Sessions of a model vary: what a suite × model adds up to is tested (heldout.reporting.decisions), a single case is a
change.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import fmean
from typing import Any

from heldout import stats
from heldout.reporting import build, decisions, figures, mixture, summary
from heldout.reporting.printed import rounded
from heldout.reporting.unmeasured import counted
from heldout.rows import Row

SCHEMA = 1
REGRESSION, IMPROVEMENT, CHANGE, UNDECIDED = "regression", "improvement", "change", "undecided"
OUTCOMES = (REGRESSION, IMPROVEMENT, CHANGE, UNDECIDED)
Rows = Sequence[Row]
Key = tuple[str, str, str]  # suite, scenario, model; the scenario of an aggregate is ''
By = Mapping[Key, Rows]
Tested = Mapping[tuple[str, str], stats.Comparison]


@dataclass
class Item:
    """One difference. `delta` is current minus base, above 0 where more is better in pass_rate, case and evidence.

    kind      pass_rate, tool_calls, duration_ms, agent_verdicts (of a suite × model); case, evidence, missing-case,
              new-case (of a scenario × model)
    reasons   of a case that got worse: what failed now
    bar       of a case of sessions whose pass bar turned: `met to missed`
    """

    kind: str
    suite: str
    scenario: str
    model: str
    old: Any
    new: Any
    delta: Any = None
    tool: str = ""
    reasons: list[str] = field(default_factory=list[str])
    bar: str = ""
    outcome: str = CHANGE


def decide(item: Item, base: Rows, current: Rows, tested: Tested) -> str:
    """What a difference amounts to. `base` and `current` are the rows behind it, `tested` decides about sessions.

    Cost and the distribution of verdicts are signals and never more than a change; a case that is new is none either.
    """
    if not decisions.deterministic([*base, *current]):
        told = tested.get((item.suite, item.model)) if item.kind == "pass_rate" else None
        return told.decision if told else CHANGE
    if item.kind == "missing-case":
        return REGRESSION
    if item.kind in ("pass_rate", "case", "evidence"):
        return REGRESSION if item.delta < 0 else IMPROVEMENT
    return CHANGE


def compare(
    names: tuple[str, str], base: Rows, current: Rows, unmeasured: decisions.Left = decisions.NONE_LEFT
) -> dict[str, Any]:
    """The whole comparison. Rows of ERROR are kept apart; `lost` among them are cases that only BASE could decide."""
    tested, flipped = decisions.of_runs(base, current), decisions.flips(base, current, unmeasured)
    items = list(_items(base, current, tested))
    for item in items:
        if item.kind == "case" and (item.suite, item.model) in tested:
            item.bar = " to ".join(flipped.get((item.suite, item.scenario, item.model), ()))
    old, new = figures.aggregate(base), figures.aggregate(current)
    count = {outcome: sum(item.outcome == outcome for item in items) for outcome in OUTCOMES}
    cases = [mixture.by_cell(side).keys() for side in (base, current)]
    sides = [{key for key, rows in mixture.by_cell(side).items() if mixture.trials(rows)} for side in (base, current)]
    return {
        "schema": SCHEMA,
        "kind": "diff",
        "base": {"name": names[0], **old, **counted(unmeasured[0])},
        "current": {"name": names[1], **new, **counted(unmeasured[1])},
        "summary": {
            **{f"{outcome}s" if outcome != UNDECIDED else outcome: number for outcome, number in count.items()},
            "compared": len(cases[0] & cases[1]),
            "decided": len(sides[0] & sides[1]),
            "left_out": len(cases[0] | cases[1]) - len(sides[0] & sides[1]),
            **_means(base, current),
            "agent_verdicts": _counts(*(figures.aggregate(side)["agent_verdicts"] for side in _decided(base, current))),
        },
        "mixed": dict(mixture.between(base, current)),
        "unknown": unknown(base, current),
        "tests": [decisions.plain(place, told) for place, told in tested.items()],
        "items": [asdict(item) for item in items],
        "errors": list(_errors(base, current)),
    }


def unknown(base: Rows, current: Rows) -> list[str]:
    """The sides that do not say by which instrument they were measured, as a kept baseline does not."""
    sides = (("base", base), ("current", current))
    return [side for side, rows in sides if not any("instrument" in row.info for row in rows)]


def _items(base: Rows, current: Rows, tested: Tested) -> Iterator[Item]:
    for before, after, differences in (
        (_suites(base), _suites(current), _of_suite),
        (mixture.by_cell(base), mixture.by_cell(current), _of_case),
    ):
        for key in dict.fromkeys((*before, *after)):
            old, new = before.get(key, ()), after.get(key, ())
            for item in differences(key, old, new):
                item.outcome = decide(item, old, new, tested)
                yield item


def _of_suite(key: Key, base: Rows, current: Rows) -> Iterator[Item]:
    """Differences of what a suite × model adds up to; a figure that one side lacks is not compared."""
    for kind, pair in _means(base, current).items():
        if pair["delta"]:
            yield Item(kind, *key, **pair)
    old, new = (figures.aggregate(side)["agent_verdicts"] for side in _decided(base, current))
    verdicts = _counts(old, new)
    if verdicts["delta"] and base and current:
        yield Item("agent_verdicts", *key, **verdicts)


def _decided(base: Rows, current: Rows) -> tuple[list[Row], list[Row]]:
    """The trials of the cases that both sides decided: a case that one side lacks is no difference of the others."""
    before, after = mixture.by_cell(mixture.trials(base)), mixture.by_cell(mixture.trials(current))
    both = [key for key in before if key in after]
    return [row for key in both for row in before[key]], [row for key in both for row in after[key]]


def _means(base: Rows, current: Rows) -> dict[str, dict[str, Any]]:
    """Pass rate, tool calls and duration of both sides: means over the cases that both have, each counting once.

    Neither another set of cases nor other numbers of reps is then a difference.
    """
    return {
        "pass_rate": _pair(*_mean(base, current, _passed)),
        "tool_calls": _pair(*_mean(base, current, figures.tool_calls, 2)),
        "duration_ms": _pair(*_mean(base, current, figures.duration_ms, 2)),
    }


def _passed(row: Row) -> float:
    return float(row.verdict == "PASS")


def _mean(base: Rows, current: Rows, figure: figures.Figure, digits: int = 4) -> tuple[float | None, float | None]:
    """The mean on both sides, over the cases of which both have the figure; None where there is none."""
    sides = [_of_cases(side, figure) for side in (base, current)]
    both = [key for key in sides[0] if key in sides[1]]
    # Beside a side that has the figure nowhere, the other still says what it has.
    compared = [[side[key] for key in (both if all(sides) else side)] for side in sides]
    old, new = (rounded(fmean(values), digits) if values else None for values in compared)
    return old, new


def _of_cases(rows: Rows, figure: figures.Figure) -> dict[Key, float]:
    """By case the mean of the trials that have the figure."""
    found: dict[Key, float] = {}
    for key, same in mixture.by_cell(mixture.trials(rows)).items():
        if values := [value for row in same if (value := figure(row)) is not None]:
            found[key] = fmean(values)
    return found


def _of_case(key: Key, base: Rows, current: Rows) -> Iterator[Item]:
    """Differences of a scenario × model, among the rows that are trials."""
    if not base:
        yield Item("new-case", *key, old=None, new=_shown(current))
        return
    if not current:
        yield Item("missing-case", *key, old=_shown(base), new=None)
        return
    before, after = mixture.trials(base), mixture.trials(current)
    if not before or not after:
        return
    old, new = figures.aggregate(before), figures.aggregate(after)
    if old["pass_rate"] != new["pass_rate"]:
        worse = new["pass_rate"] < old["pass_rate"]
        reasons = [reason for row in after for reason in row.reasons] if worse else []
        delta = rounded(new["pass_rate"] - old["pass_rate"])
        yield Item(
            "case", *key, old=_shown(before), new=_shown(after), delta=delta, reasons=list(dict.fromkeys(reasons))
        )
    was, now = _coverage(before), _coverage(after)
    for tool in was.keys() & now.keys():
        if was[tool] != now[tool]:
            told = ("uncovered", "covered")
            yield Item("evidence", *key, told[was[tool]], told[now[tool]], now[tool] - was[tool], tool=tool)


def _errors(base: Rows, current: Rows) -> Iterator[dict[str, Any]]:
    before, after = mixture.by_cell(base), mixture.by_cell(current)
    for key in dict.fromkeys((*before, *after)):
        old, new = before.get(key, ()), after.get(key, ())
        codes = [
            [row.reasons[0] if row.reasons else "" for row in side if row.verdict == "ERROR"] for side in (old, new)
        ]
        if any(codes):
            lost = bool(mixture.trials(old)) and bool(new) and not mixture.trials(new)
            place = dict(zip(("suite", "scenario", "model"), key, strict=True))
            yield {**place, "base": codes[0], "current": codes[1], "lost": lost}


def _coverage(rows: Rows) -> dict[str, bool]:
    """Each required evidence tool of a case, and whether all its trials have it."""
    found: dict[str, bool] = {}
    for row in rows:
        gathered = figures.evidence(row) or {"covered": [], "uncovered": []}
        for tool in (*gathered["covered"], *gathered["uncovered"]):
            found[tool] = found.get(tool, True) and tool in gathered["covered"]
    return found


def _suites(rows: Rows) -> By:
    return {(suite, "", model): group for (suite, model), group in build.by_suite(rows).items()}


def _shown(rows: Rows) -> str:
    return summary.groups(rows)[0].shown()


def _pair(old: float | None, new: float | None) -> dict[str, Any]:
    delta = rounded(new - old) if old is not None and new is not None else None
    return {"old": old, "new": new, "delta": delta}


def _counts(old: Mapping[str, int], new: Mapping[str, int]) -> dict[str, Any]:
    """Counts of verdicts on both sides, and those that differ."""
    delta = {key: new.get(key, 0) - old.get(key, 0) for key in sorted({*old, *new})}
    return {"old": dict(old), "new": dict(new), "delta": {key: value for key, value in delta.items() if value}}
