"""What an answer says of its matter, and what it only names to deny, rule out or warn against. English and Chinese.

'The broker is not the cause' does not name the broker as the cause, and 'do not run FLUSHALL' does not advise it. What
is denied is told by the words right around an occurrence and by nothing else, for causes are full of negations: 'no
longer falls back', 'abandoned uploads', 'not answered by CoreDNS'. A negation within an occurrence ('no index', 'not
the migration') is part of what is said. Sentences are `heldout.checks.keywords.plain`.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

import regex

from heldout.checks.keywords import occurrences, plain
from heldout.checks.patterns import lazily

_FLAGS = regex.VERBOSE | regex.VERSION0
_NEAR = 160  # letters of a sentence before and after an occurrence that can deny it


def _compiled(*patterns: str) -> regex.Pattern[str]:
    return lazily(" | ".join(patterns), _FLAGS)


def _ending(*patterns: str) -> regex.Pattern[str]:
    """Whether a text ends with one of `patterns`."""
    return lazily(f"(?: {' | '.join(patterns)} ) $", _FLAGS)


_SENTENCE = _compiled(r"(?<=[;!?。])", r"(?<=\.)\s")
_ITEM = _compiled(r"(?: [-*+•·–]\s | \d{1,2}[.)、](?=\D) | [①-⑳] | \| )")
_HEADING = _compiled(r"(?: \#{1,6}\s .* | \*\*[^*]{1,60}\*\* ) (?<![:\uFF1A]\**) \s* $")
# \uFF1A is the full-width colon: these lines are as they were written.
_COLON = _compiled(r"[:\uFF1A]\**\s*$")
_LABEL = _compiled(r"\*\*[^*]{1,60}(?: [:\uFF1A.。]\s*\*\* | \*\*\s*[:\uFF1A] )")

# A label whose text is denied, or a heading whose items are.
_DENYING = _compiled(
    r"""[\W_]* (?: \d+[.)、]\s? )? (?:
        (?: what\s(?:it\s)?(?:is|was)\s )? not\s (?: the\s )? (?: root\s )?
            (?: causes? | reasons? | culprits? | involved | related | affected | to\sblame )
      | (?: causes?\s | hypotheses\s | explanations?\s )? (?: ruled\sout | excluded | discarded | rejected )
            (?: \s (?: causes? | hypotheses | explanations? ) )?
      | what\snot\sto\sdo | do\snot(?:\sdo)? | don['’]ts?
      | 已?排除 (?: 项 | 的?(?: 可能性? | 原因 | 假设 | 因素 ) )? | 不是(?: 根因 | 原因 ) | 非根因
      | 与(?: 本次 | 故障 )?无关 | 不要做 | 禁止(?: 操作 | 事项 )? | 请勿 | 切勿 )
      (?: \s? [:–—] | \s - | \.? \s* $ )"""
)

# What may stand between a denial and what it denies: an article and up to two words that do not turn it.
_NO_TURN = r"""(?! (?: but | because | since | so | which | that | while | only | sole | first | last | same | as | by
  | from | than | of | on | in | at | for | to | with | enough | healthy | working | usable | running | free | live
  | available | longer | whole | right | correct | more | valid | ready ) \b )"""
_WORDS = rf"(?: {_NO_TURN} [\w'’./-]+ \s ){{0,2}}"
_ARTICLE = r"(?: an? | the | any | our | some | such\san? )"
_NOUN = rf"(?: {_ARTICLE} \s )? {_WORDS}"
_NOT = r"(?: \b not | n['’]t )"
_IT = r"(?: this | it | there )"
_BE = r"\b (?: is | was | are | were | it['’]s | that['’]s )"
_CAUSED = r"""(?: due\sto | because\sof | about | of
  | (?: caused | triggered | explained | produced ) \s by
  | (?: related | linked | connected | owed | attributable ) \s to
  | an?\s (?: matter | case | sign | result | consequence | question | symptom ) \s of )"""
_SHOW = r"(?: show | suggest | indicate | prove | mean | confirm | support | point\sto )"
_RULED = r"(?: ruled\sout | excluded | exonerated | discarded | dismissed | refuted | disproved )"
_RULE_OUT = r"""(?<! cannot\s | not\s | n['’]t\s | unable\sto\s ) \b (?: rul(?: e | es | ed | ing )\sout
  | exclud(?: e | es | ed | ing ) | exonerat\w+ | disprov\w+ | refut\w+ | (?: speaks? | spoke | argues? ) \s against
  | (?: we | i ) \s (?: have\s | can\s | also\s )? (?: discard(?:ed)? | dismiss(?:ed)? | reject(?:ed)? ) )"""
_DO = r"""(?: (?: re )?(?: start | boot | vert ) | flush | empty | clear | run | use | drop | kill | roll | disable
  | delete | purge | scale | touch | wipe )"""
# An imperative stands where a clause begins: 'the pods do not reach CoreDNS' has a subject.
_STARTS = r"(?: ^ | [,:(–—-]\s? | \b (?: and | but | please | also | either ) ,? \s )"
_AGAINST = rf"""(?: {_STARTS} (?: please\s )? (?: do\snot | don['’]t | never | refrain\sfrom
      | under\sno\scircumstances
      | neither \s (?= {_DO} ) )
  | \b (?: you | we | one | nobody | anyone ) \s (?: must | should | shall | may | can ) (?: \snot | n['’]t | \snever )
  | \b nobody \s (?: must | should )
  | \b (?: advise | recommend | warn | decided? ) \s against ) \b"""
# Of one clause; 'do not wait, run it', 'do not forget to run it' and 'do not only run it' warn against nothing.
_ADVISED = r"""(?: , [^,.;:!?]{1,40} , )? (?: (?! \b (?: but | because | since | so | then | instead | just | only
  | until | unless | before | forget | hesitate | fail | wait | delay | worry ) \b | \s[–—-]\s )
  (?: [^,;:!?] | ,(?=\sn?or\b) ) ){0,80}"""

_BEFORE = _ending(
    rf"{_BE} \s? {_NOT} \s (?: actually \s | really \s | yet \s )?",
    r"\b (?: nothing \s (?: is | was | gets | got ) | zero ) \s",
    rf"{_NOT} \s (?: look | seem | sound | appear ) \s (?: like | to\sbe ) \s {_NOUN}",
    rf"\b (?: do | does | did | ha[sd] | have | be(?:en)? ) \s? {_NOT} \s (?: be(?:en)? \s )?",
    r"(?: ^ | [,:(–—-] \s? | \b and \s ) not \s (?: yet \s )?",
    rf"{_NOT} \s {_ARTICLE} \s {_WORDS} (?: of \s (?: the \s )? )?",
    rf"(?: cannot | {_NOT} ) \s be \s (?: said | claimed | shown | argued ) \s that \s {_NOUN}",
    rf"{_NOT} \s {_CAUSED} \s {_NOUN}",
    rf"{_NOT} \s (?: true | the\scase | correct ) \s that \s {_NOUN}",
    rf"\b (?: wrong | false | untrue | incorrect ) \s (?: to \s (?: say | think | assume ) \s )? that \s {_NOUN}",
    rf"{_NOT} \s {_SHOW} \s (?: that \s )? {_NOUN}",
    rf"\b nothing \s (?: \w+ \s )? {_SHOW} s? \s (?: to \s | that \s )? {_NOUN}",
    rf"\b (?: there | it ) (?: \s (?: is | was | are | were ) | ['’]s ) \s no \s {_WORDS}",
    rf"""(?: ^ | [,:(–—-] \s? | \b (?: and | saw | found | sees? | find | shows? | had | has | have | with ) \s )
         no \s {_WORDS}""",
    rf"""\b no \s (?: \w+ \s )? (?: sign | evidence | trace | indication | hint | proof )s? \s (?: of | for | that )
         \s {_NOUN}""",
    rf"{_RULE_OUT} \s (?: that \s (?: it | there | this ) \s was \s )? {_NOUN}",
    rf"""\b (?: unrelated\sto | independent\sof | nothing\sto\sdo\swith | no\s(?: relation | link )\sto
         | no\sconnection\swith ) \s {_NOUN}""",
    r"\b (?: instead\sof | rather\sthan | as\sopposed\sto ) \s (?: using \s | running \s )?",
    r"\b without \s (?: using | running ) \s",
    rf"{_STARTS} avoid \s (?: using \s | running \s | an? \s | the \s | any \s )?",
    rf"{_BE} \s neither \s [^.;:!?]*",
    rf"\b (?: were \s {_IT} | if \s {_IT} \s (?: were | was | had\sbeen ) ) \s {_NOUN}",
    rf"{_AGAINST} {_ADVISED}",
    # Chinese: a few characters of one clause, which no 而是 turns.
    r"""(?: 不是 | 并非 | 绝非 | 而非 | 不属于 | 不太?像 | 谈不上 | 不存在 | 未发现 | 没有发现 | 未见 | 没有看到
          | 没有证据表明
          | (?: 没有 | 未 ) (?: 出现 | 发生 ) | 并无 | 不涉及
          | (?<! 未 | 没 | 没有 | 不能 | 无法 | 难以 | 不可 ) 排除 (?: 了 | 掉 )? )
        (?! 所有 | 唯一 | 只 | 仅 | 全部 | 首次 | 可用 ) (?: (?! 而是 | 但 | 却 | 只是 ) [\w\s./-] ){0,8}""",
    r"(?: 没有 | 并未 | 尚未 | 从未 | 未曾 | 无法 | 不能 | 没 | 未 | 无 | 不 ) (?: 被 | 明显 | 任何 )?",
    r"""(?: 请勿 | 切勿 | (?<!需)不要 | 千万别 | 请别 | 禁止 | 严禁 | 不得 | 不应该? | 避免 | 不建议 | 无需
          | 不必 | 勿 )
        (?! 忘 | 犹豫 | 只 | 仅 | 等 ) [^,;:。!?]{0,20}""",
)
_QUOTED = "'\"“”‘’«»「」【[("

# What follows an occurrence and takes it back: first the rest of its noun phrase, then the denial.
_MORE = r"""(?: \s [\w.'’/-]+ | \s (?: on | of | at | in | for | from ) \s [\w.:/-]+ (?: \s and \s [\w.-]+ )?
  | \s? \([^()]*\) ){0,2}?"""
_INCIDENT = r"(?: this\b | it\b | the\s (?: incident | errors? | problem | failures? | outage | slowdown ) )"
_NO_CAUSE = rf"""(?: {_NOT} \s (?: the \s | our \s | an? \s )? (?: root \s | real \s )?
      (?: cause | culprit | reason | problem | issue | explanation | to\sblame | at\sfault | involved | responsible
        | guilty | related | relevant ) \b
  | (?: \w+ly \s | both \s | all \s | be(?:en)? \s )* {_RULED} \b
  | (?: innocent | fine | healthy | incidental | irrelevant | a\scoincidence | a\sred\sherring ) \b
  | unrelated \b (?! \s to \s (?! {_INCIDENT} ) ) )"""
_ZH_ALL = r"(?: 全部 | 都 | 均 | 也 | 一切 | 完全 | 本身 )*"
_AFTER = _compiled(
    rf"""{_MORE} (?: \s (?: is | was | are | were | isn | wasn | aren | can | could | has | have ) \s?
           | \s? [:–—(-] \s? ) {_NO_CAUSE}""",
    rf"{_MORE} \s (?: d(?:id|oes|o) | could | can ) \s? {_NOT} \s (?: cause | explain | trigger | account | add )",
    rf"""{_MORE} \s (?: {_BE} | seems? | looks? | appears? ) \s? (?:
          {_NOT} \s (?: an\soption | needed | necessary | advisable | recommended | allowed | happening )
          | (?: very \s | highly \s )? unlikely | forbidden | prohibited | dangerous | out\sof\sthe\squestion ) \b""",
    rf"""{_MORE} \s (?: (?: must | should | may | can ) \s? (?: not | n['’]t | never ) \s be \s
            (?: run | used | executed | issued | done | touched )
          | (?: should | must ) \s be \s avoided | would \s (?: only \s | just \s )? make \s \w+ \s worse ) \b""",
    r"\s? : \s? (?: no | none | 否 | 无 | 不是 ) (?= [,.;。)] | $ )",
    r"[^,;:。!?]{0,4} (?: 不可 | 不能 | 不应该? | 不得 | 不宜 | 不要 | 禁止 ) (?: 执行 | 使用 | 运行 )",
    r"[^,;:。!?]{0,6} 可能性? (?: 很 | 较 | 极 | 非常 )? (?: 小 | 低 )",
    rf"{_MORE} \s (?: has | had | have ) \s nothing \s to \s do \b",
    rf"""[^.;:!?,]{{0,40}} \b (?: was | were ) \s (?: first \s | initially \s | also \s )?
          (?: suspected | considered | examined | a\scandidate ) \b [^.;!?]{{0,24}}? \b (?: but | yet | and ) \s
          [^.;!?]{{0,40}}? (?: \b (?: not | {_RULED} | rejected | fine | healthy ) \b | n['’]t \b )""",
    r"""[^,;:。!?]{0,10}? (?<! 结果 | 现象 | 结果而 | 现象而 ) (?: 并?不是 | 并非 | 非 )
          (?: 本次 | 此次 | 这次 | 直接 | 真正 | 主要 )? 的? (?: 根本 )? (?: 原因 | 根因 | 问题 | 主因 | 元凶 )""",
    r"""[^,;:。!?]{0,12} ,? (?: 均 | 都 | 也 | 但 | 现 )? (?: 已经? | 可以? | 被 | 予以 | 应 ) (?: 被 | 以 )? 排除
          (?= \W | $ )""",
    r"""[^,;:。!?]{0,12} (?: 与 | 和 | 跟 ) (?: 此 | 本次 | 这次 | 该 | 之 | 故障 | 事故 | 问题 ) [^,;:。!?]{0,8}
          (?: 无关 | 没有?关系 )""",
    r"[^,;:。!?]{0,8} (?: 不成立 | 站不住 | 不属实 )",
    rf"[\w.-]{{0,4}}? {_ZH_ALL} (?: 并?没有 | 并?未 | 没 ) (?: 任何 )? (?: 过期 | 问题 | 异常 | 故障 | 变化 )",
    rf"[\w.-]{{0,4}}? {_ZH_ALL} (?<! 恢复 ) (?: 正常 | 有效 | 健康 | 无异常 ) (?= [\s,;:。.!?()、] | $ )",
)
# Both sides together: 'we looked at X and discarded it', 'neither X nor Y is the cause', 与 X 无关.
_AROUND = (
    (
        _ending(r"\b (?: looked\sat | considered | checked | suspected | examined | weighed | tested ) \s [^.;!?]*"),
        _compiled(rf"[^.;!?]{{0,90}}? \b (?: and | but | then ) \s (?: \w+ \s ){{0,3}} (?: {_RULED} | rejected )"),
    ),
    (
        _ending(r"\b neither \s (?!of\b) [^.;:!?]{0,60}"),
        _compiled(
            rf"""[^.;:!?]{{0,60}}? {_BE} \s (?: the \s (?:root \s)? (?: cause | reason | culprit ) | to\sblame
                 | involved | responsible | at\sfault | seen | found )"""
        ),
    ),
    (
        _ending(
            rf"\b (?: claim | assumption | theory | idea | suspicion | hypothesis ) s? \s (?: of | that ) \s {_NOUN}"
        ),
        _compiled(r"[^.;:!?]{0,60}? \b (?: is | was | are ) \s (?: wrong | false | untrue | unfounded | mistaken ) \b"),
    ),
    (
        _ending(r"(?: 与 | 和 | 跟 | 同 ) [^,;:。!?]{0,12}"),
        _compiled(r"[^,;:。!?]{0,10} (?: 无关 | 没有?关系 | 无直接关系 | 不相关 )"),
    ),
)
_NEITHER = _ending(rf"{_STARTS} neither \s")  # before an occurrence that begins with the verb
_VERB = _compiled(rf"{_DO} \b")
# 'no consumer left', 没有 querynode 可用: what is told is a lack of it.
_LACK = _compiled(
    r"""s? (?: \s \w+ )? \s (?: left | served | runs? | works? | remain\w* | available | free | respond\w* | answer\w*
          | running ) \b""",
    r"(?: 可用 | 剩余 | 存活 | 空闲 )",
)

# A statement that is left open: 'whether X', 'it is not confirmed that X', 是否 X, 尚未确认 X.
_KNOWN = r"(?: known | clear | certain | confirmed | established | verified | shown | proven | proved )"
_NO_BUT = r"(?: (?! \b but \b | 但 ) [^.;!?。] )"
_OPEN_BEFORE = _ending(
    rf"""\b (?: whether | unknown | unclear | unconfirmed | unverified
          | (?: cannot | can['’]t | can\snot | could\snot | couldn['’]t ) \s (?:\w+\s)? (?: say | tell | confirm | claim
              | establish | verify )
          | (?: not | \w+n['’]t ) \s (?: yet \s | been \s | be \s )* (?: {_KNOWN} | say | know | claim ) ) \b
          {_NO_BUT}*""",
    rf"""(?: 是否 | 未知 | 不清楚 | 不知道
           | (?: 未 | 无法 | 不能 | 待 | 没有 ) 能? 被? (?: 确认 | 确定 | 证实 | 核实 | 查明 | 判断 ) )
         {_NO_BUT}*""",
)
_OPEN_AFTER = _compiled(
    rf"""{_NO_BUT}{{0,60}}? \b (?: is | was | remains? ) \s (?: still \s )?
          (?: unknown | unclear | unconfirmed | unverified | open | not \s (?: yet \s )? {_KNOWN} ) \b""",
    rf"""{_NO_BUT}{{0,60}}? \b (?: could | can | has | was | is ) (?: \s? not | n['’]t ) \s
          (?: be \s | been \s )? {_KNOWN} \b""",
    rf"{_NO_BUT}{{0,20}}? (?: 未知 | 不清楚 | 存疑 | (?: 未 | 待 | 无法 ) 能? 被? (?: 确认 | 证实 | 核实 | 确定 ) )",
)

# Within a claim of two texts.
_OPEN_WITHIN = _compiled(
    r"\b (?: whether | maybe | may | might | perhaps | possibly | probably | likely ) \b", r"是否 | 可能 | 或许 | 疑似"
)


@dataclass(frozen=True)
class Block:
    """A paragraph, item, heading or row of an answer, sentence by sentence, and whether all of it is denied."""

    sentences: tuple[str, ...]
    item: bool
    denied: bool

    @property
    def text(self) -> str:
        return " ".join(self.sentences)

    def with_sentences(self, change: Callable[[str], str]) -> "Block":
        return replace(self, sentences=tuple(map(change, self.sentences)))


@lru_cache(maxsize=64)
def blocks(answer: str) -> tuple[Block, ...]:
    """An answer as it was written, block by block; items below a heading that denies are denied."""
    found = list[Block]()
    denying = False
    for raw in _raw_blocks(answer):
        text, item = plain(raw), _ITEM.match(raw) is not None
        label = _DENYING.match(text) is not None
        denying = (label and not item) or (denying and item)
        if text:
            sentences = tuple(part.strip() for part in _SENTENCE.split(text) if part and part.strip())
            found.append(Block(sentences, item, label or denying))
    return tuple(found)


def _raw_blocks(answer: str) -> Iterator[str]:
    """Lines that belong together; what ends with a colon belongs to what follows it."""
    lines = list[str]()
    for line in answer.splitlines():
        bare = line.strip(" \t>")
        heading = _HEADING.match(bare) is not None
        parted = not bare or heading or _ITEM.match(bare) or _LABEL.match(bare)
        if lines and parted and not _COLON.search(lines[-1]):
            yield "\n".join(lines)
            lines = []
        lines += [bare] if bare else []
        if heading:
            yield "\n".join(lines)
            lines = []
    yield "\n".join(lines)


def said(keyword: str, block: Block, *, open_too: bool = True) -> bool:
    """Whether a block says `keyword`: it stands there and is not denied; nor, unless `open_too`, left open."""
    if block.denied:
        return False
    return any(
        not denied(sentence, *place) and (open_too or not left_open(sentence, *place))
        for sentence in block.sentences
        for place in occurrences(keyword, sentence)
    )


def denied(sentence: str, start: int, end: int) -> bool:
    """Whether what stands from `start` to `end` is only asked for, denied, ruled out or warned against."""
    before, after = _sides(sentence, start, end)
    if sentence.rstrip(" '\"”’»」)").endswith("?"):
        return True
    if _BEFORE.search(before) and not _LACK.match(after):
        return True
    if _NEITHER.search(before) and _VERB.match(sentence, start):
        return True
    return bool(_AFTER.match(after)) or any(one.search(before) and two.match(after) for one, two in _AROUND)


def left_open(sentence: str, start: int = 0, end: int = 0) -> bool:
    """Whether it is told as unknown or not confirmed whether what stands from `start` to `end` holds."""
    before, after = _sides(sentence, start, end)
    return bool(_OPEN_BEFORE.search(before) or _OPEN_AFTER.match(after) or _OPEN_WITHIN.search(sentence[start:end]))


def _sides(sentence: str, start: int, end: int) -> tuple[str, str]:
    return sentence[max(0, start - _NEAR) : start].rstrip(_QUOTED), sentence[end : end + _NEAR]
