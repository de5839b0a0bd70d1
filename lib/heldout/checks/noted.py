"""What a note states: what it asks, leaves to be done, guesses, or says for the time being only is cut out.

A note that asks whether something is so names the same things as one that says so. `noted` cuts out

- what is to be done or found out: sections, items, paragraphs from there on ('## Open questions', '- [ ] …', 'TODO …');
- questions, save for those that ask why and those that the next sentence confirms;
- clauses in which something is unknown or guessed, was so once or is so for now, or makes no difference. In a note that
  has something to find out, what 'may' or 'seems to' be is a guess, too.

Title and summary in the front matter are sentences like all others. English alone, by form: it knows no subject.
"""

from collections.abc import Iterator

import regex

from heldout.checks.clauses import sentences
from heldout.checks.patterns import TIMEOUT, lazily, normal
from heldout.errors import Fault

_FLAGS = regex.IGNORECASE | regex.VERBOSE | regex.VERSION0


def _compiled(pattern: str) -> regex.Pattern[str]:
    return lazily(pattern, _FLAGS)


_HEADING = _compiled(r"\#{1,6}(?=\s)")
_ITEM = _compiled(r"(?: [-*+] | \d+[.)] )\s | \|")
_ALONE = _compiled(r"(?: (?:\*\*|__) [^*_]{2,50} (?:\*\*|__) [.:]? | \w[\w\s-]{2,40} : | (?-i:TODO|FIXME|TBD)s? ) $")
_LABEL = 7  # its level: below every heading

_TO_DO = r"""(?: (?:still\s|things\s)? (?: (?-i:TODO|FIXME|TBD)s? | to[-\s]?dos?
  | to\s(?:be\s)?(?: check | ask | clarify | verify | investigate | confirm | do ) (?:ed|ne)?
  | open (?:\s(?: questions? | points? | issues? | items? ))? | questions? | unknowns? | unclear
  | next\ssteps? | follow[-\s]?ups? ) )"""
_SECTION = _compiled(rf"[\W\d]* {_TO_DO} \W*")
_TASK = _compiled(
    rf"""(?:(?:title|summary):\s)? (?: [-*+]\s \[\s?\] | \W* {_TO_DO} [*_]* \s?[:–—-]\W | \W* (?-i:TODO|FIXME|TBD)\b
      | \W* (?:please\s)? (?: find\sout | clarify | investigate | look\sinto
        | ask\s(?!for\b|again\b)(?:\S+\s){{1,5}}?(?:whether|if|about|how|what|which|why) )\b )"""
)
_ASKS = _compiled(r"""\? ["'”’)\]*_`]* $""")
_WHY = _compiled(r"(?: \w+: | \d+[.)] | \W )* \s? (?: why | how\scome )\b")
_CONFIRMS = _compiled(
    r"\W* (?: (?: yes | indeed | it\s(?: does | is | has ) | they\s(?: do | are | have ) )\s*[.,;:!–—-] | because\b )"
)

_BREAK = _compiled(r"( (?<=[;:])\s | ,\s | \s[–—-]{1,2}\s | \s?[()] | \s(?=but\b) )")
_OPEN = _compiled(
    r"""(?: \b(?: not | never ) | n['’]t ) \s (?:(?: yet | really | quite | been )\s){0,2}
        (?: known(?!\sto\b) | confirmed | verified | understood | found\sout | looked\sup | checked | clear | sure
          | certain | know | look\sup | understand ) \b
      | \bno(?:body|\sone)\sknows\b | \b(?: unknown | unclear | uncertain | unconfirmed | unverified | undecided )\b
      | \b(?: (?: needs?\sto | should | ha(?:s|ve)\sto | want\sto )\s
              (?: ask | find\sout | clarify | verify | investigate )
            | need\sto\s(?: check | test ) )\s (?:\S+\s){0,4}? (?: whether | if | what | how | why | about )\b
      | \bto\sbe\s(?: asked | clarified | found\sout | investigated | confirmed | looked\sinto | decided | settled )\b
      | (?<! \b(?: has | have | needs? )\s ) \bto\sbe\schecked\b
      | \b(?: remains | still | is )\sopen\W*$ | ^\W*open\W*$
      | \bask(?:ing)?\s(?!again\b)(?: (?!for\b)\S+\s ){1,5}?(?: whether | if )\b"""
)
_GUESSED = _compiled(
    r"""\b(?: (?: perhaps | maybe | possibly )(?!\s(?:\w+\s)?(?: surprising | unexpected | obvious | worth | useful ))
            | hypothesis | suspicion | (?:I|we)\s(?:\w+\s)?(?: suspect | guess ) )\b"""
)
_HEDGED = _compiled(
    r"""\b(?: (?: may | might | could )(?!\s(?: look | seem | appear )\b) | probabl[ey] | presumabl[ey] | apparently
            | seems? | looks\s(?: like | as\sif ) )\b"""
)
_FOR_NOW = _compiled(
    r"""\b(?: for\s(?: now | the\s(?: time\sbeing | moment ) ) | temporar(?:y|ily) | provisional(?:ly)?
            | until\sfurther\snotice | (?: only | just )\sthis\s(?: time | delivery | report | one )
            | this\s(?: month | week | once )(?!['’]s) )\b"""
)
_ONCE = _compiled(
    r"""(?: (?-i:\b\p{Lu})\w* | \b(?: it | they | we | calls? | lists? ) )\sused\sto\b
      | \b(?: formerly | originally )\b"""
)
_ALL_THE_SAME = _compiled(
    r"""(?: \b(?: makes?\s(?: no | little )\sdifference | (?: is | are )\s(?: irrelevant | immaterial | unimportant )
            | of\sno\s(?: importance | consequence | relevance ) | no\sneed\s(?: to | for ) | needs?\sno | needn['’]t )
          | (?: \bnot | n['’]t )\s (?:\w+ly\s)? (?: matter | care | (?: need | have )\sto
            | (?:be\s)?(?: needed | necessary | required )
            | require\s(?: any | an?\s(?: particular | certain | special ) ) )
          | (?<! \b(?: not | never | cannot | \w+n['’]t )\s[^.;]{0,40} )
            \bin\s(?: any | whatever | arbitrary )\s(?:\w+\s)?order )\b"""
)
# 'For now, …' and 'Perhaps: …' go with what follows.
_LEAD_IN = _compiled(rf"(?= .* (?: {_GUESSED.pattern} | {_FOR_NOW.pattern} ) ) \W*+ (?: [\w'’-]++ \W*+ ){{1,4}}")
_CUT = (_OPEN, _GUESSED, _FOR_NOW, _ONCE, _ALL_THE_SAME)


def noted(text: str) -> str:
    """What `text` states, a line a sentence; a full stop stands where something was cut.

    Raises Fault check-error when that takes too long.
    """
    said = list(_said(text))
    try:
        opened = any(sentence is None or _OPEN.search(sentence, timeout=TIMEOUT) for sentence in said)
        cuts = (*_CUT, _HEDGED) if opened else _CUT
        pairs = zip(said, [*said[1:], None], strict=False)
        return "\n".join("." if one is None or _asks(one, after) else _without(one, cuts) for one, after in pairs)
    except TimeoutError:
        raise Fault("check-error", f"what a note states took over {TIMEOUT:g} s") from None


def _asks(sentence: str, following: str | None) -> bool:
    """Whether it is a question that says nothing, and is not confirmed by what follows."""
    asked = _ASKS.search(sentence) and not _WHY.match(sentence)
    return bool(asked) and not (following and _CONFIRMS.match(following))


def _without(sentence: str, cuts: tuple[regex.Pattern[str], ...]) -> str:
    """`sentence` without the clauses in which one of `cuts` is found."""
    parts = _BREAK.split(sentence)
    clauses = [*zip(parts[::2], [*parts[1::2], ""], strict=True)]
    if len(clauses) > 1 and _LEAD_IN.fullmatch(clauses[0][0]) and not clauses[1][0].lower().startswith("but"):
        (first, mark), (second, after) = clauses[:2]
        clauses[:2] = [(f"{first}{mark}{second}", after)]
    gone = [any(cut.search(clause, timeout=TIMEOUT) for cut in cuts) for clause, _ in clauses]
    left = "".join(f". {mark}" if cut else f"{clause}{mark}" for (clause, mark), cut in zip(clauses, gone, strict=True))
    return left if left.rstrip()[-1:] in {*".:;!?", ""} else f"{left}."


def _said(text: str) -> Iterator[str | None]:
    """The sentences of a note in order, headings among them; None for what is to be done."""
    section, begun = 0, False
    for block in _blocks(text):
        heading = _HEADING.match(block)
        depth = len(heading[0]) if heading else _LABEL if _ALONE.match(block) else 0
        if depth and not 0 < section < depth:
            section, begun = depth if _SECTION.fullmatch(block) else 0, False
        elif section == _LABEL and begun and not _ITEM.match(block):
            section = 0
        else:
            begun = True
        if section:
            yield None
            continue
        for sentence in sentences(block):
            if _TASK.match(sentence):
                yield None
                break
            yield sentence


def _blocks(text: str) -> Iterator[str]:
    """Headings, labels, items and paragraphs, each on one line; lines of front matter and of code by themselves."""
    lines = text.removeprefix("\ufeff").splitlines()
    block: list[str] = []
    fence = "---" if lines and lines[0].rstrip() == "---" else ""
    for line in [*lines[bool(fence) :], ""]:
        flat = normal(line)
        edge = flat == fence if fence else flat.startswith("```")
        if edge:
            fence = "" if fence else "```"
        alone = bool(_HEADING.match(flat) or _ALONE.match(flat))
        if block and (not flat or edge or alone or (fence and not line[0].isspace()) or _ITEM.match(flat)):
            yield " ".join(block)
            block = []
        if alone:
            yield flat
        elif flat and not edge:
            block.append(flat)
