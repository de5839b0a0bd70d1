"""Geometry of the page's charts: ladder curves and token economics, as coordinates that the template draws."""

from collections.abc import Mapping, Sequence
from typing import Any

from heldout.files import natural
from heldout.reporting.printed import percent, rate, short

Report = Mapping[str, Any]

WIDTH, HEIGHT = 300, 190  # of a ladder, in the units of its viewBox
_LEFT, _RIGHT, _TOP, _BOTTOM = 40, 18, 14, 34
LINE = 34  # height of a model's line in a chart of economics
_EDGE = 6
_LABEL = 40  # characters of a label in a chart

NAMES = {
    "turns": ("Turns", ""),
    "tools": ("Tool calls", ""),
    "ms": ("Time", "s"),
    "usd": ("Cost", "US$"),
    "mltok": ("Main loop output", "tokens"),
    "sctok": ("Subagent output", "tokens"),
    "mlshare": ("Main loop share of output", ""),
    "prebytes": ("Read before the first spawn", "bytes"),
}


def ladders(report: Report) -> list[dict[str, Any]]:
    """A chart a suite × model: the pass rate by level, a line a polarity."""
    found: dict[tuple[str, str], list[Report]] = {}
    for item in report.get("ladders", ()):
        found.setdefault((item["suite"], item["model"]), []).append(item)
    return [_ladder(suite, model, items) for (suite, model), items in found.items()]


def _ladder(suite: str, model: str, items: Sequence[Report]) -> dict[str, Any]:
    levels = sorted({str(point["level"]) for item in items for point in item["levels"]}, key=natural)
    wide = WIDTH - _LEFT - _RIGHT
    # Both lines have a place of their own at each level, so that equal rates do not hide each other.
    across = {name: _LEFT + wide * (place + 0.5) / len(levels) for place, name in enumerate(levels)}
    lines: list[dict[str, Any]] = []
    for item in items:
        aside = 5 if item["polarity"] == "negative" else -5 if len(items) > 1 else 0
        points = [
            {
                **point,
                "x": round(across[str(point["level"])] + aside, 1),
                "y": height(point["rate"]),
                "ends": [height(end) for end in point["interval"]] if point["interval"] else None,
            }
            for point in item["levels"]
            if point["rate"] is not None
        ]
        lines.append({**item, "points": points, "path": " ".join(f"{point['x']},{point['y']}" for point in points)})
    return {
        "suite": suite,
        "model": model,
        "lines": lines,
        "ticks": [(rate, height(rate)) for rate in (0, 0.5, 1)],
        "levels": [(name, round(x, 1)) for name, x in across.items()],
        "left": _LEFT,
        "right": WIDTH - _RIGHT,
        "bottom": HEIGHT - _BOTTOM,
    }


def height(rate: float) -> float:
    """The y of a rate: 1 is at the top."""
    return round(_TOP + (HEIGHT - _TOP - _BOTTOM) * (1 - rate), 1)


def economics(report: Report) -> list[dict[str, Any]]:
    """By suite, a chart a figure: median and range of each model on one scale from 0."""
    suites: dict[str, list[Report]] = {}
    for item in report.get("economics", ()):
        suites.setdefault(item["suite"], []).append(item)
    found: list[dict[str, Any]] = []
    for suite, items in suites.items():
        told = [key for key in NAMES if any(item["figures"].get(key, {}).get("high") for item in items)]
        if told:
            found.append({"suite": suite, "charts": [_chart(key, items) for key in told]})
    return found


def _chart(key: str, items: Sequence[Report]) -> dict[str, Any]:
    title, unit = NAMES[key]
    having = [(item["model"], item["figures"][key]) for item in items if key in item["figures"]]
    most = max(1e-9, *(figure["high"] for _, figure in having))
    by = 1000 if key == "ms" else 1

    def across(value: float) -> float:
        return round(_EDGE + (WIDTH - 2 * _EDGE) * max(0.0, value) / most, 1)

    lines = [
        {
            "model": model if len(model) <= _LABEL else f"{model[: _LABEL - 1]}…",
            "x": [across(figure[end]) for end in ("low", "median", "high")],
            "y": LINE * (place + 1) - 9,
            **{end: number(figure[end] / by) for end in ("low", "median", "high")},
            "of": figure["of"],
        }
        for place, (model, figure) in enumerate(having)
    ]
    return {"key": key, "title": title, "unit": unit, "lines": lines, "height": LINE * len(lines) + 4}


def number(value: float) -> str:
    """A figure as people read it: thousands parted, three digits where it is small."""
    if value == int(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return short(value, 3) if abs(value) < 1 else f"{value:.3g}"


def share(of: float | None) -> str:
    """A rate in percent."""
    return "–" if of is None else f"{percent(of)}\u00a0%"


def span(interval: Sequence[float] | None) -> str:
    """An interval in percent."""
    return "" if interval is None else f"{percent(interval[0])}–{percent(interval[1])}\u00a0%"


def signed(value: float) -> str:
    """A figure between -1 and 1, with a minus sign as wide as its digits."""
    return rate(value).replace("-", "−")
