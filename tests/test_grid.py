"""make grid: Make's own resume, nothing bought twice, the table whole at every moment."""

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from copying import copied
from heldout import rows
from programs import ROOT, bin, command, hearing, one_line

SCENARIOS = "SCENARIOS=P1 N1"


def _make(root: Path, *words: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return command(["make", "-C", root, *words], env=env)


def _cells(root: Path) -> dict[str, int]:
    return {
        path.parent.relative_to(root).as_posix(): path.stat().st_mtime_ns
        for path in (root / "results").rglob("cell.json")
    }


def test_a_grid_runs_resumes_grows_and_never_runs_a_cell_twice(repository: Path) -> None:
    first = _make(repository, "grid", "MODELS=compliant never", SCENARIOS)
    assert first.returncode == 0, first.stderr
    assert [line.split()[0] for line in first.stderr.splitlines()] == ["[1/4]", "[2/4]", "[3/4]", "[4/4]"]
    assert "about" in first.stderr.splitlines()[0]
    table = repository / "results/grid/results.tsv"
    verdicts = {(row.scenario[:2], row.model): row.verdict for row in rows.read(table)}
    assert verdicts == {
        ("P1", "compliant"): "PASS",
        ("P1", "never"): "FAIL",
        ("N1", "compliant"): "PASS",
        ("N1", "never"): "PASS",
    }
    before = _cells(repository)
    again = _make(repository, "grid", "MODELS=compliant never", SCENARIOS)
    assert (again.returncode, again.stderr) == (0, "")
    assert again.stdout == first.stdout
    assert _cells(repository) == before
    # what is edited or touched buys nothing
    for path in (repository / "lib/heldout/checks/vault.py", repository / "bin/check", repository / "Makefile"):
        path.write_text(path.read_text() + "\n# edited\n")
    for path in (repository / "fixture/vault-write").rglob("*.md"):
        path.touch()
    assert _make(repository, "grid", "MODELS=compliant never", SCENARIOS).returncode == 0
    assert _cells(repository) == before
    more = _make(repository, "grid", "MODELS=compliant never", SCENARIOS, "REPS=2")
    assert more.returncode == 0
    assert {cell: stamp for cell, stamp in _cells(repository).items() if cell in before} == before
    assert len(rows.read(table)) == 8


def test_changed_wording_or_instrument_stops_before_anything_runs(repository: Path) -> None:
    _make(repository, "grid", "MODELS=never", "SCENARIOS=N1")
    skill = next((repository / "fixture/plugins/os-vault/skills").rglob("SKILL.md"))
    skill.write_text(skill.read_text() + "\nAnother sentence.\n")
    for words in (("MODELS=never", "SCENARIOS=N1", "REPS=2"), ("MODELS=always", "SCENARIOS=P1")):
        done = _make(repository, "grid", *words)
        assert done.returncode == 2, "also where other cells of the run are asked for"
        assert "plugin:os-vault changed since N1-L1-reporting never r1; name a new run, RUN=" in done.stderr
    assert len(_cells(repository)) == 1
    assert _make(repository, "grid", "MODELS=never", "SCENARIOS=N1", "RUN=after").returncode == 0
    scenario = repository / "scenarios/vault-write/N1-L1-reporting.md"
    scenario.write_text(scenario.read_text().replace("turns: 40", "turns: 41"))
    done = _make(repository, "grid", "MODELS=never", "SCENARIOS=N1", "RUN=after")
    assert done.returncode == 2 and "limits changed since" in done.stderr


def test_killed_halfway_it_ends_with_the_same_rows_and_runs_only_what_was_missing(repository: Path) -> None:
    words = ["make", "-C", str(repository), "grid", "MODELS=compliant never", SCENARIOS, "REPS=2", "JOBS=2"]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    while len(_cells(repository)) < 3:
        assert process.poll() is None
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    kept = {cell: stamp for cell, stamp in _cells(repository).items() if "attempts" not in cell}
    assert 3 <= len(kept) < 8
    done = _make(repository, *words[3:])
    assert done.returncode == 0, done.stderr
    assert len(done.stderr.splitlines()) == 8 - len(kept)
    after = _cells(repository)
    assert {cell: after[cell] for cell in kept} == kept
    table = rows.read(repository / "results/grid/results.tsv")
    assert len(table) == len({(row.scenario, row.model, row.rep) for row in table}) == 8


def test_an_odd_model_name_is_a_path_and_its_own_name_again(repository: Path) -> None:
    aliases = repository / "lib/models.yaml"
    aliases.write_text(aliases.read_text() + '\n"maker/odd-1:beta[1m]@x": {agent: actor, model: never}\n')
    done = _make(repository, "grid", "MODELS=maker/odd-1:beta[1m]@x", "SCENARIOS=N1")
    assert done.returncode == 0, done.stderr
    assert list(_cells(repository)) == ["results/grid/vault-write/N1-L1-reporting/maker+odd-1~beta[1m]@x/r1"]
    assert [row.model for row in rows.read(repository / "results/grid/results.tsv")] == ["maker/odd-1:beta[1m]@x"]
    assert _make(repository, "grid", "MODELS=maker/odd-1:beta[1m]@x", "SCENARIOS=N1").stderr == ""


def test_a_cell_that_ends_in_error_does_not_stop_the_others_and_the_grid_says_so(repository: Path) -> None:
    for item in (repository / "fixture/vault-write/actors").glob("[PN]1-*.yaml"):
        item.write_text(item.read_text() + "\ndying:\n  expect: {verdict: ERROR}\n  ends: api_error\n")
    done = _make(repository, "grid", "MODELS=dying never", SCENARIOS)
    assert done.returncode == 2
    assert "make grid: 2 cells are not measured; run it again to try them" in done.stderr
    verdicts = {
        (row.scenario[:2], row.model): row.verdict for row in rows.read(repository / "results/grid/results.tsv")
    }
    assert verdicts == {
        ("P1", "dying"): "ERROR",
        ("N1", "dying"): "ERROR",
        ("P1", "never"): "FAIL",
        ("N1", "never"): "PASS",
    }
    assert "0/0 +1 ERROR" in done.stdout


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("-B", "grid"), "make -B would pay for every cell again"),
        (("grid", "SCENARIOS=P1x"), "unknown scenario 'P1x'"),
        (
            ("grid", "SCENARIOS=N1", "MODELS=sonnett"),
            "unknown model 'sonnett' for N1-L1-reporting; did you mean 'sonnet'?",
        ),
        (("grid", "MODELS=alwayss never"), "unknown model 'alwayss' for any of 27 scenarios; did you mean 'always'?"),
        (("grid", "MODELS=always", "SCENARIOS=S1"), "unknown model 'always' for S1-create"),
        (
            ("grid", "SCENARIOS=P1", "SUITE=diagnosis"),
            "'P1-L1-reporting' is in suite 'vault-write', not in 'diagnosis'; leave SUITE out",
        ),
        (("grid", "SCENARIOS=P1", "SUITE=vault-wrote"), "unknown suite 'vault-wrote'"),
        (("grid", "SUITE=vault-wrote"), "unknown suite 'vault-wrote'; did you mean 'vault-write'?"),
        (("grid", "SET=both"), "set 'both' is neither 'run' nor 'reserve'"),
        (("grid", "RUN=a/b"), "RUN is one folder name"),
        (("grid", "RUN=.."), "RUN is one folder name"),
        (("grid", "RUN=10:30"), "RUN is one folder name"),
        (("grid", "RUN=it's"), "RUN is one folder name"),
        (("grid", "RUN=baseline"), "results/baseline is where the baselines are kept; name another run, RUN=…"),
        (("grid", "RUN=ledger.tsv"), "results/ledger.tsv is no folder; name another run, RUN=…"),
        (("-t", "grid"), "make -t would make empty cells"),
        (("grid", "SCENARIOS=N1", "SUBJECT=/nonexistent"), "'/nonexistent' replaces nothing of N1-L1-reporting"),
        (("grid", "REPS=0"), "invalid value for '--reps'"),
        (("canary",), "canary needs SCENARIO="),
        (("grid", "PURPOSE=foo"), "purpose 'foo' is none of measure, tune, canary"),
        (("grid", "SET=reserve", "PURPOSE=foo"), "purpose 'foo' is none of measure, tune, canary"),
        (("plan", "BUDGET_USD=ten"), "BUDGET_USD is 'ten'; give US dollars, such as 2.50"),
        (("grid", "BUDGET_USD=ten"), "BUDGET_USD is 'ten'; give US dollars, such as 2.50"),
        (("grid", "RETRIES=some"), "invalid value for '--retries'"),
        (("grid", "JUDGE_VOTES=2"), "JUDGE_VOTES is 2; use an odd number"),
        (("grid", "HELDOUT_SANDBOXES=/dev/null/x"), "set HELDOUT_SANDBOXES to a folder of your own"),
        (("grid", "MODELS=never@claude", "SUITE=vault-write", "HELDOUT_CLAUDE=true"), "printed no version"),
    ],
)
def test_what_is_wrong_stops_before_anything_runs(repository: Path, words: tuple[str, ...], complaint: str) -> None:
    done = _make(repository, *words)
    assert done.returncode == 2
    assert complaint in done.stderr
    assert len([line for line in done.stderr.splitlines() if not line.startswith("make: *** [")]) == 1
    assert not _cells(repository)


def test_a_broken_scenario_anywhere_stops_the_whole_grid(repository: Path) -> None:
    broken = repository / "scenarios/vault-write/P3-L3-reporting.md"
    broken.write_text(broken.read_text().replace("posture: unprompted", "postur: unprompted"))
    done = _make(repository, "grid", "MODELS=never")
    assert done.returncode == 2 and "unknown key 'postur'" in done.stderr
    assert not _cells(repository)


def test_rescore_runs_no_agent_and_follows_a_changed_check(repository: Path) -> None:
    _make(repository, "grid", "MODELS=compliant", "SCENARIOS=P1")
    before = _cells(repository)
    scenario = repository / "scenarios/vault-write/P1-L1-reporting.md"
    scenario.write_text(scenario.read_text().replace("B: {note_contract: {}}", "B: {not: {note_contract: {}}}"))
    done = _make(repository, "rescore")
    assert done.returncode == 0, done.stderr
    assert _cells(repository) == before
    assert [row.verdict for row in rows.read(repository / "results/grid/results.tsv")] == ["FAIL"]


def test_canary_shows_the_row_beside_what_it_rests_on(repository: Path) -> None:
    done = _make(repository, "canary", "SCENARIO=P1", "MODEL=compliant")
    assert done.returncode == 0, done.stderr
    assert "P1-L1-reporting\tcompliant\t1\tPASS" in done.stdout
    assert "matches the topic" in done.stdout
    assert "\tWrite\t" in done.stdout
    assert _cells(repository)


def test_help_lists_targets_and_variables() -> None:
    out = command(["make", "help"], cwd=Path(__file__).parents[1]).stdout
    assert all(
        f"make {target}" in out for target in ("grid", "rescore", "report", "canary", "self-test", "test", "setup")
    )
    assert "MODELS" in out and "REPS" in out


def _waiting(root: Path, tmp_path: Path, seconds: int) -> list[str]:
    """The words of a grid whose cells, two at a time, never end by themselves; each leaves a file of its own."""
    actors = root / "fixture/vault-write/actors/N1-L1-reporting.yaml"
    begin = f"touch {tmp_path}/begun.$$; sleep {seconds}"
    turns = f'[{{text: a, calls: [{{Bash: {{command: "{begin}", description: wait}}}}]}}, {{text: done}}]'
    actors.write_text(f"{actors.read_text()}\nwaiting:\n  expect: {{verdict: PASS}}\n  turns: {turns}\n")
    return ["make", "-C", str(root), "grid", "MODELS=waiting", "SCENARIOS=N1", "REPS=4", "JOBS=2"]


def _left(group: int, seconds: int) -> list[str]:
    """What is left of a process group, and of the cells that it ran."""
    found = list[str]()
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            words = path.read_text().rpartition(")")[2].split()
            line = (path.parent / "cmdline").read_bytes().decode().replace("\0", " ")
            if words[0] != "Z" and (int(words[2]) == group or line == f"sleep {seconds} "):
                found.append(line)
    return found


def _until(holds: Callable[[], bool]) -> bool:
    for _ in range(400):
        if holds():
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL])
def test_a_grid_whose_make_is_ended_stops_paying(repository: Path, tmp_path: Path, by: signal.Signals) -> None:
    seconds = 610 + by
    words = _waiting(repository, tmp_path, seconds)
    with open(tmp_path / "said", "w") as said:
        process = subprocess.Popen(words, stdout=said, stderr=said, start_new_session=True, preexec_fn=hearing)
    assert _until(lambda: len(list(tmp_path.glob("begun.*"))) == 2)
    os.kill(process.pid, by)
    if by == signal.SIGKILL:  # nobody hears yet that it is over
        assert _until(lambda: not _left(process.pid, seconds)), _left(process.pid, seconds)
    assert process.wait(timeout=20) != 0
    assert not _left(process.pid, seconds), "whoever waits for make waits for what it ran"
    assert len(list(tmp_path.glob("begun.*"))) == 2
    assert not list((repository / "results/grid").glob("under-way*"))
    assert "make grid: stopped; run it again" in (tmp_path / "said").read_text()
    assert not _cells(repository)
    actors = repository / "fixture/vault-write/actors/N1-L1-reporting.yaml"
    actors.write_text(actors.read_text().replace(f"sleep {seconds}", "true"))
    assert _make(repository, *words[3:]).returncode == 0
    assert len([cell for cell in _cells(repository) if cell.startswith("results/grid/attempts")]) == 2


def test_what_a_killed_make_left_behind_means_nothing(repository: Path) -> None:
    mark = repository / "results/grid/under-way.1"
    mark.parent.mkdir(parents=True)
    mark.write_text("1")
    done = _make(repository, "grid", "MODELS=never", "SCENARIOS=N1", "under-way=results/grid/under-way.1")
    assert done.returncode == 0, done.stderr
    assert len(_cells(repository)) == 1 and not mark.exists()


def test_a_cell_refuses_to_start_once_the_grid_is_gone(tmp_path: Path) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    for mark in ("", str(gone.pid)):
        (tmp_path / "mark").write_text(mark)
        done = bin("run", "N1", "never", tmp_path / "run", "--while", tmp_path / "mark")
        assert done.returncode == 2
        assert "nothing is started: the grid was stopped" in done.stderr
    assert not list(tmp_path.rglob("cell.json"))


@pytest.mark.parametrize(("harm", "target"), [("torn", "rescore"), ("stray", "grid")])
def test_a_table_that_cannot_be_read_is_written_afresh_from_the_cells(repository: Path, harm: str, target: str) -> None:
    words = ["MODELS=never", "SCENARIOS=P1 N1"]
    _make(repository, "grid", *words)
    table = repository / "results/grid/results.tsv"
    whole = table.read_text()
    head, first, second = whole.splitlines()
    harmed = whole + "x" if harm == "torn" else f"{head}\n{first}\nstray\n{second.replace('FAIL', 'PASS')}\n"
    for name in ("results.tsv.unreadable", "results.tsv.unreadable.2"):
        table.write_text(harmed)
        done = _make(repository, target, *words)
        assert done.returncode == 0, done.stderr
        assert table.read_text() == whole and (table.parent / name).read_text() == harmed
        said = done.stderr.splitlines()
        if harm == "stray":
            assert "results/grid/results.tsv:3: 1 columns where 7 are expected; not compared with" in said[-2]
            assert "P1-L1-reporting\tnever\t1\tPASS → FAIL" in done.stdout, "what can be read is compared with"
        else:
            assert (
                "results/grid/results.tsv:4: the line has no end, a writer was cut off; not compared with" in said[-2]
            )
        assert said[-1].endswith(f"is written afresh, the unreadable one is kept as 'results/grid/{name}'")


def test_a_table_without_cells_that_cannot_be_read_says_what_to_do(tmp_path: Path) -> None:
    table = tmp_path / "results.tsv"
    table.write_text(f"{rows.HEADER}\nx")
    told = f"{table}:2: the line has no end, a writer was cut off; "
    for program in ("report", "tune"):
        words = ["start"] if program == "tune" else []
        done = bin(program, *words, tmp_path)
        assert done.returncode == 2
        assert f"{told}'bin/rescore {tmp_path}' writes it afresh from its cells" in one_line(done.stderr)
    done = bin("rescore", tmp_path)
    assert done.returncode == 2 and table.read_text().endswith("x")
    assert f"{told}'{tmp_path}' has no cells to write it afresh from: mend the line" in done.stderr.splitlines()[-1]


def test_one_grid_takes_the_actors_of_several_suites(tmp_path: Path) -> None:
    words = ["--scenarios", "P1 S1 D1", "--models", "compliant always never@claude trace", "--dry"]
    done = bin("cells", tmp_path / "run", *words)
    assert done.returncode == 0, done.stderr
    listed = [Path(line).relative_to(tmp_path / "run").parts[1:3] for line in done.stdout.splitlines()]
    assert sorted((scenario.partition("-")[0], model) for scenario, model in listed) == [
        ("D1", "trace"),
        ("P1", "always"),
        ("P1", "compliant"),
        ("P1", "never@claude"),
        ("S1", "compliant"),
    ]
    assert done.stderr.splitlines() == [
        "cells: 'always' is left out of a scenario that has no such actor",
        "cells: 'never@claude' is left out of a scenario that has no such actor",
    ]


@pytest.mark.parametrize("by", ["argument", "environment"])
@pytest.mark.parametrize(
    ("target", "name", "told"),
    [
        ("grid", "MODELS", "cannot be a path"),
        ("plan", "SUITE", "unknown suite"),
        ("plan", "SCENARIOS", "unknown scenario"),
        ("plan", "REPS", "invalid value for '--reps'"),
        ("plan", "SET", "is neither 'run' nor 'reserve'"),
        ("plan", "PLUGIN", "is not a plugin"),
        ("plan", "SUBJECT", "replaces nothing"),
        ("plan", "JOBS", "invalid value for '--jobs'"),
        ("plan", "PURPOSE", "is none of"),
        ("plan", "BUDGET_USD", "BUDGET_USD is 'it's$(touch "),
        ("report", "RUN", "RUN is one folder name"),
        ("report", "FORMAT", "is none of text"),
        ("diff", "BASE", "'it's$(touch "),
        ("answers", "TO", "it's$(touch"),
    ],
)
def test_a_value_is_text_whatever_it_holds(tmp_path: Path, target: str, name: str, told: str, by: str) -> None:
    """Neither make nor a shell carries out what stands in it, and neither stumbles over its quotes."""
    value = f"it's$(touch {tmp_path}/ran)$(shell touch {tmp_path}/ran)`touch {tmp_path}/ran`\"$$"
    given = {name: value} if by == "environment" else {}
    run = [] if name == "RUN" else ["RUN=never-made"]
    done = command(["make", target, *run, *([f"{name}={value}"] if by == "argument" else [])], cwd=ROOT, env=given)
    assert done.returncode == 2 and told in done.stderr, done.stderr
    assert "unexpected EOF" not in done.stderr
    assert not list(tmp_path.iterdir())


def test_blanks_and_quotes_in_folders_are_part_of_their_names(tmp_path: Path) -> None:
    place = tmp_path / "it's a clone"
    place.mkdir()
    root = copied(place)
    plugin = place / "my plug"
    shutil.copytree(ROOT / "fixture/plugins/os-vault", plugin)
    refresh = f"echo 'it was' refreshed; echo $HOME >\"{place}/refreshed\""
    words = ["MODELS=never", "SCENARIOS=N1", f"PLUGIN={plugin}", f"REFRESH={refresh}"]
    done = _make(root, "grid", *words, env={"HOME": "/the/home"})
    assert done.returncode == 0, done.stderr
    assert "it was refreshed" in done.stderr and (place / "refreshed").read_text() == "/the/home\n"
    assert [row.verdict for row in rows.read(root / "results/grid/results.tsv")] == ["PASS"]
    to = f"TO={place}/the  answers"
    assert _make(root, "prompts", to, "MODELS=haiku", "SCENARIOS=S4").returncode == 0
    (place / "the  answers/001/ANSWER.md").write_text("I do not know.\n")
    done = _make(root, "answers", to)
    assert (done.returncode, done.stderr) == (0, "")
    assert "S4-find-rule" in done.stdout
    two = f"PLUGIN={plugin} {ROOT}/fixture/plugins/os-adr"
    assert f"'{place.parent}/it's' is not a plugin" in _make(root, "plan", two, "SCENARIOS=N1").stderr


def test_a_cell_of_a_grid_gets_the_environment_of_the_user_and_nothing_of_the_grid(
    repository: Path, tmp_path: Path
) -> None:
    """Where the user's own configuration is the treatment (ISOLATE=user), the client sees the environment itself."""
    client = tmp_path / "client"
    client.write_text(f'#!/bin/sh\n[ "$1" = --version ] && echo 2.1.332 || env >{tmp_path}/seen\n')
    client.chmod(0o755)
    given = {"HELDOUT_CLAUDE": str(client), "ISOLATE": "user", "ANTHROPIC_API_KEY": "x", "MODELS": "haiku"}
    given |= {"PYTHONPATH": "/mine", "PYTHONHOME": "/home"}
    _make(repository, "grid", "SCENARIOS=N1", "RETRIES=0", env=given)
    seen = dict(line.split("=", 1) for line in (tmp_path / "seen").read_text().splitlines() if "=" in line)
    assert (seen["PYTHONPATH"], seen["PYTHONHOME"]) == (f"{repository}/lib:/mine", "/home")
    assert {name: seen[name] for name in ("MODELS", "SCENARIOS", "RETRIES", "FIRST")}
    assert not [name for name in seen if "way" in name or "mark" in name or "asked" in name]
