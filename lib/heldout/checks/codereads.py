"""Which paths a piece of code (Python, Ruby, Perl, JavaScript) reads: code of `python3 -c`, `ruby -e`, a here-document.

What counts is a string that is a path, where the code opens, lists or globs something. A comment, a sentence that is
printed, a path that is printed, compared or put in place of another one reads nothing. `join('docs', 'adr')` and
`Path('docs') / 'adr'` are one path. What the code puts together in another way is not seen.
"""

import re
from collections.abc import Iterator

_STRING = re.compile(
    r"""(?P<triple>\"\"\"|''')(?:(?!(?P=triple))[\s\S])*(?P=triple)
      | "(?P<double>(?:[^"\\\n]|\\.)*)" | '(?P<single>(?:[^'\\\n]|\\.)*)' | `(?P<shell>[^`\n]*)`
      | (?P<comment>(?:(?<=\s)|^)(?:\#(?!\{)|//)[^\n]*)""",
    re.VERBOSE | re.MULTILINE,
)
_PATH = re.compile(r"[^\s'\"`,;]+")
_JOINED = re.compile(r"""(?<=\bdocs)(["'])\)?\s*[,/+]\s*["'](?=adr\b)""")
_READS = re.compile(
    r"""\b(?: open | \w*[Rr]ead\w* | i?glob | listdir | scandir | iterdir | walk | Dir | File | IO | foreach | entries
        | children | each_line | each_child | find | system | run | call | check_output | check_call | getoutput
        | popen[23]? | Popen | exec\w* | spawn\w* )\b""",
    re.VERBOSE,
)
_SHELLS = re.compile(r"(?:system|popen[23]?|getoutput|run|call|check_output|check_call|exec\w*|spawn\w*|Popen)")
# Whose arguments are words and no files that are read.
_IDLE = re.compile(
    r"""(?: print\w* | puts | p | pp | echo | warn | say | log | write\w* | append | replace\w* | g?sub!? | tr | index
      | insert | in | includes? | include\? | match\w* | search | split | start_?s?with\w*\?? | end_?s?with\w*\??
      | exists?\?? | is_?dir\w* | is_?file | directory\? | file\? | mkdir\w* | makedirs | format | count )""",
    re.VERBOSE,
)


def paths(code: str) -> Iterator[str]:
    """The paths that the code reads, as it writes them."""
    plain = _without_comments(code)
    plain = _JOINED.sub("/", plain)
    if not _READS.search(plain):
        return
    for found in _STRING.finditer(plain):
        text = found["double"] or found["single"] or ""
        if _PATH.fullmatch(text) and not _IDLE.fullmatch(_asked_by(plain, found.start())):
            yield text


def shells(code: str) -> Iterator[str]:
    """The command texts that the code gives to a shell."""
    plain = _without_comments(code)
    for found in _STRING.finditer(plain):
        text = found["double"] or found["single"] or ""
        if found["shell"] or (text and _SHELLS.fullmatch(_asked_by(plain, found.start()))):
            yield found["shell"] or text


def _without_comments(code: str) -> str:
    return _STRING.sub(lambda found: "" if found["comment"] is not None else found[0], code)


def _asked_by(code: str, place: int) -> str:
    """The name of what a string at `place` is an argument of: `f` of `f(x, "…"` and of `f "…"`; '' of a list."""
    depth, at = 0, place
    before = re.search(r"([A-Za-z_][\w]*[?!]?)[ \t]+[rfb]?$", code[:place])
    if before:
        return before[1]
    while at > 0:
        at -= 1
        letter = code[at]
        if letter in ")]}":
            depth += 1
        elif letter in "([{" and depth:
            depth -= 1
        elif letter in "([{":
            named = re.search(r"([A-Za-z_][\w]*[?!]?)$", code[:at])
            return named[1] if named else ""
        elif letter in "\n;" and not depth:
            word = re.match(r"\s*([a-z_]\w*)[ \t]+(?![ \t=+.(\[])", code[at + 1 : place])
            return word[1] if word else ""
    word = re.match(r"\s*([a-z_]\w*)[ \t]+(?![ \t=+.(\[])", code[:place])
    return word[1] if word else ""
