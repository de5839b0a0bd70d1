"""Tables of results for the tests of reports: sessions of a model with chosen passes, failures and faults."""

from pathlib import Path

from heldout import cell, rows
from heldout.rows import Row


def sessions(
    scenario: str, model: str, outcomes: str, suite: str = "vault-write", *, first: int = 1, **info: str
) -> list[Row]:
    """One row a letter of `outcomes`: p passes, f fails, e is an ERROR."""
    verdicts = {"p": "PASS", "f": "FAIL", "e": "ERROR"}
    reasons = {"p": (), "f": ("no note was written below vault/",), "e": ("api-error: status 529, overloaded",)}
    known = {"suite": suite, "agent": "claude", "served": "claude-x", "cli": "claude 2.1.332", **info}
    return [
        Row(scenario, model, rep, verdicts[letter], {"A": "pass"}, reasons[letter], known)
        for rep, letter in enumerate(outcomes, first)
    ]


def ladder(model: str, positive: list[str], negative: list[str]) -> list[Row]:
    """Positive and negative scenarios of levels 1, 2, …, each with its outcomes."""
    found: list[Row] = []
    for polarity, letter, outcomes in (("positive", "P", positive), ("negative", "N", negative)):
        for level, each in enumerate(outcomes, 1):
            found += sessions(f"{letter}{level}", model, each, polarity=polarity, level=str(level))
    return found


def written(folder: Path, table: list[Row]) -> Path:
    """A run folder with that table."""
    folder.mkdir(parents=True, exist_ok=True)
    rows.write(folder / "results.tsv", table)
    return folder


def asked(folder: Path, *cells: tuple[str, str, int], suite: str = "vault-write") -> Path:
    """The same run folder, with cells.txt as a grid writes it: of each scenario × model that many reps."""
    lines = [
        f"results/{folder.name}/{suite}/{scenario}/{cell.spell(model)}/r{rep}/cell.json\n"
        for scenario, model, reps in cells
        for rep in range(1, reps + 1)
    ]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "cells.txt").write_text("".join(lines))
    return folder
