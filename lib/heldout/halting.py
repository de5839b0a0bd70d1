"""When a grid stops paying: its budget is spent, or a model has shown that it cannot be measured."""

import os
from collections.abc import Iterator
from math import nan
from pathlib import Path

from heldout import cell as cells
from heldout.cell import Cell, Record
from heldout.errors import Fault, Refusal

FIRST = 3  # cells of a model that must not all end in ERROR with one code


def halted(cell: Cell, since: float) -> str:
    """Why this cell is not to be started, or ''. `since` is when the grid started (seconds since the epoch).

    BUDGET_USD bounds what the run's cells and attempts have cost together; cells under way are not known yet.
    """
    if (limit := budget()) is not None:
        spent = sum(record.usd or 0.0 for _, record in _records(cell.run))
        if spent >= limit:
            return f"BUDGET_USD={limit:g} is spent: the run has cost ${spent:.2f}"
    codes = list(_first_codes(cell, since))
    if len(codes) >= FIRST and len(set(codes)) == 1:
        return f"'{cell.model}' is stopped: its first {FIRST} cells ended in {codes[0]}"
    return ""


def budget() -> float | None:
    """What BUDGET_USD says; None where it is not set. 0 pays for nothing."""
    text = os.environ.get("BUDGET_USD", "").strip()
    if not text:
        return None
    try:
        usd = float(text)
    except ValueError:
        usd = nan
    if not usd >= 0:
        raise Refusal(f"BUDGET_USD is '{text}'", "give US dollars, such as 2.50")
    return usd


def _records(run: Path) -> Iterator[tuple[Path, Record]]:
    for path in run.rglob("cell.json"):
        try:
            yield path, cells.read(path.parent)
        except Fault:
            continue  # one that is being written


def _first_codes(cell: Cell, since: float) -> Iterator[str]:
    """The ERROR codes of the model's cells that this grid tried; none once a cell of the model was measured."""
    mine = [(path, record) for path, record in _records(cell.run) if record.model == cell.model]
    if any(record.fault is None for _, record in mine):
        return
    seen: set[Path] = set()
    for path, record in mine:
        place = path.parents[1]
        if record.fault and place not in seen and path.stat().st_mtime >= since:
            seen.add(place)
            yield record.fault[0]
