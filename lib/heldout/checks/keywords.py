"""Keywords of an answer that people read: literal words and phrases of any language, no patterns.

A keyword stands in a text whatever its letter case, width (NFKC), spelling of accents, line breaks, Markdown emphasis
and invisible characters. Whole words where words are meant: next to a letter or digit of a keyword no other letter or
digit may stand, but for scripts written without spaces (Chinese, Japanese). A space in a keyword also stands for `-`
or `_`; a `*` at its end for any ending of the word.
"""

import html
import unicodedata
from functools import cache, lru_cache
from typing import Any

import regex

from heldout.checks.patterns import normal

_DENSE = r"\p{Han}\p{Hiragana}\p{Katakana}"  # scripts written without spaces
_LETTER = rf"[[\p{{L}}\p{{M}}\p{{N}}]--[{_DENSE}]]"
_QUOTE = regex.compile(r"(?m)^[ \t]*(?:>[ \t]?)+")
_MARKUP = regex.compile(r"[*`~]|\\(?=[[:punct:]])")
_LOOSE = regex.compile(rf" (?=[{_DENSE}])|(?<=[{_DENSE}]) ")
_TOKEN = regex.compile(rf"[{_DENSE}]|{_LETTER}+", regex.V1)


@lru_cache(maxsize=256)
def plain(text: str) -> str:
    """Text as keywords are looked for in it: normalised, in small letters, without markup."""
    flat = normal(_QUOTE.sub(" ", html.unescape(text)))
    small = unicodedata.normalize("NFKC", _MARKUP.sub("", flat).casefold())
    return _LOOSE.sub("", small)


@cache
def _compiled(keyword: str) -> Any:
    body = plain(keyword.removesuffix("*"))
    edges = [bool(regex.match(_LETTER, char, regex.V1)) for char in (body[0], body[-1])]
    before = rf"(?<!{_LETTER})" if edges[0] else ""
    after = rf"(?!{_LETTER})" if edges[1] and not keyword.endswith("*") else ""
    words = r"[\s_-]+".join(regex.escape(word) for word in regex.split(r"[\s_-]+", body) if word)
    return regex.compile(before + words + after, regex.V1)


def stands(keyword: str, text: str) -> bool:
    """Whether `keyword` stands in `text`, which is `plain`."""
    return _compiled(keyword).search(text) is not None


def words(text: str) -> list[str]:
    """The words of a `plain` text; a character of a script without spaces counts as one."""
    return _TOKEN.findall(text)
