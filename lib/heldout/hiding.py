"""Task text hidden: a run of words that a text shares with a Task is replaced by a mark."""

from collections.abc import Iterable, Iterator
from functools import lru_cache

import regex

RUN = 8  # words; a shorter Task is hidden where it stands whole
MARK = "[Task text hidden]"

# Words as people read them, and as white space parts them: a lone dash is a word to the second alone.
_WORDS = (regex.compile(r"[\w\p{Cf}]+"), regex.compile(r"\S+"))
_INVISIBLE = regex.compile(r"\p{Cf}+")  # zero-width and direction marks, which would part a word unseen
_ESCAPED = regex.compile(r"\\[nrt]")  # white space in JSON and in shell text

Runs = dict[int, set[tuple[str, ...]]]  # number of words -> runs of that many


class Hider:
    """Hides what texts share with `tasks`: runs of RUN words, letter case and white space aside."""

    def __init__(self, tasks: Iterable[str]) -> None:
        self._runs: list[Runs] = [{} for _ in _WORDS]
        for task in tasks:
            for runs, pattern in zip(self._runs, _WORDS, strict=True):
                words = [word for word, _, _ in _split(task, pattern)]
                size = min(RUN, len(words))
                if size:
                    runs.setdefault(size, set()).update(_consecutive(words, size))
        known = [len("".join(run)) for runs in self._runs for same in runs.values() for run in same]
        self._shortest = -(-min(known, default=0) // 3)  # case folding makes one letter three at most

    def __call__(self, text: str) -> str:
        """`text` with a MARK in place of each stretch of words that stands in a Task."""
        if not self._shortest or len(text) < self._shortest:
            return text
        parts: list[str] = []
        done = 0
        for start, end in _merged(self._spans(text)):
            parts += [text[done:start], MARK]
            done = end
        return "".join([*parts, text[done:]])

    def _spans(self, text: str) -> Iterator[tuple[int, int]]:
        for runs, pattern in zip(self._runs, _WORDS, strict=True):
            found = _split(text, pattern)
            words = [word for word, _, _ in found]
            for size, known in runs.items():
                for place, run in enumerate(_consecutive(words, size)):
                    if run in known:
                        yield found[place][1], found[place + size - 1][2]


@lru_cache(maxsize=64)
def of_task(task: str) -> Hider:
    """The Hider of one Task."""
    return Hider([task])


def _split(text: str, pattern: regex.Pattern[str]) -> list[tuple[str, int, int]]:
    """Words as they are compared, each with its start and end."""
    flat = _ESCAPED.sub("  ", text)
    found = ((_INVISIBLE.sub("", item[0]).casefold(), item.start(), item.end()) for item in pattern.finditer(flat))
    return [item for item in found if item[0]]


def _consecutive(words: list[str], size: int) -> Iterator[tuple[str, ...]]:
    return zip(*(words[place:] for place in range(size)), strict=False)


def _merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged
