"""One attempt at a cell: sandbox, agent, and everything that must outlive the temporary folders.

The attempt is built in `r<k>.part/`; whoever called it decides whether it becomes the cell or an attempt. A lock
keeps two runs from one cell; what a killed run left behind is moved to the attempts, since it may have cost money.
"""

import fcntl
import os
import shutil
import stat
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

from heldout import digests, sandbox, tree
from heldout.agents.job import Ended, Job
from heldout.agents.roster import Model
from heldout.cell import Cell, Record
from heldout.errors import Fault, Refusal
from heldout.scenario import Scenario, plugin_name

HOME_FILES = 200  # new files of the cell's home that are listed at most


@contextmanager
def claimed(cell: Cell) -> Iterator[None]:
    """Hold the cell for this process, with a fresh `.part` folder; raises Refusal when another process holds it."""
    cell.part.mkdir(parents=True, exist_ok=True)
    handle = os.open(cell.part, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if any(cell.part.iterdir()):
            _salvage(cell)
        yield
    except BlockingIOError:
        raise Refusal(f"'{cell}' is being measured by another process") from None
    finally:
        os.close(handle)


def _salvage(cell: Cell) -> None:
    """Keep what a killed run left in `.part` as an attempt, and empty the folder without letting go of it."""
    target = next_attempt(cell)
    target.mkdir(parents=True)
    for item in cell.part.iterdir():
        shutil.move(item, target / item.name)
    if not (target / "cell.json").exists():
        record = Record(cell.suite, cell.scenario, cell.model, cell.rep, "unknown", "", "", "", ended="killed")
        record.fault = ["killed", "the run was killed before the cell was whole"]
        record.write(target)


def next_attempt(cell: Cell) -> Path:
    last = cell.last_attempt()
    return cell.attempts / str(int(last.name) + 1 if last else 1)


def attempt(cell: Cell, item: Scenario, model: Model, plugins: tuple[Path, ...], overlay: Path | None) -> Record:
    """Run the agent once and leave the attempt's files in `cell.part`, all but facts.json and cell.json.

    The record returned has `fault` set where the machine or the agent's environment failed.
    """
    session_id = str(uuid.uuid4())
    record = Record(item.suite, item.id, model.name, cell.rep, model.agent, session_id, "", "", started=_now())
    record.asked, record.plays = model.id, model.plays
    record.run_parts = digests.run_parts(item, model.agent)
    record.subjects = digests.subject_parts(item, plugins, model.script, overlay)
    record.plugins = [plugin_name(root) for root in plugins]
    place: Path | None = None
    try:
        place = sandbox.new_place()
        _perform(cell, item, model, plugins, overlay, place, record)
    except Fault as fault:
        record.fault = [fault.code, fault.detail]
    except OSError as error:
        record.fault = ["sandbox-error", f"{error.strerror or error}: {error.filename or ''}".rstrip(": ")]
    finally:
        if place:
            _remove(place)
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
) -> None:
    work = place / "work"
    cwd, template = sandbox.build(item, work, overlay)
    shutil.copyfile(place / "work.start.tsv", cell.part / "start.tsv")
    for name in ("home", "tmp", "config"):
        (place / name).mkdir()
    record.sandbox, record.cwd = str(work), str(cwd)
    record.homes = list(dict.fromkeys([str(place / "home"), os.path.realpath(os.path.expanduser("~"))]))
    record.shadowed = {name: os.environ[name] for name in item.env if name in os.environ}
    job = Job(
        cell=cell.part,
        sandbox=work,
        cwd=cwd,
        home=place / "home",
        tmp=place / "tmp",
        config=place / "config",
        prompt=item.task,
        model=model.id,
        session_id=record.session_id,
        env={name: value.replace("{sandbox}", str(work)) for name, value in item.env.items()},
        unset=item.unset,
        plugins=plugins,
        background=item.background,
        limits=item.limits,
        actor_file=item.actors,
        plays=model.plays,
    )
    ended: Ended = import_module(f"heldout.agents.{model.agent}").start(job)
    record.ended, record.exit = ended.how, ended.exit
    record.client, record.served, record.argv, record.environment = (
        ended.client,
        ended.served,
        ended.argv,
        ended.environment,
    )
    if ended.how in ("killed", "aborted", "api_error"):
        record.fault = ["api-error" if ended.how == "api_error" else "killed", ended.detail]
    _keep(cell.part, template, place, record)


def _keep(part: Path, template: Path, place: Path, record: Record) -> None:
    """The sandbox as it was left, the starting bytes of what changed, and what appeared in the home."""
    after, start = tree.FolderTree(place / "work"), tree.read_listing(part / "start.tsv")
    tree.keep(after, part / "sandbox.tar.gz")
    record.links = {path: target for path, target in after.links.items() if start.get(path) != _link(target)}
    record.left_out = after.left_out
    touched = [path for path, entry in start.items() if entry.kind == "file" and _differs(after, path, entry)]
    tree.keep_files(part / "before.tar.gz", touched, sandbox.starting(template, touched).__getitem__, {})
    record.home_files = sorted(_regular(place / "home"))[:HOME_FILES]


def _link(target: str) -> tree.Entry:
    return tree.Entry("link", "0777", digests.of_bytes(os.fsencode(target)))


def _differs(after: tree.Tree, path: str, entry: tree.Entry) -> bool:
    return path not in after.files or digests.of_bytes(after.read(path)) != entry.sha256


def _regular(folder: Path) -> Iterator[str]:
    for root, _, names in os.walk(folder):
        for name in names:
            path = Path(root, name)
            if stat.S_ISREG(path.lstat().st_mode):
                yield path.relative_to(folder).as_posix()


def _remove(place: Path) -> None:
    """Remove the temporary folders; an agent may have made some of them unwritable."""

    def retry(function: object, path: str, _: object) -> None:
        parent = os.path.dirname(path)
        os.chmod(parent, 0o700)
        if os.path.isdir(path) and not os.path.islink(path):
            os.chmod(path, 0o700)
            shutil.rmtree(path, ignore_errors=True)
        elif os.path.lexists(path):
            os.unlink(path)

    shutil.rmtree(place, onerror=retry)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
