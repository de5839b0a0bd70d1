"""The result table: the only writer and reader of results.tsv.

One row a rep, tab-separated, one header line, columns as in COLUMNS. `verdict` is PASS, FAIL or ERROR;
`axes` is `A:pass B:fail C:undecided`; `reasons` is empty for PASS, the broken invariants joined by `; ` for
FAIL, an ERROR code first for ERROR; `info` is `key=value;…` and never a verdict.
"""

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from heldout.errors import Refusal
from heldout.files import locked_file, write_whole

COLUMNS = ("scenario", "model", "rep", "verdict", "axes", "reasons", "info")
HEADER = "\t".join(COLUMNS)
VERDICTS = ("PASS", "FAIL", "ERROR")
REASONS_BOUND = 2000  # characters; a row is one write() and a line for a person

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_VERDICT_WORD = re.compile("|".join(VERDICTS))


def clean(text: str) -> str:
    """Text fit for one cell of the table: control characters become spaces, verdict words lower case.

    `grep -c PASS` must count verdicts, whatever an agent wrote into a file that a reason quotes.
    """
    flat = _CONTROL.sub(" ", text.encode("utf-8", "replace").decode()).strip()
    return _VERDICT_WORD.sub(lambda match: match[0].lower(), flat)


@dataclass(frozen=True)
class Row:
    scenario: str
    model: str
    rep: int
    verdict: str
    axes: Mapping[str, str] = field(default_factory=dict[str, str])
    reasons: tuple[str, ...] = ()
    info: Mapping[str, str] = field(default_factory=dict[str, str])
    # The treatment by part, as the cell's record has it; no column of the table.
    subjects: Mapping[str, str] = field(default_factory=dict[str, str])

    def line(self) -> str:
        """The row as it stands in the table, without the newline."""
        axes = " ".join(f"{letter}:{outcome}" for letter, outcome in self.axes.items())
        parts = (part for reason in self.reasons for part in clean(reason).split("; "))
        reasons = clean("; ".join(filter(None, parts)))
        if len(reasons) > REASONS_BOUND:
            reasons = reasons[: REASONS_BOUND - 1] + "…"
        info = ";".join(f"{key}={_value(value)}" for key, value in self.info.items())
        return "\t".join((self.scenario, self.model, str(self.rep), self.verdict, axes, reasons, info))

    @property
    def code(self) -> str:
        """The ERROR code of an ERROR row, else ''."""
        return re.split(r"[:; ]", self.reasons[0], maxsplit=1)[0] if self.verdict == "ERROR" and self.reasons else ""


def _value(text: str) -> str:
    return clean(str(text)).replace(";", ",")


def parse(line: str, where: str) -> Row:
    """One line of the table; `where` names file and line in a refusal."""
    cells = line.rstrip("\n").split("\t")
    if len(cells) != len(COLUMNS):
        raise Refusal(f"{where}: {len(cells)} columns where {len(COLUMNS)} are expected")
    scenario, model, rep, verdict, axes, reasons, info = cells
    if verdict not in VERDICTS:
        raise Refusal(f"{where}: verdict '{verdict}' is none of {', '.join(VERDICTS)}")
    if not rep.isascii() or not rep.isdigit() or len(rep) > 9:
        raise Refusal(f"{where}: rep '{rep}' is not a number")
    pairs = [part.partition(":") for part in axes.split()]
    if any(outcome not in ("pass", "fail", "undecided") for _, _, outcome in pairs):
        raise Refusal(f"{where}: axes '{axes}' are not letter:pass, letter:fail or letter:undecided")
    keys = (part.partition("=") for part in info.split(";") if part)
    return Row(
        scenario,
        model,
        int(rep),
        verdict,
        {letter: outcome for letter, _, outcome in pairs},
        tuple(part for part in reasons.split("; ") if part),
        {key: value for key, _, value in keys},
    )


def read(path: Path) -> list[Row]:
    """All rows of a table, with or without the header line; Refusal for the first line that is none."""
    return [row for _, row in numbered(path)]


def numbered(path: Path) -> list[tuple[int, Row]]:
    """The same with the line of each."""
    found, wrong = readable(path)
    if wrong:
        raise Refusal(wrong[0], f"'bin/rescore {path.parent}' writes it afresh from its cells; without cells, mend it")
    return found


def readable(path: Path) -> tuple[list[tuple[int, Row]], list[str]]:
    """The rows of a table that can be read, with the line of each, and what is wrong with the other lines, by place.

    Tables that `cat` put together have more header lines, and an editor's mark of UTF-8 may stand before each.
    """
    try:
        text = path.read_text("utf-8", "replace")
    except OSError as error:
        raise Refusal(f"cannot read '{path}': {error.strerror}") from error
    *lines, rest = text.split("\n")
    found, wrong = list[tuple[int, Row]](), list[str]()
    for number, line in enumerate(lines, 1):
        try:
            if (line := line.removeprefix("\ufeff")) != HEADER:
                found.append((number, parse(line, f"{path}:{number}")))
        except Refusal as refusal:
            wrong.append(refusal.message)
    if rest:
        wrong.append(f"{path}:{len(lines) + 1}: the line has no end, a writer was cut off")
    return found, wrong


def table(rows: Iterable[Row]) -> str:
    """The whole table as text, header first."""
    return "".join(f"{line}\n" for line in (HEADER, *(row.line() for row in rows)))


def of_rep(path: Path, scenario: str, model: str, rep: int) -> Row | None:
    """The table's row of one rep, if the table exists and has it."""
    rows = read(path) if path.is_file() else []
    return next((row for row in rows if (row.scenario, row.model, row.rep) == (scenario, model, rep)), None)


def put(path: Path, row: Row) -> None:
    """Append a row, in place of an earlier row of the same rep: a rep that was tried again has one row.

    A pipe or a device only gets the line: it has no earlier rows.
    """
    if path.exists() and not path.is_file():
        with open(path, "a") as stream:
            stream.write(row.line() + "\n")
        return
    target = Path(os.path.realpath(path))  # a link stays one
    with locked_file(target):
        kept = [
            item for item in read(target) if (item.scenario, item.model, item.rep) != (row.scenario, row.model, row.rep)
        ]
        write(target, [*kept, row])


def write(path: Path, rows: Iterable[Row]) -> None:
    """Replace the table atomically."""
    write_whole(path, table(rows))
