"""The cell: one scenario × one model × one rep, as a folder and as a record.

`<run folder>/<suite>/<scenario>/<model>/r<k>/` is a path, a Make target, the argument of every later stage
and the first columns of the table. `cell.json` is written last: its presence means "measured". A cell is
built in `r<k>.part/` and renamed whole; one that ended in ERROR lies under `attempts/…/r<k>/<n>/`.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from heldout.errors import CODES, Fault, Refusal
from heldout.files import RESULTS, natural, write_whole

SCHEMA = 1
_REP = re.compile(r"r[0-9]+")
_MODEL = re.compile(r"[A-Za-z0-9-][A-Za-z0-9._/:@\[\]-]*")
_SPELLING = str.maketrans({"/": "+", ":": "~"})
_NAME = str.maketrans({"+": "/", "~": ":"})


def spell(model: str) -> str:
    """A model's name as one path component: `/` is `+` there and `:` is `~`. Raises Refusal for odd characters."""
    if not _MODEL.fullmatch(model) or ".." in model or any(word in model for word in ("PASS", "FAIL", "ERROR")):
        raise Refusal(f"model '{model}' cannot be a path", "use letters, digits and . _ - / : @ [ ]")
    return model.translate(_SPELLING)


def unspell(component: str) -> str:
    return component.translate(_NAME)


@dataclass(frozen=True, order=True)
class Cell:
    run: Path
    suite: str
    scenario: str
    model: str
    rep: int

    @property
    def place(self) -> Path:
        """The cell's way below its run folder, and below `attempts/`."""
        return Path(self.suite, self.scenario, spell(self.model), f"r{self.rep}")

    @property
    def path(self) -> Path:
        return self.run / self.place

    @property
    def part(self) -> Path:
        return self.path.with_name(f"{self.path.name}.part")

    @property
    def attempts(self) -> Path:
        """The folder of this cell's attempts that ended in ERROR: `1/`, `2/`, …"""
        return self.run / "attempts" / self.place

    @property
    def measured(self) -> bool:
        record = self.path / "cell.json"
        return record.is_file() and record.stat().st_size > 0

    def last_attempt(self) -> Path | None:
        numbers = [int(item.name) for item in self.attempts.glob("*") if item.name.isdigit()]
        return self.attempts / str(max(numbers)) if numbers else None

    def folder(self) -> Path | None:
        """What stands for this cell today: itself, else its last attempt, else nothing."""
        return self.path if self.measured else self.last_attempt()

    def __str__(self) -> str:
        return f"{self.scenario} {self.model} r{self.rep}"


def at(folder: Path) -> Cell:
    """The cell of a folder `…/<suite>/<scenario>/<model>/r<k>`; raises Refusal when the path is not one."""
    folder = folder.absolute()
    if len(folder.parts) < 5 or not _REP.fullmatch(folder.name):
        raise Refusal(f"'{folder}' is not a cell", "a cell is <run>/<suite>/<scenario>/<model>/r<k>")
    run, suite, scenario, model = folder.parents[3], folder.parts[-4], folder.parts[-3], folder.parts[-2]
    return Cell(run, suite, scenario, unspell(model), int(folder.name[1:]))


def refuse_run(run: Path) -> None:
    """Raise Refusal where cells must not be put: below a file, or among the kept baselines, which git has."""
    baselines = RESULTS / "baseline"
    for folder in (run, *run.absolute().parents):
        if folder.exists() and not folder.is_dir():
            raise Refusal(f"'{folder}' is no folder", "name another run, RUN=…")
        if folder.exists() and baselines.exists() and folder.samefile(baselines):
            raise Refusal(f"'{run}' is where the baselines are kept", "name another run, RUN=…")


def below(folder: Path) -> Iterator[Cell]:
    """All cells below a folder (a run, a suite, a scenario, a cell), measured or only attempted, in order.

    What else lies there (a `.part` of a run under way, somebody's copy) is passed over.
    """
    folder = folder.absolute()
    measured = [path.parent for path in (*folder.glob("cell.json"), *folder.rglob("r[0-9]*/cell.json"))]
    found = {
        at(path) for path in measured if _REP.fullmatch(path.name) and "attempts" not in path.relative_to(folder).parts
    }
    for path in folder.glob("attempts/*/*/*/r[0-9]*/[0-9]*"):
        suite, scenario, model, rep = path.parent.relative_to(folder / "attempts").parts
        if _REP.fullmatch(rep) and path.name.isdigit():
            found.add(Cell(folder, suite, scenario, unspell(model), int(rep[1:])))
    runs = {cell.run for cell in found}
    # A copy of a suite within its own run would count its cells twice.
    found = {cell for cell in found if runs.isdisjoint(cell.run.parents)}
    yield from sorted(found, key=lambda cell: (cell.run, cell.suite, natural(cell.scenario), cell.model, cell.rep))


@dataclass
class Record:
    """The content of cell.json.

    `asked` is the model as the agent was asked for it, `plays` the actor whose script a stub played to a real client.
    `run_parts` and `subjects` are digests by part (heldout.digests). `argv` has the task as `sha256:…`; `environment`
    has names only. `fault` is `[code, detail]` when the attempt could not be measured. `hooks` are the SessionStart
    commands of each plugin. `kept` and `transcripts` are digests of the files a score rests on. `links` are symbolic
    links found in the sandbox afterwards, path to target; `left_out` files too large to keep, to size; `home_files` new
    files below the cell's home; `homes` are the home folders a tool call may mean by `~` (the cell's, then the user's);
    `shadowed` are the user's own values of variables the scenario sets; `usd` is what the session cost; `answered_by`
    says whether the `agent` wrote a prompted scenario's ANSWER.md or `run` did, from the final message.
    """

    suite: str
    scenario: str
    model: str
    rep: int
    agent: str
    session_id: str
    sandbox: str
    cwd: str
    asked: str = ""
    plays: str = ""
    client: str = ""
    served: list[str] = field(default_factory=list)
    argv: list[str] = field(default_factory=list)
    environment: list[str] = field(default_factory=list)
    started: str = ""
    ended_at: str = ""
    ended: str = "unknown"
    exit: int | None = None
    usd: float | None = None
    fault: list[str] | None = None
    attempt: int = 1
    run_parts: dict[str, str] = field(default_factory=dict)
    subjects: dict[str, str] = field(default_factory=dict)
    plugins: list[str] = field(default_factory=list)
    hooks: dict[str, list[str]] = field(default_factory=dict)
    kept: dict[str, str] = field(default_factory=dict)
    transcripts: dict[str, str] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    left_out: dict[str, int] = field(default_factory=dict)
    home_files: list[str] = field(default_factory=list)
    homes: list[str] = field(default_factory=list)
    shadowed: dict[str, str] = field(default_factory=dict)
    answered_by: str = ""
    schema: int = SCHEMA

    def learn(self, facts: Mapping[str, Any]) -> None:
        """Take from the session's facts what they know better than whoever started it."""
        session = facts["session"]
        self.ended = facts["ended"] if self.ended == "unknown" else self.ended
        self.served = self.served or session["models_served"]
        self.usd = facts["cost_usd"]
        if self.client == "claude" and session["cli_version"]:
            self.client = f"claude {session['cli_version']}"

    def write(self, folder: Path) -> None:
        text = json.dumps(asdict(self), indent=1, sort_keys=True, ensure_ascii=True)
        write_whole(folder / "cell.json", text + "\n")


def read(folder: Path) -> Record:
    """The record of a cell or attempt; raises Fault, naming the file, when it is missing or is none."""
    import msgspec

    path = folder / "cell.json"
    try:
        raw = path.read_bytes()
        if not raw:
            raise Fault("sandbox-error", f"'{path}' is empty: a writer was cut off")
        if msgspec.json.decode(raw, type=dict[str, Any]).get("schema") != SCHEMA:
            raise Fault("sandbox-error", f"'{path}' is not a cell of schema {SCHEMA}")
        record = msgspec.json.decode(raw, type=Record)
    except FileNotFoundError:
        raise Fault("sandbox-error", f"'{path}' is missing: the attempt was cut off") from None
    except OSError as error:
        raise Fault("sandbox-error", f"cannot read '{path}': {error.strerror}") from error
    except ValueError as error:  # of msgspec too: what is no JSON, lacks a field, or has a value of another kind
        raise Fault("sandbox-error", f"'{path}' is no record of a cell: {error}") from error
    if record.fault and (len(record.fault) != 2 or record.fault[0] not in CODES):
        raise Fault("sandbox-error", f"'{path}' is no record of a cell: its fault is no code with a detail")
    return record
