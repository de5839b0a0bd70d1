"""From a cell's files to its row: faults first, then the axes, then the verdict.

Verdict by this order: a harness fault → ERROR; an axis that fails → FAIL; an undecided axis → ERROR; else PASS.
A session stopped by a limit is no fault: what it did or left undone counts, but a negative that was merely not
violated *yet* is ERROR `limit`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from heldout.cell import Record
from heldout.checks.expression import evaluate, words_of
from heldout.checks.words import FAIL, PASS, UNDECIDED, Context, Finding
from heldout.digests import case, combined, score_parts, short
from heldout.errors import Fault
from heldout.hiding import of_task
from heldout.rows import Row
from heldout.scenario import Scenario, session_start

AS_ASKED = "as-asked"
HOOK_COMMAND = 300  # characters of a hook's command that facts keep
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
    # Nobody was given the question of a saved trace.
    task = "" if context.scenario.posture == "trace" else context.scenario.sections.get("Task", "")
    hide = of_task(task)
    for letter, expression in sorted(context.scenario.axes.items()):
        found = evaluate(expression, context)
        # What an agent wrote and a judge quoted may be the Task's words, which stand in no table and no report.
        info = {key: hide(value) for key, value in found.info.items()}
        context.earlier[letter] = replace(found, evidence=tuple(map(hide, found.evidence)), info=info)
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
    return void(context.scenario, facts, record) if facts is not None else None


def void(scenario: Scenario, facts: Mapping[str, Any], record: Record | None) -> Fault | None:
    """Why a session measures nothing, from structured events alone, or None.

    Without a record it is not known what the run was given, and so not asserted.
    """
    how, detail = facts["ended"], facts.get("detail") or ""
    stopped = record is not None and record.ended in LIMITS
    if how == "api_error":
        return Fault("api-error", detail)
    if how in ("killed", "aborted") and not stopped:
        return Fault("killed", detail or "the session was cut off")
    if how == "unknown" and not facts["source"]["complete"] and not stopped:
        return Fault("no-result", detail or "the transcript has no end")
    if record is not None and (fault := _not_as_asked(facts, record) or _other_environment(scenario, record)):
        return fault
    hooks = record.hooks if record else {root.name: session_start(root) for root in scenario.plugin_roots()}
    for item in scenario.require:
        subject, _, name = item.partition(":")
        if subject == "hook" and (missing := _undelivered(facts["hooks"], name, hooks)):
            return Fault("hook-not-delivered", missing)
        if subject == "subagents" and (stray := _other_model(facts["spawns"], name)):
            return Fault("env-leak" if name == AS_ASKED else "stub-not-applied", stray)
    for spawn in facts["spawns"]:
        if spawn["status"] == "abandoned" and not stopped:
            return Fault("abandoned-subagent", f"'{spawn.get('description') or spawn.get('id')}' never reported")
    return None


def _not_as_asked(facts: Mapping[str, Any], record: Record) -> Fault | None:
    """Another model or other plugins than the run was given."""
    session = facts["session"]
    if session["id"] != record.session_id:
        return Fault(
            "no-transcript", f"the transcript is of session '{session['id']}', the cell's is '{record.session_id}'"
        )
    if record.agent != "actor" and (
        told := _mismatch(record.asked, session["model_requested"], session["models_served"])
    ):
        return Fault("model-mismatch", told)
    loaded = {item.get("name") for item in session["plugins"] or ()}
    for name in record.plugins:
        if name not in loaded:
            return Fault("plugin-not-loaded", f"'{name}' is not among the session's plugins")
    return None


def _other_environment(scenario: Scenario, record: Record) -> Fault | None:
    """A variable that the scenario sets and the session lacked, or unsets and the session had."""
    for name in scenario.env:
        if name not in record.environment:
            return Fault("stub-not-applied", f"'{name}' was not in the session's environment")
    for name in scenario.unset:
        if name in record.environment and name not in scenario.env:
            return Fault("env-leak", f"'{name}' was in the session's environment")
    return None


def _other_model(spawns: Sequence[Mapping[str, Any]], wanted: str) -> str:
    """The first subagent that ran on another model than `wanted`, a family or as-asked; '' when there is none."""
    for spawn in spawns:
        ran = spawn["resolved_model"]
        model = spawn["requested_model"] if wanted == AS_ASKED else wanted
        if ran and model and model.lower() not in ran.lower():
            return f"subagent '{spawn['description'] or spawn['id']}' ran on '{ran}', expected '{model}'"
    return ""


def _mismatch(asked: str, started: str | None, served: Sequence[str]) -> str:
    """Why the main loop's models are not the one asked for, or ''.

    A full id must be the session's model and every message's, a date suffix and `[1m]` aside; of an alias the family
    must match, and every message must agree with the session's model.
    """
    if started is None:
        return f"the session does not say its model, '{asked}' was asked for"
    full = asked.startswith("claude-")
    if (full and _bare(started) != _bare(asked)) or (not full and asked.lower() not in started.lower()):
        return f"the session ran '{started}', '{asked}' was asked for"
    strangers = [model for model in served if _bare(model) != _bare(started)]
    return f"'{strangers[0]}' answered in a session of '{started}'" if strangers else ""


def _bare(model: str) -> str:
    return re.sub(r"(-[0-9]{8})?(\[1m\])?$", "", model)


def _undelivered(hooks: Sequence[Mapping[str, Any]], plugin: str, commands: Mapping[str, Sequence[str]]) -> str:
    """Why the SessionStart context of a plugin is not proven to have reached the model before it acted, or ''.

    A hook is known by its command. Where several plugins have the same one, all of them must have delivered.
    """
    own = [command[:HOOK_COMMAND] for command in commands.get(plugin, ())]
    if not own:
        return f"'{plugin}' has no SessionStart hook, or was not given to the run"
    same = [command for given in commands.values() for command in given if command[:HOOK_COMMAND] in own]
    started = [hook for hook in hooks if hook["event"] == "SessionStart"]
    mine = [hook for hook in started if hook["command"] in own]
    # None: there was no action that it could have come after.
    arrived = [hook for hook in mine if hook["delivered"] == "full" and hook["before_first_action"] is not False]
    if len(arrived) >= len(same):
        return ""
    if any(hook["delivered"] is None for hook in started):
        return f"the stream alone does not show whether the context of '{plugin}' arrived; a native transcript does"
    if any(hook["delivered"] == "preview" for hook in mine):
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
    info["failed"] = ",".join(f"{letter}:{name}" for letter, finding in findings.items() for name in finding.failed)
    for finding in findings.values():
        info.update(finding.info)
    if isinstance(facts, Mapping):
        info.update(
            {key: str(facts["economics"][key]) for key in _ECONOMICS if facts["economics"].get(key) is not None}
        )
        info["tools"] = str(facts["counts"]["actions"])
        for key, name in (("num_turns", "turns"), ("duration_ms", "ms"), ("cost_usd", "usd")):
            if facts.get(key) is not None:
                info[name] = str(facts[key])
    if how := _ended(context):
        info["ended"] = how
    if scenario.posture == "trace":
        info["agent"] = "trace"
    elif record:
        info["agent"] = record.agent
        if record.plays:
            info["plays"] = record.plays
        if record.answered_by:
            info["answered-by"] = record.answered_by
        info["served"], info["cli"] = ",".join(record.served) or "unknown", record.client or "unknown"
    parts = instrument(scenario)
    if record:
        info["instrument"] = f"{short(combined(record.run_parts))}.{short(combined(parts))}"
        info["plugins"] = ",".join(
            f"{key[7:]}@{value[:8]}" for key, value in sorted(record.subjects.items()) if key.startswith("plugin:")
        )
    info["case"] = short(case(scenario, parts))
    for key in ("polarity", "level", "suite"):
        if (value := getattr(scenario, key)) is not None:
            info[key] = str(value)
    return {key: value for key, value in info.items() if value}
