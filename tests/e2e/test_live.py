"""A live grid, with a stub in the model's place: the first cell goes alone, and nothing is paid for in vain."""

import shutil
import subprocess
from pathlib import Path

import pytest
from heldout import rows
from heldout.agents import script
from heldout.agents.stub import Part, Stub
from heldout.agents.stubbing import failures
from heldout.scenario import find
from programs import command


@pytest.fixture
def project(repository: Path) -> Path:
    return repository


def _stub(actor: str = "never", faults: str = "") -> Stub:
    """A model that plays N1's actor in every session; its script needs no place of the cell."""
    chosen = script.Actor(actor, turns=(script.Turn("Nothing to do."),))
    return Stub(Part(chosen, {}, failures.parse(faults)))


def _grid(project: Path, stub: Stub, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    reach = {"ANTHROPIC_BASE_URL": stub.url, "ANTHROPIC_API_KEY": "stub-key", "RETRIES": "0", **env}
    return command(["make", "--no-print-directory", "-C", project, "grid", *words], env=reach)


def test_the_first_live_cell_goes_alone_and_is_shown(project: Path) -> None:
    with _stub() as stub:
        done = _grid(project, stub, "MODELS=haiku sonnet", "SCENARIOS=N1 N2", HELDOUT_JUDGE_CMD="false")
        assert done.returncode == 0, done.stderr
        lines = done.stderr.splitlines()
        shown = next(
            place for place, line in enumerate(lines) if line.startswith("first cell, beside what it rests on")
        )
        assert [line for line in lines[:shown] if line.startswith("[")] == [
            line for line in lines[:shown] if "[1/4]" in line
        ]
        assert "N1-L1-reporting\thaiku\t1\tPASS" in lines[shown + 1]
        assert [row.info["served"] for row in rows.read(project / "results/grid/results.tsv")] == [
            "claude-haiku-5-5",
            "claude-sonnet-5-5",
        ] * 2
        again = _grid(project, stub, "MODELS=haiku sonnet", "SCENARIOS=N1 N2", HELDOUT_JUDGE_CMD="false")
        assert (again.returncode, again.stderr) == (0, "")
        assert "no model was measured" not in again.stdout


def test_a_first_cell_in_error_stops_the_grid(project: Path) -> None:
    with _stub(faults="529") as stub:
        done = _grid(project, stub, "MODELS=haiku", "SCENARIOS=N1 N2 N3", "REPS=2")
    assert done.returncode == 2
    assert "make grid: the first cell ended in ERROR, the rest is not run:" in done.stderr
    assert "N1-L1-reporting\thaiku\t1\tERROR" in done.stderr
    assert len(list((project / "results").rglob("cell.json"))) == 1


def test_a_model_whose_first_three_cells_are_one_error_is_stopped_and_the_others_go_on(project: Path) -> None:
    aliases = project / "lib/models.yaml"
    aliases.write_text(aliases.read_text() + "\nodd: {agent: claude, model: opus}\n")
    with _stub() as good:
        first = _grid(project, good, "MODELS=haiku", "SCENARIOS=N1")
        assert first.returncode == 0, first.stderr
    with _stub(faults="model=claude-haiku-5-5") as stub:
        done = _grid(project, stub, "MODELS=haiku odd", "SCENARIOS=N1 N2 N3", "REPS=2", "JOBS=1")
    assert done.returncode == 2
    assert done.stderr.count("not started: 'odd' is stopped: its first 3 cells ended in model-mismatch") == 3
    measured = {row.model: row.verdict for row in rows.read(project / "results/grid/results.tsv")}
    assert measured == {"haiku": "PASS", "odd": "ERROR"}


def test_the_budget_stops_the_grid_before_the_next_cell(project: Path) -> None:
    with _stub() as stub:
        done = _grid(project, stub, "MODELS=haiku", "SCENARIOS=N1 N2 N3", "BUDGET_USD=0.000001")
    assert done.returncode == 2
    assert done.stderr.count("not started: BUDGET_USD=1e-06 is spent") == 2
    assert len(list((project / "results").rglob("cell.json"))) == 1


@pytest.mark.parametrize("confirm", ["", "CONFIRM=", "CONFIRM=0"])
def test_a_large_grid_is_not_started_without_confirmation(project: Path, confirm: str) -> None:
    with _stub() as stub:
        done = _grid(project, stub, "MODELS=haiku", "SCENARIOS=N1 N2", "REPS=51", *filter(None, [confirm]))
    assert done.returncode == 2
    assert "102 live cells are to run, more than 100: CONFIRM=1 runs them" in done.stderr
    assert not list((project / "results").rglob("cell.json"))


def test_a_confirmed_grid_is_started(project: Path) -> None:
    with _stub(faults="529") as stub:  # its first cell ends it, so that this is short
        done = _grid(project, stub, "MODELS=haiku", "SCENARIOS=N1 N2", "REPS=51", "CONFIRM=1")
    assert "the first cell ended in ERROR" in done.stderr
    assert len(list((project / "results").rglob("cell.json"))) == 1


def test_a_budget_of_nothing_pays_for_nothing(project: Path) -> None:
    with _stub() as stub:
        done = _grid(project, stub, "MODELS=haiku", "SCENARIOS=N1", "BUDGET_USD=0")
        assert done.returncode == 2 and "not started: BUDGET_USD=0 is spent" in done.stderr
        done = _grid(project, stub, "MODELS=haiku", "SCENARIOS=N1", "BUDGET_USD=nan")
    assert done.returncode == 2 and "BUDGET_USD is 'nan'" in done.stderr
    assert not list((project / "results").rglob("cell.json"))


def test_refresh_runs_before_the_grid(project: Path) -> None:
    mark = project / "refreshed"
    with _stub() as stub:
        done = _grid(project, stub, "MODELS=haiku", "SCENARIOS=N1", f"REFRESH=touch {mark}")
        assert (done.returncode, mark.exists()) == (0, True)
        broken = _grid(project, stub, "MODELS=haiku", "SCENARIOS=N1", "RUN=other", "REFRESH=false")
    assert broken.returncode == 2
    assert not (project / "results/other").exists() or not list((project / "results/other").rglob("cell.json"))


def test_the_scenarios_exist() -> None:
    assert all(find(name).polarity == "negative" for name in ("N1", "N2", "N3"))
    assert shutil.which("make")
