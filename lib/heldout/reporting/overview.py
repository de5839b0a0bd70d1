"""What a page says of all cells together: verdicts, kinds of agents, the heat map, reasons, faults, identity."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from heldout import ledger
from heldout.errors import Refusal
from heldout.reporting.cellview import LINE
from heldout.reporting.mixture import what
from heldout.reporting.tasks import Tasks
from heldout.reporting.unmeasured import Unmeasured, sentence
from heldout.reporting.visible import cut
from heldout.rows import VERDICTS

Report = Mapping[str, Any]
REASONS, NAMED = 50, 6  # reasons shown; rows that one of them names
STEPS = 5  # shades of the heat map: rates 0 to 1 in steps of a fifth

_IDENTITY = {"client": "cli", "models served": "served", "plugins": "plugins"}
_PATTERNS = {
    "always-writer": "acts whatever the case",
    "never-writer": "acts in no case",
    "discriminating": "acts where it should and only there",
    "inverted": "acts where it should not",
    "mixed": "neither clearly so nor clearly not",
}


def head(report: Report) -> dict[str, Any]:
    """Counts by verdict with their share in percent, what kind of agents they are of, and what was not measured."""
    total, count = len(report["cells"]), report["summary"]["verdicts"]
    verdicts = [(name, count[name], 100 * count[name] / total if total else 0) for name in VERDICTS]
    left = [Unmeasured(**item) for item in report.get("unmeasured", ())]
    return {
        "cells": total,
        "verdicts": verdicts,
        "agents": _agents(report["cells"]),
        "unmeasured": len(left),
        "missing": sentence(left),
        "mixed": what(report["mixed"]),
    }


def _agents(cells: Sequence[Report]) -> str:
    kinds = Counter(_kind(cell["info"]) for cell in cells)
    models = dict.fromkeys(cell["model"] for cell in cells if _kind(cell["info"]) == "model")
    others = {
        "actor": "embedded actors",
        "stub": "the real client playing an actor's script",
        "trace": "saved traces",
    }
    told = [name for kind, name in others.items() if kinds[kind]]
    if not models:
        return f"{' and '.join(told)}: no {'agent was run' if kinds.keys() == {'trace'} else 'model was measured'}"
    return f"models measured: {', '.join(models)}" + (f"; besides, {' and '.join(told)}" if told else "")


def _kind(info: Mapping[str, str]) -> str:
    if info.get("agent") in ("trace", "actor"):
        return info["agent"]
    return "stub" if "plays" in info else "model"


def heat(report: Report, first: Mapping[tuple[str, str, str], str]) -> list[dict[str, Any]]:
    """A table a suite: scenarios by models. `first` is where the cells of a scenario and model are on the page."""
    suites: dict[str, dict[str, dict[str, Any]]] = {}
    for group in report["scenarios"]:
        suites.setdefault(group["suite"] or "", {}).setdefault(group["scenario"], {})[group["model"]] = group
    tables: list[dict[str, Any]] = []
    for suite, scenarios in sorted(suites.items()):
        models = list(dict.fromkeys(model for by_model in scenarios.values() for model in by_model))
        lines = [
            {
                "scenario": name,
                "about": _about(by_model),
                "cells": [_square(by_model.get(model), first.get((suite, name, model), "")) for model in models],
            }
            for name, by_model in scenarios.items()
        ]
        tables.append({"suite": suite, "models": models, "lines": lines})
    return tables


def _about(by_model: Mapping[str, Report]) -> str:
    """Polarity and level of a scenario, as far as the report has them."""
    group = next(iter(by_model.values()))
    level = group.get("level")
    return ", ".join(filter(None, (group.get("polarity") or "", f"level {level}" if level else "")))


def _square(group: Report | None, link: str) -> dict[str, Any] | None:
    if group is None:
        return None
    trials = group["passed"] + group["failed"]
    rate = group["passed"] / trials if trials else None
    return {
        "link": link,
        "passed": group["passed"],
        "trials": trials,
        "rate": rate,
        "step": None if rate is None else round(rate * STEPS),
        "interval": group.get("interval") if trials else None,
        "errors": group["errors"],
        "unmeasured": group.get("unmeasured", 0),
        "judged": bool(group["judged"]),
        "bar": group.get("bar", ""),
    }


def reasons(cells: Sequence[Report]) -> tuple[list[dict[str, Any]], int]:
    """Reasons of cells that failed, most frequent first, with the cells they are of; and how many are not shown."""
    return _frequent((reason, cell) for cell in cells if cell["verdict"] == "FAIL" for reason in cell["reasons"])


def errors(cells: Sequence[Report]) -> tuple[list[dict[str, Any]], int]:
    """ERRORs by code, in the same form."""
    return _frequent((cell["code"] or "unknown", cell) for cell in cells if cell["verdict"] == "ERROR")


def _frequent(found: Iterable[tuple[str, Report]]) -> tuple[list[dict[str, Any]], int]:
    count, where = Counter[str](), dict[str, Counter[str]]()
    for text, cell in found:
        count[text] += 1
        where.setdefault(text, Counter())[f"{cell['scenario']} {cell['model']}"] += 1
    most = count.most_common(REASONS)
    lines = [{"text": cut(text, LINE), "count": n, "where": _places(where[text])} for text, n in most]
    return lines, len(count) - len(lines)


def _places(places: Counter[str]) -> str:
    told = [name + (f" ×{n}" if n > 1 else "") for name, n in places.most_common(NAMED)]
    return ", ".join(told) + (f" and {len(places) - NAMED} more" if len(places) > NAMED else "")


def discrimination(report: Report) -> list[dict[str, Any]]:
    return [{**item, "meaning": _PATTERNS.get(item["pattern"], "")} for item in report.get("discrimination", ())]


def identity(cells: Sequence[Report]) -> list[tuple[str, list[tuple[str, int]]]]:
    """What the cells were measured with: for each item its values and in how many cells."""
    halves = [str(cell["info"].get("instrument", "")).partition(".") for cell in cells]
    found = {
        **{name: [str(cell["info"].get(key, "")) for cell in cells] for name, key in _IDENTITY.items()},
        "instrument: run digests": [run for run, _, _ in halves],
        "instrument: score digests": [score for _, _, score in halves],
    }
    counted = {name: Counter(filter(None, values)) for name, values in found.items()}
    return [(name, count.most_common()) for name, count in counted.items() if count]


def ledger_status(cells: Sequence[Report], tasks: Tasks) -> list[tuple[str, str, str]]:
    """Suite, set and what the ledger says of it, for each set that scenarios of the report belong to."""
    names = {(cell["suite"], cell["scenario"]) for cell in cells}
    places = sorted({(suite, tasks.sets[suite, name]) for suite, name in tasks.sets if (suite, name) in names})
    try:
        events = ledger.read()
    except Refusal as refusal:
        return [(suite, name, f"unknown: {refusal}") for suite, name in places]
    spoilt = ledger.contaminated(events)
    lines: list[tuple[str, str, str]] = []
    for suite, name in places:
        opened = [item.when for item in events if (item.suite, item.set) == (suite, name) and item.purpose != "accept"]
        if since := spoilt.get((suite, name)):
            status = f"contaminated: tuned against since {since}"
        elif name == "reserve":
            status = f"sealed; opened {len(opened)} times, last {max(opened)}" if opened else "sealed; never opened"
        else:
            status = "run-set: open, and nothing in the ledger says that it was tuned against"
        lines.append((suite, name, status))
    return lines
