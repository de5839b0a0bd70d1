"""From what was collected to `facts.json`, schema 1 (DESIGN section 6)."""

from collections.abc import Iterable
from typing import Any

from heldout.transcript import reads
from heldout.transcript.agents import MAIN
from heldout.transcript.collect import Collector
from heldout.transcript.tokens import FIELDS, Sum

SCHEMA = 1


def build(
    found: Collector, source: dict[str, Any], metas: dict[str, dict[str, Any]], start: Iterable[str] = ()
) -> dict[str, Any]:
    """The facts of one session. `source`: format, files, notes; `metas`: agent id -> its meta file.

    `start`: the files of its sandbox at the start, where they are known.
    """
    for agent_id, meta in metas.items():
        spawn = found.spawns.of_call(meta.get("toolUseId") if type(meta.get("toolUseId")) is str else None)
        if spawn is not None:
            found.spawns.known(spawn, agent_id)
            if spawn.type is None and type(meta.get("agentType")) is str:
                spawn.type = meta["agentType"]
    found.close()
    names = found.agents.names
    sums = found.ledger.sums()
    actions = found.actions.kept
    for action in actions:
        action["agent"] = names[action["agent"]]
    cwd = found.session.facts(found.agents)["cwd"] or "/"
    charged = reads.charges(actions, cwd, start)
    tokens = _tokens(found, sums, source["format"])
    facts: dict[str, Any] = {
        "schema": SCHEMA,
        "source": _source(found, source),
        "session": found.session.facts(found.agents),
        "hooks": found.hooks.facts(names, set(sums)),
        "actions": actions,
        "slash_commands": found.slash_commands,
        "spawns": found.spawns.facts(sums),
        "agents": _agents(found, sums, metas),
        "counts": _counts(found, sums),
        "bytes_read": {
            "main": found.actions.read_main,
            "before_first_spawn": _before_first_spawn(found),
            "sidechain": found.actions.read_sidechain,
            "by_path": reads.by_path(actions, charged),
        },
        "dual_read": reads.dual_reads(actions, charged, _launched(found)) if _all_seen(found) else None,
        "tokens": tokens,
        "answers": found.answers.facts(),
    }
    for action in actions:
        action.pop("_answered", None)
        action.pop("_lines", None)
        action.pop("_rows", None)
    ended, detail = _ended(found, source)
    last = found.ending
    facts |= {"ended": ended, "detail": detail}
    facts |= {"cost_usd": last.cost, "num_turns": last.turns, "duration_ms": last.duration_ms}
    facts["economics"] = _economics(facts)
    return facts


def _source(found: Collector, source: dict[str, Any]) -> dict[str, Any]:
    tally = found.tally
    result = {
        **source,
        "lines": tally.lines,
        "bytes": tally.bytes,
        "bad_lines": tally.bad_lines,
        "recovered": tally.recovered,
        "oversized": tally.oversized,
        "truncated": tally.truncated,
        "complete": _complete(found, source),
        "bad": tally.bad,
    }
    omitted = found.actions.total - len(found.actions.kept)
    if omitted or found.spawns.omitted:
        result["actions_omitted"], result["spawns_omitted"] = omitted, found.spawns.omitted
    return result


def _complete(found: Collector, source: dict[str, Any]) -> bool:
    """stream-json: a result event ends it. Native: a terminal stop reason and no call of the main loop pending."""
    if source["format"] != "native":
        return found.ending.result is not None and not found.ending.open_after_result
    return found.ending.finished() and not _pending(found)


def _pending(found: Collector) -> bool:
    return any(call.agent == MAIN for call in found.actions.open.values())


def _ended(found: Collector, source: dict[str, Any]) -> tuple[str, str]:
    if source["format"] != "native":
        return found.ending.of_stream()
    found.ending.headless = found.session.entrypoint == "sdk-cli"
    return found.ending.of_native(_pending(found))


def _all_seen(found: Collector) -> bool:
    """Whether a transcript of every subagent that ran was read; without it, what subagents did is unknown."""
    if found.spawns.omitted:
        return False
    for spawn in found.spawns.all:
        number = found.agents.find(spawn.agent_id)
        if number is None:
            number = found.agents.find(spawn.call.id)
        if spawn.ran and (number is None or number not in found.seen):
            return False
    return True


def _tokens(found: Collector, sums: dict[int, Sum], format: str) -> dict[str, Any]:
    main = sums.get(MAIN, Sum())
    side = Sum()
    for number, total in sums.items():
        if number != MAIN:
            side.add(total)
    cli = found.ending.cli()
    # Of a subagent's file alone the main loop is unknown, not idle.
    ours = {"main": main.counts() if MAIN in found.seen else dict.fromkeys(FIELDS), "sidechain": side.counts()}
    source = "messages"
    if format == "stream-json" and cli is not None:
        ours = _of_results(found, main, cli, bool(side.messages or found.spawns.all))
        source = cli["source"]
    complete = _all_seen(found) or source != "messages"
    outputs = ours["main"]["output"], ours["sidechain"]["output"]
    share: float | None = None
    if None not in outputs and complete:
        total = sum(n for n in outputs if n is not None)
        share = 1.0 if not outputs[1] else round((outputs[0] or 0) / total, 3)
    return {
        **ours,
        "main_loop_share": share,
        "output_is_lower_bound": found.session.placeholders or (found.from_stream and source == "messages"),
        "sidechain_complete": complete,
        "source": source,
        "messages": {"main": main.messages, "sidechain": side.messages},
        "unfinished": None if found.from_stream else main.unfinished + side.unfinished,
        "cli": cli,
        "residual": _residual(ours, cli),
    }


def _of_results(found: Collector, main: Sum, cli: dict[str, Any], delegated: bool) -> dict[str, Any]:
    """stream-json lines carry the usage of a message's start: totals are the client's, split by its result events.

    A result's `usage` is that of the main loop alone (trap 23), and may lack the last call of a run cut by its budget;
    `modelUsage` counts subagents too. Without subagents all of it is the main loop's.
    """
    if not delegated:
        return {"main": {f: cli[f] for f in FIELDS}, "sidechain": dict.fromkeys(FIELDS, 0)}
    usage = found.ending.main_usage or {}
    own = {f: min(cli[f], max(usage.get(f, 0), getattr(main, f))) for f in FIELDS}
    return {"main": own, "sidechain": {f: cli[f] - own[f] for f in FIELDS}}


def _residual(ours: dict[str, Any], cli: dict[str, Any] | None) -> dict[str, int | None] | None:
    """The client's totals less ours; not 0 where an answer left no line (an empty one, a message cut off)."""
    if cli is None:
        return None
    rest: dict[str, int | None] = {}
    for name in FIELDS:
        main, side = ours["main"][name], ours["sidechain"][name]
        rest[name] = None if main is None or side is None else cli[name] - main - side
    return rest


def _before_first_spawn(found: Collector) -> int:
    """What the main loop had read when it first launched a subagent; all it read where it launched none."""
    for spawn in found.spawns.all:
        if spawn.ran and spawn.call.agent == MAIN:
            return spawn.read_before
    return found.actions.read_main


def _launched(found: Collector) -> dict[str, int]:
    """Subagent -> line of the main transcript on which it, or the spawn it descends from, was called."""
    lines: dict[str, int] = {}
    for _ in range(3):  # a nested spawn may stand before its parent in the list
        for spawn in found.spawns.all:
            if spawn.agent_id and spawn.ran:
                parent = found.agents.names[spawn.call.agent]
                if spawn.call.agent == MAIN:
                    lines[spawn.agent_id] = spawn.call.line
                elif parent in lines:
                    lines[spawn.agent_id] = lines[parent]
    return lines


def _agents(found: Collector, sums: dict[int, Sum], metas: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Every subagent of which lines were read, started by a call or not (workflows, forked skills, warm-ups)."""
    started = {spawn.agent_id: spawn for spawn in found.spawns.all if spawn.agent_id}
    result: list[dict[str, Any]] = []
    for number, name in enumerate(found.agents.names):
        if number != MAIN and number in found.seen:
            spawn, kind = started.get(name), metas.get(name, {}).get("agentType")
            counts: dict[str, int | None] = sums.get(number, Sum()).counts()
            result.append(
                {
                    "id": name,
                    "type": kind if type(kind) is str else spawn.type if spawn else None,
                    "spawn": spawn.call.id if spawn else None,
                    "models": found.agents.models[number],
                    **counts,
                }
            )
    return result


def _counts(found: Collector, sums: dict[int, Sum]) -> dict[str, Any]:
    actions = found.actions
    return {
        "actions": actions.total,
        "main_actions": actions.main,
        "edit_write_ops": actions.edit_write_ops,
        "bash": actions.by_tool.get("Bash", 0),
        "read": actions.by_tool.get("Read", 0),
        "skill": actions.by_tool.get("Skill", 0),
        "send_message": actions.by_tool.get("SendMessage", 0),
        "by_tool": actions.by_tool,
        "failed": actions.failed,
        "denied": actions.denied,
        "unanswered": len(actions.open),
        "orphan_results": actions.orphans,
        "spawns": len(found.spawns.all) + found.spawns.omitted,
        "hooks": found.hooks.total,
        "slash_commands": found.slash_total,
        "messages": sum(total.messages for total in sums.values()),
        "api_errors": found.api_errors,
        "compactions": found.compactions,
        "results": found.ending.results,
    }


def _economics(facts: dict[str, Any]) -> dict[str, Any]:
    """The figures that every row of the orchestration suite carries in `info`."""
    tokens = facts["tokens"]
    return {
        "mltok": tokens["main"]["output"],
        "sctok": tokens["sidechain"]["output"],
        "mlshare": tokens["main_loop_share"],
        "prebytes": facts["bytes_read"]["before_first_spawn"],
        "spawns": facts["counts"]["spawns"],
        "maxrounds": max((spawn["rounds"] for spawn in facts["spawns"]), default=0),
    }
