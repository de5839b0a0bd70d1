"""bin/run: a rep is measured once, kept whole, and never lost or invented."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from heldout import cell as cells
from heldout import rows
from programs import ROOT, bin, command, hearing, one_line

P1 = "P1-L1-reporting"


def _place(run: Path, actor: str = "compliant", rep: int = 1, scenario: str = P1) -> Path:
    return run / "vault-write" / scenario / actor / f"r{rep}"


def test_a_cell_has_everything_and_says_nothing_of_the_task(tmp_path: Path) -> None:
    done = bin("run", "P1", "compliant", tmp_path, "--results", tmp_path / "F")
    assert done.returncode == 0, done.stderr
    place = _place(tmp_path)
    names = {path.name for path in place.iterdir()}
    assert names == {
        "cell.json",
        "transcript.jsonl",
        "stderr.txt",
        "session",
        "start.tsv",
        "sandbox.tar.gz",
        "before.tar.gz",
        "facts.json",
    }
    record = json.loads((place / "cell.json").read_text())
    assert (record["model"], record["rep"], record["ended"], record["exit"], record["fault"]) == (
        "compliant",
        1,
        "completed",
        0,
        None,
    )
    assert set(record["run_parts"]) == {"task", "fixture", "prepare", "adapter", "limits", "settings"}
    assert set(record["subjects"]) == {"plugin:os-vault", "subject:project/CLAUDE.md", "actor:compliant"}
    task = (ROOT / f"scenarios/vault-write/{P1}.md").read_text().split("## Task")[1].split("## Criteria")[0].split()
    text = (place / "cell.json").read_text() + done.stdout + done.stderr
    assert not [place for place in range(len(task) - 8) if " ".join(task[place : place + 8]) in " ".join(text.split())]
    assert rows.read(tmp_path / "F")[0].line() == one_line(done.stdout)
    assert not (tmp_path / "results.tsv").exists()


def test_reps_are_skipped_when_complete_and_rows_are_not_doubled(tmp_path: Path) -> None:
    bin("run", "N1", "never", tmp_path, "--reps", 2)
    stamps = [path.stat().st_mtime_ns for path in sorted(tmp_path.rglob("cell.json"))]
    done = bin("run", "N1", "never", tmp_path, "--reps", 3)
    assert [path.stat().st_mtime_ns for path in sorted(tmp_path.rglob("cell.json"))][:2] == stamps
    assert len(done.stdout.splitlines()) == 1
    assert [row.rep for row in rows.read(tmp_path / "results.tsv")] == [1, 2, 3]


def test_a_row_lost_between_cell_and_table_is_written_by_the_next_run(tmp_path: Path) -> None:
    bin("run", "N1", "never", tmp_path, "--no-check")
    assert not (tmp_path / "results.tsv").exists()
    bin("run", "N1", "never", tmp_path)
    assert len(rows.read(tmp_path / "results.tsv")) == 1


def test_the_agents_folder_says_nothing_about_the_test(tmp_path: Path) -> None:
    bin("run", "P1", "compliant", tmp_path)
    record = cells.read(_place(tmp_path))
    told = record.cwd.replace(os.environ["HELDOUT_SANDBOXES"], "")
    assert not [
        word for word in ("P1", "vault-write", "reporting", "eval", "sandbox", "test", "compliant") if word in told
    ]
    assert not Path(record.sandbox).parent.exists()


@pytest.mark.parametrize("scenario", ["P1", "N1"])
@pytest.mark.parametrize(
    ("ends", "code"), [("killed", "killed"), ("api_error", "api-error"), ("empty", "empty-transcript")]
)
def test_a_run_that_dies_is_an_error_for_positives_and_negatives_alike(
    repository: Path, tmp_path: Path, scenario: str, ends: str, code: str
) -> None:
    item = next((repository / "fixture/vault-write/actors").glob(f"{scenario}-*.yaml"))
    turns = '[{text: "I look.", calls: [{Bash: {command: "true", description: "nothing"}}]}]'
    item.write_text(item.read_text() + f"\ndying:\n  expect: {{verdict: ERROR}}\n  turns: {turns}\n  ends: {ends}\n")
    run = tmp_path / "run"
    done = bin("run", scenario, "dying", run, root=repository)
    assert done.returncode == 2, done.stderr
    row = rows.parse(one_line(done.stdout), "x")
    assert (row.verdict, row.code) == ("ERROR", code)
    attempts = [path.relative_to(run).as_posix() for path in run.rglob("cell.json")]
    assert attempts == [f"attempts/vault-write/{item.stem}/dying/r1/1/cell.json"]
    bin("run", scenario, "dying", run, root=repository)
    assert len(list(run.rglob("cell.json"))) == 2, "the earlier attempt is kept"
    assert len(rows.read(run / "results.tsv")) == 1, "one row a rep"


def test_an_error_row_gives_way_to_the_measured_rep(repository: Path, tmp_path: Path) -> None:
    item = repository / "fixture/vault-write/actors/N1-L1-reporting.yaml"
    text = item.read_text()
    late = "\nlate:\n  expect: {verdict: PASS}\n"
    item.write_text(text + late + "  ends: api_error\n")
    run = tmp_path / "run"
    bin("run", "N1", "late", run, root=repository)
    assert [row.verdict for row in rows.read(run / "results.tsv")] == ["ERROR"]
    item.write_text(text + late + "  turns: [{text: done}]\n")
    assert bin("run", "N1", "late", run, root=repository).returncode == 0
    assert [row.verdict for row in rows.read(run / "results.tsv")] == ["PASS"]


def test_a_killed_run_leaves_an_attempt_and_no_cell(repository: Path, tmp_path: Path) -> None:
    item = repository / "fixture/vault-write/actors/N1-L1-reporting.yaml"
    mark = tmp_path / "begun"
    slow = (
        f'[{{text: a, calls: [{{Bash: {{command: "touch {mark}; sleep 60", description: "wait"}}}}]}}, {{text: done}}]'
    )
    item.write_text(item.read_text() + f"\nslow:\n  expect: {{verdict: PASS}}\n  turns: {slow}\n")
    run = tmp_path / "run"
    words = [repository / "bin/run", "N1", "slow", run]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    while not mark.exists():
        assert process.poll() is None
        time.sleep(0.02)
    busy = bin("run", "N1", "slow", run, root=repository)
    assert busy.returncode == 2 and "is being measured by another process" in one_line(busy.stderr)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert not list(run.rglob("cell.json"))
    item.write_text(item.read_text().replace("sleep 60", "true"))
    done = bin("run", "N1", "slow", run, root=repository)
    assert done.returncode == 0, done.stderr
    found = sorted(path.parent.relative_to(run).as_posix() for path in run.rglob("cell.json"))
    assert found == ["attempts/vault-write/N1-L1-reporting/slow/r1/1", "vault-write/N1-L1-reporting/slow/r1"]
    assert not list(run.rglob("*.part"))


def test_an_offer_is_judged_and_the_answer_kept(tmp_path: Path) -> None:
    done = bin("run", "P1", "offer-only", tmp_path)
    assert done.returncode == 0, done.stderr
    row = rows.parse(one_line(done.stdout), "x")
    assert (row.verdict, row.info["via"], row.info["B-via"], row.info["judge"]) == ("PASS", "offered", "offered", "A")
    kept = (_place(tmp_path, "offer-only") / "judge.tsv").read_text().splitlines()
    assert len(kept) == 2 and kept[1].split("\t")[2] == "yes"


def test_without_its_judgement_an_offer_is_judge_missing(tmp_path: Path) -> None:
    bin("run", "P1", "offer-only", tmp_path)
    place = _place(tmp_path, "offer-only")
    (place / "judge.tsv").unlink()
    done = bin("check", "P1", place, "--tsv", "m")
    assert (done.returncode, rows.parse(one_line(done.stdout), "x").code) == (2, "judge-missing")
    pending = bin("check", "--pending", tmp_path)
    cell, rubric, text = one_line(pending.stdout).split("\t")
    assert (cell, rubric) == (str(place), "vault-write/vault-offer")
    assert json.loads(text) == json.loads((place / "facts.json").read_text())["answers"]["final_message"]
    bin("judge", "--cells", stdin=pending.stdout)
    assert bin("check", "P1", place, "--tsv", "m").returncode == 0


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("P1", "complient", "{tmp}"), "unknown model 'complient' for P1-L1-reporting; did you mean 'compliant'?"),
        (("P1", "gpt-5", "{tmp}"), "unknown model 'gpt-5'"),
        (("P1", "a b", "{tmp}"), "model 'a b' cannot be a path"),
        (("P1", "../x", "{tmp}"), "model '../x' cannot be a path"),
        (("P1", "compliant", f"{ROOT}/results/baseline"), "is where the baselines are kept; name another run, RUN=…"),
        (("P1", "compliant", f"{ROOT}/results/baseline/x"), "is where the baselines are kept; name another run, RUN=…"),
        (("P1", "compliant", f"{ROOT}/README.md"), "README.md' is no folder; name another run, RUN=…"),
        (("P1", "compliant"), "SCENARIO, MODEL and WORKDIR are needed"),
        (("P1", "compliant", "{tmp}", "--plugin", "{tmp}"), "is not a plugin"),
        (("P1", "compliant", "{tmp}", "--reps", "0"), "invalid value for '--reps'"),
    ],
)
def test_what_cannot_be_run_is_one_line_and_leaves_nothing(
    tmp_path: Path, words: tuple[str, ...], complaint: str
) -> None:
    done = bin("run", *(word.replace("{tmp}", str(tmp_path)) for word in words))
    assert done.returncode == 2
    assert complaint in one_line(done.stderr)
    assert not list(tmp_path.rglob("*.json"))


def test_a_full_disk_is_a_sandbox_error_kept_as_an_attempt(tmp_path: Path) -> None:
    place = tmp_path / "not-a-folder"
    place.write_text("")
    done = bin("run", "N1", "never", tmp_path / "run", env={"HELDOUT_SANDBOXES": str(place / "x")})
    assert done.returncode == 2
    assert "set HELDOUT_SANDBOXES to a folder of your own" in done.stderr
    assert not list(tmp_path.rglob("facts.json"))


def test_it_works_from_any_folder_in_pipes_and_with_a_closed_pipe(tmp_path: Path) -> None:
    script = f"cd / && {ROOT}/bin/run N1 never {tmp_path}/run --results {tmp_path}/F | true; cut -f1-5 {tmp_path}/F"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[1] == "N1-L1-reporting\tnever\t1\tPASS\tA:pass"


def test_a_rep_measured_with_another_wording_is_not_added_to(tmp_path: Path) -> None:
    bin("run", "P1", "never", tmp_path)
    for words in ((), ("--reps", 2)):
        done = bin("run", "P1", "never", tmp_path, "--plugin", ROOT / "fixture/plugins/os-vault-tuned", *words)
        assert done.returncode == 2
        assert "plugin:os-vault, plugin:os-vault-tuned changed since" in one_line(done.stderr)
    assert len(list(tmp_path.rglob("cell.json"))) == 1


@pytest.mark.parametrize("folder", ["/nonexistent", "{tmp}"])
def test_a_subject_folder_that_replaces_nothing_is_refused(tmp_path: Path, folder: str) -> None:
    done = bin("run", "P1", "never", tmp_path / "run", "--subject", folder.replace("{tmp}", str(tmp_path)))
    assert done.returncode == 2
    assert "replaces nothing of P1-L1-reporting; its subject paths are project/CLAUDE.md" in one_line(done.stderr)
    assert not (tmp_path / "run").exists()


def _plugin(tmp_path: Path, name: str, command: str) -> Path:
    root = tmp_path / name
    (root / ".claude-plugin").mkdir(parents=True)
    (root / ".claude-plugin/plugin.json").write_text(json.dumps({"name": name, "version": "0.1.0", "description": "d"}))
    (root / "hooks").mkdir()
    hook = {"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": command}]}]}}
    (root / "hooks/hooks.json").write_text(json.dumps(hook))
    return root


@pytest.mark.parametrize(
    ("commands", "verdict"),
    [
        ({"os-vault": "echo spoke"}, "PASS"),
        ({"os-vault": "true", "other": "echo spoke"}, "ERROR"),
        ({"os-vault": "echo same", "other": "echo same"}, "PASS"),
        ({"os-vault": "exit 1"}, "ERROR"),
    ],
)
def test_delivery_is_proven_for_the_plugin_that_is_named(
    tmp_path: Path, commands: dict[str, str], verdict: str
) -> None:
    given = [word for name, command in commands.items() for word in ("--plugin", _plugin(tmp_path, name, command))]
    done = bin("run", "N1", "never", tmp_path / "run", *given)
    row = rows.parse(one_line(done.stdout), "x")
    assert (row.verdict, row.code) == (verdict, "hook-not-delivered" if verdict == "ERROR" else ""), row


def test_a_cell_that_lost_its_record_is_kept_as_an_attempt_and_measured_once_more(tmp_path: Path) -> None:
    bin("run", "N1", "never", tmp_path)
    place = _place(tmp_path, "never", scenario="N1-L1-reporting")
    (place / "cell.json").unlink()
    done = bin("run", "N1", "never", tmp_path)
    assert done.returncode == 0, done.stderr
    assert (place / "cell.json").exists() and not list(tmp_path.rglob("*.part"))
    assert (tmp_path / "attempts/vault-write/N1-L1-reporting/never/r1/1/transcript.jsonl").exists()


def test_results_may_be_a_link_a_pipe_or_a_device(tmp_path: Path) -> None:
    real = tmp_path / "real.tsv"
    os.symlink(real, tmp_path / "link.tsv")
    bin("run", "N1", "never", tmp_path / "run", "--results", tmp_path / "link.tsv")
    assert (tmp_path / "link.tsv").is_symlink() and len(rows.read(real)) == 1
    os.mkfifo(tmp_path / "pipe")
    script = (
        f"timeout 60 {ROOT}/bin/run P1 never {tmp_path}/run --results {tmp_path}/pipe >/dev/null & cat {tmp_path}/pipe"
    )
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout.startswith("P1-L1-reporting\tnever\t1\tFAIL")
    assert bin("run", "N2", "never", tmp_path / "run", "--results", "/dev/null").returncode == 0
    assert Path("/dev/null").is_char_device()


def test_a_torn_table_stops_the_run_before_the_agent(tmp_path: Path) -> None:
    (tmp_path / "F").write_text("half a row")
    done = bin("run", "N1", "never", tmp_path / "run", "--results", tmp_path / "F")
    assert done.returncode == 2 and "the line has no end, a writer was cut off" in one_line(done.stderr)
    assert not (tmp_path / "run").exists()


def test_folders_nested_beyond_reason_are_an_error_row_and_nothing_is_left(tmp_path: Path, repository: Path) -> None:
    item = repository / "fixture/vault-write/actors/N1-L1-reporting.yaml"
    # Not by the shell, which walks the whole way up at each step.
    deeper = "import os; [(os.mkdir('d'), os.chdir('d')) for _ in range(1100)]"
    command = f'cd {{sandbox}}/vault && python3 -c "{deeper}"'
    turns = json.dumps([{"calls": [{"Bash": {"command": command, "description": "deep"}}]}, {"text": "done"}])
    item.write_text(f"{item.read_text()}\ndigger:\n  expect: {{verdict: ERROR}}\n  turns: {turns}\n")
    place = tmp_path / "sandboxes"
    done = bin("run", "N1", "digger", tmp_path / "run", root=repository, env={"HELDOUT_SANDBOXES": str(place)})
    row = rows.parse(one_line(done.stdout), "x")
    assert (row.verdict, row.code) == ("ERROR", "sandbox-error")
    assert [path.name for path in place.iterdir()] == ["templates"]


def test_what_an_actor_left_running_is_ended_with_its_cell(tmp_path: Path, repository: Path) -> None:
    item = repository / "fixture/vault-write/actors/N1-L1-reporting.yaml"
    command = "setsid sleep 603 >/dev/null 2>&1 &"
    turns = json.dumps([{"calls": [{"Bash": {"command": command, "description": "leave"}}]}, {"text": "done"}])
    item.write_text(f"{item.read_text()}\nleaver:\n  expect: {{verdict: PASS}}\n  turns: {turns}\n")
    assert bin("run", "N1", "leaver", tmp_path / "run", root=repository).returncode == 0
    commands = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists()]
    assert b"sleep\x00603\x00" not in commands


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_a_run_and_all_that_its_cell_started(
    repository: Path, tmp_path: Path, by: signal.Signals
) -> None:
    item = repository / "fixture/vault-write/actors/N1-L1-reporting.yaml"
    command = f"touch {tmp_path}/begun; sleep 604"
    turns = json.dumps([{"calls": [{"Bash": {"command": command, "description": "wait"}}]}, {"text": "done"}])
    item.write_text(f"{item.read_text()}\nwaiter:\n  expect: {{verdict: PASS}}\n  turns: {turns}\n")
    words = [repository / "bin/run", "N1", "waiter", tmp_path / "run"]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, preexec_fn=hearing)
    while not (tmp_path / "begun").exists():
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(by)
    assert process.communicate(timeout=20)[1] == "run: interrupted\n"
    assert process.returncode == 128 + by
    commands = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists()]
    assert b"sleep\x00604\x00" not in commands


@pytest.mark.parametrize("way", ["./run", "run", "sh run", "link", "relative link", "link of a link", "linked folder"])
def test_a_program_finds_its_siblings_however_it_is_started(tmp_path: Path, way: str) -> None:
    """Beside itself, and not in PATH, where other programs may have their names."""
    others = tmp_path / "others"
    others.mkdir()
    for name in ("judge", "check", "python", "run"):
        (others / name).write_text(f"#!/bin/sh\ntouch {tmp_path}/{name}.ran\n")
        (others / name).chmod(0o755)
    (tmp_path / "link").symlink_to(ROOT / "bin/run")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/far").symlink_to("../link")
    (tmp_path / "folder/near").symlink_to("far")
    (tmp_path / "linked").symlink_to(ROOT / "bin")
    ways = {"./run": ["./run"], "run": ["run"], "sh run": ["sh", "run"], "link": [tmp_path / "link"]}
    ways |= {"relative link": ["folder/far"], "link of a link": ["folder/near"]}
    ways |= {"linked folder": [tmp_path / "linked/run"]}
    place = tmp_path if "link" in way else ROOT / "bin"
    path = os.pathsep.join([*([""] if way == "run" else []), str(others), os.environ["PATH"]])
    done = command([*ways[way], "P1", "offer-only", tmp_path / "run"], cwd=place, env={"PATH": path})
    assert (done.returncode, done.stderr.count("\n")) == (0, 1), done.stderr
    assert rows.parse(one_line(done.stdout), "x").info["judge"] == "A", "its judge was asked"
    assert not list(tmp_path.glob("*.ran"))


def test_rescore_from_inside_bin_runs_its_own_check(cell: Path, tmp_path: Path) -> None:
    (tmp_path / "check").write_text("#!/bin/sh\necho other\n")
    (tmp_path / "check").chmod(0o755)
    done = command(["./rescore", cell.parents[3]], cwd=ROOT / "bin", env={"PATH": f"{tmp_path}:{os.environ['PATH']}"})
    assert done.returncode == 0, done.stderr
    assert len(rows.read(cell.parents[3] / "results.tsv")) == 1


def test_the_callers_python_variables_are_for_what_a_program_starts_alone(tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.mkdir()
    for name in ("typer", "json", "heldout", "orjson", "sitecustomize"):
        (taken / f"{name}.py").write_text("raise SystemExit('taken over')\n")
    mine = {"PYTHONPATH": str(taken), "PYTHONHOME": "/nonexistent", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    judge = f'cat >/dev/null; env >{tmp_path}/seen; echo \'{{"answer": "no"}}\''
    words = ["vault-write/vault-offer", "-"]
    done = bin("judge", *words, stdin="Shall I — note it?", env={**mine, "HELDOUT_JUDGE_CMD": judge})
    assert (done.returncode, done.stderr) == (0, "")
    seen = dict(line.split("=", 1) for line in (tmp_path / "seen").read_text().splitlines() if "=" in line)
    assert {name: seen[name] for name in mine} == {**mine, "PYTHONPATH": f"{ROOT}/lib:{taken}"}
    done = bin("run", "P1", "offer-only", tmp_path / "run", env=mine)
    assert done.returncode == 0, done.stderr
    done = bin("rescore", tmp_path / "run", env=mine)
    assert (done.returncode, done.stderr) == (0, "")
    said = bin("check", "--help", env=mine)
    assert "…" in said.stdout and not said.stderr


def test_a_stream_that_is_closed_is_no_internal_error(cell: Path) -> None:
    def go(words: str) -> subprocess.CompletedProcess[str]:
        return command(["bash", "-c", words])

    run = cell.parents[3]
    done = go(f"{ROOT}/bin/rescore {run} >&-")
    assert (done.returncode, one_line(done.stderr)) == (2, "rescore: stdout is closed; redirect it to /dev/null")
    assert not (run / "results.tsv").exists()
    done = go(f"{ROOT}/bin/report {run}/nothing 2>&-")
    assert (done.returncode, done.stdout) == (2, ""), "what is for people is not put among the rows"
    done = go(f"{ROOT}/bin/run --cells - <&-")
    assert (done.returncode, done.stderr) == (0, "")
    assert go(f"{ROOT}/bin/rescore {run} <&- 2>&-").returncode == 0
