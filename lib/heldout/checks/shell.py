"""What a Bash command would run and write, read from its text.

A reader for the shell language as agents write it: quotes, escapes, variables it can know, `cd`, separators,
redirections, here-documents, `bash -c`, command substitution. It is no shell: what only execution can tell (a loop's
variable, the output of a substitution) is left as it is written. Grammar: POSIX.1-2017, "Shell Command Language".
"""

import os.path
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

DEPTH = 6  # shells within shells
_SEPARATORS = ("&&", "||", ";;", "|&", ";", "|", "&", "\n", "(", ")")
_KEYWORDS = {
    "if",
    "then",
    "else",
    "elif",
    "fi",
    "for",
    "while",
    "until",
    "do",
    "done",
    "case",
    "esac",
    "!",
    "{",
    "}",
    "function",
    "in",
}
SHELLS = {"sh", "bash", "dash", "zsh", "ksh", "ash"}
# Programs that run another one, with the letters of their options that take a value.
_WRAPPERS = {
    "sudo": "ugpCh",
    "doas": "u",
    "env": "uCS",
    "nice": "n",
    "stdbuf": "ioe",
    "timeout": "ks",
    "xargs": "InPLdsE",
}
_WRAPPERS |= dict.fromkeys(("command", "nohup", "exec", "builtin", "setsid", "time"), "")
RUNNERS = frozenset((*SHELLS, *_WRAPPERS, "eval"))  # their words are commands, which `commands` yields by themselves
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
_REDIRECTION = re.compile(r"(?:[0-9]+|&)?(?:<<<|<<-|<<|<>|>>|>\||>&|<&|>|<)")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9?@*#!$-]")


@dataclass
class Simple:
    """One simple command: its words (expanded), files it redirects to and from, and the folders it may run in.

    There are several folders where a `cd` may or may not have happened (`cd a || cd b`). `inputs` are the texts of its
    here-documents and here-strings.
    """

    words: list[str] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)
    reads: list[str] = field(default_factory=list)
    cwds: tuple[str, ...] = ()
    inputs: list[str] = field(default_factory=list)

    @property
    def program(self) -> str:
        return os.path.basename(self.words[0]) if self.words else ""

    @property
    def cwd(self) -> str:
        return self.cwds[0]

    def paths(self, text: str) -> tuple[str, ...]:
        """A word as an absolute, normalised path; one for each folder the command may run in."""
        return tuple(dict.fromkeys(normal_path(os.path.join(cwd, text)) for cwd in self.cwds))


def normal_path(path: str) -> str:
    """os.path.normpath, but `//x`, which POSIX leaves alone, is `/x`."""
    return "/" + os.path.normpath(path).lstrip("/") if path.startswith("/") else os.path.normpath(path)


class _Reader:
    """Reads one command text; `variables` and `cwd` change as the commands are met."""

    def __init__(self, text: str, cwds: tuple[str, ...], variables: dict[str, str], depth: int) -> None:
        self.text, self.place, self.cwds, self.variables, self.depth = text, 0, cwds, variables, depth
        self.before = cwds  # the folders before the last `cd`
        self.stack: list[tuple[str, ...]] = []  # of pushd
        self.alternative = False  # the command under way follows `||`
        self.inner: list[Simple] = []  # commands of substitutions met in the current words
        # Here-documents whose bodies follow the line: delimiter, whether tabs go, whom the body is given to.
        self.here: list[tuple[str, bool, list[str]]] = []
        self.outside: list[tuple[tuple[str, ...], dict[str, str]]] = []  # what `( … )` must not change

    def commands(self) -> Iterator[Simple]:
        simple = Simple(cwds=self.cwds)
        while self.place < len(self.text):
            if self._skip_blank():
                continue
            testing = bool(simple.words) and simple.words[0] == "[[" and "]]" not in simple.words
            separator = next((sign for sign in _SEPARATORS if self.text.startswith(sign, self.place)), "")
            redirection = _REDIRECTION.match(self.text, self.place)
            if testing and (separator not in ("", ";", "\n") or redirection):
                self.place += 1  # within [[ … ]] these signs compare and join
            elif separator and not (redirection and separator == "&"):
                self.place += len(separator)
                yield from self._end(simple)
                self._cross(separator)
                simple = Simple(cwds=self.cwds)
            elif redirection:
                self._redirect(simple, redirection[0])
            else:
                simple.words.append(self._word())
        yield from self._end(simple)

    def _cross(self, separator: str) -> None:
        self.alternative = separator == "||"
        if separator == "\n":
            self._skip_here_documents()
        elif separator == "(":
            self.outside.append((self.cwds, dict(self.variables)))
        elif separator == ")" and self.outside:
            self.cwds, self.variables = self.outside.pop()

    def _skip_blank(self) -> bool:
        if self.text.startswith("\\\n", self.place):
            self.place += 2
            return True
        if self.text[self.place] in " \t\r":
            self.place += 1
            return True
        if self.text[self.place] == "#":
            end = self.text.find("\n", self.place)
            self.place = len(self.text) if end < 0 else end
            return True
        return False

    def _redirect(self, simple: Simple, sign: str) -> None:
        self.place += len(sign)
        while self.place < len(self.text) and self.text[self.place] in " \t":
            self.place += 1
        target = self._word()
        operator = sign.lstrip("0123456789&")
        if operator in ("<<", "<<-"):
            self.here.append((target, operator == "<<-", simple.inputs))
        elif operator in (">&", "<&") and re.fullmatch(r"[0-9]*-?", target):
            return
        elif operator in ("<", "<&"):
            simple.reads.append(target)
        elif operator == "<<<":
            simple.inputs.append(target)
        elif target:
            simple.writes.append(target)

    def _skip_here_documents(self) -> None:
        for delimiter, strip, inputs in self.here:
            start = self.place
            while self.place < len(self.text):
                end = self.text.find("\n", self.place)
                end = len(self.text) if end < 0 else end
                line, before = self.text[self.place : end], self.place
                self.place = min(end + 1, len(self.text))
                if (line.lstrip("\t") if strip else line) == delimiter:
                    inputs.append(self.text[start:before])
                    break
            else:
                inputs.append(self.text[start:])
        self.here.clear()

    def _end(self, simple: Simple) -> Iterator[Simple]:
        """Settle one simple command: assignments, `cd`, shells within it."""
        yield from self.inner
        self.inner = []
        words = simple.words
        while words and words[0] in _KEYWORDS:
            words.pop(0)
        while words and _ASSIGNMENT.match(words[0]):
            name, _, value = words.pop(0).partition("=")
            self.variables[name] = value
        if words and words[0] in ("export", "declare", "local", "readonly", "typeset"):
            for name, sign, value in (item.partition("=") for item in words[1:]):
                if sign:
                    self.variables[name] = value
        if not words and not simple.writes:
            return
        yield simple
        unwrapped = _unwrap(words)
        program = os.path.basename(unwrapped[0]) if unwrapped else ""
        if program in ("cd", "pushd", "popd"):
            self._move(program, next((word for word in unwrapped[1:] if not word.startswith("-") or word == "-"), None))
        elif program in SHELLS or program == "eval":
            inner = " ".join(unwrapped[1:]) if program == "eval" else _script(unwrapped)
            yield from self._nested(inner)
        elif program == "find":
            yield from (Simple(words, [], [], simple.cwds) for words in _executed(unwrapped))
        elif unwrapped and unwrapped is not words:
            yield Simple(unwrapped, [], [], simple.cwds, simple.inputs)

    def _move(self, program: str, target: str | None) -> None:
        """Follow `cd`, `cd -`, pushd and popd. After `||` it happens only where what stood before (a `cd`?) failed."""
        start = self.before if self.alternative else self.cwds
        if program == "popd":
            new = self.stack.pop() if self.stack else self.cwds
        elif target == "-":
            new = self.before
        else:
            home = self.variables.get("HOME", "")
            new = tuple(normal_path(os.path.join(cwd, home if target is None else target)) for cwd in start)
        if program == "pushd":
            self.stack.append(self.cwds)
        elif not self.alternative:
            self.before = self.cwds
        self.cwds = tuple(dict.fromkeys((*self.cwds, *new))) if self.alternative else new
        self.variables["OLDPWD"] = self.before[0]
        self.variables["PWD"] = self.cwds[0]

    def _nested(self, text: str | None) -> Iterator[Simple]:
        if text and self.depth < DEPTH:
            yield from _Reader(text, self.cwds, dict(self.variables), self.depth + 1).commands()

    def _word(self) -> str:
        parts: list[str] = []
        if self.text.startswith("~", self.place):
            parts.append(self._tilde())
        while self.place < len(self.text):
            letter = self.text[self.place]
            if letter in " \t\r\n;|&<>()":
                break
            self.place += 1
            if letter == "'":
                parts.append(self._until("'"))
            elif letter == '"':
                parts.append(self._double())
            elif letter == "\\":
                parts.append(self.text[self.place : self.place + 1].replace("\n", ""))
                self.place += 1
            elif letter in "$`":
                parts.append(self._expansion(letter))
            else:
                parts.append(letter)
                if letter == "=" and self.text.startswith("~", self.place) and _ASSIGNMENT.fullmatch("".join(parts)):
                    parts.append(self._tilde())
        return "".join(parts)

    def _tilde(self) -> str:
        following = self.text[self.place + 1 : self.place + 2]
        self.place += 1
        return self.variables.get("HOME", "~") if following in ("", "/", " ", "\n", ";", "&", "|", ")") else "~"

    def _until(self, sign: str) -> str:
        end = self.text.find(sign, self.place)
        end = len(self.text) if end < 0 else end
        inside, self.place = self.text[self.place : end], end + 1
        return inside

    def _double(self) -> str:
        parts: list[str] = []
        while self.place < len(self.text):
            letter = self.text[self.place]
            self.place += 1
            if letter == '"':
                break
            if letter == "\\" and self.text[self.place : self.place + 1] in ("$", "`", '"', "\\", "\n"):
                parts.append(self.text[self.place].replace("\n", ""))
                self.place += 1
            elif letter in "$`":
                parts.append(self._expansion(letter))
            else:
                parts.append(letter)
        return "".join(parts)

    def _expansion(self, sign: str) -> str:
        return self._dollar() if sign == "$" else self._substitute(self._until("`"))

    def _dollar(self) -> str:
        rest = self.text[self.place : self.place + 1]
        if rest == "(":
            return self._substitute(self._balanced("(", ")"))
        if rest == "{":
            return self._braced(self._balanced("{", "}"))
        if rest == "'":
            self.place += 1
            return self._until("'").encode("latin-1", "replace").decode("unicode_escape", "replace")
        name = _NAME.match(self.text, self.place)
        if not name:
            return "$"
        self.place = name.end()
        return self.variables.get(name[0], f"${name[0]}")

    def _braced(self, inside: str) -> str:
        name = _NAME.match(inside)
        if not name:
            return f"${{{inside}}}"
        default = re.match(r":?[-=](.*)", inside[name.end() :], re.DOTALL)
        known = self.variables.get(name[0])
        if known is not None or not default:
            return known if known is not None else f"${{{inside}}}"
        return _Reader(
            f'"{default[1]}"' if not default[1].startswith("~") else default[1], self.cwds, self.variables, self.depth
        )._word()

    def _balanced(self, opening: str, closing: str) -> str:
        level, start = 0, self.place + 1
        while self.place < len(self.text):
            letter = self.text[self.place]
            self.place += 1
            if letter == "\\":
                self.place += 1
            elif letter == "'":
                self._until("'")
            elif letter == opening:
                level += 1
            elif letter == closing:
                level -= 1
                if not level:
                    return self.text[start : self.place - 1]
        return self.text[start:]

    def _substitute(self, command: str) -> str:
        if command.strip() == "pwd":
            return self.cwds[0]
        self.inner.extend(self._nested(command))
        return f"$({command})"


def _unwrap(words: list[str]) -> list[str]:
    """The command behind `sudo`, `env X=y`, `timeout 5`, … (the same list when there is no wrapper)."""
    while words and os.path.basename(words[0]) in _WRAPPERS:
        wrapper = os.path.basename(words[0])
        rest = words[1:]
        if wrapper == "command" and rest[:1] in (["-v"], ["-V"]):
            break  # asks where a program is, and runs nothing
        while rest and (rest[0].startswith("-") or _ASSIGNMENT.match(rest[0])):
            takes_value = len(rest[0]) == 2 and rest[0][1] in _WRAPPERS[wrapper]
            rest = rest[2 if takes_value else 1 :]
        words = rest[1:] if wrapper == "timeout" else rest
    return words


def _script(words: list[str]) -> str | None:
    """The text that `bash -lc TEXT` runs."""
    for place, item in enumerate(words[1:], 1):
        if item.startswith("-") and not item.startswith("--") and "c" in item:
            return words[place + 1] if place + 1 < len(words) else None
        if not item.startswith("-"):
            return None
    return None


def _executed(words: list[str]) -> Iterator[list[str]]:
    """The commands that `find … -exec COMMAND ;` runs."""
    place = 0
    while place < len(words):
        if words[place] in ("-exec", "-execdir", "-ok", "-okdir"):
            end = next((at for at in range(place + 1, len(words)) if words[at] in (";", "+")), len(words))
            yield words[place + 1 : end]
            place = end
        place += 1


def commands(text: str, cwd: str, variables: Mapping[str, str]) -> list[Simple]:
    """The simple commands of a command text, in order, those within shells and substitutions included."""
    return list(_Reader(text, (cwd,), dict(variables), 0).commands())


def left_in(text: str, cwd: str, variables: Mapping[str, str]) -> str:
    """The folder a command text leaves its shell in."""
    reader = _Reader(text, (cwd,), dict(variables), 0)
    for _ in reader.commands():
        pass
    return reader.cwds[0]
