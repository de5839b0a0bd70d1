"""What a shell command prints of which files: `cd logs && head -n 5 *.log | grep x; python3 -c "open('a')…"`.

Read from the text of the command: quotes, globs, braces, variables and loops over words, `cd`, pipes, redirections,
`bash -c`, and the names of files in code that is given to an interpreter. What limits the output is kept: `head -n 5`,
and a program that prints nothing of its input, such as `wc`. Grammar: POSIX.1-2017, "Shell Command Language".
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice, pairwise, product
from posixpath import join, normpath
from typing import NamedTuple

from heldout.transcript.known import FILES, LONGEST_PATH, Known

COUNT = 1 << 53  # the largest number that a command is believed: a float holds it, and no file has as many lines
LONGEST = 4_000  # characters of a command, and of a word that it expands to, that are looked at
TEXTS = 64 << 10  # characters of what one word expands to
_DEPTH = 3  # shells within shells

# Every pattern here runs over a model's own text. Each takes time linear in it: what repeats is possessive where
# something follows that can fail, and begins where nothing of its kind lies before it.

# Programs that print the content of the files they name: whether their first plain argument is a script or a pattern,
# and which of their options take the next argument.
_PRINTERS: dict[str, tuple[bool, frozenset[str]]] = {
    **dict.fromkeys(
        (
            "cat",
            "less",
            "more",
            "tac",
            "nl",
            "zcat",
            "bat",
            "batcat",
            "rev",
            "expand",
            "column",
            "paste",
            "diff",
            "comm",
        ),
        (False, frozenset[str]()),
    ),
    **dict.fromkeys(("head", "tail"), (False, frozenset(("-n", "-c", "--lines", "--bytes")))),
    **dict.fromkeys(("cut", "sort", "uniq"), (False, frozenset(("-d", "-f", "-c", "-b", "-k", "-t", "-o", "-s")))),
    **dict.fromkeys(("strings", "xxd", "od", "hexdump"), (False, frozenset(("-n", "-l", "-s", "-j", "-N")))),
    **dict.fromkeys(("fold", "base64"), (False, frozenset(("-w",)))),
    **dict.fromkeys(
        ("grep", "egrep", "fgrep", "zgrep", "rg"),
        (True, frozenset(("-A", "-B", "-C", "-m", "-g", "-t", "--include", "--exclude", "--exclude-dir"))),
    ),
    "sed": (True, frozenset(("-l",))),
    **dict.fromkeys(("awk", "gawk"), (True, frozenset(("-F", "-v")))),
    "jq": (True, frozenset(("--indent", "--tab"))),
}
_LISTERS = ("ls", "echo", "printf", "find")  # what they name is what `xargs` gives to a program
_COUNTERS = re.compile(
    r"wc|(?:md5|sha\d*|b2)sum|cksum|true|tee"
)  # they print nothing of their input; tee: counted once
_INTERPRETER = re.compile(r"python[\d.]*|node|deno|bun|ruby|perl|php")
_SHELL = re.compile(r"(?:ba|da|z)?sh")
_CODE = re.compile(r"-[A-Za-z]*[cep]|--eval|--print|-[EPr]")  # options whose argument is code
_NAMED = re.compile(
    rf"\b(?:{'|'.join(_PRINTERS)}|python[\d.]*|node|deno|bun|ruby|perl|php)\b"
)  # the name ends at a blank, a quote, a slash or a separator
_SCRIPT = re.compile(r"-[A-Za-z]*[ef]|--regexp|--file|--expression")  # options whose argument is the script
_TOKEN = re.compile(
    r"""(?P<gap>(?:[ \t\r]|\\\n)+)
      | (?P<redirect>\d*(?:<<<|<<-?|<>|>>|>\||>&|<&|<|>)|&>>?)
      | (?P<separator>\|\||&&|\|&|;;|[|;&()\n])
      | (?P<word>(?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s'"|;&<>()\\])+)
      | (?P<stray>.)""",
    re.VERBOSE | re.DOTALL,
)
_QUOTED = re.compile(r"'([^']*)'|\"((?:\\.|[^\"\\])*)\"|\\(.)", re.DOTALL)
_HERE = re.compile(
    r"(?<!<)<<-?+[ \t]*+(['\"]?)(\w++)\1([^\n]*+)\n(.*?)(?:^[ \t]*+\2[ \t]*+$|\Z)", re.DOTALL | re.MULTILINE
)
_ASSIGNED = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
_BRACES = re.compile(r"\{([^{},]*+,[^{}]*+)\}")
_OPENING, _CLOSING = ("do", "{", "then", "else"), ("done", "}", "fi")
_KEYWORDS = (*_OPENING, "if", "while", "until", "!", "time", "elif")
_LITERAL = re.compile(r"(['\"])([^'\"\s]{1,200})\1(?!\s*,\s*(?:mode\s*=\s*)?['\"][wax])")
_SED_LINES = re.compile(r"(?<!\d)(\d++)(?:,(\d++))?p")
_SILENT_GREP = re.compile(r"-(?:(?![clLq])[A-Za-z])*+[clLq][A-Za-z]*+|--count|--quiet|--files-with\w*-matches")


class Limit(NamedTuple):
    """The most that can be printed of something, in lines and in bytes; None where nothing limits it."""

    lines: int | None = None
    bytes: int | None = None

    def and_(self, other: "Limit", among: int = 1) -> "Limit":
        """Both limits, the other of which holds for `among` files together and is shared out."""
        return Limit(*(_least(mine, its and -(-its // among)) for mine, its in zip(self, other, strict=True)))


def _least(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else min(one, other)


class Printed(NamedTuple):
    """One file (an absolute path; a glob where no known file matches it) that a command prints at most so much of.

    `searched`: it lies in a folder that the command names, and may as well not be printed.
    """

    path: str
    limit: Limit = Limit()
    searched: bool = False


@dataclass
class _Stage:
    """One simple command: its words, whether it writes to a file, the files it reads from, a here-document."""

    words: list[str] = field(default_factory=list[str])
    silent: bool = False
    inputs: list[str] = field(default_factory=list[str])
    text: str = ""


def printed(command: str, cwd: str, known: Known) -> tuple[list[Printed], str]:
    """What a command that runs in `cwd` prints of files, and the folder that it leaves its shell in."""
    if "cd" not in command and _NAMED.search(command) is None:
        return [], cwd  # most commands print no file, and taking one apart costs as much as reading its line
    reading = _Reading(cwd, known)
    reading.read(command[:LONGEST])
    return reading.found, reading.here


class _Reading:
    def __init__(self, here: str, known: Known, depth: int = 0) -> None:
        self.here, self.known, self.depth = here, known, depth
        self.found: list[Printed] = []
        self.variables: dict[str, list[str]] = {}
        self._open: list[tuple[int, str | None]] = []  # of loops and groups: how many were found before; `( … )`: where
        self._start = 0  # of the pipeline under way
        self._searched: set[str] = set()  # files in folders that were named
        self._named: list[str] = []  # files that the stage before named for xargs

    def read(self, command: str) -> None:
        command += "\n"  # without which each of many `<<` would look for the end of its line
        texts = [match[4] for match in _HERE.finditer(command)]
        stage, waiting = _Stage(), ""
        for token in _TOKEN.finditer(_HERE.sub(r"<<\2\3\n", command) + ";"):
            kind, text = token.lastgroup, token[0]
            if kind == "word" and waiting:
                self._redirect(stage, waiting, _unquoted(text), texts)
                waiting = ""
            elif kind == "word":
                stage.words.append(text)
            elif kind == "redirect":
                waiting = text
            elif kind == "separator":
                self._end(stage, text)
                stage, waiting = _Stage(), ""

    def _redirect(self, stage: _Stage, sign: str, target: str, texts: list[str]) -> None:
        operator = sign.lstrip("0123456789")
        if operator in ("<<", "<<-"):
            stage.text = texts.pop(0) if texts else ""
        elif operator == "<":
            stage.inputs.append(target)
        elif ">" in operator and sign[0] in ">&1" and not (operator == ">&" and target in ("1", "2")):
            stage.silent = target != "/dev/stderr"

    def _end(self, stage: _Stage, separator: str) -> None:
        """Settle one simple command, which `separator` ends."""
        words = stage.words
        closes = bool(words) and words[0] in _CLOSING
        if not closes:
            self._run(stage)
        if closes or separator == ")":
            self._start, outside = self._open.pop() if self._open else (0, None)
            self.here = outside or self.here
            self._filter(stage if closes else _Stage())
        if separator == "(":
            self._open.append((len(self.found), self.here))
        if separator not in ("|", "|&", ")"):
            self._start, self._named = len(self.found), []

    def _run(self, stage: _Stage) -> None:
        words = stage.words
        if words[:1] == ["for"] and words[2:3] == ["in"]:
            self.variables[words[1]] = _first(text for word in words[3:] for text in self._expanded(word))
            return
        at = 0
        while at < len(words) and words[at] in _KEYWORDS:
            if words[at] in _OPENING:
                self._open.append((len(self.found), None))
            at += 1
        while at < len(words) and (assigned := _ASSIGNED.fullmatch(words[at])):
            self.variables[assigned[1]] = self._expanded(assigned[2])
            at += 1
        words = words[at:]
        if words[:1] == ["cd"] and len(words) > 1:
            folder = normpath(join(self.here, self._expanded(words[1])[0]))
            self.here = folder if len(folder) <= LONGEST_PATH else self.here  # there is none to change to
        elif words:
            stage.words = words
            self._filter(stage)
            self._prints(stage)

    def _filter(self, stage: _Stage) -> None:
        """Let what the pipeline has printed so far pass through one stage more."""
        came = self.found[self._start :]
        plain = [_unquoted(word) for word in stage.words]
        limit = None if stage.silent else limit_of(plain)
        if limit is None:
            del self.found[self._start :]
        elif limit != Limit():
            self.found[self._start :] = [item._replace(limit=item.limit.and_(limit, len(came))) for item in came]

    def _prints(self, stage: _Stage) -> None:
        """Note what one stage prints of files by itself."""
        words = stage.words
        program, named = _unquoted(words[0]).rsplit("/", 1)[-1], self._named
        self._named = _first(self._listed(program, words)) if program in _LISTERS else []
        if program == "find" and "-exec" in words:
            words, named, program = words[words.index("-exec") + 1 :], self._named, ""
        elif program == "xargs":
            words = words[next((at for at, word in enumerate(words) if word in _PRINTERS), len(words)) :]
        else:
            named = []
        plain = [_unquoted(word) for word in words]
        limit = None if stage.silent or not words else limit_of(plain)
        if limit is None:
            return
        if _SHELL.fullmatch(program):
            self._nested(plain, stage.text)
            return
        if _INTERPRETER.fullmatch(program):
            paths = self._in_code(plain, stage.text)
        else:
            texts = [*_arguments(words), *stage.inputs]
            paths = _first(path for word in texts for path in self._paths(word))
            paths += named if plain[0] in _PRINTERS else []
        self._add(Printed(path, limit, path in self._searched) for path in paths)

    def _add(self, printed: Iterable[Printed]) -> None:
        """Note no more than are kept: what a later stage takes away again is always the last of them."""
        self.found += islice(printed, FILES - len(self.found))

    def _nested(self, words: list[str], text: str) -> None:
        code = next((after for word, after in pairwise(words) if re.fullmatch(r"-[a-z]*c", word)), text)
        if code and self.depth < _DEPTH:
            inner = _Reading(self.here, self.known, self.depth + 1)
            inner.variables = dict(self.variables)
            inner.read(code)
            self._add(inner.found)

    def _listed(self, program: str, words: list[str]) -> Iterator[str]:
        """The files that `ls` or `find` prints the names of."""
        plain: Iterable[str] = (word for word in words[1:] if not word.startswith("-"))
        if program == "find":
            names = [_unquoted(after) for word, after in pairwise(words) if word in ("-name", "-path", "-iname")]
            folders = words[1 : next((at for at, word in enumerate(words) if at and word.startswith("-")), len(words))]
            pairs = product(folders or ["."], names or ["*"])
            plain = (f"{folder.rstrip('/')}/**/{name}" for folder, name in pairs)
        for word in plain:
            yield from self._paths(word)

    def _paths(self, word: str) -> Iterator[str]:
        for path in (join(self.here, text) for text in self._expanded(word)):
            files = self.known.files(path)
            if self.known.is_folder(path):
                self._searched.update(files)
            yield from files

    def _expanded(self, word: str) -> list[str]:
        """A word without quotes, its braces and the variables that are known expanded."""
        texts = [_unquoted(word)]
        for _ in range(3):
            texts = _first(piece for text in texts for piece in _braced(text))
        for _ in range(3):
            texts = _first(piece for text in texts for piece in self._substituted(text))
        return texts

    def _substituted(self, text: str) -> Iterator[str]:
        found = _VARIABLE.search(text)
        values = self.variables.get(found[1] or found[2]) if found else None
        if not found or not values:
            yield text
            return
        for value in values:
            yield f"{text[: found.start()]}{value}{text[found.end() :]}"[:LONGEST]  # it would grow with every variable

    def _in_code(self, words: list[str], text: str) -> list[str]:
        """Known files whose names, or the ends of their names, stand in the code that an interpreter is given."""
        code = [after for word, after in pairwise(words) if _CODE.fullmatch(word)]
        named = [match[2] for item in code or [text] for match in _LITERAL.finditer(item)]
        if words[1:3] == ["-m", "json.tool"]:
            named += words[3:]
        texts = [re.sub(r"\$?\{[^{}]*\}", "*", name) for name in named]
        return _first(dict.fromkeys(path for item in texts for path in self.known.ending(self.here, item)))


def _first(texts: Iterable[str]) -> list[str]:
    """As many as one command prints, the first in any case; the rest is not even made."""
    found: list[str] = []
    room = TEXTS
    for text in islice(texts, FILES):
        room -= len(text)
        if found and room < 0:
            break
        found.append(text)
    return found


def _unquoted(word: str) -> str:
    if "'" not in word and '"' not in word and "\\" not in word:
        return word
    return _QUOTED.sub(lambda match: match[1] or re.sub(r"\\(.)", r"\1", match[2] or "") or match[3] or "", word)


def _braced(text: str) -> Iterator[str]:
    found = _BRACES.search(text)
    if not found:
        yield text
        return
    for part in found[1].split(","):
        yield text[: found.start()] + part + text[found.end() :]


def _arguments(words: list[str]) -> list[str]:
    """The files that one simple command prints, as they are spelt."""
    printer = _PRINTERS.get(_unquoted(words[0]).rsplit("/", 1)[-1])
    if printer is None:
        return []
    script, valued = printer
    files: list[str] = []
    skip = False
    for word in words[1:]:
        if skip:
            skip = False
        elif word in valued:
            skip = True
        elif word.startswith("-") and len(word) > 1:
            if script and _SCRIPT.fullmatch(word):
                script, skip = False, True
        elif script:
            script = False
        elif word not in ("-", "{}", "\\;", "+"):
            files.append(word)
    return files


def limit_of(words: list[str]) -> Limit | None:
    """How much one simple command lets through of a file, or of its input; None where it prints nothing of it."""
    program, rest = (words[0].rsplit("/", 1)[-1], words[1:]) if words else ("", [])
    if program == "xargs":
        at = next((at for at, word in enumerate(rest) if word in _PRINTERS or _COUNTERS.fullmatch(word)), len(rest))
        return limit_of(rest[at:])
    if _COUNTERS.fullmatch(program) and program != "tee":
        return None
    if program in ("head", "tail"):
        return _of_head(rest)
    if program.endswith("grep") or program == "rg":
        if any(_SILENT_GREP.fullmatch(word) for word in rest):
            return None
        most = re.search(r"(?:^| )(?:-[A-Za-z]*m|--max-count)[ =]?(\d+)", " ".join(rest))
        return Limit(_number(most[1])) if most else Limit()
    if program == "sed":
        if any(re.fullmatch(r"-[nEr]*i.*|--in-place.*", word) for word in rest):
            return None
        ranges = [match for word in rest for match in _SED_LINES.finditer(word)] if "-n" in rest else []
        whole = any(re.fullmatch(r"[\d,p;${}q\s]+", word) and "$p" not in word and ",$" not in word for word in rest)
        if ranges and whole:
            return Limit(sum(_lines(_number(match[1]), _number(match[2] or match[1])) for match in ranges))
    return Limit()


def _number(digits: str) -> int:
    """A number in a command, which may be of any length and is multiplied with what was measured."""
    digits = digits.lstrip("0")
    return min(int(digits or "0"), COUNT) if len(digits) < 20 else COUNT


def _lines(first: int, last: int) -> int:
    """How many lines `sed` prints of a range: the first alone where the last lies before it."""
    return max(last - first, 0) + 1


def _of_head(words: list[str]) -> Limit:
    """The limit that head or tail sets; ten lines by themselves, none where it is counted from the other end."""
    given = " ".join(word for word in words if not word.startswith(("-q", "-v")))
    found = re.search(r"(?:^| )(?:-(n|c) ?|--(lines|bytes)[= ]|-)([+-]?)(\d+)([kKM]?)\b", given)
    if not found:
        return Limit(10)
    if found[3]:
        return Limit()
    amount = _number(found[4]) * {"": 1, "k": 1_024, "K": 1_024, "M": 1 << 20}[found[5]]
    return Limit(bytes=amount) if "c" in (found[1] or "") or found[2] == "bytes" else Limit(amount)
