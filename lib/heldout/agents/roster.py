"""Who may be run: the names of MODELS, and the cells of a grid.

A name is an alias of lib/models.yaml, a full id `claude-…`, `claude:NAME` taken verbatim, an embedded actor of the
scenario, or `ACTOR@claude` (`ACTOR@claude:ID`): the real client on a stub that plays the actor's script. A scenario of
posture trace has the model `trace`, and variants of its trace for the self-test. Anything else is refused with the near
miss, so that a typo spends nothing.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from heldout import cell, digests, scenario
from heldout.agents import script, variants
from heldout.cell import Cell
from heldout.errors import Refusal
from heldout.files import ROOT
from heldout.scenario import Scenario
from heldout.yamlfile import load, near_miss

STUB_MODEL = "claude-sonnet-5-5"  # what a client on a stub is asked for; the stub plays the script whatever the model


@dataclass(frozen=True)
class Model:
    """A name of MODELS resolved: which adapter runs it, the model it is asked for, and the actor that a stub plays."""

    name: str
    agent: str
    id: str
    plays: str = ""

    @property
    def script(self) -> str:
        """The actor whose script this is, or the variant of a trace; '' where a model decides."""
        return self.plays or (self.id if self.agent in ("actor", "trace") and self.id != variants.SAVED else "")


@cache
def _aliases() -> dict[str, dict[str, str]]:
    return load(ROOT / "lib" / "models.yaml").data


def actors_of(item: Scenario) -> Mapping[str, script.Actor]:
    """The embedded actors of a scenario: its own, and those that every suite has."""
    return _actors(item.actors)


@cache
def _actors(path: Path) -> dict[str, script.Actor]:
    return script.load_for(path)


def variants_of(item: Scenario) -> Mapping[str, variants.Variant]:
    """The saved trace of a scenario of posture trace, and its variants."""
    return _variants(item.variants)


@cache
def _variants(path: Path) -> dict[str, variants.Variant]:
    return variants.load_for(path)


def embedded(item: Scenario) -> Mapping[str, script.Actor | variants.Variant]:
    """All that a scenario brings to be scored without a model, by name."""
    return variants_of(item) if item.posture == "trace" else actors_of(item)


def fitting(items: Sequence[Scenario], names: Iterable[str]) -> dict[str, list[str]]:
    """The names of MODELS that concern each scenario, by its id.

    `trace` concerns those of posture trace, an embedded actor those that have it, every other name all but those of
    posture trace. Raises Refusal with the near miss for a name that none of the scenarios has.
    """
    found: dict[str, list[str]] = {item.id: [] for item in items}
    for name in names:
        cell.spell(name)
        concerned = [item for item in items if (name == variants.SAVED) == (item.posture == "trace")]
        having = [item for item in concerned if _has(item, name)]
        if concerned and not having:
            raise _unknown(name, concerned)
        for item in having:
            found[item.id].append(name)
    return found


def _has(item: Scenario, name: str) -> bool:
    try:
        resolve(name, item)
    except Refusal:
        return False
    return True


def _unknown(name: str, items: Sequence[Scenario]) -> Refusal:
    known = dict.fromkeys((*_aliases(), *(actor for item in items for actor in actors_of(item))))
    whom = items[0].id if len(items) == 1 else f"any of {len(items)} scenarios"
    return Refusal(f"unknown model '{name}' for {whom}", f"{near_miss(name, known)}; full ids begin with 'claude-'")


def resolve(name: str, item: Scenario) -> Model:
    """The model called `name` for a scenario; raises Refusal with the near miss."""
    cell.spell(name)
    if item.posture == "trace":
        if name not in variants_of(item):
            raise Refusal(f"unknown model '{name}' for {item.id}", near_miss(name, variants_of(item)))
        return Model(name, "trace", name)
    aliases = _aliases()
    if name in aliases:
        return Model(name, aliases[name]["agent"], aliases[name]["model"])
    if name.startswith("claude:") and len(name) > 7:
        return Model(name, "claude", name[7:])
    if name.startswith("claude-") and "@" not in name:
        return Model(name, "claude", name)
    actors = actors_of(item)
    actor, at, client = name.partition("@")
    if at and client.partition(":")[0] == "claude" and actor in actors:
        return Model(name, "claude", client.partition(":")[2] or STUB_MODEL, actor)
    if name in actors:
        return Model(name, "actor", name)
    raise _unknown(name, [item])


def grid(
    run: Path, scenarios: Iterable[Scenario], names: Mapping[str, list[str]], reps: int
) -> Iterator[tuple[Cell, Scenario, Model]]:
    """The cells of a grid, rep by rep, so that an interrupted one has seen every scenario.

    `names` has the models of each scenario id; where there are none the default actors are run.
    """
    chosen = [(item, [resolve(name, item) for name in names[item.id] or default_models(item)]) for item in scenarios]
    for rep in range(1, reps + 1):
        for item, resolved in chosen:
            for model in resolved:
                yield Cell(run.absolute(), item.suite, item.id, model.name, rep), item, model


def default_models(item: Scenario) -> list[str]:
    """The actors that a grid without MODELS runs; `trace` for a scenario that needs no agent."""
    return [name for name, brought in embedded(item).items() if brought.default]


def strangers(folder: Path, override: tuple[Path, ...], overlay: Path | None) -> dict[str, list[str]]:
    """Cells below a folder that were measured with another instrument or treatment than today's, by what differs."""
    found: dict[str, list[str]] = {}
    for existing in cell.below(folder) if folder.is_dir() else ():
        if not existing.measured:
            continue
        try:
            item = scenario.find(f"{existing.suite}/{existing.scenario}")
            model = resolve(existing.model, item)
        except Refusal:
            continue  # a scenario or actor that is no more; nothing is added to it
        record = cell.read(existing.path)
        subjects = digests.subject_parts(item, item.plugin_roots(override), model.script, overlay)
        moved = digests.moved(record.run_parts, digests.run_parts(item, model.agent))
        moved += digests.moved(record.subjects, subjects)
        if moved:
            found.setdefault(", ".join(moved), []).append(str(existing))
    return found


def refuse_mixture(folder: Path, override: tuple[Path, ...], overlay: Path | None) -> None:
    """Raise Refusal when a run (or a part of it) has strangers: a run is one treatment under one name."""
    if found := strangers(folder, override, overlay):
        told = "; ".join(f"{parts} changed since {_some(cells)}" for parts, cells in found.items())
        raise Refusal(f"'{folder}' has other cells: {told}", "name a new run, RUN=…, to measure today's")


def _some(cells: list[str]) -> str:
    return ", ".join(cells[:3]) + (f" and {len(cells) - 3} more" if len(cells) > 3 else "")


def select(names: list[str], suites: list[str], set_name: str) -> list[Scenario]:
    """The scenarios of a grid: those named, else all of the suites (all suites when none is named)."""
    known = scenario.suites()
    for suite in suites:
        if suite not in known:
            raise Refusal(f"unknown suite '{suite}'", near_miss(suite, known))
    if names:
        found = [scenario.find(name) for name in names]
        for item in found:
            if item.set != set_name:
                raise Refusal(f"'{item.id}' is in the {item.set} set, not in '{set_name}'", f"add SET={item.set}")
            if suites and item.suite not in suites:
                raise Refusal(f"'{item.id}' is in suite '{item.suite}', not in '{' '.join(suites)}'", "leave SUITE out")
        return found
    return [scenario.load(path) for path in scenario.files(set_name) if not suites or path.parent.name in suites]
