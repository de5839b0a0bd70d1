"""Keywords of an answer that people read: literal words and phrases of any language, no patterns.

A keyword stands in a text whatever its letter case, width (NFKC), spelling of accents, line breaks, Markdown emphasis
and invisible characters. Whole words where words are meant: next to a letter or digit of a keyword no other letter or
digit may stand, but for scripts written without spaces (Chinese, Japanese). A space in a keyword also stands for `-`
or `_`; a `*` at its end for any ending of the word. `A ~ B` is both within a few words of one clause, in any order;
`A … B` is A and then, after two words at most, B.
"""

import html
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Any

import regex

from heldout.checks.patterns import lazily, normal

_DENSE = r"\p{Han}\p{Hiragana}\p{Katakana}"  # scripts written without spaces
_LETTER = rf"[[\p{{L}}\p{{M}}\p{{N}}]--[{_DENSE}]]"
_QUOTE = lazily(r"(?m)^[ \t]*(?:>[ \t]?)+")
_MARKUP = lazily(r"[*`~]|\\(?=[[:punct:]])")
_LOOSE = lazily(rf" (?=[{_DENSE}])|(?<=[{_DENSE}]) ")
_JOINED = lazily(r"\s[~…]\s")
_REACH, _STEP = 6, 2  # words between the two parts of `A ~ B` and of `A … B`; two characters of a dense script are one
# Between the two may stand what ends no clause and denies nothing; a word may have points within (5.12.0, 14:01).
_BETWEEN = r"[\s/()'\"_=#&+%、\[\]–-]*"
_NO = r"(?!(?:not?|never|neither|nor|cannot|without|\w+n['’]t)\b)"
_WORD = rf"(?:{_NO}{_LETTER}+(?:[.:,/'’-]{_LETTER}+)*|[[{_DENSE}]--[没未不非无]]{{1,2}})"
_TOKEN = lazily(rf"[{_DENSE}]|{_LETTER}+", regex.V1)


@lru_cache(maxsize=256)
def plain(text: str) -> str:
    """Text as keywords are looked for in it: normalised, in small letters, without markup."""
    flat = normal(_QUOTE.sub(" ", html.unescape(text)))
    small = unicodedata.normalize("NFKC", _MARKUP.sub("", flat).casefold())
    return _LOOSE.sub("", small)


def parts(keyword: str) -> list[str]:
    """The literal texts of a keyword: one, or the two that `~` or `…` joins."""
    return [part.strip() for part in _JOINED.split(keyword)]


@cache
def _compiled(keyword: str) -> Any:
    first, *others = map(_literal, parts(keyword))
    if not others:
        return regex.compile(first, regex.V1)
    reach = rf"(?:{_BETWEEN}{_WORD}){{0,{_REACH if '~' in keyword else _STEP}}}?{_BETWEEN}"
    there = first + reach + others[0]
    either = f"{there}|{others[0]}{reach}{first}" if "~" in keyword else there
    return regex.compile(either, regex.V1)


def _literal(text: str) -> str:
    body = plain(text.removesuffix("*"))
    edges = [bool(regex.match(_LETTER, char, regex.V1)) for char in (body[0], body[-1])]
    before = rf"(?<!{_LETTER})" if edges[0] else ""
    after = rf"(?!{_LETTER})" if edges[1] and not text.endswith("*") else rf"{_LETTER}*+" if text.endswith("*") else ""
    words = r"[\s_-]+".join(regex.escape(word) for word in regex.split(r"[\s_-]+", body) if word)
    return before + words + after


def occurrences(keyword: str, text: str) -> Iterator[tuple[int, int]]:
    """Where `keyword` stands in `text`, which is `plain`: start and end."""
    return (match.span() for match in _compiled(keyword).finditer(text))


def stands(keyword: str, text: str) -> bool:
    """Whether `keyword` stands in `text`, which is `plain`."""
    return _compiled(keyword).search(text) is not None


def words(text: str) -> list[str]:
    """The words of a `plain` text; a character of a script without spaces counts as one."""
    return _TOKEN.findall(text)
