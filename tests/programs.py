"""Running the programs as a user does: as processes, on real files."""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Variables of the caller that would change what a program does; HELDOUT_SANDBOXES is the tests' own.
FOREIGN = ("HELDOUT_J", "HELDOUT_D", "MAKE", "MFLAGS", "JUDGE_", "OS_VAULT", "ORCH_EVAL", "RETRIES", "GITHUB_STEP")
CORPUS = Path(os.environ.get("HELDOUT_CORPUS", ROOT.parent / "shared" / "corpus"))


def bin(
    name: str,
    *words: object,
    env: Mapping[str, str] | None = None,
    stdin: str = "",
    cwd: Path | None = None,
    root: Path = ROOT,
) -> subprocess.CompletedProcess[str]:
    """Run a program of bin/; never raises for its status."""
    return command([root / "bin" / name, *words], env=env, stdin=stdin, cwd=cwd)


def command(
    words: Sequence[object], *, env: Mapping[str, str] | None = None, stdin: str = "", cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    clean = {key: value for key, value in os.environ.items() if not key.startswith(FOREIGN)}
    # Hooks start python3 often: not through a version manager's shim, which takes ten times as long.
    clean["PATH"] = f"{sys.base_prefix}/bin{os.pathsep}{clean['PATH']}"
    return subprocess.run(
        [str(word) for word in words],
        env={**clean, **(env or {})},
        input=stdin,
        capture_output=True,
        text=True,
        errors="surrogateescape",
        cwd=cwd,
        timeout=300,
        check=False,
    )


def hearing() -> None:
    """In a new process: hear what whoever started the tests may have had ignored, such as `nohup` or a shell's `&`."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def one_line(text: str) -> str:
    """The only line of a message; fails with the text when there are more."""
    lines = text.splitlines()
    assert len(lines) == 1, f"one line was expected:\n{text}"
    return lines[0]
