"""A grid under way: a file, its mark, that stands for the make which was asked for the grid and holds its process id.

Make is told to be making that file while cells run. A make that SIGTERM, SIGINT or SIGHUP ends removes what it is
making, whoever else got the signal; of one that was killed, the process is gone. Either way nothing is paid for any
more: whoever measures or asks a judge looks at the mark.
"""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from heldout.errors import Refusal

PAUSE = 0.3  # seconds between two looks at the mark


def goes_on(mark: Path) -> bool:
    """Whether the grid is still under way; what cannot be told stops nothing."""
    try:
        maker = int(mark.read_text())
        os.kill(maker, 0)
    except (FileNotFoundError, ProcessLookupError, ValueError):
        return False
    except OSError:
        return True
    return not _ended_unheard(maker)


def _ended_unheard(maker: int) -> bool:
    """Whether a process is over and nobody has asked for its status, as far as /proc tells."""
    try:
        return Path(f"/proc/{maker}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return False


@contextmanager
def watched(mark: Path | None) -> Generator[None]:
    """End this program as SIGTERM does, once the grid is no longer under way; without a mark nothing is watched.

    Raises Refusal when it is over already.
    """
    over = threading.Event()
    if mark:
        if not goes_on(mark):
            raise Refusal("nothing is started: the grid was stopped", "run it again to go on where it was")
        threading.Thread(target=_watch, args=(mark, over), daemon=True).start()
    try:
        yield
    finally:
        over.set()


def _watch(mark: Path, over: threading.Event) -> None:
    # Every signal is for the main thread: one that this thread took would not wake it.
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    while not over.wait(PAUSE):
        if not goes_on(mark):
            break
    else:
        return
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)


def tend(mark: Path, words: Sequence[str]) -> int:
    """Run a command, an inner make, for as long as the grid is under way; returns its status.

    The mark is there already: written before Python starts, it is missed by no signal. It is removed in the end.
    """
    asked = threading.Event()

    def ask(_number: int, _frame: object) -> None:
        asked.set()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, ask)
    try:
        # Make's own descriptors, of its job server, are handed on.
        process = subprocess.Popen(words, close_fds=False)
        while not _ended(process):
            if asked.is_set() or not goes_on(mark):
                return _stop(mark, process)
        return process.returncode
    finally:
        mark.unlink(missing_ok=True)


def _stop(mark: Path, process: subprocess.Popen[bytes]) -> int:
    """End the inner make and all that looks at the mark, and wait for it."""
    mark.unlink(missing_ok=True)
    process.terminate()
    process.wait()
    with suppress(OSError):  # a terminal that is gone
        print("make grid: stopped; run it again to go on where it was", file=sys.stderr)
    return 128 + signal.SIGTERM


def _ended(process: subprocess.Popen[bytes]) -> bool:
    try:
        process.wait(PAUSE)
    except subprocess.TimeoutExpired:
        return False
    return True
