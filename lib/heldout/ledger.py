"""The ledger: every opening of a reserve and every tuning, append-only, in git.

One line an event. `purpose` is measure, canary or tune for a run, and accept where a changed reserve was accepted. A
set that was tuned against measures nothing any more for later wordings: it is contaminated, and every later report
says so.
"""

import getpass
import os
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from heldout.errors import Refusal
from heldout.files import RESULTS, append_whole
from heldout.rows import clean
from heldout.scenario import SETS, files

COLUMNS = ("when", "run", "set", "suite", "scenario", "subjects", "purpose", "who", "note")
PURPOSES = ("measure", "tune", "canary")
ACCEPT, GONE = "accept", "gone"  # the purpose of an acceptance into the reserve; subjects are its digest, or GONE


@dataclass(frozen=True)
class Event:
    """One line. `when` is UTC; `scenario` is `*` for a whole suite; `subjects` are the plugins with short digests."""

    when: str
    run: str
    set: str
    suite: str
    scenario: str
    subjects: str
    purpose: str
    who: str
    note: str = ""

    @property
    def tunes(self) -> bool:
        return self.purpose == "tune"


def path() -> Path:
    return RESULTS / "ledger.tsv"


def read() -> list[Event]:
    """All events; none where there is no ledger yet. Refusal naming file and line."""
    try:
        lines = path().read_text("utf-8").splitlines()
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError) as error:
        raise Refusal(f"cannot read '{path()}': {error}") from error
    found: list[Event] = []
    for number, line in enumerate(lines, 1):
        cells = line.split("\t")
        if cells == list(COLUMNS):
            continue
        if len(cells) != len(COLUMNS):
            raise Refusal(f"{path()}:{number}: {len(cells)} columns where {len(COLUMNS)} are expected")
        if cells[6] not in (*PURPOSES, ACCEPT):
            raise Refusal(f"{path()}:{number}: purpose '{cells[6]}' is none of {', '.join((*PURPOSES, ACCEPT))}")
        found.append(Event(*cells))
    return found


def write(event: Event, *, anew: bool = False) -> None:
    """Append an event, unless the same run has it already (a run is opened once, however many cells it has).

    `anew`: this is another run than an earlier one of that name.
    """
    same = [item for item in read() if _key(item) == _key(event)]
    if anew or not same or not event.run:
        line = "\t".join(clean(getattr(event, name)) for name in COLUMNS)
        append_whole(path(), line + "\n", header="\t".join(COLUMNS) + "\n")


def _key(event: Event) -> tuple[str, ...]:
    return event.run, event.set, event.suite, event.scenario, event.subjects, event.purpose


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def who() -> str:
    """The user's login name; the ledger is for people who can ask each other."""
    try:
        return os.environ.get("HELDOUT_WHO") or getpass.getuser()
    except (KeyError, OSError):
        return "unknown"


def contaminated(events: Iterable[Event]) -> dict[tuple[str, str], str]:
    """(suite, set) that were tuned against, to the time of the first tuning."""
    found: dict[tuple[str, str], str] = {}
    for event in events:
        if event.tunes:
            found.setdefault((event.suite, event.set), event.when)
    return found


def warnings(names: Iterable[str]) -> list[str]:
    """A line for each contaminated set that one of these scenarios belongs to: what stands at the top of a report."""
    spoilt = contaminated(read())
    wanted, places = set(names), dict[tuple[str, str], str]()
    for set_name in SETS if spoilt else ():
        for path in files(set_name):
            if path.stem in wanted and (since := spoilt.get((path.parent.name, set_name))):
                places[path.parent.name, set_name] = since
    return [
        f"the {set_name} set of {suite} is contaminated: it was tuned against on {since}"
        for (suite, set_name), since in sorted(places.items())
    ]
