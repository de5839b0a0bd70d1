"""The client: where Claude Code is, which version, and whether it could reach a model."""

import os
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

from heldout.errors import Refusal
from heldout.files import ROOT

TESTED = "2.1.332"
# What may be passed to the client from the user's environment; the names are told, the values never.
CREDENTIALS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "AWS_BEARER_TOKEN_BEDROCK")
_LOCAL = ROOT / ".client" / "node_modules" / "@anthropic-ai"


def find() -> Path:
    """The client's program: $HELDOUT_CLAUDE, else the pinned one of `make e2e`, else `claude` on PATH.

    npm's wrapper is passed over for the platform's own binary where both are there: its install script may have been
    skipped. Raises Refusal with the mend when there is none.
    """
    chosen = os.environ.get("HELDOUT_CLAUDE")
    if chosen:
        path = shutil.which(chosen)
        if not path:
            raise Refusal(f"HELDOUT_CLAUDE is '{chosen}', which cannot be run", "name the client's program")
        return Path(path)
    for path in (*sorted(_LOCAL.glob("claude-code-*/claude")), _LOCAL / "claude-code" / "bin" / "claude.exe"):
        if os.access(path, os.X_OK):
            return path
    found = shutil.which("claude")
    if not found:
        raise Refusal(
            "no client 'claude' was found",
            "install it (npm install -g @anthropic-ai/claude-code), or run 'make client'",
        )
    return Path(found)


@cache
def version(path: Path) -> str:
    """`2.1.332`; Refusal when the program does not say."""
    try:
        done = subprocess.run(
            [path, "--version"], stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Refusal(f"'{path}' does not run: {error}") from error
    match = re.match(rb"[0-9]+\.[0-9]+\.[0-9]+", done.stdout)
    if not match:
        raise Refusal(f"'{path} --version' printed no version", "is it Claude Code?")
    return match[0].decode()


def credentials() -> list[str]:
    """Names of the variables that could authenticate the client."""
    return [name for name in CREDENTIALS if os.environ.get(name)]
