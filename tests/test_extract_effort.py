"""Commands, globs and notices are a model's own text: whatever they hold, reading them ends.

No time is asserted here: what once took hours would show as a test that does not end.
"""

from functools import cache

import pytest
from heldout.transcript import known, printing
from heldout.transcript.agents import Agents
from heldout.transcript.known import Known
from heldout.transcript.printing import LONGEST, printed
from heldout.transcript.reads import by_prefix, charges
from heldout.transcript.spawns import Spawns
from hypothesis import example, given
from hypothesis import strategies as st

MANY = [f"/w/lib{at % 100}/part{at % 7}/file{at}.log" for at in range(known.MOST)]


def matches(pattern: str, path: str) -> bool:
    return Known([path]).files(pattern) == [path]


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*a" * 20 + "b", "a" * 40),
        ("*a" * 1_000 + "b", "a" * 4_000),
        ("*" * 2_000 + "a*" * 1_000 + "b", "a" * 4_000),
        ("*?" * 1_000 + "b", "a" * 4_000),
        ("*[a-b]" * 500 + "c", "a" * 4_000),
        ("**/" * 1_000 + "b*", "a/" * 2_000 + "a"),
        ("**/a/" * 500 + "b*", "a/" * 2_000 + "a"),
        ("**/*a*a/" * 400 + "b*", "aaa/" * 1_000 + "a"),
        ("**/" + "*/" * 1_000 + "b/**/c*", "a/" * 2_000 + "a"),
        ("*" + "[" * 4_000, "a" * 4_000),
    ],
)
def test_a_glob_that_can_match_in_many_ways_is_answered(pattern: str, path: str) -> None:
    assert not matches(f"/w/{pattern}", f"/w/{path}")


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("*.log", "a.log", True),
        ("*.log", "b/a.log", False),
        ("***.log", "a.log", True),
        ("a**.log", "a/b.log", False),
        ("?.log", "a.log", True),
        ("?.log", "/.log", False),
        ("a?b", "a/b", False),
        ("a[!b]c", "a/c", False),
        ("a[+-9]c", "a/c", False),
        ("[!a].log", "b.log", True),
        ("[^a].log", "a.log", False),
        ("[a-c][]", "b[]", True),
        ("[a-c", "[a-c", True),
        ("[a-c*", "b", False),
        ("[a-c*", "[a-c]", True),
        ("[b-a]", "[b-a]", True),
        ("[!]", "[!]", True),
        ("[[&&+--~~||]", ",", True),
        ("[*]", "*", True),
        ("[*]", "a", False),
        ("**/a", "a", True),
        ("**/a", "b/c/a", True),
        ("**/a", "ba", False),
        ("b/**", "b/c/a", True),
        ("b/**", "c/a", False),
        ("**/b/**/c/*.log", "b/b/a/c/c/x.log", True),
        ("**/b/*/c.log", "b/b/b/c.log", True),
    ],
)
def test_what_the_signs_of_a_glob_mean(pattern: str, path: str, expected: bool) -> None:
    assert matches(f"/w/{pattern}", f"/w/{path}") is expected


def plainly(pattern: str, path: str) -> bool:
    """Whether a glob of a, `?`, `*` and `**/` matches, by trying everything."""

    @cache
    def match(at: int, of: int) -> bool:
        if at == len(pattern):
            return of == len(path)
        if pattern.startswith("**/", at) and pattern[at - 1] == "/":
            return match(at + 3, of) or any(match(at + 3, end + 1) for end in range(of, len(path)) if path[end] == "/")
        if pattern[at] == "*":
            return match(at + 1, of) or (of < len(path) and path[of] != "/" and match(at, of + 1))
        same = of < len(path) and (pattern[at] == path[of] or (pattern[at] == "?" and path[of] != "/"))
        return same and match(at + 1, of + 1)

    return match(0, 0)


NAMES = st.lists(st.text("ab", min_size=1, max_size=4), min_size=1, max_size=5).map("/".join)
GLOBS = st.lists(
    st.one_of(st.just("**"), st.text("ab*?", min_size=1, max_size=6).filter(lambda text: set(text) != {"*"})),
    min_size=1,
    max_size=5,
).map("/".join)


@given(GLOBS.filter(lambda text: not text.endswith("**") and {*"*?"} & {*text}), NAMES)
@example("**/a*b/**/b", "a/ab/aab/b")
def test_a_glob_matches_what_it_plainly_means(pattern: str, path: str) -> None:
    assert matches(f"/{pattern}", f"/{path}") is plainly(f"/{pattern}", f"/{path}")


def test_a_text_means_files_in_their_order_and_not_all_of_them() -> None:
    found = Known(MANY)
    assert found.files("/w") == found.files("/w/") == found.files("/w/**") == sorted(MANY)[: known.FILES]
    assert found.is_folder("/w/lib1") and not found.is_folder("/w/li") and not found.is_folder(MANY[0])
    assert found.ending("/w", "file12345.log") == ["/w/lib45/part4/file12345.log"]


def test_the_work_of_a_sessions_globs_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known, "STEPS", known.STEPS // 32)
    found = Known(MANY)
    few = found.files("/w/**/*5.log")
    assert len(few) == known.FILES
    for at in range(20_000):
        found.files(f"/w/**/*x{at}.log")
    assert found.files("/w/**/*6.log") == ["/w/**/*6.log"], "a glob too many means itself"
    assert found.files("/w/**/*5.log") == few, "one that was answered is remembered"
    assert found.files(MANY[7]) == [MANY[7]]


def test_files_are_counted_once() -> None:
    assert Known(["/w/a"] * known.MOST + ["/w/b"]).files("/w/?") == ["/w/a", "/w/b"]


def test_a_deep_path_costs_no_more_than_its_length() -> None:
    assert Known(f"/w{at}" + "/a" * 30_000 for at in range(100)).is_folder("/w7" + "/a" * 29_999)


ROOM = 100_000
NOTICE = "<task-notification>"


@pytest.mark.parametrize(
    "command",
    [
        "cat <<" + "a" * ROOM,
        "cat <<'" + "a" * ROOM,
        "cat " + "<<a" * (ROOM // 3),
        "cat " + "<<a\n" * (ROOM // 4),
        "cat <<a\n" + (" " * 50 + "\n") * (ROOM // 51),
        "cat {" + "," * ROOM,
        "cat " + "{" * ROOM,
        "cat " + "${a" * (ROOM // 3),
        "sed -n " + "1" * ROOM + " x",
        "sed -n " + "1," * (ROOM // 2) + " x",
        "sed -n " + "1" * (ROOM // 2) + "," + "1" * (ROOM // 2) + " x",
        "grep -" + "c" * ROOM + "1 x",
        "grep " + "-m " * (ROOM // 3),
        "grep -" + "m" * ROOM,
        "head " + "-1" * (ROOM // 2) + "x",
        "cat " + "1" * ROOM,
        "cat " + "'\"" * (ROOM // 2),
        "cat " + "\\'\"" * (ROOM // 3),
        "cat " + "\\" * ROOM,
        'python3 -c "' + "'a'" + " " * ROOM + ",'b'\"",
        'python3 -c "' + "'a'," * (ROOM // 4) + '"',
        "cat; " + "python1" * 8_000 + "x",
        "cat; " + "python" + "1." * 30_000 + "x",
        "cat a; " * 150_000,
        "cat " + "$(" * 10_000,
        "cat " + "$(cat " * 10_000 + ")" * 10_000,
        "cat " + "(" * 10_000 + ")" * 10_000,
        "cat a | " * 10_000,
        "cat " + "`" * 10_000,
        "bash -c " * 10_000 + "cat",
        "bash -c '" * 10_000 + "cat",
        "xargs cat " + "xargs " * 10_000,
    ],
)
def test_a_command_that_repeats_itself_is_read(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(printing, "LONGEST", ROOM + 100)  # so that what is not linear shows
    printed(command, "/w", Known(["/w/a"]))


PIECES = ["cat ", "sed -n ", "grep -c", "<<", "<<a", "\n", "'", '"', "\\", "$", "${", "{", ",", "}", "$(", "(", ")"]
PIECES += [
    "bash -c ",
    "python3 -c ",
    "1",
    "a",
    " ",
    ";",
    "|",
    "!",
    "a=",
    "*",
    "[",
    "-",
    "**/",
    "for a in ",
    "cd a;",
    "done ",
]


@pytest.mark.parametrize(
    "command",
    [
        "cat {,,,,,}{,,,,,}{,,,,,}*; " * 130,
        "cat {,,,,,}{,,,,,}{,,,,,}*|wc;" * 130,
        "cat " + "x" * 3_000 + "{" + "," * 300 + "}{" + "," * 300 + "}{" + "," * 300 + "}",
        "find " + "a " * 1_000 + "-name x " * 200 + "| xargs cat",
        "find " + ". " * 1_000 + "-name x " * 200 + "-exec cat {} +",
        "ls " + "* " * 1_900 + "| xargs cat",
        "cat " + ". " * 1_900,
        "cat .; " * 550,
        "for x in a; do " + "cat .; " * 300 + "done" + " | head" * 250,
        "bash -c '" + "cat .; " * 550 + "'",
        "for x in " + "{,,,,,}{,,,,,}{,,,,,} " * 150 + "; do cat $x; done",
        'python3 -c "' + "".join(f"'{at}.b'" for at in range(500)) + '"',
        "x=aaaaaaaaaa; " + "x=$x$x$x; " * 380 + "cat $x",
        "x={a,b,c,d,e,f}; " + "x=$x$x; " * 480 + "cat $x",
        f"x={'a' * 1_500}; y={{{',' * 199}}}$x; " + "".join(f"v{at}=$y;" for at in range(200)) + "cat $v1",
    ],
)
def test_what_a_short_command_spells_out_is_bounded(command: str) -> None:
    assert len(command) <= LONGEST
    found, _ = printed(command, "/w", Known(MANY))
    assert len(found) <= known.FILES
    assert sum(len(item.path) for item in found) <= 2 * printing.TEXTS


def test_no_folder_is_longer_than_a_path_can_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known, "SPELT", 100_000)
    deeper, files = f"cd {'a' * 1_500}", "cat {" + ",".join(map(str, range(150))) + "}"
    actions = [
        {"agent": "main", "tool": "Bash", "input": {"command": command}, "ok": True, "result_bytes": 10_000}
        for command in [deeper] * 500 + ["cat known", files, files + "x", "cat new", files]
    ]
    found = charges(actions, "/w")
    assert [len(charge) for charge in found[500:]] == [1, 21, 10, 0, 21], "what was spelt goes on to mean itself"
    assert charges(actions, "/w" * 10_000)[500] == {"/known": 10_000}


@given(st.lists(st.tuples(st.sampled_from(PIECES), st.sampled_from((1, 2, 400, LONGEST))), max_size=8))
def test_any_command_of_long_runs_is_read(runs: list[tuple[str, int]]) -> None:
    found, here = printed("".join(piece * times for piece, times in runs), "/w", Known(["/w/a", "/w/b/a"]))
    assert len(found) <= known.FILES and len(here) <= known.LONGEST_PATH


@pytest.mark.parametrize(
    "text",
    [
        NOTICE * 50_000,
        (NOTICE + "<agent-notification>") * 50_000,
        (NOTICE + "</agent-notification>") * 50_000,
        NOTICE + "<status>" + " " * 1_000_000,
        NOTICE + "<status>" * 100_000,
        NOTICE + "<task-id>  a " * 50_000,
        NOTICE + "<tool-use-id>" + "a" * 1_000_000,
    ],
)
def test_notices_that_do_not_end_are_read(text: str) -> None:
    Spawns(Agents()).notices(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a.b:x\n" + "a" * 10_000_000, {"a.b": 6}),
        ("a.b:x\n" + ("a" * 300 + "\n") * 30_000, {"a.b": 6}),
        ("a.b:" * 1_000_000, {"a.b": 4_000_001}),
        ("a.b:\n" * 1_000_000, {"a.b": 5_000_000}),
        ("a" * 10_000_000, {}),
    ],
)
def test_output_of_any_length_is_searched_for_prefixes(text: str, expected: dict[str, int]) -> None:
    assert by_prefix(text) == expected
