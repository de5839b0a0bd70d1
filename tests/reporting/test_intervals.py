"""Intervals, the bar, ladders and discrimination, as bin/report prints them."""

import json
from pathlib import Path
from typing import Any

import pytest
from heldout.reporting import inference, summary
from hypothesis import given, settings
from hypothesis import strategies as st
from programs import bin
from scipy.stats import binomtest
from tabling import ladder, sessions, written


def report(folder: Path) -> dict[str, Any]:
    return json.loads(bin("report", folder, "--format", "json").stdout)


@pytest.mark.parametrize("outcomes", ["ppf", "fff", "pppppp", "pfpfpfpfee"])
def test_the_interval_of_a_scenario_is_wilsons_over_its_trials(tmp_path: Path, outcomes: str) -> None:
    (told,) = report(written(tmp_path, sessions("P1", "haiku", outcomes)))["scenarios"]
    passed, trials = outcomes.count("p"), len(outcomes) - outcomes.count("e")
    right = binomtest(passed, trials).proportion_ci(method="wilson")
    assert told["interval"] == pytest.approx([right.low, right.high], abs=1e-4)
    assert (told["trials"], told["errors"], told["rate"]) == (trials, outcomes.count("e"), round(passed / trials, 4))


@pytest.mark.parametrize(
    ("outcomes", "bar"),
    [
        ("ppf", "met"),
        ("pff", "missed"),
        ("ppe", "met"),
        ("pfe", "undecided"),
        ("ffe", "missed"),
        ("eee", "undecided"),
        ("p", "met"),
    ],
)
def test_the_bar_asks_for_two_thirds_of_the_reps_asked(tmp_path: Path, outcomes: str, bar: str) -> None:
    (told,) = report(written(tmp_path, sessions("P1", "haiku", outcomes)))["scenarios"]
    assert told["bar"] == bar


@given(st.text("pfe", min_size=1, max_size=9))
def test_a_bar_that_is_decided_stays_so_whatever_the_errors_had_been(outcomes: str) -> None:
    def bar(text: str) -> str:
        return inference.bar(summary.groups(sessions("P1", "haiku", text))[0])

    ends = {bar(outcomes.replace("e", "p")), bar(outcomes.replace("e", "f"))}
    assert bar(outcomes) == (ends.pop() if len(ends) == 1 else "undecided")


def test_pass_hat_k_falls_with_k_and_knows_no_more_than_the_trials(tmp_path: Path) -> None:
    (told,) = report(written(tmp_path, sessions("P1", "haiku", "ppfe")))["scenarios"]
    assert told["pass_hat_k"] == {"1": 0.6667, "2": 0.3333, "3": 0.0}
    assert told["pass_at_k"] == {"1": 0.6667, "2": 1.0, "3": 1.0}


def test_patterns_are_named_and_a_ladder_that_rises_is_noted(tmp_path: Path) -> None:
    table = ladder("sonnet", ["ppp", "ppp", "ppf"], ["ppp", "ppp", "ppp"])
    table += ladder("haiku", ["fff", "fff", "pff"], ["ppp", "ppp", "ppp"])
    table += ladder("opus", ["ppp", "ppp", "ppp"], ["fff", "fff", "fff"])
    found = report(written(tmp_path, table))
    told = {item["model"]: (item["pattern"], item["j"]) for item in found["discrimination"]}
    assert told == {
        "sonnet": ("discriminating", 0.8889),
        "haiku": ("never-writer", 0.1111),
        "opus": ("always-writer", 0.0),
    }
    rises = {(item["model"], item["polarity"]): item["violations"] for item in found["ladders"]}
    assert rises["haiku", "positive"] == 1 and rises["sonnet", "positive"] == 0
    out = bin("report", tmp_path).stdout
    assert "rises 1 ×, by at most 0.33" in out and "never-writer" in out and "always-writer" in out
    assert "not enough reps to say on which side of 2/3: 18 of 18" not in out  # 0 of 3 is below it for certain
    assert "one that always passes takes 8 reps" in out
    assert "at 3 reps it is met, by true rate: 50% at 0.5, 90% at 0.8, 99% at 0.95" in out


def test_the_mean_counts_each_scenario_once_and_has_two_intervals(tmp_path: Path) -> None:
    table = sessions("P1", "haiku", "pppppppppp") + sessions("P2", "haiku", "ff") + sessions("P3", "haiku", "ee")
    (told,) = report(written(tmp_path, table))["suites"]
    assert (told["mean_rate"], told["pass_rate"], told["scenarios"], told["k"]) == (0.5, 0.8333, 2, 2)
    low, high = told["interval"]
    assert low < told["over_reps"][0] < 0.5 < told["over_reps"][1] < high


def test_saved_traces_have_no_interval(tmp_path: Path) -> None:
    table = sessions("D1", "trace", "p", "diagnosis", agent="trace")
    found = report(written(tmp_path, table))
    assert found["scenarios"][0]["interval"] is None and found["suites"][0]["interval"] is None
    assert "intervals" not in bin("report", tmp_path).stdout


def test_what_it_took_is_told_as_medians_with_ranges(tmp_path: Path) -> None:
    table = [
        row
        for tools in (4, 9, 30)
        for row in sessions("E1", "haiku", "p", first=tools, tools=str(tools), mlshare="0.5")
    ]
    table += sessions("E1", "haiku", "pe", first=40, tools="nan")
    found = report(written(tmp_path, table))["economics"][0]["figures"]
    assert found == {
        "tools": {"median": 9, "low": 4, "high": 30, "of": 3},
        "mlshare": {"median": 0.5, "low": 0.5, "high": 0.5, "of": 3},
    }
    assert "9 (4–30)" in bin("report", tmp_path).stdout


def test_models_named_for_subagents_are_tallied(tmp_path: Path) -> None:
    table = sessions("E1", "haiku", "pp", tiers="haiku:2,unnamed:1") + sessions(
        "E2", "haiku", "pe", tiers="haiku:1,x:y"
    )
    assert report(written(tmp_path, table))["economics"] == []
    table += sessions("E3", "haiku", "p", turns="3")
    (told,) = report(written(tmp_path, table))["economics"]
    assert told["tiers"] == {"haiku": 5, "unnamed": 2, "x": 0}
    assert "5 haiku, 2 unnamed" in bin("report", tmp_path).stdout


def test_errors_are_told_by_code_and_those_cut_short_apart(tmp_path: Path) -> None:
    table = sessions("P1", "haiku", "pee")
    table[2] = type(table[2])(**{**table[2].__dict__, "reasons": ("limit: the session was stopped (timeout)",)})
    out = bin("report", written(tmp_path, table)).stdout
    assert "no trials: 1 api-error, 1 limit; 1 of them stopped before the end" in out


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("ABCD"), st.sampled_from(["m", "n"]), st.text("pfe", max_size=4)), max_size=6)
)
def test_any_table_has_a_report(cells: list[tuple[str, str, str]]) -> None:
    from heldout.reporting import build, junit, text

    table = [
        row
        for name, model, outcomes in cells
        for row in sessions(name, model, outcomes, polarity="positive", level="1")
    ]
    if table:
        for form in ("text", "md"):
            assert text.shown("x", table, form)
        assert build.build("x", table) and junit.written("x", table)
