"""The end of a played session: the `result` events, the last lines of the native transcript, the SessionEnd hooks."""

import time
from contextlib import suppress
from typing import Any

from heldout.agents.acting.ledger import summed
from heldout.agents.acting.stage import NOTIFIED, Ending, Stage
from heldout.agents.acting.writer import NOT_BILLED, now
from heldout.agents.job import How

_EXITS: dict[How, int] = {"max_turns": 1, "budget": 1, "api_error": 1, "killed": 137}
_OVERLOADED = "API Error: 529 Overloaded. The script of the actor asks for it."


def exit_status(how: How) -> int | None:
    """The client's exit status by how a session ended; one that ran out of time has none of its own."""
    return None if how == "timeout" else _EXITS.get(how, 0)


class Closing:
    """Collects the results of a session: the client prints them together when the last turn is over."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._results: list[dict[str, Any]] = []

    def turn(self, text: str) -> None:
        """The main loop has said its last word for now; turns after the first answer a notification."""
        origin = {"origin": NOTIFIED} if self._results else {}
        good = {"subtype": "success", "is_error": False, "api_error_status": None, "result": text}
        self._add(**good, terminal_reason="completed", stop_reason="end_turn", **origin)

    def cut(self, ending: Ending) -> None:
        """The session ended before its time; a killed one leaves no result, nor does one that ran out of time."""
        stage, loop = self._stage, self._stage.main
        if ending.how == "max_turns":
            limit = stage.job.limits.turns or loop.number
            attachment = {"type": "max_turns_reached", "maxTurns": limit, "turnCount": loop.heard + 1}
            loop.lines.attach({**attachment, "exitCommitted": False})
            self._failed("error_max_turns", "max_turns", f"Reached maximum number of turns ({limit})")
        elif ending.how == "budget":
            limit = stage.job.limits.usd or 0
            self._failed("error_max_budget_usd", "budget_exhausted", f"Reached maximum budget (${limit:g})")
        elif ending.how == "api_error":
            self._api_error()
        elif ending.how == "completed":
            good = {"subtype": "success", "is_error": False, "api_error_status": None, "result": ""}
            self._add(**good, terminal_reason="completed", stop_reason=None)

    def finish(self, *, by_itself: bool) -> None:
        """Write what is left to write; `by_itself`: the process was not stopped from outside."""
        stage = self._stage
        lines = stage.main.lines
        lines.note("last-prompt", lastPrompt=stage.job.prompt, leafUuid=lines.tip)
        if not by_itself:
            return
        for index, body in enumerate(self._results):
            shared = {"modelUsage": stage.ledger.model_usage(), "subagent_stats": stage.ledger.subagent_stats()}
            stage.stream.event("result", **body, **shared, result_index=index)
        took = round((time.monotonic() - stage.started) * 1000)
        totals = {"totalCostUSD": 0, "totalAPIDuration": 0, "totalDuration": took}
        lines.note("cost-state", **totals, modelUsage=stage.ledger.cost_usage(), hasUnknownModelCost=False)
        with suppress(Ending):  # out of time after the last result: nothing is lost by it
            stage.fire("SessionEnd", "other", stage.main.shell.cwd, reason="other")

    def _add(self, **body: Any) -> None:
        loop, stage = self._stage.main, self._stage
        usage = {**summed(loop.usages), "output_tokens_details": {"thinking_tokens": 0}, **NOT_BILLED}
        took = round((time.monotonic() - stage.started) * 1000)
        common = {"duration_ms": took, "duration_api_ms": 0, "num_turns": loop.heard + 1, "total_cost_usd": 0}
        common |= {"usage": usage, "permission_denials": list(stage.denials), "queued_turn_count": 0}
        self._results.append({**common, **body})
        loop.usages, loop.heard = [], 0

    def _failed(self, subtype: str, reason: str, message: str) -> None:
        self._add(subtype=subtype, is_error=True, errors=[message], terminal_reason=reason, stop_reason="tool_use")

    def _api_error(self) -> None:
        """The client speaks in the model's place when the API does not answer."""
        stage, loop = self._stage, self._stage.main
        message: dict[str, Any] = {"id": stage.ids.uuid(), "model": "<synthetic>", "role": "assistant"}
        message |= {"type": "message", "stop_reason": "stop_sequence", "stop_sequence": ""}
        message |= {"content": [{"type": "text", "text": _OVERLOADED}], "usage": {**summed([]), **NOT_BILLED}}
        native = {"isApiErrorMessage": True, "apiErrorStatus": 529, "apiErrorType": "overloaded_error"}
        uuid = loop.lines.chain("assistant", {"message": message, "error": "server_error", **native, "madeBy": "model"})
        event = {"error": "server_error", "is_api_error_message": True, "api_error_status": 529, "timestamp": now()}
        stage.stream.event("assistant", uuid, message=message, parent_tool_use_id=None, **event)
        failed = {"subtype": "success", "is_error": True, "api_error_status": 529, "result": _OVERLOADED}
        self._add(**failed, terminal_reason="api_error", stop_reason="stop_sequence")
