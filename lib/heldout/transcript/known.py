"""The files that paths, folders and globs of a session's calls can mean: those at its start, and those it names."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from functools import lru_cache
from itertools import islice
from pathlib import Path
from posixpath import join, normpath

from heldout.errors import Refusal
from heldout.tree import read_listing

MOST = 20_000  # files kept
FILES = 200  # files that one text means, and that one command prints
LONGEST_PATH = 4_096  # characters; Linux opens none that is longer
SPELT = 8 << 20  # characters of texts that mean themselves
STEPS = 1 << 30  # that the globs of a session may take, some seconds
_TAKING = 1_000  # steps that it costs to take apart one character of a pattern
_KEPT = 1_024  # patterns whose files are kept
_GLOB = re.compile(r"[*?\[]")
_FOLDERS = re.compile(r"(?:^|(?<=/))\*\*+(?:/|\Z)")  # `**/`, or `**` at the end
_SIGN = re.compile(r"\*+|\?|\[[^\]]+\]|[^*?\[]+|\[")
_UNCLOSED = re.compile(r"\*+|\?|[^*?]+")  # what _SIGN finds where no bracket closes
_RANGE = re.compile(r"(.)(?:-(.))?", re.DOTALL)


class Known:
    """Absolute paths of files. A path that is none of them, and a glob that matches none, mean themselves.

    A text means FILES files at most. Globs are a model's own text, so their work is bounded: trying one on a path takes
    at most as many steps as its length times the path's, from its first sign on, and once a session's globs may have
    taken STEPS, further ones match none. That is after two hundred different `**/*.log` over 20,000 files. Nor do
    texts mean themselves once those that do have SPELT characters: a short command can spell very many long ones.
    """

    def __init__(self, paths: Iterable[str] = ()) -> None:
        self._sorted = sorted(islice(dict.fromkeys(paths), MOST))  # so that those below a folder lie together
        self.paths = frozenset(self._sorted)
        self._named: dict[str, list[str]] = {}
        for path in self._sorted:
            self._named.setdefault(path.rsplit("/", 1)[-1], []).append(path)
        self._steps = STEPS
        self._matched: dict[str, list[str]] = {}
        self._spelt: dict[str, list[str]] = {}
        self._room = SPELT

    def files(self, text: str) -> list[str]:
        """The files that an absolute path or glob means; those below it where it is a folder."""
        path = normpath(text)
        if path in self.paths:
            return [path]
        start, end = _beginning(self._sorted, f"{path}/")
        if start < end:
            return self._sorted[start : min(end, start + FILES)]
        return (_GLOB.search(path) and self._matching(path)) or self._itself(path)

    def is_folder(self, path: str) -> bool:
        start, end = _beginning(self._sorted, f"{normpath(path)}/")
        return start < end

    def ending(self, folder: str, text: str) -> list[str]:
        """The files that a text in code means: a path from `folder`, or else the last parts of one; [] for no file."""
        path = normpath(join(folder, text))
        if path in self.paths:
            return [path]
        if not re.search(r"\w\.\w|[*]\w*[.-]", text) or text.startswith(("/", ".")):
            return self._matching(path) if _GLOB.search(text) else []
        return self._matching(path) or self._matching(f"/**/{text}")

    def _itself(self, path: str) -> list[str]:
        found = self._spelt.get(path, [])
        if not found and len(path) <= self._room:
            self._room -= len(path)
            found = self._spelt[path] = [path]
        return found

    def _matching(self, pattern: str) -> list[str]:
        found = self._matched.get(pattern)
        if found is None:
            found = self._match(pattern)
            if len(self._matched) < _KEPT:
                self._matched[pattern] = found
        return found

    def _match(self, pattern: str) -> list[str]:
        literal = _GLOB.split(pattern, maxsplit=1)[0]
        tried = self._possible(pattern, literal) if self._steps > 0 else []
        if not tried:
            return []
        beyond = sum(map(len, tried)) - len(tried) * len(literal)
        self._steps -= len(pattern) * _TAKING + (len(pattern) - len(literal)) * beyond
        return list(islice(filter(_compiled(pattern).fullmatch, tried), FILES)) if self._steps > 0 else []

    def _possible(self, pattern: str, literal: str) -> list[str]:
        """The paths that a pattern is tried on: those that begin as it does and, where it tells a name, bear it."""
        name = pattern.rsplit("/", 1)[-1]
        paths = self._sorted if _GLOB.search(name) else self._named.get(name, [])
        start, end = _beginning(paths, literal)
        return paths[start:end]


def _beginning(paths: list[str], prefix: str) -> tuple[int, int]:
    """Where among sorted paths those with this prefix lie."""
    start = bisect_left(paths, prefix)
    return start, bisect_right(paths, prefix, start, key=lambda path: path[: len(prefix)])


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> re.Pattern[str]:
    """A glob as a regular expression that never tries a part a second way: every star's is an atomic group.

    It need not: where the first place at which the text between two stars matches leads nowhere, no later one does,
    and the same holds for the segments between two `**/`. Stars in a name, however many, stay in it, as in a shell.
    """
    try:
        return re.compile(_expression(pattern), re.DOTALL)
    except re.error:  # of a range that runs backwards
        return re.compile(re.escape(pattern))


def _expression(pattern: str) -> str:
    *above, last = _FOLDERS.split(pattern)
    parts = [_segments(part.split("/")[:-1]) for part in above]
    *folders, name = last.split("/")
    parts.append(_segments(folders) + _segment(name, r"\Z") if last or not above else ".*")
    return f"(?>{parts[0]})" + "".join(f"(?>(?:[^/]*+/)*?{part})" for part in parts[1:])


def _segments(segments: list[str]) -> str:
    return "".join(_segment(segment, "/") for segment in segments)


def _segment(text: str, end: str) -> str:
    """One name of a glob with what follows it; the text after its last star is sought from the name's end."""
    closing = text.rfind("]") + 1
    between: list[list[str]] = [[]]
    for sign in (*_SIGN.findall(text, 0, closing), *_UNCLOSED.findall(text, closing)):
        if sign[0] == "*":
            between.append([])
        else:
            between[-1].append(_one(sign))
    first, *others = ("".join(signs) for signs in between)
    if not others:
        return first + end
    return first + "".join(f"(?>[^/]*?{text})" for text in others[:-1]) + f"(?>[^/]*{others[-1]}{end})"


def _one(sign: str) -> str:
    if sign == "?":
        return "[^/]"
    excluded = sign[1:2] in ("!", "^")
    members = sign[1 + excluded : -1] if sign[0] == "[" and sign[-1] == "]" else ""
    if not members:
        return re.escape(sign)
    ranges = (re.escape(low) + (high and f"-{re.escape(high)}") for low, high in _RANGE.findall(members))
    return f"(?!/)[{'^' * excluded}{''.join(ranges)}]"


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
    if len(cwd) > LONGEST_PATH:
        return []
    tops, parts = {path.split("/")[0] for path in paths}, cwd.split("/")
    at = max((place for place, part in enumerate(parts) if part in tops), default=0)
    return [f"{'/'.join(parts[:at])}/{path}" for path in paths] if at else []
