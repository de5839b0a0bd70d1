"""Which clauses of a text state something: what is asked, left open, weighed or turned down is cut out.

People and models name what they decided against beside what they decided for. A pattern that looks for the one must not
find it in the other. What follows is English alone and works by form: it knows no subject.
"""

import regex

from heldout.checks.patterns import lazily

_FLAGS = regex.IGNORECASE | regex.VERBOSE | regex.VERSION0


def _compiled(pattern: str) -> regex.Pattern[str]:
    return lazily(pattern, _FLAGS)


# A full stop ends a sentence where a space follows and then no small letter; 'e.g. x', '3.20', 'journal.log' go on.
_END = lazily(r"(?<=[.!?][\"'”’)\]*_`]{0,3})(?<!\b(?:e\.g|i\.e|vs|cf|no)\.)\s+(?=[^\p{Ll}\s])", regex.VERSION0)
_CLAUSE = _compiled(
    r"""(?<=;)\s | \s[–—-]{1,2}\s | \s(?=but\s(?:we|it|they|nobody)\b)
      | ,\s(?=(?:but|whereas|and|so|because|since|as|while|although|though|which|whose|by\swhich)\b)"""
)
_SUBORDINATE = _compiled(r"\s*(?: because | since | as | for | which | whose | by\swhich | so\sthat )\b")

# No sentence with one of these states anything; of the next, no clause.
_ASKED = _compiled(
    r"""\? ["'”’)\]*_`]* \s* $ | (?: ^ | \bwe\s | [:]\s ) either\b .* \bor\b
      | ^(?: [-*+|] | \d+[.)] )\s .*? [|:(–—-]\s(?: rejected | turned\sdown | ruled\sout | discarded )\b"""
)
_OPEN = _compiled(
    r"""\b(?: not | n't | never )\s(?:\w+\s){0,2}(?: settled | decided | answered | clear | agreed )\b
      | \b(?: undecided | unsettled | nothing\s(?:is|has\sbeen)\s(?:\w+\s)?decided | no\sdecision\s(?:is|has\sbeen) )\b
      | \b(?: under\sdiscussion | to\sbe\s(?:decided|discussed|settled) | remains?\sopen | (?:is|are)\s(?:still\s)?open
          | left\s(?:open | to\sa\slater | for\s(?:later|another)) )\b
      | \b(?: asked | asking | not\sknow | n't\sknow | unclear | question | wonder\w* | discuss\w* )\s(?:\S+\s){0,8}
        whether\b"""
)
_CHOSEN = _compiled(
    r"""^ (?: (?! \b(?: because | since | as )\b ) . )*?
      (?<! \bnot\s | n't\s ) \b(?: chosen | chose | agreed | accepted | adopted | picked | selected | preferred | won
          | settled )\b"""
)

_GIVEN_UP = r"""(?: rejected | turned\sdown | ruled\sout | discarded | dismissed | dropped | abandoned | given\sup
  | withdrawn | revoked | retired | scrapped | passed\sover | set\saside | superseded | replaced )"""
_WEIGHED = r"""(?: considered(?!\s(?:an?|as|to\sbe)\b) | weighed | discussed | debated | looked\sat | evaluated
  | thought\s(?:of|about) | tried | compared | examined | suggested | proposed
  | (?:judged|found|deemed|felt)\s(?:to\sbe\s)?(?:too|not) )"""
# In the present tense 'is rejected' is what a program does with bad input.
_PASSIVE = _compiled(
    rf"""\b(?: was | were | (?:has|have|had)\s(?:\w+\s)?been )\s(?:(?!is\b|are\b)\w+\s){{0,3}}?
          (?: {_GIVEN_UP} | {_WEIGHED} )\b
      | \b(?: is | are )\s(?:\w+\s)?(?!rejected){_GIVEN_UP}\b
      | \b(?: is | are | was | were )\s(?: not | no\slonger )\s(?:\w+\s)?(?: dealt\swith | covered | touched | part\sof
          | used | chosen | adopted | an\soption | possible | supported | offered | needed )\b
      | \b(?: is | are | was | were )\s(?: no\soption | out\sof\sthe\squestion | off\sthe\stable | no\slonger
          | rejected\sas )\b
      | \b(?: earlier | previous | former | first | original )\s(?:\w+\s)?
          (?: draft | idea | plan | proposal | version | attempt | thought )\b
      | \b(?: was | were )\s(?: the | an? | one )\s(?:\w+\s)?(?: wish | idea | suggestion | option | candidate )\b
      | \b(?: would | could | might )\s(?:\w+\s)?(?: have | be | also | mean | need | require | cost )\b
      | ^\s*(?: if | unless )\b(?=.*\b(?: ever | would | should | one\sday )\b)"""
)
_RUN = r"(?: \([^()]*\) | [^;:()] )*?"
_STOP = r"""(?= \s*(?: [;:] | $ | \bin\sfavou?r\sof\b
  | ,?\s(?:and|but|so|then)\s(?: we | it | they | i | this | instead | now | from | chose | went | go | settled
      | use[ds]? | took | take[sn]? | pick\w* | decid\w* | agree\w* | adopt\w* )\b
  | ,?\swe\s(?: chose | choose | settled | went | go | agreed | decided | will | use | take | took )\b
  | ,\s(?: we | each | every | all | both | it | they | this )\b ) )"""
_ADOPT = r"""(?: us(?:e|ing) | take | choose | adopt | pick | want | switch | go\s(?:with|for) | move\sto | exchange
  | offer | publish | support | introduce | send | redirect )"""
_ACTIVE = _compiled(
    rf"""\b(?: (?<!\b(?:is|are|be)\s)reject(?:ed|ing|s)? | turn(?:ed|ing)\sdown | decid(?:e|ed|ing)\sagainst
      | (?:ruled|ruling|we\srule)\sout | g(?:ave|ive|iving)\sup | dropp(?:ed|ing) | drop(?=\sthe\b) | abandon(?:ed|ing)?
      | discard(?:ed|ing)? | withdr(?:aw|ew) | revok(?:e|ed|es|ing) | supersed(?:e|ed|es|ing) | replac(?:e|ed|es|ing)
      | (?:we|i|having|board|team)\s(?:also\s|had\s|first\s)?(?:considered|weighed|discussed|tried|looked\sat|compared)
      | considering | weighing | thought\s(?:of|about) | speaks\sagainst | spoke\sagainst
      | (?: not | n't | never | no\slonger )\s(?:\w+ly\s)?{_ADOPT} ) \b {_RUN} {_STOP}"""
)
# 'X cannot …, so we do not use it'
_SO_NOT = _compiled(rf"so\s(?:we|it|they)\s(?:\w+\s)?(?: not | \w+n't )\s(?:be\s)?{_ADOPT}\s(?:it|that|this|them)\b")
_ASIDE = _compiled(
    r"""\b(?: instead\sof | rather\sthan | as\sopposed\sto | in\splace\sof | unlike | in\scontrast\sto
        | (?<=\b(?:chose|choose|chosen|prefer|preferred|pick|picked|selected|won)\s[^;:]{0,80})over(?=\s)
        | (?<=,\s|and\s|but\s)not(?=\s(?:an?|the|our|in|on|as|by|with|from)\b) )\b
      (?: \([^()]*\) | [^,;:()] )*?
      (?= \s*(?: [,;:)] | $ | \b(?: and(?!\sthen) | but | because | since | so | for | between )\s ) )"""
)


def sentences(text: str) -> list[str]:
    """Sentences of one paragraph whose white space is collapsed."""
    return [part for part in _END.split(text) if part and part.strip()]


def stated(sentence: str) -> str:
    """What a sentence states, or ''. A question states nothing; of the rest, clauses are cut out in which something is
    left open, weighed or turned down, with what gives the reason for that, and so is 'rather than …'."""
    if _ASKED.search(sentence):
        return ""
    kept: list[str] = []
    gone = False
    for clause in _CLAUSE.split(sentence):
        if _SO_NOT.match(clause) and kept:
            kept.pop()
        elif _OPEN.search(clause) or (_PASSIVE.search(clause) and not _CHOSEN.search(clause)):
            gone = True
        elif not (gone and _SUBORDINATE.match(clause)):
            gone = False
            kept.append(clause)
    left = _ASIDE.sub("", _ACTIVE.sub("", ", ".join(kept))).strip()
    return left if regex.search(r"\w", left) else ""
