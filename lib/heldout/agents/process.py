"""Waiting for a child process up to a point in time, without the delay of polling."""

import os
import select
import signal
import subprocess
import time


def finish(process: subprocess.Popen[bytes], until: float) -> int | None:
    """Wait for a process that leads its own group; at `until` (monotonic) the group is killed.

    Returns the exit status (1 for one that a signal ended, as the client has it), None if it was killed here.
    """
    if not ended(process, until):
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return None
    code = process.wait()
    return code if code >= 0 else 1


def ended(process: subprocess.Popen[bytes], until: float) -> bool:
    """Wait for a process, at most until a point in time (monotonic); whether it ended."""
    left = max(0.0, until - time.monotonic())
    if not hasattr(os, "pidfd_open"):
        try:
            process.wait(left)
        except subprocess.TimeoutExpired:
            return False
        return True
    # Popen.wait(timeout) looks every 50 ms, which is longer than most commands and hooks take.
    descriptor = os.pidfd_open(process.pid)
    try:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        return bool(poll.poll(left * 1000))
    finally:
        os.close(descriptor)
