"""Phrases that a set of text patterns must and must not match: fixture/<suite>/phrases.tsv.

Three columns: the set's name (`<scenario>/<axis>/<argument>`, with `/<concept>` where there are several), `match` or
`miss`, and the text on one line (`\\n` for a line break). Written by somebody who has not seen the patterns.
"""

from heldout.errors import Refusal
from heldout.files import FIXTURES

HEADER = "set\tkind\ttext"


def read(suite: str) -> dict[tuple[str, str], list[str]]:
    """Texts by set and kind; none where the suite has no file. Refusal naming file and line."""
    path = FIXTURES / suite / "phrases.tsv"
    try:
        lines = path.read_text("utf-8").splitlines()
    except FileNotFoundError:
        return {}
    except UnicodeDecodeError as error:
        raise Refusal(f"{path}: not UTF-8 at byte {error.start}") from error
    found: dict[tuple[str, str], list[str]] = {}
    for number, line in enumerate(lines, 1):
        cells = line.split("\t")
        if line == HEADER or not line:
            continue
        if len(cells) != 3 or cells[1] not in ("match", "miss") or not cells[2].strip():
            raise Refusal(f"{path}:{number}: not set, match or miss, text")
        found.setdefault((cells[0], cells[1]), []).append(cells[2].replace("\\n", "\n"))
    return found
