"""What lines of Ruby do, as far as patterns are to see it: no comments, no prose, constant arithmetic worked out.

- A comment is nothing that is done.
- A string or here-document with white space in it is for people: of it only what is interpolated is left.
- `NAME = 6 * 60 * MINUTE` becomes `NAME = 21600` where all of it is known from the file; `6.hours`, `hours(6)` and
  `PAUSES.last` of a list of numbers count too, also on the lines below.
- A method that is new elsewhere in the change belongs to the lines that call it. Of what its own class gives, the
  receiver is written out: `self.name`.

It is no parser: strings are taken to end on their line, and what a method is called on is not known.
"""

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping

_HERE = re.compile(r"<<[~-]?([\"'`]?)([A-Z_]\w*)\1")
_COMMENT = re.compile(r"(?:^|\s)#(?!\{)")
_CONSTANT = re.compile(r"^(\s*)([A-Z]\w*)\s*=\s*([^=~>].*)$")
_OPEN = re.compile(r"^\s*[A-Z]\w*\s*=(?:\s*|[^=~>].*[-+*/(\[,|{])$")  # goes on below
_WIDEST = 20  # lines that a constant may take
_UNITS = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400, "week": 604_800}
_USUAL = {f"{name.upper()}{end}": str(value) for name, value in _UNITS.items() for end in ("", "S")}
_UNIT = re.compile(rf"([\d_]+)\.({'|'.join(_UNITS)})s?\b")
_UNIT_OF = re.compile(rf"\b(?:[A-Z]\w*\.)?({'|'.join(_UNITS)})s?\(([\d_.]+)\)")
_MAPPED = re.compile(r"(\[[^\[\]{}]*\]|[A-Z]\w*)\.map\s*\{\s*(?:\|\s*(\w+)\s*\||(?=[^}]*\b(_1|it)\b))([^{}|]*)\}")
_DEFINED = re.compile(r"^(\s*)def (?:self\.)?(\w+[?!]?)(.*)$")
_LARGEST = 10**12
_DEEPEST = 5  # constants that a constant rests on
_OF_LIST: dict[str, Callable[[list[int | float]], int | float]] = {
    "first": lambda numbers: numbers[0],
    "last": lambda numbers: numbers[-1],
    "sum": sum,
    "min": min,
    "max": max,
    "size": len,
    "length": len,
}
_MEMBERS = re.compile(r"\b(?:Struct\.new|Data\.define|attr_(?:reader|accessor)\b)[ (]*((?::\w+[,\s]*)+)")
# Where a name is a variable: assigned, a parameter of a method or a block, or bound by a pattern.
_LOCAL = re.compile(
    r"(?<![\w.@$:])([a-z_]\w*)\s*(?:\|\||&&|[-+*/%])?=(?![=~>])"
    r"|\|([^|\n]*)\||\bdef [\w.?!]+(?:\(| (?![ =]))([^)\n]*)|=>\s*([a-z_]\w*)|=>\s*\{([^}\n]*)\}|\bfor (\w+) in\b"
)
_NAME = re.compile(r"(?<![\w.:])[a-z_]\w*")


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
    whole = [_whole(found, place) for place in range(len(found))]
    known = _known(whole)
    return [_worked_out(line, all_of_it, known) for line, all_of_it in zip(found, whole, strict=True)]


def comments(text: str) -> str:
    """The comments of Ruby, those on lines that follow each other as one paragraph."""
    found = (_parted(line)[1] for line in text.splitlines())
    return re.sub(r"\n{2,}", "\n\n", "\n".join(found)).strip()


def with_helpers(code: str, file: str, others: Mapping[str, str]) -> str:
    """`code`, lines of FILE, and, again and again, the methods of OTHERS (name to body) that it calls.

    A name that stands alone is a call only where FILE has no variable and no method of that name.
    """
    left = dict(others)
    parts = [code]
    calling = [(code, _variables(file) | _defined(file), _defined(file))]
    while calling:
        text, names, own = calling.pop()
        for name in [name for name in left if _calls(text, name, bare=name not in names, own=name in own)]:
            parts.append(f"def {name}{left[name]}")
            calling.append((left[name], _variables(parts[-1]), set()))
            del left[name]
    return "\n".join(parts)


def _calls(text: str, name: str, *, bare: bool, own: bool) -> bool:
    spelt = re.escape(name)
    forms = [rf"(?:\.|&:|send\(:){spelt}"]
    if not own:
        forms.append(rf"(?<![\w:.@$]){spelt}(?=\()")
    if bare:
        forms.append(rf"(?<![\w:.@$]){spelt}")
    return re.search(rf"(?<!def )(?:{'|'.join(forms)})(?![\w?!:])", text) is not None


def methods(code: list[str], places: Iterable[int]) -> Iterator[tuple[str, str]]:
    """(name, body) of the methods that a file defines at PLACES: up to the `end` that is indented like the `def`.

    Of the body all lines count, since those that were there before may only have moved into it.
    """
    file = "\n".join(code)
    members = _defined(file) | {name[1:] for found in _MEMBERS.finditer(file) for name in re.findall(r":\w+", found[1])}
    for place in places:
        found = _DEFINED.match(code[place])
        if found and found[2] != "initialize":
            endless = re.match(r"\s*(?:\([^)]*\))?\s*=\s", found[3])
            after = [] if endless else code[place + 1 :]
            last = next((at for at, item in enumerate(after) if re.match(rf"{found[1]}end\b", item)), 0)
            body = "\n".join([found[3], *after[:last]])
            yield found[2], _addressed(body, members - _variables(f"def {found[2]}{body}"))


def _addressed(body: str, members: set[str]) -> str:
    """A body in which what the object itself has is called on `self`."""
    names = "|".join(sorted(map(re.escape, members), key=len, reverse=True))
    return re.sub(rf"(?<![\w.:@$])(?:{names})(?![\w?!:])", r"self.\g<0>", body) if names else body


def _defined(file: str) -> set[str]:
    return {found[2] for line in file.splitlines() if (found := _DEFINED.match(line))}


def _variables(text: str) -> set[str]:
    return {name for found in _LOCAL.finditer(text) for part in found.groups() if part for name in _NAME.findall(part)}


def _plain(line: str) -> str:
    """A line without its comment, and without the words of its prose."""
    return _parted(line)[0]


def _parted(line: str) -> tuple[str, str]:
    """The code of a line, without the words of its prose, and its comment."""
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
        elif comment := _COMMENT.match(line, place):
            return "".join(parts).rstrip(), line[comment.end() :].strip()
        else:
            parts.append(sign)
            place += 1
    return "".join(parts).rstrip(), ""


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


def _whole(code: list[str], place: int) -> str:
    """The line at `place`; of a constant that goes on below, with the lines that belong to it."""
    line = code[place]
    if not _OPEN.match(line):
        return line
    for more in code[place + 1 : place + _WIDEST]:
        line = f"{line} {more.strip()}"
        level = sum(line.count(sign) for sign in "([{") - sum(line.count(sign) for sign in ")]}")
        if more.strip() and level <= 0 and not _OPEN.match(line):
            break
    return line


def _worked_out(line: str, whole: str, known: Mapping[str, str]) -> str:
    found = _CONSTANT.match(whole)
    value = _value(found[3], known, 0) if found else None
    return f"{found[1]}{found[2]} = {value}" if found and value is not None else line


def _value(text: str, known: Mapping[str, str], depth: int) -> int | float | None:
    """The number that an expression of numbers and known constants gives, or None."""
    node = _parsed(text)
    try:
        value = _number(node, known, depth) if node else None
    except (ArithmeticError, RecursionError):
        return None
    return int(value) if value is not None and value == int(value) else value


def _parsed(text: str) -> ast.expr | None:
    """Ruby's expression as Python's, where it can be one."""
    plain = re.sub(r"(?:\.(?:freeze|to_i|round|seconds?|to_f))+\s*$", "", text.strip().rstrip(";"))
    plain = _UNIT.sub(lambda unit: f"({unit[1]} * {_UNITS[unit[2]]})", plain)
    plain = _UNIT_OF.sub(lambda unit: f"({unit[2]} * {_UNITS[unit[1]]})", plain)
    plain = re.sub(r"\b(?:[A-Z]\w*::)+", "", plain)
    plain = _MAPPED.sub(lambda item: f"[{item[4]} for {item[2] or item[3]} in {item[1]}]", plain)
    try:
        return ast.parse(plain, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _number(node: ast.expr, known: Mapping[str, str], depth: int) -> int | float | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and abs(node.value) < _LARGEST:
        return node.value
    if isinstance(node, ast.Name) and node.id in known and depth < _DEEPEST:
        return _value(known[node.id], known, depth + 1)
    if isinstance(node, ast.Attribute) and node.attr in _OF_LIST:
        numbers = _list(node.value, known, depth)
        return _OF_LIST[node.attr](numbers) if numbers else None
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


def _list(node: ast.expr, known: Mapping[str, str], depth: int) -> list[int | float] | None:
    """The numbers of a list that is written out, mapped, or a known constant; None where one is not known."""
    if isinstance(node, ast.Name) and node.id in known and depth < _DEEPEST:
        inner = _parsed(known[node.id])
        return _list(inner, known, depth + 1) if inner else None
    if isinstance(node, ast.List):
        found = [_number(item, known, depth) for item in node.elts]
    elif isinstance(node, ast.ListComp) and isinstance(node.generators[0].target, ast.Name):
        name, given = node.generators[0].target.id, _list(node.generators[0].iter, known, depth)
        found = [_number(node.elt, {**known, name: str(number)}, depth) for number in given or ()]
    else:
        return None
    numbers = [number for number in found if number is not None]
    return numbers if len(numbers) == len(found) else None
