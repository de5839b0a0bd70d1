"""Check words: what one is, what it may read, and the registry that a scenario's axes are written in.

A word is one small documented function `(context, **arguments) -> Finding`, registered by its name. Its
arguments are declared, so that every mistake in a scenario is an error before anything runs.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from heldout.cell import Record
from heldout.errors import Fault
from heldout.hashes import of_bytes
from heldout.judgements import Judgement
from heldout.scenario import Scenario
from heldout.tree import MAX_FILE, Entry, Tree

if TYPE_CHECKING:
    from heldout.sandbox import Found

PASS, FAIL, UNDECIDED = "pass", "fail", "undecided"


@dataclass(frozen=True)
class Finding:
    """What a word found. `evidence` says why, naming file, expected and found; `via` is the route that passed.

    `notes` are paths that later axes may look at; `info` goes to the row; `code` is the ERROR code of an undecided one;
    `failed` names the words that failed.
    """

    outcome: str
    evidence: tuple[str, ...] = ()
    via: str = ""
    info: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    code: str = ""
    judged: bool = False
    failed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Question:
    """A judge is to be asked `rubric` (a name) about `text`."""

    rubric: str
    text: str


@dataclass
class Context:
    """Everything a word may look at; what is missing raises Fault, which leaves the word undecided.

    `facts_or_fault` is bin/extract's output, a Fault saying why there is none, or None where no transcript belongs to
    the target. `before` gives the starting bytes of a file that the agent changed or deleted.
    """

    scenario: Scenario
    tree_or_fault: Tree | Fault | None = None
    start: Mapping[str, Entry] | None = None
    before: Callable[[str], bytes] | None = None
    facts_or_fault: Mapping[str, Any] | Fault | None = None
    trace_or_fault: Any = None
    record: Record | None = None
    judgements: Sequence[Judgement] = ()
    earlier: dict[str, Finding] = field(default_factory=dict)
    pending: list[Question] = field(default_factory=list)

    @property
    def tree(self) -> Tree:
        return _given(self.tree_or_fault, "sandbox-error", "no sandbox belongs to the target")

    @property
    def facts(self) -> Mapping[str, Any]:
        return _given(self.facts_or_fault, "no-transcript", "no transcript belongs to the target")

    def refuse_lost(self) -> None:
        """Raise Fault where the facts leave out a part of the session: what is not there cannot be told from it.

        Where there are no facts at all, the word that reads them says so.
        """
        source = self.facts_or_fault.get("source", {}) if isinstance(self.facts_or_fault, Mapping) else {}
        for name, what in (("oversized", "lines too long to be read"), ("actions_omitted", "calls more than are kept")):
            if source.get(name):
                raise Fault("unreadable-transcript", f"the transcript has {source[name]} {what}")

    def refuse_cut(self) -> None:
        """Raise Fault where a command is not whole: what it did not do cannot be told from its beginning."""
        for action in self.facts["actions"]:
            if "command" in action.get("cut", ()):
                raise Fault("unreadable-transcript", f"call {action['n']} is too long to be kept whole")

    @property
    def visible_text(self) -> list[str]:
        """Every text block of the main loop, in order."""
        answers = self.facts["answers"]
        if answers.get("visible_text_omitted"):
            raise Fault("unreadable-transcript", "the session says more than is kept of it")
        return answers["visible_text"]

    @property
    def trace(self) -> Any:
        return _given(self.trace_or_fault, "no-transcript", "no trace belongs to the target")

    @property
    def message(self) -> str:
        return self.facts["answers"]["final_message"] or ""

    @property
    def cwd(self) -> str:
        """The agent's working directory, absolute."""
        return (self.record.cwd if self.record else "") or self.facts["session"].get("cwd") or "/"

    @property
    def homes(self) -> list[str]:
        """Home folders a tool call may mean: the cell's own first, then the user's."""
        return self.record.homes if self.record and self.record.homes else [os.path.expanduser("~")]

    def shadowed(self, name: str) -> list[str]:
        """The user's own value of a variable that the scenario sets, where there was one."""
        return [self.record.shadowed[name]] if self.record and name in self.record.shadowed else []

    @property
    def variables(self) -> dict[str, str]:
        """Shell variables whose values are known: the scenario's, HOME and PWD."""
        sandbox = self.record.sandbox if self.record else "{sandbox}"
        own = {name: value.replace("{sandbox}", sandbox) for name, value in self.scenario.env.items()}
        return {**own, "HOME": self.homes[0], "PWD": self.cwd}

    def resolved(self, path: str) -> str:
        """A path of a tool call with the sandbox's own new links followed: where the write really went."""
        sandbox, links = (self.record.sandbox, self.record.links) if self.record else ("", {})
        for _ in links:
            for link, target in links.items():
                place = f"{sandbox}/{link}"
                if f"{path}/".startswith(f"{place}/"):
                    path = os.path.normpath(os.path.join(os.path.dirname(place), target) + path[len(place) :])
        return path

    def changed(self, folder: str) -> list[str]:
        """Regular files below `folder` that are new or whose content changed, sorted; chmod and mtime are nothing.

        Raises Fault where it cannot be told: nothing is left of the folder, or a file was too much to keep.
        """
        start, here = self._start(), self.tree.below(folder)
        if not here and any(path.startswith(f"{folder}/") for path, item in start.items() if item.kind == "file"):
            raise Fault("sandbox-error", f"nothing is left below '{folder}'")
        changed = [path for path in here if path not in start or start[path].sha256 != of_bytes(self.tree.read(path))]
        for path, size in self.tree.left_out.items():
            if path.startswith(f"{folder}/"):
                if path in start and size <= MAX_FILE:
                    raise Fault("sandbox-error", f"'{path}' was not kept: the sandbox was too large")
                changed.append(path)
        return sorted(changed)

    def new_links(self, folder: str) -> list[str]:
        """Symbolic links below `folder` that are new or lead elsewhere."""
        start = self._start()
        links = {path: target for path, target in self.tree.links.items() if path.startswith(f"{folder}/")}
        return sorted(
            path for path, target in links.items() if path not in start or start[path].sha256 != _of_link(target)
        )

    def deleted(self, folder: str) -> list[str]:
        """Regular files of the start that are no longer there."""
        here = {*self.tree.below(folder), *self.tree.left_out}
        files = (path for path, item in self._start().items() if item.kind == "file")
        return [path for path in files if path.startswith(f"{folder}/") and path not in here]

    def added_text(self, path: str) -> str:
        """The whole text of a new file; of a changed one the lines that were not there before."""
        added = self.added_lines(path)
        if added is None:
            return self.tree.text(path)
        after = self.tree.text(path).splitlines()
        return "\n".join(after[place] for place in added)

    def added_lines(self, path: str) -> list[int] | None:
        """Which lines of a changed file, counted from 0, were not there before; None of a new file: all of them."""
        if path in self.tree.left_out:
            raise Fault("sandbox-error", f"'{path}' was too large to keep")
        if path not in self._start():
            return None
        return [place for _, low, high in self._changes(path, self.tree.text(path)) for place in range(low, high)]

    def taken_text(self, path: str) -> str:
        """The lines of a changed file, or of one that is gone, that were there before and are no more."""
        if path not in self._start() or path in self.tree.left_out:
            return ""
        after = self.tree.text(path) if path in self.tree.files else ""
        return "\n".join(line for old, _, _ in self._changes(path, after) for line in old)

    def _changes(self, path: str, after: str) -> list[tuple[list[str], int, int]]:
        """What of a file changed: the lines that were there, and the range of lines of `after` in their place."""
        import difflib

        if self.before is None:
            raise Fault("sandbox-error", f"the starting content of '{path}' was not kept")
        old = self.before(path).decode("utf-8-sig", "replace").splitlines()
        matcher = difflib.SequenceMatcher(None, old, after.splitlines(), autojunk=False)
        return [(old[a:b], low, high) for tag, a, b, low, high in matcher.get_opcodes() if tag != "equal"]

    def _start(self) -> Mapping[str, Entry]:
        if self.start is None:
            raise Fault("sandbox-error", "no start.tsv belongs to the target")
        return self.start


def _given(value: Any, code: str, missing: str) -> Any:
    """What a target has; its Fault where it could not be read, a Fault `code` where it has none."""
    if isinstance(value, Fault):
        raise value
    if value is None:
        raise Fault(code, missing)
    return value


def _of_link(target: str) -> str:
    return of_bytes(os.fsencode(target))


@dataclass(frozen=True)
class Argument:
    """One argument of a word.

    `kind` is patterns, concepts, code, keywords, alternatives, texts, text, path, number, flag or rubric. Concepts map
    names to patterns, alternatives map names to keywords, which are literal (`heldout.checks.keywords`), and code maps
    globs of paths to patterns over code, which unlike the others need no phrases. `reads` gives the part of a text that
    patterns or concepts are looked for in; by itself the whole. `wrong` tells what is wrong with a value, or ''.
    """

    kind: str
    default: Any = None
    required: bool = True
    reads: Callable[[str], str] = str
    wrong: Callable[[Any], str] = lambda value: ""


@dataclass(frozen=True)
class Slip:
    """What is wrong with a use of a word: in one of its arguments, or in the word itself where `argument` is ''."""

    told: str
    argument: str = ""
    mend: str = ""


@dataclass(frozen=True)
class Use:
    """A word as a scenario uses it: in the axis `letter`, with the arguments `given`, defaults filled in.

    `before` names the words of the axes before that one.
    """

    scenario: Scenario
    letter: str
    given: Mapping[str, Any]
    before: frozenset[str] = frozenset()

    @cached_property
    def start(self) -> "Found":
        """The files and links that an agent finds. Raises Fault where the fixture's `prepare` fails."""
        from heldout import sandbox  # most words have nothing to do with it

        return sandbox.found(self.scenario)


def _none(use: Use) -> Iterable[Slip]:
    return ()


@dataclass(frozen=True)
class Word:
    """One word. `slips` tells what is wrong with a use of it that no argument shows by itself: nobody could pass it, or
    nobody fail, or it would be undecided in every session."""

    name: str
    function: Callable[..., Finding]
    needs: tuple[str, ...]
    arguments: Mapping[str, Argument]
    slips: Callable[[Use], Iterable[Slip]] = _none

    @property
    def scalar(self) -> str | None:
        """The argument that `{word: value}` without a mapping gives: the first one."""
        return next(iter(self.arguments), None)


WORDS: dict[str, Word] = {}


def word(
    *needs: str, slips: Callable[[Use], Iterable[Slip]] = _none, **arguments: Argument
) -> Callable[[Callable[..., Finding]], Callable[..., Finding]]:
    """Register a check word; `needs` out of sandbox, facts, message, trace, judge."""

    def register(function: Callable[..., Finding]) -> Callable[..., Finding]:
        name: str = function.__name__
        assert name not in WORDS and function.__doc__, name
        WORDS[name] = Word(name, function, needs, arguments, slips)
        return function

    return register


def patterns(reads: Callable[[str], str] = str) -> Argument:
    """A list of regular expressions; all of them count (the word says how)."""
    return Argument("patterns", reads=reads)


def optional(kind: str, default: Any, wrong: Callable[[Any], str] = lambda value: "") -> Argument:
    return Argument(kind, default, required=False, wrong=wrong)


def whole(least: int) -> Argument:
    """A whole number of at least `least`."""

    def wrong(value: Any) -> str:
        return "" if isinstance(value, int) and value >= least else f"is {value}, expected a whole number from {least}"

    return Argument("number", wrong=wrong)


def passes(*evidence: str, **more: Any) -> Finding:
    return Finding(PASS, evidence, **more)


def fails(*evidence: str, **more: Any) -> Finding:
    return Finding(FAIL, evidence, **more)
