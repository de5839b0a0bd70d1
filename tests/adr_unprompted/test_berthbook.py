"""The Ruby project of adr-unprompted is sound, and what each scenario says about it is visible in its code."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2] / "fixture/adr-unprompted/project"
RUBY = shutil.which("ruby")
needs_ruby = pytest.mark.skipif(RUBY is None, reason="ruby is not installed")


def source(path: str) -> str:
    return (PROJECT / path).read_text(encoding="utf-8")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return Path(shutil.copytree(PROJECT, tmp_path / "project"))


@needs_ruby
def test_ruby_accepts_every_file_without_a_warning(copy: Path) -> None:
    done = subprocess.run(["make", "lint"], cwd=copy, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@needs_ruby
def test_the_suite_of_the_project_passes_and_leaves_nothing(copy: Path) -> None:
    before = sorted(copy.rglob("*"))
    done = subprocess.run(["make", "test"], cwd=copy, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^[1-9]\d* runs, [1-9]\d* assertions, 0 failures, 0 errors, 0 skips$", done.stdout, re.M)
    assert sorted(copy.rglob("*")) == before


@needs_ruby
@pytest.mark.parametrize(
    ("words", "status", "out", "err"),
    [
        (["quote", "950", "2026-06-10", "3"], 0, "82.50 EUR\n", ""),
        (["quote", "950", "soon", "3"], 1, "", "berthbook: invalid date\n"),
        ([], 64, "", "berthbook serve"),
    ],
)
def test_the_command_line(copy: Path, words: list[str], status: int, out: str, err: str) -> None:
    done = subprocess.run([str(RUBY), "bin/berthbook", *words], cwd=copy, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (status, out)
    assert done.stderr.startswith(err)


@pytest.mark.parametrize(
    ("path", "pattern", "present"),
    [
        pytest.param("lib/berthbook/http/pages.rb", r"booking/|by_reference", False, id="R1: no page of a booking"),
        pytest.param(
            "lib/berthbook/bookings.rb", r"def find\(number\)[\s\S]*def by_reference", True, id="R1: both keys"
        ),
        pytest.param("lib/berthbook/notices/confirmation.rb", r"reference|number", False, id="R1: no key in the mail"),
        pytest.param("lib/berthbook/notices/outbox.rb", r"retry|tries|PAUSES|GIVE_UP", False, id="R2: no second try"),
        pytest.param(
            "lib/berthbook/notices/outbox.rb", r"rescue Courier::Refused\n.*\n.*failed", True, id="R2: dropped"
        ),
        pytest.param("lib/berthbook/bookings.rb", r"moved|changed", False, id="R3: no event for a change"),
        pytest.param("lib/berthbook/journal.rb", r'File\.open\(@path, "a"\)', True, id="R3: lines are appended"),
        pytest.param("lib/berthbook/cancellation.rb", r'Log\.info\("cancelled", berth:', True, id="R4: the line"),
        pytest.param("lib/berthbook/cancellation.rb", r"skipper\.|reference|late=", False, id="R4: nobody in the line"),
        pytest.param("config/tariffs/2026-04-01.yml", r'up_to: 800, night: "22"', True, id="R5: the price of today"),
        pytest.param("lib/berthbook/gate/code.rb", r"OPENS_AT|hour", False, id="R6: whole days"),
        pytest.param("lib/berthbook/notices/confirmation.rb", r"three[\s\S]*eleven", True, id="R6: the other hours"),
        pytest.param("lib/berthbook/http/desk.rb", r"@outbox\.put", True, id="R7: the outbox"),
        pytest.param("lib/berthbook/refund.rb", r"Money\.cents\(0\)", True, id="R8: all or nothing"),
        pytest.param("lib/berthbook/money.rb", r"\(cents \* factor\)\.round", True, id="R8: any factor is taken"),
        pytest.param("lib/berthbook/http/pages.rb", r"exchange", False, id="W1: no feed"),
        pytest.param("lib/berthbook/bookings.rb", r"guest|inbox", False, id="W2: everybody writes"),
        pytest.param("lib/berthbook/http/pages.rb", r"%\+\.2f m", True, id="W3: metres around the mean"),
        pytest.param("config/berths.yml", r"depth", False, id="W3: no depths"),
        pytest.param("lib/berthbook/http/pages.rb", r"POST", False, id="W4: nothing to settle"),
        pytest.param("lib/berthbook/gate/keypad.rb", r"CLOCK", False, id="W5: no clock"),
        pytest.param("bin/berthbook", r"Date\.today", True, id="W5: the day of the machine"),
        pytest.param("lib/berthbook/notices/reminder.rb", r"Kære", False, id="W6: one language"),
    ],
)
def test_the_premise_is_in_the_code(path: str, pattern: str, present: bool) -> None:
    assert bool(re.search(pattern, source(path))) is present


@pytest.mark.parametrize("path", ["CLAUDE.md", "README.md", "graphify-out/GRAPH_REPORT.md"])
def test_only_the_plugin_speaks_of_decisions(path: str) -> None:
    assert not re.search(r"\badrs?\b|decision|docs/|record|skill|supersed", source(path), re.I)
