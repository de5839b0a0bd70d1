"""What must be alike in rows that are counted together or compared: instruments, within a run or runs that are counted
together the treatment, and between runs that are compared model and client.

`instrument` in a row's info is `<run digest>.<score digest>`. A kept baseline has none; it is known by its `case`. The
treatment is `plugins` in a row's info (`folder@digest,…`) and, where its cell is at hand, the subjects of the record.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from heldout import scenario
from heldout.errors import Refusal
from heldout.rows import Row

SHOWN = 6  # rows that a message names
DIGITS = 8  # of a digest, as a row has it
WORDING = "wording of "
Differences = Mapping[str, list[str]]  # part -> the rows that differ in it
Plugins = frozenset[tuple[str, str]]  # folder and digest of each


def within(rows: Iterable[Row]) -> Differences:
    """Parts of the instrument or the treatment in which the rows of one scenario × model differ, and parts of the
    treatment in which those of one suite × model do, with those rows."""
    found: dict[str, list[str]] = {}
    by = by_cell(trials(rows))
    for place, names in _wordings(by).items():
        found.setdefault(WORDING + ", ".join(names), []).append(place)
    for key, group in by.items():
        for part in ("run digest", "score digest"):
            if len({value for row in group if (value := parts(row).get(part))}) > 1:
                found.setdefault(part, []).append(" ".join(key[1:]))
    return found


def what(found: Differences) -> str:
    """Of what the differences are: `instruments`, `treatments`, or both."""
    kinds = {"treatments" if part.startswith(WORDING) else "instruments" for part in found}
    return " and ".join(sorted(kinds))


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


def _wordings(by: Mapping[tuple[str, str, str], list[Row]]) -> dict[str, list[str]]:
    """`scenario model`, or else `suite model`: the parts of the treatment that differ there."""
    found: dict[str, list[str]] = {}
    suites: dict[tuple[str, str], dict[str, list[Row]]] = {}
    for (suite, name, model), rows in by.items():
        if parts := {*_unlike(_known(rows)), *_several(rows, everywhere=False)}:
            found[f"{name} {model}"] = sorted(parts)
        else:
            suites.setdefault((suite, model), {})[name] = rows
    for (suite, model), scenarios in suites.items():
        rows = [row for same in scenarios.values() for row in same]
        if parts := {*_of_scenarios(suite, scenarios), *_several(rows, everywhere=True)}:
            found[f"{suite} {model}"] = sorted(parts)
    return found


def _known(rows: Iterable[Row]) -> set[Plugins]:
    """The sets of plugins that rows were measured with; no plugins beside an instrument are none."""
    found: set[Plugins] = set()
    for row in rows:
        recorded = {part[7:]: digest for part, digest in row.subjects.items() if part.startswith("plugin:")}
        listed = (part.rpartition("@") for part in row.info.get("plugins", "").split(",") if part)
        plugins = recorded or {name: digest for name, _, digest in listed}
        if plugins or row.subjects or "instrument" in row.info:
            found.add(frozenset((name, digest[:DIGITS]) for name, digest in plugins.items()))
    return found


def _unlike(sets: set[Plugins]) -> set[str]:
    """The plugins that not all of the sets have."""
    return {name for plugins in sets for name, digest in plugins if not all((name, digest) in each for each in sets)}


def _of_scenarios(suite: str, scenarios: Mapping[str, list[Row]]) -> set[str]:
    """The plugins in which the scenarios of a suite differ, unless each has its own, as its file says."""
    sets = {name: plugins for name, rows in scenarios.items() for plugins in _known(rows)}
    versions: dict[str, set[str]] = {}
    for name, digest in frozenset[tuple[str, str]]().union(*sets.values()):
        versions.setdefault(name, set()).add(digest)
    several = {name for name, digests in versions.items() if len(digests) > 1}
    names = {item: tuple(sorted(name for name, _ in plugins)) for item, plugins in sets.items()}
    if len(set(names.values())) < 2 or all(_own(suite, item) == own for item, own in names.items()):
        return several
    return several | _unlike(set(sets.values()))


@cache
def _own(suite: str, name: str) -> tuple[str, ...] | None:
    """The plugins that a scenario brings itself, sorted; None where its file is not here."""
    try:
        return tuple(sorted(scenario.find(f"{suite}/{name}").plugins))
    except Refusal:
        return None


def _several(rows: Iterable[Row], *, everywhere: bool) -> set[str]:
    """Other parts of the treatment with more than one digest: those that are one for a suite, or that are a scenario's
    own (an actor's script, a saved trace)."""
    found: dict[str, set[str]] = {}
    for row in rows:
        for part, digest in row.subjects.items():
            kind, _, name = part.partition(":")
            if kind != "plugin" and not (everywhere and kind != "subject"):
                found.setdefault(name if kind == "subject" else f"{kind} {name}", set()).add(digest)
    return {name for name, digests in found.items() if len(digests) > 1}


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


def refused(found: Differences) -> str:
    """`rows of different instruments: other run digest: P1 haiku`."""
    return f"rows of different {what(found)}: {told(found)}"


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
