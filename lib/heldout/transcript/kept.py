"""The facts of a cell, kept beside it in facts.json and made again when the reader of transcripts changed."""

from pathlib import Path
from typing import Any

import orjson

from heldout import cell, digests, hashes
from heldout.errors import Fault
from heldout.files import write_whole


def cell_facts(folder: Path) -> dict[str, Any]:
    """The facts of a cell (or of the attempt being built in its `.part`), from facts.json when that is current.

    Raises Fault no-transcript, empty-transcript or unreadable-transcript.
    """
    path = folder / "facts.json"
    made_by = {"reader": digests.of_transcript_reader(), "files": _signature(folder)}
    try:
        known = orjson.loads(path.read_bytes())
        if isinstance(known, dict) and known.get("made_by") == made_by:
            return known
    except (OSError, ValueError):
        pass  # missing, half written or foreign: the transcript has it all
    transcript = folder / "transcript.jsonl"
    if not transcript.is_file() and not (folder / "session").is_dir():
        raise Fault("no-transcript", f"'{transcript}' is missing")
    if transcript.is_file() and not transcript.stat().st_size:
        raise Fault("empty-transcript", f"'{transcript.name}' has 0 bytes")
    refuse_edited(folder)
    from heldout.transcript.reader import extract  # the reader is the larger part of a check's start-up

    facts = {**extract(folder), "made_by": made_by}
    write_whole(path, orjson.dumps(facts, option=orjson.OPT_INDENT_2) + b"\n")
    return facts


def refuse_edited(folder: Path) -> None:
    """Raise Fault unreadable-transcript when a transcript of a measured cell is not the one that the run left.

    It is looked at where facts are made, since reading all transcripts each time would be most of a rescoring.
    """
    if not (folder / "cell.json").is_file():
        return  # a run under way
    kept = cell.read(folder).transcripts
    here = {path.relative_to(folder).as_posix(): path for path in digests.transcripts(folder)}
    for name in sorted(kept.keys() | here.keys()) if kept else ():
        if name in here and kept.get(name) != hashes.of_bytes(here[name].read_bytes()):
            raise Fault("unreadable-transcript", f"'{name}' is not what the run left")


def final_message(folder: Path) -> str:
    """The agent's last words; '' where there are none, or no transcript to read them from."""
    try:
        return cell_facts(folder)["answers"]["final_message"] or ""
    except Fault:
        return ""


def _signature(folder: Path) -> list[list[str | int]]:
    """Name, size and time of every file the facts rest on: one that was changed makes them afresh."""
    files = [folder / "transcript.jsonl", folder / "start.tsv", *sorted(folder.glob("session/**/*.json*"))]
    found = [(path, path.stat()) for path in files if path.is_file()]
    return [[path.relative_to(folder).as_posix(), info.st_size, info.st_mtime_ns] for path, info in found]
