"""Failures that a stub of the Messages API plays, and their textual form: `529x2`, `cut@0x1,slow=0.2`, `hang@1`.

A list is separated by commas; an item is KIND[=VALUE][@STEP][xTIMES]. It is played from step STEP on (0: the first
message of a conversation, the main loop's or a subagent's), TIMES times in the whole session; without xTIMES always.

    529 500 429 400 401 404   the API answers with that status; VALUE: seconds of its retry-after header
    hang                      not a byte, until the client goes away or the stub is closed
    cut                       the connection ends within a block of the message; VALUE: whole blocks before it (0)
    empty                     a message without content
    max_tokens refusal        the first half of the message's text and no calls, with that stop reason
    slow=SECONDS              a pause before every event
    model=NAME                another model's name in the answer

The first status or hang of the list that is due takes the place of the answer; else all that are due shape it, the
first of each kind, and the first alone of `empty`, `max_tokens` and `refusal`.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from heldout.errors import Refusal
from heldout.yamlfile import near_miss

# status: the type of the API's error object
STATUSES = {
    "529": "overloaded_error",
    "500": "api_error",
    "429": "rate_limit_error",
    "400": "invalid_request_error",
    "401": "authentication_error",
    "404": "not_found_error",
}
INSTEAD = (*STATUSES, "hang")
CONTENT = ("empty", "max_tokens", "refusal")
KINDS = (*INSTEAD, *CONTENT, "cut", "slow", "model")
_ITEM = re.compile(r"([a-z_]+|[0-9]+)(?:=([^@,]+?))?(?:@([0-9]+))?(?:x([0-9]+))?")
_SECONDS = re.compile(r"[0-9]+(\.[0-9]+)?")


@dataclass(frozen=True)
class Failure:
    """One failure: `kind` of KINDS, its value as written, the first step it is played at, how often (None: always)."""

    kind: str
    value: str = ""
    step: int = 0
    times: int | None = None


def parse(text: str) -> tuple[Failure, ...]:
    """The failures of a textual form, in its order; none for an empty text. Refusal names the item."""
    return tuple(_item(item.strip()) for item in text.split(",")) if text.strip() else ()


def _item(item: str) -> Failure:
    found = _ITEM.fullmatch(item)
    if not found:
        raise Refusal(f"cannot read failure '{item}'", "write KIND[=VALUE][@STEP][xTIMES], such as 529x2 or cut@0x1")
    kind, value, step, times = found.groups(default="")
    if kind not in KINDS:
        raise Refusal(f"unknown failure '{kind}'", near_miss(kind, KINDS))
    if times and not int(times):
        raise Refusal(f"failure '{item}' is never played", "leave it out")
    if kind == "slow" and not _SECONDS.fullmatch(value):
        raise Refusal(f"failure '{item}' needs a number of seconds", "such as slow=0.2")
    if kind == "model" and not value:
        raise Refusal(f"failure '{item}' needs a model's name", "such as model=claude-haiku-5-5")
    if kind in (*STATUSES, "cut") and value and not value.isdecimal():
        what = "blocks" if kind == "cut" else "seconds to retry after"
        raise Refusal(f"failure '{item}' needs a whole number of {what}", f"such as {kind}=1, or no value")
    if value and kind not in (*STATUSES, "cut", "slow", "model"):
        raise Refusal(f"failure '{kind}' takes no value", f"write '{kind}'")
    return Failure(kind, value, int(step or 0), int(times) if times else None)


class Due:
    """What is left of a session's failures. Not locked: its session asks one request at a time."""

    def __init__(self, failures: Iterable[Failure]) -> None:
        self._failures = tuple(failures)
        self._left = [failure.times for failure in self._failures]

    def take(self, step: int) -> tuple[Failure, ...]:
        """The failures to play together at a request for `step`, each counted as played."""
        due = [place for place, one in enumerate(self._failures) if step >= one.step and self._left[place] != 0]
        instead = [place for place in due if self._failures[place].kind in INSTEAD]
        slots: dict[str, int] = {}
        for place in due:
            kind = self._failures[place].kind
            slots.setdefault("content" if kind in CONTENT else kind, place)
        chosen = instead[:1] or list(slots.values())
        for place in chosen:
            left = self._left[place]
            self._left[place] = None if left is None else left - 1
        return tuple(self._failures[place] for place in chosen)
