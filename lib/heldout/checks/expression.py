"""Check expressions: one word with arguments, or all, any, not of expressions, in Kleene logic.

Every deterministic branch is evaluated and every piece of evidence kept; a judge word is asked only where the
deterministic branches leave its expression open.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import regex

from heldout.checks.library import all_words, find
from heldout.checks.patterns import compiled, unseen
from heldout.checks.words import FAIL, PASS, UNDECIDED, Argument, Context, Finding, Use, Word
from heldout.errors import Fault
from heldout.scenario import Scenario
from heldout.yamlfile import Trail, kind, near_miss

_OPERATORS = ("all", "any", "not")


def validate(scenario: Scenario) -> None:
    """Raise Refusal (file, line, key) for the first thing wrong in the axes.

    Raises Fault sandbox-error where it cannot be told what the fixture holds, because its `prepare` fails.
    """
    before = frozenset[str]()
    for letter, expression in sorted(scenario.axes.items()):
        _validate(scenario, expression, ("axes", letter), before)
        before |= {word.name for word, _ in words_of(expression)}


def _validate(scenario: Scenario, expression: Any, trail: Trail, before: frozenset[str]) -> None:
    document = scenario.document
    if isinstance(expression, str):
        expression = {expression: {}}
    if not isinstance(expression, dict) or len(expression) != 1:
        raise document.refuse(f"axis {trail[1]} must be one check word with its arguments, or all, any, not", *trail)
    name, value = next(iter(expression.items()))
    if name in ("all", "any"):
        if not isinstance(value, list) or not value:
            raise document.refuse(f"'{name}' must list expressions", *trail, name)
        for place, item in enumerate(value):
            _validate(scenario, item, (*trail, name, place), before)
    elif name == "not":
        _validate(scenario, value, (*trail, name), before)
    elif (word := find(str(name))) is None:
        raise document.refuse(
            f"unknown check word '{name}'", *trail, name, mend=near_miss(str(name), (*all_words(), *_OPERATORS))
        )
    else:
        _refuse_other_posture(scenario, word, trail)
        _validate_arguments(scenario, word, value, (*trail, name))
        _refuse_slips(scenario, word, value, (*trail, name), before)


def _refuse_other_posture(scenario: Scenario, word: Word, trail: Trail) -> None:
    """A word that reads what no session of the scenario leaves would be undecided in every one of them."""
    trace = scenario.posture == "trace"
    if ("trace" in word.needs) is not trace:
        reads = "a saved trace" if "trace" in word.needs else "what an agent did"
        has = "has a saved trace alone" if trace else f"is {scenario.posture}"
        fitting = [name for name, other in all_words().items() if ("trace" in other.needs) is trace]
        raise scenario.document.refuse(
            f"'{word.name}' reads {reads}, and this scenario {has}",
            *trail,
            word.name,
            mend=f"use one of: {', '.join(sorted(fitting))}",
        )


def _refuse_slips(scenario: Scenario, word: Word, value: Any, trail: Trail, before: frozenset[str]) -> None:
    use = Use(scenario, str(trail[1]), _given(word, value), before)
    for slip in word.slips(use):
        told = f"'{word.name}: {slip.argument}' {slip.told}" if slip.argument else f"'{word.name}' {slip.told}"
        raise scenario.document.refuse(told, *trail, slip.argument, mend=slip.mend)


def _validate_arguments(scenario: Scenario, word: Word, value: Any, trail: Trail) -> None:
    document = scenario.document
    if not isinstance(value, dict):
        if word.scalar is None or value is None:
            raise document.refuse(f"'{word.name}' takes a mapping of arguments, write '{word.name}: {{}}'", *trail)
        value = {word.scalar: value}
    document.only_keys(value, word.arguments, *trail, what=f"argument of '{word.name}'")
    for name, argument in word.arguments.items():
        if name in value:
            problem = _problem(scenario, argument, value[name])
            if problem:
                raise document.refuse(f"'{word.name}: {name}' {problem}", *trail, name)
        elif argument.required:
            raise document.refuse(f"'{word.name}' lacks its argument '{name}'", *trail)


def _problem(scenario: Scenario, argument: Argument, value: Any) -> str:
    """What is wrong with an argument's value, or ''."""
    return _kind_problem(scenario, argument, value) or argument.wrong(value)


def _kind_problem(scenario: Scenario, argument: Argument, value: Any) -> str:
    if argument.kind in ("concepts", "alternatives", "code"):
        items = "keywords" if argument.kind == "alternatives" else "patterns"
        if not isinstance(value, dict) or not value:
            return f"must map {'globs of paths' if argument.kind == 'code' else 'names'} to {items}"
        if odd := [name for name in value if not isinstance(name, str) or not name.strip()]:
            return f"has the name '{odd[0]}', which is {kind(odd[0])}, expected text that is not empty"
        return next((problem for item in value.values() if (problem := _list_problem(item, items))), "")
    if argument.kind in ("patterns", "keywords", "texts"):
        return _list_problem(value, argument.kind)
    types = {"number": (int, float), "flag": (bool,)}.get(argument.kind, (str,))
    if not isinstance(value, types) or (isinstance(value, bool) and argument.kind != "flag"):
        return f"must be {kind(types[0]())}, not {kind(value)}"
    if argument.kind == "number" and not math.isfinite(value):
        return f"is {value}, expected a number that is finite"
    if isinstance(value, str) and not value.strip():
        return "is empty"
    if isinstance(value, str) and (told := _unwritten(value)):
        return f"is {value!r}, which has {told}"
    if (
        argument.kind == "path"
        and isinstance(value, str)
        and (value.endswith("/") or value.split("/")[0] not in scenario.trees)
    ):
        return f"is '{value}', expected a path in {', '.join(scenario.trees) or 'a tree'}"
    if argument.kind == "rubric" and isinstance(value, str) and not scenario.rubric(value).is_file():
        return f"is '{value}', but fixture/{scenario.suite}/rubrics/{value}.md does not exist"
    return ""


def _list_problem(value: Any, items: str) -> str:
    if not isinstance(value, list) or not value:
        return "must be a list that is not empty"
    for item in value:
        if not isinstance(item, str):
            return f"must list texts, not {kind(item)}"
        if not item.strip():
            return "holds an empty one, which would match everything"
        if told := _unwritten(item):
            return f"holds {item!r}, which has {told}"
        if items == "keywords" and _is_mute(item):
            return f"holds '{item}', which has no letter or digit"
        if items == "keywords" and (problem := _misjoined(item)):
            return f"holds '{item}', which {problem}"
        if items == "patterns":
            try:
                if compiled(item).search(""):
                    return f"holds '{item}', which matches an empty text"
            except regex.error as error:
                return f"holds '{item}', which does not compile: {error}"
    return ""


def _unwritten(text: str) -> str:
    """What no text that is looked through can hold, or ''. In YAML's double quotes `\\b` is a backspace."""
    if not (letter := unseen(text)):
        return ""
    return f"the character U+{ord(letter):04X}, which no text keeps: a backslash needs single quotes"


def _is_mute(keyword: str) -> bool:
    from heldout.checks.keywords import parts, plain, words  # saved traces alone have keywords

    return not all(words(plain(part)) for part in parts(keyword))


def _misjoined(keyword: str) -> str:
    """What is wrong with the joints and endings of a keyword, or ''."""
    from heldout.checks.keywords import parts

    if len(parts(keyword)) > 2:
        return "joins more than two texts"
    return "has a '*' that ends none of its texts" if any("*" in part[:-1] for part in parts(keyword)) else ""


def words_of(expression: Any) -> Iterator[tuple[Word, dict[str, Any]]]:
    """Every word of a valid expression with its arguments, defaults filled in."""
    if isinstance(expression, str):
        expression = {expression: {}}
    name, value = next(iter(expression.items()))
    if name in ("all", "any"):
        for item in value:
            yield from words_of(item)
    elif name == "not":
        yield from words_of(value)
    else:
        word = find(name)
        assert word, f"'{name}' was not validated"
        yield word, _given(word, value)


def _given(word: Word, value: Any) -> dict[str, Any]:
    """The arguments of a word, defaults filled in."""
    given = value if isinstance(value, dict) else {word.scalar: value}
    return {key: given.get(key, argument.default) for key, argument in word.arguments.items()}


def evaluate(expression: Any, context: Context, *, ask: bool = True) -> Finding:
    """The finding of an expression. With `ask` False a judge word is undecided without becoming a pending question."""
    if isinstance(expression, str):
        expression = {expression: {}}
    name, value = next(iter(expression.items()))
    if name == "not":
        return _negated(evaluate(value, context, ask=ask), [word.name for word, _ in words_of(value)])
    if name in ("all", "any"):
        decisive = FAIL if name == "all" else PASS
        first = [evaluate(item, context, ask=False) if _asks(item) else evaluate(item, context) for item in value]
        if any(item.outcome == decisive for item in first) or not ask:
            return _joined(first, decisive)
        return _joined(
            [evaluate(item, context) if _asks(item) else done for item, done in zip(value, first, strict=True)],
            decisive,
        )
    word, arguments = next(words_of(expression))
    if "judge" in word.needs:
        arguments["ask"] = ask
    return _call(word, arguments, context)


_SAID = {"facts", "message"}


def _asks(expression: Any) -> bool:
    return any("judge" in word.needs for word, _ in words_of(expression))


def _call(word: Word, arguments: dict[str, Any], context: Context) -> Finding:
    try:
        if not _SAID.isdisjoint(word.needs):
            context.refuse_lost()
        found = word.function(context, **arguments)
        return replace(found, failed=(word.name,)) if found.outcome == FAIL else found
    except Fault as fault:
        return Finding(UNDECIDED, (f"{word.name}: {fault.detail}",) if fault.detail else (), code=fault.code)
    except Exception as error:  # a defect of the check, or facts of a shape it did not expect: never a FAIL
        return Finding(UNDECIDED, (f"{word.name}: {type(error).__name__}: {error}",), code="check-error")


def _negated(finding: Finding, names: list[str]) -> Finding:
    turned = {PASS: FAIL, FAIL: PASS}.get(finding.outcome, UNDECIDED)
    failed = tuple(f"not {name}" for name in names) if turned == FAIL else ()
    return replace(finding, outcome=turned, via="", failed=failed)


def _joined(parts: list[Finding], decisive: str) -> Finding:
    """Kleene `all` (decisive: fail) or `any` (decisive: pass); evidence of the parts that made the outcome first."""
    outcomes = {part.outcome for part in parts}
    outcome = (
        decisive
        if decisive in outcomes
        else UNDECIDED
        if UNDECIDED in outcomes
        else (PASS if decisive == FAIL else FAIL)
    )
    makers = [part for part in parts if part.outcome == outcome]
    return Finding(
        outcome,
        tuple(line for part in makers for line in part.evidence),
        next((part.via for part in makers if part.via), ""),
        {key: value for part in parts for key, value in part.info.items()},
        tuple(dict.fromkeys(note for part in parts for note in part.notes)),
        next((part.code for part in makers if part.code), ""),
        any(part.judged for part in makers),
        tuple(dict.fromkeys(name for part in makers for name in part.failed)),
    )
