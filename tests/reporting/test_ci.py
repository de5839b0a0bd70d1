"""What CI uses of bin/report: gates, JUnit, the job's summary."""

from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest
from programs import bin, one_line
from tabling import sessions, written


@pytest.mark.parametrize(
    ("gate", "status", "told"),
    [
        ("haiku>=2/3", 0, "gate haiku>=2/3 held: vault-write haiku 0.83"),
        ("haiku >= 0.9", 1, "missed: vault-write haiku 0.83"),
        ("low(haiku)>=0.5", 1, "missed"),
        ("low(haiku)>=0.1", 0, "held"),
        ("*>=0.5", 0, "held: vault-write sonnet"),
        ("vault-write/haiku>=0.5", 0, "held"),
        ("other/haiku>=0.5", 2, "is about nothing that was measured; there are vault-write/haiku"),
        ("opus>=0.5", 2, "is about nothing that was measured"),
        ("haiku>0.5", 2, "'haiku>0.5' is no gate"),
        ("haiku>=67", 2, "is no gate"),
        ("low(haiku>=0.5", 2, "is no gate"),
        ("haiku>=.", 2, "is no gate"),
    ],
)
def test_a_gate_has_a_status_of_its_own(tmp_path: Path, gate: str, status: int, told: str) -> None:
    table = sessions("P1", "haiku", "ppp") + sessions("P2", "haiku", "ppf") + sessions("P1", "sonnet", "ppp")
    done = bin("report", written(tmp_path, table), "--gate", gate)
    assert done.returncode == status, done.stderr
    assert told in done.stderr


def test_two_thirds_meets_a_bar_of_two_thirds(tmp_path: Path) -> None:
    done = bin("report", written(tmp_path, sessions("P1", "haiku", "ppf")), "--gate", "haiku>=0.666666666")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("outcomes", "status"), [("pppe", 0), ("pfe", 2), ("ffe", 1), ("eee", 2)], ids=["held", "open", "missed", "nothing"]
)
def test_errors_leave_a_gate_open_only_if_they_could_turn_it(tmp_path: Path, outcomes: str, status: int) -> None:
    done = bin("report", written(tmp_path, sessions("P1", "haiku", outcomes)), "--gate", "haiku>=0.6")
    assert done.returncode == status, done.stderr


def test_an_error_row_without_a_suite_may_be_of_any(tmp_path: Path) -> None:
    from heldout.rows import Row

    table = [*sessions("P1", "haiku", "ppf"), Row("P2", "haiku", 1, "ERROR", {}, ("sandbox-error: x",), {})]
    assert bin("report", written(tmp_path, table), "--gate", "vault-write/haiku>=0.6").returncode == 2


def test_the_low_end_of_saved_traces_is_their_rate(tmp_path: Path) -> None:
    table = sessions("D1", "trace", "p", "diagnosis", agent="trace")
    assert bin("report", written(tmp_path, table), "--gate", "low(trace)>=0.9").returncode == 0


def test_a_run_is_not_counted_twice(tmp_path: Path) -> None:
    run = written(tmp_path, sessions("P1", "haiku", "p"))
    done = bin("report", run, run / "../" / run.name)
    assert done.returncode == 0 and "1 cells, 1 PASS" in done.stdout and "counted once" in one_line(done.stderr)


def test_a_baseline_is_not_made_of_the_run_itself(tmp_path: Path) -> None:
    run = written(tmp_path, sessions("P1", "haiku", "p", ms="5"))
    before = (run / "results.tsv").read_text()
    assert bin("report", run, "--baseline", run).returncode == 2
    assert (run / "results.tsv").read_text() == before


@pytest.mark.parametrize(
    "info", [{"tools": "1e308"}, {"tools": "-5"}, {"tiers": f"x:{'9' * 5000}"}, {"level": "9" * 5000}]
)
@pytest.mark.parametrize("form", ["text", "json", "html"])
def test_figures_beyond_reason_end_no_report(tmp_path: Path, info: dict[str, str], form: str) -> None:
    table = [
        row
        for name in ("P1", "P2", "P3")
        for row in sessions(name, "haiku", "p", "vault-write", first=1, polarity="positive", **info)
    ]
    done = bin("report", written(tmp_path, table), "--format", form)
    assert done.returncode == 0, done.stderr


def test_thousands_of_reps_have_a_bar() -> None:
    from heldout import stats

    assert stats.bar_rate(1300, 0.95) == pytest.approx(1.0) and stats.bar_rate(3000, 0.5) < 1e-9
    assert stats.bar_rate(1001, 2 / 3) == pytest.approx(stats.bar_rate(999, 2 / 3), abs=0.02)


def test_a_summary_that_is_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    import os

    os.mkfifo(tmp_path / "pipe")
    run = written(tmp_path / "grid", sessions("P1", "haiku", "p"))
    assert bin("report", run, env={"GITHUB_STEP_SUMMARY": str(tmp_path / "pipe")}).returncode == 0


def test_a_missed_gate_outweighs_an_open_one(tmp_path: Path) -> None:
    table = sessions("P1", "haiku", "pfe") + sessions("P1", "sonnet", "fff")
    assert bin("report", written(tmp_path, table), "--gate", "*>=0.6").returncode == 1


def test_a_test_case_of_junit_is_a_scenario_of_a_model_and_its_bar(tmp_path: Path) -> None:
    table = sessions("P1", "haiku", "ppf", ms="1500") + sessions("P2", "haiku", "pff") + sessions("P3", "haiku", "pfe")
    done = bin("report", written(tmp_path, table), "--format", "junit")
    (suite,) = Xml.fromstring(done.stdout)
    assert (suite.get("name"), suite.get("tests"), suite.get("failures"), suite.get("errors")) == (
        "vault-write haiku",
        "3",
        "1",
        "1",
    )
    first, second, third = suite
    assert (first.get("name"), first.get("classname"), first.get("time")) == ("P1", "vault-write.haiku", "4.500")
    assert [child.tag for child in first] == ["system-out"]
    assert "r3 FAIL no note was written below vault/" in (first.findtext("system-out") or "")
    assert second[0].tag == "failure" and "1/3 0.06–0.79: the bar of 2/3" in (second[0].get("message") or "")
    assert second[0].text == "2 × no note was written below vault/"
    assert third[0].tag == "error" and "api-error" in (third[0].text or "")


def test_junit_is_xml_whatever_a_reason_holds(tmp_path: Path) -> None:
    from heldout.reporting import junit
    from heldout.rows import Row

    reason = "\x00\x1b[31m]]>&<failure>\ud800\uffff\u202e"
    text = junit.written(reason, [Row(reason, reason, 1, "FAIL", {"A": "fail"}, (reason,), {"suite": reason})])
    (suite,) = Xml.fromstring(text.encode())
    assert [child.tag for child in suite[0]] == ["failure", "system-out"]


def test_the_summary_of_a_job_is_added_to(tmp_path: Path) -> None:
    place = tmp_path / "summary.md"
    place.write_text("before\n")
    run = written(tmp_path / "grid", sessions("P1", "haiku", "ppf"))
    env = {"GITHUB_STEP_SUMMARY": str(place)}
    assert bin("report", run, env=env).returncode == 0
    assert bin("diff", run, run, env=env).returncode == 0
    text = place.read_text()
    assert text.startswith("before\n# grid: 3 cells") and "# grid to grid" in text and "| P1 | 2/3 0.21–0.94 |" in text
    place.unlink()
    place.mkdir()
    assert bin("report", run, env=env).returncode == 0


def test_a_report_of_nothing_is_refused() -> None:
    done = bin("report")
    assert done.returncode == 2 and "nothing to report on" in one_line(done.stderr)
