"""Digests of what measures and of what is measured, so that numbers are compared only when they may be.

*Run digest*: what shaped the session (task, fixture, prepare, adapter, limits, settings); stored in the cell.
*Score digest*: what reads it (axes, checks, extract, rubrics); taken when a cell is scored.
*Subject digests*: the treatment (plugins, the scenario's subject paths, actor script, trace): different
subjects are the point of a comparison and belong to neither.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import cache
from pathlib import Path

from heldout import prompts
from heldout.files import ROOT
from heldout.hashes import of_bytes, of_tree, of_value
from heldout.scenario import Scenario

LIBRARY = ROOT / "lib" / "heldout"
# The sources that shape a session of each adapter.
ADAPTERS = {
    "actor": ("agents/actor.py", "agents/acting", "agents/script.py", "agents/process.py"),
    "claude": ("agents/claude.py", "agents/contained.py"),
    "trace": ("agents/trace.py", "agents/variants.py"),
}


def transcripts(folder: Path) -> list[Path]:
    """The files of a cell in which its session is told, by name."""
    found = (folder / "transcript.jsonl", *(folder / "session").rglob("*"))
    return sorted(path for path in found if path.is_file() and not path.is_symlink())


def short(digest: str) -> str:
    return digest[:12]


@cache
def _of_source(name: str) -> str:
    return of_tree(LIBRARY / name)


def of_transcript_reader() -> str:
    """What facts.json was made by."""
    return _of_source("transcript")


def run_parts(scenario: Scenario, agent: str) -> dict[str, str]:
    """What shaped the session, part by part. `agent` is the adapter's name."""
    root = scenario.fixture_root
    subjects = tuple(scenario.subject)

    def is_subject(tree: str) -> Callable[[str], bool]:
        return lambda path: any(
            f"{tree}/{path}" == item or f"{tree}/{path}".startswith(f"{item}/") for item in subjects
        )

    stubs = {"stubs": of_value([of_tree(path) for path in scenario.stub_roots])} if scenario.stubs else {}
    return {
        **_asked(scenario),
        "fixture": of_value({tree: of_tree(root / tree, is_subject(tree)) for tree in scenario.trees}),
        "prepare": of_tree(root / "prepare"),
        "adapter": of_value([_of_source(name) for name in ADAPTERS[agent]]),
        **stubs,
    }


def _asked(scenario: Scenario) -> dict[str, str]:
    """What the scenario's file says of the session."""
    settings = {
        "cwd": scenario.cwd,
        "env": dict(scenario.env),
        "unset": scenario.unset,
        "require": scenario.require,
        "background": scenario.background,
        "posture": scenario.posture,
    }
    return {
        "task": of_bytes(prompts.source(scenario).encode()),
        "limits": of_value(asdict(scenario.limits)),
        "settings": of_value(settings),
    }


def score_parts(scenario: Scenario, rubrics: Mapping[str, Path]) -> dict[str, str]:
    """What reads the session, part by part."""
    trace = scenario.posture == "trace"
    reader = {"schema": of_tree(scenario.trace_schema)} if trace else {"extract": of_transcript_reader()}
    return {
        "axes": of_value([scenario.axes, scenario.expected_files, scenario.polarity]),
        "checks": _of_source("checks"),
        "rubric": of_value({name: of_tree(path) for name, path in rubrics.items()}),
        **reader,
    }


def case(scenario: Scenario, score: Mapping[str, str]) -> str:
    """Digest of the scenario's own words, code and fixture aside: what a kept baseline is known by.

    Both other digests change with every edit of the library; a baseline that had them would be stale each time. `score`
    are the scenario's score_parts.
    """
    return combined({**_asked(scenario), "axes": score["axes"], "rubric": score["rubric"]})


def subject_parts(scenario: Scenario, plugins: tuple[Path, ...], actor: str, overlay: Path | None) -> dict[str, str]:
    """The treatment, part by part: `plugin:NAME`, `subject:PATH`, `trace:PATH`, and `actor:NAME` where a script is
    played, `variant:NAME` where a trace was changed."""
    parts = {f"plugin:{root.name}": of_tree(root) for root in plugins if root not in scenario.stub_roots}
    for item in scenario.subject:
        parts[f"{'trace' if item == scenario.trace else 'subject'}:{item}"] = of_tree(scenario.source(item, overlay))
    if actor:
        kind, scripts = ("variant", scenario.variants.parent) if scenario.trace else ("actor", scenario.actors)
        parts[f"{kind}:{actor}"] = of_tree(scripts)
    return parts


def combined(parts: Mapping[str, str]) -> str:
    """One digest of all parts."""
    return of_value(dict(parts))


def moved(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """The names of the parts that differ, sorted."""
    return sorted(key for key in before.keys() | after.keys() if before.get(key) != after.get(key))
