"""Which ADRs a text cites: `ADR 7`, `ADRs 7, 8 and 9`, `ADRs 7–9`, `decision record 7`, `0007-some-slug`, a path.

The one reader of citations, with two questions. `cited`: which ADRs does somebody cite who was not asked to? Bare
digits are none then: they may be a port, a year or a booking; and a mention that only says that the ADR does not hold
("0007, superseded by 0009", "instead of ADR 7") is told apart, since that is what a careful reader writes. `named`:
which ADRs does an answer name that was to name one by its number? There `0007` alone, "Decision 7" and "replaces 7"
name one, too.
"""

import regex

from heldout.checks.patterns import TIMEOUT, lazily, normal

_NUMBERED = r"n(?:o|r|umber)\.?(?![a-z])"
_SIGN = rf"(?:[-_\s\#:/*`\[]|\((?=\d+\))|{_NUMBERED})*"
_ID = r"[*_`\[]*\#?(?<id>\d{1,6})(?!\d)(?:[*_`\]]+(?:\([^()\s]*\))?)?"  # `](…)`: where a link leads
_NEXT = r"(?:\s?(?:,\s?(?:and|or)?|/|&|\+|\band\b|\bor\b)\s?)"
_TO = r"(?:\s?[-–—]\s?|\s(?:to|through)\s)"
_LISTED = rf"(?:{_NEXT}{_ID}|{_TO}{_ID}(?!-))*"
# After one ADR in the singular, a short number that is followed by a word counts something: 'ADR 9 and 14 days later'.
_VERBS = r"(?:and|or|are|were|both|together|forbid|bind|say|apply|hold|govern)"
_ENDS = rf"(?=\s?(?:[,;:)\]!?\"]|\.(?!\d)|[-–—]\s|\Z)|\s{_VERBS}\b)"
_CITED = lazily(
    rf"""(?xi)
      (?<![^\W_]|-) ADRs {_SIGN} {_ID} {_LISTED}
    | (?<![^\W_]|-) ADR {_SIGN} {_ID} (?:{_NEXT} (?:(?=\D*\d{{4}}) {_ID} | {_ID} {_ENDS}))*
    | (?<![^\W_]|-) (?: decision\srecords? {_SIGN} {_ID} | decisions? {_SIGN} (?<id>0\d{{3}})\b )
      (?:{_NEXT} (?<id>0\d{{3}})\b)*
    | (?<![^\W_]|[.-]) (?<id>\d{{4,6}}) -[^\W\d_][\w-]* (?:\.md)?
    """
)
_RANGE = lazily(rf"(?i)(\d+)[*_`\]]*{_TO}[*_`\[]*\#?(\d+)")
_WIDEST = 50  # ids of one range
# What names an ADR to somebody who asked for its number.
_ASKED = lazily(
    rf"""(?xi)
      (?<![\w.-]) (?<id>0\d{{3}}) (?![\w-]|\.\d)
    | \b(?: decisions? | records? ) {_SIGN} {_ID} (?!\s(?:day|week|month|year|hour|minute)s?\b|[-./:,]\d) {_LISTED}
    | (?<!\b(?:line|row|page|rule|step|item|part|section|loan|tool|member)\s) \b{_NUMBERED} {_SIGN} {_ID} (?![-./:,]\d)
    | \b(?: replac\w+ | supersed\w+ | obsolet\w+ | belongs? | together | along | related | unlike | instead | rather
      | see ) (?: \s(?:by|with|to|of|than|also) )? \s {_ID} {_ENDS}
    | \A [\W_]* {_ID} \s? (?:[:,–—-](?!\d)|\Z)
    """
)
_LINE = lazily(r"[\W_]*(?<id>\d{1,6})[\W_]*")  # with nothing else on it
# What stands right before an id that does not hold …
_BEFORE = lazily(
    r"""(?xi)
    (?: \b(?: neither | nor )\s
      | \b(?: superseded | replaced | outdated | obsolete | old | older | former | earlier )\s?
      | \b(?: not | instead\sof | rather\sthan | unlike | replac(?:es|ed|ing) | supersed(?:es|ed|ing) )\s(?:the\s)?
    ) [(\[`*_"']* \Z
    """
)
# … and what follows it in its sentence, up to the next id.
_AFTER = lazily(
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

# What may follow an id before its sentence goes on: the rest of a name, a title, what it is about.
_NAMED = r"""(?: (?:[-\w./]*\w)? (?: [)\]`*_"'] | \s?\([^()]*\) | \s"[^"]*" )* )"""
# What stands between ids that one sentence names together …
_AND = lazily(
    rf"""(?xi)
    \A \]\([-\w./]* \Z
    | \A {_NAMED} \s? (?: , | ; )? \s? (?: and | or | nor | / | & )? \s? (?: also\s | the\s )? [(\[`*_"']* \Z
    """
)
# … and what turns down all of them, not only the last.
_VERBS = r"(?: apply | bind | govern | hold | decide | cover | answer | concern | matter )"
_ALL = lazily(
    rf"""(?xi)
    \A {_NAMED} (?: (?! \bthat\b | \bsays?\b ) [^.;!?] ){{0,40}}? [.;]? \s? (?: but\s | though\s )?
    (?: (?: neither | none ) (?: \sof\s(?: them | these | those | the\s(?:two|three|others?) ) )? \s (?:\w+\s)?
        (?: {_VERBS}s? | applies | touch(?:es)? | fits? | (?: has | have )\s(?: anything | to\sdo )
          | (?: is | are | was | were )\s(?: relevant | binding | applicable | about | on | concerned | in\sforce ) )\b
      | \b(?: both | all | they | these | those | two )?\s?
        (?: do\s?n(?:o|')t\s(?:\w+\s)?{_VERBS}
          | are\s(?:both\s|all\s)?
            (?: not\s(?:\w+\s)?(?: binding | relevant | applicable | about ) | irrelevant | unrelated | superseded
              | obsolete | outdated | about\s(?: something | other | different ) )
          | have\s(?:both\s|all\s)?been\s(?: superseded | replaced | withdrawn ) )
    )
    """
)
_PARAGRAPH = lazily(r"(?<=[^\s.!?:])\s*\n(?:\s*\n|\s*[-*]\s)\s*")  # what ends a sentence without a stop
_AGAINST = lazily(
    r"""(?xi)
    (?<! \b(?: not | n't | no | never | without | nothing | avoids? | neither | nor )\b [^.,;]{0,30} )
    \b(?: contradict\w* | (?<! \b(?: 409 | http | booking | berth | date | stay | time )s?\b [\W_]{0,3} (?:a\s)? )
        conflict\w* (?! [\W_]{0,3}(?: 409 | booking | stay | date | berth | reservation | response | error | status ) )
      | breach\w* | break(?:s|ing)?(?!\s(?:nothing|no\b|none)) | broke\w* | violat\w* | forbid\w* | forbade
      | (?<! \b(?: check | test | compare | verif | review | validat | measure )\w* \b [^.,;]{0,40} ) against
      | prohibit\w* | depart(?:s|ed|ing|ure)?\sfrom | deviat\w*
      | exceptions?\s(?:to|from) | despite | overrid\w* | at\sodds | disagree\w* | contrary | opposite
      | rules?\sout | differs\sfrom | disallow\w* | not\sallow(?:ed)? )\b
    """
)
# What says so right before an id, where the same words elsewhere would be about something else …
_UNDOES = lazily(
    r"""(?xi)
    (?<! \b(?: not | n't | never | no | without | nothing )\s (?:\w+\s)? )
    \b(?: (?: revers | overturn | undo | bypass | overrid | circumvent | sidestep | reintroduc | reviv | abandon
          | suspend | ignor | undermin )\w* \s (?:\S+\s){0,4}
      | (?: not\sin\sline | out\sof\sline | inconsistent | incompatible | not\s(?: compatible | consistent )
          | at\svariance | tension )\swith\s (?:\S+\s){0,2}
      | counter\sto\s (?:\S+\s){0,2} | supersed(?: e | ing )\s (?:\S+\s)?
      | (?: goes | went | go | going )\sback\s(?: behind | on )\s (?:\S+\s){0,2}
    ) [(\[`*_"']* (?:docs/)? (?:adr/)? \Z
    """
)
# … and right behind it.
_UNDONE = lazily(
    r"""(?xi)
    \A [^.!?]{0,80}? \b(?:
        (?: would | should | must | will | has\sto | have\sto | needs?\sto | ought\sto )\s (?:\w+\s){0,2}?
          (?: (?: have | need )\sto\s )? be\s(?: supersed | replac | revis | amend | revok | retired )\w*
      | to\s(?: prevent | avoid | stop )\s(?: exactly | precisely | just )\s(?: this | that )
      | (?: a\srequest\s(?:must\s)?never | requests?\s(?: must | may | should | shall | can )?\s?(?: never | not ) )\b
      | do(?:es)?\s(?:not|n't)\sagree | says\sthe\sopposite | needs?\s(?: superseding | a\ssuccessor )
    )
    """
)


def cited(text: str) -> tuple[set[int], set[int]]:
    """The numbers of the ADRs that a text cites, and of those that it only mentions as not holding."""
    flat = normal(text)
    matches = list(_CITED.finditer(flat, timeout=TIMEOUT))
    held: set[int] = set()
    mentioned: set[int] = set()
    all_turned_down = False  # of the ids of a list, seen from its end
    for place in reversed(range(len(matches))):
        match = matches[place]
        after = flat[match.end() : matches[place + 1].start() if place + 1 < len(matches) else len(flat)]
        before = flat[max(0, match.start() - 60) : match.start()]
        all_turned_down = bool(_ALL.search(after) or (all_turned_down and _AND.search(after)))
        dismissed = all_turned_down or _AFTER.search(after) or _BEFORE.search(before)
        (mentioned if dismissed else held).update(_numbers(match))
    return held, mentioned - held


def objected(text: str, numbers: set[int]) -> bool:
    """Whether one of the ADRs is named in a sentence, or beside one, that says that the work goes against it."""
    flat = normal(_PARAGRAPH.sub(". ", text))
    for match in _CITED.finditer(flat, timeout=TIMEOUT):
        if not numbers.isdisjoint(_numbers(match)):
            before, after = flat[: match.start()], flat[match.end() :]
            near = regex.split(r"[.!?]\s", before)[-2:] + regex.split(r"[.!?]\s", after)[:2]
            if _AGAINST.search(" ".join(near)) or _UNDOES.search(before[-160:]) or _UNDONE.search(after[:200]):
                return True
    return False


def named(text: str) -> list[int]:
    """The numbers of the ADRs that an answer names which was asked for one by its number, in order."""
    flat = normal(text)
    matches = [match for form in (_CITED, _ASKED) for match in form.finditer(flat, timeout=TIMEOUT)]
    found = [(match.start(), number) for match in matches for number in _numbers(match)]
    lines = (_LINE.fullmatch(normal(line)) for line in text.splitlines())
    alone = [int(line["id"]) for line in lines if line]
    return list(dict.fromkeys([number for _, number in sorted(found)] + alone))


def _numbers(match: regex.Match[str]) -> list[int]:
    """The ids of one citation, those within a range included."""
    found = [int(number) for number in match.captures("id")]
    if len(found) > 1:
        for low, high in _RANGE.findall(match[0]):
            found += range(int(low) + 1, min(int(high), int(low) + _WIDEST))
    return found
