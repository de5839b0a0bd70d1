"""Cells that a grid was asked for and that have no row: told everywhere, and as open as a rep of ERROR."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import pytest
from heldout.reporting import inference, summary
from heldout.reporting.unmeasured import Unmeasured
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from paging import Page
from programs import ROOT, bin, one_line
from tabling import asked, sessions, written

REPORT, DIFF = (
    Draft202012Validator(json.loads((ROOT / f"lib/{name}.schema.json").read_text())) for name in ("report", "diff")
)


def killed(folder: Path, outcomes: str = "p") -> Path:
    """A run asked for 3 reps of two scenarios, of which the first reps of P1 are there alone."""
    return asked(written(folder, sessions("P1", "haiku", outcomes)), ("P1", "haiku", 3), ("P2", "haiku", 3))


def data(folder: Path) -> dict[str, Any]:
    found = json.loads(bin("report", folder, "--format", "json").stdout)
    REPORT.validate(found)
    return found


@pytest.mark.parametrize("form", ["text", "md"])
def test_what_was_asked_for_and_not_measured_is_told(tmp_path: Path, form: str) -> None:
    out = bin("report", killed(tmp_path / "grid"), "--format", form).stdout
    assert "asked for and not measured: 5 cells (P1 haiku 2, P2 haiku 3); the same 'make grid' goes on" in out
    assert "1/1 +2 unmeasured 0.21–1.00" in out and "0/0 +3 unmeasured" in out
    assert "0 of 2 +2 undecided" in out
    assert "at 3 reps it is met" in out and "at 1 rep" not in out


def test_json_has_each_of_them_and_is_read_again(tmp_path: Path) -> None:
    found = data(killed(tmp_path / "grid"))
    places = [(cell["suite"], cell["scenario"], cell["model"], cell["rep"]) for cell in found["unmeasured"]]
    assert places == [("vault-write", "P1", "haiku", 2), ("vault-write", "P1", "haiku", 3)] + [
        ("vault-write", "P2", "haiku", rep) for rep in (1, 2, 3)
    ]
    assert found["summary"]["unmeasured"] == found["suites"][0]["unmeasured"] == 5
    assert [(item["bar"], item["unmeasured"]) for item in found["scenarios"]] == [("undecided", 2), ("undecided", 3)]
    (tmp_path / "report.json").write_text(json.dumps(found))
    assert data(tmp_path / "report.json")["unmeasured"] == found["unmeasured"]
    assert bin("report", tmp_path / "report.json", "--gate", "haiku>=0.5").returncode == 2


def test_a_complete_run_has_no_word_of_it(tmp_path: Path) -> None:
    run = asked(written(tmp_path / "grid", sessions("P1", "haiku", "ppe")), ("P1", "haiku", 3))
    assert "unmeasured" not in bin("report", run, "--format", "json").stdout
    assert "not measured" not in bin("report", run).stdout


def test_a_table_alone_is_taken_as_it_is(tmp_path: Path) -> None:
    run = killed(tmp_path / "grid")
    (tmp_path / "else.tsv").write_text((run / "results.tsv").read_text())
    (run / "kept.tsv").write_text((run / "results.tsv").read_text())  # not the table that cells.txt is beside
    for path in (tmp_path / "else.tsv", run / "kept.tsv"):
        assert bin("report", path, "--gate", "haiku>=1").returncode == 0
    (tmp_path / "link.tsv").symlink_to(run / "results.tsv")
    for path in (run / "results.tsv", tmp_path / "link.tsv"):
        assert bin("report", path, "--gate", "haiku>=1").returncode == 2


@pytest.mark.parametrize(
    ("outcomes", "gate", "status", "told"),
    [
        ("p", "haiku>=1", 2, "undecided: vault-write haiku 1 0.05–1.00, 5 unmeasured"),
        ("fff", "haiku>=0.6", 1, "missed"),  # also if all of P2 had passed
        ("fff", "haiku>=0.5", 2, "undecided"),
        ("ppp", "haiku>=0.5", 0, "held"),  # also if all of P2 had failed
        ("pe", "haiku>=0.5", 2, "1 ERROR, 4 unmeasured"),
        ("p", "haiku>=0", 0, "held"),
    ],
)
def test_a_gate_is_as_open_as_if_they_were_errors(
    tmp_path: Path, outcomes: str, gate: str, status: int, told: str
) -> None:
    done = bin("report", killed(tmp_path / "grid", outcomes), "--gate", gate)
    assert done.returncode == status and told in one_line(done.stderr)


def test_a_model_without_any_row_leaves_its_gate_undecided(tmp_path: Path) -> None:
    run = asked(written(tmp_path, sessions("P1", "haiku", "ppp")), ("P1", "haiku", 3), ("P1", "claude:o/1", 3))
    done = bin("report", run, "--gate", "*>=0.5")
    assert done.returncode == 2 and "vault-write claude:o/1 no trial, 3 unmeasured" in done.stderr
    assert "claude:o/1" in bin("report", run).stdout


@given(st.text("pfe", min_size=1, max_size=6), st.integers(0, 4))
def test_a_bar_is_as_open_as_if_they_were_errors(outcomes: str, more: int) -> None:
    left = [Unmeasured("vault-write", "P1", "haiku", len(outcomes) + 1 + place) for place in range(more)]
    (group,) = summary.groups(sessions("P1", "haiku", outcomes), left)
    (alike,) = summary.groups(sessions("P1", "haiku", outcomes + "e" * more))
    assert inference.bar(group) == inference.bar(alike)


def test_a_test_case_of_junit_that_they_leave_open_is_an_error(tmp_path: Path) -> None:
    (suite,) = Xml.fromstring(bin("report", killed(tmp_path / "grid"), "--format", "junit").stdout)
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("2", "0", "2")
    assert [case[0].tag for case in suite] == ["error", "error"]
    assert "1/1 +2 unmeasured" in (suite[0][0].get("message") or "")
    assert "r3 unmeasured" in (suite[1].findtext("system-out") or "")


def test_the_page_tells_them(tmp_path: Path) -> None:
    page = Page(bin("report", killed(tmp_path / "grid"), "--format", "html").stdout)
    assert "Unfinished. Asked for and not measured: 5 cells (P1 haiku 2, P2 haiku 3)." in page.text
    assert "+2 unmeasured" in page.text and "+3 unmeasured" in page.text


def test_runs_are_counted_together_with_what_each_lacks(tmp_path: Path) -> None:
    one, two = killed(tmp_path / "one"), killed(tmp_path / "two", "ppp")
    out = bin("report", one, two).stdout
    assert "not measured: 8 cells (P1 haiku 2, P2 haiku 6)" in out and "4/4 +2 unmeasured" in out


def test_a_row_that_could_not_be_read_is_none_of_them(tmp_path: Path) -> None:
    from heldout.rows import Row

    table = [*sessions("P1", "haiku", "pp"), Row("P1", "haiku", 3, "ERROR", {}, ("sandbox-error: x",), {})]
    assert "not measured" not in bin("report", asked(written(tmp_path, table), ("P1", "haiku", 3))).stdout


def test_a_list_of_cells_that_is_none_is_refused_with_its_line(tmp_path: Path) -> None:
    run = killed(tmp_path / "grid")
    (run / "cells.txt").write_text((run / "cells.txt").read_text() + "nonsense\n")
    done = bin("report", run)
    assert done.returncode == 2 and "cells.txt:7: 'nonsense' is no cell; " in one_line(done.stderr)


def test_an_unfinished_run_is_no_baseline(tmp_path: Path) -> None:
    done = bin("report", killed(tmp_path / "grid"), "--baseline", tmp_path / "kept")
    assert done.returncode == 2 and "5 cells that were asked for are not measured" in one_line(done.stderr)
    assert not (tmp_path / "kept").exists()


def test_a_difference_of_an_unfinished_run_says_so(tmp_path: Path) -> None:
    base = written(tmp_path / "base", sessions("P1", "haiku", "fff") + sessions("P2", "haiku", "fff"))
    now = killed(tmp_path / "now", "pp")
    done = bin("diff", base, now)
    assert "now: asked for and not measured: 4 cells (P1 haiku 1, P2 haiku 3)" in done.stdout and done.returncode == 2
    found = json.loads(bin("diff", base, now, "--format", "json").stdout)
    DIFF.validate(found)
    assert found["current"]["unmeasured"] == 4 and "unmeasured" not in found["base"]
    missing = [item["kind"] for item in found["items"] if item["scenario"] == "P2"]
    assert missing == ["missing-case"]


KEPT = [
    # haiku before, after, reps asked after; what is said
    ("fff", "ppp", 3, "KEEP"),
    ("fff", "ppp", 0, "KEEP"),  # no list of cells
    ("fff", "p", 3, "UNDECIDED"),
    ("fff", "pp", 3, "UNDECIDED"),
    ("fff", "pp", 0, "UNDECIDED"),  # fewer reps than BASE had
    ("fff", "ppp", 6, "UNDECIDED"),  # as many, of more that were asked for
    ("pff", "pp", 3, "UNDECIDED"),
    ("ppp", "pp", 3, "UNDECIDED"),  # not helped so far is not yet DISCARD
    ("fff", "ppe", 0, "KEEP"),  # a rep of ERROR counts as it did
    ("ppp", "fff", 6, "DISCARD"),
    ("pp", "ppp", 0, "DISCARD"),
]


@pytest.mark.parametrize(("before", "after", "reps", "outcome"), KEPT)
def test_a_run_cut_short_keeps_nothing(tmp_path: Path, before: str, after: str, reps: int, outcome: str) -> None:
    base = written(tmp_path / "base", sessions("P1", "haiku", before))
    now = written(tmp_path / "now", sessions("P1", "haiku", after))
    if reps:
        asked(now, ("P1", "haiku", reps))
    done = bin("diff", base, now, "--keep-on", "haiku")
    assert done.stdout.splitlines()[0] == outcome
    if len(after) < max(reps, len(before)):
        assert "P1 has " in done.stdout


def test_a_case_or_guard_that_is_not_there_yet_keeps_nothing(tmp_path: Path) -> None:
    base = written(tmp_path / "base", sessions("P1", "haiku", "fff") + sessions("P1", "sonnet", "ppp"))
    now = written(tmp_path / "now", sessions("P1", "haiku", "ppp") + sessions("P1", "sonnet", "ppp"))
    words = ("--keep-on", "haiku", "--guard", "sonnet")
    asked(now, ("P1", "haiku", 3), ("P1", "sonnet", 3), ("P1", "opus", 3))
    assert bin("diff", base, now, *words).stdout.startswith("KEEP\n")  # nobody asked about opus
    asked(now, ("P1", "haiku", 3), ("P1", "sonnet", 3), ("P2", "sonnet", 3))
    assert bin("diff", base, now, *words).stdout.startswith("UNDECIDED\n")


def test_an_unfinished_base_keeps_nothing(tmp_path: Path) -> None:
    base = asked(written(tmp_path / "base", sessions("P1", "haiku", "f")), ("P1", "haiku", 3))
    now = written(tmp_path / "now", sessions("P1", "haiku", "ppp"))
    assert bin("diff", base, now, "--keep-on", "haiku").stdout.startswith("UNDECIDED\n")
