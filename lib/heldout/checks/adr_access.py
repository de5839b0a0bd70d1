"""Which tool calls of a session reach the ADR system: its skills, its programs, or the files below docs/adr.

Only what a call itself names counts, never what its result or a hook says, and never a search of a wider folder that
passes over docs/adr on its way. The calls of subagents are calls of the session. A call of a tool other than Bash that
failed reached nothing; of a Bash command it cannot be told how far it came.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import pairwise
from typing import Any

from heldout.checks import codereads
from heldout.checks.adr_files import FOLDER
from heldout.checks.shell import DEPTH, RUNNERS, SHELLS, Simple, commands, left_in
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
_GIT_READS = {"show", "diff", "log", "grep", "blame", "cat-file", "ls-files", "ls-tree", "whatchanged", "archive"}
_GIT_HERE = {"grep", "ls-files", "ls-tree"}  # in the folder they run in, where they are given no path
_SEARCHES = {"grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack", "sed", "awk", "gawk", "jq", "git grep"}
_SCRIPT = re.compile(r"-[A-Za-z]*[ef]|--regexp(=.*)?|--expression(=.*)?|--file(=.*)?")
# They look at their own folder when they are given none.
_HERE = {"ls", "find", "tree", "rg", "ag", "ack", "grep", "du"}
_GLOBS = ("-g", "--glob", "--iglob")
_VALUED = {"-A", "-B", "-C", "-m", "-t", "--include", "--exclude", "--exclude-dir"}
_VALUED_OF = {"awk": {"-F", "-v"}, "gawk": {"-F", "-v"}, "sed": {"-l"}, "jq": {"--indent"}}
_OF_LOG = {"-S", "-G", "-L", "-n", "--grep", "--author", "--since", "--until", "--format", "--pretty"}
_VALUED_OF |= {f"git {name}": _OF_LOG for name in ("log", "show", "diff", "whatchanged", "blame")}
_KEPT_TO = ("-path", "-wholename", "-ipath", "-regex")


@dataclass(frozen=True)
class Access:
    """One call that reaches the system: `kind` is skill, program, read or write; `call` tells it in a few words."""

    kind: str
    call: str


def in_log(path: str) -> bool:
    """Whether a path, or a glob, is docs/adr or lies below it; `docs/*/0014*` does, `docs/*` is a listing of docs."""
    parts = path.split("/")
    return any(
        (part == "adr" and parts[place] in _PARENTS)
        or (part != "**" and parts[place] == "docs" and parts[place + 2 :] and fnmatchcase("adr", part))
        for place, part in enumerate(parts[1:])
    )


def accesses(context: Context) -> Iterator[Access]:
    """Every access of the session, in order. Raises Fault where there is no transcript."""
    cwd = context.cwd  # the client carries the main loop's folder from one Bash call to the next
    for action in context.facts["actions"]:
        given = action["input"] if isinstance(action["input"], Mapping) else {}
        if action["tool"] == "Bash":
            main = action["agent"] == "main"
            text, here = str(given.get("command", "")), cwd if main else context.cwd
            written = [path for path in write_targets(text, here, context.variables) if in_log(path)]
            yield from _of_text(context, text, here, written)
            yield from (Access("write", f"Bash writes {_below(path)}") for path in written)
            if main and action.get("ok"):
                moved = left_in(text, here, context.variables)
                cwd = moved if f"{moved}/".startswith(f"{context.cwd}/") else context.cwd
        elif action.get("ok") is not False:
            yield from _of_tool(context, action, given)


def _of_text(context: Context, text: str, here: str, written: list[str], depth: int = 0) -> Iterator[Access]:
    """What a command text runs and reads, the texts that its code gives to a shell included."""
    parts = commands(text, here, context.variables)
    inputs = [given for simple in parts for given in simple.inputs]
    for simple in parts:
        yield from _of_command(simple, written)
        for code in _code(simple, inputs):
            if any(in_log(f"/{path}") for path in codereads.paths(code)):
                yield Access("read", f"Bash: {simple.program} code that reads {FOLDER}")
            elif depth < DEPTH:
                for inner in codereads.shells(code):
                    yield from _of_text(context, inner, simple.cwd, written, depth + 1)
        if simple.program in SHELLS and depth < DEPTH and all(word.startswith("-") for word in simple.words[1:]):
            for inner in simple.inputs:
                yield from _of_text(context, inner, simple.cwd, written, depth + 1)


def _of_tool(context: Context, action: Mapping[str, Any], given: Mapping[str, Any]) -> Iterator[Access]:
    tool = action["tool"]
    if tool in ("Skill", "SlashCommand"):
        name = str(action.get("skill") or given.get("skill") or "").removeprefix("/").split(" ")[0]
        listed = context.facts["session"].get("skills")
        ours = name.startswith(f"{SYSTEM}:") and (name.partition(":")[2] in SKILLS or name in (listed or ()))
        if ours or (listed is None and name in SKILLS):
            yield Access("skill", f"Skill {name}")
        return
    path = str(given.get("file_path") or given.get("notebook_path") or given.get("path") or "")
    if tool in _EDITING and in_log(path):
        yield Access("write", f"{tool} {_below(path)}")
    elif tool in ("Read", "NotebookRead", "LS") and in_log(path):
        yield Access("read", f"{tool} {_below(path)}")
    elif tool in ("Glob", "Grep"):
        named = str(given.get("pattern" if tool == "Glob" else "glob") or "")
        reached = next(filter(in_log, braces(f"{path}/{named}")), None)
        if reached:
            yield Access("read", f"{tool} {_below(reached)}")


def _below(path: str) -> str:
    """A path from `docs/adr` on, for people."""
    _, found, below = path.rpartition("/adr")
    return FOLDER + below if found else path[path.rfind("docs/") :]


def _of_command(simple: Simple, written: list[str]) -> Iterator[Access]:
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


def _named(simple: Simple, program: str, words: list[str]) -> Iterator[str]:
    """The paths a command reads, absolute, braces expanded; its own folder where it names none."""
    yield from (path for word in simple.reads for path in simple.paths(word))
    if program in _NO_READERS or not program:
        return
    if program == "git":
        yield from _git_paths(simple, words)
        return
    plain = _find_paths(words) if program == "find" else _arguments(program, words)
    files = [word for word in plain if not word.startswith("-")]
    # To the shell of a Bash call `**` is `*`.
    yield from (path.replace("**", "*") for word in files for part in braces(word) for path in simple.paths(part))
    if not files and program in _HERE:
        yield from simple.cwds


def _git_paths(simple: Simple, words: list[str]) -> Iterator[str]:
    """What a reading command of git names; `HEAD:docs/adr/…` and `:docs/adr/…` name files of a commit and the index."""
    rest, cwds = list(words), simple.cwds
    while rest and rest[0].startswith("-"):
        if rest[0] == "-C" and rest[1:]:
            cwds = Simple(cwds=cwds).paths(rest[1])
        rest = rest[2 if rest[0] in ("-C", "-c") else 1 :]
    if not rest or rest[0] not in _GIT_READS:
        return
    named = [word for word in _arguments(f"git {rest[0]}", rest[1:]) if not word.startswith((":!", ":^", ":(exclude"))]
    found = [word.rpartition(":")[2].removeprefix("(top)") for word in named]
    if rest[0] in _GIT_HERE and not set(found) - {"HEAD"}:
        found.append(".")
    yield from (path for word in found for part in braces(word) for path in Simple(cwds=cwds).paths(part))


def _find_paths(words: list[str]) -> list[str]:
    """Where `find` starts, and the log where it is told to keep to it: the `*` of -path stands for `/` too."""
    start = next((place for place, word in enumerate(words) if word[:1] in "-!("), len(words))
    folders = [folder.rstrip("/") for folder in words[:start]] or ["."]
    for place, word in enumerate(words[:-1]):
        if (
            word in _KEPT_TO
            and words[place - 1] not in ("!", "-not")
            and "-prune" not in words
            and "adr" in words[place + 1]
        ):
            kept = words[place + 1] if word != "-regex" else re.sub(r"\.([*+])", "*", words[place + 1])
            whole = (f"{folder}/{FOLDER}".replace("docs/docs/", "docs/") for folder in folders)
            if any(
                fnmatchcase(end, kept) for path in whole for end in (path, f"{path}/0001-x.md", f"{path}/0014-x.md")
            ):
                return [*words[:start], FOLDER]
    return words[:start]


def _arguments(program: str, words: list[str]) -> list[str]:
    """The plain arguments of a command without the pattern or script of a searching program, and without values."""
    if program not in _SEARCHES and program not in _VALUED_OF:
        return [word for word in words if not word.startswith("-")]
    valued = _VALUED_OF.get(program, _VALUED)
    script = program in _SEARCHES and not any(_SCRIPT.fullmatch(word) or word == "--files" for word in words)
    found: list[str] = []
    before, ended = "", False
    for word in words:
        taken, before = before, ""
        if taken in _GLOBS:
            found.append(word)
        elif taken:
            continue
        elif not ended and word == "--":
            ended = True
        elif not ended and (word in valued or word in _GLOBS or (_SCRIPT.fullmatch(word) and "=" not in word)):
            before = word
        elif not ended and word.startswith("-"):
            found += [value for name, _, value in [word.partition("=")] if value and name in _GLOBS]
        elif script:
            script = False
        else:
            found.append(word)
    return found


def _code(simple: Simple, inputs: list[str]) -> list[str]:
    """The code that an interpreter is given on the command line or, without a file to run, on standard input."""
    if not _INTERPRETERS.fullmatch(simple.program):
        return []
    words = simple.words[1:]
    given = [after for word, after in pairwise(words) if _CODE.fullmatch(word)]
    return given or (simple.inputs or inputs if all(word.startswith("-") for word in words) else [])
