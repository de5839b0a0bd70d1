"""What is told of a figure: no rate is rounded to all or none, no p to 0, and gates compare what was measured."""

import json
import re
from pathlib import Path

import pytest
from heldout.reporting import charts, printed
from hypothesis import given
from hypothesis import strategies as st
from programs import bin, one_line
from tabling import ladder, sessions, written

MOST = 209
NEARLY = "p" * MOST + "f"


@given(st.integers(1, 10**6), st.integers(1, 10**6), st.sampled_from([1, -1]))
def test_a_rate_is_told_as_all_or_none_only_where_it_is(passed: int, failed: int, sign: int) -> None:
    value = sign * passed / (passed + failed)
    for text in (printed.rate(value), printed.rate(value, 3, "+"), printed.short(value), str(printed.rounded(value))):
        assert float(text) not in (-1, 0, 1) and float(text) == pytest.approx(value, abs=0.00501)
    assert float(printed.percent(value)) not in (-100, 0, 100)
    assert re.sub(r"[^0-9.]", "", charts.share(abs(value))) not in ("0", "100")


def test_whole_numbers_and_ordinary_rates_are_as_short_as_ever() -> None:
    rates = [printed.rate(value) for value in (0, 1, 2 / 3, 0.5, 0.1 + 0.2 + 0.7)]
    assert rates == ["0.00", "1.00", "0.67", "0.50", "1.00"]
    assert [printed.percent(value) for value in (0, 1, 2 / 3, 0.995)] == ["0", "100", "67", "99.5"]
    assert [printed.short(value) for value in (0, 1, 0.5, 209 / 210)] == ["0", "1", "0.5", "0.995"]
    assert [printed.p_value(value) for value in (1, 1 / 35, 0.001, 2e-6)] == ["1", "0.0286", "0.001", "<0.001"]


def test_no_format_rounds_209_of_210_to_all(tmp_path: Path) -> None:
    run = written(tmp_path / "grid", sessions("P1", "haiku", NEARLY))
    assert "  0.995  " in bin("report", run).stdout and "| 0.995 |" in bin("report", run, "--format", "md").stdout
    assert ">99.5\u00a0%<" in bin("report", run, "--format", "html").stdout
    rare = written(tmp_path / "rare", sessions("P1", "haiku", "f" * 299 + "p"))
    assert "  0.003  " in bin("report", rare).stdout
    assert ">0.3\u00a0%<" in bin("report", rare, "--format", "html").stdout


def test_data_keeps_what_tells_a_rate_from_all(tmp_path: Path) -> None:
    run = written(tmp_path, sessions("P1", "haiku", "p" * 3000 + "f"))
    found = json.loads(bin("report", run, "--format", "json").stdout)
    assert found["summary"]["pass_rate"] == found["suites"][0]["mean_rate"] == found["scenarios"][0]["rate"] == 0.9997


def test_positives_and_levels_that_are_nearly_all_are_told_so(tmp_path: Path) -> None:
    out = bin("report", written(tmp_path, ladder("haiku", [NEARLY, NEARLY], [NEARLY, NEARLY]))).stdout
    assert "vault-write  haiku  0.995      0.005         +0.99" in out
    assert "0.995 0.97–0.999" in out


def test_the_curve_of_the_bar_is_not_rounded_to_certainty(tmp_path: Path) -> None:
    out = bin("report", written(tmp_path, sessions("P1", "haiku", "p" * 12))).stdout
    assert "by true rate: 19% at 0.5, 93% at 0.8, 99.98% at 0.95" in out


GATES = [
    # outcomes of scenarios, gate, status, what is told of the figure
    ([NEARLY], "haiku>=1", 1, "0.995"),
    (["p" * 9999 + "f"], "haiku>=1", 1, "0.9999"),
    (["ppf"], "haiku>=0.67", 1, "0.667"),
    (["ppf"], "haiku>=0.667", 1, "0.6667"),
    (["ppf"], "haiku>=2/3", 0, "0.667"),
    (["ppf", "ppp", "pff"], "haiku>=2/3", 0, "0.667"),
    (["p" * 7 + "fff", "p" * 8 + "ff", "p" * 9 + "f"], "haiku>=0.8", 0, "0.8"),  # as fractions, not sums of floats
    (["p" * 3 + "f" * 7] * 3, "haiku>=0.3", 0, "0.3"),
    (["p" * 199 + "f" * 101], "haiku>=0.66333333", 0, "0.66333333"),
    (["p"], "haiku>=1", 0, "1"),
    (["p"], "haiku>=1.0", 0, "1"),
    (["ppf"], "haiku>=1/0", 2, "is no gate"),
    (["ppf"], "haiku>=3/2", 2, "is no gate"),
]


@pytest.mark.parametrize(("outcomes", "gate", "status", "told"), GATES)
def test_a_gate_compares_what_was_measured(
    tmp_path: Path, outcomes: list[str], gate: str, status: int, told: str
) -> None:
    table = [row for number, each in enumerate(outcomes) for row in sessions(f"P{number}", "haiku", each)]
    done = bin("report", written(tmp_path, table), "--gate", gate)
    assert done.returncode == status, done.stderr
    assert f" {told} " in f"{one_line(done.stderr)} ".replace(";", " ;")


def test_a_gate_of_a_low_end_tells_it(tmp_path: Path) -> None:
    done = bin("report", written(tmp_path, sessions("P1", "haiku", "ppf")), "--gate", "low(haiku)>=0.5")
    assert done.returncode == 1 and re.search(r"missed: vault-write haiku 0\.667 .*, low 0\.[0-4]", done.stderr)


def test_a_p_value_is_never_told_as_0(tmp_path: Path) -> None:
    base = [*sessions("P1", "haiku", "f" * 12), *sessions("P2", "haiku", "f" * 12)]
    now = [*sessions("P1", "haiku", "p" * 12), *sessions("P2", "haiku", "p" * 12)]
    runs = written(tmp_path / "base", base), written(tmp_path / "now", now)
    assert "  <0.001  improvement" in bin("diff", *runs).stdout
    assert "| &lt;0.001 |" in bin("diff", *runs, "--format", "md").stdout
    assert ", p <0.001" in bin("diff", *runs, "--keep-on", "haiku").stdout
    (test,) = json.loads(bin("diff", *runs, "--format", "json").stdout)["tests"]
    assert 0 < test["p"] < 1e-6 and 0 < test["floor"] < 1e-6 and 0 < test["adjusted"] < 1e-6


def test_a_small_difference_is_not_told_as_none(tmp_path: Path) -> None:
    base = written(tmp_path / "base", sessions("P1", "haiku", "p" * 210))
    now = written(tmp_path / "now", sessions("P1", "haiku", NEARLY))
    out = bin("diff", base, now).stdout
    assert "pass rate   1     0.995    -0.005" in out and "-0.005" in out and "-0.00 " not in out
    assert "mean -0.005" in bin("diff", base, now, "--keep-on", "haiku").stdout
