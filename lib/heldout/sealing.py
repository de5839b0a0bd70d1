"""The seal of the reserve: `scenarios-reserve/SHA256SUMS`, in the format of sha256sum, so that its `-c` works too."""

import re
from collections.abc import Iterator
from pathlib import Path

from heldout.digests import of_bytes
from heldout.errors import Refusal
from heldout.files import write_whole
from heldout.scenario import SETS

NAME = "SHA256SUMS"
_LINE = re.compile(r"([0-9a-f]{64}) [ *](.+)")


def breaches(root: Path | None = None) -> list[str]:
    """What differs from the seal, a line each naming the file: changed, missing, or not sealed."""
    folder = root or SETS["reserve"]
    return list(_breaches(folder)) if folder.is_dir() else []


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


def seal() -> list[str]:
    """Seal the reserve as it is; returns what differed before."""
    folder = SETS["reserve"]
    found = breaches()
    lines = (f"{digest}  {name}\n" for name, digest in sorted(_here(folder).items()))
    write_whole(folder / NAME, "".join(lines))
    return found


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
