"""Patterns over text that people and models write: one way to normalise, compile and match.

Text is NFKC-normalised, invisible characters dropped and white space collapsed, so that line breaks, full-width
letters and combining accents do not decide. Patterns ignore case. A pattern that runs away is a fault of the check.
"""

import unicodedata
from functools import cache
from typing import Any

import regex

from heldout.errors import Fault

TIMEOUT = 2.0  # seconds a pattern may take on one text
_DEFINED = regex.compile(
    r"""\(\?\(DEFINE\) (?: \s* \(\?<(?<name>\w+)> (?<body> (?<inside>
          [^()\[\\] | \\. | \[ \^? \]? (?: [^\]\\] | \\. )* \] | \( (?&inside)* \) )* ) \) )+ \s*\)""",
    regex.VERBOSE | regex.DOTALL,
)
# Format characters (zero-width spaces and joiners, marks of direction, soft hyphens), fillers, variation selectors.
_INVISIBLE = regex.compile(r"[\p{Cf}\p{Variation_Selector}\u034f\u115f\u1160\u3164\uffa0]+")


@cache
def compiled(pattern: str) -> Any:
    """The compiled pattern; raises regex.error."""
    return regex.compile(inlined(pattern), regex.IGNORECASE | regex.DOTALL | regex.VERSION0)


def inlined(pattern: str) -> str:
    """`pattern` with the groups of its `(?(DEFINE) (?<name> …) …)` in place of their calls `(?&name)`, which is ten
    times as fast; as it is where a group calls itself.
    """
    found = _DEFINED.search(pattern)
    if not found:
        return pattern
    bodies = dict(zip(found.captures("name"), found.captures("body"), strict=True))
    flat = pattern[: found.start()] + pattern[found.end() :]
    for _ in bodies:
        for name, body in bodies.items():
            flat = flat.replace(f"(?&{name})", f"(?:{body})")
    return pattern if "(?&" in flat else flat


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
