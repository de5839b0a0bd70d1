"""The generated logs: the same bytes everywhere, the right size, two incidents to be pieced together."""

import ast
import hashlib
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

GEN_LOGS = Path(__file__).parents[2] / "fixture/orchestration/project/bin/gen-logs"
TREE_SHA256 = "12fc8da0d270253ea9061a055c798e278d76816735e913fe0711b8d57ee23193"

INCIDENTS = {
    "2026-07-04": {
        "worker-death": r"worker exited|worker error|slot left down|live=0/6",
        "queue-backup": r"above high water|reading depth=(4[0-9]{3}|5000) ",
        "dropped-events": r"event dropped",
    },
    "2026-07-02": {
        "token-expiry": r"token refresh failed service=harbourpay",
        "unauthorised-401": r"response service=harbourpay .* status=401",
        "retry-storm": r"retry scheduled|attempts=[56]\d{4}\b",
    },
}


def generate(folder: Path, env: dict[str, str] | None = None) -> dict[str, bytes]:
    command = [sys.executable, str(GEN_LOGS), str(folder)]
    subprocess.run(command, check=True, cwd=folder.parent, env={**os.environ, **(env or {})})
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def tree_sha256(files: dict[str, bytes]) -> str:
    """Over `name NUL length NUL content` of each file, in order of names."""
    digest = hashlib.sha256()
    for name, content in sorted(files.items()):
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    return generate(tmp_path_factory.mktemp("gen") / "logs")


def lines(logs: dict[str, bytes], day: str = "") -> list[str]:
    return [line for name, data in logs.items() if day in name for line in data.decode("ascii").splitlines()]


def test_bytes_are_pinned(logs: dict[str, bytes]) -> None:
    assert tree_sha256(logs) == TREE_SHA256


@pytest.mark.parametrize(
    "env",
    [
        {"TZ": "Pacific/Auckland", "LC_ALL": "C", "PYTHONHASHSEED": "1"},
        {"TZ": "America/St_Johns", "LC_ALL": "tr_TR.UTF-8", "PYTHONHASHSEED": "4711", "PYTHONUTF8": "0"},
        {"PYTHONOPTIMIZE": "2", "PYTHONDONTWRITEBYTECODE": "1"},
    ],
    ids=["auckland", "turkish", "optimised"],
)
def test_bytes_do_not_depend_on_the_surroundings(tmp_path: Path, env: dict[str, str]) -> None:
    assert tree_sha256(generate(tmp_path / "logs", env)) == TREE_SHA256


def test_the_generator_uses_nothing_that_varies() -> None:
    tree = ast.parse(GEN_LOGS.read_text(), feature_version=(3, 9))
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert imported == {"os", "sys"}, "no random, time or locale"
    assert not any(isinstance(node, ast.Div | ast.Set | ast.SetComp) for node in ast.walk(tree))
    assert not any(isinstance(node, ast.Constant) and isinstance(node.value, float) for node in ast.walk(tree))


def test_size(logs: dict[str, bytes]) -> None:
    assert 380_000 <= sum(map(len, logs.values())) <= 420_000


def test_several_files_a_day(logs: dict[str, bytes]) -> None:
    days = Counter(re.search(r"2026-07-\d\d", name)[0] for name in logs)  # pyright: ignore[reportOptionalSubscript]
    assert days == {f"2026-07-0{day}": 5 for day in range(1, 7)}


@pytest.mark.parametrize("day", INCIDENTS)
def test_reading_the_whole_day_is_reading_too_much(logs: dict[str, bytes], day: str) -> None:
    assert sum(len(data) for name, data in logs.items() if day in name) > 74_000


def test_lines_are_in_order_and_of_the_documented_form(logs: dict[str, bytes]) -> None:
    form = re.compile(r"(2026-07-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) (?:INFO |WARN |ERROR) (\w+) +\S")
    for name, data in logs.items():
        found = [form.match(line) for line in data.decode("ascii").splitlines()]
        assert all(found), name
        stamps = [match[1] for match in found if match]
        assert stamps == sorted(stamps), name
        assert {f"{match[2]}-{match[1][:10]}.log" for match in found if match} == {name}


@pytest.mark.parametrize("day", INCIDENTS)
def test_each_concept_is_found_by_grep_on_its_day(logs: dict[str, bytes], day: str) -> None:
    for concept, pattern in INCIDENTS[day].items():
        hits = [line for line in lines(logs, day) if re.search(pattern, line)]
        elsewhere = Counter(line[:10] for line in lines(logs) if line[:10] != day and re.search(pattern, line))
        assert len(hits) >= 15, concept
        assert all(count * 5 <= len(hits) for count in elsewhere.values()), concept


@pytest.mark.parametrize("day", INCIDENTS)
def test_no_line_tells_two_concepts(logs: dict[str, bytes], day: str) -> None:
    for line in lines(logs):
        assert sum(bool(re.search(pattern, line)) for pattern in INCIDENTS[day].values()) <= 1, line


def test_other_days_have_troubles_that_lead_nowhere(logs: dict[str, bytes]) -> None:
    quiet = "\n".join(lines(logs, "07-01") + lines(logs, "07-03") + lines(logs, "07-05") + lines(logs, "07-06"))
    for trouble in ("status=401", "worker exited", "above high water", "timeout service", "token refresh failed"):
        assert trouble in quiet
    assert "event dropped" not in quiet


def test_the_outage_happens_in_causal_order(logs: dict[str, bytes]) -> None:
    day = sorted(lines(logs, "07-04"))

    def times(pattern: str) -> list[str]:
        return [line[11:23] for line in day if re.search(pattern, line)]

    big, deaths, high, full, drops = (
        times(r"inventory.snapshot bytes=\d{8}"),
        times("worker exited"),
        times("above high water"),
        times("depth=5000"),
        times("event dropped"),
    )
    assert len(big) == 1
    assert big[0] < deaths[0] < deaths[-1] < high[0] < full[0] < drops[-1]
    assert deaths[-1] < drops[0] < times("pool started")[0]
    assert not times(r"delivery +response") or not any("09:47:05" <= at < "10:56:20" for at in times("response"))


def test_usage_is_shown_without_a_folder() -> None:
    result = subprocess.run([sys.executable, str(GEN_LOGS)], capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (1, "usage: gen-logs FOLDER\n")


def test_a_bounded_look_is_enough(logs: dict[str, bytes], tmp_path: Path) -> None:
    """The direct route: with counts and short excerpts the whole chain is found in a small part of the allowance."""
    for name, data in logs.items():
        (tmp_path / name).write_bytes(data)
    looks = [
        "wc -c *.log",
        "grep -cE 'WARN|ERROR' *.log",
        "grep -hE 'WARN|ERROR' pool-2026-07-04.log | head -40",
        "grep -hE 'WARN|depth=[0-9]{4}' queue-2026-07-04.log | head -40",
        "grep 'event dropped' intake-2026-07-04.log | cut -c1-16 | uniq -c",
        "grep -h 'bytes=[0-9]{8}' -E intake-2026-07-04.log",
    ]
    outputs = [
        subprocess.run(["sh", "-c", look], cwd=tmp_path, capture_output=True, text=True).stdout for look in looks
    ]
    assert all(outputs)
    assert sum(map(len, outputs)) < 74_000 // 4
    assert "slot left down" in outputs[2] and "above high water" in outputs[3]
