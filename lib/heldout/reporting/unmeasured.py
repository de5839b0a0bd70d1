"""Cells that were asked for and never measured: a grid that was killed or stopped by its budget has fewer rows.

`make grid` lists in the run's cells.txt what it was asked for, `…/<suite>/<scenario>/<model>/r<k>/cell.json` a line.
Such a cell is no trial, yet it could have gone either way, as a rep of ERROR could.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from heldout import cell
from heldout.errors import Refusal
from heldout.rows import Row

CELLS = "cells.txt"
SHOWN = 6  # scenario × model that a message names


class Unmeasured(NamedTuple):
    """One cell without a row."""

    suite: str
    scenario: str
    model: str
    rep: int


def missing(run: Path, rows: Iterable[Row]) -> list[Unmeasured]:
    """The cells of a run folder's cells.txt that none of its rows is of, in its order; none where it has no such file.

    Refusal naming file and line where a line is no cell.
    """
    # A row that could not be scored may not say its suite, which may be any.
    there = {(row.info.get("suite", ""), row.scenario, row.model, row.rep) for row in rows}
    return [item for item in _asked(run / CELLS) if item not in there and ("", *item[1:]) not in there]


def _asked(path: Path) -> list[Unmeasured]:
    try:
        lines = path.read_text("utf-8", "replace").splitlines()
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise Refusal(f"cannot read '{path}': {error.strerror}") from error
    found = [_cell(line, f"{path}:{number}") for number, line in enumerate(lines, 1) if line.strip()]
    return list(dict.fromkeys(found))


def _cell(line: str, where: str) -> Unmeasured:
    try:
        found = cell.at(Path(line).parent)
    except Refusal:
        raise Refusal(f"{where}: '{line}' is no cell", "'make grid' writes that file again") from None
    return Unmeasured(found.suite, found.scenario, found.model, found.rep)


def sentence(left: Sequence[Unmeasured]) -> str:
    """`asked for and not measured: 5 cells (P1 haiku 2, P2 haiku 3)`; '' where there is none."""
    if not left:
        return ""
    by: dict[str, int] = {}
    for item in left:
        name = f"{item.scenario} {item.model}"
        by[name] = by.get(name, 0) + 1
    named = ", ".join(f"{name} {number}" for name, number in list(by.items())[:SHOWN])
    more = f" and {len(by) - SHOWN} more" if len(by) > SHOWN else ""
    return f"asked for and not measured: {len(left)} cell{'s' * (len(left) != 1)} ({named}{more})"


def counted(left: Sequence[Unmeasured]) -> dict[str, int]:
    """`unmeasured` as an entry of the data; nothing where all was measured, so that kept reports stay as they are."""
    return {"unmeasured": len(left)} if left else {}
