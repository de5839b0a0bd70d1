"""One attempt at a cell: sandbox, agent, and everything that must outlive the temporary folders.

The attempt is built in `r<k>.part/`; whoever called it decides whether it becomes the cell or an attempt. A lock
keeps two runs from one cell; what a killed run left behind is moved to the attempts, since it may have cost money.
"""

import fcntl
import os
import shutil
import stat
import subprocess
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

from heldout import digests, hashes, prompts, sandbox, tree
from heldout.agents import contained, guard, roster, trace
from heldout.agents.job import Ended, Job
from heldout.agents.roster import Model, variants_of
from heldout.cell import Cell, Record
from heldout.errors import Fault, Refusal
from heldout.prompts import ANSWER
from heldout.scenario import Scenario, plugin_name, session_start

HOME_FILES = 5_000  # new files of the cell's home that are listed at most; what is hidden comes last


@contextmanager
def claimed(cell: Cell) -> Iterator[None]:
    """Hold the cell for this process, with a fresh `.part` folder; raises Refusal when another process holds it."""
    busy = Refusal(f"'{cell}' is being measured by another process")
    try:
        cell.part.mkdir(parents=True, exist_ok=True)
        handle = os.open(cell.part, os.O_RDONLY | os.O_DIRECTORY)
    except (FileExistsError, FileNotFoundError):  # the other process renamed it under our hands
        raise busy from None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if cell.measured or not cell.part.exists() or not os.path.samestat(os.fstat(handle), os.stat(cell.part)):
            raise busy
        for left in (cell.part, cell.path):
            if left.is_dir() and any(left.iterdir()):
                _salvage(cell, left)
        yield
    except BlockingIOError:
        raise busy from None
    finally:
        os.close(handle)


def _salvage(cell: Cell, left: Path) -> None:
    """Keep what a killed run left (or a cell that lost its record) as an attempt, without letting go of the folder."""
    target = next_attempt(cell)
    target.mkdir(parents=True)
    for item in left.iterdir():
        shutil.move(item, target / item.name)
    if left == cell.path:
        left.rmdir()
    if not (target / "cell.json").exists() or not (target / "cell.json").stat().st_size:
        record = Record(cell.suite, cell.scenario, cell.model, cell.rep, "unknown", "", "", "", ended="killed")
        record.fault = ["killed", "the run was killed before the cell was whole"]
        record.write(target)


def next_attempt(cell: Cell) -> Path:
    last = cell.last_attempt()
    return cell.attempts / str(int(last.name) + 1 if last else 1)


def settle(cell: Cell, record: Record) -> None:
    """Rename the attempt whole to where it belongs. Of one that a full disk stopped, the record alone is kept."""
    try:
        record.write(cell.part)
    except OSError as error:
        record.fault = ["sandbox-error", f"cannot keep the cell: {error.strerror}"]
        for item in cell.part.iterdir():
            shutil.rmtree(item) if item.is_dir() else item.unlink()
        record.write(cell.part)
    target = next_attempt(cell) if record.fault else cell.path
    target.parent.mkdir(parents=True, exist_ok=True)
    os.rename(cell.part, target)


def attempt(
    cell: Cell,
    item: Scenario,
    model: Model,
    plugins: tuple[Path, ...],
    overlay: Path | None,
    final_message: Callable[[Path], str],
) -> Record:
    """Run the agent once and leave the attempt's files in `cell.part`, all but facts.json and cell.json.

    `final_message` reads the agent's last words out of `cell.part`. The record returned has `fault` set where the
    machine or the agent's environment failed, or where the fixture, a scenario or a plugin changed meanwhile: that
    comes before any other fault, since no second try may hide it.
    """
    watched = guard.Guard(plugins)
    session_id = str(uuid.uuid4())
    record = Record(item.suite, item.id, model.name, cell.rep, model.agent, session_id, "", "", started=_now())
    record.asked, record.plays = model.id, model.plays
    record.run_parts = digests.run_parts(item, model.agent)
    record.subjects = digests.subject_parts(item, plugins, model.script, overlay)
    record.plugins = [plugin_name(root) for root in plugins]
    record.hooks = {plugin_name(root): session_start(root) for root in plugins}
    place: Path | None = None
    try:
        if model.agent == "trace":
            trace.keep(item.source(item.trace or "", overlay), variants_of(item)[model.id], cell.part)
            record.client, record.ended = trace.CLIENT, "completed"
        else:
            place = sandbox.new_place()
            _perform(cell, item, model, plugins, overlay, place, record, final_message)
    except Fault as fault:
        record.fault = [fault.code, fault.detail]
    except OSError as error:
        record.fault = ["sandbox-error", f"{error.strerror or error}: {error.filename or ''}".rstrip(": ")]
    finally:
        if place:
            _remove(place)
    _keep_transcripts(cell.part, record)
    if changes := watched.changes():
        record.fault = ["fixture-changed", guard.summary(changes)]
    record.ended_at = _now()
    return record


def _perform(
    cell: Cell,
    item: Scenario,
    model: Model,
    plugins: tuple[Path, ...],
    overlay: Path | None,
    place: Path,
    record: Record,
    final_message: Callable[[Path], str],
) -> None:
    work = place / "work"
    cwd, template = sandbox.build(item, work, overlay)
    shutil.copyfile(place / "work.start.tsv", cell.part / "start.tsv")
    for name in ("home", "tmp", "config"):
        (place / name).mkdir()
    record.sandbox, record.cwd = str(work), str(cwd)
    user = os.path.expanduser("~")
    record.homes = list(dict.fromkeys([str(place / "home"), user, os.path.realpath(user)]))
    record.shadowed = {name: os.environ[name] for name in item.env if name in os.environ}
    env, unset = _variables(item, model, work)
    job = Job(
        cell=cell.part,
        sandbox=work,
        cwd=cwd,
        home=place / "home",
        tmp=place / "tmp",
        config=place / "config",
        prompt=prompts.render(item, cwd, plugins),
        model=model.id,
        session_id=record.session_id,
        env=env,
        unset=unset,
        plugins=plugins,
        background=item.background,
        limits=item.limits,
        actor_file=item.actors,
        plays=model.plays,
    )
    try:
        ended: Ended = import_module(f"heldout.agents.{model.agent}").start(job)
    finally:
        contained.sweep(str(job.tmp))
    record.ended, record.exit = ended.how, ended.exit
    record.client, record.served, record.argv, record.environment = (
        ended.client,
        ended.served,
        ended.argv,
        ended.environment,
    )
    if ended.how in ("killed", "aborted", "api_error"):
        record.fault = ["api-error" if ended.how == "api_error" else "killed", ended.detail]
    if item.posture == "prompted":
        record.answered_by = _answer((cwd, work), lambda: final_message(cell.part))
    _keep(cell.part, template, place, record, item.repository)


def _answer(folders: tuple[Path, ...], final_message: Callable[[], str]) -> str:
    """Write the final message to the first folder's ANSWER.md where none has one; returns who answered.

    That is `agent`, `run`, or '' when nothing was said. An agent that only talks has answered as well: checks of
    prompted scenarios look at the file alone, so that they serve sessions without a transcript.
    """
    if any(os.path.lexists(folder / ANSWER) for folder in folders):
        return "agent"
    said, place = final_message(), folders[0]
    if not said.strip() or not place.is_dir() or place.is_symlink():
        return ""
    (place / ANSWER).write_text(f"{said.rstrip()}\n", "utf-8", "replace")
    return "run"


def _variables(item: Scenario, model: Model, work: Path) -> tuple[dict[str, str], tuple[str, ...]]:
    """The variables that are set and those that are removed: the scenario's, but for what an actor's script changes."""
    own = {name: value.replace("{sandbox}", str(work)) for name, value in item.env.items()}
    changed = roster.actors_of(item)[model.script].env if model.script else {}
    values = {**own, **changed}
    removed = (name for name in (*item.unset, *changed) if values.get(name) is None)
    return {name: value for name, value in values.items() if value is not None}, tuple(removed)


def _keep(part: Path, template: Path, place: Path, record: Record, repository: str) -> None:
    """The sandbox as it was left, the starting bytes of what changed, and what appeared in the home."""
    after, start = tree.FolderTree(place / "work", repository), tree.read_listing(part / "start.tsv")
    tree.keep(after, part / "sandbox.tar.gz")
    record.links = {path: target for path, target in after.links.items() if start.get(path) != _link(target)}
    record.left_out = after.left_out
    touched = [path for path, entry in start.items() if entry.kind == "file" and _differs(after, path, entry)]
    tree.keep_files(part / "before.tar.gz", touched, sandbox.starting(template, touched).__getitem__, {})
    found = sorted(_regular(place / "home"), key=lambda path: (path.startswith("."), path))
    record.home_files = found[:HOME_FILES]
    for name in ("start.tsv", "sandbox.tar.gz", "before.tar.gz"):
        record.kept[name] = hashes.of_bytes((part / name).read_bytes())


def _keep_transcripts(part: Path, record: Record) -> None:
    """What the session said of itself is as much a ground of the score as what it left."""
    for path in digests.transcripts(part):
        record.transcripts[path.relative_to(part).as_posix()] = hashes.of_bytes(path.read_bytes())


def _link(target: str) -> tree.Entry:
    return tree.Entry("link", "0777", hashes.of_bytes(os.fsencode(target)))


def _differs(after: tree.Tree, path: str, entry: tree.Entry) -> bool:
    return path not in after.files or hashes.of_bytes(after.read(path)) != entry.sha256


def _regular(folder: Path) -> Iterator[str]:
    for root, _, names in os.walk(folder):
        for name in names:
            path = Path(root, name)
            if stat.S_ISREG(path.lstat().st_mode):
                yield path.relative_to(folder).as_posix()


def _remove(place: Path) -> None:
    """Remove the temporary folders: an agent may have made some unwritable, or deeper than Python recurses."""
    subprocess.run(["chmod", "-R", "u+rwX", str(place)], capture_output=True, check=False)
    subprocess.run(["rm", "-rf", str(place)], capture_output=True, check=False)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
