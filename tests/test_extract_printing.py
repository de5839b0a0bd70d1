"""What a shell command prints of which files, and how a result is charged to them."""

import pytest
from heldout.transcript.known import Known, rooted
from heldout.transcript.printing import printed
from heldout.transcript.reads import charges
from hypothesis import given
from hypothesis import strategies as st

FILES = ["docs/a.md", "docs/b.md", "logs/pool-03.log", "logs/pool-04.log", "logs/queue-03.log", "logs/queue-04.log"]
START = [f"project/{path}" for path in FILES]
KNOWN = Known([f"/s/work/{path}" for path in START])
P3, P4, Q3, Q4 = FILES[2:]
POOL, QUEUE = [P3, P4], [Q3, Q4]


def files(command: str) -> list[str]:
    return [path.removeprefix("/s/work/project/") for path, *_ in printed(command, "/s/work/project", KNOWN)[0]]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("cat logs/pool-*.log logs/queue-*.log", POOL + QUEUE),
        ("cd logs && cat *-04.log | head -c 20000", [P4, Q4]),
        ("(cd logs; cat queue-04.log); cat docs/a.md", [Q4, "docs/a.md"]),
        ("for f in logs/queue-*.log; do cat $f; done | head -c 28000", QUEUE),
        ('for d in 03 04; do grep x "logs/queue-$d.log"; done', QUEUE),
        ("D=04; cat logs/queue-${D}.log", [Q4]),
        ("cat logs/{pool,queue}-04.log 2>/dev/null", [P4, Q4]),
        ("cat 'logs'/pool-0[!3].log", [P4]),
        ("ls logs/*-04.log | xargs cat", [P4, Q4]),
        ("find logs -name 'queue-*.log' | xargs grep -h x", QUEUE),
        ("find logs -name 'queue-*.log' -exec cat {} +", QUEUE),
        ("bash -c 'cat logs/queue-04.log'", [Q4]),
        ("python3 -c \"print(open('logs/queue-04.log').read())\"", [Q4]),
        ("python3 -c \"print((Path('logs') / 'queue-04.log').read_text())\"", [Q4]),
        (
            "python3 - <<'EOF'\nimport glob\nfor f in glob.glob('logs/pool-*.log'):\n  print(open(f).read())\nEOF\n",
            POOL,
        ),
        ("node -e \"console.log(require('fs').readFileSync('logs/pool-03.log', 'utf8'))\"", [P3]),
        ("grep -rh worker logs", POOL + QUEUE),
        ("cat logs/gone-*.log", ["logs/gone-*.log"]),
        ("cat <<<x docs/a.md\ncat docs/b.md\n", ["docs/a.md", "docs/b.md"]),
        ("cat <<x docs/a.md", ["docs/a.md"]),
        ("cat docs/a.md \\", ["docs/a.md"]),
        # nothing of a file
        ("cat logs/queue-04.log | wc -l", []),
        ("cat logs/*.log | md5sum; wc -c logs/*.log", []),
        ("cat logs/queue-04.log > /tmp/x; cat logs/queue-04.log | sort >> y", []),
        ("grep -c x logs/queue-04.log; grep -rl x logs; grep -q x logs/pool-03.log", []),
        ("sed -i 's/a/b/' logs/queue-04.log", []),
        ("python3 -c \"open('logs/queue-04.log', 'w').write('x')\"", []),
        ("cat <<'EOF'\nlogs/queue-04.log\nEOF\n", []),
        ("ls logs/*.log; echo 'cat logs/queue-04.log'", []),
        ("for f in logs/*.log; do cat $f; done | wc -c", []),
        # an error is printed, and a number before a sign is no file
        ("cat logs/queue-04.log 2>&1 | head", [Q4]),
    ],
)
def test_the_files_that_a_command_prints(command: str, expected: list[str]) -> None:
    assert sorted(files(command)) == sorted(expected)


def charged(command: str, size: int, rows: int = 0, lines: dict[str, int] | None = None) -> dict[str, int]:
    action = {"agent": "main", "tool": "Bash", "input": {"command": command}, "ok": True, "result_bytes": size}
    action |= {"_rows": rows or size // 50, **({"_lines": lines} if lines else {})}
    found = charges([action], "/s/work/project", START)[0]
    assert sum(found.values()) <= size
    return {path.removeprefix("/s/work/project/"): count for path, count in found.items()}


@pytest.mark.parametrize(
    ("command", "size", "rows", "expected"),
    [
        (f"cat {Q4}", 9_000, 0, {Q4: 9_000}),
        (f"cat {P4} {Q4}", 9_000, 0, {P4: 4_500, Q4: 4_500}),
        (
            f"head -n 12 {P4}; head -n 12 {Q4}; sed -n 1,36p docs/a.md",
            6_000,
            60,
            {P4: 1_200, Q4: 1_200, "docs/a.md": 3_600},
        ),
        (f"cat {Q4} | wc -l; cat docs/*.md | head -c 6000", 6_005, 0, {"docs/a.md": 3_000, "docs/b.md": 3_000}),
        (f"tail -5 {Q4}; npm test", 9_000, 90, {Q4: 500}),
        (f"head -c 1k {Q4}; npm test", 9_000, 0, {Q4: 1_024}),
        (f"tail -n +2 {Q4}", 9_000, 0, {Q4: 9_000}),
        (f"grep -m 3 x {Q4}; npm test", 10_000, 100, {Q4: 300}),
        (f"head {P4} {Q4}", 2_000, 20, {P4: 1_000, Q4: 1_000}),
        (f"sed -n 9,3p {Q4}; npm test", 5_000, 100, {Q4: 50}),
        (f"head -n 0{'0' * 30}5 {Q4}; npm test", 9_000, 90, {Q4: 500}),
    ],
)
def test_a_result_is_charged_to_the_files_in_it(command: str, size: int, rows: int, expected: dict[str, int]) -> None:
    assert charged(command, size, rows) == expected


@pytest.mark.parametrize("digits", [18, 30, 400, 3_900])
@pytest.mark.parametrize(
    "command",
    [
        "head -n {}",
        "head -{}",
        "head -c {}",
        "head -c {}M",
        "head --lines={}",
        "head --bytes={}k",
        "tail -n {}",
        "tail -n +{}",
        "tail -n -{}",
        "sed -n 1,{}p",
        "sed -n {},{}p",
        "sed -n '{}p;1,{}p'",
        "grep -m {} x",
        "grep --max-count={} x",
    ],
)
def test_a_number_may_have_any_length(command: str, digits: int) -> None:
    number = "9" * (digits // command.count("{}"))
    one_line = command == "sed -n {},{}p"
    assert charged(f"{command.replace('{}', number)} {Q4}", 9_000) == {Q4: 50 if one_line else 9_000}


def test_lines_that_name_their_file_are_charged_to_it_and_the_rest_is_shared() -> None:
    lines = {P4: 3_000, Q4: 1_000, "2026-07": 500}
    assert charged("grep -rn x logs; cat docs/a.md", 9_000, 90, lines) == {P4: 3_000, Q4: 1_000, "docs/a.md": 5_000}
    assert charged("grep -rn -A 2 x logs", 9_000, 90, lines) == {P4: 5_500, Q4: 3_500}, "lines of context"


def test_the_main_loops_folder_carries_over_and_a_subagents_does_not() -> None:
    calls = [("main", "cd logs"), ("main", "cat queue-04.log"), ("a1", "cat queue-04.log"), ("main", "cd /; ls")]
    calls += [("main", "cat logs/pool-03.log")]
    actions = [
        {"agent": agent, "tool": "Bash", "input": {"command": command}, "ok": True, "result_bytes": 10}
        for agent, command in calls
    ]
    found = charges(actions, "/s/work/project", START)
    assert [list(item) for item in found] == [
        [],
        [f"/s/work/project/{Q4}"],
        ["/s/work/project/queue-04.log"],
        [],
        [f"/s/work/project/{P3}"],
    ]


def test_the_files_of_a_sandbox_lie_where_the_working_directory_tells() -> None:
    assert rooted(["project/a", "vault/b"], "/tmp/project/7f/work/project/lib") == [
        "/tmp/project/7f/work/project/a",
        "/tmp/project/7f/work/vault/b",
    ]
    assert rooted(["project/a"], "/elsewhere") == []


PIECES = [
    "cat",
    "head",
    "-n",
    "-c",
    "5",
    "for",
    "in",
    "do",
    "done",
    "find",
    "-exec",
    "xargs",
    "python3",
    "-c",
    "cd",
    "bash",
]
PIECES += [
    *"|;()<>&$'\"\\\n{}[],*=",
    " ",
    "<<EOF\n",
    "EOF",
    "$x",
    "logs/",
    "queue-04.log",
    "[b-a]",
    "/",
    "sed",
    "1,2p",
    "{a,b}",
]


@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join), st.booleans())
def test_any_command_is_read(command: str, apart: bool) -> None:
    found, left = printed(command.replace("-", " -") if apart else command, "/s/work/project", KNOWN)
    assert all(item.path.startswith("/") for item in found) and left.startswith("/")
