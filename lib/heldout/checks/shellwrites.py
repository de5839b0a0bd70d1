"""Where the commands of a shell text write: redirections, the targets of the usual programs, and what cannot be told.

Programs are of three kinds: those that only read, those whose targets are known, and all others, of which it cannot be
told whether a path among their words is written.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from heldout.checks.shell import Simple, commands

READERS = frozenset(
    """
    . : [ [[ ag awk base64 basename bat cat cd cksum cmp column comm cut date declare df diff dirname du echo
    egrep env exit export expr false fd fgrep file find fold gawk git grep groups head hexdump id jq kill less
    local ls md5sum more nl od paste perl popd printenv printf ps pushd pwd read readlink realpath return rg sed
    seq set sha1sum sha256sum sleep sort source stat strings sum tac tail test tr tree true type uname uniq
    unset wait wc which whoami xxd yq
    """.split()
)
# Options that take a value, by program: the value is no target.
_VALUED = {"touch": "rdt", "mkdir": "m", "truncate": "sr", "install": "mogS", "cp": "S", "ln": "S"}
_IN_PLACE = {"sed": r"-[nErsuz]*i.*|--in-place.*", "perl": r"-[pnlawe0-9]*i(\..*)?", "gawk": r"-i"}
_GIT_WRITES = frozenset(
    """
    add am apply checkout cherry-pick clean clone commit fetch init merge mv pull rebase reset restore revert rm stash
    submodule switch worktree
    """.split()
)


@dataclass(frozen=True)
class Target:
    """A path that is written, or (not `sure`) may be; several paths where its folder is not known for certain."""

    paths: tuple[str, ...]
    sure: bool
    program: str


def targets(text: str, cwd: str, variables: Mapping[str, str]) -> Iterator[Target]:
    """What a command text writes, in order; words of programs that may write are not `sure`."""
    for simple in commands(text, cwd, variables):
        for word in simple.writes:
            yield from _targets(simple, [word], sure=True)
        known = _known(simple)
        yield from _targets(simple, simple.words[1:] if known is None else known, sure=known is not None)


def write_targets(text: str, cwd: str, variables: Mapping[str, str]) -> list[str]:
    """The paths that a command text certainly writes."""
    certain = (target for target in targets(text, cwd, variables) if target.sure and len(target.paths) == 1)
    return list(dict.fromkeys(target.paths[0] for target in certain))


def _targets(simple: Simple, words: list[str], sure: bool) -> Iterator[Target]:
    for word in words:
        for path in braces(word):
            yield Target(simple.paths(path), sure, simple.program or "shell")


def _known(simple: Simple) -> list[str] | None:
    """The words that a program writes to; none for a reader, None where it cannot be told."""
    program, words = simple.program, simple.words[1:]
    if program in _KNOWN:
        return _KNOWN[program](words)
    if program in _IN_PLACE and any(re.fullmatch(_IN_PLACE[program], word) for word in words):
        return _plain(words, "ef")
    return [] if not program or program in READERS else None


def _plain(words: list[str], valued: str = "") -> list[str]:
    """The words that are neither options nor values of options."""
    found, skip = [], False
    for word in words:
        if skip:
            skip = False
        elif word.startswith("-") and word != "-":
            skip = len(word) == 2 and word[1] in valued
        else:
            found.append(word)
    return found


def _valued(program: str) -> Callable[[list[str]], list[str]]:
    return lambda words: _plain(words, _VALUED.get(program, ""))


def _copied(program: str) -> Callable[[list[str]], list[str]]:
    """cp, ln, install, rsync: the folder of -t, else the last word; `ln -s FILE` alone makes FILE's name here."""

    def last(words: list[str]) -> list[str]:
        plain = _plain(words, _VALUED.get(program, "") + "t")
        if program == "ln" and len(plain) == 1:
            return [plain[0].rpartition("/")[2]]
        return _after(words, "-t", "--target-directory") or plain[-1:]

    return last


def _after(words: list[str], *names: str) -> list[str]:
    """The values of options, written `-o X`, `-oX` (one letter) or `--long=X`."""
    found = [words[place + 1] for place, word in enumerate(words[:-1]) if word in names]
    for name in names:
        found += [word.partition("=")[2] for word in words if name.startswith("--") and word.startswith(f"{name}=")]
        found += [word[2:] for word in words if len(name) == 2 and word.startswith(name) and len(word) > 2]
    return found


def _git(words: list[str]) -> list[str]:
    places = range(len(words))
    at = next((i for i in places if not words[i].startswith("-") and words[i - 1 : i] != ["-C"]), None)
    if at is None or words[at] not in _GIT_WRITES:
        return []
    plain = _plain(words[at + 1 :], "boc")
    made = {
        "clone": plain[1:2] or [item.rpartition("/")[2].removesuffix(".git") for item in plain[:1]],
        "init": plain[:1],
    }
    return [*_after(words[:at], "-C"), *made.get(words[at], plain[1:2] if words[at] == "worktree" else [])]


_KNOWN: dict[str, Callable[[list[str]], list[str]]] = {
    **{name: _valued(name) for name in ("tee", "touch", "mkdir", "rm", "rmdir", "unlink", "truncate", "mv", "shred")},
    **{name: _copied(name) for name in ("cp", "ln", "install", "rsync")},
    "dd": lambda words: [word[3:] for word in words if word.startswith("of=")],
    "sort": lambda words: _after(words, "-o", "--output"),
    "curl": lambda words: _after(words, "-o", "--output", "--output-dir"),
    "wget": lambda words: _after(words, "-O", "-P", "--directory-prefix"),
    "tar": lambda words: _after(words, "-C", "--directory") + _after(words, "-f", "--file"),
    "unzip": lambda words: _after(words, "-d"),
    "gzip": _plain,
    "gunzip": _plain,
    "find": lambda words: _plain(words)[:1] if "-delete" in words else _after(words, "-fprint", "-fls"),
    "git": _git,
}


def braces(word: str, most: int = 64) -> list[str]:
    """Brace expansion: `a{b,c}` is `ab` and `ac`."""
    found = re.search(r"\{([^{}]*,[^{}]*)\}", word)
    if not found or most < 2:
        return [word]
    parts = [word[: found.start()] + part + word[found.end() :] for part in found[1].split(",")]
    return [item for part in parts for item in braces(part, most // len(parts))][:64]
