"""What an ADR decides: its title and its decision, without the sections and the clauses that only lead there.

An ADR names what was turned down, too, and tells of the state before. `decided` cuts out

- a text whose status says that nothing holds (Rejected, Open, Deferred), or whose decision begins with 'None yet', 'To
  be decided' and the like, or with something that is tried first;
- sections that weigh: Alternatives, Options considered, Rejected, Open questions, Pros and cons …, save for an item
  that is marked as chosen;
- where another section decides, those that tell of before and after: Context, Rationale, Consequences …;
- in all else, questions and clauses that turn something down (`heldout.checks.clauses`).

A section is a heading with all below it, a bold or plain label on a line of its own, 'Label: …' up to the end of the
paragraph, or the list after a sentence like 'We considered:'. Front matter goes, but for the title.
"""

import re
from collections.abc import Iterator

import regex

from heldout.checks.clauses import sentences, stated
from heldout.checks.patterns import lazily, normal

_LABEL = re.compile(
    r"""(?:\d+[.)]\s*)?(?:
    (?P<decides>
        (?:the\ |our\ )?(?:decisions?|outcome|resolution|choice|rule|policy|solution|conclusion)(?:\ outcome|\ made)?
      | (?:we\ )?(?:chosen?|decided|agreed|accepted|adopted)(?:\ option|\ solution|\ alternative)?
      | what\ we\ (?:do|decided|chose)
    ) | (?P<weighs>
        (?:\w+\ )?(?:alternatives?|options?|consider(?:ed|ations?))\b.* | pros | cons | drawbacks | trade-?offs?
      | (?:pros\ and\ cons|comparison|why\ not|future|related)\b.* | (?:not|out\ of|beyond)\ (?:in\ )?scope
      | (?:what\ (?:we|was)\ )?(?:rejected|turned\ down|discarded|not\ chosen|superseded)\b.*
      | (?:open\ )?(?:questions?|points|issues) | open | discussion | later | references | links | see\ also
    ) | (?P<tells>
        (?:the\ )?(?:context|background|problem|motivation|situation|why|rationale|reasons?|reasoning|forces|issue
      | history|price|(?:decision\ )?drivers|requirements)(?:\ statement|\ and\ .*)?
      | (?:consequences?|positive|negative)\b.* | implications? | results? | effects?
    ) | (?P<other>
        status | date | deciders? | title | notes? | scope | applies\ to | details | neutral | more\ information
      | (?:implementation|affected)\b.*
    ))""",
    re.IGNORECASE | re.VERBOSE,
)
_HEADING = re.compile(r"(#{1,6})\s+(.*?)[\s#]*$")
_ALONE = re.compile(r"(?:(?:\*\*|__)(?P<bold>[^*_]{2,50}?)[.:]?(?:\*\*|__)[.:]?|(?P<plain>[A-Z][\w ]{2,40}):)\s*$")
_INLINE = re.compile(
    r"(?:[-*]\s+)?(?:\*\*|__)?(?P<label>[A-Za-z][\w ]{2,30}?)(?:[.:](?:\*\*|__)|(?:\*\*|__)?:(?=\s))\s*"
)
_ITEM = re.compile(r"(?:[-*+]|\d+[.)])\s+|\|")
_NOTHING = re.compile(
    r"""\W*(?:rejected|open|under\ discussion|in\ discussion|undecided|withdrawn|abandoned|deferred|postponed|on\ hold
    |trial|pilot|experiment(?:al)?)\b""",
    re.IGNORECASE | re.VERBOSE,
)
# A sentence that says there is no decision yet, …
_NONE_YET = lazily(
    r"""\W* (?:
      (?: none | nothing | not | no\s(?: decision | choice | conclusion ) )
        (?: \s(?: is | was | has\sbeen ) )? (?: \s(?:as\s)?yet )?
        (?: \s(?: taken | made | decided | settled | agreed | reached | chosen ) )?
        (?: \s(?: yet | so\sfar | as\sof\s(?:yet|now) | at\spresent | for\snow | for\sthe\s(?:moment|time\sbeing) ) )?
        (?= \s* (?: [.:;,(–—-] | $ ) | \s(?: until | till | since | because | before )\b )
      | (?:still\s)? (?: undecided | open | pending | tbd | to\sfollow )
        (?= \s* (?: [.:;,(–—-] | $ ) | \s(?: so\sfar | yet | (?:until|till)(?!\s\d) )\b )
      | (?:still\s)? to\sbe\s(?: decided | discussed | determined | defined | settled | agreed )\b
      | (?: deferred | postponed | on\shold | put\soff )
        (?= \s* (?: [.:;,(–—-] | $ ) | \s(?: until | till | to | by | for )\b )
      | (?: the | this | a )\s(?: decision | choice )\s(?: is | was | has\sbeen | will\sbe )\s(?: still\s | yet\s )?
        (?: open | pending | postponed | deferred | put\soff | delayed | (?: made | taken )\slater | to\sbe\b )
      | we\s(?: have\snot | haven't )\s(?:yet\s)?(?: decided | settled | agreed )(?:\syet)?\s* (?: [.;,] | $ )
    )""",
    regex.IGNORECASE | regex.VERBOSE,
)
# … or that something is tried.
_TRIED = lazily(
    r"""^ (?!\W*after\b) .* (?:
        (?: \b(?: we | will | shall | is | are | be )\s | ['’]ll\s ) (?:\w+\s)? (?: try | tried | trial )
          (?!\s(?: to | again | once | twice | \w+\stimes )\b)
      | \b(?: as | on | for )\s(?:an?\s)?(?:\w+\s)?(?: trial | pilot | experiment )\b | \bas\sa\stest\b
      | ^\W*(?: pilot | trial | experiment | test )\s?: | \b(?: pilot | trial | test )\s(?: runs | is\srun | phase )
      | \b(?: going\sto | will | shall | ['’]ll )\stest\b (?=.*\b(?: evaluate | decide | compare | see | then )\b)
      | \b(?: experimentally | provisionally | tentatively )\b )""",
    regex.IGNORECASE | regex.VERBOSE,
)
_STATUS = re.compile(r"^[ \t#*_>-]*status[*_:\s]*[\"']?([^\n]*)", re.IGNORECASE | re.MULTILINE)
_WEIGHED = re.compile(
    r"\b(?:rejected|considered|turned down|ruled out|discarded|looked at|weighed|compared|alternatives?|options)\b",
    re.IGNORECASE,
)
_CHOSEN = re.compile(r"(?<!not )\b(?:chosen|selected|we (?:chose|take|took|picked)|our choice)\b", re.IGNORECASE)
_MARKUP = re.compile(r"\*\*|__|`|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)")
_LEVEL_OF_LABEL = 7  # below every heading


def decided(text: str) -> str:
    """The sentences of the ADR `text` that decide, one a line and each with its full stop; '' where none does."""
    title, body = _without_front_matter(text)
    if any(_NOTHING.match(status) for status in _STATUS.findall(text)):
        return ""
    parts = list(_parts(body))
    deciding = any(kind == "decides" for kind, _ in parts)
    said = [part for kind, part in parts if kind == ("decides" if deciding else "")]
    if _decides_nothing(said if deciding else said[bool(_HEADING.match(body.lstrip())) :], deciding):
        return ""
    dropped = {"weighs", "tells"} if deciding else {"weighs"}
    kept = [title]
    for kind, part in parts:
        kept += [part] if kind not in dropped or (kind == "weighs" and _CHOSEN.search(part)) else []
    said = filter(None, map(stated, kept))
    return "\n".join(part if part[-1] in ".:;!" else f"{part}." for part in said)


def _decides_nothing(said: list[str], begins: bool) -> bool:
    """Whether a sentence (the first, where it all `begins`) leaves the decision open, or the first tells of a try."""
    return any(map(_NONE_YET.match, said[:1] if begins else said)) or any(map(_TRIED.search, said[:1]))


def _without_front_matter(text: str) -> tuple[str, str]:
    found = re.match(r"\ufeff?---\s*\n(.*?)\n---\s*(?:\n|$)", text, re.DOTALL)
    if not found:
        return "", text
    title = re.search(r"^title:\s*(.*)$", found[1], re.MULTILINE)
    return (title[1].strip("\"' ") if title else ""), text[found.end() :]


def _parts(body: str) -> Iterator[tuple[str, str]]:
    """(kind of its section, sentence), in order; a title and a heading that is no label are sentences."""
    kind, level, listed = "", 0, ""
    for block in _blocks(body):
        heading, alone = _HEADING.match(block), _ALONE.match(block)
        told = heading[2] if heading else (alone["bold"] or alone["plain"]) if alone else ""
        label = _kind(told)
        if heading or label or (alone and alone["bold"]):
            depth = len(heading[1]) if heading else _LEVEL_OF_LABEL
            if label or depth <= level:
                inherited = kind if kind == "weighs" and depth > level else ""
                kind, level = inherited or label, level if inherited else depth
            if not label:
                yield kind, _MARKUP.sub("", told)
            continue
        inner = listed if listed and _ITEM.match(block) else kind
        listed = inner if inner != kind else ""
        for sentence in sentences(block):
            found = _INLINE.match(sentence)
            label = _kind(found["label"]) if found else ""
            inner = label or inner
            yield inner, _MARKUP.sub("", sentence[found.end() :] if found and label else sentence)
            if sentence.endswith(":") and _WEIGHED.search(sentence) and not _CHOSEN.search(sentence):
                listed = "weighs"


def _kind(label: str) -> str:
    found = _LABEL.fullmatch(_MARKUP.sub("", label).strip(" .:"))
    return (found.lastgroup or "") if found else ""


def _blocks(body: str) -> Iterator[str]:
    """Headings, labels, list items and paragraphs, each on one line: wrapped lines are joined."""
    block: list[str] = []
    for line in [*body.splitlines(), ""]:
        line = normal(line).replace("’", "'")
        inline = _INLINE.match(line)
        alone = _HEADING.match(line) or _ALONE.match(line)
        if block and (not line or alone or _ITEM.match(line) or (inline and _kind(inline["label"]))):
            yield " ".join(block)
            block = []
        if alone:
            yield line
        elif line:
            block.append(line)
