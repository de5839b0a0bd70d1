"""Judgements: what a judge said of one message, as kept in judge.tsv beside a cell.

A judgement is found by its question (digest of rubric and message), so that a changed rubric or another message is
a question not yet asked. A `yes` needs a quote that stands in the message; without one the answer is void.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from heldout.errors import Refusal
from heldout.files import append_whole
from heldout.hashes import of_bytes
from heldout.rows import clean

COLUMNS = ("rubric", "question", "answer", "quote", "model", "votes")
ANSWERS = ("yes", "no", "abstain")


@dataclass(frozen=True)
class Judgement:
    """One row. `votes` is e.g. `yes,yes,no`, `empty` when an empty message was answered without a call."""

    rubric: str
    question: str
    answer: str
    quote: str
    model: str
    votes: str

    def line(self) -> str:
        return "\t".join(clean(getattr(self, name)) for name in COLUMNS)


def question(rubric: bytes, message: str) -> str:
    """The digest that finds the judgement of a message under a rubric."""
    return of_bytes(rubric + b"\0" + message.encode("utf-8", "surrogatepass"))


def pending_line(folder: Path, rubric: str, text: str) -> str:
    """A question as `check --pending` prints it: cell, `suite/name` of the rubric, the text to judge in JSON."""
    return f"{folder}\t{rubric}\t{json.dumps(text)}"


def pending_of(line: str, number: int) -> tuple[Path, str, str]:
    """Cell, rubric and text of a line of `check --pending`; Refusal naming the line's number."""
    cells = line.split("\t")
    try:
        folder, rubric, text = cells[0], cells[1], json.loads(cells[2])
    except (IndexError, ValueError):
        raise Refusal(f"line {number} of stdin is not 'cell<TAB>rubric<TAB>text in JSON'") from None
    return Path(folder), rubric, str(text)


def stands_in(quote: str, message: str) -> bool:
    """Whether the quote is a part of the message, white space aside: two words at least, or all of it.

    Some letter, or some word, stands in any message and proves nothing.
    """
    flat, whole = _flat(quote), _flat(message)
    return bool(flat) and flat in whole and (" " in flat or flat == whole)


def _flat(text: str) -> str:
    return re.sub(r"\s+", " ", clean(re.sub(r"\s", " ", text))).strip()


def read(path: Path) -> list[Judgement]:
    """The judgements of a judge.tsv (none when it is missing); Refusal naming file and line."""
    try:
        lines = path.read_text("utf-8", "replace").split("\n")
    except FileNotFoundError:
        return []
    except OSError as error:
        raise Refusal(f"cannot read '{path}': {error.strerror}") from error
    found: list[Judgement] = []
    for number, line in enumerate(lines[:-1], 1):
        cells = line.split("\t")
        if cells == list(COLUMNS):
            continue
        if len(cells) != len(COLUMNS) or cells[2] not in ANSWERS:
            raise Refusal(f"{path}:{number}: not a judgement ({', '.join(COLUMNS)})")
        found.append(Judgement(*cells))
    return found


def append(path: Path, judgement: Judgement) -> None:
    append_whole(path, judgement.line() + "\n", header="\t".join(COLUMNS) + "\n")


def latest(judgements: Iterable[Judgement], wanted: str) -> Judgement | None:
    """The last judgement of a question."""
    found = [item for item in judgements if item.question == wanted]
    return found[-1] if found else None
