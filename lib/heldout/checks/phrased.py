"""Each set of patterns over its phrases: what must match does, what must not does not, and there are enough of both."""

from collections.abc import Iterator, Sequence

from heldout import phrases
from heldout.checks.lint import pattern_sets
from heldout.checks.patterns import missing
from heldout.scenario import Scenario

ENOUGH = 10  # of each kind, for each set


def cases(scenarios: Sequence[Scenario]) -> Iterator[tuple[bool, str]]:
    """(as wanted, what is told) of the phrases of each kind of each set, then of sets that no scenario has."""
    sets: dict[str, list[str]] = {}
    for item in scenarios:
        known, names = phrases.read(item.suite), sets.setdefault(item.suite, [])
        for name, patterns, reads in pattern_sets(item):
            names.append(name)
            for wanted in ("match", "miss"):
                texts = known.get((name, wanted), [])
                wrong = [text for text in texts if bool(missing(patterns, reads(text))) is (wanted == "match")]
                few = f", expected {ENOUGH}" if len(texts) < ENOUGH else ""
                told = f"{len(texts)} phrases{few}" + "".join(f"; wrong: '{text}'" for text in wrong)
                yield not few and not wrong, f"{name}\t{wanted}\t{told}"
    for suite, names in sets.items():
        yield from ((False, stray) for stray in phrases.strays(suite, names))
