"""The sandbox: a fresh copy of a scenario's fixture trees, git-initialised, the same bytes every time.

It is unpacked from a cached template tar that holds `.git` already (0.7 × `cp -a`; init + add + commit a copy
costs 5 to 7 times that). Author, date and configuration are fixed, and so is the commit id. The template's
key is the digest of everything that goes into it, so an edited fixture makes a new template.
"""

import os
import secrets
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from heldout import hashes, tree
from heldout.errors import Fault, Refusal
from heldout.files import workplace, write_whole
from heldout.scenario import AGENT_FILES, Scenario

UNWANTED = (*AGENT_FILES, ".git")
EPOCH = "2026-01-05T09:00:00+00:00"  # author and committer date of the initial commit, and mtime of every file
_EPOCH_SECONDS = 1767603600
RECIPE = "2"  # raise it when the way of making a template changes


def build(scenario: Scenario, destination: Path, overlay: Path | None = None) -> tuple[Path, Path]:
    """Make the sandbox at `destination` and its listing beside it (`<destination>.start.tsv`).

    Returns the agent's cwd and the template it was unpacked from. `overlay` replaces the scenario's `subject` paths by
    those of another folder. The destination appears whole or not at all. Raises Refusal when it exists or a parent
    holds files that an agent would read, and Fault `sandbox-error` when the machine could not do it (a full disk, a
    failing `prepare`).
    """
    if scenario.posture == "trace":
        raise Refusal(f"'{scenario.id}' is a saved trace: it has no sandbox")
    if destination.exists() or destination.is_symlink():
        raise Refusal(f"'{destination}' exists", "name a new folder")
    refuse_parents(destination)
    if overlay:
        refuse_overlay(scenario, overlay)
    beside = destination.with_name(f".{destination.name}.{os.getpid()}.part")
    try:
        archive = _template(scenario, overlay)
        beside.mkdir(parents=True)
        _unpack(archive, beside)
        listed = destination.with_name(f"{destination.name}.start.tsv")
        shutil.copyfile(archive.with_suffix(".tsv"), listed)
        beside.rename(destination)
    except OSError as error:
        raise Fault("sandbox-error", f"cannot make '{destination}': {error.strerror or error}") from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return destination / scenario.cwd, archive


def pristine(scenario: Scenario) -> tuple[dict[str, tree.Entry], Callable[[str], bytes]]:
    """The listing of an untouched sandbox of today's fixture, and a reader of its files."""
    archive = _template(scenario, None)
    return tree.read_listing(archive.with_suffix(".tsv")), lambda path: starting(archive, [path])[path]


@dataclass(frozen=True)
class Found:
    """What an agent finds: the paths of files and links in the sandbox, and what reads a file of them."""

    paths: frozenset[str]
    read: Callable[[str], bytes]

    def below(self, folder: str) -> frozenset[str]:
        return frozenset(path for path in self.paths if path.startswith(f"{folder}/"))


def found(scenario: Scenario) -> Found:
    """What an agent of the scenario finds, whatever overlay a run has. Raises Fault where `prepare` fails.

    No sandbox is made for it where the fixture says it all, so that validating a scenario costs next to nothing.
    """
    if (scenario.fixture_root / "prepare").exists():
        start, read = pristine(scenario)
        return Found(frozenset(start), read)
    return _found(scenario.fixture_root, scenario.trees)


@cache
def _found(root: Path, trees: tuple[str, ...]) -> Found:
    whole = tree.FolderTree(root)
    paths = (path.split("/") for path in (*whole.files, *whole.links, *whole.left_out))
    taken = frozenset("/".join(parts) for parts in paths if parts[0] in trees and hashes.NOT_CONTENT.isdisjoint(parts))
    return Found(taken, whole.read)


def starting(archive: Path, paths: Iterable[str]) -> dict[str, bytes]:
    """The content of files as a template has them."""
    with tarfile.open(archive) as tar:
        streams = ((path, tar.extractfile(f"./{path}")) for path in paths)
        return {path: stream.read() for path, stream in streams if stream}


def refuse_parents(destination: Path) -> None:
    """Raise Refusal when a parent folder holds what an agent would pick up on its way to the root."""
    for parent in destination.absolute().parents:
        for name in UNWANTED:
            if (parent / name).exists():
                raise Refusal(
                    f"'{parent / name}' would be read by an agent in '{destination}'", "choose a folder outside it"
                )


def _template(scenario: Scenario, overlay: Path | None) -> Path:
    """The cached template tar of a scenario; its listing lies beside it as .tsv."""
    root = scenario.fixture_root
    content = {name: hashes.of_tree(root / name) for name in scenario.trees}
    over = {item: hashes.of_tree(overlay / item) for item in scenario.subject} if overlay else {}
    key = hashes.of_value([RECIPE, content, over, hashes.of_tree(root / "prepare"), scenario.cwd])
    archive = workplace() / "templates" / f"{key}.tar"
    if not archive.is_file() or not archive.with_suffix(".tsv").is_file():
        archive.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=archive.parent, prefix="making-") as scratch:
            _make_template(scenario, overlay, Path(scratch), archive)
    return archive


def _make_template(scenario: Scenario, overlay: Path | None, scratch: Path, archive: Path) -> None:
    work, packed = scratch / "work", scratch / "template.tar"
    work.mkdir()
    for name in scenario.trees:
        _copy(scenario.fixture_root / name, work / name)
    if overlay:
        for item in scenario.subject:
            if (overlay / item).exists():
                _overlay(work / item, overlay / item)
    prepare = scenario.fixture_root / "prepare"
    if prepare.exists():
        _command([str(prepare)], work, "prepare")
    _commit(work / scenario.repository)
    _same_times(work)
    _command(
        ["tar", "--sort=name", "--owner=0", "--group=0", "--numeric-owner", "-cf", str(packed), "-C", str(work), "."],
        scratch,
        "tar",
    )
    write_whole(archive.with_suffix(".tsv"), tree.listing_text(tree.listing(work, scenario.repository)))
    os.replace(packed, archive)


def refuse_overlay(scenario: Scenario, overlay: Path) -> None:
    """Raise Refusal when `overlay` holds none of the scenario's subject paths: nothing would be another treatment."""
    if not any((overlay / item).exists() for item in scenario.subject):
        wanted = ", ".join(scenario.subject) or "none: it has no subject paths"
        raise Refusal(f"'{overlay}' replaces nothing of {scenario.id}", f"its subject paths are {wanted}")


def _copy(source: Path, target: Path) -> None:
    shutil.copytree(source, target, symlinks=True, ignore=shutil.ignore_patterns(*hashes.NOT_CONTENT))


def _overlay(target: Path, source: Path) -> None:
    if target.is_dir():
        shutil.rmtree(target)
    else:
        target.unlink(missing_ok=True)
    if source.is_dir():
        _copy(source, target)
    elif source.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target)


def _commit(repository: Path) -> None:
    """One commit with a fixed identity and date, packed; an identity for the agent's own commits is configured."""
    for words in (
        ["init", "--quiet", "--initial-branch=main", "--template="],
        ["config", "user.name", "Developer"],
        ["config", "user.email", "developer@example.com"],
        ["config", "gc.auto", "0"],
        ["add", "--all"],
        ["commit", "--quiet", "--allow-empty", "--no-verify", "--message=Initial commit"],
        ["repack", "-a", "-d", "--quiet"],
    ):
        _command(["git", *words], repository, "git")


def _command(words: list[str], cwd: Path, what: str) -> None:
    """Run a program in a bare environment, so that no configuration of the user shapes the sandbox."""
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": "/nonexistent",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        **{f"GIT_{who}_{key}": value for who in ("AUTHOR", "COMMITTER") for key, value in _IDENTITY.items()},
    }
    try:
        done = subprocess.run(
            words, cwd=cwd, env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
    except OSError as error:
        raise Fault("sandbox-error", f"cannot run {what}: {error.strerror}") from error
    if done.returncode:
        last = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:] or ["no message"]
        raise Fault("sandbox-error", f"{what} ended with {done.returncode}: {last[0]}")


_IDENTITY = {"NAME": "Developer", "EMAIL": "developer@example.com", "DATE": EPOCH}


def _same_times(root: Path) -> None:
    """One mtime for all: the tar's bytes depend on content alone."""
    for folder, folders, names in os.walk(root):
        for name in (*folders, *names):
            os.utime(Path(folder, name), (_EPOCH_SECONDS, _EPOCH_SECONDS), follow_symlinks=False)


def _unpack(archive: Path, destination: Path) -> None:
    """`tar` rather than tarfile: three times faster on small trees."""
    _command(["tar", "-xf", str(archive), "-C", str(destination)], destination, "tar")


def new_place() -> Path:
    """A fresh folder for one attempt below the workplace. Its name says nothing: the agent sees it in its cwd."""
    place = workplace() / secrets.token_hex(8)
    try:
        place.mkdir(mode=0o700)
    except OSError as error:
        raise Fault("sandbox-error", f"cannot make '{place}': {error.strerror}") from error
    return place
