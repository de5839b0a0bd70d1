"""bin/report on saved traces and on sessions: cells, sums, absent figures, and no mixture of instruments."""

import json
from pathlib import Path
from typing import Any

import pytest
from heldout import rows
from heldout.reporting import build, figures, results
from heldout.rows import Row
from jsonschema import Draft202012Validator
from programs import ROOT, bin, one_line

SCHEMA = Draft202012Validator(json.loads((ROOT / "lib/report.schema.json").read_text()))


def trace(case: str, verdict: str = "PASS", **info: str) -> Row:
    """A row of a saved trace."""
    reasons = {"FAIL": ("finalAnswer has 0 of 4",), "ERROR": ("no-transcript: cannot read 'x.json'",)}.get(verdict, ())
    axes = {"A": "undecided"} if verdict == "ERROR" else {"A": "pass" if verdict == "PASS" else "fail"}
    known = {"suite": "diagnosis", "agent": "trace", **info}
    return Row(case, "trace", 1, verdict, axes, reasons, known)


TABLE = [
    trace("D1", agent_verdict="pass", covered="query_logs,query_metrics", tools="5", ms="1500"),
    trace(
        "D2",
        "FAIL",
        agent_verdict="reject",
        covered="query_logs",
        uncovered="dig",
        tools="2",
        failed="A:evidence_gathered",
    ),
    trace("D3", agent_verdict="pass", covered="query_logs", tools="2", ms="0"),
    trace("D4", "ERROR"),
]


def _table(tmp_path: Path, table: list[Row]) -> Path:
    rows.write(tmp_path / "results.tsv", table)
    return tmp_path


def test_json_report_output(tmp_path: Path) -> None:
    done = bin("report", _table(tmp_path, TABLE), "--format", "json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    SCHEMA.validate(found)
    first, second, _, fourth = found["cells"]
    assert (first["verdict"], first["failed_checks"], first["agent_verdict"]) == ("PASS", [], "pass")
    assert (first["tool_calls"], first["duration_ms"], first["evidence"]["coverage"]) == (5, 1500, 1.0)
    assert (second["failed_axes"], second["failed_checks"]) == (["A"], ["A:evidence_gathered"])
    assert second["evidence"] == {"covered": ["query_logs"], "uncovered": ["dig"], "coverage": 0.5}
    assert (second["duration_ms"], second["reasons"]) == (None, ["finalAnswer has 0 of 4"])
    assert (fourth["code"], fourth["evidence"], fourth["tool_calls"]) == ("no-transcript", None, None)


def test_markdown_report_output(tmp_path: Path) -> None:
    out = bin("report", _table(tmp_path, TABLE), "--format", "md").stdout
    assert out.startswith(
        f"# {tmp_path.name}: 4 cells, 2 PASS, 1 FAIL, 1 ERROR\n\nno trials: 1 no-transcript\n\n"
        "saved traces: no agent was run\n\n| suite |"
    )
    assert "| D2 | trace | 1 | FAIL | A:evidence_gathered | reject | 1/2 | 2 | - |" in out
    assert "| D4 | trace | 1 | ERROR | no-transcript | - | - | - | - |" in out
    assert "- D2 trace: 1 × finalAnswer has 0 of 4" in out


def test_aggregate_metrics(tmp_path: Path) -> None:
    """Rates are of trials; a mean is of those that have the figure, and says of how many; absent is not zero."""
    found = json.loads(bin("report", _table(tmp_path, TABLE), "--format", "json").stdout)
    summary = found["summary"]
    assert (summary["trials"], summary["passed"], summary["pass_rate"]) == (3, 2, 0.6667)
    assert summary["agent_verdicts"] == {"pass": 2, "reject": 1}
    assert summary["tool_calls"] == {"mean": 3.0, "of": 3}
    assert summary["duration_ms"] == {"mean": 750.0, "of": 2}
    assert summary["errors"] == {"no-transcript": 1}
    assert [(suite["suite"], suite["model"], suite["passed"]) for suite in found["suites"]] == [
        ("diagnosis", "trace", 2)
    ]
    assert (
        "diagnosis  trace  2/3     0.67  3.0         0.8 (2 of 3)  2 pass, 1 reject" in bin("report", tmp_path).stdout
    )


def test_without_a_trial_there_is_no_rate_and_no_mean(tmp_path: Path) -> None:
    found = json.loads(bin("report", _table(tmp_path, [trace("D4", "ERROR")]), "--format", "json").stdout)
    assert found["summary"]["pass_rate"] is None
    assert found["summary"]["tool_calls"] == {"mean": None, "of": 0}
    assert "diagnosis  trace  0/0     -     -           -" in bin("report", tmp_path).stdout


def test_sessions_are_reported_by_the_same_program(played: Path) -> None:
    found = json.loads(bin("report", played, "--format", "json").stdout)
    SCHEMA.validate(found)
    assert found["summary"]["agent_verdicts"] == {} and found["summary"]["tool_calls"]["of"] == len(found["cells"])
    by = {(cell["scenario"][:2], cell["model"]): cell for cell in found["cells"]}
    assert by["P1", "compliant"]["via"] == {"A": "written"}
    assert by["P1", "never"]["failed_checks"] == ["A:note_written", "A:offered"]
    assert by["P1", "never"]["judged"] == ["A"] and by["P1", "never"]["evidence"] is None
    assert "agent verdict" not in bin("report", played, "--format", "md").stdout


def test_a_report_can_be_read_in_place_of_its_table(tmp_path: Path, played: Path) -> None:
    table = [*TABLE, *rows.read(played / "results.tsv")]
    rows.write(tmp_path / "results.tsv", table)
    (tmp_path / "report.json").write_text(bin("report", tmp_path, "--format", "json").stdout)
    again = results.rows_of(tmp_path / "report.json")
    assert rows.table(again) == (tmp_path / "results.tsv").read_text()
    assert (
        bin("report", tmp_path / "report.json").stdout.splitlines()[1:]
        == bin("report", tmp_path).stdout.splitlines()[1:]
    )


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{}",
        '{"schema": 2, "kind": "report", "cells": []}',
        '{"schema": 1, "kind": "diff", "items": []}',
        '{"schema": 1, "kind": "report", "cells": [{"scenario": "D1"}]}',
        '{"schema": 1, "kind": "report", "cells": 4}',
    ],
)
def test_what_is_no_report_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "report.json").write_text(content)
    done = bin("report", tmp_path / "report.json")
    assert (done.returncode, done.stdout) == (2, "")
    assert "cannot read" in one_line(done.stderr)


def _measured(instruments: list[str], **info: Any) -> list[Row]:
    known = {"suite": "s", "agent": "claude", **info}
    return [
        Row("P1", "haiku", number, "PASS", {"A": "pass"}, (), {**known, "instrument": instrument})
        for number, instrument in enumerate(instruments, 1)
    ]


@pytest.mark.parametrize(
    ("instruments", "part"),
    [(["aa.cc", "bb.cc"], "run digest"), (["aa.cc", "aa.dd"], "score digest")],
)
def test_rows_of_two_instruments_are_not_counted_together(tmp_path: Path, instruments: list[str], part: str) -> None:
    _table(tmp_path, _measured(instruments))
    done = bin("report", tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"rows of different instruments: other {part}: P1 haiku; --mixed" in one_line(done.stderr)
    done = bin("report", tmp_path, "--mixed")
    assert done.returncode == 0 and f"mixed: other {part}: P1 haiku" in done.stdout
    found = json.loads(bin("report", tmp_path, "--mixed", "--format", "json").stdout)
    assert found["mixed"] == {part: ["P1 haiku"]}


def test_other_scenarios_may_have_other_instruments_and_an_error_has_no_say(tmp_path: Path) -> None:
    table = [*_measured(["aa.cc"]), Row("P2", "haiku", 1, "PASS", info={"instrument": "bb.cc"})]
    table.append(Row("P1", "haiku", 2, "ERROR", {}, ("killed",), {"instrument": "zz.zz"}))
    assert bin("report", _table(tmp_path, table)).returncode == 0


def test_suites_have_a_table_each(tmp_path: Path) -> None:
    table = [
        Row("P1", "never", 1, "PASS", info={"suite": "a", "agent": "actor"}),
        Row("S1", "perfect", 1, "FAIL", {"A": "fail"}, ("x",), {"suite": "b", "agent": "actor"}),
        trace("D1"),
    ]
    out = bin("report", _table(tmp_path, table)).stdout
    assert "embedded actors and saved traces: no model was measured" in out
    assert "scenario  never\nP1        1/1 0.21–1.00\n\nscenario  perfect\nS1        0/1 0.00–0.79\n\nsuite" in out


def test_figures_that_are_no_numbers_are_absent() -> None:
    assert figures.tool_calls(trace("D1", tools="many")) is None
    assert build.cell(trace("D1", **{"B-via": "offered", "via": "written"}))["via"] == {"A": "written", "B": "offered"}
