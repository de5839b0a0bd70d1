"""What a session used: tokens by model, spawns, lines; in the shapes of the client's `result` event and `cost-state`.

No model is asked and nothing is paid, so every amount of money is 0.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_COUNTS = {
    "input_tokens": "inputTokens",
    "output_tokens": "outputTokens",
    "cache_read_input_tokens": "cacheReadInputTokens",
    "cache_creation_input_tokens": "cacheCreationInputTokens",
}


@dataclass
class Ledger:
    """Sums over the main loop and all subagents, by the id of the model that played the message."""

    models: dict[str, dict[str, Any]] = field(default_factory=dict)
    spawned: list[tuple[str, str, int]] = field(default_factory=list)  # type, as requested, depth
    in_background: int = 0
    completed: int = 0

    def add(self, model: str, usage: Mapping[str, int]) -> None:
        nothing = {**dict.fromkeys(_COUNTS.values(), 0), "webSearchRequests": 0, "costUSD": 0}
        entry = self.models.setdefault(model, nothing)
        for theirs, ours in _COUNTS.items():
            entry[ours] += usage.get(theirs, 0)

    def model_usage(self) -> dict[str, dict[str, Any]]:
        """`result.modelUsage`: cumulative for the session, subagents included."""
        return {model: {**entry, "canonicalModel": model} for model, entry in self.models.items()}

    def cost_usage(self) -> dict[str, dict[str, Any]]:
        """`cost-state.modelUsage`."""
        return {model: {**entry, "thinkingTokens": 0} for model, entry in self.models.items()}

    def subagent_stats(self) -> dict[str, Any]:
        """`result.subagent_stats`."""
        types = [kind for kind, _, _ in self.spawned]
        asked = [request for _, request, _ in self.spawned]
        depths = [depth for _, _, depth in self.spawned]
        return {
            "spawned": len(types),
            "requested": {key: asked.count(key) for key in ("background", "foreground", "unset")},
            "started_in_background": self.in_background,
            "max_depth": max(depths, default=0),
            "spawned_by_subagents": sum(depth > 1 for depth in depths),
            "completed": self.completed,
            "failed": 0,
            "by_type": {kind: types.count(kind) for kind in dict.fromkeys(types)},
        }


def summed(usages: list[Mapping[str, int]]) -> dict[str, int]:
    """The token counts of several messages added up."""
    return {key: sum(usage.get(key, 0) for usage in usages) for key in _COUNTS}
