"""Raw protocol markers in an answer, however their words are joined: claim_id, claimId, claim‑id, `claim<wbr>_id`.

Words with nothing but white space between them are prose ("the claim id card"), and so is a dash between spaces.
"""

from functools import cache
from typing import Any

import regex

from heldout.checks.keywords import plain
from heldout.checks.patterns import lazily

_ESCAPE = lazily(r"\\+u([0-9a-fA-F]{4})")
_BLOCK = lazily(r"</?(?:br|hr|p|div|[uo]l|li|table|t[rdh]|h\d|pre|blockquote)\b[^<>]*>")
_INLINE = lazily(r"<!--.*?-->|</?[a-z][^<>]*>")
_DASH = r"\p{Pd}\u2212\u02d7\u2043"
_LINE = r"\p{Pc}\u02cd\u0331\u0332\u0333"
_JOINT = rf"(?:[\s{_DASH}]*[{_LINE}][\s{_DASH}{_LINE}]*|[{_DASH}]+\s?|\s[{_DASH}]+(?!\s)|)"
_VERSION = lazily(r"v\d+")


def shown(markers: list[str], answer: str) -> list[str]:
    """Those of `markers` (words joined by `_`) that an answer, as it was written, shows."""
    whole = plain(_ESCAPE.sub(lambda match: chr(int(match[1], 16)), answer))
    texts = (whole, _INLINE.sub("", _BLOCK.sub(" ", whole)))  # a marker may stand in a tag, too
    return [marker for marker in markers if any(_compiled(marker).search(text) for text in texts)]


@cache
def _compiled(marker: str) -> Any:
    """In singular or plural, numbered or not, with any version or none."""
    words = marker.casefold().split("_")
    version = rf"(?:{_JOINT}v\d+)?" if _VERSION.fullmatch(words[-1]) else ""
    body = _JOINT.join(map(regex.escape, words[:-1] if version else words)).removesuffix("s")
    return regex.compile(rf"(?<![a-z0-9]){body}s*{version}\d*(?![a-z0-9])", regex.V0)
