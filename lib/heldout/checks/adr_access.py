"""Which tool calls of a session reach the ADR system: its skills, its programs, or the files below docs/adr.

Only what a call itself names counts, never what its result or a hook says, and never a search of a wider folder that
passes over docs/adr on its way. The calls of subagents are calls of the session.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from heldout.checks.adr_files import FOLDER
from heldout.checks.shell import RUNNERS, Simple, commands, left_in
from heldout.checks.shellwrites import braces, write_targets
from heldout.checks.words import Context

SYSTEM = "os-adr"
SKILLS = ("create", "supersede", "find", "init", "migrate")
_PROGRAM = re.compile(r"adr-[a-z]+")
_PARENTS = ("docs", "*", "**")  # what may stand before `adr` in a path or a glob
_EDITING = ("Write", "Edit", "MultiEdit", "NotebookEdit")
_INTERPRETERS = re.compile(r"(?:python|ruby|perl|node|php)[0-9.]*")
_CODE = re.compile(r"-[a-zA-Z]*[ce]|--eval|-p")
# Programs whose arguments are no files that they read.
_NO_READERS = {"echo", "printf", "cd", "pushd", "popd", "test", "[", "[[", "mkdir", "touch", "rm", "rmdir", "unlink"}
_NO_READERS |= {"chmod", "chown", "export", "true", ":", "which", "type", *RUNNERS}
_GIT_READS = {"show", "diff", "log", "grep", "blame", "cat-file", "ls-files", "ls-tree", "whatchanged"}
_SEARCHES = {"grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack", "sed", "awk", "gawk", "jq"}
_SCRIPT = re.compile(r"-[A-Za-z]*[ef]|--regexp(=.*)?|--expression(=.*)?|--file(=.*)?")
# They look at their own folder when they are given none.
_HERE = {"ls", "find", "tree", "rg", "ag", "ack", "grep", "du"}
_GLOBS = ("-g", "--glob", "--iglob")
_VALUED = {"-A", "-B", "-C", "-m", "-t", "--include", "--exclude", "--exclude-dir"}
_VALUED_OF = {"awk": {"-F", "-v"}, "gawk": {"-F", "-v"}, "sed": {"-l"}, "jq": {"--indent"}}


@dataclass(frozen=True)
class Access:
    """One call that reaches the system: `kind` is skill, program, read or write; `call` tells it in a few words."""

    kind: str
    call: str


def in_log(path: str) -> bool:
    """Whether a path, or a glob, is docs/adr or lies below it."""
    parts = path.split("/")
    return any(part == "adr" and parts[place - 1] in _PARENTS for place, part in enumerate(parts) if place)


def accesses(context: Context) -> Iterator[Access]:
    """Every access of the session, in order. Raises Fault where there is no transcript."""
    cwd = context.cwd  # the client carries the main loop's folder from one Bash call to the next
    for action in context.facts["actions"]:
        given = action["input"] if isinstance(action["input"], Mapping) else {}
        if action["tool"] == "Bash":
            main = action["agent"] == "main"
            text, here = str(given.get("command", "")), cwd if main else context.cwd
            written = [path for path in write_targets(text, here, context.variables) if in_log(path)]
            for simple in commands(text, here, context.variables):
                yield from _of_command(simple, text, written)
            yield from (Access("write", f"Bash writes {_below(path)}") for path in written)
            if main and action.get("ok"):
                moved = left_in(text, here, context.variables)
                cwd = moved if f"{moved}/".startswith(f"{context.cwd}/") else context.cwd
        else:
            yield from _of_tool(context, action, given)


def _of_tool(context: Context, action: Mapping[str, Any], given: Mapping[str, Any]) -> Iterator[Access]:
    tool = action["tool"]
    if tool in ("Skill", "SlashCommand"):
        name = str(action.get("skill") or given.get("skill") or "").removeprefix("/").split(" ")[0]
        unlisted = context.facts["session"].get("skills") is None
        if name.startswith(f"{SYSTEM}:") or (unlisted and name in SKILLS):
            yield Access("skill", f"Skill {name}")
        return
    path = str(given.get("file_path") or given.get("notebook_path") or given.get("path") or "")
    if tool in _EDITING and in_log(path):
        yield Access("write", f"{tool} {_below(path)}")
    elif tool in ("Read", "NotebookRead", "LS") and in_log(path):
        yield Access("read", f"{tool} {_below(path)}")
    elif tool in ("Glob", "Grep"):
        named = str(given.get("pattern" if tool == "Glob" else "glob") or "")
        if in_log(f"{path}/{named}"):
            yield Access("read", f"{tool} {_below(f'{path}/{named}')}")


def _below(path: str) -> str:
    """A path from `docs/adr` on, for people."""
    return FOLDER + path.rpartition("/adr")[2]


def _of_command(simple: Simple, text: str, written: list[str]) -> Iterator[Access]:
    program, words = simple.program, simple.words[1:]
    if _INTERPRETERS.fullmatch(program) or program in ("sh", "bash", "dash", "zsh", "."):
        script = next((word for word in words if not word.startswith("-")), "")
        run = script.rpartition("/")[2]
    else:
        run = program
    if _PROGRAM.fullmatch(run):
        yield Access("program", f"Bash runs {run}")
        return
    for path in _named(simple, program, words):
        if in_log(path) and path not in written:
            yield Access("read", f"Bash: {program} {_below(path)}")
    if _INTERPRETERS.fullmatch(program) and _mentions(words, text):
        yield Access("read", f"Bash: {program} code that names {FOLDER}")


def _named(simple: Simple, program: str, words: list[str]) -> Iterator[str]:
    """The paths a command reads, absolute, braces expanded; its own folder where it names none."""
    yield from (path for word in simple.reads for path in simple.paths(word))
    if program in _NO_READERS or not program:
        return
    if program == "git":
        plain = _git_paths(words)
    elif program == "find":
        plain = _find_paths(words)
    else:
        plain = _arguments(program, words)
    files = [word for word in plain if not word.startswith("-")]
    yield from (path for word in files for part in braces(word) for path in simple.paths(part))
    if not files and program in _HERE:
        yield from simple.cwds


def _git_paths(words: list[str]) -> list[str]:
    """What a reading command of git names; `HEAD:docs/adr/…` names a file of a commit."""
    rest = list(words)
    while rest and rest[0].startswith("-"):
        rest = rest[2 if rest[0] in ("-C", "-c") else 1 :]
    if not rest or rest[0] not in _GIT_READS:
        return []
    named = _arguments("grep", rest[1:]) if rest[0] == "grep" else rest[1:]
    return [word.rpartition(":")[2] if re.match(r"[\w./~^@{}-]+:", word) else word for word in named]


def _find_paths(words: list[str]) -> list[str]:
    """Where `find` starts, and the folders that it is told to keep to."""
    start = next((place for place, word in enumerate(words) if word[:1] in "-!("), len(words))
    kept = [
        words[place + 1]
        for place, word in enumerate(words[:-1])
        if word in ("-path", "-wholename", "-ipath") and words[place - 1] not in ("!", "-not") and "-prune" not in words
    ]
    return words[:start] + kept


def _arguments(program: str, words: list[str]) -> list[str]:
    """The plain arguments of a command without the pattern or script of a searching program, and without values."""
    if program not in _SEARCHES:
        return [word for word in words if not word.startswith("-")]
    valued = _VALUED_OF.get(program, _VALUED)
    script = not any(_SCRIPT.fullmatch(word) for word in words)
    found: list[str] = []
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word in valued or (_SCRIPT.fullmatch(word) and "=" not in word):
            skip = True
        elif word in _GLOBS or word.startswith("-"):
            continue
        elif script:
            script = False
        else:
            found.append(word)
    return found


def _mentions(words: list[str], text: str) -> bool:
    """Whether code given on the command line, or on standard input, names docs/adr."""
    code = [after for word, after in pairwise(words) if _CODE.fullmatch(word)]
    if not code and all(word.startswith("-") for word in words):
        code = [text]
    return any(re.search(rf"(?<![\w-]){FOLDER}(?![\w-])", item) for item in code)
