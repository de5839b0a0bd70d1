"""What an answer leaves open: whether it says that nothing could be established, and which cause it only asks for.

A phrase counts by what it claims. 'There is no insufficient evidence' and 并非证据不足 say the opposite of the words in
them; 'we cannot say what the root cause is' names none. Texts are `heldout.checks.keywords.plain`. English and Chinese.
"""

import regex

from heldout.checks.patterns import lazily

_FLAGS = regex.VERBOSE | regex.VERSION0
_FOUND = r"""(?: established | determined | verified | confirmed | identified | ascertained | concluded | pinpointed
  | proven | proved | located | diagnosed | substantiated | isolated | inferred | settled )"""
_FIND = r"""(?: establish | determine | verify | confirm | identify | ascertain | conclude | pinpoint | prove | locate
  | diagnose | substantiate | isolate | infer | name\s(?:an?|the|any)\b
  | (?:say|tell|know)(?=\s(?:what|why|which|whether|with)\b) | (?:draw|reach)\s(?:an?|any)\b )"""
_HOW = r"(?: (?: yet | be | been | currently | further | us\sto | \w+ly )\s )*"
_CANNOT = r"(?: cannot | can\snot | could\snot | can['’]t | couldn['’]t )"
_UNKNOWN = rf"""(?: unknown | unclear | undetermined | unconfirmed | unverified | unresolved | uncertain | inconclusive
  | open | not\s{_HOW}(?: known | clear | certain | {_FOUND} ) | {_CANNOT}\s{_HOW}{_FOUND}
  | could\snot\s{_HOW}{_FOUND} | impossible\sto\s{_FIND} | insufficient\sevidence )"""
_STILL = r"(?: (?: still | yet | as\syet | therefore | thus | currently | at\spresent | \w+ly )\s )*"
_LACKING = r"(?: 不足 | 不够 | 不充分 | 不充足 | 缺失 | 缺乏 )"
_ZH_FIND = r"""(?: 确认 | 确定 | 判断 | 验证 | 定位 | 证实 | 判定 | 得出 | 查明 | 核实 | 认定 | 断定 | 推断 | 识别
  | 下结论 | 给出 (?: 明确 | 确切 | 可靠 )?的?(?: 根因 | 结论 | 原因 ) )"""
_ZH_CANNOT = r"(?: 无法 | 未能 | 不能 | 难以 | 没法 | 没能 | 无从 | 尚不能 | 不可能 )"
_ZH_HOW = r"(?: 够 | 被 | 准确 | 最终 | 明确 | 可靠 | 进一步 | 完全 | 直接 | 就此 | 据此 | 对 )*"

_NOTICE = lazily(
    rf"""(?<![a-z])(?: {_CANNOT}\s{_HOW}(?: {_FOUND} | {_FIND} )
      | (?: was | were | is | are | has | have | had )(?:\snot|n['’]t)\s{_HOW}{_FOUND}
      | (?: unable\sto | not\sable\sto | impossible\sto | not\spossible\sto | no\sway\sto | fail(?:ed)?\sto )
          \s{_HOW}{_FIND}
      | no\s(?:\w+\s){{0,2}}(?: cause | conclusion | diagnosis )\s(?: can | could )
          \s{_HOW}(?: {_FOUND} | drawn | reached )
      | (?: insufficient | inadequate | inconclusive | not\senough | not\ssufficient | too\slittle | lack\sof
          | no\s(?:conclusive|sufficient) )\s(?:\w+\s)?(?: evidence | data | information )
      | evidence\s(?:\w+\s){{0,4}}?(?: is | are | was | were | remains? )\s{_STILL}
          (?: insufficient | inconclusive | inadequate | lacking | incomplete | too\s(?: thin | weak | sparse )
          | not\s(?:\w+\s)?(?: sufficient | enough | conclusive ) )
      | evidence\s(?: does | do | did )(?:\snot|n['’]t)\s(?: suffice | allow )
      | inconclusive | undetermined | indeterminate
      | (?: unclear | unknown | not\s(?:clear|known) )\s(?: what | why | which )
      | (?: cause | reason )s?(?: : | \s(?: is | are | was | remains? | stays? ) )\s{_STILL}{_UNKNOWN} )(?![a-z])
      | (?: 证据 | 依据 | 数据 | 信息 )(?: 还 | 仍 | 尚 | 并 | 明显 | 严重 | 依然 | 目前 | 均 | 都 )*{_LACKING}
      | (?: 缺乏 | 缺少 | (?: 没有 | 无 | 未找到 )(?: 足够 | 充分 ) )(?: 足够 | 充分 | 有效 | 直接 )*的?证据
      | {_ZH_CANNOT}{_ZH_HOW}{_ZH_FIND}
      | (?: 不清楚 | 不知道 )(?: 根因 | 原因 )
      | (?: 尚未 | 暂未 | 还未 )(?: 确认 | 确定 | 查明 | 定位 )\w{{0,4}}?(?: 根因 | 原因 )
      | (?: 根因 | 原因 )[是:]?(?: 目前 | 仍 | 尚 | 还 | 依然 | 仍然 | 暂时 )*
          (?: 不明 | 未知 | 不清楚 | 不确定 | 未(?: 确认 | 确定 | 查明 | 明 | 能 | 定位 ) )
      | (?: 没有 | 尚无 | 暂无 | 无 )(?: 明确 | 确定 )?的?(?: 定论 | 结论 )""",
    _FLAGS,
)
# What right before a notice turns it, and what right after it does.
_TURNED = lazily(
    r"""(?: \b(?: no | not | never | without | hardly | nor | neither | far\sfrom | nobody | none | false
          | untrue | wrong | incorrect ) | n['’]t )
        (?: \s(?: an? | any | case | matter | question | of | that | there | it | the | this | our | evidence
          | is | are | was | be | being | been | to | say | claim | argue | conclude | pretend | mean | true | one | can
          | could | should | would | because | due | here | simply | really | at | all | in | way | root | cause
          | even | such | thing | as ) )* \s?$
      | \b(?: some | people | others | you | critics | sceptics | one )\s(?: may | might | could | would | will )?\s?
          (?: say | think | claim | argue | object ) [^,.;:!?]* $
      | (?: ^ | \b(?: and | but | even )\s ) \s*(?: if | had | were )\b [^,]* $
      | \b(?: at\sfirst | initially )\b [^.;!?]* $
      | (?: 并非 | 并不是 | 不是 | 绝非 | 绝不是 | 并无 | 没有 | 不存在 | 谈不上 | 不再 | 并不 | 毫无 | 不能说
          | 不能认为 | 不应 | 不算 | 不属于 | 不会 | 未出现 | 非 | 无 | 排除了? | 不 )
        (?: 什么 | 任何 | 说 | 因为 | 由于 | 是 | 所谓的? | 因 | 目前 | 现在 | 的 | 出现
          | 存在 | 处于 | 属于 | 有 | 认为 | 我们 | 完全 )* $
      | (?: 如果 | 若 | 假如 | 倘若 | 除非 | 即使 | 即便 ) [^,]* $
      | (?: 起初 | 最初 | 一开始 | 有人 | 也许会说 | 可能会说 ) [^.;!?。]* $""",
    _FLAGS,
)
_TAKEN_BACK = lazily(
    r"""\s?(?: (?: claims? | here )\s )?(?: is | are | was | were )(?:\snot|n['’]t|\sno)\s
          (?: an? | the | true | what | longer | our | problem | issue | concern | case )\b
      | \s(?: is | was | has\sbeen | were )\s(?: ruled\sout | untrue | false | wrong | resolved | overcome )\b
      | \s? \?
      | 的?(?: 问题 | 情况 | 说法 | 结论 )?(?: 并?不(?: 存在 | 成立 | 属实 | 正确 )
          | 已经?(?: 排除 | 解决 ) | 是错误 | 是不对 )""",
    _FLAGS,
)
_CLAUSE = lazily(r"[,;:!?。、()]|\.(?=\s)|\s[–—-]+\s|\b(?:because|since|so|but|therefore|thus|hence)\s(?!of\b)")
_SENTENCE = lazily(r"(?<=[;!?。])|(?<=\.)\s|(?<=[,:])(?=(?:但|不过|而是))")

# The copula of a cause that is only asked for, or that is said to be unknown.
_OPEN = lazily(
    rf"""(?: \b(?: cannot | not | unable | impossible | unclear | unknown | inconclusive | without | nobody
            | insufficient | no\s(?:way|evidence) | open ) \b | n['’]t\b ) [^.;:!?]{{0,80}}?
          \b(?: what | which | whether | if | why | where )\s(?:[\w'’-]+\s){{0,6}}? \K (?: is | was | are | were )\b
      | \b(?: to | before\swe )\s{_HOW}(?: {_FIND}\s? | find\sout | learn | understand | see )\s?
          (?<! \b(?:able|managed|manage)\s to \b .{{0,20}} )
          \b(?: what | which | whether | if )\s(?:[\w'’-]+\s){{0,6}}? \K (?: is | was | are | were )\b(?!\s?[:–—-])
      | \b(?: cause | reason )s?\s? \K (?: : | \b(?: is | was ) ) (?= \s{_STILL}{_UNKNOWN}
          (?: \s?[,.;:!?()–—-] | $ | \s(?: because | since | as | for | due | at | until | without | and | given | yet
            | with | from | on ) \b ) )
      | (?: \b(?: cannot | not | unable | impossible ) \b | n['’]t\b ) [^,.;:!?]{{0,60}}? \b cause s?\s? \K :
      | (?: {_ZH_CANNOT} | 尚未 | 暂未 | 还未 | 没有 ) [^,。;:!?]{{0,12}}? (?: 根因 | 原因 ) \K :
      | (?: {_ZH_CANNOT} | 尚未 | 未 | 不清楚 | 不知道? | 不确定 | 不足以? | 要 | 为了 | 才能 | 以便 | 尚不 )
          [^。;:!?]{{0,30}}? \K 是(?= 什么 | 何 | 哪 | 谁 | 否 | 不是 )
      | (?: 根因 | 原因 ) \K (?: 是 | : ) (?= (?: 尚 | 仍 | 还 | 目前 | 暂时 | 依然 )*
          (?: (?: 未知 | 不明确? | 不确定 | 不清楚 | 未(?: 确定 | 确认 | 查明 ) ) 的?(?: [,.;:!?。()] | $ )
          | {_ZH_CANNOT}{_ZH_HOW}{_ZH_FIND} | 证据{_LACKING}
          | (?: 尚 | 暂 )?[无未] (?: 定论 | 结论 | 知 | 明 | 定 ) ) )""",
    _FLAGS,
)

# A cause that is guessed in spite of everything. A guess of what would help, or of what is not the cause, is none.
_GUESS = lazily(
    r"""\b(?: (?: most | very | highly )\s(?: likely | probabl[ey] ) | in\sall\s(?: likelihood | probability ) )\b
      | 更像是? | (?: 很 | 极 | 极有 | 最 | 最有 | 更 )可能 | 大概率 | 多半 | 十有八九""",
    _FLAGS,
)
_GUESS_OPEN = lazily(
    r"""(?: \b(?: no | not | nor | never | cannot | nothing | whether | which | what ) \b | n['’]t\b ) [^,.;:!?]* $
      | (?: 不能 | 无法 | 没有 | 是否 | 不 | 哪 ) [^,。;:!?]* $""",
    _FLAGS,
)
_GUESS_TURNED = lazily(
    r"""[^,.;:!?]{0,60}? (?: \b(?: no | not | never | nothing | cannot | unknown | will | would | help | answer | tell
            | show | needed | places? | unrelated | independent ) \b | n['’]t\b )
      | [^,。;:!?]{0,20}? (?: 不 | 无 | 没 | 未 | 非 | 与 | 需 | 能 | 有助 | 哪 )""",
    _FLAGS,
)


def given(answer: str) -> bool:
    """Whether an answer says that its matter could not be established."""
    for sentence in _SENTENCE.split(answer):
        for match in _NOTICE.finditer(sentence or ""):
            before = _CLAUSE.split(sentence[: match.start()])[-1]
            if not _TURNED.search(before) and not _TAKEN_BACK.match(sentence, match.end()):
                return True
    return False


def stated(answer: str) -> str:
    """An answer in which no cause 'is' that is only asked for, or said to be unknown."""
    return _OPEN.sub("…", answer)


def guess(answer: str) -> str:
    """The start of a cause that an answer guesses ('most likely …', 很可能), or ''."""
    for sentence in _SENTENCE.split(answer):
        for match in _GUESS.finditer(sentence or ""):
            before, after = sentence[: match.start()], sentence[match.end() :]
            if not _GUESS_OPEN.search(before) and not _GUESS_TURNED.match(after) and regex.search(r"\w", after):
                return sentence[match.start() :].strip()[:60]
    return ""
