"""Running a program so that nothing it started survives it.

On Linux, where it is permitted, in a pid namespace of its own: when its first process goes, the kernel ends all the
others, those that called setsid or ignore SIGTERM included. Elsewhere a process group, and a sweep over the processes
whose environment carries the cell's own TMPDIR. The program's output goes to files, so that a grandchild which holds
them open cannot make anybody wait.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from heldout.agents.process import ended

GRACE = 1.0  # seconds between SIGTERM and SIGKILL where there is no namespace
_AS_ROOT = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc")
_AS_USER = (
    "unshare",
    "--user",
    "--map-current-user",
    "--keep-caps",
    "--mount",
    "--pid",
    "--fork",
    "--kill-child",
    "--mount-proc",
)


@cache
def namespace() -> tuple[str, ...]:
    """The words that start a program in a pid namespace of its own; empty where that is not permitted."""
    if not sys.platform.startswith("linux"):
        return ()
    for words in (_AS_ROOT, _AS_USER):
        try:
            done = subprocess.run(
                [*words, "true"], stdin=subprocess.DEVNULL, capture_output=True, timeout=10, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            continue
        if done.returncode == 0:
            return words
    return ()


def run(
    words: Sequence[str], cwd: Path, env: Mapping[str, str], stdout: Path, stderr: Path, seconds: float
) -> tuple[int | None, bool]:
    """Run a program to its end or for `seconds`; returns its exit status (128 + signal; None when it was timed out) and
    whether it was timed out. When it returns, nothing that the program started is left.
    """
    with open(stdout, "wb") as out, open(stderr, "wb") as err:
        process = subprocess.Popen(
            [*namespace(), *words],
            cwd=cwd,
            env=dict(env),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
        try:
            if not ended(process, time.monotonic() + seconds):
                return None, True
            code = process.wait()
            return (128 - code if code < 0 else code), False
        finally:
            _end(process, env["TMPDIR"])


def _end(process: subprocess.Popen[bytes], mark: str) -> None:
    """End the program's processes, by its namespace or group, then whatever else carries its TMPDIR."""
    if not namespace():
        _signal(process.pid, signal.SIGTERM)
        until = time.monotonic() + GRACE
        while process.poll() is None and time.monotonic() < until:
            time.sleep(0.02)
    _signal(process.pid, signal.SIGKILL)
    process.wait()
    sweep(mark)


def sweep(mark: str) -> None:
    """End every process of ours whose environment has TMPDIR=mark."""
    for _ in range(50):
        left = survivors(mark)
        for pid in left:
            with _gone():
                os.kill(pid, signal.SIGKILL)
        if not left:
            return
        time.sleep(0.02)


def _signal(group: int, number: int) -> None:
    with _gone():
        os.killpg(group, number)


class _gone:
    """`with _gone(): kill`: a process that ended in the meantime is what was wanted."""

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        return kind is not None and issubclass(kind, (ProcessLookupError, PermissionError))


def survivors(mark: str) -> list[int]:
    """Processes of ours whose environment has TMPDIR=mark; empty where /proc does not tell."""
    wanted = f"TMPDIR={mark}".encode()
    found: list[int] = []
    for entry in Path("/proc").glob("[0-9]*/environ"):
        try:
            if wanted in entry.read_bytes().split(b"\0") and int(entry.parent.name) != os.getpid():
                found.append(int(entry.parent.name))
        except OSError:
            continue
    return found
