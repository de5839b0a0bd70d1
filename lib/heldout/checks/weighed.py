"""What a report lists as something that may have been, or was discarded, is cut out: it is not claimed.

'Possible causes: (a) …, (b) …', '## Hypotheses', 'Ruled out:' with the list below; but not an item that is marked as
confirmed. English.
"""

import re
from collections.abc import Iterator

from heldout.checks.patterns import normal

_WHAT = (
    r"(?:causes?|reasons?|explanations?|hypothes[ei]s|theor(?:y|ies)|scenarios?|suspects?|candidates?|leads?|culprits?)"
)
_LEAD = (
    r"(?:(?:the|my|our|some|other|all|two|three|four|several|further|initial|first|main|I (?:see|have|had)) ){0,3}"
    r"(?:(?:possible|potential|conceivable|plausible|alternative|competing|candidate|discarded|rejected|dismissed|excluded"
    rf"|unverified|untested|unconfirmed|ruled[- ]out) (?:\w+ ){{0,2}}{_WHAT}"
    r"|hypotheses|theories|suspects|candidates|guesses|speculations?|possibilities|ideas"
    r"|(?:what|things) (?:I|we) (?:ruled out|discarded|rejected|excluded|considered|suspected)"
    r"|(?:what|things that|one of these) (?:(?:it|this|that) )?(?:could|may|might) (?:well |also )?"
    r"(?:explain|have (?:led|caused|happened|gone|set|triggered)|(?:be|have been)(?! (?:lost|affected|dropped|hit)))"
    r"|(?:still )?to be (?:checked|confirmed|verified)|not (?:yet )?(?:checked|confirmed|verified|found|seen)"
    r"|(?:ruled out|discarded|rejected|excluded|not the causes?|red herrings?|unrelated))"
    r"\b(?! (?:confirmed|verified))[^:.!?]{0,60}"
)
_HEADING = re.compile(r"\s*(?:#{1,6}\s|\*\*[^*]+\*\*:?\s*$)")
_ITEM = re.compile(r"\s*(?:[-*+•]|\(?[a-zA-Z\d]{1,2}[.)]|\|)\s*")
_MARKS = re.compile(r"[*_`#>]+")
_LABEL = re.compile(rf"{_LEAD}:?", re.IGNORECASE)
_OPENS = re.compile(rf"(?:.*[.!?] )?{_LEAD}:", re.IGNORECASE)
_INLINE = re.compile(
    rf"(^(?:[-*+•]|\(?\w{{1,2}}[.)])? ?|(?<=[.!?;] )){_LEAD}: .*?(?:[.!?](?=\s|$)(?!\s\(?[a-z\d]{{1,2}}[).]\s)|$)",
    re.IGNORECASE,
)
_SURE = re.compile(
    r"(?<!not )\b(?:confirmed|verified|proven|proved|true|correct|this is what happened|the actual cause)\b|[✓✔✅]",
    re.IGNORECASE,
)


def stated(text: str) -> str:
    """`text`, normalised, without what it only weighs; a full stop stands where it was cut."""
    return normal("\n".join(_kept(text)))


def _kept(text: str) -> Iterator[str]:
    dropping, fresh = "", False  # a section or a list; whether a blank line stands before
    for block in _blocks(text):
        plain = normal(_MARKS.sub(" ", block)).strip()
        item = _ITEM.match(block)
        if not plain:
            fresh = True
            continue
        if _HEADING.match(block):
            dropping = "section" if _LABEL.fullmatch(plain) else ""
        elif dropping == "list" and fresh and not item:
            dropping = ""
        fresh = False
        if dropping and not _SURE.search(plain):
            yield "."
        elif _OPENS.fullmatch(plain):
            dropping = "list"
            yield "."
        else:
            told = _INLINE.sub(r"\1.", normal(block))
            yield f"{told} –" if _HEADING.match(block) else told  # a heading is no part of the sentence below it


def _blocks(text: str) -> Iterator[str]:
    """The lines of a text, one that was wrapped joined to the line it belongs to."""
    block = ""
    for line in text.splitlines():
        starts = not line.strip() or _HEADING.match(line) or _ITEM.match(line)
        if block and (starts or _HEADING.match(block) or block.rstrip(" *_").endswith(":")):
            yield block
            block = ""
        if not line.strip():
            yield ""
        else:
            block = f"{block} {line.strip()}" if block else line
    yield block
