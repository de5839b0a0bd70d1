"""Whether what a session is measured with stood still while it ran: fixture/, scenarios*/ and the plugins it loads.

Whoever changed it, an agent that broke out of its sandbox or a person with an editor: what ran meanwhile was measured
with two instruments. Signatures are compared first, and the content of a file only where its signature moved.
"""

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from heldout.files import FIXTURES, ROOT
from heldout.hashes import NOT_CONTENT, of_bytes
from heldout.scenario import SETS

NAMED = 3  # changed files that are named at most
Signature = tuple[int, ...]

# What is known of each file's content, for the signature that it had then. A process hashes a file once.
_known: dict[str, tuple[Signature, str]] = {}


class Guard:
    """The state of the guarded files at the moment it was made."""

    def __init__(self, plugins: Iterable[Path] = ()) -> None:
        self._roots = [*dict.fromkeys((FIXTURES, *SETS.values(), *plugins))]
        self._before = dict(_signatures(self._roots))
        self._contents = {path: _content(path, signature) for path, signature in self._before.items()}

    def changes(self) -> list[str]:
        """The files that are new, gone or of other content by now, each with that word, sorted by path."""
        after = dict(_signatures(self._roots))
        told: list[str] = []
        for path in sorted(self._before.keys() | after.keys()):
            if self._before.get(path) == after.get(path):
                continue
            if path not in after:
                told.append(f"{_shown(path)} is gone")
            elif path not in self._before:
                told.append(f"{_shown(path)} is new")
            elif _content(path, after[path]) != self._contents[path]:
                told.append(f"{_shown(path)} is changed")
        return told


def summary(changes: list[str]) -> str:
    """One line that names the first of them."""
    rest = len(changes) - NAMED
    return ", ".join(changes[:NAMED]) + (f" and {rest} more" if rest > 0 else "") + " since the session began"


def _signatures(roots: Iterable[Path]) -> Iterator[tuple[str, Signature]]:
    waiting = [str(root) for root in roots]
    while waiting:
        try:
            entries = list(os.scandir(waiting.pop()))
        except OSError:
            continue  # gone: its files are missing from the listing, which is what counts
        for entry in entries:
            if entry.name in NOT_CONTENT:
                continue
            if entry.is_dir(follow_symlinks=False):
                waiting.append(entry.path)
            else:
                try:
                    info = entry.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue
                yield entry.path, (info.st_mode, info.st_size, info.st_mtime_ns, info.st_ctime_ns, info.st_ino)


def _content(path: str, signature: Signature) -> str:
    """What makes a file the same file: kind, executable bit, content or link target."""
    known = _known.get(path)
    if known and known[0] == signature:
        return known[1]
    try:
        data = b""
        if stat.S_ISLNK(signature[0]):
            data = os.fsencode(os.readlink(path))
        elif stat.S_ISREG(signature[0]):
            data = Path(path).read_bytes()
        content = f"{stat.S_IFMT(signature[0])} {signature[0] & 0o100} {of_bytes(data)}"
    except OSError as error:
        content = f"unreadable: {error.strerror}"
    _known[path] = signature, content
    return content


def _shown(path: str) -> str:
    return os.path.relpath(path, ROOT) if path.startswith(f"{ROOT}{os.sep}") else path
