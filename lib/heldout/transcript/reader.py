"""Reading the client's transcripts into facts (DESIGN section 6): `extract` for paths, `extract_stream` for lines."""

import errno
import gc
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, BinaryIO

from heldout.errors import Fault
from heldout.transcript import facts, family, formats, known, lines
from heldout.transcript.agents import MAIN
from heldout.transcript.collect import Collector
from heldout.transcript.family import utf8
from heldout.transcript.native import Native
from heldout.transcript.stream import Stream

__all__ = ["extract", "extract_stream"]

_BUFFER = 1 << 20
_SHOWN = 3  # session ids named in a message


def extract(target: Path | str, session: str | None = None) -> dict[str, Any]:
    """The facts of one session, schema 1 (see `facts.build`).

    `target`: a stream-json file; a native main transcript (its subagents are found beside it); a subagent's transcript
    alone; a directory, or a `projects/` folder, in which the family is found by `session`, or the only one there is; a
    cell folder, whose `transcript.jsonl` (stream) and `session/` (native) are read as one. Raises Fault
    no-transcript, empty-transcript or unreadable-transcript, and nothing else whatever the bytes.
    """
    if target == "":  # as a path it would be the current directory
        raise Fault("no-transcript", "an empty name, as of a variable that is not set; name a file or folder")
    path = Path(target)
    try:
        if path.is_dir():
            cell = session is None and family.is_cell(path)
            return _without_gc(lambda: _family(family.of_cell(path) if cell else family.of_directory(path, session)))
        path.stat()
        return _without_gc(lambda: _file(path, session))
    except OSError as error:
        raise _of_system(error, path) from None
    except ValueError as error:  # a NUL in a path
        raise Fault("no-transcript", str(error)) from None


def extract_stream(source: Iterable[bytes] | BinaryIO, session: str | None = None) -> dict[str, Any]:
    """The facts of the lines of one file of either format, without a family: standard input, a pipe.

    A binary stream is read line by line with bounded memory. Faults as `extract`.
    """
    return _without_gc(lambda: _once(source, "-", session))


def _of_system(error: OSError, path: Path) -> Fault:
    """What the system said of a path, as a Fault: that nothing is there is no fault of a transcript."""
    if error.errno == errno.ELOOP:
        return Fault("no-transcript", "a link that leads back to itself")
    if error.errno == errno.ENOENT and path.is_symlink():
        return Fault("no-transcript", f"a link to '{os.readlink(path)}', which does not exist")
    missing = error.errno in (errno.ENOENT, errno.ENOTDIR)
    said = (error.strerror or type(error).__name__).lower()
    return Fault("no-transcript" if missing else "unreadable-transcript", said)


def _without_gc(work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Parsing makes many containers and no cycles: the collector would only walk them again and again."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        return work()
    finally:
        if enabled:
            gc.enable()


def _file(path: Path, session: str | None) -> dict[str, Any]:
    if not path.is_file():
        with path.open("rb") as stream:  # a pipe or a device has no family and is read once
            return _once(stream, utf8(path.name), session)
    format = formats.of_file(path)
    if session and session != path.stem:
        _refuse_other(family.sessions_of(path), session)
    if format == formats.STREAM:
        with path.open("rb", buffering=_BUFFER) as stream:
            return _lines(stream, utf8(path.name))
    return _family(family.of_file(path))


def _once(given: Iterable[bytes] | BinaryIO, name: str, session: str | None) -> dict[str, Any]:
    facts = _lines(given, name)
    if session:  # what is read once cannot be asked before
        _refuse_other({facts["session"]["id"]} - {None}, session)
    return facts


def _refuse_other(ids: set[str], session: str) -> None:
    if session not in ids:
        known = ", ".join(f"'{id}'" for id in sorted(ids)[:_SHOWN]) or "unknown"
        raise Fault(
            "no-transcript",
            f"of session {known}, not '{session}'; leave out --session, or name that session's file or folder",
        )


def _lines(given: Iterable[bytes] | BinaryIO, name: str) -> dict[str, Any]:
    found = Collector()
    stream: Any = given
    format, pieces = formats.sniff(lines.of_stream(stream) if hasattr(stream, "readline") else given)
    reader = Native(found, MAIN) if format == formats.NATIVE else Stream(found)
    lines.read(pieces, name, found.tally, reader.feed, reader.take)
    return facts.build(found, {"format": format, "files": [name]}, {})


def _family(members: family.Family) -> dict[str, Any]:
    """The native files of a family, then the stream beside them; either alone where the other cannot be read."""
    found = Collector()
    read: list[str] = []
    faults: list[Fault] = []
    notes: list[str] = []
    for path in members.mains:
        try:
            _read_native(found, path, MAIN, _name(path, members.base))
            read.append(_name(path, members.base))
        except Fault as fault:
            faults.append(fault)
    native = bool(read) or not members.mains
    for agent in members.subagents if native else ():
        try:
            _read_native(found, agent.path, found.agents.number(agent.id), _name(agent.path, members.base))
            read.append(_name(agent.path, members.base))
        except Fault as fault:
            notes.append(f"{_name(agent.path, members.base)}: {fault}")
    format = "native" if read else ""
    if members.stream is not None:
        try:
            name = _name(members.stream, members.base)
            _read_stream(found, members.stream, name, beside=bool(read))
            format = "native+stream-json" if read else "stream-json"
            read.append(name)
        except Fault as fault:
            faults.insert(0, fault)
    if not read:
        raise faults[0] if faults else Fault("no-transcript", "neither transcript.jsonl nor session/ has one")
    notes += [str(fault) for fault in faults]
    source: dict[str, Any] = {"format": format, "files": read}
    if notes:
        source["notes"] = notes
    metas = {agent.id: agent.meta for agent in members.subagents}
    return facts.build(found, source, metas, map(utf8, known.of_start(members.base / "start.tsv")))


def _name(path: Path, base: Path) -> str:
    return utf8(path.relative_to(base).as_posix() if path.is_relative_to(base) else path.name)


def _opened(path: Path) -> BinaryIO:
    """A file of several: one that cannot be opened is a Fault of its own, and the others are read."""
    try:
        return path.open("rb", buffering=_BUFFER)
    except OSError as error:
        raise _of_system(error, path) from None


def _read_native(found: Collector, path: Path, agent: int, name: str) -> None:
    with _opened(path) as stream:
        format, pieces = formats.sniff(lines.of_stream(stream))
        if format != formats.NATIVE:
            raise Fault("unreadable-transcript", f"{name} is {format}, not a native transcript")
        reader = Native(found, agent)
        lines.read(pieces, name, found.tally, reader.feed, reader.take)


def _read_stream(found: Collector, path: Path, name: str, beside: bool) -> None:
    with _opened(path) as stream:
        format, pieces = formats.sniff(lines.of_stream(stream))
        if format != formats.STREAM:
            raise Fault("unreadable-transcript", f"{name} is {format}, not stream-json")
        reader = Stream(found, beside)
        lines.read(pieces, name, found.tally, reader.feed, reader.take)
