"""Carrying out the calls of a script: the checks of an input, the tools themselves, and what is said of failures."""

import errno
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heldout.agents import script
from heldout.agents.acting import files, shell, spawn
from heldout.agents.acting.outcome import Outcome
from heldout.agents.acting.plugins import Skill
from heldout.agents.acting.writer import persist

if TYPE_CHECKING:
    from heldout.agents.acting.loop import Loop

# The client has these only where Bash is not allowed.
_ABSENT = {
    "Glob": "Glob is not available in this session — find files with `find` via the Bash tool instead.",
    "Grep": "Grep is not available in this session — search file contents with `grep` via the Bash tool instead.",
}


def normalise(name: str, given: dict[str, Any], known: Mapping[str, object]) -> dict[str, Any]:
    """The input as the client writes it down: some tools get parameters that the model left out."""
    if name == "Edit":
        return {"replace_all": False, **given}
    if name == "SendMessage" and given.get("message"):
        to = given.get("to")
        kind = "agent" if to in known else "name"
        return {**given, "type": "message", "recipient": to, "recipient_kind": kind, "content": given["message"]}
    return given


def refuse(loop: "Loop", name: str, given: Mapping[str, Any]) -> Outcome | None:
    """What the client answers without trying: no such tool, a bad input; None if it tries. Hooks do not see these."""
    if name in _ABSENT:
        return _no_such_tool(name, _ABSENT[name])
    canonical = "Agent" if name in script.SPAWNERS else name
    if loop.tools is not None and canonical not in loop.tools:
        return _no_such_tool(name, f"{name} is not among the tools available here. Continue with the tools you have.")
    missing = [key for key in script.TOOLS[name][0] if key not in given]
    if missing:
        return _invalid(canonical, missing)
    try:
        why = _CHECKS[canonical](loop, given) if canonical in _CHECKS else ""
    except OSError:
        return None  # the attempt will say it
    # A message about the schema stands without `Error: ` in the result.
    return Outcome.refused(why, why if why.startswith("InputValidationError") else "") if why else None


def carry_out(
    loop: "Loop", name: str, given: Mapping[str, Any], tool_use_id: str, turns: tuple[script.Turn, ...]
) -> Outcome:
    """Try a call whose input passed `refuse`."""
    if name in script.SPAWNERS:
        return spawn.start(loop, given, tool_use_id, turns)
    try:
        return _TOOLS[name](loop, given, tool_use_id)
    except OSError as error:  # a file that may not be read, a folder in the way …: in the words of Node
        code = errno.errorcode.get(error.errno or 0, "EIO")
        return Outcome.failed(f"{code}: {(error.strerror or '').lower()}, open '{error.filename}'")


def _no_such_tool(name: str, more: str) -> Outcome:
    why = f"Error: No such tool available: {name}. {more}"
    return Outcome.refused(why, why)


def _invalid(tool: str, missing: list[str]) -> Outcome:
    """The client's answer to an input that lacks parameters."""
    lines = "\n".join(f"The required parameter `{key}` is missing" for key in missing)
    message = f"InputValidationError: {tool} failed due to the following issue{'s' * (len(missing) > 1)}:\n{lines}"
    said = "Invalid input: expected string, received undefined"
    issues = [{"expected": "string", "code": "invalid_type", "path": [key], "message": said} for key in missing]
    return Outcome.refused(message, f"InputValidationError: {json.dumps(issues, indent=2)}")


def _path(loop: "Loop", given: Mapping[str, Any]) -> Path:
    return loop.shell.cwd / str(given["file_path"])


def _read(loop: "Loop", given: Mapping[str, Any], _: str) -> Outcome:
    return files.read(_path(loop, given), given, loop.shell.cwd)


def _write(loop: "Loop", given: Mapping[str, Any], _: str) -> Outcome:
    return files.write(_path(loop, given), given)


def _edit(loop: "Loop", given: Mapping[str, Any], _: str) -> Outcome:
    return files.edit(_path(loop, given), given)


def _bash(loop: "Loop", given: Mapping[str, Any], tool_use_id: str) -> Outcome:
    stage, command = loop.stage, str(given["command"])
    timeout = float(given.get("timeout", shell.DEFAULT_MS))
    sources = [path for path in stage.sources if path.exists()]
    out = loop.shell.run(command, timeout, sources, stage.until)
    stage.check_time()
    if out.code:
        return Outcome.failed(out.failure())
    shown = out.shown()
    result: dict[str, Any] = {"stdout": shown, "stderr": "", "interrupted": False, "isImage": False}
    result["noOutputExpected"] = shell.silent(command)
    if len(out.raw) > shell.SHOWN:
        path = stage.kept(stage.ids.output(tool_use_id))
        shown = persist(out.raw.decode("utf-8", "replace"), out.raw, path)
        result |= {"persistedOutputPath": str(path), "persistedOutputSize": len(out.raw)}
    if out.moved:
        result["stderr"] = f"\n{out.moved}"
        shown = f"{shown}\n{out.moved}" if shown else out.moved
    return Outcome(shown or "(Bash completed with no output)", result, flag=True)


def _skill(loop: "Loop", given: Mapping[str, Any], _: str) -> Outcome:
    name = str(given["skill"]).removeprefix("/")
    skill = loop.stage.loaded.skill(name)
    assert skill  # _check_skill
    text = skill.text(str(given.get("args", "")))
    before = loop.bodies.get(skill.full)
    loop.skill, loop.bodies[skill.full] = skill, text
    if text == before:
        notes = [f"Skill /{name} is already loaded above; instructions unchanged."]
    else:
        notes = [f"(Re-invocation of /{name}: arguments or output below are new.)", text] if before else [text]
    return Outcome(f"Launching skill: {name}", {"success": True, "commandName": name}, notes=notes)


def _check_skill(loop: "Loop", given: Mapping[str, Any]) -> str:
    name = str(given["skill"]).removeprefix("/")
    skill = loop.stage.loaded.skill(name)
    if skill is None:
        near = next((s for s in loop.stage.loaded.skills if s.description and _folder(s) == name), None)
        hint = f". Did you mean {near.full}? Invoke it by that full name." if near else ""
        return f"Unknown skill: {name}{hint}"
    if skill.hidden:
        return f"Skill {name} cannot be used with Skill tool due to disable-model-invocation"
    return ""


def _folder(skill: Skill) -> str:
    return skill.full.rpartition(":")[2]


def _check_write(loop: "Loop", given: Mapping[str, Any]) -> str:
    return files.refuse_write(_path(loop, given))


def _check_edit(loop: "Loop", given: Mapping[str, Any]) -> str:
    return files.refuse_edit(_path(loop, given), given, loop.shell.cwd)


_CHECKS: dict[str, Callable[["Loop", Mapping[str, Any]], str]] = {
    "Write": _check_write,
    "Edit": _check_edit,
    "Skill": _check_skill,
    "Agent": lambda loop, given: spawn.refuse(given, loop.stage.env),
    "SendMessage": lambda loop, given: "" if given.get("message") else "message must not be empty",
}
_TOOLS: dict[str, Callable[["Loop", Mapping[str, Any], str], Outcome]] = {
    "Read": _read,
    "Write": _write,
    "Edit": _edit,
    "Bash": _bash,
    "Skill": _skill,
    "SendMessage": spawn.send,
}
