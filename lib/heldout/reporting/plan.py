"""What a grid will take, from past rows of the same models, and what it can show. Unknown is said and is not zero."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from heldout import stats
from heldout.reporting import figures
from heldout.reporting.printed import p_value, rate
from heldout.reporting.tables import Grid
from heldout.rows import Row

RATES = (0.5, 0.8)  # pass probabilities of the run that is compared with, for the smallest difference found


@dataclass(frozen=True)
class Planned:
    """One cell of the grid. `live` cells ask a model and cost money; `measured` ones are there already."""

    suite: str
    scenario: str
    model: str
    rep: int
    live: bool
    measured: bool


@dataclass(frozen=True)
class Cost:
    """Of the live cells of one model that are to run: seconds and dollars; None where no past row says."""

    model: str
    cells: int
    seconds: float | None
    usd: float | None
    source: str


def costs(cells: Iterable[Planned], past: Sequence[Row]) -> list[Cost]:
    """A cost a model. A cell is taken to cost the median of past cells of its suite, else of its model."""
    found: list[Cost] = []
    by_model: dict[str, list[Planned]] = {}
    for cell in cells:
        if cell.live and not cell.measured:
            by_model.setdefault(cell.model, []).append(cell)
    for model, wanted in by_model.items():
        # What ended in ERROR cost less than a cell that was measured.
        known = [row for row in past if row.model == model and _live(row)]
        seconds = _sum(wanted, known, "ms")
        found.append(
            Cost(
                model,
                len(wanted),
                None if seconds is None else seconds / 1000,
                _sum(wanted, known, "usd"),
                f"{len(known)} past cells" if known else "no past cell",
            )
        )
    return found


def _live(row: Row) -> bool:
    return row.verdict != "ERROR" and row.info.get("agent") == "claude" and "plays" not in row.info


def _sum(wanted: Sequence[Planned], known: Sequence[Row], key: str) -> float | None:
    total = 0.0
    for cell in wanted:
        same = [value for row in known if row.info.get("suite") == cell.suite for value in _values(row, key)]
        values = same or [value for row in known for value in _values(row, key)]
        if not values:
            return None
        total += median(values)
    return total


def _values(row: Row, key: str) -> list[float]:
    value = figures.number(row, key)
    return [] if value is None else [value]


def cost_table(found: Sequence[Cost], jobs: int) -> Grid:
    """A line a model and one for all; minutes are of `jobs` cells at a time."""
    lines = [["model", "cells", "minutes", "usd", "known from"]]
    lines += [
        [cost.model, str(cost.cells), _minutes(cost.seconds, jobs), _usd(cost.usd), cost.source] for cost in found
    ]
    seconds, usd = [cost.seconds for cost in found], [cost.usd for cost in found]
    total = sum(cost.cells for cost in found)
    return [*lines, ["all", str(total), _minutes(_total(seconds), jobs), _usd(_total(usd)), ""]]


def _total(values: Sequence[float | None]) -> float | None:
    """The sum; None as soon as one is unknown, since a sum without it would look like the whole."""
    return None if any(value is None for value in values) else sum(value or 0.0 for value in values)


def _minutes(seconds: float | None, jobs: int) -> str:
    return "unknown" if seconds is None else f"{seconds / 60 / jobs:.1f}"


def _usd(usd: float | None) -> str:
    return "unknown" if usd is None else f"{usd:.2f}"


def power_table(cells: Iterable[Planned]) -> Grid:
    """What a comparison of this grid with another one like it can show, a line a suite."""
    reps: dict[str, dict[str, set[int]]] = {}
    for cell in cells:
        reps.setdefault(cell.suite, {}).setdefault(cell.scenario, set()).add(cell.rep)
    grid = [["suite", "scenarios", "reps", "smallest p", *(f"finds from {each:g}" for each in RATES)]]
    for suite, scenarios in reps.items():
        counts = [len(found) for found in scenarios.values()]
        floor = stats.attainable_p(counts, counts)
        finds = [stats.detectable(each, len(counts), min(counts)) for each in RATES]
        told = ["nothing: too few reps" if size is None else f"{rate(size)} or more" for size in finds]
        grid.append([suite, str(len(counts)), str(min(counts)), p_value(floor, 2), *told])
    return grid


def over(found: Sequence[Cost], cells: int, usd: float) -> str:
    """Why a grid needs a word of confirmation: it has more live cells, or takes more money, than that; '' if not."""
    count, money = sum(cost.cells for cost in found), sum(cost.usd or 0.0 for cost in found)
    if count > cells:
        return f"{count} live cells are to run, more than {cells}"
    if money > usd:
        more = " and what is unknown" if any(cost.usd is None for cost in found) else ""
        return f"about {money:.2f} USD{more} are to be spent, more than {usd:g}"
    return ""
