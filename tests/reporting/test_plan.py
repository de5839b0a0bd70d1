"""Plans: what a grid takes, from past rows of the same models, and what it can show."""

import re
from pathlib import Path

from programs import bin, command
from tabling import sessions, written


def cells(tmp_path: Path, *words: str) -> str:
    done = bin("cells", tmp_path / "new", "--suite", "vault-write", "--dry", *words)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_cost_is_known_from_past_cells_of_the_suite_else_of_the_model(tmp_path: Path) -> None:
    past = sessions("P1", "haiku", "ppp", ms="120000", usd="0.1") + sessions(
        "D", "haiku", "p", "other", ms="1", usd="9"
    )
    past += sessions("D", "sonnet", "p", "other", ms="60000", usd="0.5")
    run = written(tmp_path / "past", past)
    wanted = cells(tmp_path, "--models", "haiku sonnet opus", "--reps", "3")
    out = bin("report", run, "--plan", "--jobs", "2", stdin=wanted).stdout
    assert out.startswith("54 cells, 54 to run, 54 of them live\n")
    table = {line.split()[0]: re.split(r"\s{2,}", line) for line in out.splitlines() if line}
    assert table["haiku"] == ["haiku", "18", "18.0", "1.80", "4 past cells"]
    assert table["sonnet"] == ["sonnet", "18", "9.0", "9.00", "1 past cells"]
    assert table["opus"] == ["opus", "18", "unknown", "unknown", "no past cell"]
    assert table["all"][1:] == ["54", "unknown", "unknown"]


def test_what_it_can_show_is_told(tmp_path: Path) -> None:
    out = bin("report", "--plan", stdin=cells(tmp_path, "--models", "haiku", "--reps", "3")).stdout
    assert "vault-write  6" in out and "finds from 0.5" in out and "0." in out
    one = bin("report", "--plan", stdin=cells(tmp_path, "--models", "haiku", "--scenarios", "P1", "--reps", "2")).stdout
    assert "nothing: too few reps" in one and "0.33" in one  # 2 against 2 reps: 2 of 6 ways


def test_actors_cost_nothing_and_measured_cells_are_not_paid_again(tmp_path: Path) -> None:
    wanted = cells(tmp_path, "--models", "compliant")
    out = bin("report", "--plan", stdin=wanted).stdout
    assert out.startswith("6 cells, 6 to run, 0 of them live: nothing is spent\n")
    first = Path(wanted.splitlines()[0])
    first.parent.mkdir(parents=True)
    first.write_text("{}")
    assert bin("report", "--plan", stdin=wanted).stdout.startswith("6 cells, 5 to run")


def test_limits_have_a_status(tmp_path: Path) -> None:
    wanted = cells(tmp_path, "--models", "haiku", "--reps", "3")
    run = written(tmp_path / "past", sessions("P1", "haiku", "p", ms="1", usd="2"))
    assert bin("report", run, "--plan", "--most-cells", "18", "--most-usd", "36", stdin=wanted).returncode == 0
    done = bin("report", run, "--plan", "--most-cells", "17", stdin=wanted)
    assert done.returncode == 1 and "18 live cells are to run, more than 17: CONFIRM=1 runs them" in done.stderr
    done = bin("report", run, "--plan", "--most-usd", "35", stdin=wanted)
    assert done.returncode == 1 and "about 36.00 USD are to be spent, more than 35" in done.stderr


def test_what_is_known_counts_against_a_limit_and_errors_make_nothing_cheap(tmp_path: Path) -> None:
    past = sessions("P1", "opus", "p", ms="1", usd="5") + sessions("P1", "opus", "eeeee", ms="1", usd="0", first=2)
    run = written(tmp_path / "past", past)
    done = bin("report", run, "--plan", "--most-usd", "20", stdin=cells(tmp_path, "--models", "opus haiku"))
    assert done.returncode == 1 and "about 30.00 USD and what is unknown" in done.stderr
    assert bin("report", run, "--plan", "--most-usd", "0", stdin=cells(tmp_path, "--models", "opus")).returncode == 1


def test_a_past_table_that_cannot_be_read_is_said_and_left_out(tmp_path: Path) -> None:
    (tmp_path / "results.tsv").write_text("nonsense\n")
    done = bin("report", tmp_path, "--plan", stdin=cells(tmp_path, "--models", "haiku"))
    assert done.returncode == 0 and "left out: " in done.stderr and "no past cell" in done.stdout
    assert bin("report", "--plan").returncode == 2


def test_make_asks_before_a_large_grid(repository: Path) -> None:
    words = ["MODELS=haiku", "SUITE=vault-write", "REPS=20"]
    done = command(["make", "plan", *words], cwd=repository)
    assert done.returncode == 0 and "120 cells, 120 to run, 120 of them live" in done.stdout
    assert not (repository / "results/grid/cells.txt").exists()
