"""What must be alike in rows that are counted together or compared: instruments, and between runs model and client.

`instrument` in a row's info is `<run digest>.<score digest>`. A kept baseline has none; it is known by its `case`.
"""

from collections.abc import Iterable, Mapping, Sequence

from heldout.rows import Row

SHOWN = 6  # rows that a message names
Differences = Mapping[str, list[str]]  # part -> the rows that differ in it


def within(rows: Iterable[Row]) -> Differences:
    """Parts of the instrument in which the rows of one scenario × model differ, and plugins in which those of one suite
    × model do, with those rows."""
    rows = list(rows)
    found: dict[str, list[str]] = {}
    for (suite, model), versions in _plugins(rows).items():
        if mixed := sorted(name for name, digests in versions.items() if len(digests) > 1):
            found.setdefault(f"wording of {', '.join(mixed)}", []).append(f"{suite} {model}")
    for key, group in by_cell(trials(rows)).items():
        for part in ("run digest", "score digest"):
            if len({value for row in group if (value := parts(row).get(part))}) > 1:
                found.setdefault(part, []).append(" ".join(key[1:]))
    return found


def between(base: Sequence[Row], current: Sequence[Row]) -> Differences:
    """Parts in which the rows of a scenario × model of two runs differ; what only one side knows is not compared."""
    found: dict[str, list[str]] = {}
    before, after = by_cell(trials(base)), by_cell(trials(current))
    for key in before.keys() & after.keys():
        old, new, name = _values(before[key]), _values(after[key]), " ".join(key[1:])
        for part in old.keys() & new.keys():
            by_instrument = part == "case" and "score digest" in old and "score digest" in new
            if old[part] != new[part] and not by_instrument:
                found.setdefault(part, []).append(name)
    return {part: sorted(names) for part, names in sorted(found.items())}


def _plugins(rows: Iterable[Row]) -> dict[tuple[str, str], dict[str, set[str]]]:
    """By suite and model, the digests that each plugin had among the trials (info `plugins`: `name@digest,…`)."""
    found: dict[tuple[str, str], dict[str, set[str]]] = {}
    for row in rows:
        for part in filter(None, row.info.get("plugins", "").split(",") if row.verdict != "ERROR" else ()):
            name, _, digest = part.rpartition("@")
            place = found.setdefault((row.info.get("suite", ""), row.model), {})
            place.setdefault(name, set()).add(digest)
    return found


def by_cell(rows: Iterable[Row]) -> dict[tuple[str, str, str], list[Row]]:
    """Rows by suite, scenario and model."""
    found: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        found.setdefault((row.info.get("suite", ""), row.scenario, row.model), []).append(row)
    return found


def trials(rows: Iterable[Row]) -> list[Row]:
    """The rows that are trials: those of ERROR are none."""
    return [row for row in rows if row.verdict != "ERROR"]


def parts(row: Row) -> dict[str, str]:
    """The parts of a row that are compared, as far as they are on record."""
    run, _, score = row.info.get("instrument", "").partition(".")
    known = {
        "run digest": run,
        "score digest": score,
        "case": row.info.get("case", ""),
        "served model": row.info.get("served", ""),
        "client version": row.info.get("cli", ""),
    }
    return {part: value for part, value in known.items() if value}


def told(found: Differences) -> str:
    """The differences in one line."""
    return "; ".join(f"other {part}: {_some(names)}" for part, names in found.items())


def _values(rows: Sequence[Row]) -> dict[str, set[str]]:
    values: dict[str, set[str]] = {}
    for row in rows:
        for part, value in parts(row).items():
            values.setdefault(part, set()).add(value)
    return values


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
