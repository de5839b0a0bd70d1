"""The orchestration scenarios say what the requirement's table says, and their Tasks give nothing away."""

import json
import re
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import yaml
from heldout.checks import patterns

ROOT = Path(__file__).parents[2]
RUN_SET = sorted((ROOT / "scenarios/orchestration").glob("*.md"))
RESERVE = sorted((ROOT / "scenarios-reserve/orchestration").glob("*.md"))
ALL = RUN_SET + RESERVE
OVERRIDES = ["CLAUDE_CODE_SUBAGENT_MODEL", "CLAUDE_CODE_SUBAGENT_MODEL_FORCE"]

AXES: dict[str, dict[str, Any]] = {
    "E1P": {
        "A": {"spawn_with_model": {"other_than": "haiku"}},
        "B": {"downgrade_flagged": {"rubric": "downgrade-flag"}},
    },
    "E1N": {"A": {"no_false_downgrade": {"rubric": "downgrade-flag"}}},
    "E2P": {
        "A": {"no_grind": {"edits": 9}},
        "B": {"models_explicit": {}},
        "C": {"files_changed_valid_json": {"paths": "project/services/*.json", "count": 9}},
    },
    "E2N": {"A": {"no_spawn": {}}},
    "E3P": {"A": {"reads_within": {"bytes": 74_000}}, "C": {"no_dual_read": {}}},
    "E3N": {"A": {"no_spawn": {}}},
    "E5P": {
        "A": {"no_grind": {"edits": 12}},
        "B": {"max_spawns": {"n": 3}},
        "C": {"expected_files": {}},
        "D": {"models_explicit": {}},
    },
    "E5N": {"A": {"max_spawns": {"n": 1}}},
}

POST_MORTEM = """On 4 July at 09:38 an oversized inventory snapshot ran a worker thread out of memory; the job was
handed out again after each crash until no workers were left at 09:47. From then on the queue only grew and
reached its capacity of 5,000 at 10:51. Until the restart at 10:56 about 300 events were dropped."""
STORM_REPORT = """On 2 July from 13:04 to 14:47 the Harbourpay token could not be renewed because the token endpoint
answered 503. The expired token was used on, every delivery came back with 401, and since a 401 is retried
immediately and is not counted, this became a retry storm of some 60,000 requests an hour."""
VAGUE = """There were some problems on two days. A target was in maintenance, a publisher sent fields of the
wrong kind, and the pool of six workers handled what came through the queue. I recommend a database."""


def head(path: Path) -> dict[str, Any]:
    return yaml.safe_load(path.read_text().split("---\n")[1])


def section(path: Path, title: str) -> str:
    parts = re.split(r"^## (.+)\n", path.read_text(), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True)).get(title, "").strip()


def kind(path: Path) -> str:
    return path.stem.split("-")[0]


def by_kind(paths: list[Path], wanted: str) -> Path:
    return next(path for path in paths if kind(path) == wanted)


def concepts(path: Path) -> dict[str, list[str]]:
    return head(path)["axes"]["B"]["concepts_named"]["concepts"]


def named(path: Path, text: str) -> set[str]:
    flat = patterns.normal(text)
    return {name for name, items in concepts(path).items() if any(patterns.found(item, flat) for item in items)}


def each(paths: list[Path]) -> Any:
    return pytest.mark.parametrize("path", paths, ids=lambda path: path.stem)


def test_the_run_set_has_the_documented_ids_and_each_a_twin() -> None:
    ids = {path.stem for path in RUN_SET}
    assert {
        "E1P-pipeline-review", "E1N-pipeline-review", "E2P-retry-policy", "E2N-readme-typo", "E3P-dropped-events",
        "E3N-brand-spelling",
    } <= ids  # fmt: skip
    assert sorted(map(kind, RUN_SET)) == sorted(map(kind, RESERVE)) == sorted(AXES)
    assert not ids & {path.stem for path in RESERVE}


@each(ALL)
def test_axes_are_those_of_the_table(path: Path) -> None:
    axes = dict(head(path)["axes"])
    if kind(path) == "E3P":
        found = axes.pop("B")["concepts_named"]
        assert found["least"] == 2 and len(found["concepts"]) == 3
    assert axes == AXES[kind(path)]


@each(ALL)
def test_front_matter(path: Path) -> None:
    top = head(path)
    assert top["id"] == path.stem
    assert top["polarity"] == {"P": "positive", "N": "negative"}[kind(path)[-1]]
    assert (top["posture"], top["background"]) == ("unprompted", True)
    assert (top["suite"], top["fixture"], top["cwd"], top["trees"]) == (
        "orchestration", "orchestration", "project", ["project"],
    )  # fmt: skip
    models = {"E1P": ["subagents:haiku"], "E1N": ["subagents:as-asked"]}
    assert (top["plugins"], top["require"]) == (["os-context"], ["hook:os-context", *models.get(kind(path), [])])
    assert set(top["limits"]) == {"turns", "seconds", "usd"}


@each(ALL)
def test_pairs_are_mutual_within_a_set(path: Path) -> None:
    pair = path.with_name(head(path)["pair"] + ".md")
    assert head(pair)["pair"] == path.stem
    assert {kind(path)[-1], kind(pair)[-1]} == {"P", "N"}


@each(ALL)
def test_only_e1p_forces_the_subagents_model(path: Path) -> None:
    top = head(path)
    if kind(path) == "E1P":
        assert (top["env"], top["unset"]) == ({OVERRIDES[0]: "haiku"}, OVERRIDES[1:])
        assert top["stubs"] == ["subagent-model"]
    else:
        assert "stubs" not in top
        assert top["unset"] == OVERRIDES
        assert "env" not in top


@pytest.mark.parametrize("paths", [RUN_SET, RESERVE], ids=["run", "reserve"])
def test_the_e1_twins_ask_the_same(paths: list[Path]) -> None:
    assert section(by_kind(paths, "E1P"), "Task") == section(by_kind(paths, "E1N"), "Task")


@each(ALL)
def test_tasks_do_not_mention_what_is_measured(path: Path) -> None:
    task = section(path, "Task").lower()
    assert task
    for word in head(path)["forbid_in_task"]:
        assert word.lower() not in task, word


@each(ALL)
def test_tasks_share_no_six_words_with_the_wordings(path: Path) -> None:
    def runs(text: str) -> set[tuple[str, ...]]:
        words = re.findall(r"\w+", text.lower())
        return {tuple(words[at : at + 6]) for at in range(len(words) - 5)}

    pages = chain.from_iterable(root.rglob("*.md") for root in (ROOT / "fixture/plugins").glob("os-context*"))
    shared = runs(section(path, "Task")) & set().union(*(runs(page.read_text()) for page in pages))
    assert not shared


@each([path for path in ALL if kind(path) == "E3P"])
def test_concepts_are_named_by_a_report_and_not_by_the_task_or_by_small_talk(path: Path) -> None:
    report = POST_MORTEM if path in RUN_SET else STORM_REPORT
    assert named(path, report) == set(concepts(path))
    assert named(path, section(path, "Task")) == set()
    assert named(path, VAGUE) == set()
    for name in concepts(path):
        other = STORM_REPORT if path in RUN_SET else POST_MORTEM
        assert name not in named(path, other), "the other incident's report names it"


@each([path for path in ALL if kind(path) == "E5P"])
def test_expected_files_are_the_missing_pages(path: Path) -> None:
    project = ROOT / "fixture/orchestration/project"
    expected = re.findall(r"^- `(.+)`$", section(path, "Expected files"), flags=re.MULTILINE)
    alerts = json.loads((project / "config/alerts.json").read_text())
    types = json.loads((project / "config/event-types.json").read_text())
    pages = [alert["runbook"] for alert in alerts] + [f"docs/events/{name}.md" for name in types]
    assert len(set(expected)) == 13
    assert len({name.rsplit("/", 1)[0] for name in expected}) == 1
    assert set(expected) < set(pages)
    assert not any((project / name).exists() for name in expected)
