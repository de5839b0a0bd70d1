"""bin/diff on sessions: what is claimed, what is not, and the tuning rule."""

import json
from pathlib import Path

import pytest
from heldout.reporting import decisions
from heldout.rows import Row
from programs import bin, one_line
from scipy.stats import fisher_exact
from tabling import ladder, sessions, written


def both(tmp_path: Path, base: list[Row], current: list[Row]) -> tuple[Path, Path]:
    return written(tmp_path / "base", base), written(tmp_path / "now", current)


def test_one_scenario_is_fishers_exact_test(tmp_path: Path) -> None:
    base, now = both(tmp_path, sessions("P1", "haiku", "pppppp"), sessions("P1", "haiku", "fffffp"))
    done = bin("diff", base, now, "--format", "json")
    (test,) = json.loads(done.stdout)["tests"]
    assert test["p"] == pytest.approx(fisher_exact([[6, 0], [1, 5]])[1], abs=1e-4)
    assert (done.returncode, test["decision"]) == (1, "regression")


def test_several_models_are_adjusted_for(tmp_path: Path) -> None:
    base = sessions("P1", "haiku", "pppp") + sessions("P1", "sonnet", "pppp")
    now = sessions("P1", "haiku", "ffff") + sessions("P1", "sonnet", "pppp")
    done = bin("diff", *both(tmp_path, base, now), "--format", "json")
    tests = {test["model"]: test for test in json.loads(done.stdout)["tests"]}
    assert tests["haiku"]["p"] == pytest.approx(1 / 35, abs=1e-4)
    assert tests["haiku"]["adjusted"] == pytest.approx(2 / 35, abs=1e-4)
    assert done.returncode == 0 and tests["haiku"]["decision"] == "undecided"


def test_an_improvement_of_the_positives_is_found_at_three_reps(tmp_path: Path) -> None:
    base = ladder("haiku", ["fff", "fff", "fff"], ["ppp", "ppp", "ppp"])
    now = ladder("haiku", ["ppp", "ppp", "ppf"], ["ppp", "ppp", "ppp"])
    done = bin("diff", *both(tmp_path, base, now))
    assert done.returncode == 0 and "improvement" in done.stdout and "missed to met" in done.stdout
    assert bin("diff", tmp_path / "now", tmp_path / "base").returncode == 1


def test_errors_are_no_trials_of_a_test(tmp_path: Path) -> None:
    base, now = both(tmp_path, sessions("P1", "haiku", "pppp"), sessions("P1", "haiku", "eeee"))
    done = bin("diff", base, now, "--format", "json")
    (test,) = json.loads(done.stdout)["tests"]
    assert (test["scenarios"], test["left_out"], test["decision"]) == (0, ["P1"], "undecided")
    assert done.returncode == 2  # BASE could decide the case
    assert "no scenario was measured in both" in bin("diff", base, now).stdout


def test_embedded_actors_are_deterministic_and_are_not_tested(tmp_path: Path) -> None:
    base = sessions("P1", "never", "p", agent="actor")
    now = sessions("P1", "never", "f", agent="actor")
    done = bin("diff", *both(tmp_path, base, now), "--format", "json")
    found = json.loads(done.stdout)
    assert done.returncode == 1 and found["tests"] == []


RULE = [
    # haiku before, after; sonnet before, after; what is said
    ("fff", "ppp", "ppp", "ppp", "KEEP", 0),
    ("ppf", "ppp", "ppp", "ppp", "KEEP", 0),  # helped without a flip
    ("fff", "ppp", "ppf", "pff", "DISCARD", 1),  # the guard lost its bar
    ("ppp", "ppp", "ppp", "ppp", "DISCARD", 1),  # not helped
    ("ppp", "ppf", "ppp", "ppp", "DISCARD", 1),  # hurt
    ("fff", "ppp", "ppp", "ppf", "UNDECIDED", 2),  # the guard fell and kept its bar
    ("fff", "pfe", "ppp", "ppp", "UNDECIDED", 2),  # an error leaves the bar open
    ("fff", "ppp", "ppp", "eee", "UNDECIDED", 2),  # the guard was not measured
    ("fff", "eee", "ppp", "fff", "DISCARD", 1),  # whatever haiku does, the guard is hurt
]


@pytest.mark.parametrize(("before", "after", "guard_before", "guard_after", "outcome", "status"), RULE)
def test_the_tuning_rule(
    tmp_path: Path, before: str, after: str, guard_before: str, guard_after: str, outcome: str, status: int
) -> None:
    base = sessions("P1", "haiku", before) + sessions("P1", "sonnet", guard_before)
    now = sessions("P1", "haiku", after) + sessions("P1", "sonnet", guard_after)
    done = bin("diff", *both(tmp_path, base, now), "--keep-on", "haiku", "--guard", "sonnet")
    assert (done.stdout.splitlines()[0], done.returncode) == (outcome, status), done.stdout
    assert "haiku: " in done.stdout and ", p " in done.stdout


def test_a_gain_here_and_a_loss_there_is_undecided() -> None:
    base = sessions("P1", "haiku", "fff") + sessions("P2", "haiku", "ppp")
    now = sessions("P1", "haiku", "ppp") + sessions("P2", "haiku", "pff")
    outcome, (side,) = decisions.tuning(base, now, ["haiku"], [])
    assert (outcome, side.effect) == ("UNDECIDED", "unclear") and "1 gained and 1 lost" in side.told


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--guard", "sonnet"), "--guard alone keeps nothing"),
        (("--keep-on", "opus"), "'opus' has no sessions in both runs"),
    ],
)
def test_what_the_rule_cannot_be_asked(tmp_path: Path, words: tuple[str, ...], complaint: str) -> None:
    base, now = both(tmp_path, sessions("P1", "haiku", "p"), sessions("P1", "haiku", "p"))
    done = bin("diff", base, now, *words)
    assert done.returncode == 2 and complaint in one_line(done.stderr)
