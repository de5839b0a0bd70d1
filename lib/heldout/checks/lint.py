"""What must hold of all scenarios together: valid axes, no leak into a Task, pairs that fit.

Findings name file, line and rule, never a Task's text.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path

from heldout import phrases, prompts, sealing
from heldout.checks.expression import validate, words_of
from heldout.checks.patterns import either, found, normal
from heldout.errors import Fault, Refusal
from heldout.files import FIXTURES
from heldout.scenario import Scenario, files, load

RUN_OF_WORDS = 6
_ADR_ID = re.compile(r"\bADR[- ]?[0-9]+\b|\b[0-9]{4}-[a-z][a-z0-9-]+\b", re.IGNORECASE)
_PROSE = (".md", ".txt", ".json")


def pattern_sets(scenario: Scenario) -> Iterator[tuple[str, list[str], Callable[[str], str]]]:
    """The scenario's sets of text patterns by name: `<id>/<axis>/<argument>` or `<id>/<axis>/<argument>/<concept>`.

    A text matches a set when the part of it that the set reads, the third item, matches all of its patterns; any
    pattern of a concept names it, so these become one.
    """
    for letter, expression in scenario.axes.items():
        for word, given in words_of(expression):
            for name, value in given.items():
                argument = word.arguments[name]
                if argument.kind == "patterns" and value:
                    yield f"{scenario.id}/{letter}/{name}", value, argument.reads
                elif argument.kind == "concepts" and value:
                    for concept, items in value.items():
                        yield f"{scenario.id}/{letter}/{name}/{concept}", [either(*items)], argument.reads


def problems() -> Iterator[str]:
    """Everything wrong with the scenarios of both sets, a line each."""
    loaded: list[Scenario] = []
    if not any(files()):
        yield "no scenario found below scenarios/"
    for path in files():
        try:
            scenario = load(path)
            validate(scenario)
            prompts.render(scenario, Path(scenario.cwd), scenario.plugin_roots())
        except (Refusal, Fault) as error:
            yield str(error)
        else:
            loaded.append(scenario)
    by_id = {(item.suite, item.set, item.id): item for item in loaded}
    seen: dict[str, Path] = {}
    for scenario in loaded:
        if scenario.id in seen:
            yield f"{scenario.path}: id '{scenario.id}' is also that of {seen[scenario.id]}"
        seen[scenario.id] = scenario.path
        found = (*_copied(scenario), *_leaks(scenario), *_pair(scenario, by_id), *_trace(scenario), *_causes(scenario))
        yield from (f"{scenario.path}: {text}" for text in found)
    # A scenario that could not be read has its sets all the same: they are not told as strays.
    whole = {item.path for item in loaded}
    broken = {path.parent.name for path in files() if path not in whole}
    for suite in sorted({item.suite for item in loaded} - broken):
        yield from phrase_problems([item for item in loaded if item.suite == suite])


def phrase_problems(suite: Iterable[Scenario]) -> Iterator[str]:
    """What is wrong with the phrases of a suite, of which all scenarios are given."""
    scenarios = list(suite)
    known = [name for item in scenarios for name, _, _ in pattern_sets(item)]
    try:
        phrases.read(scenarios[0].suite)
        yield from phrases.strays(scenarios[0].suite, known)
    except Refusal as refusal:
        yield str(refusal)


def _pair(scenario: Scenario, by_id: dict[tuple[str, str, str], Scenario]) -> Iterator[str]:
    if scenario.pair is None:
        return
    other = by_id.get((scenario.suite, scenario.set, scenario.pair))
    if other is None:
        yield f"pair '{scenario.pair}' is no scenario of the same suite and set"
    elif other.pair != scenario.id:
        yield f"pair '{scenario.pair}' names '{other.pair}' as its own pair"
    elif {scenario.polarity, other.polarity} != {"positive", "negative"}:
        yield f"pair '{scenario.pair}' has the same polarity"
    elif scenario.level != other.level:
        yield f"pair '{scenario.pair}' has level {other.level}, not {scenario.level}"


def _trace(scenario: Scenario) -> Iterator[str]:
    if scenario.trace and not (scenario.fixture_root / scenario.trace).is_file():
        yield f"trace '{scenario.fixture}/{scenario.trace}' is no file of fixture/"


def _causes(scenario: Scenario) -> Iterator[str]:
    """Keywords of a saved trace's root cause that its question gives away."""
    for expression in scenario.axes.values() if scenario.trace else ():
        for word, given in words_of(expression):
            if word.name == "root_cause_named":
                from heldout.checks.keywords import plain, stands  # saved traces alone have keywords

                for name, spellings in given["keywords"].items():
                    told = [item for item in spellings if stands(item, plain(scenario.task))]
                    yield from (f"the Task has '{item}', a keyword of its root cause '{name}'" for item in told)


def _copied(scenario: Scenario) -> Iterator[str]:
    if scenario.set == "run" and sealing.holds(scenario):
        yield "the Task is one of the reserve's: a run of it would open the reserve"


def _leaks(scenario: Scenario) -> Iterator[str]:
    """The leak lint of an unprompted Task: rules by name, positions by line."""
    if scenario.posture != "unprompted":
        return
    flat = normal(scenario.task)
    for word in scenario.forbid_in_task:
        if re.search(rf"(?<!\w){re.escape(normal(word))}", flat, re.IGNORECASE):
            yield f"the Task holds the forbidden word '{word}'"
    if _ADR_ID.search(flat):
        yield "the Task holds an ADR id"
    for name, items, _ in pattern_sets(scenario):
        if all(found(item, flat) is not None for item in items):
            yield f"the Task matches the scenario's own patterns '{name}'"
    runs = _runs(scenario.task)
    for source in _constraint_texts(scenario):
        if runs & _runs_of_file(source):
            yield f"the Task shares {RUN_OF_WORDS} words in a row with {source.relative_to(FIXTURES)}"


def _constraint_texts(scenario: Scenario) -> Iterator[Path]:
    """Texts whose wording must not stand in the Task: the plugins' prose and the fixture's decision records."""
    for root in scenario.plugin_roots():
        yield from (path for path in sorted(root.rglob("*")) if path.suffix in _PROSE and path.is_file())
    for tree in scenario.trees:
        yield from sorted((scenario.fixture_root / tree).glob("docs/adr/[0-9]*.md"))


def _runs(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"[\w']+", normal(text).lower())
    return {tuple(words[place : place + RUN_OF_WORDS]) for place in range(len(words) - RUN_OF_WORDS + 1)}


@cache
def _runs_of_file(path: Path) -> set[tuple[str, ...]]:
    return _runs(path.read_text("utf-8", "replace"))
