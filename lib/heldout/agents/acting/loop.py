"""Playing one conversation, the main loop's or a subagent's: saying scripted messages, carrying out their calls."""

from collections.abc import Mapping
from typing import Any

from heldout.agents import script
from heldout.agents.acting import hooks, spawn, tools
from heldout.agents.acting.hooks import Keeper, Ran
from heldout.agents.acting.outcome import Outcome
from heldout.agents.acting.plugins import Skill
from heldout.agents.acting.shell import Shell
from heldout.agents.acting.stage import MODE, MODEL, NOTIFIED, Agent, Ending, Stage
from heldout.agents.acting.writer import final_usage, now
from heldout.agents.job import How

STOP_BLOCKS = 8  # a Stop hook that always blocks would keep a script going for ever
_START = {"output_tokens": 1}
_REASONS = {"": "mode", "permission-rule": "other", "user-rejected": ""}  # denial: reason of a decision by the client


class Loop:
    """One conversation. `agent` is None for the main loop, which alone counts turns and gets notifications."""

    def __init__(self, stage: Stage, turns: tuple[script.Turn, ...], agent: Agent | None = None) -> None:
        self.stage, self.turns, self.agent = stage, turns, agent
        self.model = agent.model if agent else MODEL
        self.tools = agent.role.tools if agent else None
        self.lines = stage.native(agent)
        cwd = stage.main.shell.cwd if agent else stage.job.cwd
        self.shell = Shell(cwd, stage.job.cwd, stage.bash_env(), stage.job.tmp, carry=agent is None)
        self.lines.cwd = self.shell.cwd
        self.skill: Skill | None = None
        self.bodies: dict[str, str] = {}  # text of each skill that was loaded
        self.number = 0  # messages said
        self.busy = False
        self.usages: list[Mapping[str, int]] = []  # since the last result
        self.heard = 0  # user events of the main loop since the last result

    def child(self, agent: Agent, turns: tuple[script.Turn, ...]) -> "Loop":
        """The conversation of a subagent spawned from this one."""
        loop = Loop(self.stage, turns, agent)
        self.stage.loops[agent.id] = loop
        return loop

    def open(self) -> None:
        """Begin a subagent's conversation: its prompt, then the SubagentStart hooks."""
        assert self.agent
        uuid = self.hear({"promptId": self.stage.prompt_id, "rowSource": "recorded"}, self.agent.prompt)
        if not self.agent.background and self.agent.depth == 1:
            content = [{"type": "text", "text": self.agent.prompt}]
            self._emit("user", uuid, message={"role": "user", "content": content})
        self._begin(fresh=True)

    def resume(self, message: str) -> None:
        """Continue a subagent's conversation with a message of its coordinator."""
        body = {"promptId": self.stage.prompt_id, "isMeta": True, "origin": {"kind": "coordinator"}}
        self.hear(body, f"The coordinator sent a message while you were working:\n{message}")
        self._begin(fresh=False)

    def hear(self, body: Mapping[str, Any], content: Any, **chained: Any) -> str:
        """A user line; returns its uuid."""
        return self.lines.chain("user", {**body, "message": {"role": "user", "content": content}}, **chained)

    def play(self) -> str:
        """Say message after message until one has no calls and no hook asks for more; returns that message's text."""
        self.busy, blocks = True, 0
        while True:
            if self.agent is None:
                self._check_turns()
            self.stage.check_time()
            turn = script.turn_at(self.turns, self.number)
            last = self.agent is None and self.number + 1 == len(self.turns)
            text, calls = self._say(turn)
            if not calls:
                if not self._goes_on(text, blocks):
                    self.busy = False
                    return text
                blocks += 1
                continue
            self._cut(last, "killed", "budget")
            for call, (name, given, tool_use_id, line) in zip(turn.calls, calls, strict=True):
                self._perform(call, name, given, tool_use_id, line)
            self._cut(last, "max_turns", "api_error")
            if self.agent is None:
                self._settle()

    def _check_turns(self) -> None:
        limit = self.stage.job.limits.turns
        if limit is not None and self.number >= limit:
            raise Ending("max_turns", f"reached the limit of {limit} turns")

    def _cut(self, last: bool, *hows: How) -> None:
        """End the session where the script says so: at its last message, before or after the calls."""
        for how in hows:
            if last and self.stage.actor.ends == how:
                raise Ending(how, f"the script of actor '{self.stage.actor.name}' ends so")

    def _places(self) -> dict[str, str]:
        return {**self.stage.places, "model": self.model}

    def _say(self, turn: script.Turn) -> tuple[str, list[tuple[str, dict[str, Any], str, str]]]:
        """Write one assistant message, a line a block; returns its text and the calls (name, input, id, line)."""
        stage, who, places = self.stage, self.agent.id if self.agent else "main", self._places()
        text = script.expand(turn.text, places)
        blocks: list[dict[str, Any]] = []
        if turn.think:
            thinking = script.expand(turn.think, places)
            blocks.append({"type": "thinking", "thinking": thinking, "signature": "YWN0b3I="})
        if text:
            blocks.append({"type": "text", "text": text})
        for place, call in enumerate(turn.calls):
            given = tools.normalise(call.tool, script.expand(call.input, places), stage.loops)
            tool_use_id = stage.ids.tool(who, self.number, place)
            blocks.append({"type": "tool_use", "id": tool_use_id, "name": call.tool, "input": given})
        message = {"id": stage.ids.message(who, self.number), "type": "message", "role": "assistant"}
        message["model"] = self.model
        request = stage.ids.request(who, self.number)
        calls: list[tuple[str, dict[str, Any], str, str]] = []
        for index, block in enumerate(blocks):
            stop = "tool_use" if turn.calls else "end_turn"
            uuid = self._assistant({**message, "content": [block]}, index, stop, turn.usage, request)
            if block["type"] == "tool_use":
                calls.append((block["name"], block["input"], block["id"], uuid))
        self.number += 1
        self.usages.append(turn.usage)
        stage.ledger.add(self.model, turn.usage)
        if self.agent:
            self.agent.usage = turn.usage
        return text, calls

    def _assistant(self, message: dict[str, Any], index: int, stop: str, usage: Mapping[str, int], request: str) -> str:
        """One content block of a message in both formats; returns the line's uuid."""
        block = message["content"][0]
        final = {"stop_reason": stop, "stop_sequence": None, "usage": final_usage(usage), "stop_details": None}
        body: dict[str, Any] = {"message": {**message, **final}, "apiBlockIndex": index, "requestId": request}
        body["requestedModel"] = self.model
        if self.agent:
            body["attributionAgent"] = self.agent.role.name
        if self.skill:
            body["attributionSkill"] = self.skill.full
            if self.skill.plugin:
                body["attributionPlugin"] = self.skill.plugin
        uuid = self.lines.chain("assistant", {**body, "madeBy": "model"})
        shown = self.agent is None or (self.agent.depth == 1 and (block["type"] == "tool_use" or self.agent.background))
        if shown:
            begun = {"stop_reason": None, "stop_sequence": None, "usage": {**usage, **_START}}
            self._emit("assistant", uuid, message={**message, **begun}, request_id=request)
        return uuid

    def _perform(self, call: script.Call, name: str, given: dict[str, Any], tool_use_id: str, line: str) -> None:
        """Carry out one call between its hooks, and write the result."""
        self._note_tool("Agent" if name in script.SPAWNERS else name)
        after: list[Ran] = []
        event = ""
        outcome = tools.refuse(self, name, given) or self._before(name, given, tool_use_id)
        if outcome is None:
            outcome = tools.carry_out(self, name, given, tool_use_id, call.turns)
            self.lines.cwd = self.shell.cwd
            if not outcome.denial:
                event, after = self._after(name, given, tool_use_id, outcome)
        if outcome.denial:
            self.stage.denials.append({"tool_name": name, "tool_use_id": tool_use_id, "tool_input": given})
        self._result(name, tool_use_id, line, outcome)
        self._tell(call, outcome)
        if after:
            hooks.record(after, self.lines, event, tool_use_id, self._keeper(tool_use_id))
        for note in outcome.notes:
            self._push(note, {"turnCompanion": True, "sourceToolUseID": tool_use_id})

    def _tell(self, call: script.Call, outcome: Outcome) -> None:
        """Tell of a call that came out otherwise than its script says: the agent plays on, as a client would.

        A command that fails is none of them, since programs are not the same everywhere, unless it was to fail.
        """
        if call.fails is outcome.error or (call.tool == "Bash" and outcome.error):
            return
        about = next((str(call.input[key]) for key in script.TOOLS[call.tool][0] if key in call.input), "")
        why = f"failed: {outcome.content}" if outcome.error else "did not fail"
        self.stage.complain(f"{call.tool} '{about}' {why}")

    def _before(self, name: str, given: dict[str, Any], tool_use_id: str) -> Outcome | None:
        """The PreToolUse hooks: the denial, if one of them forbids the call; an `updatedInput` replaces the input."""
        canonical = "Agent" if name in script.SPAWNERS else name
        ran = self._fire("PreToolUse", canonical, tool_name=canonical, tool_input=given, tool_use_id=tool_use_id)
        hooks.record(ran, self.lines, f"PreToolUse:{canonical}", tool_use_id, self._keeper(tool_use_id))
        reasons = [item.blocks for item in ran if item.blocks is not None]
        if reasons:
            why = f"PreToolUse:{canonical} hook error: {reasons[0]}"
            return Outcome.failed(why, denial="permission-rule", source="hook")
        for answer in (item.specific for item in ran):
            if answer.get("permissionDecision") == "ask":  # nobody is there to be asked
                return Outcome.failed(str(answer.get("permissionDecisionReason", "")), denial="user-rejected")
            if isinstance(changed := answer.get("updatedInput"), dict):
                given.clear()
                given.update(changed)
        return None

    def _after(self, name: str, given: Mapping[str, Any], tool_use_id: str, outcome: Outcome) -> tuple[str, list[Ran]]:
        canonical = "Agent" if name in script.SPAWNERS else name
        event = "PostToolUseFailure" if outcome.error else "PostToolUse"
        said = {"error": outcome.content, "is_interrupt": False} if outcome.error else {"tool_response": outcome.result}
        ran = self._fire(event, canonical, tool_name=canonical, tool_input=given, tool_use_id=tool_use_id, **said)
        return f"{event}:{canonical}", ran

    def _result(self, name: str, tool_use_id: str, line: str, outcome: Outcome) -> None:
        """Write a tool result in both formats; its parent is the line of its own call."""
        content = [outcome.block(tool_use_id)]
        body: dict[str, Any] = {"promptId": self.stage.prompt_id}
        if self.agent is None or outcome.error:
            body["toolUseResult"] = outcome.result
        if name == "Bash" and outcome.reached and not outcome.denial:
            body["sandboxed"] = False
        if outcome.denial:
            body["toolDenialKind"] = outcome.denial
        body["sourceToolAssistantUUID"] = line
        decision = {"decision": "reject" if outcome.denial else "accept", "source": outcome.source}
        reason = "hook" if outcome.source == "hook" else _REASONS[outcome.denial]
        if outcome.reached:
            body["permissionDecision"] = {**decision, **({"reasonType": reason} if reason else {})}
        uuid = self.hear(body, content, parent=line)
        if self.agent and self.agent.depth > 1:
            return
        if outcome.denial and outcome.source != "hook":
            said = {"decision_reason_type": reason or "hook", "message": outcome.content}
            self.stage.stream.system("permission_denied", tool_name=name, tool_use_id=tool_use_id, **said)
        more: dict[str, Any] = {"tool_use_result": outcome.result} if self.agent is None or outcome.error else {}
        if outcome.reached:
            meta: dict[str, Any] = {"id": tool_use_id}
            if outcome.denial:
                meta["non_execution_kind"] = outcome.denial
            meta["permission_decision"] = {**decision, **({"reason_type": reason} if reason else {})}
            more["tool_result_meta"] = [meta]
        self._emit("user", uuid, message={"role": "user", "content": content}, **more)

    def _push(self, text: str, body: Mapping[str, Any]) -> None:
        """Text that the client itself puts into the conversation."""
        content = [{"type": "text", "text": text}]
        plain = text if "hookText" in body else content
        uuid = self.hear({"promptId": self.stage.prompt_id, "isMeta": True, **body}, plain)
        if self.agent is None:
            self._emit("user", uuid, message={"role": "user", "content": content}, isSynthetic=True)

    def _emit(self, kind: str, uuid: str, **fields: Any) -> None:
        """An event of the stream; a subagent's says whose it is."""
        if self.agent is None:
            self.heard += kind == "user"
            self.stage.stream.event(kind, uuid, parent_tool_use_id=None, timestamp=now(), **fields)
            return
        whose = {"agent_id": self.agent.id, "subagent_type": self.agent.role.name}
        whose |= {"task_description": self.agent.description, "parent_tool_use_id": self.agent.tool_use_id}
        self.stage.stream.event(kind, uuid, timestamp=now(), **fields, **whose)

    def _fire(self, event: str, subject: str, **payload: Any) -> list[Ran]:
        return self.stage.fire(event, subject, self.shell.cwd, self.agent, **payload)

    def _keeper(self, key: str) -> Keeper:
        return lambda what: self.stage.kept(f"hook-{key}-{what}")

    def _begin(self, *, fresh: bool) -> None:
        """The SubagentStart hooks; a resumed subagent is not given their context again."""
        assert self.agent
        ran = self._fire("SubagentStart", self.agent.role.name)
        uuid = self.stage.ids.uuid()
        hooks.record(ran, self.lines, f"SubagentStart:{self.agent.role.name}", uuid, self._keeper(uuid), contexts=fresh)

    def _goes_on(self, text: str, blocks: int) -> bool:
        """The Stop (SubagentStop) hooks; whether one of them keeps the conversation from ending, and says why."""
        event = "SubagentStop" if self.agent else "Stop"
        payload: dict[str, Any] = {"stop_hook_active": blocks > 0, "last_assistant_message": text}
        payload["background_tasks"] = []
        if self.agent:
            payload["agent_transcript_path"] = str(self.lines.path)
        ran = self._fire(event, self.agent.role.name if self.agent else "", **payload, session_crons=[])
        reasons = [item.blocks for item in ran if item.blocks is not None] if blocks < STOP_BLOCKS else []
        if reasons:
            self._push("Stop hook feedback:\n" + "\n".join(reasons), {"rowSource": "hook", "hookText": True})
        uuid = self.stage.ids.uuid()
        hooks.record(ran, self.lines, event, uuid, self._keeper(uuid))
        if ran and self.agent is None:
            infos = [{"command": item.hook.command, "durationMs": item.milliseconds} for item in ran]
            summary = {"subtype": "stop_hook_summary", "hookCount": len(ran), "hookInfos": infos, "hookErrors": reasons}
            summary |= {"failedHookErrorIndexes": [], "hookAdditionalContext": [], "preventedContinuation": False}
            summary |= {"stopReason": "", "hasOutput": any(item.stdout or item.stderr for item in ran)}
            self.lines.chain("system", {**summary, "level": "suggestion", "toolUseID": uuid})
        return bool(reasons)

    def _settle(self) -> None:
        """After a message of the main loop: deliver the reports that came meanwhile, then play what was launched."""
        while self.stage.notices:
            text = self.stage.notices.popleft()
            attachment = {"type": "queued_command", "prompt": text, "commandMode": "task-notification"}
            self.lines.attach({**attachment, "origin": NOTIFIED}, text)
            gone = {"content": text, "reason": "absorbed_mid_turn"}
            self.lines.note("queue-operation", operation="remove", timestamp=now(), **gone)
        spawn.run_pending(self.stage)

    def wake(self, text: str) -> None:
        """A report that reaches the main loop after it had stopped: a turn of its own."""
        stage = self.stage
        stage.prompt_id = stage.ids.uuid()
        stage.init()
        self.lines.note("queue-operation", operation="dequeue", timestamp=now())
        body = {"promptId": stage.prompt_id, "permissionMode": MODE, "origin": NOTIFIED, "promptSource": "system"}
        self.hear({**body, "turnOrigin": "task_notification"}, text)

    def _note_tool(self, name: str) -> None:
        if self.agent:
            self.agent.used.append(name)
        if name not in self.stage.used:
            self.stage.used.append(name)
            self.stage.main.lines.note("tools-used", tools=list(self.stage.used))
