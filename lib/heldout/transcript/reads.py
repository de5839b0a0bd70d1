"""Which files were read: bytes by path, and what the main loop read again after a subagent had been sent to read it."""

import re
from itertools import pairwise
from posixpath import join, normpath
from typing import Any

from heldout.transcript.bounds import PATHS

# Programs that print the content of the files they name: whether their first plain argument is a script or a pattern,
# and which of their options take the next argument.
_PRINTERS: dict[str, tuple[bool, frozenset[str]]] = {
    **dict.fromkeys(("cat", "less", "more", "tac", "nl"), (False, frozenset[str]())),
    **dict.fromkeys(("head", "tail"), (False, frozenset(("-n", "-c", "--lines", "--bytes")))),
    **dict.fromkeys(("cut", "sort", "uniq"), (False, frozenset(("-d", "-f", "-c", "-b", "-k", "-t", "-o", "-s")))),
    **dict.fromkeys(("strings", "xxd", "od"), (False, frozenset(("-n", "-l", "-s", "-j", "-N")))),
    **dict.fromkeys(
        ("grep", "egrep", "fgrep", "zgrep", "rg"),
        (True, frozenset(("-A", "-B", "-C", "-m", "-g", "-t", "--include", "--exclude", "--exclude-dir"))),
    ),
    "sed": (True, frozenset(("-l",))),
    **dict.fromkeys(("awk", "gawk"), (True, frozenset(("-F", "-v")))),
    "jq": (True, frozenset(("--indent", "--tab"))),
}
_NAMED = re.compile(rf"\b(?:{'|'.join(_PRINTERS)})\b")  # the name ends at a blank, a quote, a slash or a separator
_SCRIPT = re.compile(r"-[A-Za-z]*[ef]|--regexp|--file|--expression")  # options whose argument is the script
_SEPARATORS = frozenset(("|", "||", "&&", ";", "&", "\n", "(", ")"))
_TOKEN = re.compile(r"'[^']*'|\"(?:\\.|[^\"\\])*\"|\|\||&&|[|;&<>()\n]|(?:\\.|[^\s'\"|;&<>()\\])+")
_PREFIX = re.compile(r"([^\s:*?\"']{1,300}):")
DUAL = 4_096  # bytes: more than this received again counts as a second reading


def paths_of_command(command: str) -> list[str]:
    """Files whose content a shell command prints, as they are spelt: `cat a | grep x b; cd d && sed -n 1p c`."""
    command = command[:4_000]
    if _NAMED.search(command) is None:
        return []  # most commands print no file, and taking one apart costs as much as reading its line
    found: list[str] = []
    here = ""
    words: list[str] = []
    for token in [*_TOKEN.findall(command), ";"]:
        if token not in _SEPARATORS:
            words.append(token[1:-1] if token[0] in "'\"" else token)
            continue
        if words[:1] == ["cd"] and len(words) > 1:
            here = join(here, words[1])
        found += [join(here, path) for path in _printed(words)]
        words = []
    return found


def _printed(words: list[str]) -> list[str]:
    """The files that one simple command prints."""
    while words and "=" in words[0]:
        words = words[1:]  # variable assignments before the program
    inputs = [after for word, after in pairwise(words) if word == "<"]
    program = _PRINTERS.get(words[0].rsplit("/", 1)[-1]) if words else None
    if program is None:
        return []
    script, valued = program
    files: list[str] = []
    skip = False
    for word in words[1:]:
        if skip:
            skip = False
        elif word in ("<", ">") or word[-1:] == ">" or word in valued:
            skip = True
        elif word.startswith("-") and len(word) > 1:
            if script and _SCRIPT.fullmatch(word):
                script, skip = False, True
        elif script:
            script = False
        else:
            files.append(word)
    return files + inputs


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


def paths_of(action: dict[str, Any], cwd: str) -> dict[str, int]:
    """Absolute path -> bytes of the content of that file which a call's result held."""
    size, given = action["result_bytes"], action["input"]
    if not size:
        return {}
    spelt: dict[str, int] = action.get("_lines") or {}
    if not spelt and action["ok"]:
        path, command = given.get("file_path"), given.get("command")
        if action["tool"] == "Grep" and given.get("output_mode") == "content":
            path = given.get("path")
        if action["tool"] in ("Read", "Grep") and type(path) is str:
            spelt = {path: size}
        elif action["tool"] == "Bash" and type(command) is str:
            spelt = dict.fromkeys(paths_of_command(command), int(size))
    found: dict[str, int] = {}
    for path, count in spelt.items():
        if path and "\0" not in path:
            absolute = normpath(join(cwd, path))
            found[absolute] = found.get(absolute, 0) + count
    return found


def by_path(actions: list[dict[str, Any]], cwd: str, main: str = "main") -> dict[str, int]:
    """Bytes the main loop received of each path; where there are very many, those with the most."""
    sums: dict[str, int] = {}
    for action in actions:
        if action["agent"] == main:
            for path, count in paths_of(action, cwd).items():
                sums[path] = sums.get(path, 0) + count
    if len(sums) > PATHS:
        sums = dict(sorted(sums.items(), key=lambda item: -item[1])[:PATHS])
    return sums


def dual_reads(actions: list[dict[str, Any]], launched: dict[str, int], cwd: str, main: str = "main") -> list[str]:
    """Paths of which the main loop received more than DUAL bytes after a subagent that read them was launched.

    `launched`: agent -> line of the main transcript on which it, or the spawn it descends from, was called.
    """
    first: dict[str, int] = {}
    for action in actions:
        line = launched.get(action["agent"])
        if line is not None:
            for path in paths_of(action, cwd):
                first[path] = min(line, first.get(path, line))
    sums: dict[str, int] = {}
    for action in actions if first else []:
        if action["agent"] == main:
            for path, count in paths_of(action, cwd).items():
                if path in first and action["_answered"] > first[path]:
                    sums[path] = sums.get(path, 0) + count
    return [path for path, count in sums.items() if count > DUAL]
