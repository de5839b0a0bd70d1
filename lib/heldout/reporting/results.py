"""Results as reports and comparisons read them: a run folder, its results.tsv, or a report.json."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, cast

import orjson

from heldout import cell
from heldout.errors import Fault, Refusal, say
from heldout.reporting.unmeasured import Unmeasured, missing
from heldout.rows import VERDICTS, Row, clean, numbered

# What changes from run to run, or with any edit of the library, and tells nothing of what an actor did.
VOLATILE = (
    *("ms", "usd", "mltok", "sctok", "mlshare", "prebytes"),
    *("instrument", "served", "cli", "plugins"),
)


RESULTS = Path("results")
A_RUN = "a run is a folder that 'make grid RUN=…' fills, such as results/grid"
CLOSE = 0.6  # of names, as difflib measures it
TABLE, REPORT = "results.tsv", "report.json"


@dataclass(frozen=True)
class Run:
    """What one run measured, and the cells that it was asked for and did not."""

    path: Path
    rows: list[Row]
    unmeasured: list[Unmeasured]


def run_of(path: Path) -> Run:
    """A run folder, a results.tsv or a report.json; Refusal where there is no row.

    What was asked for is known of a run folder and of the table in it, and a report says it; of another table it is
    not known.
    """
    _refuse_nothing(path)
    table, left = path / TABLE if path.is_dir() else path, list[Unmeasured]()
    if path.suffix == ".json":
        found, left = _of_report(path)
        rows = _once(path, [f"{path}: cell {number}" for number in range(1, len(found) + 1)], _completed(found))
    else:
        lines = numbered(table)
        rows = _once(path, [f"{table}:{number}" for number, _ in lines], _completed([row for _, row in lines]))
    if not rows:
        raise Refusal(f"'{path}': the table has no rows", "run 'make grid' first")
    place = table.resolve()
    if place.name == TABLE:
        return Run(path, _with_subjects(place.parent, rows), missing(place.parent, rows))
    return Run(path, rows, left)


def _refuse_nothing(path: Path) -> None:
    """Raise Refusal with the mend where `path` is no run at all."""
    if path.is_dir() and not (path / TABLE).exists():
        run = path.resolve()
        score = f"make rescore RUN={run.name}" if run.parent == RESULTS.resolve() else f"bin/rescore {path}"
        raise Refusal(f"'{path}' has no {TABLE}", f"'{score}' writes it from the cells that are there")
    if not path.exists():
        raise Refusal(f"cannot read '{path}': no such file or folder", _meant(path) or A_RUN)


def _meant(path: Path) -> str:
    """`did you mean 'results/grid'?` for the run of the closest name in results/; '' where none is close."""
    known = [table.parent for folder in (RESULTS, RESULTS / "baseline") for table in folder.glob(f"*/{TABLE}")]
    by_name = {run.name: run for run in reversed(known)}
    # The table or report of a run, misspelt, is meant as that run.
    for name in (path.name, path.parent.name):
        if close := get_close_matches(name, by_name, n=1, cutoff=CLOSE):
            return f"did you mean '{by_name[close[0]]}'?"
    return ""


def rows_of(path: Path) -> list[Row]:
    """All rows of a run folder, a results.tsv or a report.json; Refusal where there is none."""
    return run_of(path).rows


def _with_subjects(run: Path, rows: list[Row]) -> list[Row]:
    """Trials with the treatment that the record of their cell names; a row has plugins alone."""
    return [row if row.verdict == "ERROR" else replace(row, subjects=_subjects(run, row)) for row in rows]


def _subjects(run: Path, row: Row) -> dict[str, str]:
    try:
        place = cell.Cell(run, row.info.get("suite", ""), row.scenario, row.model, row.rep)
        found = cell.read(place.path).subjects if place.measured else {}
    except (Fault, Refusal, OSError):
        return {}  # a cell that is damaged since is no matter of its row
    return {clean(str(part)): clean(str(digest)) for part, digest in found.items()}


def _completed(rows: list[Row]) -> list[Row]:
    """Rows of cells that could not even be read lack suite and agent: those of the rows beside them, if these agree."""
    suites: dict[str, set[str]] = {}
    agents: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        if "suite" in row.info:
            suites.setdefault(row.scenario, set()).add(row.info["suite"])
        if "agent" in row.info:
            agents.setdefault((row.scenario, row.model), set()).add(row.info["agent"])
    found: list[Row] = []
    for row in rows:
        known = {"suite": suites.get(row.scenario, ()), "agent": agents.get((row.scenario, row.model), ())}
        added = {key: min(values) for key, values in known.items() if key not in row.info and len(values) == 1}
        found.append(replace(row, info={**row.info, **added}) if added else row)
    return found


def _once(path: Path, places: Sequence[str], rows: Sequence[Row]) -> list[Row]:
    """Each row once, as those who write a table have it; Refusal where two rows of one rep are not the same.

    `places` says of each row where it stands.
    """
    found: dict[tuple[str, ...], tuple[str, Row]] = {}
    for place, row in zip(places, rows, strict=True):
        key = (row.info.get("suite", ""), row.scenario, row.model, str(row.rep))
        first, same = found.setdefault(key, (place, row))
        if same.line() != row.line():
            what = "another verdict" if same.verdict != row.verdict else "other content"
            raise Refusal(
                f"{place}: {row.scenario} {row.model} rep {row.rep} stands in {_unit(first)}, too, with {what}",
                "number the reps of a cell with --rep, and name the tables of two runs one by one",
            )
    if number := len(rows) - len(found):
        say(f"'{path}': {number} rows repeat an earlier one and are counted once; number reps with --rep")
    return [row for _, row in found.values()]


def _unit(place: str) -> str:
    """`line 3` of `x.tsv:3`, `cell 3` of `x.json: cell 3`."""
    number = place.rpartition(":")[2]
    return number.strip() if number.startswith(" ") else f"line {number}"


def identity(path: Path) -> Path:
    """What all spellings of a run share: its folder, also for the table and the report in it; else the file."""
    place = (path / TABLE if path.is_dir() else path).resolve()
    return place.parent if place.name in (TABLE, REPORT) else place


def distinct(paths: Iterable[Path]) -> list[Path]:
    """The paths, each run once under the first of its names; the others are said."""
    found: dict[Path, Path] = {}
    for path in paths:
        first = found.setdefault(identity(path), path)
        if first is not path:
            say(f"'{path}' is the run '{first}' again and is counted once")
    return list(found.values())


def name_of(path: Path) -> str:
    """How a report calls what it read: the run's name, `baseline/SUITE`, or the file."""
    if not path.is_dir():
        return str(path)
    folder = path.resolve()
    return f"baseline/{folder.name}" if folder.parent.name == "baseline" else folder.name


def _of_report(path: Path) -> tuple[list[Row], list[Unmeasured]]:
    try:
        data: Any = orjson.loads(path.read_bytes())
        if not isinstance(data, dict) or (data["schema"], data["kind"]) != (1, "report"):
            raise ValueError("not a report of schema 1")
        cells = cast(list[dict[str, Any]], data["cells"])
        found = [
            Row(
                clean(str(item["scenario"])),
                clean(str(item["model"])),
                int(item["rep"]),
                item["verdict"],
                {clean(str(key)): clean(str(value)) for key, value in item["axes"].items()},
                tuple(clean(str(reason)) for reason in item["reasons"]),
                {clean(str(key)): clean(str(value)) for key, value in item["info"].items()},
                {clean(str(key)): clean(str(value)) for key, value in item.get("subjects", {}).items()},
            )
            for item in cells
        ]
        left = _left(cast(dict[str, Any], data))
        if strange := [row.verdict for row in found if row.verdict not in VERDICTS]:
            raise ValueError(f"verdict '{strange[0]}'")
    except OSError as error:
        raise Refusal(f"cannot read '{path}': {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Refusal(f"cannot read '{path}': {error}", "it must be what 'report --format json' prints") from error
    return found, left


def _left(data: dict[str, Any]) -> list[Unmeasured]:
    """What a report says was asked for and not measured."""
    return [
        Unmeasured(clean(str(item["suite"])), clean(str(item["scenario"])), clean(str(item["model"])), int(item["rep"]))
        for item in data.get("unmeasured", [])
    ]


def kept(rows: Iterable[Row]) -> list[Row]:
    """Rows as a baseline keeps them: without what is VOLATILE. Of a saved trace only the instrument is."""
    found: list[Row] = []
    for row in rows:
        dropped = ("instrument",) if row.info.get("agent") == "trace" else VOLATILE
        info = {key: value for key, value in row.info.items() if key not in dropped}
        found.append(Row(row.scenario, row.model, row.rep, row.verdict, row.axes, row.reasons, info))
    return found
