"""Mutate every check of every scenario and prove that the self-test notices: `make mutate`.

A mutant inverts a word, makes it pass or fail whatever it sees, drops one of its patterns or arguments, or moves a
threshold by one. The self-test's cells are made once; each mutant scores its own scenario's cells again, in this
process, and its phrases. A mutant that changes no row and no phrase survives, and is named. Arguments: suites.
"""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "lib"))

from heldout import expectations, phrases, scenario  # noqa: E402  the library is found through the line above
from heldout.agents import roster  # noqa: E402
from heldout.cell import Cell  # noqa: E402
from heldout.checks import lint, scoring, target  # noqa: E402
from heldout.checks.library import all_words  # noqa: E402
from heldout.checks.patterns import missing  # noqa: E402
from heldout.checks.words import Context, Finding, Word  # noqa: E402
from heldout.errors import Fault  # noqa: E402
from heldout.scenario import Scenario  # noqa: E402
from heldout.transcript.kept import cell_facts  # noqa: E402

OPERATORS = ("all", "any", "not")


def _constant(outcome: str) -> Word:
    def function(context: Context, **_: Any) -> Finding:
        return Finding(outcome, ("a mutant",))

    return Word(f"constant {outcome}", function, (), {})


CONSTANTS = {word.name: word for word in map(_constant, ("pass", "fail"))}


def mutants(expression: Any) -> Iterator[tuple[str, Any]]:
    """(what was done, the expression with it done), for every word of an expression."""
    if isinstance(expression, str):
        expression = {expression: {}}
    name, value = next(iter(expression.items()))
    if name in ("all", "any"):
        for place, item in enumerate(value):
            for told, mutant in mutants(item):
                yield told, {name: [*value[:place], mutant, *value[place + 1 :]]}
    elif name == "not":
        yield from ((told, {name: mutant}) for told, mutant in mutants(value))
    else:
        yield f"{name}: inverted", {"not": expression}
        yield from ((f"{name}: {constant}", {constant: {}}) for constant in CONSTANTS)
        for key, item in value.items() if isinstance(value, dict) else ():
            yield from ((f"{name}: {key}{told}", {name: {**value, key: mutant}}) for told, mutant in _values(item))
            if not all_words()[name].arguments[key].required:
                yield f"{name}: {key} dropped", {name: {other: x for other, x in value.items() if other != key}}


def _values(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, bool):
        yield " turned", not value
    elif isinstance(value, (int, float)):
        yield " + 1", value + 1
        yield " - 1", value - 1
    elif isinstance(value, list) and len(value) > 1:
        yield from ((f"[{place}] dropped", [*value[:place], *value[place + 1 :]]) for place in range(len(value)))
    elif isinstance(value, dict):
        for key, item in value.items():
            if len(value) > 1:
                yield f".{key} dropped", {other: x for other, x in value.items() if other != key}
            yield from ((f".{key}{told}", {**value, key: mutant}) for told, mutant in _values(item))


def cases(item: Scenario, place: Path) -> list[tuple[Context, str, Any]]:
    """The self-test's cells of a scenario: context, model, expectation."""
    found = []
    for name, actor in roster.embedded(item).items():
        folder = Cell(place, item.suite, item.id, name, 1).folder()
        assert folder, f"the self-test left no cell of {item.id} {name}"
        try:
            facts: Any = None if item.posture == "trace" else cell_facts(folder)
        except Fault as fault:
            facts = fault
        expected = actor.expect or expectations.of_common(item, name)
        found.append((target.context_of(item, folder, facts), name, expected))
    return found


def noticed(item: Scenario, found: list[tuple[Context, str, Any]]) -> bool:
    """Whether a row or a phrase of the (mutated) scenario is not what was expected."""
    for context, model, expected in found:
        fresh = replace(context, scenario=item, earlier={}, pending=[])
        if expectations.differences(expected, scoring.score(fresh, model, 1)):
            return True
    known = phrases.read(item.suite)
    for name, patterns, reads in lint.pattern_sets(item):
        if any(missing(patterns, reads(text)) for text in known.get((name, "match"), ())):
            return True
        if any(not missing(patterns, reads(text)) for text in known.get((name, "miss"), ())):
            return True
    return False


def survivors(place: Path, suite: str) -> Iterator[tuple[str, bool]]:
    """(name of the mutant, whether the self-test noticed), for all scenarios of a suite's both sets."""
    for path in scenario.files(suite=suite):
        item = scenario.load(path)
        found = cases(item, place)
        assert not noticed(item, found), f"{item.id} is different without any mutation"
        for letter, expression in item.axes.items():
            for told, mutant in mutants(expression):
                yield f"{item.id}/{letter}/{told}", noticed(replace(item, axes={**item.axes, letter: mutant}), found)


def main(suites: list[str]) -> int:
    suites = suites or sorted({path.parent.name for path in scenario.files()})
    all_words().update(CONSTANTS)
    excused = {
        entry["mutant"]: entry["why"]
        for entry in yaml.safe_load((ROOT / "tests/mutation-exceptions.yaml").read_text()) or ()
    }
    with tempfile.TemporaryDirectory(prefix="heldout-mutate-") as scratch:
        results: list[tuple[str, bool]] = []
        for suite in suites:
            place = Path(scratch) / suite
            subprocess.run([ROOT / "bin/self-test", place, "--quiet", "--suite", suite], check=True)
            results += survivors(place, suite)
    alive = {name for name, seen in results if not seen}
    print("\n".join([*(f"survived\t{name}" for name in sorted(alive - excused.keys()))]))
    for name in sorted(excused.keys() - alive):
        print(f"noticed, so no exception\t{name}")
    unexplained = (alive - excused.keys()) | (excused.keys() - alive)
    print(f"mutate: {len(results)} mutants, {len(alive - excused.keys())} survivors, {len(excused)} exceptions")
    return 1 if unexplained or not results else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
