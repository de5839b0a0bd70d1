"""The kept baselines: whole, readable, reproducible byte for byte, and explained."""

import json
from pathlib import Path

import pytest
from heldout import rows, scenario
from heldout.agents import roster
from heldout.reporting.results import VOLATILE
from programs import ROOT, bin, command
from tracing import CASES

BASELINES = ROOT / "results/baseline"
FILES = ("results.tsv", "report.json", "report.md")
SUITES = sorted({path.parent.name for path in scenario.files("run")})


def test_baseline_report_includes_all_fixed_cases() -> None:
    cells = json.loads((BASELINES / "diagnosis/report.json").read_text(encoding="utf-8"))["cells"]
    assert [(cell["scenario"], cell["model"], cell["verdict"]) for cell in cells] == [
        (case, "trace", "PASS") for case in CASES
    ]


@pytest.mark.parametrize("suite", SUITES)
def test_every_suite_has_a_baseline_of_its_default_actors(suite: str) -> None:
    """That each row is today's, too, the self-test proves, which plays them all anyway."""
    kept = {(row.scenario, row.model) for row in rows.read(BASELINES / suite / "results.tsv")}
    items = [scenario.load(path) for path in scenario.files("run", suite)]
    assert kept == {(item.id, model) for item in items for model in roster.default_models(item)}, "make baseline SUITE="


def test_baseline_report_is_reviewable() -> None:
    text = (BASELINES / "diagnosis/report.md").read_text(encoding="utf-8")
    assert text.startswith("# diagnosis: 12 cells, 12 PASS, 0 FAIL, 0 ERROR\n")
    assert all(f"| {case} | trace | 1 | PASS |" in text for case in CASES)
    assert json.loads((BASELINES / "diagnosis/report.json").read_text(encoding="utf-8"))["kind"] == "report"


@pytest.mark.parametrize("suite", SUITES)
def test_reports_of_a_baseline_are_made_of_its_table(suite: str, tmp_path: Path) -> None:
    done = bin("report", BASELINES / suite, "--baseline", tmp_path / suite)
    assert done.returncode == 0, done.stderr
    for name in FILES:
        assert (tmp_path / suite / name).read_bytes() == (BASELINES / suite / name).read_bytes(), "make baseline SUITE="


def test_a_baseline_is_made_again_byte_for_byte(repository: Path) -> None:
    done = command(["make", "baseline", "SUITE=diagnosis"], cwd=repository)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "diagnosis: 12 cells, 12 PASS, 0 FAIL, 0 ERROR\n"
    for name in FILES:
        made = repository / "results/baseline/diagnosis" / name
        assert made.read_bytes() == (BASELINES / "diagnosis" / name).read_bytes()


def test_a_baseline_with_an_error_is_not_made(repository: Path) -> None:
    (repository / "fixture/diagnosis/traces/D3-slow-sql.json").unlink()
    done = command(["make", "baseline", "SUITE=diagnosis"], cwd=repository)
    assert done.returncode == 2
    assert "D3-slow-sql trace r1 no-transcript" in done.stderr
    assert not (repository / "results/baseline/diagnosis").exists()


def test_nothing_volatile_is_kept() -> None:
    for suite in SUITES:
        for row in rows.read(BASELINES / suite / "results.tsv"):
            assert "instrument" not in row.info and row.info["case"]
            if row.info["agent"] != "trace":
                assert not set(VOLATILE) & row.info.keys()
    kept = {row.scenario: row.info.get("ms") for row in rows.read(BASELINES / "diagnosis/results.tsv")}
    assert kept["D1-cpu-saturation"] == "52340" and kept["D9-dns-failure"] is None  # a trace's figure is the trace's


def test_the_self_test_proves_the_baseline_current(repository: Path) -> None:
    for case in CASES[1:]:
        (repository / f"scenarios/diagnosis/{case}.md").unlink()
    row = rows.read(BASELINES / "diagnosis/results.tsv")[0]
    table = repository / "results/baseline/diagnosis/results.tsv"
    rows.write(table, [row])
    assert bin("self-test", "--suite", "diagnosis", "--quiet", root=repository).returncode == 0
    table.write_text(table.read_text(encoding="utf-8").replace("keywords=4/4", "keywords=3/4"), encoding="utf-8")
    done = bin("self-test", "--suite", "diagnosis", "--quiet", root=repository)
    assert done.returncode == 1
    assert "DIFFERENT\tD1-cpu-saturation\ttrace in the baseline\tbaseline has " in done.stdout
    assert done.stdout.endswith("1 different\n")


def test_baseline_regeneration_is_documented() -> None:
    text = (ROOT / "fixture/diagnosis/README.md").read_text(encoding="utf-8")
    assert "make baseline SUITE=diagnosis" in text and "make diff BASE=baseline/diagnosis" in text
