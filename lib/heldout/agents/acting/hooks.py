"""Running the real hooks of plugins and of the project, and what the client makes of their answers.

Hooks come from the project's `.claude/settings.json`, then from each plugin's `hooks/hooks.json`; all that match an
event run in parallel. A hook answers by its exit status, by plain text, or by a JSON object on stdout.
"""

import json
import re
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from heldout.agents import process
from heldout.agents.acting.plugins import Plugin, read_json
from heldout.agents.acting.writer import Native, shorten
from heldout.errors import Refusal

SECONDS = 600.0  # the client's timeout for a hook that names none
CONTEXT_LIMIT = 10_000  # characters of one hook's text that reach the model whole
Keeper = Callable[[str], Path]  # names the file for a text that is too long for the model
_SEEN = ("SessionStart", "UserPromptSubmit")  # events whose plain stdout the model sees


@dataclass(frozen=True)
class Hook:
    """One command of one event. `matcher` as written; `seconds` its timeout; `plugin` None for the project's own."""

    event: str
    matcher: str
    command: str
    seconds: float
    plugin: Plugin | None


@dataclass(frozen=True)
class Ran:
    """What became of one hook. `answer` is its JSON object, empty when it said something else."""

    hook: Hook
    stdout: str
    stderr: str
    code: int
    milliseconds: int
    timed_out: bool
    answer: Mapping[str, Any]

    @property
    def text(self) -> str:
        """Plain text that it printed; empty when it answered in JSON."""
        return "" if self.answer else self.stdout.strip()

    @property
    def specific(self) -> Mapping[str, Any]:
        found = self.answer.get("hookSpecificOutput")
        return found if isinstance(found, Mapping) else {}

    @property
    def context(self) -> str:
        found = self.specific.get("additionalContext")
        return found if isinstance(found, str) and self.code == 0 else ""

    @property
    def blocks(self) -> str | None:
        """Why it forbids to go on, None if it does not."""
        if self.timed_out or self.code not in (0, 2):
            return None
        if self.code == 2:
            return f"[{self.hook.command}]: {self.stderr}"
        if self.answer.get("decision") == "block":
            return str(self.answer.get("reason", ""))
        if self.specific.get("permissionDecision") == "deny":
            return str(self.specific.get("permissionDecisionReason", ""))
        return None

    @property
    def outcome(self) -> str:
        return "cancelled" if self.timed_out else "success" if self.code == 0 else "error"


def load(project: Path, plugins: Sequence[Plugin]) -> list[Hook]:
    """All command hooks, in the client's order."""
    found = _of(project / ".claude" / "settings.json", None)
    for plugin in plugins:
        found += _of(plugin.root / "hooks" / "hooks.json", plugin)
    return found


def _of(path: Path, plugin: Plugin | None) -> list[Hook]:
    data = read_json(path) or {}
    found = list[Hook]()
    try:
        for event, groups in (data.get("hooks") or {}).items():
            for group in groups:
                for item in group["hooks"]:
                    if item.get("type") == "command":
                        seconds = float(item.get("timeout", SECONDS))
                        matcher = str(group.get("matcher") or "")
                        found.append(Hook(event, matcher, str(item["command"]), seconds, plugin))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise Refusal(f"cannot read '{path}': the hooks are not as the client takes them") from error
    return found


def matches(matcher: str, subject: str) -> bool:
    """Whether a matcher covers a tool, source or agent type: all, names joined by `|`, or else a regular expression."""
    names = (subject, "Task") if subject == "Agent" else (subject,)
    if matcher in ("", "*"):
        return True
    if re.fullmatch(r"[\w:|-]+", matcher):
        return any(name in matcher.split("|") for name in names)
    try:
        return any(re.search(matcher, name) for name in names)
    except re.error:
        return False


@dataclass
class _Running:
    """A started hook: the process, its files, when it started."""

    hook: Hook
    process: subprocess.Popen[bytes]
    out: IO[bytes]
    err: IO[bytes]
    started: float


def run(
    chosen: Sequence[Hook],
    payload: Mapping[str, Any],
    env: Callable[[Hook, int], Mapping[str, str]],
    cwd: Path,
    tmp: Path,
    until: float,
) -> list[Ran]:
    """Run hooks side by side with `payload` on stdin and wait for all; `until` (monotonic) cuts each of them off."""
    raw = json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"
    running = [_start(hook, raw, env(hook, place), cwd, tmp) for place, hook in enumerate(chosen)]
    # The one whose time is up first is waited for first: else it would be given the time of the others.
    order = sorted(running, key=lambda item: item.started + item.hook.seconds)
    done = {id(item): _finish(item, until) for item in order}
    return [done[id(item)] for item in running]


def _start(hook: Hook, raw: bytes, env: Mapping[str, str], cwd: Path, tmp: Path) -> _Running:
    # Files, not pipes: something that a hook leaves running in the background must not hold up the session.
    out, err = tempfile.TemporaryFile(dir=tmp), tempfile.TemporaryFile(dir=tmp)  # noqa: SIM115 closed by _finish
    with tempfile.TemporaryFile(dir=tmp) as source:
        source.write(raw)
        source.seek(0)
        shell = ["/bin/sh", "-c", hook.command]
        started = subprocess.Popen(
            shell, stdin=source, stdout=out, stderr=err, env=env, cwd=cwd, start_new_session=True
        )
    return _Running(hook, started, out, err, time.monotonic())


def _finish(item: _Running, until: float) -> Ran:
    limit = min(item.started + item.hook.seconds, until)
    code = process.finish(item.process, limit)
    timed_out, code = code is None, 1 if code is None else code
    took = round((time.monotonic() - item.started) * 1000)
    texts = list[str]()
    for file in (item.out, item.err):
        with file:
            file.seek(0)
            texts.append("" if timed_out else file.read().decode("utf-8", "replace"))
    answer = _answer(texts[0]) if code == 0 else {}
    return Ran(item.hook, texts[0], texts[1], code, took, timed_out, answer)


def _answer(stdout: str) -> Mapping[str, Any]:
    if not stdout.lstrip().startswith("{"):
        return {}
    try:
        found = json.loads(stdout)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def record(
    ran: Sequence[Ran], lines: Native, name: str, tool_use_id: str, keep: Keeper, *, contexts: bool = True
) -> None:
    """Write the attachments of one event. `name` is `SessionStart:startup`, `PreToolUse:Bash`, `Stop` …;
    without `contexts` additional context is not delivered."""
    given = list[str]()
    event = name.partition(":")[0]
    for place, item in enumerate(ran):
        base = {"hookName": name, "toolUseID": tool_use_id, "hookEvent": event}
        for attachment, rendered in _attachments(item, event, base, keep(f"{place}-stdout")):
            lines.attach(attachment, rendered)
        if item.context and contexts:
            given.append(shorten(item.context, CONTEXT_LIMIT, keep(f"{place}-additionalContext")))
    if given:
        short = event if event in ("SessionStart", "SubagentStart") else name
        target = "SessionStart" if event == "SessionStart" else tool_use_id
        attachment = {"type": "hook_additional_context", "content": given, "hookName": short}
        text = f"{short} hook additional context: " + "\n".join(given)
        lines.attach({**attachment, "toolUseID": target, "hookEvent": event}, text)


def _attachments(ran: Ran, event: str, base: Mapping[str, str], file: Path) -> list[tuple[dict[str, Any], str]]:
    """The attachment lines of one hook that ran, each with what the model sees of it."""
    command, took = ran.hook.command, {"durationMs": ran.milliseconds}
    if ran.timed_out:
        limit = {"timedOut": True, "timeoutMs": round(ran.hook.seconds * 1000)}
        return [({"type": "hook_cancelled", **base, "command": command, **took, **limit}, "")]
    if ran.code == 2 and event in ("SessionStart", "SubagentStart", "SessionEnd"):
        # These cannot be blocked: exit 2 is an error like any other, in another wording.
        failed = {"stderr": ran.blocks, "stdout": "", "exitCode": 2, "command": command}
        return [({"type": "hook_non_blocking_error", **base, **failed}, "")]
    if ran.blocks is not None:
        if event == "PreToolUse" or (ran.code == 2 and event in ("Stop", "SubagentStop")):
            return []  # the tool result, or the feedback, says so
        blocking = {"blockingError": {"blockingError": ran.blocks, "command": command}}
        seen = f'{base["hookName"]} hook blocking error from command: "{command}": {ran.blocks}'
        return [({"type": "hook_blocking_error", **base, **blocking}, seen)]
    if ran.code != 0:
        why = f"Failed with non-blocking status code: {ran.stderr.strip()}"
        failed = {"stderr": why, "stdout": ran.stdout, "exitCode": ran.code, "command": command, **took}
        return [({"type": "hook_non_blocking_error", **base, **failed}, "")]
    if (not ran.answer and not ran.text) or (event == "UserPromptSubmit" and ran.context):
        return []
    text = shorten(ran.text, CONTEXT_LIMIT, file)
    done = {"content": text, "stdout": ran.stdout, "stderr": ran.stderr, "exitCode": 0, "command": command, **took}
    seen = f"{base['hookName']} hook success: {text}" if text and event in _SEEN else ""
    found = [({"type": "hook_success", **base, **done}, seen)]
    if isinstance(message := ran.answer.get("systemMessage"), str):
        found.append(({"type": "hook_system_message", "content": message, **base}, ""))
    return found
