"""Variants of a saved trace, each made by one change, with the row it must get: `fixture/<suite>/variants/<id>.yaml`.

A file maps names to variants. `change` is one of: `set` (places to values; the place after the last entry of a list is
`-`), `remove` (a list of places), `replace` (places to [old, new] text), `content` (the whole file's text instead).
A place is a JSON Pointer (RFC 6901) into the trace. `common.yaml` beside them has variants of every trace of the
suite; one of the same name in a trace's own file takes its place there. What actors are to a scenario that an agent
plays, variants are to one of posture trace.
"""

import copy
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from heldout.agents.script import SAVED, expectation
from heldout.errors import Refusal
from heldout.yamlfile import Document, kind, load

CHANGES = {"set": dict, "remove": list, "replace": dict, "content": str}


@dataclass(frozen=True)
class Variant:
    """One variant: how the trace is changed, and what the self-test `expect`s. `missing`: there is no trace."""

    name: str
    expect: Mapping[str, Any]
    change: Mapping[str, Any] = field(default_factory=dict)
    missing: bool = False

    @property
    def default(self) -> bool:
        """Whether a grid without MODELS has it."""
        return self.name == SAVED


COMMON = {
    SAVED: Variant(SAVED, {"verdict": "PASS"}),
    "empty": Variant("empty", {"verdict": "ERROR", "reasons": "empty-transcript"}, {"content": ""}),
    "missing": Variant("missing", {"verdict": "ERROR", "reasons": "no-transcript"}, missing=True),
}


def load_for(path: Path) -> dict[str, Variant]:
    """The saved trace itself, the suite's variants and the trace's own; Refusal names file, line and key."""
    return {**COMMON, **_read(path.with_name("common.yaml")), **_read(path)}


def _read(path: Path) -> dict[str, Variant]:
    if not path.exists():
        return {}
    document = load(path)
    if not isinstance(document.data, dict) or not document.data:
        raise document.refuse(f"must map names to variants, not {kind(document.data)}")
    return {str(name): _variant(document, name) for name in document.data}


def _variant(document: Document, name: str) -> Variant:
    data = document.data[name]
    document.only_keys(data, ("change", "expect"), name)
    if name in COMMON or "expect" not in data:
        told = "is one that every trace has" if name in COMMON else "expects nothing"
        raise document.refuse(f"variant '{name}' {told}", name)
    change = data.get("change")
    document.only_keys(change, CHANGES, name, "change", what="change")
    if len(change) != 1 or not all(isinstance(value, CHANGES[key]) for key, value in change.items()):
        raise document.refuse(f"variant '{name}' must have one change: {', '.join(CHANGES)}", name, "change")
    return Variant(name, expectation(document, name), change)


def render(saved: bytes, variant: Variant) -> bytes:
    """The content of a saved trace with the variant's change. Raises Refusal when it leads nowhere."""
    if "content" in variant.change:
        return variant.change["content"].encode()
    document: Any = json.loads(saved)
    return json.dumps(_changed(document, variant), ensure_ascii=False).encode("utf-8", "surrogatepass")


def _changed(document: Any, variant: Variant) -> Any:
    document = copy.deepcopy(document)
    for place, value in variant.change.get("set", {}).items():
        _at(document, place, variant, lambda owner, key, value=value: _put(owner, key, value))
    for place in variant.change.get("remove", ()):
        _at(document, place, variant, lambda owner, key: owner.pop(key))
    for place, (old, new) in variant.change.get("replace", {}).items():
        if old not in _at(document, place, variant, lambda owner, key: owner[key]):
            raise Refusal(f"variant '{variant.name}': {place} has no '{old}'")
        _at(document, place, variant, lambda owner, key, o=old, n=new: _put(owner, key, owner[key].replace(o, n)))
    return document


def _put(owner: Any, key: Any, value: Any) -> None:
    if isinstance(owner, list) and key == len(owner):
        owner.append(value)
    else:
        owner[key] = value


def _at(document: Any, place: str, variant: Variant, act: Callable[[Any, Any], Any]) -> Any:
    """Do something with the owner and the key of a place."""
    owner, steps = document, [step.replace("~1", "/").replace("~0", "~") for step in place.split("/")[1:]]
    try:
        for step in steps[:-1]:
            owner = owner[int(step) if isinstance(owner, list) else step]
        key: Any = steps[-1]
        if isinstance(owner, list):
            key = len(owner) if key == "-" else int(key)
        return act(owner, key)
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise Refusal(f"variant '{variant.name}': no place {place} in the trace") from error
