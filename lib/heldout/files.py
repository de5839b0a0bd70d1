"""Where things are, and files that appear whole or not at all."""

import errno
import fcntl
import os
import re
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from heldout.errors import Refusal

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "fixture"
PLUGINS = FIXTURES / "plugins"
RESULTS = ROOT / "results"


def natural(name: str) -> list[str | tuple[int, str]]:
    """A key that sorts numbers in names by value: D2 before D10."""
    parts = re.split(r"([0-9]+)", name)
    return [(len(part.lstrip("0")), part.lstrip("0")) if place % 2 else part for place, part in enumerate(parts)]


def regular(path: Path) -> Path:
    """`path`, of a regular file; OSError for anything else, such as a pipe, whose reader would wait for ever."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError(errno.EINVAL, "it is no regular file")
    return path


def write_whole(path: Path, data: bytes | str) -> None:
    """Write `path` so that a reader sees the old content or the new one, also after a crash."""
    raw = data.encode("utf-8", "surrogateescape") if isinstance(data, str) else data
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with open(beside, "wb") as stream:
            stream.write(raw)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(beside, path)
    except OSError:
        beside.unlink(missing_ok=True)
        raise


@contextmanager
def locked(path: Path, *, wait: bool = True) -> Generator[int]:
    """Hold an exclusive lock on `path` (made if missing); yields its descriptor. BlockingIOError if not `wait`ing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def locked_file(path: Path) -> Generator[int]:
    """Like `locked`, for a file that another process may replace: the lock is on the file that has the name."""
    while True:
        with locked(path) as descriptor, suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(descriptor), os.stat(path)):
                yield descriptor
                return


def append_whole(path: Path, text: str, *, header: str = "") -> None:
    """Append `text` in one write() under an exclusive lock, after `header` where the file is new.

    A disk that fills up in the middle of the write leaves the file as it was (OSError).
    """
    with locked_file(path) as descriptor:
        before = os.lseek(descriptor, 0, os.SEEK_END)
        raw = (text if before else header + text).encode("utf-8", "surrogateescape")
        if before and os.pread(descriptor, 1, before - 1) != b"\n":
            raise Refusal(f"cannot append to '{path}': its last line has no end", "mend or move the file")
        try:
            if os.write(descriptor, raw) != len(raw):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        except OSError:
            os.ftruncate(descriptor, before)
            raise


def workplace() -> Path:
    """The folder for sandboxes and their templates: $HELDOUT_SANDBOXES, else $TMPDIR/heldout; ours alone.

    Raises Refusal when somebody else owns it: a template planted there would be run as ours.
    """
    import tempfile

    chosen = os.environ.get("HELDOUT_SANDBOXES")
    place = Path(chosen) if chosen else Path(tempfile.gettempdir()) / "heldout"
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        if place.stat().st_uid != os.getuid():
            raise Refusal(f"'{place}' belongs to another user", "set HELDOUT_SANDBOXES to a folder of your own")
    except OSError as error:
        raise Refusal(
            f"cannot make '{place}': {error.strerror}", "set HELDOUT_SANDBOXES to a folder of your own"
        ) from error
    return place.resolve()
