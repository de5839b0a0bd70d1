"""What a report on an incident claims: what it denies, only guesses or asks, or says of something else is cut out.

'No worker died', 'I ruled out a crash' and 'the full queue was not the cause' name what did not happen. But 'no worker
was left', 'the token was not renewed' and 'nobody noticed the dropped events' tell what did: a denial is cut only where
it stands right before a word for something that happens in the relay, with nothing between that turns it. A guess is
what may or might have been, what is only asked, and what is listed as possible or discarded (`heldout.checks.weighed`).
English.
"""

import regex

from heldout.checks.patterns import TIMEOUT, lazily
from heldout.checks.weighed import stated
from heldout.errors import Fault

_FLAGS = regex.IGNORECASE | regex.VERBOSE | regex.VERSION0
_END = r"(?:[,;:.!?()–—](?=\s|$)|\s(?:[-–—|]\s|[-=]>|→)|[()])"  # of a clause; not within 5,000 or delivery.js
_CLAUSE = rf"(?:(?!{_END}).){{0,160}}"
_REST = rf"(?:(?!{_END}|\s(?:because|since|but|while|and\sthen)\b).){{0,160}}"
_SHORT = lazily(r"\b(i\.e|e\.g|cf|vs|approx|resp)\.(?=\s)", _FLAGS)  # their full stop ends nothing

_EVENTS = r"""(?: die[sd]? | dying | dead | deaths? | crash\w* | killed | terminat\w+ | exited
  | o(?:ut[-\s])of[-\s]memory | oom
  | full | fill(?:s|ed|ing)? | back(?:ed|ing|s)?[-\s]?(?:up|log\w*) | overflow\w* | saturat\w+
  | pil(?:ed|ing)\sup | gr[eo]w(?:ing)?
  | (?:at|(?:reach|hit|near|close|exceed)\w*)\s(?:\w+\s){0,2}?(?:capacity|limit|maximum|cap)
  | exits | (?:went|go(?:es|ing)?|gone|was|were|been|left|stay(?:s|ed)?)\sdown | (?:went|go(?:es|ing)?|gone)\smissing
  | drop(?:s|ped|ping)? | discard\w* | los(?:t|s|ses|e|ing) | shed | thrown\saway
  | vanish\w* | disappear\w* | swallow\w* | forgotten | destroy\w* | wiped
  | expir\w+ | stale | outdated | lapsed? | invalid | fail(?:s|ed|ing|ures?)?
  | 401s? | unauthori[sz]ed
  | storms? | loop(?:s|ed|ing)? | flood\w* | immediate(?:ly)? | endless(?:ly)? | for\s?ever | unlimited
  | unbounded | hammer\w* | wait_ms=0 )\b"""
_DENIES = r"""\b(?: (?:no|not|without|zero|nor|neither|never|none|nothing|hardly|barely|0)\b | (?<=n['’]t)\b )"""
# Words after which a denial no longer denies what follows: 'not only', 'no limit on', 'did not notice the dropped …'.
_TURNS = r"""(?: ,?\b(?: the | that | when | while | whe(?:re|ther) | if | because | since | after | until | till
  | before | once | as
  | and | but | which | who | for | on | upon | with | yet | than | only | just | merely | all | every(?:thing)?
  | enough | longer | more
  | left | alive | remain\w* | surviv\w* | notic\w+ | check\w* | detect\w* | know\w* | tell | told | alert\w*
  | alarm\w* | warn\w*
  | log(?:ged|s)? | record\w* | recover\w* | replay\w* | drain\w* | deliver(?:ed|ing) | stop\w* | limit\w*
  | delay\w* | pause\w* | wait\w*
  | back-?off | count\w* | room | renew(?:ed|ing) | refresh(?:ed|ing) | doubt
  | one(?!\s(?:of|worker|event|job|thread)) )\b )"""
_DENIED = lazily(
    rf"""{_DENIES} (?:\sof\s(?:the|them|these|those|our|its)\b | (?:\s(?:time|point|moment|stage))?
        \s(?:was|were|did|had)\s(?:the|any|an?)\b)?  (?: (?!{_TURNS}|{_END}). ){{0,45}}?
      (?<!\b(?:the|these|those)\s) (?<![-\w]) {_EVENTS} (?: ,?\s(?:n?or)\s {_REST} )?
      (?! (?:(?!{_END}).){{0,30}} \b(?:until|till|before|except|apart\sfrom|other\sthan|but\s(?:for|\d+))\b )""",
    _FLAGS,
)
# The form alone denies, whatever is named: 'I ruled out …', '… is not the cause', '… would have shown', 'had …'.
_RULED_OUT = lazily(
    rf"""(?: \b(?: rul(?:e|ed|es|ing)\sout | exclud(?:e|ed|es|ing) | nothing\sto\sdo\swith | unrelated\sto
          | no\s(?:sign|evidence|trace|indication|hint)s?\s(?:of|for|that)
          | no\s(?:reading|case|instance|minute|job)s?\s(?:with|where|in\swhich) )\b
        | (?:\bnot|n['’]t)\s(?:caused\sby|due\sto|because\sof|an?\s(?:case|matter)\sof|(?:true|the\scase)\sthat
          |(?:find|see)\s(?:any|an?))\b ) {_REST}
      | (?:^|(?<=[,;:.!?(]\s?)) (?:(?!{_END}).){{0,160}}
        \b(?: (?:is|was|were|are)(?:\snot|n['’]t)\s(?:\w+\s)?(?:an?|the|to)\s(?:\w+\s)?
          (?:cause|reason|culprit|problem|issue|blame|explanation)
        | (?:is|was|be|were|are)\s(?:ruled\sout|excluded) | did(?:\snot|n['’]t)\s(?:happen|occur|form|arise)
          | would\s(?:(?:also|certainly)\s)?
          (?:have\s(?:shown|appeared|left|been\s(?:visible|logged|seen))|show|be\svisible) )\b
        (?!,?\s(?:but|only|just)\b{_REST}\b(?:symptom|consequence|effect|result|link)) {_REST}
      | (?:^|(?<=[,;:.!?(]\s?)) (?:(?!{_END}).){{0,160}}
        (?: ,\s(?: which | (?:but|and)\s(?:that|this|it) )\s
            (?: did(?:\snot|n['’]t)\s(?:happen|occur) | never\s(?:happened|occurred) )
          | \b(?: theory | hypothesis | idea | suspicion )\s(?:does|did)(?:\snot|n['’]t)\s(?:hold|fit) )\b {_REST}
      | (?:^|(?<=[.;:]\s)) (?: had\b | if\b(?= [^,;:.]*\bhad\b | [^;:.?]{{0,160}}\bwould\b ) ) {_REST}
        (?: ,\s(?=(?:(?!{_END}).){{0,80}}\bwould\b) {_REST} )?""",
    _FLAGS,
)

# What is guessed, or not known. 'The loss could have been prevented' and '302 events, perhaps more' are none.
_AMOUNT = r"""\s(?: [~≈]?\d[\d,.]* | about | around | roughly | up\sto | over | as\s(?:many|much) | half | several
  | some | more | most | less | even | not
  | (?:a|an|another)\s(?:few|dozen|couple|handful|hundred|thousand|third|quarter|tenth)
  | two | three | hundreds | thousands )\b"""
_GUESSED = lazily(
    rf"""(?: \b(?: may | might )\s(?:(?:well|also|simply|just)\s)?(?: have | be )\b
        | \bcould\s(?:(?:well|also)\s)?have\b
          (?!\s(?:been\s)?(?:avoid|prevent|notic|caught|saved|stopped|seen|known|help)\w*)
        | \bcould (?<!\b(?:no|none|not|nothing)\b[^.,;:]{{0,60}}) \s(?:\w+\s)?be\s (?={_EVENTS})
        | \bwould\s(?:\w+\s)?be\b (?={_CLAUSE}\b(?:if|unless)\b)
        | (?:^|(?<=[.;:!?]\s)) (?: perhaps | possibly | maybe | conceivably )\b (?!\s(?:[~≈]?\d|most\b))
        | \b(?: perhaps | possibly | maybe | conceivably )\b (?!{_AMOUNT})
        | \b(?: in\s(?:theory|principle) | theoretically | hypothetically )\b
        | \bit(?:\sis|['’]s)\s(?:\w+\s)?(?: possible | conceivable | imaginable | thinkable )\sthat\b
        | \b(?: whether | (?:I|we|I['’]d)\s(?:can\sonly\s|would\s)?(?: suspect | guess | speculate )
          | (?:I|we)\s(?:first\s|also\s|had\s)?(?: considered | suspected )
          | (?:one|another)\s(?: possibility | hypothesis | theory | guess )\s(?:is|was)\b ) ) {_REST}""",
    _FLAGS,
)

# What is only asked: not 'Why did the workers die?', and not where the answer is a yes or a number.
_ASKS = r"(?! [.!?;]\s | \s[-*•|]\s | \*\* )"  # within a sentence, and an item of a list
_ASKED = lazily(
    rf"""(?: ^ | (?<=[.:;!?|(*_#–—-]\s?) ) (?=\S)
      (?: (?: did | do | does | was | were | is | are | has | have | had | could | can | might | may | would
            | any\w* )\b (?: {_ASKS} [^?] ){{0,200}}
        | (?: {_ASKS} (?! \b(?: why | how | what | when | where | who | which )\b ) [^?:] ){{1,120}} ) \? (?![\w`])
      (?! [*_"”’)|\s]* (?: y(?:es|eah|ep)\b | indeed | correct | right\b | sure | certainly | definitely | [✓✔✅≈~\d]
        | (?: they | it | we | there )\s(?: did | was | were | has | have | had | is | are )\b (?!\s(?:not|no)\b)
        | (?: all | each | every | both | some | most | many | several | at\sleast | about | around | roughly | over
          | nearly | almost | more\sthan | one | two | three | four | five | six | eleven )\b ) )""",
    _FLAGS,
)

# The same words of something else: throughput drops, connections are lost, certificates expire, code has lines.
_ELSE = lazily(
    r"""\b(?: drop\w* | los(?:e|es|t|ing) | discard\w* )\s(?:(?:the|its|their|our|my|this|that|an?|all)\s)?
          (?: connections? | contact | track | sight | links? | sockets? | idea | \w*\s?hypothes[ei]s | theory
          | assumptions? )\b
      | \bdrop\w*\s(?:\w+ly\s)?(?:from|to|below|by)\s(?:(?:about|around|almost|under|roughly|only)\s)?
          (?: \d[\d,.]*(?![\d:]|\s(?:June|July|UTC)) | half | zero | nothing )
      | \bI\s(?:(?:have|then|also|had)\s)?(?: dropped | discarded | lost )\b
      | \b(?: target | server | database | dashboard | host | endpoint | broker | publisher | disk )s?(?:['’]s\s\w+)?
          \s(?:(?:had|has|was|were|is|are|went|itself|also|that|which)\s){0,3}(?: died | crashed | dead | down
          | gone | killed | full )\b
      | \b(?: slow\w* | shut\w* | wind\w* | cut\w* )\sdown\b | \bdead[-\s]letter\w*
      | \b(?: certificates? | leases? | domains? | cookies? | licen[cs]es? | entr(?:y|ies) )
          \s(?:(?:had|has|have|was|were|is|are|already)\s){0,2}
          (?: expired | stale | outdated | lapsed | invalid | (?:run|ran)\sout )\b
      | \b(?: expired | stale | outdated | invalid )\s(?:\w+\s)?(?: certificates? | leases? | domains? | cookies?
      | entr(?:y|ies) )\b
      | \b(?: far\sfrom | nowhere\snear | half | quarters? | thirds? | (?<![\d.,])\d?\d\s?% )\s(?:being\s)?full\b
      | \b(?: full | disk ) \s (?: full | list | details? | disk | text | story | account | report | log | name )\b
      | \bbefore\s(?:it|they|its|their)\sexpir\w+ | \btokens?\s(?: bucket | count | limit )\b | \bevent\sloops?\b
      | \brefresh\w*\s(?: interval | rate | of\s(?:the\s|its\s|their\s)?(?:dashboards?|page|graph|cache|dns|view) )\b
      | (?: (?<=\d[.,:–-]) | (?<=[#€$]) | (?<=\.\w{1,4}:)
          | \b(?: lines? | ports? | pages? | issues? | tickets? | rows? | number | in\sall | total\sof
          | instead\sof )\s(?:an?\s)?
        ) 401\b
      | \b401 (?: [.,–-]\d | \s?(?:[kmg]b|ms|%) | \s[bs]\b
          | \s(?:\w+\s)?(?: events | jobs | deliveries | messages | webhooks | lines | times | workers | threads
          | entries | tests
            | files | bytes | seconds | minutes | hours | days )\b )
      | \bunauthori[sz]ed\s(?: access | person | people | users? | changes? | use | callers? | publishers? | senders?
          | requests?(?!\s(?:to|at)\b) )\b""",
    _FLAGS,
)
# What intake answers to publishers is not what a target answered. A label before a colon tells of the whole sentence.
_REFUSED = r"\b(?: 401s? | unauthori[sz]ed )\b"
_TARGET = r"\b(?: targets? | harbourpay | gateway | services? | endpoint | their | deliver\w* | came\sback )\b"
_INTAKE = lazily(
    rf"""(?: ^ | (?<= [,;:.!?(]\s? | \s-\s ) ) (?! {_CLAUSE}{_TARGET} ) (?= {_CLAUSE}{_REFUSED} )
        {_CLAUSE} (?: \bintake\b
          | \b(?: to | for | from | g[ai]ve | refuse[sd]? | reject(?:s|ed)? | turn(?:s|ed)?\saway )\s
            (?:\w+\s){{0,2}}publishers?\b
          | \bpublishers?\s(?:\w+\s){{0,5}}(?: g[eo]t | receives? | received | are | were )\b ) {_CLAUSE}
      | \bintake\b \W{{0,4}}:\W{{1,4}} (?: (?! [.;!?](?:\s|$) | {_TARGET} ) . ){{0,100}} {_REFUSED}""",
    _FLAGS,
)


def claimed(text: str) -> str:
    """`text`, normalised, without what it denies, guesses, asks or says of something else; a full stop marks a cut.

    Raises Fault check-error when that takes too long.
    """
    flat = _SHORT.sub(r"\1", stated(text))
    for cut in (_ASKED, _GUESSED, _RULED_OUT, _INTAKE, _ELSE, _DENIED):
        try:
            flat = cut.sub(". ", flat, timeout=TIMEOUT)
        except TimeoutError:
            raise Fault("check-error", f"what a text claims took over {TIMEOUT:g} s") from None
    return " ".join(flat.split())
