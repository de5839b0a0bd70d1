"""The report for people, as aligned text or as Markdown: tables of counts with their intervals, and the reasons."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from heldout.files import natural
from heldout.reporting import build, figures, inference, mixture, summary
from heldout.reporting.printed import percent, rate, short
from heldout.reporting.tables import Grid, escaped, heading, table
from heldout.reporting.unmeasured import Unmeasured, sentence
from heldout.rows import Row

REASONS = 3  # shown a scenario × model
CENSORED = ("killed", "limit", "abandoned-subagent")  # what stopped a session before it showed what it does
CELLS = ("scenario", "model", "rep", "verdict", "failed", "via", "agent verdict", "evidence", "tool calls", "seconds")
NAMES = {"ms": "seconds", "tools": "tool calls"}

Rows = Sequence[Row]


def shown(name: str, rows: Rows, form: str, warnings: Iterable[str] = (), unmeasured: Sequence[Unmeasured] = ()) -> str:
    """The whole report. `form` is text or md."""
    found = summary.groups(rows, unmeasured)
    traces = {group.scenario for group in found if group.trace}
    left = [f"{sentence(unmeasured)}; the same 'make grid' goes on"] if unmeasured else []
    lines = [*_head(name, rows, form), *_paragraphs([*left, *warnings], form), *([] if form == "md" else [""])]
    for suite in dict.fromkeys(group.suite for group in found if group.scenario not in traces):
        lines += [*table(_matrix([group for group in found if group.suite == suite]), form), ""]
    lines += table(_sums(build.by_suite(rows, unmeasured), found), form)
    lines += [*_legend(found, form), *_curves(found, form), *_economics(rows, form)]
    if reasons := list(_reasons(found, form)):
        lines += [*heading("reasons", form), *reasons]
    if listed := [row for row in rows if form == "md" or row.scenario in traces]:
        lines += [*heading("cells" if form == "md" else "saved traces", form), *table(_cells(listed), form)]
    if differing := mixture.within(rows):
        lines += ["", f"mixed: {mixture.told(differing)}"]
    return "\n".join(lines) + "\n"


def between(interval: Sequence[float] | None) -> str:
    """`0.21–0.94`; '' where there is no interval."""
    return f"{rate(interval[0])}–{rate(interval[1])}" if interval else ""


def _paragraphs(texts: Iterable[str], form: str) -> list[str]:
    return [line for text in texts for line in ([text, ""] if form == "md" else [text])]


def _head(name: str, rows: Rows, form: str) -> list[str]:
    sums = figures.aggregate(rows)
    told = ", ".join(f"{number} {verdict}" for verdict, number in sums["verdicts"].items())
    lines = [f"{'# ' if form == 'md' else ''}{name}: {len(rows)} cells, {told}"]
    if sums["errors"]:
        cut = sum(number for code, number in sums["errors"].items() if code in CENSORED)
        codes = ", ".join(f"{number} {code}" for code, number in sums["errors"].items())
        lines.append(f"no trials: {codes}" + (f"; {cut} of them stopped before the end" if cut else ""))
    kinds = {"trace" if row.info.get("agent") == "trace" else _played(row) for row in rows}
    if kinds == {"trace"}:
        lines.append("saved traces: no agent was run")
    elif "model" not in kinds:
        lines.append(f"embedded actors{' and saved traces' * ('trace' in kinds)}: no model was measured")
    return _paragraphs(lines, form)


def _played(row: Row) -> str:
    return "actor" if row.info.get("agent") == "actor" or "plays" in row.info else "model"


def _matrix(found: list[summary.Group]) -> Grid:
    scenarios, models, by = summary.matrix(found)

    def cell(group: summary.Group | None) -> str:
        if not group:
            return "-"
        return f"{group.shown()} {between(inference.of_group(group)['interval'])}".rstrip()

    return [["scenario", *models], *([name, *(cell(by.get((name, model))) for model in models)] for name in scenarios)]


def _sums(by: Mapping[tuple[str, str], Rows], found: list[summary.Group]) -> Grid:
    """A line a suite × model; columns that are empty in all of them are left out."""
    lines = [["suite", "model", "passed", "mean", "95 %", "pass^k", "bar", "tool calls", "seconds", "agent verdicts"]]
    for (suite, model), same in by.items():
        sums = figures.aggregate(same)
        groups = [group for group in found if (group.suite, group.model) == (suite, model)]
        line, told = [suite, model, f"{sums['passed']}/{sums['trials']}"], inference.of_suite(groups)
        line += ["-" if told["mean_rate"] is None else rate(told["mean_rate"]), between(told["interval"])]
        power = told["pass_hat_k"] if told["interval"] else None
        line += ["" if power is None else f"{rate(power)} at {told['k']}"]
        open_ones = told["bars"]["undecided"]
        more = f" +{open_ones} undecided" if open_ones else ""
        line += [f"{told['bars']['met']} of {len(groups)}{more}" if told["interval"] else ""]
        line += [_mean(sums, "tool_calls", 1), _mean(sums, "duration_ms", 1000)]
        lines.append([*line, ", ".join(f"{count} {verdict}" for verdict, count in sums["agent_verdicts"].items())])
    used = [place for place in range(len(lines[0])) if any(line[place] for line in lines[1:])]
    return [[line[place] for place in used] for line in lines]


def _mean(sums: dict[str, Any], key: str, unit: int) -> str:
    """`4.2`, with ` (8 of 10)` where not all trials have the figure, `-` where none has it."""
    mean, of = sums[key]["mean"], sums[key]["of"]
    return (
        "-" if mean is None else f"{mean / unit:.1f}" + (f" ({of} of {sums['trials']})" if of < sums["trials"] else "")
    )


def _legend(found: list[summary.Group], form: str) -> list[str]:
    """What the intervals are of, and what the bar lets through at the reps of this run."""
    asked = sorted({group.asked for group in found if not group.trace})
    if not asked:
        return []
    reps = f"{asked[0]} rep" + "s" * (asked[0] != 1) + (" (the fewest here)" if len(asked) > 1 else "")
    passing = ", ".join(f"{percent(share)}% at {p:g}" for p, share in inference.curve(asked[0]).items())
    lines = [
        "intervals: 95 %, of a scenario Wilson's, of a mean for scenarios like these; reps of ERROR are no trials",
        f"bar: 2/3 of the reps asked pass, a screen and no proof; at {reps} it is met, by true rate: {passing}",
    ]
    sessions = [group for group in found if not group.trace and group.trials]
    if unsettled := sum(not inference.of_group(group)["settled"] for group in sessions):
        enough = inference.reps_to_settle()
        lines.append(
            f"not enough reps to say on which side of 2/3: {unsettled} of {len(sessions)} scenario × model; "
            f"one that always passes takes {enough} reps"
        )
    return ["", *_paragraphs(lines, form)][: -1 if form == "md" else None]


def _curves(found: list[summary.Group], form: str) -> list[str]:
    """The ladder by level, and positives against negatives."""
    lines: list[str] = []
    if ladders := list(inference.ladders(found)):
        levels = sorted({level["level"] for ladder in ladders for level in ladder["levels"]}, key=natural)
        grid = [["suite", "model", "scenarios", *(f"level {level}" for level in levels), "note"]]
        for ladder in ladders:
            by = {level["level"]: level for level in ladder["levels"]}
            cells = [f"{rate(by[at]['rate'])} {between(by[at]['interval'])}" if at in by else "-" for at in levels]
            grid.append([ladder["suite"], ladder["model"], ladder["polarity"] or "-", *cells, _rises(ladder)])
        lines += [*heading("by level, 1 being the most explicit", form), *table(grid, form)]
    if told := list(inference.discriminations(found)):
        grid = [["suite", "model", "positives", "false alarms", "difference", "95 %", "pattern"]]
        for item in told:
            rates = [rate(item["tpr"]), rate(item["fpr"]), rate(item["j"], sign="+"), between(item["interval"])]
            grid.append([item["suite"], item["model"], *rates, item["pattern"]])
        lines += [*heading("positives against negatives (Youden's J)", form), *table(grid, form)]
    return lines


def _rises(ladder: dict[str, Any]) -> str:
    if not ladder["violations"]:
        return "falls or stays"
    return f"rises {ladder['violations']} ×, by at most {rate(ladder['largest'])}"


def _economics(rows: Rows, form: str) -> list[str]:
    """Medians with ranges, for sessions alone."""
    sessions = [row for row in rows if row.info.get("agent") != "trace"]
    told = {place: figures.economics(same) for place, same in build.by_suite(sessions).items()}
    keys = [key for key in figures.ECONOMICS if any(found.get(key, {}).get("high") for found in told.values())]
    if not keys:
        return []
    by = {place: figures.tiers(same) for place, same in build.by_suite(sessions).items()}
    grid = [["suite", "model", *(NAMES.get(key, key) for key in keys), *(["tiers"] if any(by.values()) else [])]]
    for (suite, model), found in told.items():
        line = [suite, model, *(_spread(found.get(key), 1000 if key == "ms" else 1) for key in keys)]
        tally = ", ".join(f"{count} {name}" for name, count in by[suite, model].items())
        grid.append([*line, tally or "-"] if any(by.values()) else line)
    return [*heading("what it took: median (lowest–highest), never part of a verdict", form), *table(grid, form)]


def _spread(figure: dict[str, Any] | None, unit: int) -> str:
    if not figure:
        return "-"
    middle, low, high = (short(figure[key] / unit) for key in ("median", "low", "high"))
    return middle if low == high else f"{middle} ({low}–{high})"


def _cells(rows: Rows) -> Grid:
    """A line a cell; columns that are empty in all of them are left out."""
    lines: list[list[str]] = []
    for row in rows:
        gathered, calls, ms = figures.evidence(row), figures.tool_calls(row), figures.duration_ms(row)
        line = [row.scenario, row.model, str(row.rep), row.verdict, ", ".join(figures.failed_checks(row)) or row.code]
        line += [" ".join(f"{axis}:{via}" for axis, via in figures.vias(row).items()), figures.agent_verdict(row) or ""]
        line += [f"{len(gathered['covered'])}/{len(gathered['covered'] + gathered['uncovered'])}" if gathered else ""]
        lines.append([*line, "" if calls is None else f"{calls}", "" if ms is None else f"{ms / 1000:.1f}"])
    used = [place for place in range(len(CELLS)) if any(line[place] for line in lines)]
    return [[line[place] or "-" for place in used] for line in (list(CELLS), *lines)]


def _reasons(found: list[summary.Group], form: str) -> Iterable[str]:
    bullet = "- " if form == "md" else ""
    for group in found:
        for reason, count in group.reasons.most_common(REASONS):
            yield bullet + escaped(f"{group.scenario} {group.model}: {count} × {reason}", form)
        if len(group.reasons) > REASONS:
            yield f"{bullet}{group.scenario} {group.model}: and {len(group.reasons) - REASONS} other reasons"
