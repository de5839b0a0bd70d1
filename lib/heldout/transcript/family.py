"""Which files belong to one session: the main transcript, its subagents wherever a version put them, the stream.

Versions differ (traps 6, 19; reports 14-17, 26, 36): subagents are written into the session file (1.0), beside it as
`agent-<id>.jsonl` with the parent's sessionId (2.0), below `<session>/subagents/` (2.1), deeper for workflows. A
project folder's name is lossy, so a session is found by its id, never by a path computed from a cwd.
"""

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import orjson

from heldout.errors import Fault
from heldout.transcript import formats, lines
from heldout.transcript.bounds import SEEN

_ID = re.compile(rb'"session(?:Id|_id)":\s*"([^"\\]*)"')
_FOREIGN = 200  # lines without a message that may come before a file's first one
_DEPTH = 4  # folders below a given directory in which session files are looked for
_META = 1 << 20  # bytes: a larger meta file is not read
# Files beside subagents that are no subagents: compactions, prompt suggestions (trap 6c).
_NO_AGENTS = ("agent-acompact-", "agent-aprompt_suggestion-")


@dataclass
class Subagent:
    """A subagent's transcript; `meta` is what lies beside it in `agent-<id>.meta.json`, else empty."""

    path: Path
    id: str
    meta: dict[str, Any]


@dataclass
class Family:
    """Paths of one session. `base`: the folder that the paths in the facts are relative to."""

    base: Path
    mains: list[Path] = field(default_factory=list[Path])
    subagents: list[Subagent] = field(default_factory=list[Subagent])
    stream: Path | None = None


def is_subagent(name: str) -> bool:
    return name.startswith("agent-") and name.endswith(".jsonl") and not name.startswith(_NO_AGENTS)


def utf8(name: str) -> str:
    """A file's name as facts can hold it: bytes that are no UTF-8 are escaped."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def session_of(path: Path) -> str | None:
    """The session id that the lines of a file carry first; of messages rather than of other lines."""
    other: str | None = None
    for id, of_message in islice(_ids(path), _FOREIGN):
        if of_message:
            return id
        other = other or id
    return other


def sessions_of(path: Path) -> set[str]:
    """All session ids that messages of a file carry, as one that was resumed does; of other lines where none does."""
    found = list(_ids(path))
    return {id for id, of_message in found if of_message} or {id for id, _ in found}


def _ids(path: Path) -> Iterator[tuple[str, bool]]:
    """The session ids in a file, with whether a message carries them: of a message once, of other lines repeatedly.

    Lines are taken whole, since the first of a subagent's file is its prompt, and that may be long.
    """
    seen: set[bytes] = set()
    with suppress(OSError, Fault), path.open("rb") as file:
        for line in formats.sniff(lines.of_stream(file))[1]:
            if seen.issuperset(_ID.findall(line)):
                continue
            for record in formats.records(line):
                id = record.get("sessionId") or record.get("session_id")
                if type(id) is str:
                    of_message = record.get("type") in ("user", "assistant")
                    if of_message:
                        seen.add(id.encode())
                    yield id, of_message


def of_file(path: Path) -> Family:
    """The family of a main transcript: what lies beside it, and below the folders of its name and its sessions."""
    if path.name.startswith("agent-"):
        return Family(path.parent, [], [_subagent(path)])
    entries = _entries(path.parent)
    folders = [entry.name for entry in entries if os.path.isdir(os.path.join(entry.path, "subagents"))]
    beside = [Path(entry.path) for entry in entries if is_subagent(entry.name) and _is_file(entry)]
    of_session = {agent: session_of(agent) for agent in beside}
    ids = {path.stem, session_of(path)}
    if not ids.issuperset({*folders, *of_session.values()}):  # only then is all of the file looked through
        ids |= sessions_of(path)
    ids.discard(None)
    below = [found for name in folders if name in ids for found in _walk(path.parent / name / "subagents", 8)]
    agents = [found for found in below if is_subagent(found.name)]
    agents += [agent for agent in beside if of_session[agent] in ids]
    return Family(path.parent, [path], [_subagent(agent) for agent in agents if agent.stat().st_size][: SEEN * 10])


def of_directory(directory: Path, session: str | None) -> Family:
    """The family found in a directory by session id: a project folder, `projects/`, or a folder with one session."""
    files = [p for p in _walk(directory, _DEPTH) if "subagents" not in p.relative_to(directory).parts[:-1]]
    candidates = [p for p in files if not p.name.startswith("agent-") and p.name != "journal.jsonl"]
    if session:
        chosen = (
            [p for p in candidates if p.stem == session]
            or [p for p in candidates if session_of(p) == session]
            or [p for p in candidates if session in sessions_of(p)]  # resumed from another one
        )
        if not chosen:
            raise Fault("no-transcript", f"no session '{session}' in it")
        return _together(chosen)
    groups: dict[str, list[Path]] = {}
    for path in candidates:
        groups.setdefault(session_of(path) or path.stem, []).append(path)
    if not groups:
        below = any(is_subagent(p.name) for p in _walk(directory, 8))
        raise Fault("no-transcript", "only subagents' transcripts in it" if below else "no .jsonl file in it")
    if len(groups) > 1:
        names = ", ".join(sorted(groups)[:3])
        raise Fault("no-transcript", f"{len(groups)} sessions in it; name one with --session ({names}, …)")
    return _together(*groups.values())


def _together(paths: list[Path]) -> Family:
    """One session in several files, one often the beginning of the next (trap 19): the shorter first."""
    if all(_format(path) == formats.STREAM for path in paths):
        return _of_streams(paths)
    family = Family(paths[0].parent)
    for path in sorted(paths, key=lambda p: (p.stat().st_size, p.name)):
        part = of_file(path)
        family.mains += part.mains
        known = {agent.path for agent in family.subagents}
        family.subagents += [agent for agent in part.subagents if agent.path not in known]
    return family


def _of_streams(paths: list[Path]) -> Family:
    if len(paths) > 1:  # runs of one session, each with totals of its own
        several = f"{len(paths)} stream-json files of one session in it"
        raise Fault("no-transcript", f"{several}; name one, such as '{paths[0].name}'")
    return Family(paths[0].parent, stream=paths[0])


def is_cell(directory: Path) -> bool:
    """Whether a directory is a cell: a session's own file may be called as a cell's stream is."""
    stream = directory / "transcript.jsonl"
    if stream.is_file():
        return _format(stream) != formats.NATIVE
    return (directory / "session").is_dir()


def _format(path: Path) -> str | None:
    with suppress(OSError, Fault):
        return formats.of_file(path)
    return None


def of_cell(cell: Path) -> Family:
    """A cell's family: `transcript.jsonl` is the stream, `session/` the native files; either may be missing."""
    family = Family(cell)
    stream = cell / "transcript.jsonl"
    if stream.is_file():
        family.stream = stream
    native = cell / "session"
    if native.is_dir():
        id = session_of(stream) if family.stream else None
        try:
            found = of_directory(native, id)
        except Fault:
            # Another id than the stream's, or no id in a stream of 0 bytes: the only session there is this one's.
            try:
                found = of_directory(native, None)
            except Fault:
                return family
        family.mains, family.subagents = found.mains, found.subagents
    return family


def _subagent(path: Path) -> Subagent:
    meta: Any = None
    beside = path.with_name(path.name.removesuffix(".jsonl") + ".meta.json")
    try:
        if beside.stat().st_size <= _META:
            meta = orjson.loads(beside.read_bytes())
    except (OSError, orjson.JSONDecodeError):
        pass
    return Subagent(path, utf8(path.stem.removeprefix("agent-")), meta if type(meta) is dict else {})


def _entries(directory: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(directory) as entries:
            return sorted(entries, key=lambda e: e.name)
    except OSError:
        return []


def _is_file(entry: os.DirEntry[str]) -> bool:
    with suppress(OSError):  # a link that leads back to itself, or to where one may not look
        return entry.is_file()
    return False


def _walk(directory: Path, depth: int) -> list[Path]:
    """The .jsonl files in and below a directory, sorted; links to directories are not followed."""
    found: list[Path] = []
    folders: list[Path] = []
    for entry in _entries(directory):
        if entry.is_dir(follow_symlinks=False):
            if entry.name != "tool-results":
                folders.append(Path(entry.path))
        elif entry.name.endswith(".jsonl") and _is_file(entry):
            found.append(Path(entry.path))
    if depth > 0:
        for folder in folders:
            found += _walk(folder, depth - 1)
    return found
