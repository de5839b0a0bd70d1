"""Held out means held out: the seal, the ledger, contamination, and no Task in anything that is printed."""

import hashlib
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from heldout import rows
from programs import ROOT, bin, command, one_line


@pytest.fixture
def project(repository: Path) -> Path:
    return repository


@pytest.fixture
def small(project: Path) -> Path:
    """A project with one pair in either set, so that whole runs of it are short."""
    for path in [*project.glob("scenarios/*/*.md"), *project.glob("scenarios-reserve/*/*.md")]:
        if path.stem[:3] not in ("P1-", "N1-", "P4-", "N4-"):
            path.unlink()
    kept = ("set\t", "P1-", "N1-", "P4-", "N4-")  # phrases of a set that no scenario has are a difference
    for phrases in project.glob("fixture/*/phrases.tsv"):
        phrases.write_text("".join(line for line in phrases.read_text().splitlines(True) if line.startswith(kept)))
    bin("seal", "accept", "--reason", "a smaller one", root=project)
    return project


def _make(root: Path, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    return command(["make", "--no-print-directory", "-C", root, *words], env=env)


def _ledger(root: Path) -> list[list[str]]:
    """The lines that were added since the project was copied."""
    known = len((ROOT / "results/ledger.tsv").read_text().splitlines())
    return [line.split("\t") for line in (root / "results/ledger.tsv").read_text().splitlines()[known:]]


def _reserve(root: Path) -> Path:
    return root / "scenarios-reserve/vault-write/N4-L1-delivery.md"


def test_the_seal_is_what_sha256sum_says(project: Path) -> None:
    assert bin("seal", "verify", root=project).returncode == 0
    done = command(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=project / "scenarios-reserve")
    assert done.returncode == 0, done.stdout


def test_one_byte_in_the_reserve_stops_everything_by_name(project: Path) -> None:
    _reserve(project).write_text(_reserve(project).read_text() + " ")
    done = bin("seal", "verify", root=project)
    assert (done.returncode, done.stdout) == (
        1,
        "'scenarios-reserve/vault-write/N4-L1-delivery.md' is not what was sealed\n",
    )
    for words in (("grid", "MODELS=never", "SCENARIOS=N1"), ("lint",)):
        done = _make(project, *words)
        assert done.returncode == 2
        assert "N4-L1-delivery.md' is not what was sealed" in done.stdout + done.stderr
    done = bin("run", "N4", "never", project / "work", "--purpose", "measure", root=project)
    assert done.returncode == 2 and "the reserve's seal is broken" in one_line(done.stderr)
    assert not list((project / "results").rglob("cell.json")) and not (project / "work").exists()


def test_files_added_or_removed_break_the_seal(project: Path) -> None:
    _reserve(project).unlink()
    (project / "scenarios-reserve/vault-write/X1-new.md").write_text("x")
    lines = bin("seal", "verify", root=project).stdout.splitlines()
    assert lines == [
        "'scenarios-reserve/vault-write/N4-L1-delivery.md' is sealed but missing",
        "'scenarios-reserve/vault-write/X1-new.md' is not sealed",
    ]


def test_a_changed_reserve_is_accepted_with_a_reason_that_is_kept(project: Path) -> None:
    _reserve(project).write_text(_reserve(project).read_text() + "\n")
    assert "needs a reason" in one_line(bin("seal", "accept", root=project).stderr)
    assert bin("seal", "accept", "--reason", "a typo", root=project).returncode == 0
    assert bin("seal", "verify", root=project).returncode == 0
    digest = hashlib.sha256(_reserve(project).read_bytes()).hexdigest()[:16]
    assert [line[4:] for line in _ledger(project)] == [
        ["N4-L1-delivery", digest, "accept", _ledger(project)[0][7], "a typo"]
    ]
    assert "nothing to accept" in one_line(bin("seal", "accept", "--reason", "x", root=project).stderr)


@pytest.mark.parametrize("by", ["make", "run"])
def test_the_reserve_is_opened_only_for_a_purpose_and_that_is_kept(project: Path, by: str) -> None:
    def go(**env: str) -> subprocess.CompletedProcess[str]:
        if by == "make":
            return _make(project, "grid", "MODELS=never", "SCENARIOS=N4", "SET=reserve", "REPS=2", "RUN=r", **env)
        return bin("run", "N4", "never", project / "results/r", "--reps", 2, root=project, env=env)

    refused = go()
    assert refused.returncode == 2
    assert re.search(r"opened (only )?for", refused.stderr)
    assert not _ledger(project)
    assert "purpose 'fun' is none of" in go(PURPOSE="fun").stderr
    for _ in range(2):
        assert go(PURPOSE="measure").returncode == 0
    assert [line[1:7] for line in _ledger(project)] == [
        ["r", "reserve", "vault-write", "N4-L1-delivery", _ledger(project)[0][5], "measure"]
    ]
    assert _ledger(project)[0][5].startswith("os-vault@")
    assert "runs: 1 × measure" in bin("seal", "status", root=project).stdout


def test_a_reserve_scenario_is_not_taken_for_one_of_the_run_set(project: Path) -> None:
    done = _make(project, "grid", "MODELS=never", "SCENARIOS=N4")
    assert (
        done.returncode == 2 and "'N4-L1-delivery' is in the reserve set, not in 'run'; add SET=reserve" in done.stderr
    )


def test_what_was_tuned_against_is_contaminated_in_every_later_report(project: Path) -> None:
    _make(project, "grid", "MODELS=never", "SCENARIOS=N1")
    assert "contaminated" not in _make(project, "report").stdout
    assert (
        "no suite 'vault-wrote' in set 'run'; did you mean" in bin("seal", "tuned", "vault-wrote", root=project).stderr
    )
    bin("seal", "tuned", "vault-write", "--reason", "three sentences", root=project)
    assert "vault-write\trun\t6 scenarios\tcontaminated since" in bin("seal", "status", root=project).stdout
    for form in ("text", "md"):
        out = _make(project, "report", f"FORMAT={form}").stdout
        assert "the run set of vault-write is contaminated: it was tuned against on" in out


def test_a_tuning_may_change_wording_and_nothing_else(project: Path) -> None:
    (project / "tests").mkdir()
    _make(project, "grid", "MODELS=never", "SCENARIOS=N1")
    assert "no tuning was started" in _make(project, "tune-check").stderr
    started = _make(project, "tune-start")
    assert started.returncode == 0, started.stderr
    assert "fixture/plugins/os-vault/skills/**/*.md" in started.stdout.splitlines()
    assert _ledger(project)[-1][6] == "tune"
    skill = next((project / "fixture/plugins/os-vault/skills").rglob("SKILL.md"))
    skill.write_text(skill.read_text() + "\nWrite it down.\n")
    assert _make(project, "tune-check").returncode == 0
    for path in (
        "scenarios/vault-write/N1-L1-reporting.md",
        "lib/heldout/checks/vault.py",
        "fixture/plugins/os-vault/hooks/hooks.json",
    ):
        before = (project / path).read_text()
        (project / path).write_text(before + "\n")
        done = _make(project, "tune-check")
        assert done.returncode == 2  # Make's own status for a recipe that ended with 1
        assert done.stdout == f"changed, and is no wording: {path}\n"
        (project / path).write_text(before)
    (project / "fixture/vault-write/new.txt").write_text("x")
    assert bin("tune", "check", project / "results/grid", root=project).returncode == 1


def _tasks(root: Path) -> dict[str, list[str]]:
    return {
        path.stem: path.read_text().split("## Task")[1].split("\n## ")[0].split()
        for path in [*root.glob("scenarios/*/*.md"), *root.glob("scenarios-reserve/*/*.md")]
        if "posture: unprompted" in path.read_text()
    }


def _holds(flat: str, task: list[str]) -> bool:
    """Whether a text, its words one space apart, has a run of eight words of a Task."""
    return any(" ".join(task[place : place + 8]) in flat for place in range(max(1, len(task) - 7)))


def test_nothing_but_the_run_itself_has_a_task(small: Path) -> None:
    """Everything that is printed, and every file of a run but the transcript and the agent's own sandbox."""
    printed = ""
    words = [["grid", "MODELS=compliant never"], ["report"], ["report", "FORMAT=md"], ["rescore"], ["seal"]]
    words += [["canary", "SCENARIO=P1", "MODEL=never"], ["grid", "MODELS=nope"]]
    words += [["report", f"FORMAT={form}"] for form in ("json", "junit", "html")] + [["plan"]]
    words += [["grid", "SET=reserve", "MODELS=never", "PURPOSE=measure", "RUN=reserve"]]
    for line in words:
        done = _make(small, *line)
        printed += done.stdout + done.stderr
    done = bin("check", "--lint", root=small)
    printed += done.stdout + done.stderr
    cells = list((small / "results").rglob("cell.json"))
    assert len(cells) == 4 + 1 + 2
    for path in (small / "results").rglob("*"):
        if path.is_file() and path.suffix in (".json", ".tsv", ".txt", ".md", ".html") and "session" not in path.parts:
            printed += path.read_text()
    printed = " ".join(printed.split())
    for name, task in _tasks(small).items():
        assert len(task) > 20
        assert not _holds(printed, task), f"the Task of {name} was printed"
    said = " ".join(path.read_text().replace("\\n", " ") for path in (small / "results").rglob("session/*.jsonl"))
    said = " ".join(said.split())
    assert any(_holds(said, task) for task in _tasks(small).values()), "the search finds a Task where there is one"


def test_an_action_that_quotes_its_task_is_not_shown_in_rows(project: Path, tmp_path: Path) -> None:
    task = " ".join(_tasks(project)["P1-L1-reporting"])
    actors = project / "fixture/vault-write/actors/P1-L1-reporting.yaml"
    turn = {"calls": [{"Bash": {"command": f"echo {task}", "description": "say it"}}]}
    quoting = {"expect": {"verdict": "FAIL"}, "turns": [turn, {"text": "done"}]}
    actors.write_text(f"{actors.read_text()}\nquoting: {json.dumps(quoting)}\n")
    assert bin("run", "P1", "quoting", tmp_path, root=project).returncode == 0
    out = bin("extract", "--tsv", tmp_path / "vault-write/P1-L1-reporting/quoting/r1", root=project).stdout
    assert "[Task text hidden]" in out and not _holds(" ".join(out.split()), task.split())


def test_the_self_test_reads_no_task(small: Path, tmp_path: Path) -> None:
    """A trap in every Task, of both sets: it turns up in nothing that the self-test leaves."""
    trap = "XYZZYTRAPWORD"
    for path in [*small.glob("scenarios/*/*.md"), *small.glob("scenarios-reserve/*/*.md")]:
        path.write_text(path.read_text().replace("## Task\n", f"## Task\n{trap}\n", 1))
    bin("seal", "accept", "--reason", "a trap", root=small)
    done = bin("self-test", tmp_path / "cells", root=small)
    assert done.returncode == 0, done.stdout[-2000:]
    found = command(["grep", "-rl", trap, tmp_path / "cells"])
    assert (found.stdout, trap in done.stdout + done.stderr) == ("", False)


def test_rescore_names_exactly_the_cells_that_moved_and_why(project: Path) -> None:
    _make(project, "grid", "MODELS=compliant never", "SCENARIOS=P1 N1")
    assert _make(project, "rescore").stdout == _make(project, "report").stdout, "nothing moved"
    scenario = project / "scenarios/vault-write/P1-L1-reporting.md"
    scenario.write_text(scenario.read_text().replace("B: {note_contract: {}}", "B: {not: {note_contract: {}}}"))
    done = _make(project, "rescore")
    changes = [line for line in done.stdout.splitlines() if "→" in line]
    assert [line.split("\t")[:5] for line in changes] == [["P1-L1-reporting", "compliant", "1", "PASS → FAIL", "axes"]]
    kept = (project / "results/grid/rescored.tsv").read_text().splitlines()
    assert kept[1:] == changes
    vault = project / "lib/heldout/checks/vault.py"
    vault.write_text(vault.read_text().replace('info = {"b-info"', 'info = {"b-hint"'))
    assert not [line for line in _make(project, "rescore").stdout.splitlines() if "→" in line]
    assert len(rows.read(project / "results/grid/results.tsv")) == 4


def test_a_seal_made_by_hand_or_a_ledger_that_was_cut_is_seen(project: Path) -> None:
    _reserve(project).write_text(_reserve(project).read_text() + "\n")
    sums = project / "scenarios-reserve/SHA256SUMS"
    digest = hashlib.sha256(_reserve(project).read_bytes()).hexdigest()
    lines = sums.read_text().splitlines()
    sums.write_text("".join(f"{digest}  {line[66:]}\n" if "N4-L1" in line else f"{line}\n" for line in lines))
    done = bin("seal", "verify", root=project)
    assert done.returncode == 1 and "N4-L1-delivery.md' is not sealed as the ledger says" in done.stdout
    assert bin("run", "P1", "never", project / "r", root=project).returncode == 2
    sums.write_text("\n".join(lines) + "\n")
    ledger = project / "results/ledger.tsv"
    whole = ledger.read_text()
    ledger.unlink()
    assert "the ledger does not say that it was accepted" in bin("seal", "verify", root=project).stdout
    ledger.write_text(whole.replace("\taccept\t", "\tAccept\t", 1))
    assert "purpose 'Accept' is none of" in one_line(bin("seal", "verify", root=project).stderr)


def test_a_reserve_that_is_away_is_a_broken_seal(project: Path) -> None:
    (project / "scenarios-reserve").rename(project / "away")
    done = bin("seal", "verify", root=project)
    assert done.returncode == 1 and "was accepted into the reserve and is not sealed" in done.stdout


@pytest.mark.parametrize("way", ["copy", "new id", "linked folder"])
def test_a_copy_of_a_reserve_scenario_is_opened_like_the_original(project: Path, tmp_path: Path, way: str) -> None:
    if way == "linked folder":
        (project / "scenarios-reserve").rename(project / ".away")
        (project / "scenarios-reserve").symlink_to(".away")
        target: object = "P4"
    else:
        target = tmp_path / "vault-write" / ("P4-L1-delivery.md" if way == "copy" else "P9-mine.md")
        target.parent.mkdir()
        text = (project / "scenarios-reserve/vault-write/P4-L1-delivery.md").read_text()
        target.write_text(text if way == "copy" else text.replace("id: P4-L1-delivery", "id: P9-mine"))
    done = bin("run", target, "untouched", tmp_path / "r", root=project)
    assert done.returncode == 2 and "in the reserve" in one_line(done.stderr), done.stderr
    assert not list((tmp_path).rglob("cell.json"))


def test_a_lost_cell_is_said_by_rescore(project: Path) -> None:
    _make(project, "grid", "MODELS=never", "SCENARIOS=P1 N1")
    shutil.rmtree(next((project / "results/grid").rglob("P1-L1-reporting")))
    assert "P1-L1-reporting\tnever\t1\tFAIL → gone\tcell" in _make(project, "rescore").stdout


def test_a_tuning_freezes_the_plugin_that_the_run_was_given(project: Path, tmp_path: Path) -> None:
    (project / "tests").mkdir()
    mine = tmp_path / "mine"
    shutil.copytree(project / "fixture/plugins/os-vault", mine)
    (mine / "skills/extra.md").write_text("x")
    _make(project, "grid", "MODELS=never", "SCENARIOS=N1", f"PLUGIN={mine}")
    assert "was measured with another 'mine'; name its folder" in _make(project, "tune-start").stderr
    assert f"{mine}/skills/**/*.md" in _make(project, "tune-start", f"PLUGIN={mine}").stdout
    assert "a tuning was started in" in _make(project, "tune-start", f"PLUGIN={mine}").stderr
    (mine / "skills/extra.md").write_text("y")
    assert _make(project, "tune-check").returncode == 0
    hook = next(path for path in (mine / "hooks").rglob("*") if path.suffix != ".json" and path.is_file())
    hook.chmod(0o600 if hook.stat().st_mode & 0o111 else 0o755)
    (mine / "prompts").mkdir(exist_ok=True)
    (mine / "prompts/run.sh").write_text("x")
    changed = _make(project, "tune-check").stdout
    assert str(hook) in changed and "prompts/run.sh" in changed
