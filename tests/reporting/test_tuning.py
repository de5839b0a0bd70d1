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
    assert (outcome, side.effect) == ("UNDECIDED", "unclear") and "1 gained and 1 lost" in side.told[0]


def test_unequal_reps_do_not_hide_a_regression_of_the_mean(tmp_path: Path) -> None:
    """Pooled over reps nothing moved; each scenario counts once, and its mean fell."""
    base = sessions("P0", "haiku", "f" * 60 + "p" * 20)
    now = sessions("P0", "haiku", "f" * 40 + "p" * 10)
    for number in range(1, 8):
        base += sessions(f"P{number}", "haiku", "p" * 5)
        now += sessions(f"P{number}", "haiku", "pff" * 3)
    done = bin("diff", *both(tmp_path, base, now), "--format", "json")
    (item,) = [item for item in json.loads(done.stdout)["items"] if item["kind"] == "pass_rate"]
    assert (done.returncode, item["outcome"]) == (1, "regression") and item["delta"] < 0


SUITES = [
    # what happens to haiku in a first suite and in a second one
    (("fff", "ppp"), ("pppppp", "ffffff"), "DISCARD"),
    (("fff", "ppp"), ("fff", "ppp"), "KEEP"),
    (("fff", "ppp"), ("ppp", "ppp"), "KEEP"),
    (("fff", "ppp"), ("ppp", ""), "UNDECIDED"),
]


@pytest.mark.parametrize(("one", "two", "outcome"), SUITES)
def test_each_suite_counts_in_the_tuning_rule(
    tmp_path: Path, one: tuple[str, str], two: tuple[str, str], outcome: str
) -> None:
    before = [*sessions("P1", "haiku", one[0], "first"), *sessions("P2", "haiku", two[0], "second")]
    after = [*sessions("P1", "haiku", one[1], "first"), *sessions("P2", "haiku", two[1], "second")]
    done = bin("diff", *both(tmp_path, before, after), "--keep-on", "haiku", "--format", "json")
    assert json.loads(done.stdout)["outcome"] == outcome
    guarded = decisions.tuning(before, after, ["haiku"], ["haiku"])[0]
    assert guarded == outcome


def test_a_case_or_a_model_that_is_gone_is_said_and_is_status_2(tmp_path: Path) -> None:
    base = sessions("P1", "haiku", "ppp") + sessions("P2", "haiku", "ppp") + sessions("P1", "sonnet", "ppp")
    done = bin("diff", *both(tmp_path, base, sessions("P1", "haiku", "ppp")))
    assert done.returncode == 2 and "not measured in 'now': P2 haiku, P1 sonnet" in one_line(done.stderr)
    assert bin("diff", tmp_path / "now", tmp_path / "base").returncode == 0


def test_nothing_decided_on_both_sides_is_status_2(tmp_path: Path) -> None:
    base, now = both(tmp_path, sessions("P1", "haiku", "ee"), sessions("P1", "haiku", "pp"))
    done = bin("diff", base, now)
    assert done.returncode == 2 and "no case was decided on both sides" in done.stderr


def test_a_new_case_that_fails_is_no_drop_of_the_others(tmp_path: Path) -> None:
    base = sessions("P1", "never", "p", agent="actor")
    now = [*base, *sessions("P2", "never", "f", agent="actor")]
    done = bin("diff", *both(tmp_path, base, now))
    assert done.returncode == 0 and "new case" in done.stdout


def test_a_row_that_could_not_be_read_takes_suite_and_agent_of_those_beside_it(tmp_path: Path) -> None:
    base = sessions("P1", "never", "pp", agent="actor")
    now = sessions("P1", "never", "fe", agent="actor")
    now[1] = Row("P1", "never", 2, "ERROR", {}, ("sandbox-error: x",), {})
    done = bin("diff", *both(tmp_path, base, now))
    assert done.returncode == 1 and "tested" not in done.stdout


def test_one_name_in_two_suites_is_two_scenarios(tmp_path: Path) -> None:
    table = sessions("P1", "haiku", "ppp", "first") + sessions("P1", "haiku", "fff", "second")
    found = json.loads(bin("report", written(tmp_path, table), "--format", "json").stdout)
    assert [(item["suite"], item["passed"]) for item in found["scenarios"]] == [("first", 3), ("second", 0)]
    assert [item["mean_rate"] for item in found["suites"]] == [1.0, 0.0]


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
