"""Hooks that ran, and proof of what their text did: whether it reached the model, whole, before the first action.

A hook with plain stdout is one attachment (`hook_success` with content); one with JSON stdout is two, the second
(`hook_additional_context`) holding one string per hook (trap 16): each hook is one entry here. What the model got is
the attachment's content, never `stdout`, which shows the full text even where only a preview was delivered.
Before 2.1.9x a transcript says that a hook ran, not what it said (report 35): delivered is then null.
"""

import hashlib
from typing import Any

import orjson

from heldout.transcript.bounds import COMMAND, HOOK_TEXT, HOOKS
from heldout.transcript.mend import Record
from heldout.transcript.messages import texts

_PREVIEW = "<persisted-output>"
_UNCLAIMED = 64  # contexts that wait for their second attachment
_OUTCOMES = {
    "hook_success": "success",
    "hook_non_blocking_error": "error",
    "hook_blocking_error": "blocking",
    "hook_cancelled": "cancelled",
}


class Hook:
    def __init__(self, event: str, name: str, agent: int, outcome: str | None) -> None:
        self.event, self.name, self.agent, self.outcome = event, name, agent, outcome
        self.command: str | None = None
        self.chars: int | None = 0
        self.delivered: str | None = "no"
        self.before_first_action: bool | None = None
        self.digest: str | None = None
        self.text: str | None = None
        self.uuid: str | None = None
        self.old_style = self.rendered = False

    def gave(self, text: str, whole: bool) -> None:
        """The model got this text; `whole`: it was not cut while it was read."""
        self.delivered = "preview" if text.startswith(_PREVIEW) else "full"
        self.digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest() if whole else None
        self.text = text[:HOOK_TEXT]


class Hooks:
    def __init__(self, lengths: dict[str, int]) -> None:
        """`lengths`: of texts that were cut on the present line, see mend.shorten; they stand for their characters."""
        self._lengths = lengths
        self.all: list[Hook] = []
        self.total = 0
        self._waiting: dict[tuple[int, str], list[tuple[Hook, str]]] = {}
        self._renders = False

    def _add(self, event: Any, name: Any, agent: int, outcome: str | None, command: Any) -> Hook:
        hook = Hook(event if type(event) is str else "", name if type(name) is str else "", agent, outcome)
        hook.command = command[:COMMAND] if type(command) is str else None
        self.total += 1
        if len(self.all) < HOOKS:
            self.all.append(hook)
        return hook

    def attachment(self, record: Record, attachment: Record, agent: int) -> None:
        """One `hook_*` attachment line of a native transcript."""
        kind = attachment.get("type")
        rendered = record.get("rendered")
        self._renders = self._renders or rendered is not None
        if kind == "hook_additional_context":
            self._context(record, attachment, agent, rendered)
            return
        if type(kind) is not str or kind not in _OUTCOMES:
            return  # hook_system_message and the like: shown to the user, about a hook that has its own line
        event = attachment.get("hookEvent")
        command = attachment.get("command")
        hook = self._add(event, attachment.get("hookName"), agent, _OUTCOMES[kind], command)
        hook.uuid = _text(record.get("uuid"))
        if kind == "hook_blocking_error":
            error = attachment.get("blockingError")
            text = error.get("blockingError") if type(error) is dict else error
        else:
            text = attachment.get("content") if kind == "hook_success" else None
        if type(text) is str and text:
            hook.chars = self._lengths.get(text, len(text))
            hook.rendered = rendered is not None
            hook.gave(text, text not in self._lengths)
        elif kind == "hook_success":
            context = _context_of(attachment.get("stdout"))
            if context:
                hook.chars = len(context)
                waiting = self._waiting.setdefault((agent, hook.event), [])
                waiting.append((hook, context))
                del waiting[:-_UNCLAIMED]

    def _context(self, record: Record, attachment: Record, agent: int, rendered: Any) -> None:
        given = attachment.get("content")
        event = attachment.get("hookEvent")
        waiting = self._waiting.get((agent, event if type(event) is str else ""), [])
        shown: str | None = None
        if type(rendered) is list:
            shown = "\n".join(t for part in rendered if type(part) is dict for t in texts(part.get("content")))
        for text in texts(given):
            hook = _claim(waiting, text)
            if hook is None:
                hook = self._add(event, attachment.get("hookName"), agent, "success", None)
                hook.chars = self._lengths.get(text, len(text))
            hook.uuid = _text(record.get("uuid"))
            hook.rendered = True
            if shown is None or text in shown:
                hook.gave(text, text not in self._lengths)

    def summary(self, record: Record, agent: int) -> None:
        """A `stop_hook_summary` line: the hooks of one Stop; it stands for their `hook_progress` lines too."""
        infos = record.get("hookInfos")
        failed = record.get("failedHookErrorIndexes")
        errors = record.get("hookErrors")
        for i, info in enumerate(infos if type(infos) is list else []):
            wrong = i in failed if type(failed) is list else bool(errors)
            command = info.get("command") if type(info) is dict else None
            self._add("Stop", "Stop", agent, "error" if wrong else "success", command).before_first_action = False

    def progress(self, record: Record, data: Record, agent: int) -> None:
        """A `hook_progress` line: the hook was started; that is all such versions say."""
        if data.get("hookEvent") == "Stop":
            return
        hook = self._add(data.get("hookEvent"), data.get("hookName"), agent, None, data.get("command"))
        hook.uuid = _text(record.get("uuid"))
        hook.old_style = True
        hook.chars = hook.delivered = None

    def response(self, record: Record) -> None:
        """A `hook_response` event of stream-json: what the hook said, not what the model got."""
        outcome = record.get("outcome")
        hook = self._add(record.get("hook_event"), record.get("hook_name"), 0, None, None)
        hook.outcome = outcome if type(outcome) is str else None
        if hook.outcome == "success":
            stdout = record.get("stdout")
            context = _context_of(stdout)
            hook.chars = len(context if context is not None else stdout.strip() if type(stdout) is str else "")
            hook.delivered = None if hook.chars else "no"

    def first_action(self, agent: int, ancestors: set[str]) -> None:
        """The first action of an agent's file was read: proof P1 is that a hook's line is its ancestor."""
        for hook in self.all:
            if hook.agent == agent and hook.before_first_action is None and not hook.old_style:
                hook.before_first_action = hook.uuid in ancestors and hook.delivered in ("full", "preview")

    def facts(self, names: list[str], acted: set[int]) -> list[dict[str, Any]]:
        """The entries. `acted`: agents that did anything; hooks after an agent's first action do not precede it."""
        modern = {h.event for h in self.all if not h.old_style}
        found: list[dict[str, Any]] = []
        for hook in self.all:
            if hook.old_style and hook.event in modern:
                continue
            if self._renders and not hook.rendered and hook.delivered in ("full", "preview"):
                # This client shows what it renders for the model, and it rendered nothing of this hook.
                hook.delivered, hook.digest, hook.text, hook.before_first_action = "no", None, None, False
            if hook.before_first_action is None and hook.agent in acted and hook.delivered is not None:
                hook.before_first_action = False
            found.append(
                {
                    "event": hook.event,
                    "name": hook.name,
                    "agent": names[hook.agent],
                    "outcome": hook.outcome,
                    "command": hook.command,
                    "chars": hook.chars,
                    "delivered": hook.delivered,
                    "before_first_action": hook.before_first_action,
                    "text_sha256": hook.digest,
                    "text": hook.text,
                }
            )
        return found


def _claim(waiting: list[tuple[Hook, str]], text: str) -> Hook | None:
    """The hook whose context this is: by its text, or for a preview the first one with text too long to pass."""
    for i, (hook, context) in enumerate(waiting):
        if context == text or (text.startswith(_PREVIEW) and context[:200].strip()[:100] in text):
            del waiting[i]
            return hook
    return None


def _context_of(stdout: Any) -> str | None:
    """The additionalContext of a hook's JSON stdout; None where stdout is no such JSON."""
    if type(stdout) is not str or not stdout.lstrip().startswith("{"):
        return None
    try:
        output = orjson.loads(stdout)
    except orjson.JSONDecodeError:
        return None
    if type(output) is not dict:
        return None
    specific = output.get("hookSpecificOutput")
    context = specific.get("additionalContext") if type(specific) is dict else output.get("additionalContext")
    return context if type(context) is str else None


def _text(value: Any) -> str | None:
    return value if type(value) is str else None
