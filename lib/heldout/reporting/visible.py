"""Text made fit to be shown: what cannot be seen is spelt out, what is too long is cut and says so."""

import re

# Controls, direction overrides and isolates, zero-width and tag characters, line separators, noncharacters. The two
# joiners stay: they belong to the spelling of several languages and cannot reorder anything.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufdd0-\ufdef\ufeff\ufff9-\ufffb"
    "\ufffe\uffff\U000e0000-\U000e007f\ud800-\udfff]"
)


def visible(text: str) -> str:
    """`text` with such characters as `⟨U+202E⟩`, carriage returns as line ends, and bytes that were no UTF-8 as `�`."""
    if not _UNSEEN.search(text):
        return text
    return _UNSEEN.sub(_spelt, text.replace("\r\n", "\n").replace("\r", "\n"))


def cut(text: str, most: int) -> str:
    """The first `most` characters, with a note of what is missing."""
    if len(text) <= most:
        return text
    return f"{text[:most]}… [cut: {most:,} of {len(text):,} characters]"


def _spelt(found: re.Match[str]) -> str:
    code = ord(found[0])
    return "\ufffd" if 0xD800 <= code <= 0xDFFF else f"⟨U+{code:04X}⟩"
