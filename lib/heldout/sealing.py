"""The seal of the reserve: `scenarios-reserve/SHA256SUMS`, in the format of sha256sum, so that its `-c` works too."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from heldout import ledger
from heldout.errors import Refusal
from heldout.files import write_whole
from heldout.hashes import of_bytes, of_tree
from heldout.scenario import SETS, Scenario, files

NAME = "SHA256SUMS"
_TASK = re.compile(r"^## Task[ \t]*$(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
DIGITS = 16  # of a digest, in the ledger
_LINE = re.compile(r"([0-9a-f]{64}) [ *](.+)")


def breaches(root: Path | None = None) -> list[str]:
    """What differs from the seal, a line each that names the file: changed, missing, not sealed, not in the ledger.

    The ledger has a line for each acceptance with the digest that was accepted, so that a seal made by hand is seen.
    """
    folder = root or SETS["reserve"]
    found = list(_breaches(folder)) if folder.is_dir() else []
    return found if root else [*found, *_unaccepted(folder)]


def _unaccepted(folder: Path) -> Iterator[str]:
    accepted: dict[str, str] = {}
    for event in ledger.read():
        if event.purpose == ledger.ACCEPT:
            accepted[f"{event.suite}/{event.scenario}.md"] = event.subjects
    sealed = _sealed(folder)
    for name in sorted(accepted.keys() - sealed.keys()):
        if accepted[name] != ledger.GONE:
            yield f"'{folder.name}/{name}' was accepted into the reserve and is not sealed"
    for name, digest in sorted(sealed.items()):
        if name not in accepted:
            yield f"'{folder.name}/{name}' is sealed, but the ledger does not say that it was accepted"
        elif not accepted[name] or not digest.startswith(accepted[name]):
            yield f"'{folder.name}/{name}' is not sealed as the ledger says that it was accepted"


def _breaches(folder: Path) -> Iterator[str]:
    sealed, here = _sealed(folder), _here(folder)
    for name in sorted(sealed.keys() | here.keys()):
        if name not in here:
            yield f"'{folder.name}/{name}' is sealed but missing"
        elif name not in sealed:
            yield f"'{folder.name}/{name}' is not sealed"
        elif sealed[name] != here[name]:
            yield f"'{folder.name}/{name}' is not what was sealed"


def refuse_broken() -> None:
    """Raise Refusal when the reserve is not what was sealed."""
    found = breaches()
    if found:
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        raise Refusal(f"the reserve's seal is broken: {found[0]}{more}", "restore it, or 'bin/seal accept --reason …'")


def holds(item: Scenario) -> bool:
    """Whether a scenario is of the reserve, or asks what one of it asks: a copy is opened like the original."""
    if item.set == "reserve":
        return True
    task = _plain(item.sections.get("Task", ""))
    return bool(task) and task in _tasks()


@cache
def _tasks() -> frozenset[str]:
    # By the section's heading alone: loading the whole reserve would be half of a run's start-up.
    texts = (path.read_text("utf-8", "replace") for path in files("reserve"))
    sections = (_TASK.search(text) for text in texts)
    return frozenset(_plain(section[1]) for section in sections if section)


def _plain(task: str) -> str:
    return " ".join(task.split()).casefold()


def refuse_purpose(purpose: str) -> None:
    """Raise Refusal when a reserve cannot be opened for this; '' is no purpose at all."""
    if purpose and purpose not in ledger.PURPOSES:
        raise Refusal(f"purpose '{purpose}' is none of {', '.join(ledger.PURPOSES)}")


def open_for(purpose: str, run: Path, item: Scenario, override: tuple[Path, ...]) -> None:
    """A reserve is opened only for a purpose, and that is kept; so is a tuning against either set."""
    refuse_purpose(purpose)
    refuse_broken()
    if (held := holds(item)) and not purpose:
        raise Refusal(
            f"{item.id} is in the reserve: what is it opened for?", "--purpose measure (Make: PURPOSE=measure)"
        )
    if held or purpose == "tune":
        subjects = ",".join(f"{root.name}@{of_tree(root)[:8]}" for root in item.plugin_roots(override))
        told = (ledger.now(), run.name, "reserve" if held else item.set, item.suite, item.id, subjects, purpose)
        ledger.write(ledger.Event(*told, ledger.who()), anew=not run.is_dir())


def seal() -> dict[str, tuple[str, str]]:
    """Seal the reserve as it is; returns what differed before: by name its digest (ledger.GONE) and how it differed."""
    folder = SETS["reserve"]
    found, here = breaches(), _here(folder)
    lines = (f"{digest}  {name}\n" for name, digest in sorted(here.items()))
    write_whole(folder / NAME, "".join(lines))
    names = [(line.split("'")[1].partition("/")[2], line) for line in found]
    return {name: (here[name][:DIGITS] if name in here else ledger.GONE, line) for name, line in names}


def _here(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): of_bytes(path.read_bytes()) for path in folder.glob("*/*.md")}


def _sealed(folder: Path) -> dict[str, str]:
    path = folder / NAME
    try:
        lines = path.read_text("utf-8").splitlines()
    except FileNotFoundError:
        return {}
    matches = [_LINE.fullmatch(line) for line in lines]
    wrong = next((number for number, match in enumerate(matches, 1) if not match), 0)
    if wrong:
        raise Refusal(f"{path}:{wrong}: not a line of sha256sum")
    return {match[2]: match[1] for match in matches if match}
