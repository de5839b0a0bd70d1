"""bin/diff: rules of saved traces, changes of sessions, errors apart, and nothing compared that is not comparable."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from heldout import rows
from heldout.reporting.comparison import compare
from heldout.rows import Row
from jsonschema import Draft202012Validator
from programs import ROOT, bin, command, one_line

SCHEMA = Draft202012Validator(json.loads((ROOT / "lib/diff.schema.json").read_text()))


def case(name: str, verdict: str = "PASS", **info: str) -> Row:
    known = {
        "suite": "diagnosis",
        "agent": "trace",
        "agent_verdict": "pass",
        "covered": "logs,metrics",
        "tools": "4",
        "ms": "1000",
        "case": f"c{name}",
    }
    reasons = {"FAIL": ("finalAnswer has 0 of 4",), "ERROR": ("no-transcript: cannot read 'x.json'",)}.get(verdict, ())
    if verdict == "ERROR":
        known = {key: known[key] for key in ("suite", "agent", "case")}
    return Row(name, "trace", 1, verdict, {"A": "pass"}, reasons, {**known, **info})


BASE = [case("D1"), case("D2"), case("D3")]


def diff(base: list[Row], current: list[Row]) -> dict[str, Any]:
    found = compare(("base", "current"), base, current)
    SCHEMA.validate(found)
    return found


def items(found: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [item for item in found["items"] if item["kind"] == kind]


def only(found: dict[str, Any], kind: str) -> dict[str, Any]:
    (item,) = items(found, kind)
    return item


def test_nothing_differs_from_itself() -> None:
    found = diff(BASE, BASE)
    assert found["items"] == [] and found["errors"] == []
    assert found["summary"]["compared"] == 3 and found["summary"]["pass_rate"]["delta"] == 0


def test_aggregate_regression_detection() -> None:
    current = [case("D1", "FAIL"), *BASE[1:]]
    item = only(diff(BASE, current), "pass_rate")
    assert (item["outcome"], item["suite"], item["model"]) == ("regression", "diagnosis", "trace")
    assert (item["old"], item["new"], item["delta"]) == (1.0, 0.6667, -0.3333)
    assert only(diff(current, BASE), "pass_rate")["outcome"] == "improvement"


def test_cost_signal_detection() -> None:
    current = [case("D1", tools="7", ms="400"), *BASE[1:]]
    found = diff(BASE, current)
    calls, duration = only(found, "tool_calls"), only(found, "duration_ms")
    assert (calls["outcome"], calls["old"], calls["new"], calls["delta"]) == ("change", 4.0, 5.0, 1.0)
    assert (duration["outcome"], duration["old"], duration["new"], duration["delta"]) == (
        "change",
        1000.0,
        800.0,
        -200.0,
    )
    assert found["summary"]["regressions"] == 0


def test_a_figure_that_one_side_lacks_is_not_compared() -> None:
    bare = [replace(row, info={key: value for key, value in row.info.items() if key != "ms"}) for row in BASE]
    found = diff(BASE, bare)
    assert items(found, "duration_ms") == []
    assert found["summary"]["duration_ms"] == {"old": 1000.0, "new": None, "delta": None}


def test_verdict_distribution_comparison() -> None:
    item = only(diff(BASE, [case("D1", agent_verdict="reject"), *BASE[1:]]), "agent_verdicts")
    assert (item["old"], item["new"]) == ({"pass": 3}, {"pass": 2, "reject": 1})
    assert (item["delta"], item["outcome"]) == ({"pass": -1, "reject": 1}, "change")


def test_case_pass_fail_regression() -> None:
    item = only(diff(BASE, [case("D1", "FAIL"), *BASE[1:]]), "case")
    assert (item["outcome"], item["scenario"], item["old"], item["new"]) == ("regression", "D1", "1/1", "0/1")
    assert item["reasons"] == ["finalAnswer has 0 of 4"]
    item = only(diff([case("D1", "FAIL"), *BASE[1:]], BASE), "case")
    assert (item["outcome"], item["reasons"]) == ("improvement", [])


def test_evidence_coverage_regression() -> None:
    current = [BASE[0], case("D2", covered="logs", uncovered="metrics"), BASE[2]]
    item = only(diff(BASE, current), "evidence")
    assert (item["outcome"], item["scenario"], item["tool"]) == ("regression", "D2", "metrics")
    assert (item["old"], item["new"]) == ("covered", "uncovered")
    assert only(diff(current, BASE), "evidence")["outcome"] == "improvement"
    assert items(diff(BASE, [BASE[0], case("D2", covered="logs"), BASE[2]]), "evidence") == []  # no longer required


def test_missing_case_detection() -> None:
    item = only(diff(BASE, BASE[:2]), "missing-case")
    assert (item["outcome"], item["scenario"], item["old"], item["new"]) == ("regression", "D3", "1/1", None)


def test_new_case_detection() -> None:
    found = diff(BASE[:2], BASE)
    item = only(found, "new-case")
    assert (item["outcome"], item["scenario"], item["old"], item["new"]) == ("change", "D3", None, "1/1")
    assert only(diff(BASE[:2], [*BASE[:2], case("D3", "FAIL")]), "new-case")["outcome"] == "change"


def test_the_figures_are_of_what_both_sides_have() -> None:
    """Harder and dearer cases, or more reps of one of them, are no change of the others."""
    hard = [case(f"D{number}", "FAIL", tools="90", ms="9000", agent_verdict="reject") for number in (4, 5)]
    for base, current in ((BASE, [*BASE, *hard]), ([*BASE, *hard], BASE)):
        found = diff(base, current)
        assert {key: found["summary"][key]["delta"] for key in ("pass_rate", "tool_calls", "duration_ms")} == {
            "pass_rate": 0,
            "tool_calls": 0,
            "duration_ms": 0,
        }
        assert (found["summary"]["pass_rate"]["old"], found["summary"]["left_out"]) == (1, 2)
        assert found["summary"]["agent_verdicts"]["delta"] == {}
        assert {item["kind"] for item in found["items"]} <= {"missing-case", "new-case"}
    again = [replace(row, rep=rep) for rep in (1, 2, 3) for row in hard[:1]]
    kinds = {item["kind"] for item in diff([*BASE, hard[0]], [*BASE, *again])["items"]}
    assert kinds == {"agent_verdicts"}  # which are counts


def test_a_case_of_error_is_left_out_of_the_figures() -> None:
    summary = diff(BASE, [case("D1", "ERROR"), *BASE[1:]])["summary"]
    assert (summary["decided"], summary["left_out"]) == (2, 1) and diff(BASE, BASE)["summary"]["left_out"] == 0


def _written(tmp_path: Path, base: list[Row], current: list[Row]) -> tuple[Path, Path]:
    for name, table in (("base", base), ("now", current)):
        rows.write(tmp_path / name / "results.tsv", table)
    return tmp_path / "base", tmp_path / "now"


WORSE = [case("D1", "FAIL"), case("D2", covered="logs", uncovered="metrics"), case("D4")]


def test_json_diff_output(tmp_path: Path) -> None:
    done = bin("diff", *_written(tmp_path, BASE, WORSE), "--format", "json")
    assert done.returncode == 1, done.stderr
    found = json.loads(done.stdout)
    SCHEMA.validate(found)
    assert (found["base"]["name"], found["current"]["name"]) == ("base", "now")
    summary = found["summary"]
    assert (summary["regressions"], summary["compared"]) == (4, 2)
    assert summary["pass_rate"] == {"old": 1.0, "new": 0.5, "delta": -0.5}  # of D1 and D2, which both have
    assert (summary["decided"], summary["left_out"]) == (2, 2)
    assert [item["kind"] for item in found["items"]] == ["pass_rate", "case", "evidence", "missing-case", "new-case"]


def test_markdown_diff_output(tmp_path: Path) -> None:
    out = bin("diff", *_written(tmp_path, BASE, WORSE), "--format", "md").stdout
    assert out.startswith("# base to now: 2 cases compared, 4 regressions, 0 improvements, 1 changes\n")
    assert "| pass rate | 1 | 0.5 | -0.5 |" in out
    assert "the figures are of the 2 cases that both decided; 2 others are left out" in out
    assert "| outcome | what | where | base | current | delta |\n| --- | --- | --- | --- | --- | --- |" in out
    assert "| regression | evidence | D2 trace: metrics | covered | uncovered | -1 |" in out
    assert "| regression | missing case | D3 trace | 1/1 | - | - |" in out
    assert "| change | new case | D4 trace | - | 1/1 | - |" in out
    assert "- D1 trace: finalAnswer has 0 of 4" in out


def test_status_is_1_for_a_regression_alone(tmp_path: Path) -> None:
    base, now = _written(tmp_path, WORSE[:2], BASE)
    done = bin("diff", base, now)
    assert done.returncode == 0 and "improvement" in done.stdout
    rows.write(now / "results.tsv", [case("D1", "FAIL", tools="9"), WORSE[1]])
    assert bin("diff", base, now).returncode == 0


def test_errors_are_kept_apart_and_a_lost_case_is_not_compared(tmp_path: Path) -> None:
    current = [case("D1", "ERROR"), *BASE[1:]]
    found = diff(BASE, current)
    assert [error["lost"] for error in found["errors"]] == [True]
    assert items(found, "case") == items(found, "pass_rate") == items(found, "missing-case") == []
    done = bin("diff", *_written(tmp_path, BASE, current))
    assert done.returncode == 2
    assert "errors, kept apart\n\nD1 trace: current, which BASE could decide: no-transcript" in done.stdout
    rows.write(tmp_path / "now/results.tsv", [current[0], case("D2", "FAIL"), BASE[2]])
    assert bin("diff", tmp_path / "base", tmp_path / "now").returncode == 1
    assert bin("diff", tmp_path / "now", tmp_path / "base").returncode == 0  # an error of BASE loses nothing
    found = diff([case("D1", "ERROR"), *BASE[1:]], [case("D1", "ERROR"), *BASE[1:]])
    assert [error["lost"] for error in found["errors"]] == [False]


def _sessions(passed: int, of: int = 3, /, **info: str) -> list[Row]:
    known = {
        "suite": "vault-write",
        "agent": "claude",
        "served": "claude-x",
        "cli": "claude 2.1.332",
        "tools": "9",
        **info,
    }
    verdicts = ["PASS"] * passed + ["FAIL"] * (of - passed)
    return [
        Row("P1", "haiku", number, verdict, {"A": "pass"}, () if verdict == "PASS" else ("no note",), known)
        for number, verdict in enumerate(verdicts, 1)
    ]


def test_differences_of_sessions_are_undecided_until_there_are_reps_enough(tmp_path: Path) -> None:
    base, now = _written(tmp_path, _sessions(3), _sessions(0, tools="2"))
    done = bin("diff", base, now, "--format", "json")
    assert done.returncode == 0
    found = json.loads(done.stdout)
    assert {item["kind"]: item["outcome"] for item in found["items"]} == {
        "pass_rate": "undecided",
        "tool_calls": "change",
        "case": "change",
    }
    assert only(found, "case")["old"] == "3/3" and only(found, "case")["new"] == "0/3"
    assert only(found, "case")["bar"] == "met to missed"
    (test,) = found["tests"]
    assert (test["difference"], test["p"], test["floor"], test["reps_needed"]) == (-1.0, 0.1, 0.1, 4)
    assert "undecided: not enough reps to say, 4 a scenario would be" in bin("diff", base, now).stdout
    base, now = _written(tmp_path, _sessions(4, 4), _sessions(0, 4))
    done = bin("diff", base, now)
    assert done.returncode == 1 and "  regression\n" in done.stdout
    assert only(diff(_sessions(3), [*BASE]), "missing-case")["outcome"] == "change"


def test_reps_of_error_are_no_trials_of_a_session() -> None:
    error = replace(_sessions(1)[0], rep=4, verdict="ERROR", reasons=("killed: x",))
    found = diff(_sessions(2), [*_sessions(2), error])
    assert found["items"] == [] and [entry["lost"] for entry in found["errors"]] == [False]


UNLIKE: list[tuple[str, dict[str, str], dict[str, str]]] = [
    ("run digest", {"instrument": "aa.cc"}, {"instrument": "bb.cc"}),
    ("score digest", {"instrument": "aa.cc"}, {"instrument": "aa.dd"}),
    ("served model", {"served": "claude-x"}, {"served": "claude-y"}),
    ("client version", {"cli": "claude 2.1.332"}, {"cli": "claude 2.2.0"}),
    ("case", {"case": "one"}, {"case": "two"}),
    ("case", {"case": "one", "instrument": "aa.cc"}, {"case": "two"}),
]


@pytest.mark.parametrize(("part", "old", "new"), UNLIKE)
def test_what_is_not_comparable_is_refused_and_named(
    tmp_path: Path, part: str, old: dict[str, str], new: dict[str, str]
) -> None:
    base, now = _written(tmp_path, _sessions(3, **old), _sessions(3, **new))
    done = bin("diff", base, now)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"not comparable: other {part}: P1 haiku; --mixed" in one_line(done.stderr)
    done = bin("diff", base, now, "--mixed")
    assert done.returncode == 0 and f"mixed: other {part}: P1 haiku" in done.stdout


def test_an_instrument_known_on_both_sides_speaks_for_the_case() -> None:
    assert diff(_sessions(3, instrument="aa.cc", case="x"), _sessions(3, instrument="aa.cc", case="y"))["mixed"] == {}


def test_a_side_that_is_mixed_itself_is_refused(tmp_path: Path) -> None:
    mixed = [*_sessions(1, 1, instrument="aa.cc"), replace(_sessions(1, 1, instrument="aa.dd")[0], rep=2)]
    done = bin("diff", *_written(tmp_path, _sessions(3, instrument="aa.cc"), mixed))
    assert done.returncode == 2 and "CURRENT has rows of different instruments: other score digest" in done.stderr


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("/nowhere", "base"), "cannot read '/nowhere'"),
        (("base", "base", "--format", "html"), "format 'html' is none of text, md, json"),
        (("base", "other"), "have no case in common"),
    ],
)
def test_what_cannot_be_compared_is_status_2(tmp_path: Path, words: tuple[str, ...], complaint: str) -> None:
    _written(tmp_path, BASE, BASE)
    rows.write(tmp_path / "other/results.tsv", [replace(row, model="else") for row in BASE])
    done = bin("diff", *words, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert complaint in one_line(done.stderr)


def _folder(path: Path) -> Path:
    return path


SPELLINGS: list[Callable[[Path], Path]] = [
    _folder,
    lambda path: path / "results.tsv",
    lambda path: path / "report.json",
]


@pytest.mark.parametrize("spelling", SPELLINGS, ids=["folder", "table", "report"])
def test_sides_may_be_a_folder_a_table_or_a_report(tmp_path: Path, spelling: Callable[[Path], Path]) -> None:
    base, now = _written(tmp_path, BASE, WORSE)
    for folder in (base, now):
        (folder / "report.json").write_text(bin("report", folder, "--format", "json").stdout)
    done = bin("diff", spelling(base), now)
    assert done.returncode == 1 and "4 regressions" in done.stdout


def test_make_diff_takes_names_of_runs_and_baselines(repository: Path) -> None:

    rows.write(repository / "results/baseline/diagnosis/results.tsv", BASE)
    rows.write(repository / "results/grid/results.tsv", WORSE)
    done = command(["make", "diff", "BASE=baseline/diagnosis"], cwd=repository)
    assert done.returncode == 2  # make's own; the program's was 1
    assert "baseline/diagnosis to grid: 2 cases compared, 4 regressions" in done.stdout and "Error 1" in done.stderr
    done = command(["make", "diff", "BASE=grid", "RUN=grid", "FORMAT=md"], cwd=repository)
    assert done.returncode == 0 and done.stdout.startswith("# grid to grid")
    assert "diff needs BASE=" in command(["make", "diff"], cwd=repository).stderr
