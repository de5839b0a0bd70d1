"""Patterns over text that people and models write: one way to normalise, compile and match.

Text is NFKC-normalised, invisible characters dropped and white space collapsed, so that line breaks, full-width
letters and combining accents do not decide. Patterns ignore case. A pattern that runs away is a fault of the check.
Named groups of a `(?x)` pattern's `(?(DEFINE) …)` are put in where they are called: `regex` copies all that groups have
captured so far at each call, which takes the square of a text's length.
"""

import unicodedata
from functools import cache
from typing import Any, cast

import regex

from heldout.errors import Fault

_METHODS = ("search", "match", "fullmatch", "sub", "split", "findall", "finditer", "pattern")
TIMEOUT = 2.0  # seconds a pattern may take on one text
# Format characters (zero-width spaces and joiners, marks of direction, soft hyphens), fillers, variation selectors.
_INVISIBLE = regex.compile(r"[\p{Cf}\p{Variation_Selector}\u034f\u115f\u1160\u3164\uffa0]+")

_PART = r"[^()\\\[#]|\\.|\[\^?\]?(?:[^\]\\]|\\.)*\]|\#[^\n]*"  # a character, a set or a comment
_PARTS = rf"(?:{_PART}|(?P<group>\((?:{_PART}|(?&group))*\)))*"
_DEFINE = regex.compile(rf"\(\?\(DEFINE\){_PARTS}\)", regex.DOTALL)
_NAMED = regex.compile(rf"\(\?<(?P<name>\w+)>(?P<body>{_PARTS})\)", regex.DOTALL)
_CALL = regex.compile(r"\(\?&(\w+)\)")


class _Lazy:
    """A pattern that is compiled when something is first asked of it."""

    def __init__(self, pattern: str, flags: int) -> None:
        self._pattern, self._flags = pattern, flags

    def __getattr__(self, name: str) -> Any:
        found = regex.compile(self._pattern, self._flags)
        vars(self).update({method: getattr(found, method) for method in _METHODS})
        return getattr(found, name)


def lazily(pattern: str, flags: int = 0) -> regex.Pattern[str]:
    """`regex.compile`, put off: most of a check's start would be patterns that it does not come to use."""
    return cast("regex.Pattern[str]", _Lazy(pattern, flags))


@cache
def compiled(pattern: str) -> Any:
    """The compiled pattern; raises regex.error."""
    return regex.compile(_inlined(pattern), regex.IGNORECASE | regex.DOTALL | regex.VERSION0)


def _inlined(pattern: str) -> str:
    """`pattern` without calls of named groups, or as it is where one calls itself or is not defined."""
    block = _DEFINE.search(pattern) if pattern.startswith(("(?x)", "(?:(?x)")) else None
    if not block:
        return pattern
    bodies = {named["name"]: named["body"] for named in _NAMED.finditer(block[0])}
    left = pattern[: block.start()] + pattern[block.end() :]
    for _ in bodies:
        left = _CALL.sub(lambda call: f"(?:{bodies[call[1]]}\n)" if call[1] in bodies else call[0], left)
    return pattern if _CALL.search(left) else left


def either(*patterns: str) -> str:
    """One pattern that matches where any of `patterns` does."""
    return "|".join(f"(?:{pattern})" for pattern in patterns)


def normal(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", _INVISIBLE.sub("", text)).split())


def unseen(text: str) -> str:
    """The first character that no text has when it is searched, or '': control characters and those that do not show.

    Line breaks and tabs are none, since a verbose pattern has them between its parts.
    """
    hidden = _INVISIBLE.search(text)
    control = (letter for letter in text if unicodedata.category(letter) == "Cc" and letter not in "\n\t")
    return hidden[0][0] if hidden else next(control, "")


def found(pattern: str, text: str) -> str | None:
    """The first match of `pattern` in normalised `text`, or None. Raises Fault check-error when it takes too long."""
    try:
        match = compiled(pattern).search(text, timeout=TIMEOUT)
    except TimeoutError:
        raise Fault("check-error", f"pattern '{pattern}' took over {TIMEOUT:g} s") from None
    return match[0] if match else None


def missing(patterns: list[str], text: str) -> list[str]:
    """The patterns that `text` does not match."""
    flat = normal(text)
    return [pattern for pattern in patterns if found(pattern, flat) is None]
