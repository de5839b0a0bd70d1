"""What lines of Ruby do, as far as patterns are to see it: no comments, no prose, constant arithmetic worked out.

- A comment is nothing that is done.
- A string or here-document with white space in it is for people: of it only what is interpolated is left.
- `NAME = 6 * 60 * MINUTE` becomes `NAME = 21600` where all of it is known from the file; `6.hours` counts too.
- A method that is new elsewhere in the change belongs to the lines that call it.

It is no parser: strings are taken to end on their line, and what a method is called on is not known.
"""

import ast
import re
from collections.abc import Iterator, Mapping

_HERE = re.compile(r"<<[~-]?([\"'`]?)([A-Z_]\w*)\1")
_COMMENT = re.compile(r"(?:^|\s)#(?!\{)")
_CONSTANT = re.compile(r"^(\s*)([A-Z]\w*)\s*=\s*([^=~>].*)$")
_UNITS = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400, "week": 604_800}
_USUAL = {f"{name.upper()}{end}": str(value) for name, value in _UNITS.items() for end in ("", "S")}
_UNIT = re.compile(rf"([\d_]+)\.({'|'.join(_UNITS)})s?\b")
_DEFINED = re.compile(r"^(\s*)def (?:self\.)?(\w+[?!]?)(.*)$")
_LARGEST = 10**12


def lines(text: str) -> list[str]:
    """The code of each line of a Ruby file."""
    found: list[str] = []
    end = ""
    block = False
    for line in text.splitlines():
        if end:
            end = "" if line.strip() == end else end
            found.append(" ".join(_interpolated(line)) if end else "")
        elif block or line.startswith("=begin"):
            block = not line.startswith("=end")
            found.append("")
        else:
            code = _plain(line)
            here = _HERE.search(code)
            end = here[2] if here else ""
            found.append(code)
    known = _known(found)
    return [_worked_out(line, known) for line in found]


def with_helpers(code: str, others: Mapping[str, str]) -> str:
    """`code` and, again and again, the bodies of the methods of OTHERS (name to body) that it calls."""
    left = dict(others)
    called = True
    while called:
        called = [name for name in left if re.search(rf"(?<![\w:]){re.escape(name)}(?![\w?!:])", code)]
        code = "\n".join([code, *(left.pop(name) for name in called)])
    return code


def methods(code: list[str]) -> Iterator[tuple[str, str]]:
    """(name, body) of the methods that lines of code define: up to the `end` that is indented like the `def`."""
    for place, line in enumerate(code):
        found = _DEFINED.match(line)
        if found and found[2] != "initialize":
            endless = re.match(r"\s*(?:\([^)]*\))?\s*=\s", found[3])
            after = [] if endless else code[place + 1 :]
            last = next((at for at, item in enumerate(after) if re.match(rf"{found[1]}end\b", item)), 0)
            yield found[2], "\n".join([found[3], *after[:last]])


def _plain(line: str) -> str:
    """A line without its comment, and without the words of its prose."""
    parts: list[str] = []
    place = 0
    while place < len(line):
        sign = line[place]
        end = _end_of_string(line, place) if sign in "\"'" else 0
        if end:
            text = line[place + 1 : end - 1]
            inner = _interpolated(text) if sign == '"' else []
            words = text
            for item in inner:
                words = words.replace(f"#{{{item}}}", "")
            prose = re.search(r"\s|\\n", words)
            parts.append(f"{sign}{' '.join(f'#{{{item}}}' for item in inner)}{sign}" if prose else line[place:end])
            place = end
        elif _COMMENT.match(line, place):
            break
        else:
            parts.append(sign)
            place += 1
    return "".join(parts).rstrip()


def _end_of_string(line: str, start: int) -> int:
    """Behind the quote that ends the string which begins at `start`; 0 where none does."""
    sign, place = line[start], start + 1
    while place < len(line):
        if line[place] == "\\":
            place += 1
        elif sign == '"' and line.startswith("#{", place):
            place = _closing(line, place + 1)
        elif line[place] == sign:
            return place + 1
        place += 1
    return 0


def _interpolated(text: str) -> list[str]:
    return [text[found.end() : _closing(text, found.end() - 1)] for found in re.finditer(r"#\{", text)]


def _closing(text: str, start: int) -> int:
    """The place of the brace that closes the one at `start`; the end of the text where none does."""
    level = 0
    for place in range(start, len(text)):
        level += {"{": 1, "}": -1}.get(text[place], 0)
        if not level:
            return place
    return len(text)


def _known(code: list[str]) -> dict[str, str]:
    return _USUAL | {found[2]: found[3] for line in code if (found := _CONSTANT.match(line))}


def _worked_out(line: str, known: Mapping[str, str]) -> str:
    found = _CONSTANT.match(line)
    value = _value(found[3], known, 0) if found else None
    return f"{found[1]}{found[2]} = {value}" if found and value is not None else line


def _value(text: str, known: Mapping[str, str], depth: int) -> int | float | None:
    """The number that an expression of numbers and known constants gives, or None."""
    plain = re.sub(r"(?:\.(?:freeze|to_i|round|seconds?|to_f))+\s*$", "", text.strip().rstrip(";"))
    plain = _UNIT.sub(lambda unit: f"({unit[1]} * {_UNITS[unit[2]]})", plain)
    plain = re.sub(r"\b(?:[A-Z]\w*::)+", "", plain)
    try:
        value = _number(ast.parse(plain, mode="eval").body, known, depth)
    except (SyntaxError, ValueError, ArithmeticError, RecursionError, MemoryError):
        return None
    return int(value) if value is not None and value == int(value) else value


def _number(node: ast.expr, known: Mapping[str, str], depth: int) -> int | float | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and abs(node.value) < _LARGEST:
        return node.value
    if isinstance(node, ast.Name) and node.id in known and depth < 5:
        return _value(known[node.id], known, depth + 1)
    if isinstance(node, ast.BinOp):
        left, right = _number(node.left, known, depth), _number(node.right, known, depth)
        if left is None or right is None or max(abs(left), abs(right)) > _LARGEST:
            return None
        if isinstance(node.op, ast.Mult):
            return left * right
        if isinstance(node.op, ast.Add):
            return left + right
        if isinstance(node.op, ast.Sub):
            return left - right
        if isinstance(node.op, ast.Div):  # Ruby's `/` of whole numbers rounds down
            return left // right if isinstance(left, int) and isinstance(right, int) else left / right
        if isinstance(node.op, ast.Pow) and 0 <= right <= 6:
            return left**right
    return None
