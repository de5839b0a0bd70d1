"""Claude Code headless as the agent: `claude -p`, isolated by default, contained, and ended with all it started.

The evidence for every setting is the behaviour of client 2.1.332: an environment of our own, settings from the
sandbox's project alone, MCP servers from the command line alone, no remap of legacy model names, a session id set by
us by which the native transcript is found. With ISOLATE=user the user's own configuration is used instead.
"""

import hashlib
import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from heldout import client
from heldout.agents import contained
from heldout.agents.job import Ended, Job
from heldout.errors import Refusal
from heldout.scenario import plugin_name

# What the user's environment may lend the client besides credentials: how to reach the API, and how text is written.
PASSED = """
    PATH LANG LC_ALL LC_CTYPE TERM SHELL USER LOGNAME
    ANTHROPIC_BASE_URL ANTHROPIC_CUSTOM_HEADERS ANTHROPIC_DEFAULT_OPUS_MODEL ANTHROPIC_DEFAULT_SONNET_MODEL
    ANTHROPIC_DEFAULT_HAIKU_MODEL ANTHROPIC_DEFAULT_FABLE_MODEL
    HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS
    API_TIMEOUT_MS CLAUDE_CODE_MAX_RETRIES CLAUDE_CODE_MAX_OUTPUT_TOKENS
    CLAUDE_CODE_PRINT_BG_WAIT_CEILING_MS
"""
FIXED = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "CLAUDE_CODE_DISABLE_LEGACY_MODEL_REMAP": "1",
    "CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1",
    "IS_SANDBOX": "1",  # the client refuses to skip permissions as root without it
    "TZ": "UTC",
}
NO_BACKGROUND = {"CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1"}


def start(job: Job) -> Ended:
    """Run the client on `job.prompt` to its end; Refusal when there is no client or nothing to authenticate it with.

    What the session did is for the transcript to say: `how` is `timeout` when the time limit ended it, else `unknown`.
    """
    program = client.find()
    with _api(job) as lent:
        env = _environment(job, lent)
        words = [*_confined(job, program), str(program), *_arguments(job)]
        code, timed_out = contained.run(
            words, job.cwd, env, job.cell / "transcript.jsonl", job.cell / "stderr.txt", job.limits.seconds
        )
    _keep_session(job, Path(env.get("CLAUDE_CONFIG_DIR") or Path(env["HOME"], ".claude")))
    task = f"sha256:{hashlib.sha256(job.prompt.encode()).hexdigest()}"
    return Ended(
        how="timeout" if timed_out else "unknown",
        exit=code,
        detail=f"stopped after {job.limits.seconds:g} s" if timed_out else "",
        client="claude",
        argv=[task if word == job.prompt else word for word in words],
        environment=sorted(env),
        served=[],
    )


@contextmanager
def _api(job: Job) -> Generator[dict[str, str]]:
    """What the client needs to reach a model: nothing besides the user's credentials, or a stub that plays a script."""
    if not job.plays:
        require(live=True)
        yield {name: os.environ[name] for name in client.credentials()}
        return
    from heldout.agents import script
    from heldout.agents.stub import Stub
    from heldout.agents.stubbing import failures

    assert job.actor_file
    actor = script.load_for(job.actor_file)[job.plays]
    places = {"sandbox": str(job.sandbox), "cwd": str(job.cwd), "home": str(job.home)}
    places |= {f"plugin:{plugin_name(root)}": str(root) for root in job.plugins}
    with Stub() as stub:
        stub.expect(job.session_id, actor, places, failures.parse(os.environ.get("HELDOUT_STUB_FAILURES", "")))
        yield {"ANTHROPIC_BASE_URL": stub.url, "ANTHROPIC_API_KEY": "stub-key"}


def require(live: bool) -> None:
    """Refuse, with the mend, what would stop every cell: no client, wrong settings, for a `live` one no credentials."""
    client.version(client.find())
    own = _user_configuration()
    _bubblewrap()
    if live and not client.credentials() and not own:
        raise Refusal("no credentials for the client", f"set one of {', '.join(client.CREDENTIALS)}")


def _user_configuration() -> bool:
    """Whether the user's own configuration is to be used (ISOLATE=user)."""
    chosen = os.environ.get("ISOLATE", "")
    if chosen not in ("", "cell", "user"):
        raise Refusal(f"ISOLATE is '{chosen}'", "use 'cell' (the default) or 'user'")
    return chosen == "user"


def _bubblewrap() -> bool:
    """Whether the client is to be confined (CONFINE=bwrap)."""
    chosen = os.environ.get("CONFINE", "")
    if chosen not in ("", "bwrap"):
        raise Refusal(f"CONFINE is '{chosen}'", "use 'bwrap', or leave it empty")
    if chosen and not shutil.which("bwrap"):
        raise Refusal("CONFINE=bwrap, but no 'bwrap' was found", "install bubblewrap")
    return bool(chosen)


def _environment(job: Job, lent: dict[str, str]) -> dict[str, str]:
    if _user_configuration():
        env = {name: value for name, value in os.environ.items() if not name.startswith(("HELDOUT_", "MAKE", "MFLAGS"))}
        env |= {"TMPDIR": str(job.tmp)}
    else:
        env = {name: os.environ[name] for name in PASSED.split() if name in os.environ}
        env |= {"HOME": str(job.home), "CLAUDE_CONFIG_DIR": str(job.config), "TMPDIR": str(job.tmp), **FIXED}
        env.setdefault("LANG", "C.UTF-8")
    if not job.background:
        env |= NO_BACKGROUND
    env |= {**lent, **job.env}
    return {name: value for name, value in env.items() if name not in job.unset or name in job.env}


def _arguments(job: Job) -> list[str]:
    words = ["-p", job.prompt, "--model", job.model, "--session-id", job.session_id]
    words += ["--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions"]
    if not _user_configuration():
        words += ["--setting-sources", "project", "--strict-mcp-config"]
    for root in job.plugins:
        words += ["--plugin-dir", str(root)]
    if job.limits.turns:
        words += ["--max-turns", str(job.limits.turns)]
    if job.limits.usd:
        words += ["--max-budget-usd", f"{job.limits.usd:g}"]
    return words


def _confined(job: Job, program: Path) -> list[str]:
    """With CONFINE=bwrap the client sees the machine read-only but for its own cell, and nothing else of /tmp."""
    if not _bubblewrap():
        return []
    place = job.sandbox.parent
    words = ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"]
    for needed in (*job.plugins, program.resolve().parent):
        words += ["--ro-bind", str(needed), str(needed)]
    return [*words, "--bind", str(place), str(place), "--die-with-parent", "--chdir", str(job.cwd)]


def _keep_session(job: Job, config: Path) -> None:
    """Copy the native family, found by the session id: how the client spells the folder does not matter."""
    kept = job.cell / "session"
    kept.mkdir()
    for main in sorted(config.glob(f"projects/*/{job.session_id}.jsonl")):
        shutil.copy2(main, kept)
        family = main.with_suffix("")
        if family.is_dir():
            shutil.copytree(family, kept / family.name, symlinks=True)
