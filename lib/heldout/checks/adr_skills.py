"""Check words of the suite adr-skills: what a prompted agent recorded, linked, found and answered, and left alone.

They need the sandbox alone, so that a session without a transcript is scored as well.
"""

import re
from collections.abc import Iterator

from heldout.checks import adr_files, citations, starting
from heldout.checks.adr_files import FOLDER, INDEX, STATUSES, Adr, padded
from heldout.checks.patterns import normal
from heldout.checks.words import Argument, Context, Finding, Slip, Use, fails, optional, passes, word
from heldout.prompts import ANSWER
from heldout.yamlfile import near_miss

CACHE = "__pycache__"  # running the project's tests is no change of it
NONE_NEW = f"no ADR in {FOLDER} is new"
JOINING = 3  # letters of the longest word that only joins others
_LABEL = re.compile(r"^[^:|]{0,20}[:|](?=.)")
_AROUND = re.compile(r"^[\W_]+|[\W_]+$")
KEPT_SHARE = 0.8  # of the words of a log's entry; a sentence that only gave the date may go


def _all(context: Context) -> list[Adr]:
    return adr_files.read(context.tree, context.scenario.repository)


def _new(context: Context) -> list[Adr]:
    changed = set(context.changed(context.scenario.repository))
    return [adr for adr in _all(context) if adr.path in changed and adr.path not in (context.start or {})]


def _numbers_before(context: Context) -> dict[str, int]:
    """Path and number of each ADR that the agent found."""
    numbered = ((path, adr_files.number_of(path, context.scenario.repository)) for path in context.start or {})
    return {path: number for path, number in numbered if number is not None}


def _governs_a_file(use: Use) -> Iterator[Slip]:
    yield from starting.file(use, "affects")


def _not_a_status(value: str) -> str:
    return "" if value in STATUSES else f"is '{value}', expected one of {', '.join(STATUSES)}"


def _not_a_date(value: str) -> str:
    return "" if re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", value) else f"is '{value}', expected YYYY-MM-DD"


def _no_word(value: str) -> str:
    return "" if _words(value) else f"is '{value}', which has no word"


@word(
    "sandbox",
    slips=_governs_a_file,
    title=Argument("text", wrong=_no_word),
    status=Argument("text", wrong=_not_a_status),
    date=Argument("text", wrong=_not_a_date),
    affects=Argument("path"),
    decision=optional("texts", ()),
)
def new_adr(context: Context, title: str, status: str, date: str, affects: str, decision: list[str]) -> Finding:
    """Exactly one ADR is new, with the next number, TITLE, STATUS and DATE; it governs the file AFFECTS.

    Its section Decision names each text of DECISION, in whatever case. The slug is made of words of the title, and of
    small ones (in, of, the) that join them.
    """
    new, expected = _new(context), padded(max(_numbers_before(context).values(), default=0) + 1)
    if len(new) != 1:
        names = ", ".join(adr.name for adr in new)
        return fails(f"{len(new)} ADRs are new ({names}), expected {expected} alone" if new else NONE_NEW)
    adr = new[0]
    reasons = [] if adr.id == expected else [f"{adr.id} is not the next number, {expected}"]
    if not _made_of(adr.slug, title):
        reasons.append(f"{adr.id} slug '{adr.slug}' is not made of the title '{title}'")
    reasons += list(_other_values(adr, title=title, status=status, date=date))
    governed = _inside(context, affects)
    if not adr.problem and not adr_files.governs(adr, governed):
        reasons.append(f"{adr.id} affected-paths {adr.items('affected-paths')} do not cover '{governed}'")
    text = normal(adr.section("Decision")).lower()
    reasons += [f"{adr.id} section Decision lacks '{item}'" for item in decision if item.lower() not in text]
    return fails(*reasons) if reasons else passes(f"{adr.name} is as asked for", notes=(adr.path,))


def _made_of(slug: str, title: str) -> bool:
    """Whether the words of a slug stand in the title, and at least one does; what joins them need not."""
    words, known = slug.split("-"), set(_words(title))
    return not known.isdisjoint(words) and all(word in known for word in words if len(word) > JOINING)


def _inside(context: Context, path: str) -> str:
    """A path of the sandbox as seen from the project."""
    return path.removeprefix(f"{context.scenario.repository}/")


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", normal(text).lower())


def _other_values(adr: Adr, **expected: str) -> Iterator[str]:
    """The front matter's values that are not those expected; a title in other case or spacing is the same."""
    for key, value in expected.items() if not adr.problem else ():
        found = adr.word(key)
        if normal(found).lower() != normal(value).lower() if key == "title" else found != value:
            yield f"{adr.id} {key} '{found}' != '{value}'"


@word("sandbox")
def adr_form(context: Context) -> Finding:
    """Every new ADR keeps the invariants of its file, an Accepted one names files that exist, and all links stand."""
    new = _new(context)
    if not new:
        return fails(NONE_NEW)
    reasons = [line for adr in new for line in adr_files.broken(adr)]
    reasons += list(adr_files.unlinked(_all(context)))
    files = [_inside(context, path) for path in context.tree.files]
    for adr in new:
        if adr.word("status") == "Accepted" and (idle := adr_files.idle_paths(adr, files)):
            reasons.append(f"{adr.id} affected-paths {idle} match no file")
    return fails(*reasons) if reasons else passes(f"{len(new)} new ADRs keep the invariants")


def _two_adrs(use: Use) -> Iterator[Slip]:
    """Where there is a log at the start, the old one is on it; else it is the agent that makes both."""
    if starting.adrs(use):
        yield from starting.known_adrs(use, "old", [use.given["old"]])
    if use.given["old"] == use.given["new"]:
        yield Slip(f"is '{use.given['new']}', which is 'old' too", "new")


@word(
    "sandbox",
    slips=_two_adrs,
    old=Argument("text", wrong=starting.adr_number),
    new=Argument("text", wrong=starting.adr_number),
)
def adr_superseded(context: Context, old: str, new: str) -> Finding:
    """The ADR OLD is superseded by the ADR NEW, both name each other, and OLD changed in nothing else."""
    by_id = {adr.id: adr for adr in _all(context)}
    reasons = [f"there is no ADR {item}" for item in (old, new) if item not in by_id]
    if old in by_id:
        before = by_id[old]
        if before.word("status") != "Superseded":
            reasons.append(f"{old} status '{before.word('status')}' != 'Superseded'")
        if before.items("superseded-by") != [new]:
            reasons.append(f"{old} superseded-by {before.items('superseded-by')} != ['{new}']")
        reasons += list(_rewritten(context, before))
    if new in by_id and by_id[new].items("supersedes") != [old]:
        reasons.append(f"{new} supersedes {by_id[new].items('supersedes')} != ['{old}']")
    return fails(*reasons) if reasons else passes(f"{new} supersedes {old}, both ways")


def _rewritten(context: Context, adr: Adr) -> Iterator[str]:
    """What else than its status and its successor changed in an ADR that was there."""
    if adr.path not in context.changed(context.scenario.repository) or adr.path not in _numbers_before(context):
        return
    lines = [_without_links(text) for text in (_starting(context, adr.path), context.tree.read(adr.path))]
    if lines[0] != lines[1]:
        added = [line for line in lines[1] if line not in lines[0]] or [
            line for line in lines[0] if line not in lines[1]
        ]
        shown = added[0].decode("utf-8", "replace").strip() if added else "their order"
        yield f"{adr.id} changed beyond status and superseded-by: '{shown}'"


def _without_links(data: bytes) -> list[bytes]:
    """The lines of an ADR but those of its keys status and superseded-by, with what belongs to these."""
    kept, inside, fences = list[bytes](), False, 0
    for line in data.splitlines(keepends=True):
        fences += line.strip() == b"---"
        if fences == 1 and re.match(rb"[A-Za-z]", line):
            inside = line.startswith((b"status:", b"superseded-by:"))
        elif fences > 1 or not line.startswith((b" ", b"\t", b"-")):
            inside = False
        if not inside:
            kept.append(line)
    return kept


def _starting(context: Context, path: str) -> bytes:
    """The bytes that the agent found at `path`."""
    project = context.scenario.repository
    if path not in context.changed(project) and path not in context.deleted(project):
        return context.tree.read(path)
    if context.before is None:
        context.added_text(path)  # raises the Fault that says so
    assert context.before
    return context.before(path)


def _kept_at_all(use: Use) -> Iterator[Slip]:
    """There is an ADR that could be changed."""
    if not starting.adrs(use) - set(use.given["but"]):
        place = f"{use.scenario.repository}/{FOLDER}"
        yield Slip(f"is about the ADRs of '{place}', where fixture/{use.scenario.fixture} has none that must be kept")
    yield from starting.known_adrs(use, "but", use.given["but"])


@word("sandbox", slips=_kept_at_all, but=optional("texts", (), starting.adr_numbers))
def adrs_kept(context: Context, but: list[str]) -> Finding:
    """The ADRs that the agent found are there, byte for byte; those of BUT may have changed."""
    project = context.scenario.repository
    gone, changed = context.deleted(project), context.changed(project)
    reasons = [f"{padded(number)} is deleted" for path, number in _numbers_before(context).items() if path in gone]
    reasons += [
        f"{padded(number)} is not byte for byte what it was"
        for path, number in _numbers_before(context).items()
        if path in changed and padded(number) not in but
    ]
    return fails(*reasons) if reasons else passes("the other ADRs are as they were")


@word("sandbox")
def adr_index(context: Context) -> Finding:
    """The index is the one that the ADRs must have, worked out here and not by the plugin."""
    told = adr_files.stale(context.tree, context.scenario.repository)
    return fails(told) if told else passes("the index is current")


def _no_log_yet(use: Use) -> Iterator[Slip]:
    place = f"{use.scenario.repository}/{FOLDER}"
    for path in sorted(use.start.below(place))[:1]:
        yield Slip(f"is about a new log, and fixture/{use.scenario.fixture} has '{path}' at the start")


@word("sandbox", slips=_no_log_yet)
def adr_skeleton(context: Context) -> Finding:
    """The ADR folder holds an index of no ADRs and nothing else."""
    folder = f"{context.scenario.repository}/{FOLDER}/"
    others = [path.removeprefix(folder) for path in context.tree.below(folder[:-1]) if path != folder + INDEX]
    reasons = [f"{FOLDER}/{name} is new, expected {INDEX} alone" for name in others]
    if told := adr_files.stale(context.tree, context.scenario.repository):
        reasons.append(told)
    return fails(*reasons) if reasons else passes("the skeleton is there")


def _entries_there(use: Use) -> Iterator[Slip]:
    """The log is there, and each entry is one of its sections."""
    source = use.given["source"]
    if missing := list(starting.file(use, "source")):
        yield from missing
        return
    headings = [heading for heading, _ in _sections_of(source, use.start.read(source))]
    for entry in use.given["entries"]:
        title = _entry(entry)[3]
        if not any(title.lower() in heading.lower() for heading in headings):
            told = f"has '{title}', which is no second-level section of {source}"
            yield Slip(told, "entries", near_miss(title, headings))


def _entry(text: str) -> list[str]:
    """Number, date, status and title; fewer where the text has fewer."""
    return text.split(None, 3)


def _not_entries(values: list[str]) -> str:
    for value in values:
        parts = _entry(value)
        if len(parts) != 4:
            return f"has '{value}', expected number, date, status and title"
        if told := starting.adr_number(parts[0]) or _not_a_date(parts[1]) or _not_a_status(parts[2]):
            return f"has '{value}', whose part {told}"
    return ""


@word("sandbox", slips=_entries_there, source=Argument("path"), entries=Argument("texts", wrong=_not_entries))
def adrs_migrated(context: Context, source: str, entries: list[str]) -> Finding:
    """One ADR for each of ENTRIES (`id date status title`), which are the second-level sections of the log SOURCE.

    Each has these values, names the log in its comment of origin, and keeps the words of its section.
    """
    found, texts, name = {adr.id: adr for adr in _all(context)}, _sections(context, source), _inside(context, source)
    reasons: list[str] = []
    for entry in entries:
        number, date, status, title = _entry(entry)
        adr = found.pop(number, None)
        if adr is None:
            reasons.append(f"there is no ADR {number} for the entry '{title}'")
            continue
        reasons += list(_other_values(adr, title=title, date=date, status=status))
        if f"<!-- Migrated from {name}:" not in adr.body:
            reasons.append(f"{number} lacks the comment '<!-- Migrated from {name}: … -->'")
        reasons += list(_lost(adr, next(text for heading, text in texts if title.lower() in heading.lower())))
    reasons += [f"{number} '{adr.word('title')}' is no entry of {name}" for number, adr in found.items()]
    return fails(*reasons) if reasons else passes(f"{len(entries)} entries became {len(entries)} ADRs")


def _sections(context: Context, source: str) -> list[tuple[str, str]]:
    return _sections_of(source, _starting(context, source))


def _sections_of(source: str, data: bytes) -> list[tuple[str, str]]:
    return Adr(source, 0, "", data.decode("utf-8-sig", "replace").replace("\r\n", "\n")).sections


def _lost(adr: Adr, entry: str) -> Iterator[str]:
    """An ADR that keeps too few of its entry's words."""
    wanted = {item for item in _words(entry) if len(item) > 3}
    kept = wanted & set(_words(adr.text))
    if len(kept) < KEPT_SHARE * len(wanted):
        lost = ", ".join(sorted(wanted - kept)[:3])
        yield f"{adr.id} keeps {len(kept)} of {len(wanted)} words of its entry, not {lost}"


@word("sandbox", log=optional("flag", False))
def nothing_else_changed(context: Context, log: bool) -> Finding:
    """No file of the sandbox is new, changed or deleted but ANSWER.md and, with LOG, the ADRs and their index."""
    project = context.scenario.repository
    reasons = [
        f"{_inside(context, path)} is {what}, expected no change"
        for path, what in sorted(_changes(context))
        if path not in _answers(context) and CACHE not in path.split("/")
        if not (log and (path == f"{project}/{FOLDER}/{INDEX}" or adr_files.number_of(path, project) is not None))
    ]
    return fails(*reasons) if reasons else passes("nothing else changed")


def _changes(context: Context) -> Iterator[tuple[str, str]]:
    start, trees = context.start or {}, context.scenario.trees
    for folder in trees:
        yield from ((path, "changed" if path in start else "new") for path in context.changed(folder))
        yield from ((path, "a new link") for path in context.new_links(folder))
        yield from ((path, "deleted") for path in context.deleted(folder))
    yield from ((path, "new") for path in context.tree.files if path.split("/")[0] not in trees)


def _answers(context: Context) -> tuple[str, str]:
    """Where an answer may lie: in the agent's working directory, or in the sandbox's root."""
    return f"{context.scenario.cwd}/{ANSWER}", ANSWER


def _answer(context: Context) -> str:
    """The answer, '' when there is none."""
    path = next((path for path in _answers(context) if path in context.tree.files), "")
    return context.tree.text(path) if path else ""


def _citable(use: Use) -> Iterator[Slip]:
    yield from starting.known_adrs(use, "right", [use.given["right"]])
    yield from starting.known_adrs(use, "wrong", use.given["wrong"])
    if use.given["right"] in use.given["wrong"]:
        yield Slip(f"names ADR '{use.given['right']}', which is 'right'", "wrong")


@word(
    "sandbox",
    slips=_citable,
    right=Argument("text", wrong=starting.adr_number),
    wrong=Argument("texts", wrong=starting.adr_numbers),
)
def answer_cites(context: Context, right: str, wrong: list[str]) -> Finding:
    """ANSWER.md cites the ADR RIGHT by its number and none of WRONG, which are distractors or superseded."""
    text = _answer(context)
    if not text.strip():
        return fails(f"{ANSWER} is missing or empty")
    cited = list(map(padded, citations.named(text)))
    statuses = {adr.id: f"'{adr.word('title')}' ({adr.word('status')})" for adr in _all(context)}
    reasons = [] if right in cited else [f"{ANSWER} does not cite {right}, but {', '.join(cited) or 'no ADR'}"]
    reasons += [
        f"{ANSWER} cites {item} {statuses.get(item, '')}, expected {right} alone" for item in wrong if item in cited
    ]
    return fails(*reasons) if reasons else passes(f"{ANSWER} cites {right}")


def _sayable(use: Use) -> Iterator[Slip]:
    said, among = use.given["said"], use.given["among"]
    if said not in among:
        yield Slip(f"is '{said}', which is none of 'among'", "said", near_miss(said, among))


def _not_bare(values: list[str]) -> str:
    odd = (value for value in values if _bare(normal(value).lower()) != value.lower())
    return next((f"holds '{value}', which no line is once label, markup and quotes are off it" for value in odd), "")


@word("sandbox", slips=_sayable, said=Argument("text"), among=Argument("texts", wrong=_not_bare))
def answer_line(context: Context, said: str, among: list[str]) -> Finding:
    """Of the words AMONG, ANSWER.md has SAID and no other on a line of its own.

    A label before it, markup, quotes and punctuation around it are nothing.
    """
    lines = [normal(line).lower() for line in _answer(context).splitlines()]
    bare = set(map(_bare, lines))
    found = [item for item in among if item.lower() in bare]
    if found == [said]:
        return passes(f"{ANSWER} says '{said}'")
    told = " and ".join(f"'{item}'" for item in found) or "none of its words"
    return fails(f"{ANSWER} has {told} as a line, expected '{said}'")


def _bare(line: str) -> str:
    return _AROUND.sub("", _LABEL.sub("", _AROUND.sub("", line)))
