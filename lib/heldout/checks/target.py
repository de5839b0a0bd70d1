"""What `bin/check` is pointed at: a cell folder, a sandbox root, its sandbox.tar.gz, or a trace file."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from heldout import cell, judgements, tree
from heldout.checks.words import Context
from heldout.errors import Fault, Refusal
from heldout.hashes import of_bytes
from heldout.scenario import Scenario


def context_of(scenario: Scenario, target: Path, facts: Any) -> Context:
    """The context to score `target` in.

    `facts` are bin/extract's output, a Fault, or None where no transcript belongs to the target. What cannot be read
    becomes a Fault inside the context, so that a row comes out whatever happened.
    """
    if scenario.posture == "trace":
        return _trace(scenario, target)
    if (target / "start.tsv").is_file() or (target / "cell.json").is_file():
        return _cell(scenario, target, facts)
    context = Context(scenario, facts_or_fault=facts)
    try:
        if target.is_dir():
            context.tree_or_fault = _sandbox(scenario, target)
            _start(context, target.with_name(f"{target.name}.start.tsv"))
        elif target.is_file():
            context.tree_or_fault = tree.KeptTree(target)
            _start(context, target.with_name("start.tsv"))
        else:
            raise Fault("sandbox-error", f"there is no '{target}'")
    except Fault as fault:
        context.tree_or_fault = fault
    return context


def _sandbox(scenario: Scenario, root: Path) -> tree.FolderTree:
    missing = [name for name in scenario.trees if not (root / name).is_dir() and not (root / name).is_symlink()]
    if missing:
        raise Fault("sandbox-error", f"'{root}' is no sandbox of {scenario.id}: it has no folder '{missing[0]}'")
    return tree.FolderTree(root, scenario.repository)


def _start(context: Context, listing: Path) -> None:
    """The listing kept beside the target; without one, today's fixture (a sandbox that was moved or made by hand)."""
    from heldout import sandbox  # what makes sandboxes is not needed to score a kept one

    start, read = sandbox.pristine(context.scenario)
    context.start = tree.read_listing(listing) if listing.is_file() else start
    context.before = read if context.start == start else None


def _cell(scenario: Scenario, folder: Path, facts: Any) -> Context:
    context = Context(scenario, facts_or_fault=facts)
    try:
        record = context.record = cell.read(folder)
        if (record.suite, record.scenario) != (scenario.suite, scenario.id):
            raise Fault("sandbox-error", f"'{folder}' is a cell of {record.suite}/{record.scenario}")
        _refuse_changed(folder, record)
        context.judgements = judgements.read(folder / "judge.tsv")
        if not record.fault:
            context.start = tree.read_listing(folder / "start.tsv")
            context.tree_or_fault = tree.KeptTree(folder / "sandbox.tar.gz", record.links, record.left_out)
        context.before = _lazily(folder / "before.tar.gz")
    except Fault as fault:
        context.tree_or_fault = fault
    except Refusal as refusal:
        context.tree_or_fault = Fault("sandbox-error", str(refusal))
    return context


def _refuse_changed(folder: Path, record: cell.Record) -> None:
    """Raise Fault when a file that a score rests on is not what the run left."""
    for name, digest in record.kept.items():
        try:
            same = of_bytes((folder / name).read_bytes()) == digest
        except OSError:
            same = False
        if not same:
            raise Fault("sandbox-error", f"'{folder / name}' is not what the run left")


def _lazily(archive: Path) -> Callable[[str], bytes]:
    def read(path: str) -> bytes:
        try:
            return tree.KeptTree(archive).read(path)
        except KeyError:
            raise Fault("sandbox-error", f"the starting content of '{path}' was not kept") from None

    return read


def _trace(scenario: Scenario, target: Path) -> Context:
    from heldout.checks import traces  # its schema validator takes longer to import than scoring a cell

    path = target / "transcript.jsonl" if target.is_dir() else target
    context = Context(scenario)
    try:
        context.record = cell.read(target) if (target / "cell.json").is_file() else None
        if context.record and context.record.fault:  # the row tells that fault; what was copied is not looked at
            raise Fault(*context.record.fault)
        kept = context.record.transcripts.get(path.name) if context.record else None
        if kept and path.is_file() and of_bytes(path.read_bytes()) != kept:
            raise Fault("unreadable-transcript", f"'{path}' is not what the run left")
        context.trace_or_fault = traces.load(path, scenario.trace_schema)
    except Fault as fault:
        context.trace_or_fault = fault
    return context
