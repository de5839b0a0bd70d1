"""From a cell's files to its row: faults first, then the axes, then the verdict.

Verdict by this order: a harness fault → ERROR; an axis that fails → FAIL; an undecided axis → ERROR; else PASS.
A session stopped by a limit is no fault: what it did or left undone counts, but a negative that was merely not
violated *yet* is ERROR `limit`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from heldout.checks.expression import evaluate, words_of
from heldout.checks.words import FAIL, PASS, UNDECIDED, Context, Finding
from heldout.digests import combined, score_parts, short
from heldout.errors import Fault
from heldout.rows import Row
from heldout.scenario import Scenario

LIMITS = ("max_turns", "budget", "timeout")
_ECONOMICS = ("mltok", "sctok", "mlshare", "prebytes", "spawns", "maxrounds")


def rubrics_of(scenario: Scenario) -> dict[str, Any]:
    """The rubric files that the scenario's axes name."""
    names = {
        value
        for expression in scenario.axes.values()
        for word, given in words_of(expression)
        for key, value in given.items()
        if word.arguments[key].kind == "rubric"
    }
    return {name: scenario.rubric(name) for name in sorted(names)}


def instrument(scenario: Scenario) -> dict[str, str]:
    """The score digest's parts of a scenario."""
    return score_parts(scenario, rubrics_of(scenario))


def assess(context: Context) -> dict[str, Finding]:
    """The findings of all axes, in order of their letters; `context.pending` has the questions left for a judge."""
    for letter, expression in sorted(context.scenario.axes.items()):
        context.earlier[letter] = evaluate(expression, context)
    return context.earlier


def fault_of(context: Context) -> Fault | None:
    """The fault that makes the cell ERROR, whatever its axes say: the attempt's, then what the transcript shows."""
    record, facts = context.record, context.facts_or_fault
    if record and record.fault:
        return Fault(record.fault[0], record.fault[1])
    if isinstance(context.tree_or_fault, Fault):
        return context.tree_or_fault
    if isinstance(context.trace_or_fault, Fault):
        return context.trace_or_fault
    if isinstance(facts, Fault):
        return facts
    return void(context.scenario, facts, record.plugins if record else None) if facts is not None else None


def void(scenario: Scenario, facts: Mapping[str, Any], plugins: list[str] | None) -> Fault | None:
    """Why a session measures nothing, from structured events alone, or None.

    `plugins` are the names that were given to the run (None: not known, so not asserted).
    """
    how, detail = facts["ended"], facts.get("detail") or ""
    if how == "api_error":
        return Fault("api-error", detail)
    if how in ("killed", "aborted"):
        return Fault("killed", detail or "the session was cut off")
    if how == "unknown" and not facts["source"]["complete"]:
        return Fault("no-result", detail or "the transcript has no end")
    loaded = {item.get("name") for item in facts["session"].get("plugins") or ()}
    for name in plugins or ():
        if name not in loaded:
            return Fault("plugin-not-loaded", f"'{name}' is not among the session's plugins")
    for item in scenario.require:
        subject, _, name = item.partition(":")
        if subject == "hook" and (missing := _undelivered(facts["hooks"], name)):
            return Fault("hook-not-delivered", missing)
    for spawn in facts["spawns"]:
        if spawn["status"] == "abandoned":
            return Fault("abandoned-subagent", f"'{spawn.get('description') or spawn.get('id')}' never reported")
    return None


def _undelivered(hooks: Sequence[Mapping[str, Any]], plugin: str) -> str:
    """Why the SessionStart context of a plugin is not proven to have reached the model before it acted, or ''."""
    started = [hook for hook in hooks if hook["event"] == "SessionStart"]
    if any(hook["delivered"] == "full" and hook["before_first_action"] is True for hook in started):
        return ""
    if any(hook["delivered"] is None for hook in started):
        return f"the stream alone does not show whether the context of '{plugin}' arrived; a native transcript does"
    if any(hook["delivered"] == "preview" for hook in started):
        return f"the context of '{plugin}' was too long: the model got a preview"
    return f"no SessionStart context of '{plugin}' reached the model before its first action"


def score(context: Context, model: str, rep: int) -> Row:
    """The row of a cell."""
    scenario = context.scenario
    fault = fault_of(context)
    findings = assess(context) if not fault else {letter: Finding(UNDECIDED) for letter in sorted(scenario.axes)}
    axes = {letter: finding.outcome for letter, finding in findings.items()}
    verdict, reasons = _verdict(context, findings, fault)
    return Row(scenario.id, model, rep, verdict, axes, reasons, _info(context, findings))


def _verdict(context: Context, findings: Mapping[str, Finding], fault: Fault | None) -> tuple[str, tuple[str, ...]]:
    if fault:
        return "ERROR", (str(fault),)
    failing = [finding for finding in findings.values() if finding.outcome == FAIL]
    if failing:
        return "FAIL", tuple(dict.fromkeys(line for finding in failing for line in finding.evidence))
    open_ones = [finding for finding in findings.values() if finding.outcome == UNDECIDED]
    if open_ones:
        # An axis that waits for another one (no code of its own) says nothing about the fault.
        told = [finding for finding in open_ones if finding.code] or open_ones
        lines = [f"{finding.code or 'check-error'}: {'; '.join(finding.evidence) or 'undecided'}" for finding in told]
        return "ERROR", tuple(dict.fromkeys(lines))
    how = _ended(context)
    if context.scenario.polarity == "negative" and how in LIMITS:
        return "ERROR", (f"limit: the session was stopped ({how}) before it violated anything",)
    return "PASS", ()


def _ended(context: Context) -> str:
    if context.record and context.record.ended in LIMITS:
        return context.record.ended
    facts = context.facts_or_fault
    return facts["ended"] if isinstance(facts, Mapping) else ""


def _info(context: Context, findings: Mapping[str, Finding]) -> dict[str, str]:
    scenario, record, facts = context.scenario, context.record, context.facts_or_fault
    info: dict[str, str] = {}
    for letter, finding in findings.items():
        if finding.via:
            info["via" if letter == "A" else f"{letter}-via"] = finding.via
    decided_by_judge = [
        letter for letter, finding in findings.items() if finding.judged and finding.outcome in (PASS, FAIL)
    ]
    if decided_by_judge:
        info["judge"] = ",".join(decided_by_judge)
    for finding in findings.values():
        info.update(finding.info)
    if isinstance(facts, Mapping):
        info.update(
            {key: str(facts["economics"][key]) for key in _ECONOMICS if facts["economics"].get(key) is not None}
        )
        for key, name in (("num_turns", "turns"), ("duration_ms", "ms"), ("cost_usd", "usd")):
            if facts.get(key) is not None:
                info[name] = str(facts[key])
    if how := _ended(context):
        info["ended"] = how
    if record:
        info["agent"] = record.agent
        info["served"], info["cli"] = ",".join(record.served) or "unknown", record.client or "unknown"
        info["instrument"] = f"{short(combined(record.run_parts))}.{short(combined(instrument(scenario)))}"
        info["plugins"] = ",".join(
            f"{key[7:]}@{value[:8]}" for key, value in sorted(record.subjects.items()) if key.startswith("plugin:")
        )
    for key in ("polarity", "level", "suite"):
        if (value := getattr(scenario, key)) is not None:
            info[key] = str(value)
    return {key: value for key, value in info.items() if value}
