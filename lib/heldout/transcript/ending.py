"""How a session ended, by its structured events alone: result events, stop reasons, the client's own marks."""

from typing import Any

from heldout.transcript.mend import Record
from heldout.transcript.tokens import FIELDS, cli_total, whole

# Stop reasons after which a loop asks for nothing more. `tool_use` and `pause_turn` are not among them.
_TERMINAL = {"end_turn", "stop_sequence", "max_tokens", "refusal", "model_context_window_exceeded"}
_SUBTYPES = {"error_max_turns": "max_turns", "error_max_budget_usd": "budget"}
_REASONS = {"max_turns": "max_turns", "budget_exhausted": "budget", "api_error": "api_error", "completed": "completed"}


class Ending:
    """Marks collected while reading. The last result event speaks for the session: read to the end of file."""

    def __init__(self) -> None:
        self.result: Record | None = None
        self.results = 0
        self.turns: int | None = None
        self.duration_ms: int | None = None
        self.cost: float | None = None
        self.main_usage: dict[str, int] | None = None
        self.open_after_result = False
        self.cost_state: Record | None = None
        self.answered = False
        self.stop_reason: Any = None  # of the main loop's last line
        self.marked = False
        self.api_error: str | None = None
        self.interrupted = self.max_turns = False
        self.budget: float | None = None
        self.headless = False

    def go_on(self) -> None:
        """The main loop spoke again: what had been marked before was not the end."""
        self.marked = self.interrupted = self.max_turns = False
        self.api_error = None

    def synthetic(self, record: Record) -> None:
        """A line that the client wrote in the model's name (trap 14); only API errors end a session."""
        if record.get("isApiErrorMessage") is True or record.get("is_api_error_message") is True:
            status = record.get("apiErrorStatus", record.get("api_error_status"))
            self.marked = True
            self.api_error = " ".join(str(x) for x in (status, record.get("error")) if x is not None)[:200]

    def interrupt(self) -> None:
        self.marked = self.interrupted = True

    def reach_max_turns(self) -> None:
        self.marked = self.max_turns = True

    def see_result(self, record: Record) -> None:
        self.result = record
        self.results += 1
        self.open_after_result = False
        self.turns = _plus(self.turns, record.get("num_turns"))
        self.duration_ms = _plus(self.duration_ms, record.get("duration_ms"))
        cost = record.get("total_cost_usd")
        self.cost = cost if type(cost) in (int, float) else self.cost
        usage = record.get("usage")
        if type(usage) is dict:
            keys = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
            before = self.main_usage or dict.fromkeys(FIELDS, 0)
            self.main_usage = {f: before[f] + whole(usage.get(k)) for f, k in zip(FIELDS, keys, strict=True)}

    def cli(self) -> dict[str, Any] | None:
        """The client's own totals: of the last result event, else of the last cost-state line."""
        source, usage = "result.modelUsage", self.result.get("modelUsage") if self.result else None
        if self.result and type(usage) is not dict and self.main_usage:
            return {**self.main_usage, "source": "result.usage", "by_model": None}
        if self.result is None:
            source, usage = "cost-state", self.cost_state.get("modelUsage") if self.cost_state else None
        total = cli_total(usage)
        if total is None or type(usage) is not dict:
            return None
        models = {m: cli_total({m: u}) for m, u in list(usage.items())[:100] if type(u) is dict}
        return {**total, "source": source, "by_model": models}

    def finished(self) -> bool:
        """Whether the main loop's last line has a terminal stop reason or is the client's API error."""
        return self._terminal() or self.api_error is not None

    def _terminal(self) -> bool:
        return type(self.stop_reason) is str and self.stop_reason in _TERMINAL

    def of_stream(self) -> tuple[str, str]:
        """(ended, detail) of a stream-json output. `success` is also said of failures: is_error decides (report 33)."""
        if self.result is None:
            return "killed", "no result event"
        if self.open_after_result:
            return "killed", "no result event after the last turn"
        subtype, reason = self.result.get("subtype"), self.result.get("terminal_reason")
        status = self.result.get("api_error_status")
        detail = " ".join(str(x) for x in (subtype, reason, status) if x is not None)[:200]
        if type(subtype) is str and subtype in _SUBTYPES:
            return _SUBTYPES[subtype], detail
        if type(reason) is str and reason.startswith("aborted"):
            return "aborted", detail
        if type(reason) is str and reason in ("max_turns", "budget_exhausted"):
            return _REASONS[reason], detail
        if subtype == "success":
            return ("api_error" if self.result.get("is_error") is True else "completed"), detail
        if subtype == "error_during_execution" and self.interrupted:
            return "aborted", detail
        return "unknown", detail

    def of_native(self, pending: bool) -> tuple[str, str]:
        """(ended, detail) of a native transcript, which has no result event."""
        if self.interrupted:
            return "aborted", "interrupted by the user"
        if self.max_turns:
            return "max_turns", "max_turns_reached"
        if self.api_error is not None:
            return "api_error", self.api_error
        if self._terminal() and not pending:
            return "completed", self.stop_reason
        spent = self.cost_state.get("totalCostUSD") if self.cost_state else None
        if self.budget is not None and isinstance(spent, (int, float)) and spent >= self.budget:
            return "budget", f"{spent} of {self.budget} USD"
        if not self.answered and self.cost_state is not None:
            return "unknown", "no answer"  # the client closed its books: an empty answer leaves no line
        what = "a call without an answer" if pending else f"stop reason {str(self.stop_reason)[:100]}"
        # A headless client always finishes its last message; an interactive file may simply stop, or be a slice.
        return ("killed" if self.headless else "unknown"), what


def _plus(before: int | None, value: Any) -> int | None:
    return before if type(value) is not int or value != whole(value) else value + (before or 0)
