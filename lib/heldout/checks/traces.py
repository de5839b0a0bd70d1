"""Saved traces of an agent that ran elsewhere: one JSON document, valid by its suite's schema.

A suite of traces has `fixture/<suite>/trace.schema.json` (JSON Schema, draft 2020-12).
"""

import json
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import orjson

from heldout import files
from heldout.errors import Fault, Refusal

DEPTH = 100  # levels of a document; readers that follow it by recursion end at about a thousand
TOLD = 3  # faults of one document that are told
_PLAIN = {"type", "description"}
_KINDS = {
    "object": "an object",
    "array": "a list",
    "string": "text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "null": "null",
}


def load(path: Path, schema: Path) -> Any:
    """The trace in a file. Raises Fault no-transcript, empty-transcript, or unreadable-transcript.

    The last one names the place in the document as a JSON Pointer (RFC 6901), what is expected there and what stands.
    """
    try:
        raw = files.regular(path).read_bytes().removeprefix(b"\xef\xbb\xbf")
    except OSError as error:
        raise Fault("no-transcript", f"cannot read '{path}': {error.strerror}") from error
    if not raw.strip():
        raise Fault("empty-transcript", f"'{path}' is empty")
    try:
        document = orjson.loads(raw)
    except ValueError as error:
        raise Fault("unreadable-transcript", f"'{path}' is not JSON: {error}") from error
    if told := _refused(raw, schema):
        raise Fault("unreadable-transcript", f"'{path}' is no trace: {told}")
    return document


@lru_cache(maxsize=128)  # the reps of a grid are copies of a few traces
def _refused(raw: bytes, schema: Path) -> str:
    """Why a JSON document is no trace, or ''."""
    document = orjson.loads(raw)
    if told := _ambiguous(document, raw):
        return told
    wrong = problems(document, schema)
    return ", ".join(wrong[:TOLD]) + (f" and {len(wrong) - TOLD} more" if len(wrong) > TOLD else "")


def _ambiguous(document: Any, raw: bytes) -> str:
    """What a reader of a valid document could read otherwise, or not at all: a key that stands twice, or no bottom."""
    level, depth = [document], 0
    while level := [item for owner in level if isinstance(owner, (dict, list)) for item in _items(owner)]:
        if (depth := depth + 1) > DEPTH:
            return f"it is nested deeper than {DEPTH} levels"
    twice = list[str]()

    def pairs(found: list[tuple[str, Any]]) -> None:
        if len(found) > len(keys := {key for key, _ in found}):
            twice.extend(sorted(key for key in keys if sum(key == other for other, _ in found) > 1))

    json.loads(raw, object_pairs_hook=pairs, parse_int=str)  # int() refuses thousands of digits
    return f"the key '{twice[0]}' stands twice" if twice else ""


def _items(owner: dict[str, Any] | list[Any]) -> Iterable[Any]:
    return owner.values() if isinstance(owner, dict) else owner


def problems(document: Any, schema: Path) -> list[str]:
    """What is wrong with a document by a schema, in order of place; none where the suite has no schema."""
    validator = _validator(schema)
    if validator is None or validator.is_valid(document):
        return []
    found = sorted(validator.iter_errors(document), key=lambda error: [str(step) for step in error.absolute_path])
    return [_told(error) for error in found]


@cache
def _validator(schema: Path) -> Any:
    try:
        content = orjson.loads(schema.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise Refusal(f"cannot read '{schema}': {error}") from error
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend

    return extend(Draft202012Validator, {"properties": _properties})(content)


def _properties(validator: Any, properties: Any, instance: Any, schema: Any) -> Iterator[Any]:
    """The keyword `properties`; where a type alone is asked, without a validator of its own: it takes half the time."""
    for key, wanted in properties.items() if validator.is_type(instance, "object") else ():
        if key in instance and not (wanted.keys() <= _PLAIN and _fits(validator, instance[key], wanted["type"])):
            yield from validator.descend(instance[key], wanted, path=key, schema_path=key)


def _fits(validator: Any, value: Any, kinds: str | list[str]) -> bool:
    return any(validator.is_type(value, kind) for kind in ([kinds] if isinstance(kinds, str) else kinds))


def _told(error: Any) -> str:
    """One fault: place, expected, found."""
    steps = (str(step).replace("~", "~0").replace("/", "~1") for step in error.absolute_path)
    place = "".join(f"/{step}" for step in steps) or "the document"
    wanted, given = error.validator_value, error.instance
    if error.validator == "required":
        lacking = next(key for key in wanted if error.message.startswith(repr(key)))
        return f"{place} lacks '{lacking}' and has {', '.join(sorted(map(repr, given))[:8]) or 'no key'}"
    if error.validator == "type":
        kinds: list[str] = wanted if isinstance(wanted, list) else [wanted]
        return f"{place} is {_shown(given)}, expected {' or '.join(_KINDS[kind] for kind in kinds)}"
    if error.validator in ("minimum", "minLength"):
        what = "at least" if error.validator == "minimum" else "text of a length of at least"
        return f"{place} is {_shown(given)}, expected {what} {wanted}"
    return f"{place} is {_shown(given)}: {error.message[:120]}"


def _shown(value: Any) -> str:
    if isinstance(value, (dict, list)):
        return "an object" if isinstance(value, dict) else "a list"
    text = orjson.dumps(value).decode()
    return text if len(text) <= 60 else f"{text[:59]}…"
