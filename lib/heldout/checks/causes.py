"""Where an answer marks what it takes for the cause: "Root cause: …", 根因：…, a heading of that kind."""

from collections.abc import Sequence

import regex

from heldout.checks.denials import Block
from heldout.checks.patterns import lazily

_MARK = lazily(
    r"""[\W_]* (?: \d+[.)、]\s? )? (?:
        (?: the \s )? (?: (?: most \s )? (?: likely | probable ) \s )? (?: root | direct ) \s causes? (?: \s analysis )?
      | 根本原因 | 根因 (?: 分析 | 定位 )? | 直接原因 )
      \s? (?: (?P<text> [:–—]\s? | -\s | is\s | 是 | 在于 ) | $ )""",
    regex.VERBOSE | regex.VERSION0,
)


def marked(answer: Sequence[Block]) -> list[Block]:
    """The blocks of an answer that it marks as its cause: the block of a label, or what is below a heading."""
    found = list[Block]()
    for place, block in enumerate(answer):
        if match := _MARK.match(block.text):
            found += [block] if match["text"] and match.end() < len(block.text) else _below(answer[place + 1 :])
    return found


def _below(rest: Sequence[Block]) -> Sequence[Block]:
    """What stands right below a heading: a paragraph, or all items of a list."""
    items = next((place for place, block in enumerate(rest) if not block.item), len(rest))
    return rest[: items or 1]
