"""The beginning of a played session: SessionStart hooks, the prompt, and what the client loads beside it."""

import re
from pathlib import Path

from heldout.agents.acting import hooks
from heldout.agents.acting.loop import Loop
from heldout.agents.acting.stage import MODE, MODEL, Ending, Stage
from heldout.agents.acting.writer import now


def begin(stage: Stage) -> None:
    """Open the main loop and write both transcripts up to the first message; Ending if a hook refuses the prompt."""
    loop = stage.main = Loop(stage, stage.actor.turns)
    started = _session_start(stage)
    loop.lines.note("queue-operation", operation="enqueue", timestamp=now(), content=stage.job.prompt)
    loop.lines.note("queue-operation", operation="dequeue", timestamp=now())
    uuid = stage.ids.uuid()
    hooks.record(started, loop.lines, "SessionStart:startup", uuid, _keeper(stage, uuid))
    submitted = stage.fire("UserPromptSubmit", "", stage.job.cwd, prompt=stage.job.prompt)
    refusal = next((item.blocks for item in submitted if item.blocks is not None), None)
    if refusal is not None:
        stage.init()
        _refused(stage, loop, refusal)
    _prompt(stage, loop)
    uuid = stage.ids.uuid()
    hooks.record(submitted, loop.lines, "UserPromptSubmit", uuid, _keeper(stage, uuid))
    _surroundings(stage, loop)
    stage.init()


def _session_start(stage: Stage) -> list[hooks.Ran]:
    """Run the SessionStart hooks; the stream has an event for each start and each answer."""
    chosen = stage.selected("SessionStart", "startup")
    common = [
        {"hook_id": stage.ids.uuid(), "hook_name": "SessionStart:startup", "hook_event": "SessionStart"} for _ in chosen
    ]
    for item in common:
        stage.stream.system("hook_started", **item)
    ran = stage.fire("SessionStart", "startup", stage.job.cwd, source="startup")
    for item, done in zip(common, ran, strict=True):
        said = {"output": done.stdout + done.stderr, "stdout": done.stdout, "stderr": done.stderr}
        stage.stream.system("hook_response", **item, **said, exit_code=done.code, outcome=done.outcome)
    return ran


def _keeper(stage: Stage, key: str) -> hooks.Keeper:
    return lambda what: stage.kept(f"hook-{key}-{what}")


def _refused(stage: Stage, loop: Loop, reason: str) -> None:
    """A UserPromptSubmit hook forbids the prompt: the session ends without a message."""
    said = f"UserPromptSubmit operation blocked by hook:\n{reason}"
    stage.stream.system("informational", content=said, level="warning", prevent_continuation=True)
    loop.lines.chain("system", {"subtype": "informational", "content": said, "level": "warning", "isMeta": False})
    loop.heard = -1  # no turn was begun
    raise Ending("completed", "a UserPromptSubmit hook refused the prompt")


def _prompt(stage: Stage, loop: Loop) -> None:
    """The user's line; a prompt that is a slash command is taken apart, and the skill's text follows."""
    prompt = stage.job.prompt
    body = {"promptId": stage.prompt_id, "permissionMode": MODE, "promptSource": "sdk", "rowSource": "local"}
    body |= {"turnOrigin": "sdk", "turnPosition": {"promptIndex": 0, "turnIndex": 1}}
    typed = re.fullmatch(r"/(\S+)(?:\s+(.*))?", prompt.strip(), re.DOTALL)
    skill = stage.loaded.skill(typed[1]) if typed else None
    if typed is None or skill is None:
        loop.hear(body, prompt)
        return
    args = typed[2] or ""
    names = f"<command-message>{skill.full}</command-message>\n<command-name>/{skill.full}</command-name>"
    loop.hear(body, f"{names}\n<command-args>{args}</command-args>" if args else names)
    text = skill.text(args)
    loop.skill, loop.bodies[skill.full] = skill, text
    meta = {"promptId": stage.prompt_id, "isMeta": True, "turnCompanion": True, "rowSource": "local"}
    loop.hear(meta, [{"type": "text", "text": text}])


def _surroundings(stage: Stage, loop: Loop) -> None:
    """What stands beside the prompt: the model, the skills, the project's instructions."""
    said = f"You are powered by the model {MODEL}."
    identity = {"modelId": MODEL, "marketingName": None, "knowledgeCutoff": None}
    loop.lines.attach({"type": "model", "identity": identity, "text": said}, said)
    shown = [skill for skill in stage.loaded.skills if not skill.hidden and skill.description]
    if shown:
        listing = "\n".join(f"- {skill.full}: {skill.description[:1536]}" for skill in shown)
        names = [skill.full for skill in shown]
        attachment = {"type": "skill_listing", "content": listing, "skillCount": len(names), "isInitial": True}
        loop.lines.attach({**attachment, "names": names}, f"Skills:\n{listing}")
    found = [{"path": str(path), "type": "Project", "content": text} for path, text in _instructions(stage)]
    if found:
        text = "\n\n".join(f"Contents of {item['path']}:\n\n{item['content']}" for item in found)
        loop.lines.attach({"type": "instructions", "files": found}, text, "user")


def _instructions(stage: Stage) -> list[tuple[Path, str]]:
    """The CLAUDE.md files from the sandbox's root down to the working directory."""
    root, cwd = stage.job.sandbox, stage.job.cwd
    folders = [folder for folder in (*reversed(cwd.parents), cwd) if folder == root or folder.is_relative_to(root)]
    paths = [folder / name for folder in folders for name in ("CLAUDE.md", ".claude/CLAUDE.md")]
    return [(path, path.read_text("utf-8", "replace").strip()) for path in paths if path.is_file()]
