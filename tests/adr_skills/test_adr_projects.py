"""The two projects of adr-skills: they work, and what the scenarios say about them is to be seen in them."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from heldout import scenario
from heldout.agents import script
from heldout.checks import adr_files
from heldout.tree import FolderTree
from programs import ROOT

SUITE = ROOT / "fixture/adr-skills"
SCENARIOS = [scenario.load(path) for path in scenario.files("run", "adr-skills")]


def tool(words: list[str], cwd: Path) -> subprocess.CompletedProcess[str]:
    """A program of the plugin, or one of the project's own."""
    path = [str(ROOT / "fixture/plugins/os-adr/bin"), str(Path(sys.executable).parent), os.environ["PATH"]]
    environment = {**os.environ, "PATH": os.pathsep.join(path), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(words, cwd=cwd, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    shutil.copytree(SUITE / "project", tmp_path / "project")
    shutil.copytree(SUITE / "legacy-project", tmp_path / "legacy-project")
    return tmp_path


def test_both_projects_pass_their_own_tests(copy: Path) -> None:
    for name, count in (("project", 10), ("legacy-project", 4)):
        done = tool(["make", "test"], copy / name)
        assert done.returncode == 0 and f"Ran {count} tests" in done.stderr, done.stderr


def test_the_desk_and_the_job_at_night_work(copy: Path) -> None:
    project = copy / "project"
    assert tool(["bin/toolshed", "add", "saw-1", "Jigsaw"], project).returncode == 0
    assert tool(["bin/toolshed", "lend", "saw-1", "member 117"], project).stdout.startswith("due on ")
    assert tool(["bin/toolshed", "lend", "saw-1", "member 4"], project).stderr == "toolshed: 'saw-1' is out already\n"
    assert "saw-1\tmember 117" in tool(["bin/toolshed", "out"], project).stdout
    assert tool(["bin/nightly"], project).returncode == 0
    assert tool(["bin/toolshed", "back", "saw-1"], project).stdout == "0.00 EUR\n"


def test_the_records_are_those_the_plugin_makes(copy: Path) -> None:
    project = copy / "project"
    assert tool(["adr-check"], project).stdout == "4 ADRs, no breach\n"
    before = (project / "docs/adr/index.md").read_bytes()
    tool(["adr-index"], project)
    assert (project / "docs/adr/index.md").read_bytes() == before
    found = adr_files.read(FolderTree(SUITE), "project")
    assert [(adr.id, adr.word("status"), adr.items("superseded-by")) for adr in found] == [
        ("0001", "Superseded", ["0003"]),
        ("0002", "Accepted", []),
        ("0003", "Accepted", []),
        ("0004", "Accepted", []),
    ]


def test_the_finding_scenarios_mislead(copy: Path) -> None:
    """A search by the words or the file of the task finds the distractor first, or alone."""

    def first(*words: str) -> list[str]:
        lines = tool(["adr-find", "--tsv", *words], copy / "project").stdout.splitlines()[1:]
        return [line.split("\t")[0] for line in lines]

    assert first("nightly", "job")[0] == "0004"
    assert set(first("JSON", "file")) == {"0001", "0003"}
    assert first("--path", "toolshed/reminders.py") == ["0004"]
    assert first("reminder", "due", "day")[0] == "0004"


def test_the_reminder_breaks_the_decision_that_it_is_to_be_mended_by(copy: Path) -> None:
    code = """
from datetime import date
from tests.shed import FRIDAY, RULES, shed
from toolshed import loans, reminders
db = shed()
print(loans.lend(db, RULES, "saw-1", "m", 3, FRIDAY), *reminders.reminders(db, RULES, date(2025, 12, 17)))
"""
    said = tool([sys.executable, "-c", code], copy / "project").stdout
    assert said == "2025-12-18 m: please bring back saw-1 by Monday, 15 December\n"


def test_the_log_leaves_to_judgement_what_the_scenario_asks_for(copy: Path) -> None:
    legacy = copy / "legacy-project"
    assert not (legacy / "docs").exists()
    left = [line.split("\t")[1] for line in tool(["adr-migrate", "--dry-run"], legacy).stdout.splitlines()]
    rest = "Context, Consequences, Alternatives"
    assert left == [
        "Alternatives",
        rest,
        f"date, status, {rest}",
        "Alternatives",
        f"status, {rest}",
        f"date, status, {rest}",
    ]


@pytest.mark.parametrize("item", SCENARIOS, ids=lambda item: item.id)
def test_every_scenario_has_its_skill_and_its_actors(item: scenario.Scenario) -> None:
    assert item.posture == "prompted" and item.skill
    assert (item.plugin_roots()[0] / "skills" / item.skill / "SKILL.md").is_file()
    actors = script.load_for(item.actors)
    assert [name for name, actor in actors.items() if actor.default] == ["compliant"]
    verdicts = [actor.expect.get("verdict") for actor in actors.values()]
    assert verdicts.count("FAIL") >= 4 and "PASS" in verdicts


def test_the_six_are_there() -> None:
    skills = [(item.id[:2], item.skill, item.cwd) for item in SCENARIOS]
    project, legacy = "project", "legacy-project"
    assert skills == [
        ("S1", "create", project),
        ("S2", "supersede", project),
        ("S3", "find", project),
        ("S4", "find", project),
        ("S5", "init", legacy),
        ("S6", "migrate", legacy),
    ]
