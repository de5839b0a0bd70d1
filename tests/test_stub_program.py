"""`bin/stub`: the stub of the Messages API as a program."""

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from programs import ROOT, bin, command, hearing, one_line
from stubbing import MODEL, TASK, Answered, call, inputs, listening


@dataclass
class Running:
    process: subprocess.Popen[str]
    port: int


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Any]:
    started: list[subprocess.Popen[str]] = []

    def start(*words: object) -> Running:
        line = [str(ROOT / "bin" / "stub"), *map(str, words)]
        process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=hearing)
        started.append(process)
        assert process.stdout
        first = process.stdout.readline()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+\n", first), process.communicate(timeout=60)
        return Running(process, int(first.rsplit(":", 1)[1]))

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


def ask(port: int, session: str) -> Answered:
    body = json.dumps({"model": MODEL, "stream": False, "messages": [TASK]})
    return call(port, "POST", "/v1/messages?beta=true", body, {"X-Claude-Code-Session-Id": session})


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_program_serves_an_actor_until_it_is_told_to_stop(run: Any, tmp_path: Path, number: int) -> None:
    stub = run("P1", "compliant", "--faults", "529x1", "--sandbox", tmp_path / "work", "--port-file", tmp_path / "port")
    assert (tmp_path / "port").read_text() == f"{stub.port}\n"
    assert listening(stub.port) == {"0100007F"}
    assert ask(stub.port, "s1").status == 529
    calls = inputs(ask(stub.port, "s1").json)
    assert calls[0]["file_path"].startswith(f"{tmp_path}/work/project/")
    stub.process.send_signal(number)
    _, log = stub.process.communicate(timeout=60)
    assert stub.process.returncode == 0
    assert log.splitlines() == ["s1 main 0 529 529 the stub was asked to fail", "s1 main 0 200"]


def test_the_program_serves_a_batch(run: Any, tmp_path: Path) -> None:
    rows = [f"{name}\tP1\t{name}\t{tmp_path}/{name}/work" for name in ("compliant", "distracted")]
    (tmp_path / "batch.tsv").write_text("\n".join(rows) + "\n")
    stub = run("--sessions", tmp_path / "batch.tsv")
    for name in ("compliant", "distracted"):
        assert inputs(ask(stub.port, name).json)[0]["file_path"].startswith(f"{tmp_path}/{name}/work/project/")
    assert ask(stub.port, "never").status == 404


def test_the_program_stops_by_itself() -> None:
    done = bin("stub", "P1", "untouched", "--seconds", "0.1")
    assert (done.returncode, done.stderr) == (0, "")
    assert one_line(done.stdout).startswith("http://127.0.0.1:")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["P1"], "SCENARIO and ACTOR are needed, or --sessions alone"),
        (["P1", "never", "--sessions", "x.tsv"], "SCENARIO and ACTOR are needed, or --sessions alone"),
        (["P1", "compliantt"], "unknown actor 'compliantt' of P1-L1-reporting; did you mean 'compliant'?"),
        (["P1", "compliant"], "placeholder '{cwd}' of actor 'compliant' stands for nothing in this session"),
        (["P1", "untouched", "--faults", "529x0"], "failure '529x0' is never played"),
        (["--sessions", "x.tsv"], "cannot read 'x.tsv': No such file or directory"),
        (["--sessions", "{}"], "bad.tsv:2: not a session, scenario, actor and sandbox, by tabs"),
    ],
)
def test_the_program_refuses_what_it_cannot_serve(tmp_path: Path, words: list[str], message: str) -> None:
    (tmp_path / "bad.tsv").write_text(f"s\tP1\tuntouched\t{tmp_path}\ns\tP1\n")
    line = [str(ROOT / "bin" / "stub"), *(word.format(tmp_path / "bad.tsv") for word in words)]
    done = command(line, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in one_line(done.stderr)


def test_nothing_of_the_embedded_agent_is_loaded_by_the_program() -> None:
    loaded = "import sys, heldout.agents.stub; print([m for m in sys.modules if m.startswith('heldout.')])"
    done = command([sys.executable, "-c", loaded], env={"PYTHONPATH": str(ROOT / "lib")})
    assert "heldout.agents.script" in done.stdout
    assert not re.search(r"heldout\.(transcript|checks|stats|agents\.acting\.loop)", done.stdout)
