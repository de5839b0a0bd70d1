"""The embedded agent: plays a script of tool calls and messages, with no model, no account and no network.

It carries the calls out in the sandbox, fires the real hooks of the plugins and of the project, and leaves
transcripts in the formats of Claude Code 2.1.332. Unlike the client it writes no prompt texts of its own, no
records of API requests, and no bundled plugins, skills or tools that a script cannot call; it costs nothing; calls
of one message run one after the other; a background subagent is finished before the main loop goes on; and in Bash
`grep` and `find` are the system's own.
"""

import hashlib
import shutil

from heldout.agents import script
from heldout.agents.acting.closing import Closing, exit_status
from heldout.agents.acting.opening import begin
from heldout.agents.acting.stage import MODEL, Ending, Stage
from heldout.agents.acting.writer import VERSION
from heldout.agents.job import Ended, Job
from heldout.agents.script import Actor
from heldout.errors import Refusal
from heldout.yamlfile import near_miss


def start(job: Job) -> Ended:
    """Play the actor that `job.model` names from `job.actor_file`; Refusal if there is none or its script is wrong."""
    actor = _chosen(job)
    (job.cell / "stderr.txt").touch()
    if actor.ends == "empty":
        (job.cell / "transcript.jsonl").touch()
        (job.cell / "session").mkdir()
        return Ended("unknown", 1, "the agent wrote nothing", _CLIENT, _argv(job), [], [], _judge(actor))
    stage = Stage(job, actor)
    _check_places(stage)
    try:
        ending = _play(stage)
    finally:
        _close(stage)
    _keep(stage)
    return Ended(
        how=ending.how,
        exit=exit_status(ending.how),
        detail=ending.detail,
        client=_CLIENT,
        argv=_argv(job),
        environment=sorted(stage.bash_env()),
        served=list(stage.ledger.models),
        judge=_judge(actor),
    )


_CLIENT = f"{MODEL} {VERSION}"


def _chosen(job: Job) -> Actor:
    if job.actor_file is None:
        raise Refusal(f"actor '{job.model}' has no file of actors")
    actors = script.load_for(job.actor_file)
    if job.model not in actors:
        raise Refusal(f"unknown actor '{job.model}' in '{job.actor_file}'", near_miss(job.model, actors))
    return actors[job.model]


def _check_places(stage: Stage) -> None:
    """Every plugin that the script names is there, before anything runs."""
    known = [name for name in stage.places if name.startswith("plugin:")]
    for name in script.placeholders(stage.actor.turns):
        if name.startswith("plugin:") and name not in known:
            what = f"placeholder '{{{name}}}' of actor '{stage.actor.name}' names no plugin of this run"
            raise Refusal(what, near_miss(name, known))


def _play(stage: Stage) -> Ending:
    """Play the session to its end; returns how it ended."""
    closing = Closing(stage)
    ending = Ending("completed", "")
    try:
        begin(stage)
        if stage.actor.ends == "api_error" and not stage.actor.turns:
            raise Ending("api_error", "the script begins with an API error")
        closing.turn(stage.main.play())
        while stage.notices:
            stage.main.wake(stage.notices.popleft())
            closing.turn(stage.main.play())
    except Ending as cut:
        ending = cut
        closing.cut(cut)
    closing.finish(by_itself=ending.how not in ("killed", "timeout"))
    return ending


def _close(stage: Stage) -> None:
    for loop in (stage.main, *stage.loops.values()):
        loop.shell.close()
        loop.lines.close()
    stage.stream.close()


def _keep(stage: Stage) -> None:
    """Copy the native family into the cell: the job's config folder does not outlive the run."""
    session = stage.job.cell / "session"
    session.mkdir()
    shutil.copy2(stage.transcript, session)
    if stage.family.is_dir():
        shutil.copytree(stage.family, session / stage.family.name)


def _argv(job: Job) -> list[str]:
    task = hashlib.sha256(job.prompt.encode()).hexdigest()
    return [MODEL, job.model, "--session-id", job.session_id, "-p", f"sha256:{task}"]


def _judge(actor: Actor) -> dict[str, dict[str, str]]:
    return {rubric: dict(answer) for rubric, answer in actor.judge.items()}
