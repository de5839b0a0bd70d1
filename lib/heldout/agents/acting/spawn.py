"""Subagents: the Agent (Task) and SendMessage tools, in the foreground and in the background.

A background subagent is played as soon as the message that launched it has all its results; its report reaches the
main loop after the next message's results, or, if the main loop has stopped by then, as a new turn.
"""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson

from heldout.agents import script
from heldout.agents.acting.outcome import Outcome
from heldout.agents.acting.plugins import Role
from heldout.agents.acting.stage import Agent, Stage
from heldout.agents.acting.writer import final_usage, now

if TYPE_CHECKING:
    from heldout.agents.acting.loop import Loop

ALIASES = {
    "sonnet": "claude-sonnet-5-5",
    "opus": "claude-opus-5-5",
    "haiku": "claude-haiku-5-5",
    "fable": "claude-fable-5-2",
}
_TRUE = ("1", "true", "yes", "on")
_ONE_SHOT = ("Explore", "Plan")  # their hand-back does not offer to continue them


@dataclass(frozen=True)
class Errand:
    """A subagent launched in the background that has not been played yet; `message` is what wakes it, None at first."""

    loop: "Loop"
    agent: Agent
    tool_use_id: str
    message: str | None


def refuse(given: Mapping[str, Any], env: Mapping[str, str]) -> str:
    """Only an alias names a model: the schema of the tool is an enumeration, or has no model where it is forced."""
    if "model" not in given or given["model"] in ALIASES or _forced(env):
        return ""
    options = "|".join(f'"{alias}"' for alias in ALIASES)
    issue = {"code": "invalid_value", "values": list(ALIASES), "path": ["model"]}
    issue["message"] = f"Invalid option: expected one of {options}"
    return f"InputValidationError: {json.dumps([issue], indent=2)}"


def _forced(env: Mapping[str, str]) -> bool:
    return env.get("CLAUDE_CODE_SUBAGENT_MODEL_FORCE", "").lower() in _TRUE


def resolve(given: Mapping[str, Any], role: Role, env: Mapping[str, str], parent: str) -> tuple[str, str, bool]:
    """The model of a spawn: its id, the name in the meta file, and whether the request named it.

    Order: the request, the role's front matter, CLAUDE_CODE_SUBAGENT_MODEL, the parent's; with
    CLAUDE_CODE_SUBAGENT_MODEL_FORCE that variable before all.
    """
    default = env.get("CLAUDE_CODE_SUBAGENT_MODEL", "")
    forced = bool(default) and _forced(env)
    asked = "" if forced else str(given.get("model", ""))
    wanted = default if forced else asked or role.model or default
    if wanted in ("", "inherit"):
        return parent, parent, False
    pinned = env.get(f"ANTHROPIC_DEFAULT_{wanted.upper()}_MODEL") if wanted in ALIASES else None
    model = pinned or ALIASES.get(wanted, wanted)
    return model, asked or model, bool(asked)


def start(loop: "Loop", given: Mapping[str, Any], tool_use_id: str, turns: tuple[script.Turn, ...]) -> Outcome:
    """Spawn a subagent that plays `turns`."""
    stage = loop.stage
    kind = str(given.get("subagent_type", "general-purpose"))
    role = stage.loaded.roles.get(kind)
    if role is None:
        return Outcome.failed(f"Agent type '{kind}' not found. Available agents: {', '.join(stage.loaded.roles)}")
    model, label, named = resolve(given, role, stage.env, loop.model)
    # Only the main loop's spawns run in the background, and they do unless told otherwise.
    background = stage.job.background and loop.agent is None and given.get("run_in_background") is not False
    agent = Agent(
        id=stage.ids.agent(tool_use_id),
        role=role,
        description=str(given["description"]),
        prompt=str(given["prompt"]),
        model=model,
        label=label,
        named=named,
        tool_use_id=tool_use_id,
        depth=loop.agent.depth + 1 if loop.agent else 1,
        parent=loop.agent.id if loop.agent else "",
        background=background,
    )
    child = loop.child(agent, turns)
    stage.places[f"agent:{agent.description}"] = agent.id
    stage.ledger.spawned.append((kind, _request(stage, given), agent.depth))
    _write_meta(stage, agent, finished=False)
    _announce(stage, agent, tool_use_id, agent.prompt, background)
    if background:
        stage.ledger.in_background += 1
        stage.pending.append(Errand(child, agent, tool_use_id, None))
        return _launched(stage, agent)
    started = time.monotonic()
    child.open()
    report = child.play()
    took = _close(stage, agent, tool_use_id, report, started, background=False)
    stage.ledger.completed += 1
    return _completed(agent, report, took)


def send(loop: "Loop", given: Mapping[str, Any], tool_use_id: str) -> Outcome:
    """Continue a subagent by its id: at once where nothing runs in the background, else as an errand."""
    stage, to, message = loop.stage, str(given["to"]), str(given["message"])
    child = stage.loops.get(to)
    if child is None or child.agent is None or child.busy:
        said = f"No agent named '{to}' is reachable.\nUse ListAgents to see everyone you can message."
        return _answer({"success": False, "message": said}, display=f"Not sent — no agent named '{to}' is reachable.")
    agent = child.agent
    agent.background = True
    _announce(stage, agent, tool_use_id, message, True)
    if stage.job.background:
        stage.pending.append(Errand(child, agent, tool_use_id, message))
        result = {"success": True, "message": f"Resuming agent {agent.id[:7]}", "resumedAgentId": agent.id}
        return _answer(result, revivedAgentId=agent.id)
    started = time.monotonic()
    child.resume(message)
    report = child.play()
    _close(stage, agent, tool_use_id, report, started, background=True)
    said = json.dumps({"success": True, "message": "Resumed agent. Its report follows."}, separators=(",", ":"))
    content = [{"type": "text", "text": f"{said}\n{_framed(report)}"}]
    back = {"displayName": agent.id[:7], "content": [{"type": "text", "text": report}]}
    return Outcome(content, {"success": True, "message": "Resumed agent.", "inlineHandback": back})


def run_pending(stage: Stage) -> None:
    """Play the subagents that wait in the background, and queue their reports."""
    while stage.pending:
        errand: Errand = stage.pending.popleft()
        started = time.monotonic()
        if errand.message is None:
            errand.loop.open()
        else:
            errand.loop.resume(errand.message)
        report = errand.loop.play()
        took = _close(stage, errand.agent, errand.tool_use_id, report, started, background=True)
        stage.ledger.completed += errand.message is None
        text = _notification(stage, errand, report, took)
        stage.main.lines.note("queue-operation", operation="enqueue", timestamp=now(), content=text)
        stage.notices.append(text)


def _request(stage: Stage, given: Mapping[str, Any]) -> str:
    """How the request asked to be run; with background off the client does not have the parameter at all."""
    if not stage.job.background or "run_in_background" not in given:
        return "unset"
    return "background" if given["run_in_background"] else "foreground"


def _announce(stage: Stage, agent: Agent, tool_use_id: str, prompt: str, background: bool) -> None:
    if background:
        _tasks_changed(stage, agent)
    parent = {"parent_task_id": agent.parent} if agent.parent else {}
    stage.stream.system(
        "task_started",
        task_id=agent.id,
        tool_use_id=tool_use_id,
        description=agent.description,
        subagent_type=agent.role.name,
        is_backgrounded=background,
        spawn_depth=agent.depth,
        **parent,
        task_type="local_agent",
        prompt=prompt,
    )


def _tasks_changed(stage: Stage, *running: Agent) -> None:
    """The event that lists what runs in the background: all errands, and those given."""
    agents = {agent.id: agent for agent in (*(errand.agent for errand in stage.pending), *running)}
    tasks = [
        {"task_id": a.id, "task_type": "local_agent", "subagent_type": a.role.name, "description": a.description}
        for a in agents.values()
    ]
    stage.stream.system("background_tasks_changed", tasks=tasks)


def _close(stage: Stage, agent: Agent, tool_use_id: str, report: str, started: float, *, background: bool) -> int:
    """Events and meta of a subagent that has come to its end; returns its milliseconds."""
    took = round((time.monotonic() - started) * 1000)
    patch = {"status": "completed", "end_time": round(time.time() * 1000)}
    stage.stream.system("task_updated", task_id=agent.id, patch=patch)
    stage.stream.system(
        "task_notification",
        task_id=agent.id,
        tool_use_id=tool_use_id,
        status="completed",
        output_file=str(stage.agent_file(agent)),
        summary=report,
        **({"summary_is_report": True} if background else {}),
        usage={"total_tokens": agent.tokens, "tool_uses": len(agent.used), "duration_ms": took},
    )
    if background:
        _tasks_changed(stage)
    _write_meta(stage, agent, finished=True)
    return took


def _write_meta(stage: Stage, agent: Agent, *, finished: bool) -> None:
    meta = {
        "agentType": agent.role.name,
        "isBuiltIn": agent.role.built_in,
        "description": agent.description,
        "toolUseId": agent.tool_use_id,
        **({"parentAgentId": agent.parent} if agent.parent else {}),
        "spawnDepth": agent.depth,
        "requestShape": "background" if agent.background else "foreground",
        "requestNonInteractive": True,
        "model": agent.label,
        **({} if agent.named else {"modelNotNamed": True}),
        **({"finished": True} if finished else {}),
    }
    path = stage.agent_file(agent).with_suffix(".meta.json")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(orjson.dumps(meta))


def _framed(report: str) -> str:
    lines = (report or "(Subagent completed but returned no output.)").split("\n")
    return "\n".join(["[Subagent hand-back] The report of a subagent of this session:", *("  " + x for x in lines)])


def _launched(stage: Stage, agent: Agent) -> Outcome:
    file = str(stage.agent_file(agent))
    text = (
        f"Async agent launched successfully.\nagentId: {agent.id} (use SendMessage with to: '{agent.id}' to continue "
        f"this agent)\nThe agent works in the background; a notification follows when it is done.\noutput_file: {file}"
    )
    result = {"isAsync": True, "status": "async_launched", "agentId": agent.id, "description": agent.description}
    result |= {"resolvedModel": agent.model, "prompt": agent.prompt, "outputFile": file, "canContinueAgent": True}
    return Outcome([{"type": "text", "text": text}], result)


def _completed(agent: Agent, report: str, took: int) -> Outcome:
    text = _framed(report)
    if agent.role.name not in _ONE_SHOT:
        text += f"\nagentId: {agent.id} (use SendMessage with to: '{agent.id}' to continue this agent)"
        text += f"\n<usage>subagent_tokens: {agent.tokens}\ntool_uses: {len(agent.used)}\nduration_ms: {took}</usage>"
    result: dict[str, Any] = {"status": "completed", "prompt": agent.prompt, "agentId": agent.id}
    result["agentType"] = agent.role.name
    if agent.used:
        result["toolsUsed"] = list(dict.fromkeys(agent.used))
    result |= {"content": [{"type": "text", "text": report}] if report else [], "resolvedModel": agent.model}
    result |= {"totalDurationMs": took, "totalTokens": agent.tokens, "totalToolUseCount": len(agent.used)}
    result |= {"usage": final_usage(agent.usage), "canContinueAgent": True}
    return Outcome([{"type": "text", "text": text}], result)


def _answer(result: dict[str, Any], **more: Any) -> Outcome:
    """A result that the model gets as JSON; `more` is for the transcript alone."""
    return Outcome([{"type": "text", "text": json.dumps(result, separators=(",", ":"))}], {**result, **more})


def _notification(stage: Stage, errand: Errand, report: str, took: int) -> str:
    agent = errand.agent
    counts = f"<subagent_tokens>{agent.tokens}</subagent_tokens><tool_uses>{len(agent.used)}</tool_uses>"
    return (
        f"<task-notification>\n<task-id>{agent.id}</task-id>\n<tool-use-id>{errand.tool_use_id}</tool-use-id>\n"
        f"<output-file>{stage.agent_file(agent)}</output-file>\n<status>completed</status>\n"
        f'<summary>Agent "{agent.description}" finished</summary>\n<result>{report}</result>\n'
        f"<usage>{counts}<duration_ms>{took}</duration_ms></usage>\n</task-notification>"
    )
