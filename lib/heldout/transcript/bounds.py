"""How large facts may grow: the limits that keep memory constant whatever the transcript's length.

What a limit leaves out is marked where it was left out (`cut`, `*_omitted`, `oversized`), never dropped silently.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

OVERSIZED = 64 << 20  # bytes: a longer line is counted and passed over, its content is unknown
HUGE = 8 << 20  # bytes: the strings of a longer line are shortened before it is parsed
HUGE_STRING = 128 << 10  # bytes kept of a string of such a line

ACTIONS = 5_000  # actions kept whole; later ones are only counted
STRING = 64 << 10  # characters kept of one string of an action's input
INPUTS = 4 << 20  # bytes of inputs kept in all; after that a string keeps SHORT characters
SHORT = 1_024

VALUES = 2_000  # values kept of one input, and of one list of the client's
DEPTH = 50  # levels of the same: JSON writers end at some 250

TEXTS = 2 << 20  # characters of visible text kept
HOOKS = 1_000  # hooks kept
HOOK_TEXT = 2_000  # characters kept of what a hook gave the model
COMMAND = 300  # characters kept of a hook's command
ARGUMENTS = 2_000  # characters kept of a slash command's arguments
COMMANDS = 1_000  # slash commands kept
PATHS = 2_000  # paths kept, those with the most bytes
BAD_LINES = 20  # bad lines described; all are counted
SEEN = 1_000  # distinct names kept in any other list (models, agents' files)
PARENTS = 10_000  # lines before an agent's first action that are remembered as its ancestors


def bounded(value: Any, strings: int, cut: dict[str, int], lengths: Mapping[str, int] = MappingProxyType({})) -> Any:
    """The value with its strings cut to `strings` characters, its first VALUES values alone, and those above DEPTH.

    `cut` gets the length of each thing that was cut by its path (`edits.0.old_string`): the characters of a string, the
    items of a list or an object. `lengths`: of strings that were cut before, see mend.shorten (bytes).
    """
    left = VALUES

    def walk(value: Any, path: str, depth: int) -> Any:
        nonlocal left
        left -= 1
        if type(value) is str and len(value) > strings:
            cut[path] = lengths.get(value, len(value))
            return value[:strings]
        if type(value) is not dict and type(value) is not list:
            return value
        items = value.items() if type(value) is dict else enumerate(value)
        kept: dict[Any, Any] = {}
        for key, item in items:
            if left <= 0 or depth == DEPTH:
                cut[path] = len(value)
                break
            kept[key] = walk(item, f"{path}.{key}" if path else str(key), depth + 1)
        return kept if type(value) is dict else list(kept.values())

    return walk(value, "", 0)
