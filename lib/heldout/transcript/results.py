"""What one tool result says: its size, whether it is an error or a denial."""

from collections.abc import Iterable
from typing import Any

# The client's own sentences, for versions whose lines carry no structured sign of a denial.
_REFUSALS = (
    "The user doesn't want to proceed with this tool use",
    "Claude requested permissions to ",
    "Permission to use ",
    "This command requires approval",
)
_REJECTED = "User rejected tool use"


def utf8(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))


def size(texts: Iterable[str], lengths: dict[str, int]) -> int:
    """UTF-8 bytes of the text the model received; images and references are no text. `lengths`: see mend.shorten."""
    return sum(lengths.get(text) or utf8(text) for text in texts)


def looks_failed(content: Any, outcome: Any) -> bool:
    """Whether a result without `is_error` is a failed call's; its toolUseResult is then a string (trap 8)."""
    if type(content) is str and content.startswith("<tool_use_error>"):
        return True
    return type(outcome) is str and (outcome.startswith(("Error:", "InputValidationError:")) or outcome == _REJECTED)


def is_denied(content: Any, outcome: Any) -> bool:
    """Whether a failed call was refused by a permission or by the user, not tried and failed, by the client's words."""
    return outcome == _REJECTED or (type(content) is str and content.startswith(_REFUSALS))
