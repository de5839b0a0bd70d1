"""The report of a run as plain data (lib/report.schema.json): every cell, and what the cells add up to."""

from collections.abc import Sequence
from typing import Any

from heldout.reporting import figures, inference, mixture, summary
from heldout.reporting.unmeasured import Unmeasured, counted
from heldout.rows import Row

SCHEMA = 1


def build(
    name: str, rows: Sequence[Row], warnings: Sequence[str] = (), unmeasured: Sequence[Unmeasured] = ()
) -> dict[str, Any]:
    """The whole report. It holds the rows and what is unmeasured, so that it can be read in place of the run.

    `unmeasured` is left out wherever it would be 0 or empty.
    """
    groups = summary.groups(rows, unmeasured)
    return {
        "schema": SCHEMA,
        "kind": "report",
        "name": name,
        "warnings": list(warnings),
        "summary": {**figures.aggregate(rows), **counted(unmeasured)},
        "suites": [
            {
                "suite": suite,
                "model": model,
                **figures.aggregate(found),
                **inference.of_suite(_of(groups, suite, model)),
                **counted([item for item in unmeasured if (item.suite, item.model) == (suite, model)]),
            }
            for (suite, model), found in by_suite(rows, unmeasured).items()
        ],
        "scenarios": [_group(group) for group in groups],
        "ladders": list(inference.ladders(groups)),
        "discrimination": list(inference.discriminations(groups)),
        "economics": [
            {"suite": suite, "model": model, "figures": told, "tiers": figures.tiers(found)}
            for (suite, model), found in by_suite(rows).items()
            if (told := figures.economics(found))
        ],
        "mixed": dict(mixture.within(rows)),
        **({"unmeasured": [item._asdict() for item in unmeasured]} if unmeasured else {}),
        "cells": [cell(row) for row in rows],
    }


def by_suite(rows: Sequence[Row], unmeasured: Sequence[Unmeasured] = ()) -> dict[tuple[str, str], list[Row]]:
    """Rows by suite and model, in order of appearance; a suite × model of which nothing is measured has none."""
    found: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        found.setdefault((row.info.get("suite", ""), row.model), []).append(row)
    for item in unmeasured:
        found.setdefault((item.suite, item.model), [])
    return found


def cell(row: Row) -> dict[str, Any]:
    """One cell. Null is what the cell does not have."""
    return {
        "suite": row.info.get("suite"),
        "scenario": row.scenario,
        "model": row.model,
        "rep": row.rep,
        "verdict": row.verdict,
        "code": row.code or None,
        "axes": dict(row.axes),
        "failed_axes": [letter for letter, outcome in row.axes.items() if outcome == "fail"],
        "failed_checks": figures.failed_checks(row),
        "reasons": list(row.reasons),
        "via": figures.vias(row),
        "judged": list(filter(None, row.info.get("judge", "").split(","))),
        "agent_verdict": figures.agent_verdict(row),
        "evidence": figures.evidence(row),
        "tool_calls": figures.tool_calls(row),
        "duration_ms": figures.duration_ms(row),
        "info": dict(row.info),
        **({"subjects": dict(row.subjects)} if row.subjects else {}),
    }


def _of(groups: Sequence[summary.Group], suite: str, model: str) -> list[summary.Group]:
    return [group for group in groups if (group.suite, group.model) == (suite, model)]


def _group(group: summary.Group) -> dict[str, Any]:
    keys = ("suite", "scenario", "model", "polarity", "level", "passed", "failed", "errors", "judged")
    more = {"unmeasured": group.unmeasured} if group.unmeasured else {}
    return {**{key: getattr(group, key) for key in keys}, **more, **inference.of_group(group)}
