"""Phrases that a set of text patterns must and must not match: fixture/<suite>/phrases.tsv.

Three columns: the set's name (`<scenario>/<axis>/<argument>`, with `/<concept>` where there are several), `match` or
`miss`, and the text on one line (`\\n` for a line break). Written by somebody who has not seen the patterns.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from heldout.errors import Refusal
from heldout.files import FIXTURES
from heldout.yamlfile import near_miss

HEADER = "set\tkind\ttext"


def read(suite: str) -> dict[tuple[str, str], list[str]]:
    """Texts by set and kind; none where the suite has no file.

    Refusal naming file and line, also where a phrase stands twice in a set: a copy proves nothing more. Case and white
    space make no other phrase, since patterns know neither.
    """
    found: dict[tuple[str, str], list[str]] = {}
    seen: dict[tuple[str, str], int] = {}
    for number, name, kind, text in _lines(suite):
        phrase = (name, " ".join(text.split()).casefold())
        if phrase in seen:
            told = f"the phrase '{' '.join(text.split())}' of '{name}' stands in line {seen[phrase]} too"
            raise Refusal(f"{_file(suite)}:{number}: {told}", "write another one")
        seen[phrase] = number
        found.setdefault((name, kind), []).append(text)
    return found


def strays(suite: str, known: Iterable[str]) -> Iterator[str]:
    """The sets of the suite's file that are none of `known`, each by its first line: no scenario is tried on them."""
    known, told = list(known), set[str]()
    for number, name, _, _ in _lines(suite):
        if name not in known and name not in told:
            told.add(name)
            yield f"{_file(suite)}:{number}: '{name}' is a set of no scenario; {near_miss(name, known)}"


def _file(suite: str) -> Path:
    return FIXTURES / suite / "phrases.tsv"


def _lines(suite: str) -> Iterator[tuple[int, str, str, str]]:
    """Number, set, kind and text of each line; an editor's byte order mark is nothing."""
    path = _file(suite)
    try:
        lines = path.read_text("utf-8-sig").splitlines()
    except FileNotFoundError:
        return
    except UnicodeDecodeError as error:
        raise Refusal(f"{path}: not UTF-8 at byte {error.start}") from error
    for number, line in enumerate(lines, 1):
        cells = line.split("\t")
        if line == HEADER or not line:
            continue
        if len(cells) != 3 or cells[1] not in ("match", "miss") or not cells[2].strip():
            raise Refusal(f"{path}:{number}: not set, match or miss, text")
        yield number, cells[0], cells[1], cells[2].replace("\\n", "\n")
