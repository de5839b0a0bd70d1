"""What the harness adds to a run of the real client, paired with the client alone on the same script."""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAIRS, REPS = 7, 5
ACTOR = "\nquick:\n  expect: {verdict: PASS}\n  turns: [{text: Nothing to do.}]\n"


def main() -> None:
    sys.path[:0] = [str(ROOT / "lib"), str(ROOT / "tests/e2e")]
    from heldout import client
    from heldout.errors import Refusal

    try:
        program = client.find()
    except Refusal as refusal:
        print(f"harness around the client: SKIPPED: {refusal}")
        return
    scratch = Path(tempfile.mkdtemp(prefix="heldout-bench-"))
    try:
        measure(program, scratch)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def measure(program: Path, scratch: Path) -> None:
    from heldout import sandbox, scenario
    from heldout.agents import contained, script
    from heldout.agents.claude import FIXED, NO_BACKGROUND
    from heldout.agents.stub import Part, Stub

    project = scratch / "project"
    for name in ("bin", "lib", "scenarios", "scenarios-reserve", "fixture"):
        shutil.copytree(ROOT / name, project / name, symlinks=True)
    (project / ".venv").mkdir()
    for name in ("bin", "lib", "pyvenv.cfg"):
        os.symlink(ROOT / ".venv" / name, project / ".venv" / name)
    actors = next((project / "fixture/vault-write/actors").glob("N1-*.yaml"))
    actors.write_text(actors.read_text() + ACTOR)
    os.environ |= {"HELDOUT_SANDBOXES": str(scratch / "s"), "HELDOUT_CLAUDE": str(program)}
    item = scenario.find("N1")
    plugin = str(project / "fixture/plugins/os-vault")

    def alone(number: int, stub: Stub) -> float:
        place = scratch / f"alone{number}"
        cwd, _ = sandbox.build(item, place / "work")
        env = {name: str(place / name.lower()) for name in ("HOME", "TMPDIR", "CLAUDE_CONFIG_DIR")}
        for folder in env.values():
            Path(folder).mkdir()
        env |= {
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "ANTHROPIC_API_KEY": "stub-key",
            "ANTHROPIC_BASE_URL": stub.url,
        }
        words = [
            *contained.namespace(),
            str(program),
            "-p",
            "x",
            "--model",
            "claude-sonnet-5-5",
            "--session-id",
            str(uuid.uuid4()),
        ]
        words += ["--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions"]
        words += ["--setting-sources", "project", "--strict-mcp-config", "--plugin-dir", plugin]
        variables = {name: value.replace("{sandbox}", str(place / "work")) for name, value in item.env.items()}
        began = time.perf_counter()
        done = subprocess.run(
            words,
            cwd=cwd,
            env=env | FIXED | NO_BACKGROUND | variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return time.perf_counter() - began

    def ours(run: Path, reps: int) -> float:
        began = time.perf_counter()
        words = [project / "bin/run", "N1", "quick@claude", run, "--reps", str(reps)]
        done = subprocess.run([str(word) for word in words], capture_output=True, check=False)
        assert done.stdout.count(b"\tPASS\t") == reps, (done.stdout, done.stderr)
        return time.perf_counter() - began

    with Stub(Part(script.Actor("quick", turns=(script.Turn("Nothing to do."),)), {})) as stub:
        alone(99, stub)
        ours(scratch / "warm", 1)
        single, batch, raw = [], [], []
        for number in range(PAIRS):
            raw.append(alone(number, stub))
            single.append(ours(scratch / f"one{number}", 1) - raw[-1])
            batch.append(ours(scratch / f"many{number}", REPS) / REPS - raw[-1])
    print(f"\nharness around the client, s (median of {PAIRS} pairs; the client alone {statistics.median(raw):.2f})")
    print(f"a single bin/run       +{statistics.median(single):.2f}")
    print(f"a rep of --reps {REPS}      +{statistics.median(batch):.2f}")


if __name__ == "__main__":
    main()
