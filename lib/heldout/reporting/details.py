"""What a cell's folder adds to its row, as far as it can be read; what is missing or damaged becomes a note."""

import os
import re
import stat
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import orjson

from heldout import cell, judgements
from heldout.errors import Fault, Refusal
from heldout.judgements import Judgement

MOST_BYTES = 64_000_000  # of a facts.json
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")

# Scores a cell again from its files: `<suite>/<scenario>`, folder, facts, the row's instrument -> by axis the outcome
# and its evidence lines; nothing where today's checks are not those that made the row.
Evidence = Callable[[str, Path, Mapping[str, Any], str], Mapping[str, tuple[str, Sequence[str]]]]


@dataclass
class Details:
    """`facts` is empty where there are none; `evidence` has the axes whose lines are known."""

    folder: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict[str, Any])
    record: cell.Record | None = None
    judgements: Sequence[Judgement] = ()
    evidence: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    notes: list[str] = field(default_factory=list[str])


def of_row(run: Path, row: Mapping[str, Any], evidence: Evidence | None) -> Details:
    """Details of the cell below `run` that a report's cell `row` is of."""
    found = Details()
    try:
        suite, folder = _folder(run, row)
    except (Refusal, OSError) as error:
        found.notes.append(str(error))
        return found
    found.folder = folder.relative_to(run).as_posix()
    try:
        found.record = cell.read(_regular(folder / "cell.json").parent)
    except (Fault, OSError) as error:
        found.notes.append(f"cell.json: {_told(error)}")
    if row["info"].get("agent") != "trace":
        _read_facts(folder, found)
    _read_judgements(folder, found)
    if evidence and row["verdict"] != "ERROR":
        _score_again(evidence, f"{suite}/{row['scenario']}", folder, row, found)
    return found


def _folder(run: Path, row: Mapping[str, Any]) -> tuple[str, Path]:
    """Suite and folder of a row; Refusal where there is none, or where the way to it leads through a link."""
    given = [str(row["suite"])] if row["suite"] else _suites(run)
    names = [name for name in (*given, row["scenario"]) if not _NAME.fullmatch(name)]
    if names:
        raise Refusal(f"'{names[0]}' cannot be a folder's name")
    for suite in given:
        place = cell.Cell(run, suite, row["scenario"], row["model"], row["rep"])
        if folder := place.folder():
            way = (folder, *folder.parents[: len(folder.relative_to(run).parts) - 1])
            if links := [path.name for path in way if path.is_symlink()]:
                raise Refusal(f"'{links[0]}' is a link and was not followed")
            return suite, folder
    raise Refusal("the run has no folder of this cell")


def _suites(run: Path) -> list[str]:
    """A row that could not be scored has no suite: those of the run, to look for its cell."""
    below = (path for folder in (run, run / "attempts") if folder.is_dir() for path in folder.iterdir())
    return sorted({path.name for path in below if path.is_dir() and _NAME.fullmatch(path.name)} - {"attempts"})


def _regular(path: Path) -> Path:
    """`path`, if it is a plain file of a size that can be read: no link, no pipe."""
    info = os.lstat(path)
    if not stat.S_ISREG(info.st_mode):
        raise OSError("it is not a regular file")
    if info.st_size > MOST_BYTES:
        raise OSError(f"it has over {MOST_BYTES:,} bytes")
    return path


def _read_facts(folder: Path, found: Details) -> None:
    try:
        data: Any = orjson.loads(_regular(folder / "facts.json").read_bytes())
    except (OSError, ValueError) as error:
        found.notes.append(f"facts.json: {_told(error)}; 'bin/check --cells' makes it again")
        return
    if isinstance(data, dict) and cast(dict[str, Any], data).get("schema") == 1:
        found.facts = cast(dict[str, Any], data)
    else:
        found.notes.append("facts.json: it is not of schema 1; 'bin/check --cells' makes it again")


def _read_judgements(folder: Path, found: Details) -> None:
    try:
        kept = judgements.read(_regular(folder / "judge.tsv"))
    except FileNotFoundError:
        return
    except (Refusal, OSError) as error:
        found.notes.append(f"judge.tsv: {_told(error)}")
        return
    found.judgements = list({item.rubric: item for item in kept}.values())  # the last of each rubric


def _score_again(evidence: Evidence, name: str, folder: Path, row: Mapping[str, Any], found: Details) -> None:
    try:
        scored = evidence(name, folder, found.facts, row["info"].get("instrument", ""))
    except Exception as error:  # a check is code over files that anybody may have changed: one cell must not end a page
        found.notes.append(f"evidence: {type(error).__name__} when the cell was scored again")
        return
    if {letter: outcome for letter, (outcome, _) in scored.items()} == row["axes"]:
        found.evidence = {letter: lines for letter, (_, lines) in scored.items()}
    else:
        found.notes.append("evidence: the checks are no longer those that made this row; 'bin/rescore' brings it back")


def _told(error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return "missing"
    return (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
