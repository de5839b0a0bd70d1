"""YAML with the line of every key, so that an error can name file, line and key.

Duplicate keys are errors (PyYAML keeps the last one silently), and so are anchors' merge keys in unknown
places; plain scalars are read as YAML 1.1 does (`no` is a boolean: quote it).
"""

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any, cast

import yaml

from heldout.errors import Refusal

Trail = tuple[str | int, ...]  # the way to a value: keys of mappings, positions of lists


class Document:
    """The data of one YAML text, and where in the file each key stands."""

    def __init__(self, text: str, path: Path, first_line: int = 1) -> None:
        self.path, self.lines = path, dict[Trail, int]()
        self._first = first_line
        loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(text)
        try:
            node = loader.get_single_node()
            self.data: Any = self._build(loader, node, ()) if node is not None else None
        except yaml.MarkedYAMLError as error:
            mark: Any = error.problem_mark or error.context_mark
            line = first_line + (mark.line if mark else 0)
            raise Refusal(f"{path}:{line}: not YAML: {error.problem or error.context}") from error
        except yaml.YAMLError as error:
            raise Refusal(f"{path}:{first_line}: not YAML: {error}") from error
        except RecursionError as error:
            raise Refusal(f"{path}:{first_line}: nested too deeply") from error
        finally:
            loader.dispose()

    def _build(self, loader: Any, node: Any, trail: Trail) -> Any:
        self.lines.setdefault(trail, int(node.start_mark.line) + self._first)
        if isinstance(node, yaml.MappingNode):
            result: dict[Any, Any] = {}
            for key_node, value_node in node.value:
                key = loader.construct_object(key_node, deep=True)
                line = key_node.start_mark.line + self._first
                if isinstance(key, (dict, list)):
                    raise Refusal(f"{self.path}:{line}: a key must be a plain word")
                if key in result:
                    raise Refusal(f"{self.path}:{line}: key '{key}' occurs twice")
                self.lines[(*trail, key)] = line
                result[key] = self._build(loader, value_node, (*trail, key))
            return result
        if isinstance(node, yaml.SequenceNode):
            return [self._build(loader, item, (*trail, place)) for place, item in enumerate(node.value)]
        return loader.construct_object(node, deep=True)

    def line(self, *trail: str | int) -> int:
        """The line of the key at `trail`, or of the nearest key above it."""
        while trail and trail not in self.lines:
            trail = trail[:-1]
        return self.lines.get(trail, self._first)

    def refuse(self, message: str, *trail: str | int, mend: str = "") -> Refusal:
        """A Refusal that begins with file and line of `trail`."""
        return Refusal(f"{self.path}:{self.line(*trail)}: {message}", mend)

    def only_keys(self, data: Any, allowed: Collection[str], *trail: str | int, what: str = "key") -> None:
        """Refuse the first key of mapping `data` that is not `allowed`, with the near miss."""
        if not isinstance(data, dict):
            raise self.refuse(f"'{'.'.join(map(str, trail))}' must be a mapping, not {kind(data)}", *trail)
        for key in cast(dict[Any, Any], data):
            if key not in allowed:
                raise self.refuse(f"unknown {what} '{key}'", *trail, key, mend=near_miss(str(key), allowed))


def near_miss(word: str, known: Iterable[str]) -> str:
    """`did you mean 'x'?` for the closest known word; else the list of what is known."""
    import difflib

    known = sorted(map(str, known))
    close = difflib.get_close_matches(word, known, n=1, cutoff=0.6)
    if close:
        return f"did you mean '{close[0]}'?"
    shown = ", ".join(known[:12]) + (" …" if len(known) > 12 else "")
    return f"known: {shown}" if known else "none is known"


def kind(value: Any) -> str:
    """The name of a YAML value's type, as a writer of YAML would say it."""
    names = {
        "dict": "a mapping",
        "list": "a list",
        "str": "text",
        "bool": "yes/no",
        "int": "a number",
        "float": "a number",
    }
    name = type(value).__name__
    return "nothing" if value is None else names.get(name, name)


def load(path: Path) -> Document:
    """Read a whole YAML file."""
    try:
        return Document(path.read_text("utf-8"), path)
    except OSError as error:
        raise Refusal(f"cannot read '{path}': {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise Refusal(f"{path}: not UTF-8 at byte {error.start}") from error
