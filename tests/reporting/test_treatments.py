"""Rows of two treatments are not counted together, whatever the folders of plugins are called."""

import json
from pathlib import Path

import pytest
from heldout.cell import Cell, Record
from heldout.reporting import mixture
from heldout.rows import Row
from programs import bin, one_line
from tabling import sessions, written

MIXED = [
    # the plugins of one run and of another, of the same scenario; what is named
    ("mine@aa", "mine@bb", "mine"),
    ("mine@aa", "mine-v2@bb", "mine, mine-v2"),
    ("os-vault@aa", "mine@bb", "mine, os-vault"),  # the scenario's own, and one given with --plugin
    ("a@aa,b@bb", "a@aa", "b"),
    ("", "mine@bb", "mine"),
]


@pytest.mark.parametrize(("one", "two", "named"), MIXED)
def test_two_wordings_of_a_scenario_are_refused(tmp_path: Path, one: str, two: str, named: str) -> None:
    runs: list[Path] = []
    for name, plugins in (("one", one), ("two", two)):
        info = {"instrument": "aa.cc", "plugins": plugins} if plugins else {"instrument": "aa.cc"}
        runs.append(written(tmp_path / name, sessions("P1", "haiku", "ppp", first=1, **info)))
    assert bin("report", runs[0]).returncode == 0
    done = bin("report", *runs)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"rows of different treatments: other wording of {named}: P1 haiku; --mixed" in one_line(done.stderr)
    done = bin("report", *runs, "--mixed")
    assert done.returncode == 0 and f"mixed: other wording of {named}: P1 haiku" in done.stdout


def test_nothing_is_said_of_a_row_that_does_not_say_its_plugins() -> None:
    assert not mixture.within([*sessions("P1", "haiku", "p"), *sessions("P1", "haiku", "p", plugins="mine@aa")])
    error = sessions("P1", "haiku", "e", plugins="mine@bb")
    assert not mixture.within([*sessions("P1", "haiku", "p", plugins="mine@aa"), *error])


SUITES = [
    # suite, scenario and plugins of one run and of another; whether it is one treatment
    ("vault-write", "P1", "os-vault@aa", "P2", "os-vault@aa", True),
    ("vault-write", "P1", "os-vault@aa", "P2", "os-vault@bb", False),
    ("vault-write", "P1", "os-vault@aa", "P2", "mine@bb", False),
    ("vault-write", "P1", "mine@aa", "P2", "mine-v2@bb", False),
    ("vault-write", "P1", "mine@aa", "P2", "mine@aa", True),
    ("unknown", "Q1", "mine@aa", "Q2", "other@aa", False),
]


@pytest.mark.parametrize(("suite", "first", "one", "second", "two", "alike"), SUITES)
def test_scenarios_of_a_suite_have_one_treatment(
    suite: str, first: str, one: str, second: str, two: str, alike: bool
) -> None:
    rows = [*sessions(first, "haiku", "p", suite, plugins=one), *sessions(second, "haiku", "p", suite, plugins=two)]
    assert (not mixture.within(rows)) == alike
    assert not mixture.within([*rows[:1], *sessions(second, "sonnet", "p", suite, plugins=two)])


def test_scenarios_with_plugins_of_their_own_are_one_treatment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mixture, "_own", lambda suite, scenario: (scenario.lower(),))
    rows = [*sessions("X", "haiku", "p", plugins="x@aa"), *sessions("Y", "haiku", "p", plugins="y@bb")]
    assert not mixture.within(rows)
    assert mixture.within([rows[0], *sessions("Y", "haiku", "p", plugins="z@bb")])


def _cells(run: Path, rows: list[Row], **subjects: str) -> Path:
    """A run folder whose cells have records with these subjects."""
    for row in rows:
        cell = Cell(run, row.info["suite"], row.scenario, row.model, row.rep)
        cell.path.mkdir(parents=True)
        record = Record(cell.suite, cell.scenario, cell.model, cell.rep, "claude", "s", "/x", "/x")
        record.subjects = {part.replace("_", ":", 1): digest for part, digest in subjects.items()}
        record.write(cell.path)
    return written(run, rows)


def test_two_overlays_of_a_subject_are_refused(tmp_path: Path) -> None:
    one = _cells(tmp_path / "one", sessions("P1", "haiku", "ppp", instrument="aa.cc"), subject_CLAUDE="a1")
    two = _cells(tmp_path / "two", sessions("P1", "haiku", "ppp", instrument="aa.cc"), subject_CLAUDE="b2")
    more = _cells(tmp_path / "more", sessions("P2", "haiku", "ppp", instrument="aa.cc"), subject_CLAUDE="b2")
    complaint = "rows of different treatments: other wording of CLAUDE: "
    assert complaint + "P1 haiku" in one_line(bin("report", one, two).stderr)
    assert complaint + "P1 haiku" in one_line(bin("report", one / "results.tsv", two).stderr)
    assert complaint + "vault-write haiku" in one_line(bin("report", one, more).stderr)
    assert bin("report", two, more).returncode == 0
    (tmp_path / "kept.json").write_text(bin("report", one, "--format", "json").stdout)
    assert complaint in one_line(bin("report", tmp_path / "kept.json", two).stderr)
    page = bin("report", one, two, "--mixed", "--format", "html").stdout
    assert "Rows of different treatments are counted together: other wording of CLAUDE in P1 haiku" in page
    assert bin("diff", one, two).returncode == 0  # what a comparison is for


def test_a_script_of_an_actor_is_one_for_a_scenario_alone(tmp_path: Path) -> None:
    table = sessions("P1", "never", "p", agent="actor")
    one, two = (_cells(tmp_path / name, table, actor_never=name) for name in ("one", "two"))
    assert "other wording of actor never: P1 never" in one_line(bin("report", one, two).stderr)
    other = _cells(tmp_path / "other", sessions("P2", "never", "p", agent="actor"), actor_never="x")
    assert bin("report", one, other).returncode == 0


@pytest.mark.parametrize("content", ["", "[]", "{}"])
def test_a_record_that_cannot_be_read_is_no_fault_of_the_report(tmp_path: Path, content: str) -> None:
    run = _cells(tmp_path, sessions("P1", "haiku", "p"), subject_CLAUDE="a1")
    (run / "vault-write/P1/haiku/r1/cell.json").write_text(content)
    assert bin("report", run).returncode == 0


def test_a_kept_baseline_says_nothing_of_subjects(tmp_path: Path) -> None:
    run = _cells(tmp_path / "run", sessions("P1", "never", "p", agent="actor"), actor_never="a1")
    assert "subjects" in bin("report", run, "--format", "json").stdout
    assert bin("report", run, "--baseline", tmp_path / "kept").returncode == 0
    assert "subjects" not in json.dumps(json.loads((tmp_path / "kept/report.json").read_text()))
