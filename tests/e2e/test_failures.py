"""What goes wrong with a real client is named for what it is, and nothing it started is left behind."""

import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from heldout import cell, rows
from heldout.agents import contained
from programs import ROOT, bin


def _row(done: subprocess.CompletedProcess[str]) -> rows.Row:
    assert done.stdout, done.stderr
    return rows.parse(done.stdout.strip(), "stdout")


def _run(
    scenario: str, model: str, run: Path, *words: object, failures: str = "", root: Path = ROOT, **env: str
) -> rows.Row:
    env["HELDOUT_STUB_FAILURES"] = failures
    return _row(bin("run", scenario, model, run, "--retries", 0, *words, env=env, root=root))


def _actor(root: Path, scenario: str, name: str, text: str) -> None:
    """Add an actor to a scenario of a copy of the project."""
    path = next((root / "fixture/vault-write/actors").glob(f"{scenario}-*.yaml"))
    path.write_text(f"{path.read_text()}\n{name}:\n  expect: {{verdict: PASS}}\n{text}\n")


def _limits(root: Path, scenario: str, limits: str, **more: str) -> None:
    path = next((root / "scenarios/vault-write").glob(f"{scenario}-*.md"))
    text = path.read_text()
    old = next(line for line in text.splitlines() if line.startswith("limits:"))
    text = text.replace(old, f"limits: {limits}")
    for key, value in more.items():
        text = text.replace(f"{key}: false", f"{key}: {value}")
    path.write_text(text)


LOOK = '{text: I look., calls: [{Bash: {command: "ls", description: look}}]}'
NOTE = '{calls: [{Write: {file_path: "{sandbox}/vault/a-status.md", content: "---\\ntitle: t\\n---\\n"}}]}'


@pytest.mark.parametrize("scenario", ["P1", "N1"])
@pytest.mark.parametrize(
    ("failures", "detail"), [("529", "529"), ("429", "429"), ("500", "500"), ("400", "400"), ("404", "404")]
)
def test_an_api_that_fails_for_ever_is_an_api_error(tmp_path: Path, scenario: str, failures: str, detail: str) -> None:
    row = _run(scenario, "compliant@claude", tmp_path, failures=failures)
    assert (row.verdict, row.code) == ("ERROR", "api-error")
    assert detail in row.reasons[0]
    assert cell.read(next(tmp_path.rglob("cell.json")).parent).exit == 1


def test_an_api_that_recovers_is_no_fault(tmp_path: Path) -> None:
    assert _run("P1", "compliant@claude", tmp_path, failures="529x1").verdict == "PASS"


def test_a_cut_stream_is_asked_again_by_the_client(tmp_path: Path) -> None:
    assert _run("N1", "never@claude", tmp_path, failures="cut@0x1").verdict in ("PASS", "ERROR")


def test_another_model_in_the_answer_is_a_mismatch(tmp_path: Path) -> None:
    row = _run("P1", "compliant@claude", tmp_path, failures="model=claude-haiku-5-5")
    assert (row.verdict, row.code) == ("ERROR", "model-mismatch")
    assert "'claude-haiku-5-5' answered in a session of 'claude-sonnet-5-5'" in row.reasons[0]


def test_a_legacy_name_is_served_as_asked_and_a_remap_is_a_mismatch(tmp_path: Path) -> None:
    row = _run("N1", "never@claude:claude-opus-4-1", tmp_path / "cell")
    assert (row.verdict, row.info["served"]) == ("PASS", "claude-opus-4-1")
    home = {
        "ISOLATE": "user",
        "HOME": str(tmp_path / "home"),
        "CLAUDE_CONFIG_DIR": str(tmp_path / "home/.claude"),
        "IS_SANDBOX": "1",
    }
    (tmp_path / "home/.claude").mkdir(parents=True)
    quiet = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1"}
    row = _run("N1", "never@claude:claude-opus-4-1", tmp_path / "user", root=ROOT, **home, **quiet)
    assert (row.verdict, row.code) == ("ERROR", "model-mismatch")
    assert "'claude-opus-4-1' was asked for" in row.reasons[0]


@pytest.mark.parametrize(("size", "verdict"), [(10_000, "PASS"), (10_001, "ERROR")])
def test_a_hook_beyond_the_clients_limit_was_not_delivered(
    tmp_path: Path, repository: Path, size: int, verdict: str
) -> None:
    plugin = tmp_path / "os-vault"
    shutil.copytree(repository / "fixture/plugins/os-vault", plugin)
    said = {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "x" * size}}
    (plugin / "said.json").write_text(json.dumps(said))
    hooks = json.loads((plugin / "hooks/hooks.json").read_text())
    hooks["hooks"] = {
        "SessionStart": [{"hooks": [{"type": "command", "command": 'cat "${CLAUDE_PLUGIN_ROOT}/said.json"'}]}]
    }
    (plugin / "hooks/hooks.json").write_text(json.dumps(hooks))
    row = _run("N1", "never@claude", tmp_path / "run", "--plugin", plugin)
    assert row.verdict == verdict
    assert row.code == ("hook-not-delivered" if verdict == "ERROR" else "")


def test_a_plugin_that_does_not_load_is_an_error(tmp_path: Path, repository: Path) -> None:
    plugin = tmp_path / "os-vault"
    shutil.copytree(repository / "fixture/plugins/os-vault", plugin)
    (plugin / ".claude-plugin/plugin.json").write_text('{"name": "os-vault", "hooks": 5, "skills": 7}')
    row = _run("N1", "never@claude", tmp_path / "run", "--plugin", plugin)
    assert (row.verdict, row.code) == ("ERROR", "plugin-not-loaded")


@pytest.mark.parametrize(
    ("scenario", "turns", "verdict", "reason"),
    [
        ("P1", f"[{LOOK}, {LOOK}, {LOOK}, {{text: done}}]", "FAIL", "no note was written"),
        ("N1", f"[{LOOK}, {LOOK}, {LOOK}, {{text: done}}]", "ERROR", "limit: "),
        ("N1", f"[{NOTE}, {LOOK}, {LOOK}, {{text: done}}]", "FAIL", "vault/a-status.md is new"),
    ],
)
def test_the_turn_limit_is_no_fault(
    repository: Path, tmp_path: Path, scenario: str, turns: str, verdict: str, reason: str
) -> None:
    _actor(repository, scenario, "long", f"  turns: {turns}")
    _limits(repository, scenario, "{turns: 2, seconds: 60}")
    row = _run(scenario, "long@claude", tmp_path / "run", root=repository)
    assert (row.verdict, row.info["ended"]) == (verdict, "max_turns")
    assert reason in row.reasons[0]
    assert not list((tmp_path / "run").glob("attempts/**/cell.json")), "a limit is not tried again"


@pytest.mark.parametrize(("scenario", "verdict"), [("P1", "FAIL"), ("N1", "ERROR")])
def test_an_api_that_hangs_ends_by_the_time_limit(
    repository: Path, tmp_path: Path, scenario: str, verdict: str
) -> None:
    _limits(repository, scenario, "{turns: 40, seconds: 5}")
    began = time.monotonic()
    row = _run(scenario, "compliant@claude", tmp_path / "run", failures="hang", root=repository)
    assert time.monotonic() - began < 5 + 5
    assert (row.verdict, row.info["ended"]) == (verdict, "timeout")
    assert row.code == ("limit" if verdict == "ERROR" else "")


def test_nothing_of_the_cell_survives_a_timeout(repository: Path, tmp_path: Path) -> None:
    """A child that left its session, ignores SIGTERM and holds the client's output open."""
    mark = tmp_path / "pid"
    command = f"setsid sh -c 'trap \"\" TERM; echo $$ > {mark}; exec sleep 600' & while [ ! -s {mark} ]; do :; done"
    script = json.dumps({"calls": [{"Bash": {"command": command, "description": "leave a child"}}]})
    _actor(repository, "N1", "leaver", f"  turns: [{script}, {LOOK}, {{text: done}}]")
    _limits(repository, "N1", "{turns: 40, seconds: 6}")
    row = _run("N1", "leaver@claude", tmp_path / "run", failures="hang@1", root=repository)
    assert (row.code, row.info["ended"]) == ("limit", "timeout")
    assert mark.exists(), "the child had started"
    assert not _marked(str(tmp_path)) and not _sleeping(600)


def test_nothing_of_the_cell_survives_its_ordinary_end(repository: Path, tmp_path: Path) -> None:
    command = "setsid sh -c 'trap \"\" TERM; exec sleep 601' >/dev/null 2>&1 &"
    script = json.dumps({"calls": [{"Bash": {"command": command, "description": "leave a child"}}]})
    _actor(repository, "N1", "leaver", f"  turns: [{script}, {{text: done}}]")
    row = _run("N1", "leaver@claude", tmp_path / "run", root=repository)
    assert row.verdict == "PASS"
    assert not _sleeping(601)


def test_without_a_namespace_the_sweep_ends_what_the_group_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contained, "namespace", lambda: ())
    script = "setsid sh -c 'trap \"\" TERM; exec sleep 602' & trap '' TERM; sleep 602"
    code, timed_out = contained.run(
        ["sh", "-c", script],
        tmp_path,
        {"TMPDIR": str(tmp_path), "PATH": os.environ["PATH"]},
        tmp_path / "o",
        tmp_path / "e",
        1.0,
    )
    assert (code, timed_out) == (None, True)
    assert not _sleeping(602) and not contained.survivors(str(tmp_path))


def _marked(text: str) -> list[str]:
    return [line for line in _commands() if text in line and "pytest" not in line]


def _sleeping(seconds: int) -> list[str]:
    return [line for line in _commands() if line.split() == ["sleep", str(seconds)]]


def _commands() -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(path.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace").strip())
        except OSError:
            continue
    return found


def test_a_client_killed_in_the_middle_of_a_message_is_killed(tmp_path: Path, repository: Path) -> None:
    words = [repository / "bin/run", "N1", "never@claude", tmp_path / "run", "--retries", "0"]
    env = {**os.environ, "HELDOUT_STUB_FAILURES": "slow=2"}
    process = subprocess.Popen([str(word) for word in words], env=env, stdout=subprocess.PIPE, text=True)
    part = tmp_path / "run/vault-write/N1-L1-reporting/never@claude/r1.part/transcript.jsonl"
    while not (part.exists() and '"subtype":"init"' in part.read_text()):
        assert process.poll() is None
        time.sleep(0.02)
    session = json.loads(part.read_text().splitlines()[0])["session_id"].encode()
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        words_of = entry.read_bytes().split(b"\0") if entry.exists() else []
        if session in words_of and words_of[0].endswith(b"claude"):
            os.kill(int(entry.parent.name), signal.SIGKILL)
    out, _ = process.communicate(timeout=60)
    row = rows.parse(out.strip(), "stdout")
    assert (row.verdict, row.code) == ("ERROR", "killed")


def test_a_background_agent_left_behind_is_abandoned(repository: Path, tmp_path: Path) -> None:
    spawn = {
        "calls": [
            {
                "Agent": {"description": "slow job", "prompt": "Do the slow job.", "run_in_background": True},
                "turns": [
                    {"calls": [{"Bash": {"command": "sleep 15; echo x", "description": "wait"}}]},
                    {"text": "slow job done"},
                ],
            }
        ]
    }
    _actor(repository, "N1", "deserter", f"  turns: [{json.dumps(spawn)}, {{text: I am done.}}]")
    _limits(repository, "N1", "{turns: 40, seconds: 60}", background="true")
    row = _run("N1", "deserter@claude", tmp_path / "run", root=repository, CLAUDE_CODE_PRINT_BG_WAIT_CEILING_MS="1000")
    assert (row.verdict, row.code) == ("ERROR", "abandoned-subagent")


def test_a_fault_is_tried_again_and_every_attempt_is_kept(tmp_path: Path) -> None:
    done = bin("run", "N1", "never@claude", tmp_path, "--retries", 1, env={"HELDOUT_STUB_FAILURES": "500"})
    assert _row(done).code == "api-error"
    assert "N1-L1-reporting never@claude r1: api-error: " in done.stderr and "; trying again" in done.stderr
    assert len(list(tmp_path.glob("attempts/**/cell.json"))) == 2
    assert len(rows.read(tmp_path / "results.tsv")) == 1
