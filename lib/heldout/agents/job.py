"""What every agent adapter is given and what it returns: a Job with its Limits, and how it Ended.

An adapter is a module `heldout.agents.<name>` with one public function, `start(job: Job) -> Ended`. It runs the
agent to its end and leaves in `job.cell`: `transcript.jsonl` (the stream-json of the client), `stderr.txt`, and
`session/` (the native transcript family: `<session>.jsonl`, `<session>/subagents/`, `<session>/tool-results/`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from heldout.scenario import Limits

__all__ = ["Ended", "How", "Job", "Limits"]

How = Literal["completed", "max_turns", "budget", "api_error", "aborted", "killed", "timeout", "unknown"]


@dataclass(frozen=True)
class Job:
    """One run of one agent.

    cell        folder that receives transcript.jsonl, stderr.txt and session/; exists, holds none of them yet
    sandbox     root of the sandbox (the folder that holds `project/`); cwd lies in it
    cwd         where the agent starts
    home        its HOME, tmp its TMPDIR, config its CLAUDE_CONFIG_DIR: private to this run, existing, empty
    prompt      the task, verbatim; never printed, never part of an argv that is kept
    model       the name that was asked for: a model of the client, or the name of an actor
    session_id  a UUID chosen by the runner; the native transcript is found by it
    env         the scenario's own variables, placeholders resolved
    unset       names removed from the agent's environment after everything else
    plugins     plugin folders, in the order in which they are loaded
    background  whether the client may run agents in the background
    limits      assistant turns of the main loop, wall seconds, US dollars; None: not limited
    actor_file  the actor scripts of the scenario (the file may be missing); None for a live agent
    plays       the actor that a stub plays to a real client; empty: the client talks to a model
    """

    cell: Path
    sandbox: Path
    cwd: Path
    home: Path
    tmp: Path
    config: Path
    prompt: str
    model: str
    session_id: str
    env: Mapping[str, str]
    unset: Sequence[str]
    plugins: Sequence[Path]
    background: bool
    limits: Limits
    actor_file: Path | None = None
    plays: str = ""


@dataclass(frozen=True)
class Ended:
    """How a run ended.

    how          completed: the agent said its last word; max_turns, budget, timeout: a limit of the job;
                 api_error, killed, aborted: the run was cut short; unknown: nothing says so
    exit         exit status of the client, None where it had none of its own (a timeout, no client)
    detail       one line for people, empty when completed
    client       name and version, such as `claude 2.1.332`
    argv         what was started, the prompt replaced by `sha256:<hex>`
    environment  names of the variables the agent's own processes saw, sorted
    served       ids of the models that answered, in order of first appearance
    judge        scripted answers of an actor by rubric ({answer, quote}); empty for a live agent
    """

    how: How
    exit: int | None
    detail: str
    client: str
    argv: list[str]
    environment: list[str]
    served: list[str]
    judge: dict[str, Any] = field(default_factory=dict)
