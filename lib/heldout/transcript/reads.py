"""Which files were read: bytes by path, and what the main loop read again after a subagent had been sent to read it.

A result is charged to files so that the charges sum up to its bytes at most: lines that begin with a file's name to
that file, the rest to the files that the command prints, in equal parts but where a limit is known (`head -n 5`, or a
pipe into `head -c 9000`). What is piped into a counter, or written to a file, is charged to none.
"""

import re
from collections.abc import Iterable
from posixpath import join, normpath
from typing import Any

from heldout.transcript.bounds import PATHS
from heldout.transcript.known import LONGEST_PATH, Known, rooted
from heldout.transcript.printing import Printed, printed

_PREFIX = re.compile(r"([^\s:*?\"']{1,300}):")
DUAL = 4_096  # bytes: more than this received again counts as a second reading

Charge = dict[str, int]  # absolute path -> bytes of its content


def by_prefix(text: str) -> dict[str, int]:
    """Bytes by path of output whose lines begin with `path:`, as grep prints them over several files."""
    first = _PREFIX.match(text)
    if not first or not ("/" in first[1] or "." in first[1]):
        return {}
    sums: dict[str, int] = {}
    for line in text.split("\n"):
        match = _PREFIX.match(line)
        if match and (match[1] in sums or len(sums) < 200):
            sums[match[1]] = sums.get(match[1], 0) + len(line.encode("utf-8", "replace")) + 1
    return sums


def charges(actions: list[dict[str, Any]], cwd: str, start: Iterable[str] = (), main: str = "main") -> list[Charge]:
    """For each action the absolute paths, and the bytes of each file's content that the call's result held.

    `start`: the files of the sandbox at its start, relative to it; without them a glob means the files that the session
    names otherwise, or else itself. The main loop's folder carries over from one command to the next, below `cwd`.
    """
    cwd = cwd if len(cwd) <= LONGEST_PATH else "/"  # every path begins with it, and none can be so long
    at_start = rooted(list(start), cwd)
    known = Known([*at_start, *_spelt(actions, cwd, lines=not at_start)])
    here = cwd
    found: list[Charge] = []
    for action in actions:
        command = action["input"].get("command")
        if action["tool"] == "Bash" and type(command) is str:
            at = here if action["agent"] == main else cwd
            files, left = printed(command, at, known)
            found.append(_of_output(action, files, at, known))
            if action["agent"] == main and action["ok"]:
                here = left if f"{left}/".startswith(f"{cwd}/") else cwd
        else:
            found.append(_of_tool(action, cwd, known))
    return found


def _spelt(actions: list[dict[str, Any]], cwd: str, *, lines: bool) -> list[str]:
    """The files that calls of Read name and, with `lines`, those that lines of output begin with."""
    given = [action["input"].get("file_path") for action in actions if action["tool"] == "Read" and action["ok"]]
    given += [path for action in actions for path in action.get("_lines") or ()] if lines else []
    return [normpath(join(cwd, path)) for path in given if type(path) is str and path and "\0" not in path]


def _of_tool(action: dict[str, Any], cwd: str, known: Known) -> Charge:
    """What a call of Read or Grep is charged to."""
    size, given, path = action["result_bytes"], action["input"], None
    if not size or not (action["ok"] or action.get("_lines")):
        return {}
    if action["tool"] == "Read":
        path = given.get("file_path")
    elif action["tool"] == "Grep" and given.get("output_mode") == "content":
        path = given.get("path")
    if action.get("_lines"):
        return _of_output(action, [], cwd, known)
    return {normpath(join(cwd, path)): size} if type(path) is str and path and "\0" not in path else {}


def _of_output(action: dict[str, Any], files: list[Printed], cwd: str, known: Known) -> Charge:
    """What the output of a command, or the lines that a search found, are charged to."""
    size, found = action["result_bytes"] or 0, dict[str, int]()
    named = {item.path for item in files}
    for spelt, count in (action.get("_lines") or {}).items():
        path = normpath(join(cwd, spelt))
        if not files or path in named or path in known.paths:
            found[path] = found.get(path, 0) + min(count, size)
    rest = size - sum(found.values())
    silent = [item for item in files if item.path not in found and not (found and item.searched)]
    silent = silent or [item for item in files if item.path in found] or files
    wide = size / max(action.get("_rows") or 1, 1)  # bytes of a line
    most = [min(size, *(limit for limit in _bytes(item, wide) if limit is not None)) for item in silent]
    for item, limit in zip(silent, most, strict=True):
        share = min(limit, rest * limit / (sum(most) or 1))
        found[item.path] = found.get(item.path, 0) + int(share)
    return {path: count for path, count in found.items() if count}


def _bytes(item: Printed, wide: float) -> tuple[float | None, ...]:
    lines, most = item.limit
    return (float("inf"), lines * wide if lines is not None else None, most)


def by_path(actions: list[dict[str, Any]], charged: list[Charge], main: str = "main") -> dict[str, int]:
    """Bytes the main loop received of each path; where there are very many, those with the most."""
    sums: dict[str, int] = {}
    for action, charge in zip(actions, charged, strict=True):
        if action["agent"] == main:
            for path, count in charge.items():
                sums[path] = sums.get(path, 0) + count
    if len(sums) > PATHS:
        sums = dict(sorted(sums.items(), key=lambda item: -item[1])[:PATHS])
    return sums


def dual_reads(
    actions: list[dict[str, Any]], charged: list[Charge], launched: dict[str, int], main: str = "main"
) -> list[str]:
    """Paths of which the main loop received more than DUAL bytes after a subagent that read them was launched.

    `launched`: agent -> line of the main transcript on which it, or the spawn it descends from, was called.
    """
    first: dict[str, int] = {}
    for action, charge in zip(actions, charged, strict=True):
        line = launched.get(action["agent"])
        if line is not None:
            for path in charge:
                first[path] = min(line, first.get(path, line))
    sums: dict[str, int] = {}
    for action, charge in zip(actions, charged, strict=True) if first else ():
        if action["agent"] == main:
            for path, count in charge.items():
                if path in first and action["_answered"] > first[path]:
                    sums[path] = sums.get(path, 0) + count
    return [path for path, count in sums.items() if count > DUAL]
