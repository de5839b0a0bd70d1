"""The files that paths, folders and globs of a session's calls can mean: those at its start, and those it names."""

import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from posixpath import join, normpath

from heldout.errors import Refusal
from heldout.tree import read_listing

MOST = 20_000  # files kept
_GLOB = re.compile(r"[*?\[]")


class Known:
    """Absolute paths of files. A path that is none of them, and a glob that matches none, mean themselves."""

    def __init__(self, paths: Iterable[str] = ()) -> None:
        self.paths = dict.fromkeys(list(paths)[:MOST])
        self._folders = {folder for path in self.paths for folder in _above(path)}

    def files(self, text: str) -> list[str]:
        """The files that an absolute path or glob means; those below it where it is a folder."""
        path = normpath(text)
        if path in self.paths:
            return [path]
        if path in self._folders:
            return [item for item in self.paths if item.startswith(f"{path}/")]
        return (self._matching(path) or [path]) if _GLOB.search(path) else [path]

    def is_folder(self, path: str) -> bool:
        return normpath(path) in self._folders

    def ending(self, folder: str, text: str) -> list[str]:
        """The files that a text in code means: a path from `folder`, or else the last parts of one; [] for no file."""
        path = normpath(join(folder, text))
        if path in self.paths:
            return [path]
        if not re.search(r"\w\.\w|[*]\w*[.-]", text) or text.startswith(("/", ".")):
            return self._matching(path) if _GLOB.search(text) else []
        return self._matching(path) or self._matching(f"/**/{text}")

    def _matching(self, pattern: str) -> list[str]:
        matches = _compiled(pattern).fullmatch
        return [path for path in self.paths if matches(path)]


def _above(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:end]) for end in range(2, len(parts))]


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> re.Pattern[str]:
    parts = re.split(r"(\*\*/|\*+|\?|\[[^\]/]+\])", pattern)
    signs = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    try:
        return re.compile("".join(signs.get(part) or _class(part) or re.escape(part) for part in parts))
    except re.error:
        return re.compile(re.escape(pattern))


def _class(part: str) -> str:
    if part[:1] != "[" or part[-1:] != "]":
        return ""
    inside = part[1:-1].replace("\\", "\\\\")
    return f"[^{inside[1:]}]" if inside[:1] in ("!", "^") else f"[{inside}]"


def of_start(listing: Path) -> list[str]:
    """The files of a cell's start.tsv, relative to the sandbox; [] where there is none that can be read."""
    try:
        return [path for path, entry in read_listing(listing).items() if entry.kind == "file"]
    except Refusal:
        return []


def rooted(paths: list[str], cwd: str) -> list[str]:
    """Paths of a sandbox as absolute ones, [] where `cwd` is not in it.

    The last part of `cwd` that is one of the sandbox's folders tells where it lies.
    """
    tops, parts = {path.split("/")[0] for path in paths}, cwd.split("/")
    at = max((place for place, part in enumerate(parts) if part in tops), default=0)
    return [f"{'/'.join(parts[:at])}/{path}" for path in paths] if at else []
