"""Which ADRs a text cites: `ADR 7`, `ADR-0007`, `ADRs 0007 and 0009`, `0007-some-slug`, `docs/adr/0007…`.

Bare digits are no citation: they may be a port, a year or a booking. A mention that only says that the ADR does not
hold ("0007, superseded by 0009", "instead of ADR 7") is told apart, since that is what a careful reader writes.
"""

import regex

from heldout.checks.patterns import TIMEOUT, normal

_NEXT = r"(?:\s?(?:,\s?(?:and|or)?|/|&|\+|\band\b|\bor\b)\s?)"
_CITED = regex.compile(
    rf"""(?xi)
      (?<![\w-]) ADRs (?:[-\s\#:/]|no\.)* (?<id>\d{{1,6}}) (?:{_NEXT} (?:ADR[-\s]?)? \#? (?<id>\d{{1,6}}))*
    | (?<![\w-]) ADR (?:[-\s\#:/]|no\.)* (?<id>\d{{1,6}}) (?:{_NEXT} (?:ADR[-\s]?)? \#? (?<id>\d{{4,6}}) (?!\d))*
    | (?<![\w.-]) (?<id>\d{{4,6}}) -[a-z][\w-]* (?:\.md)?
    """
)
# What stands right before an id that does not hold …
_BEFORE = regex.compile(
    r"""(?xi)
    (?: \b(?: superseded | replaced | outdated | obsolete | old | older | former | earlier )\s?
      | \b(?: not | instead\sof | rather\sthan | unlike | replac(?:es|ed|ing) | supersed(?:es|ed|ing) )\s(?:the\s)?
    ) [(\[`*_"']* \Z
    """
)
# … and what follows it in its sentence, up to the next id.
_AFTER = regex.compile(
    r"""(?xi)
    \A (?: 's | \s"[^"]*" | \s\([^()]*\) )?
    (?: (?! \bthat\b | \bsays?\b ) [^.;!?] ){0,40}?
    (?: \bsuperseded\b (?! \s(?:the\s)? [(\[`*_"']* \Z )
      | \b(?: was | is | been | got | were | are )\s(?:\w+\s)?(?: replaced | obsolete | outdated | withdrawn )\b
      | \bno\slonger\b
      | \bdo(?:es)?\s?n(?:o|')t\s(?:\w+\s)?(?: apply | bind | govern | hold | decide | cover | answer | concern )
      | \bnot\s(?: apply | bind | binding | relevant | applicable | govern )
      | \b(?: settles? | decides? | is\sabout | answers? | covers? )\s(?: another | a\sdifferent | something\selse )
    )
    """
)


def cited(text: str) -> tuple[set[int], set[int]]:
    """The numbers of the ADRs that a text cites, and of those that it only mentions as not holding."""
    flat = normal(text)
    matches = list(_CITED.finditer(flat, timeout=TIMEOUT))
    held: set[int] = set()
    mentioned: set[int] = set()
    for place, match in enumerate(matches):
        end = matches[place + 1].start() if place + 1 < len(matches) else len(flat)
        before = flat[max(0, match.start() - 60) : match.start()]
        dismissed = _AFTER.search(flat[match.end() : end]) or _BEFORE.search(before)
        (mentioned if dismissed else held).update(int(number) for number in match.captures("id"))
    return held, mentioned - held
