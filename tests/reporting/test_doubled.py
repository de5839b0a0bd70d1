"""A run counts once however it is named, and a rep once however often its row stands in a table."""

import json
from pathlib import Path

import pytest
from heldout import rows
from heldout.reporting.results import rows_of
from programs import bin, one_line
from tabling import sessions, written


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = written(tmp_path / "m2", sessions("P1", "haiku", "ppf"))
    (folder / "report.json").write_text(bin("report", folder, "--format", "json").stdout)
    (tmp_path / "link").symlink_to(folder)
    (tmp_path / "table.tsv").symlink_to(folder / "results.tsv")
    return folder


SPELLINGS = ["m2", "m2/results.tsv", "m2/report.json", "link", "link/results.tsv", "table.tsv", "m2/../m2/"]


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_run_that_is_named_twice_counts_once(run: Path, spelling: str) -> None:
    done = bin("report", "m2", spelling, cwd=run.parent)
    assert done.returncode == 0 and done.stdout.startswith("m2: 3 cells, 2 PASS")
    named = spelling.rstrip("/")
    assert one_line(done.stderr) == f"report: '{named}' is the run 'm2' again and is counted once"


def test_other_reports_and_tables_of_a_folder_are_runs_of_their_own(run: Path) -> None:
    other = written(run.parent / "other", sessions("P1", "haiku", "fff"))
    (run / "other.json").write_text(bin("report", other, "--format", "json").stdout)
    (run / "other.tsv").write_text((other / "results.tsv").read_text())
    for name in ("other.json", "other.tsv"):
        done = bin("report", run, run / name)
        assert done.stderr == "" and ": 6 cells, 2 PASS" in done.stdout.splitlines()[0]


def test_a_baseline_is_not_made_of_the_run_itself_by_another_name(run: Path) -> None:
    done = bin("report", run / "results.tsv", "--baseline", run.parent / "link")
    assert done.returncode == 2 and "is the run itself" in one_line(done.stderr)


def test_a_row_that_stands_twice_counts_once(tmp_path: Path) -> None:
    run = written(tmp_path, sessions("P1", "haiku", "pf") * 3)
    assert len(rows_of(run)) == 2
    done = bin("report", run)
    assert "2 cells, 1 PASS" in done.stdout
    assert "4 rows repeat an earlier one and are counted once; " in one_line(done.stderr)


@pytest.mark.parametrize(("again", "what"), [("f", "another verdict"), ("p", "other content")])
def test_two_rows_of_one_rep_that_differ_are_refused(tmp_path: Path, again: str, what: str) -> None:
    table = [*sessions("P1", "haiku", "pp", ms="1"), *sessions("P1", "haiku", again, first=2, ms="2")]
    run = written(tmp_path, table)
    for done in (bin("report", run), bin("diff", run, run)):
        assert (done.returncode, done.stdout) == (2, "")
        told = one_line(done.stderr)
        assert f"results.tsv:4: P1 haiku rep 2 stands in line 3, too, with {what}; " in told and "--rep" in told


def test_a_row_without_a_suite_is_a_row_of_the_same_rep(tmp_path: Path) -> None:
    lost = rows.Row("P1", "haiku", 1, "ERROR", {}, ("sandbox-error: x",), {})
    done = bin("report", written(tmp_path, [*sessions("P1", "haiku", "p"), lost]))
    assert done.returncode == 2 and "results.tsv:3: P1 haiku rep 1 stands in line 2, too" in one_line(done.stderr)


def test_the_same_rep_in_two_suites_or_runs_is_two(tmp_path: Path) -> None:
    one = written(tmp_path / "one", sessions("P1", "haiku", "p", "a") + sessions("P1", "haiku", "f", "b"))
    two = written(tmp_path / "two", sessions("P1", "haiku", "f", "a"))
    assert ": 3 cells, 1 PASS, 2 FAIL" in bin("report", one, two).stdout


def test_cells_of_a_report_that_contradict_are_named(run: Path) -> None:
    data = json.loads((run / "report.json").read_text())
    data["cells"].append({**data["cells"][0], "verdict": "FAIL"})
    (run / "report.json").write_text(json.dumps(data))
    done = bin("report", run / "report.json")
    assert done.returncode == 2
    assert "report.json: cell 4: P1 haiku rep 1 stands in cell 1, too, with another verdict" in one_line(done.stderr)
