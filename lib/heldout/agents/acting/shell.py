"""The Bash tool: one `bash -c` a call, the working directory carried from call to call as the client does it."""

import os
import re
import shlex
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from heldout.agents import process

DEFAULT_MS, MAX_MS = 120_000, 600_000
SHOWN = 30_000  # bytes of output that a result carries; more goes to a file
ERROR_SHOWN = 10_000  # characters of a failed command's output
_SILENT = re.compile(r"\s*(?:mv|cp|rm|mkdir|rmdir|chmod|chown|chgrp|touch|ln|cd|export|unset|wait)(?:\s|$)")


@dataclass(frozen=True)
class Output:
    """What a command left: exit status (143 when it ran out of time), merged output, and the notes of the client."""

    code: int
    raw: bytes
    late: str  # "Command timed out after 1s", or empty
    moved: str  # "Shell cwd was reset to …", or empty

    @property
    def text(self) -> str:
        """The first SHOWN bytes as text."""
        return self.raw[:SHOWN].decode("utf-8", "ignore" if len(self.raw) > SHOWN else "replace")

    def shown(self) -> str:
        """Output of a command that succeeded, as the model gets it: no blank lines around it."""
        return re.sub(r"\A(?:[^\S\n]*\n)+", "", self.text).rstrip()

    def failure(self) -> str:
        """Exit status and output of a command that failed, the middle left out where it is long."""
        parts = [f"Exit code {self.code}", self.late, self.text.rstrip(), self.moved]
        whole = "\n".join(part for part in parts if part)
        if len(whole) <= ERROR_SHOWN:
            return whole
        half = ERROR_SHOWN // 2
        return f"{whole[:half]}\n\n... [{len(whole) - ERROR_SHOWN} characters truncated] ...\n\n{whole[-half:]}"


class Shell:
    """The shell of one loop: starts in `cwd`, may move below `root`; one that does not `carry` is back at each call."""

    def __init__(self, cwd: Path, root: Path, env: Mapping[str, str], tmp: Path, *, carry: bool) -> None:
        self.cwd, self._root, self._env, self._tmp, self._carry = cwd, root, env, tmp, carry
        self._groups = list[int]()

    def run(self, command: str, timeout_ms: float, sources: Sequence[Path], until: float) -> Output:
        """Run `command` after sourcing `sources`; its group is killed at its timeout or at `until` (monotonic)."""
        where = self._tmp / f"claude-{os.getpid()}-cwd"
        seconds = min(timeout_ms, MAX_MS) / 1000
        with tempfile.TemporaryFile(dir=self._tmp) as out:
            started = time.monotonic()
            child = subprocess.Popen(
                ["/bin/bash", "-c", _wrapped(command, sources, where)],
                stdin=subprocess.DEVNULL,
                stdout=out,  # a file, not a pipe: what the command leaves in the background is not waited for
                stderr=subprocess.STDOUT,
                env=self._env,
                cwd=self._place(),
                start_new_session=True,
            )
            code = process.finish(child, min(started + seconds, until))
            self._remember(child.pid)
            out.seek(0)
            raw = out.read()
        if code is None:
            return Output(143, raw, f"Command timed out after {_spell(seconds)}", self._move(where))
        return Output(code, raw, "", self._move(where))

    def close(self) -> None:
        """Kill what earlier commands left running."""
        for group in self._groups:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(group, signal.SIGKILL)

    def _place(self) -> Path:
        """Where to run: a command may have removed the folder that the shell was in."""
        return next((folder for folder in (self.cwd, self._root) if folder.is_dir()), self._tmp)

    def _remember(self, group: int) -> None:
        try:
            os.killpg(group, 0)
        except (ProcessLookupError, PermissionError):
            return
        self._groups.append(group)

    def _move(self, where: Path) -> str:
        """Follow the command's `cd`; back to the start if it led out of the project."""
        try:
            new = Path(os.fsdecode(where.read_bytes()).removesuffix("\n"))
            where.unlink()
        except OSError:
            return ""
        if not self._carry or new == self.cwd:
            return ""
        if new.is_relative_to(os.path.realpath(self._root)):
            self.cwd = new
            return ""
        self.cwd = self._root
        return f"Shell cwd was reset to {self._root}"


def silent(command: str) -> bool:
    """Whether every part of a command is one that prints nothing by nature."""
    return all(_SILENT.match(part) for part in re.split(r"&&|\|\||[;|]", command))


def _wrapped(command: str, sources: Sequence[Path], where: Path) -> str:
    # As in the client: `eval` keeps a syntax error to the command, and only a success moves the shell.
    source = "".join(f". {shlex.quote(str(path))}; " for path in sources)
    return f"{source}eval {shlex.quote(command)} < /dev/null && pwd -P >| {shlex.quote(str(where))}"


def _spell(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes}m {rest}s" if minutes else f"{rest}s"
