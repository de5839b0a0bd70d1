"""What a verifier's summaries tell of calls: a tool that one names was called, unless it says that it was not."""

from collections.abc import Iterator
from typing import Any

import regex

from heldout.checks.keywords import plain
from heldout.checks.patterns import lazily

_CALLED = r"(?:called|run|ran|invoked|used|executed|queried|made|consulted|issued|tried|performed|read|done)"
_CALL = r"(?:call|run|invoke|use|execute|query|consult|issue|try|perform|read)"
_CALLS = r"(?:调用|执行|运行|使用|查询|跑)"
_DENIED = lazily(
    rf"""\b(?:never|not|n['’]t|no\slonger)\b(?:\s(?:yet|been|be|actually|even|ever|\w+ly)){{0,3}}\s{_CALLED}\b
      | (?:\bnot|n['’]t|\bnever)(?:\s(?:actually|even|\w+ly))?\s{_CALL}\b
      | \b(?:was|were|is|did|has|had)(?:\snot|n['’]t)\s*$
      | \bwithout\s(?:calling|running|invoking|using|executing|querying|(?:an?|any|the)\s(?:call|use)\b)
      | \b(?:skipped|skipping|uncalled|unused|omitted)\b
      | \b(?:no|missing|lacks?\san?|lacks?)\s(?:call|invocation|use)s?\b
      | \b(?:should|must|could|would|might|to)\s(?:have\s)?(?:been|be)\s{_CALLED}\b
      | \b(?:should|must|needs?\sto|ought\sto)\s(?:have\s)?(?:{_CALL}|{_CALLED})\b
      | (?:从未|未曾|尚未|并未|还未|没有|没|未|不曾)(?:被|有|去|再|进行|实际|真正)*{_CALLS}
      | 跳过|(?:缺少|缺|无)(?:对)?.{{0,30}}调用|(?:应该?|需要?|建议|必须)(?:先|再|被)?{_CALLS}""",
    regex.VERBOSE | regex.VERSION0,
)
_SENTENCE = lazily(r"(?<=[;!?。])|(?<=\.)\s")
_CLAUSE = lazily(
    r",|，|、(?=未|没|跳过)|\s(?:but|while|whereas|although|though)\s|而(?!且)|但"
    r"|\sand\s(?=\S+\s(?:was|is|has|had|did)\b)"
)
_FLAG = lazily(rf"(?:^|_){_CALLED}$")
_NAME = lazily(r"[a-z0-9]+(?:[_-][a-z0-9]+)+")


def told(summaries: Any) -> str:
    """The clauses of all summaries that do not deny a call, in small letters."""
    return "\n".join(clause for text in _texts(summaries) for clause in _stated(text))


def _stated(text: str) -> Iterator[str]:
    for sentence in _SENTENCE.split(plain(text)):
        clauses = [part for part in _CLAUSE.split(sentence or "") if part]
        kept = list[str]()
        for clause in clauses:
            if not _DENIED.search(clause):
                kept.append(clause)
            elif not _NAME.search(clause):  # 'query_logs, which the case needs, was never called'
                kept = kept[: next((place for place in reversed(range(len(kept))) if _NAME.search(kept[place])), 0)]
        yield from kept


def _texts(value: Any) -> Iterator[str]:
    """A text for each summary; an object is one, its keys before their values."""
    for item in value or ():
        yield _flat(item)


def _flat(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(_entry(str(key), item) for key, item in value.items() if item not in (None, "", [], {}))
    if isinstance(value, list):
        return ", ".join(map(_flat, value))
    return str(value)


def _entry(key: str, value: Any) -> str:
    if value is True:
        return key
    if value is False and (_FLAG.search(key.casefold()) or _NAME.fullmatch(key.casefold())):
        return "was not" if _FLAG.search(key.casefold()) else f"{key} was not"
    return f"{key}: {_flat(value)}"
