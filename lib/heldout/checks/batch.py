"""Scoring cells by the dozen: a row of each whatever is wrong with it, and the questions a judge is still to answer."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from heldout import judgements, scenario
from heldout.cell import Cell
from heldout.checks import expression, scoring
from heldout.checks.target import context_of
from heldout.checks.words import Context
from heldout.errors import Fault, Refusal, say
from heldout.rows import Row
from heldout.scenario import Scenario

Facts = Callable[[Scenario, Path], Any]  # the facts of a cell's folder, a Fault, or None


def row(cell: Cell, facts: Facts) -> Row:
    """The row of a cell; what cannot be scored is ERROR, so that the others are not lost."""
    try:
        return scoring.score(_context(cell, facts), cell.model, cell.rep)
    except Fault as fault:
        told = str(fault)
    except Refusal as refusal:
        told = f"check-error: {refusal}"
    except Exception as error:  # a check that cannot stand this one
        told = f"check-error: {type(error).__name__}: {error}"
    return Row(cell.scenario, cell.model, cell.rep, "ERROR", {}, (told,))


def questions(cell: Cell, facts: Facts) -> list[str]:
    """The pending lines (`heldout.judgements`) of a cell."""
    try:
        context = _context(cell, facts)
        if scoring.fault_of(context):
            return []
        scoring.assess(context)
        asked = dict.fromkeys((question.rubric, question.text) for question in context.pending)
        folder = cell.folder() or cell.path
        return [judgements.pending_line(folder, f"{cell.suite}/{rubric}", text) for rubric, text in asked]
    except (Refusal, Fault) as error:
        say(error)
        return []


@cache
def scenario_of(name: str) -> Scenario:
    """A scenario that may be scored by; raises Refusal for an unknown name and for a mistake in its axes."""
    item = scenario.find(name)
    expression.validate(item)
    return item


def _context(cell: Cell, facts: Facts) -> Context:
    # A record that is empty stands for nothing; it is still what the fault is about.
    folder, item = cell.folder() or cell.path, scenario_of(f"{cell.suite}/{cell.scenario}")
    context = context_of(item, folder, facts(item, folder))
    if (record := context.record) and (record.model, record.rep) != (cell.model, cell.rep):
        raise Fault("sandbox-error", f"'{folder}' is a copy of the cell {record.model} r{record.rep}; delete it")
    return context
