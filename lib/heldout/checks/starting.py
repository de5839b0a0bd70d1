"""What a word needs of the fixture, known before anything runs.

A word about something that nobody can find there passes for every agent, or fails for every agent, and looks like a
measurement all the same. Each function yields the slips of one use of a word.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import Any

from heldout.checks.adr_files import FOLDER, number_of, padded
from heldout.checks.words import Slip, Use
from heldout.yamlfile import near_miss


def folder(use: Use, argument: str) -> Iterator[Slip]:
    """The argument is a folder that holds something at the start. One that the agent is to make is named by its parent,
    or by a file that the fixture puts there: a slip in its name would look the same."""
    wanted = use.given[argument]
    if not use.start.below(wanted):
        told = f"is '{wanted}', where fixture/{use.scenario.fixture} has nothing at the start"
        yield Slip(told, argument, near_miss(wanted, _folders(use)))


def file(use: Use, argument: str) -> Iterator[Slip]:
    """The argument is a file at the start."""
    wanted = use.given[argument]
    if wanted not in use.start.paths:
        told = f"is '{wanted}', which is no file of fixture/{use.scenario.fixture} at the start"
        yield Slip(told, argument, near_miss(wanted, use.start.paths))


def _folders(use: Use) -> set[str]:
    return {str(parent) for path in use.start.paths for parent in PurePosixPath(path).parents} - {"."}


def log(use: Use) -> Iterator[Slip]:
    """The project has a folder of ADRs at the start."""
    place = f"{use.scenario.repository}/{FOLDER}"
    if not use.start.below(place):
        yield Slip(f"is about '{place}', where fixture/{use.scenario.fixture} has nothing at the start")


def adrs(use: Use) -> set[str]:
    """The numbers of the ADRs that the agent finds."""
    project = use.scenario.repository
    return {padded(number) for path in use.start.paths if (number := number_of(path, project)) is not None}


def known_adrs(use: Use, argument: str, numbers: Iterable[str]) -> Iterator[Slip]:
    """The argument's numbers are those of ADRs that the agent finds."""
    known = adrs(use)
    for number in numbers:
        if number not in known:
            told = f"names ADR '{number}', which fixture/{use.scenario.fixture}/{use.scenario.repository} does not have"
            yield Slip(told, argument, near_miss(number, known))


def adr_number(value: Any) -> str:
    """What is wrong with the number of an ADR, or ''."""
    right = re.fullmatch("[0-9]{1,9}", value) and padded(int(value)) == value
    return "" if right else f"is '{value}', expected the number of an ADR, like \"0001\""


def adr_numbers(values: Iterable[Any]) -> str:
    return next((told for value in values if (told := adr_number(value))), "")
