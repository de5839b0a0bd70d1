"""Check words of the suite adr-unprompted: was the ADR system used unprompted, and for the right thing?"""

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import PurePosixPath

from heldout.checks import starting
from heldout.checks.adr_access import accesses
from heldout.checks.adr_files import FOLDER, INDEX, number_of
from heldout.checks.citations import cited, objected
from heldout.checks.decided import decided
from heldout.checks.patterns import found, missing
from heldout.checks.rubycode import comments, lines, methods, with_helpers
from heldout.checks.words import PASS, Argument, Context, Finding, Slip, Use, fails, optional, passes, patterns, word
from heldout.yamlfile import near_miss

_NOT_WRITTEN = (f"{FOLDER}/{INDEX}", "graphify-out/")  # generated: their lines are nobody's words
_TESTS = ("test/", "spec/")
_CODE = ".rb"
Code = Mapping[str, list[str]]  # glob of paths -> patterns


def _project(context: Context, path: str) -> str:
    return path.removeprefix(f"{context.scenario.repository}/")


def _changed(context: Context) -> list[str]:
    """What the agent wrote in the project, as sandbox paths."""
    paths = context.changed(context.scenario.repository)
    return [path for path in paths if not _project(context, path).startswith(_NOT_WRITTEN)]


def _new_adrs(context: Context) -> list[str]:
    project, start = context.scenario.repository, context.start or {}
    changed = context.changed(f"{project}/{FOLDER}")
    return [path for path in changed if path not in start and number_of(path, project) is not None]


@word("facts", "sandbox")
def adr_consulted(context: Context) -> Finding:
    """A tool call, a subagent's too, runs an os-adr skill or an adr-* program or reads or writes in docs/adr.

    Or a file there is new or changed. Text that merely passes by in a result or a hook counts for nothing.
    """
    made = context.changed(f"{context.scenario.repository}/{FOLDER}")
    seen = list(accesses(context)) if not made or isinstance(context.facts_or_fault, Mapping) else []
    kinds = list(dict.fromkeys([access.kind for access in seen] + ["file"] * bool(made)))
    if kinds:
        told = dict.fromkeys([access.call for access in seen] + [f"{path} is new or changed" for path in made])
        return passes(*told, via=kinds[0], info={"consulted": ",".join(kinds)})
    context.refuse_cut()
    count = len(context.facts["actions"])
    return fails(f"none of {count} tool calls runs an os-adr skill or an adr-* program or names a file of {FOLDER}")


@word("sandbox", decision=patterns(reads=decided))
def adr_recorded(context: Context, decision: list[str]) -> Finding:
    """A new docs/adr/NNNN-*.md decides what all patterns of DECISION match (`heldout.checks.decided`)."""
    reasons: list[str] = []
    for path in _new_adrs(context):
        lacking = missing(decision, decided(context.tree.text(path)))
        if not lacking:
            return passes(f"{path} records the decision", via="written", notes=(path,))
        which = decision.index(lacking[0]) + 1
        reasons.append(f"new ADR {path} is about something else: it does not match pattern {which} of {len(decision)}")
    return fails(*(reasons or [f"no new ADR below {context.scenario.repository}/{FOLDER}"]))


@word("sandbox", slips=starting.log)
def no_new_adr(context: Context) -> Finding:
    """No docs/adr/NNNN-*.md is new. Only then may a judge look at the final message."""
    new = _new_adrs(context)
    return fails(f"{new[0]} is new, so the final message decides nothing") if new else passes("no new ADR file")


def _applicable(use: Use) -> Iterator[Slip]:
    """The ADRs are on record, and each glob leads into a folder that is there: the file itself may be the agent's."""
    for name in ("correct", "distractors"):
        yield from starting.known_adrs(use, name, use.given[name])
    for number in set(use.given["correct"]) & set(use.given["distractors"]):
        yield Slip(f"names ADR '{number}', which is one of 'correct'", "distractors")
    project = use.scenario.repository
    files = [path.removeprefix(f"{project}/") for path in use.start.below(project)]
    folders = {str(PurePosixPath(path).parent) for path in files}
    for name in ("acted_right", "acted_wrong", "acted_against"):
        for glob in use.given[name]:
            place = str(PurePosixPath(glob).parent)
            if not any(fnmatchcase(path, glob) for path in files) and not any(fnmatchcase(at, place) for at in folders):
                told = f"has '{glob}', and fixture/{use.scenario.fixture}/{project} has no such file and no such folder"
                yield Slip(told, name, near_miss(glob, files))


@word(
    "sandbox",
    "facts",
    slips=_applicable,
    correct=Argument("texts", wrong=starting.adr_numbers),
    distractors=Argument("texts", wrong=starting.adr_numbers),
    acted_right=Argument("code"),
    acted_wrong=optional("code", {}),
    acted_against=optional("code", {}),
)
def adr_applied(
    context: Context,
    correct: list[str],
    distractors: list[str],
    acted_right: Code,
    acted_wrong: Code,
    acted_against: Code,
) -> Finding:
    """The CORRECT ADR was followed: by what the tree shows, else by the ids that the agent's own words cite.

    ACTED_RIGHT, _WRONG and _AGAINST map globs of paths to patterns that the added code of one such file all matches
    (`heldout.checks.rubycode`). Where the tree shows neither right nor wrong, the words must cite one of CORRECT and
    none of DISTRACTORS as holding. What is acted AGAINST it may be done by whoever says so: it undoes what was right
    but for a new ADR, and the citation must stand beside a word of the conflict.
    """
    wrong, right = _acting(context, acted_wrong, taken=True), _acting(context, acted_right)
    expected = "/".join(correct)
    if wrong:
        return fails(f"{wrong} acts against ADR {expected} (decided by the tree)", via="acted")
    against = "" if right.startswith(FOLDER) else _acting(context, acted_against)
    if right and not against:
        return passes(f"{right} acts on ADR {expected} (decided by the tree)", via="acted")
    said = "\n\n".join(_own_words(context))
    if not against:
        return _citing(said, correct, distractors)
    numbers = {int(number) for number in correct}
    if any(objected(text, numbers) for text in _remarks(context)):
        # Whoever says that the work goes against the ADR names what it goes back to, its predecessor most of all.
        return _citing(said, correct, [])
    finding = _citing(said, correct, distractors)
    if finding.outcome != PASS:
        return finding
    told = f"{against} acts against ADR {expected}, which is cited without a word on that (decided by the tree)"
    return fails(told, via="cited", info=finding.info)


def _citing(said: str, correct: list[str], distractors: list[str]) -> Finding:
    held, mentioned = cited(said)
    expected = "/".join(correct)
    info = {"cited": ",".join(f"{number:04d}" for number in sorted(held))} if held else {}
    astray = [number for number in distractors if int(number) in held]
    if astray:
        told = f"cites the distractor {', '.join(astray)}, expected {expected} (decided by the ids cited)"
        return fails(told, via="cited", info=info)
    # The correct one may be named as what speaks against the work: any mention of it is a citation.
    if not any(int(number) in held | mentioned for number in correct):
        named = info.get("cited", "no ADR")
        return fails(f"cites {named}, expected {expected} (decided by the ids cited)", via="cited", info=info)
    return passes(f"cites {expected} and no distractor", via="cited", info=info)


def _acting(context: Context, wanted: Code, *, taken: bool = False) -> str:
    """The first changed file whose added code matches all patterns of a glob that fits its path, or ''.

    With `taken`, of a file that is no code what was taken out of it counts as well, and a file that is gone.
    """
    changed = _changed(context)
    gone = context.deleted(context.scenario.repository) if taken else []
    for path in [*changed, *(path for path in gone if not path.endswith(_CODE))]:
        inner = _project(context, path)
        fitting = [items for glob, items in wanted.items() if fnmatchcase(inner, glob)]
        if fitting:
            code = "" if path in gone else _code(context, path, changed)
            if taken and not path.endswith(_CODE):
                code += context.taken_text(path)
            if any(all(found(item, code) is not None for item in items) for items in fitting):
                return inner
    return ""


def _code(context: Context, path: str, changed: list[str]) -> str:
    """The added lines of a file; those of Ruby as `heldout.checks.rubycode` gives them, with the methods they call."""
    if not path.endswith(_CODE):
        return context.added_text(path)
    helpers: dict[str, str] = {}
    for other in changed:
        # What the program does is not in its tests, whose methods may well have the names of its variables.
        if other != path and other.endswith(_CODE) and not _project(context, other).startswith(_TESTS):
            for name, body in methods(*_ruby(context, other)):
                helpers[name] = helpers.get(name, "") + body
    code, added = _ruby(context, path)
    return with_helpers("\n".join(code[place] for place in added), "\n".join(code), helpers)


def _ruby(context: Context, path: str) -> tuple[list[str], list[int]]:
    """The code of a Ruby file, and which of its lines were added."""
    code, added = lines(context.tree.text(path)), context.added_lines(path)
    return code, list(range(len(code))) if added is None else added


def _own_words(context: Context) -> list[str]:
    """What the agent said and what it wrote; never what it read."""
    return [*context.visible_text, *(context.added_text(path) for path in _changed(context))]


def _remarks(context: Context) -> list[str]:
    """The agent's own words without its code: of Ruby the comments."""
    written = [(path, context.added_text(path)) for path in _changed(context)]
    remarks = [comments(text) if path.endswith(_CODE) else text for path, text in written]
    return [*context.visible_text, *remarks]
