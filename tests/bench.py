"""Whole-process timings of the programs, as medians and as ratios within this one run: `make bench`."""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RUNS = 10


def median(words: Sequence[object], env: dict[str, str] | None = None) -> float:
    """Median wall time in milliseconds, after one run that is not counted."""
    times: list[float] = []
    for _ in range(RUNS + 1):
        began = time.perf_counter()
        subprocess.run(
            [str(word) for word in words],
            env={**os.environ, **(env or {})},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )
        times.append((time.perf_counter() - began) * 1000)
    return statistics.median(times[1:])


def main() -> None:
    scratch = Path(tempfile.mkdtemp(prefix="heldout-bench-"))
    try:
        run = [ROOT / "bin/run", "P1", "compliant", scratch / "run"]
        subprocess.run([str(word) for word in run], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        cell = scratch / "run/vault-write/P1-L1-reporting/compliant/r1"
        floor = median([sys.executable, "-c", "pass"])
        print("start-up, ms (median of 10), × a bare interpreter")
        for name, words in (
            ("python -c pass", [sys.executable, "-c", "pass"]),
            ("check --help", [ROOT / "bin/check", "--help"]),
            ("check on one cell", [ROOT / "bin/check", "P1", cell, "--tsv", "m"]),
            ("extract --help", [ROOT / "bin/extract", "--help"]),
            ("extract one cell", [ROOT / "bin/extract", cell]),
            ("run, nothing to do", run),
            ("report", [ROOT / "bin/report", scratch / "run"]),
        ):
            value = median(words)
            print(f"{name:20} {value:7.0f} {value / floor:6.1f}")
        sandboxes(scratch)
        many(scratch)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def sandboxes(scratch: Path) -> None:
    """Making a sandbox from its template against `cp -a` of the same tree, both in this process's children."""
    from heldout import sandbox, scenario

    os.environ["HELDOUT_SANDBOXES"] = str(scratch)
    item = scenario.find("P1")
    sandbox.build(item, scratch / "first")
    ours, copies = [], []
    for number in range(RUNS):
        began = time.perf_counter()
        sandbox.build(item, scratch / f"s{number}")
        ours.append((time.perf_counter() - began) * 1000)
        began = time.perf_counter()
        subprocess.run(["cp", "-a", scratch / "first", scratch / f"c{number}"], check=True)
        copies.append((time.perf_counter() - began) * 1000)
    one, other = statistics.median(ours), statistics.median(copies)
    print(f"\nsandbox {one:.0f} ms, cp -a of it {other:.0f} ms: {one / other:.2f} ×")


def many(scratch: Path) -> None:
    """A report of 10,000 rows in its forms, and 1,008 saved traces scored in one process; one run each."""
    from heldout import rows, scenario
    from tabling import sessions

    table = [
        row
        for number in range(100)
        for model in ("haiku", "sonnet", "opus", "fable")
        for row in sessions(f"P{number}", model, "pfppe" * 5, f"s{number % 5}", polarity="positive", tools="9", ms="9")
    ]
    rows.write(scratch / "many/results.tsv", table)
    cells = scratch / "traces"
    reps = -(-1000 // len(list(scenario.files("run", "diagnosis"))))
    words = [ROOT / "bin/cells", cells, "--suite", "diagnosis", "--reps", str(reps)]
    listed = subprocess.run(words, capture_output=True, check=True).stdout
    (scratch / "traces.txt").write_bytes(listed)
    run = [ROOT / "bin/run", "--cells", scratch / "traces.txt", "--no-check"]
    subprocess.run(run, stderr=subprocess.DEVNULL, check=True)
    for name, words in (
        ("report, 10,000 rows", ["report", scratch / "many"]),
        ("the same as a page", ["report", scratch / "many", "--format", "html", "--out", scratch / "page.html"]),
        (f"check, {len(listed.splitlines())} traces", ["check", "--cells", cells]),
    ):
        began = time.perf_counter()
        done = subprocess.run([ROOT / "bin" / words[0], *map(str, words[1:])], capture_output=True, check=True)
        print(f"{name:20} {time.perf_counter() - began:6.2f} s, {len(done.stdout) / 1e6:.2f} MB printed")


if __name__ == "__main__":
    main()
