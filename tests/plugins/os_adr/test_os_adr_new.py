"""adr-new, adr-init and adr-index: creating, numbering and listing."""

import datetime
import os

import pytest
import yaml


def test_a_new_adr_is_what_the_readme_says(empty, front):
    (empty.root / "lib").mkdir()
    made = empty.new("Deliver reports over SFTP", "--affects", "lib/*.rb", "docs")
    assert made.name == "0001-deliver-reports-over-sftp.md"
    assert yaml.safe_load(front(made)) == {
        "id": "0001",
        "title": "Deliver reports over SFTP",
        "status": "Accepted",
        "date": datetime.date(2025, 3, 1),
        "supersedes": [],
        "superseded-by": [],
        "affected-paths": ["lib/*.rb", "docs"],
    }
    text = made.read_text()
    assert "\n# 0001. Deliver reports over SFTP\n\n## Context\n\nIt was needed.\n\n## Decision\n" in text
    assert text.endswith("## Consequences\n\nIt is done.\n")


def test_the_index_lists_it_and_is_the_same_when_made_again(empty):
    empty.new("Deliver reports")
    index = (empty.adr / "index.md").read_bytes()
    assert b"| [0001](0001-deliver-reports.md) | Deliver reports | Accepted | 2025-03-01 |  |\n" in index
    assert b"Do not edit" in index.splitlines()[0]
    empty.ok("adr-index")
    assert (empty.adr / "index.md").read_bytes() == index
    assert empty.breaches() == []


def test_status_date_and_missing_sections_by_default(empty, front):
    done = empty.run("adr-new", "Try it", "--context", "c", TZ="UTC")
    path = empty.root / done.stdout.strip()
    today = datetime.datetime.now(datetime.UTC).date()
    assert yaml.safe_load(front(path))["date"] in (today, today - datetime.timedelta(days=1))
    assert "status: Proposed\n" in front(path)
    assert "still to fill in: Decision, Consequences" in done.stderr
    assert [line.split(": ")[1] for line in empty.breaches()] == ["fill", "fill"]


def test_sections_as_options_from_stdin_and_from_a_file(empty, body):
    path = empty.root / empty.ok("adr-new", "A", "--context", "c1", "--decision", "-", stdin="d1\n\nd2\n").strip()
    assert "## Context\n\nc1\n\n## Decision\n\nd1\n\nd2\n\n## Cons" in path.read_text()
    source = empty.root / "body.md"
    source.write_bytes(
        b"\xef\xbb\xbf# A heading to drop\r\n"
        + body.replace("\n", "\r\n").encode()
        + b"## Alternatives\r\n\r\nNone.\r\n"
    )
    path = empty.root / empty.ok("adr-new", "B", "--body", "body.md").strip()
    assert b"\r" not in path.read_bytes() and b"\xef\xbb\xbf" not in path.read_bytes()
    assert path.read_text().endswith("It is done.\n\n## Alternatives\n\nNone.\n")
    assert not [line for line in empty.breaches() if "0002" in line]


@pytest.mark.parametrize(
    ("arguments", "stdin", "message"),
    [
        (["A", "--date", "2025-02-30"], "", "cannot use the date"),
        (["A", "--status", "done"], "", "it is one of Proposed, Accepted"),
        (["A", "--status", "superseded"], "", "adr-supersede"),
        (["  "], "", "empty title"),
        (["A\nB"], "", "control character"),
        (["???"], "", "--slug"),
        (["A", "--slug", "Not Kebab"], "", "try 'not-kebab'"),
        (["A", "--affects", "/etc/passwd"], "", "relative to the project"),
        (["A", "--affects", "../other"], "", "inside the project"),
        (["A", "--affects", "lib/{a,b}.rb"], "", "one line per path"),
        (["A", "--context", "x\n\n## Decision\n\ny"], "", "'### '"),
        (["A", "--context", "```\nno end"], "", "open code fence"),
        (["A", "--context", "-", "--decision", "-"], "x", "two sections from stdin"),
        (["A", "--body", "-", "--context", "x"], "## Context\n\ny\n", "given twice"),
        (["A", "--body", "-"], "no heading", "must begin with '## Context'"),
        (["A", "--body", "-"], "---\nid: 1\n---\n## Context\n\nx\n", "front matter"),
        (["A", "--body", "missing.md"], "", "missing.md"),
    ],
)
def test_what_adr_new_refuses_leaves_nothing_behind(empty, arguments, stdin, message):
    assert message in empty.refused("adr-new", *arguments, stdin=stdin)


def test_status_is_spelt_by_the_vocabulary(empty, front):
    assert "status: Rejected\n" in front(empty.new("No", status="rejected"))


def test_without_a_log_nothing_is_made(bare):
    assert "run adr-init first" in bare.refused("adr-new", "A")
    assert "run adr-init first" in bare.refused("adr-index")
    assert "run adr-init first" in bare.refused("adr-new", "A", "--project", ".")


def test_init_makes_the_index_and_is_harmless_again(bare):
    assert bare.ok("adr-init") == "docs/adr/index.md\n"
    before = bare.snapshot()
    assert set(before) == {"docs", "docs/adr", "docs/adr/index.md"}
    assert "nothing to do" in bare.run("adr-init").stderr
    assert bare.snapshot() == before
    assert bare.ok("adr-check") == "0 ADRs, no breach\n"


def test_init_and_search_stop_at_the_root_of_the_repository(bare):
    bare.ok("git", "init", "-q")
    deep = bare.root / "lib" / "deep"
    deep.mkdir(parents=True)
    bare.ok("adr-init", cwd=deep)
    assert bare.adr.is_dir()
    bare.ok("adr-new", "From below", cwd=deep)
    inner = bare.root / "vendor" / "other"
    inner.mkdir(parents=True)
    bare.ok("git", "init", "-q", cwd=inner)
    assert "run adr-init first" in bare.refused("adr-new", "Not into the outer log", cwd=inner)


def test_outside_a_repository_no_parent_is_searched(empty):
    (empty.root / "lib").mkdir()
    empty.refused("adr-new", "A", cwd=empty.root / "lib")
    empty.ok("adr-new", "A", "--project", "..", cwd=empty.root / "lib")


def test_an_index_of_somebodys_own_is_never_replaced(bare):
    bare.adr.mkdir(parents=True)
    (bare.adr / "index.md").write_text("# Ours\n")
    for command in (["adr-init"], ["adr-index"], ["adr-new", "A"]):
        assert "was not generated" in bare.refused(*command)


def test_a_file_in_the_way_of_the_folder_is_named(bare):
    (bare.root / "docs").write_text("not a folder")
    assert "a file is in the way" in bare.refused("adr-init")


def test_a_failure_after_the_first_write_is_taken_back(empty, body):
    """The index cannot be written, because a folder has its name."""
    (empty.adr / "index.md").unlink()
    (empty.adr / "index.md").mkdir()
    (empty.adr / "index.md" / "x").touch()
    empty.refused("adr-new", "A", "--body", "-", stdin=body)


def test_eight_at_once_get_eight_numbers(empty, body):
    commands = [["adr-new", f"Decision of agent {at}", "--status", "Accepted", "--body", "-"] for at in range(8)]
    ended = empty.at_once(commands, body)
    assert [status for status, _, _ in ended] == [0] * 8, ended
    names = sorted(os.path.basename(out.strip()) for _, out, _ in ended)
    assert [name[:4] for name in names] == [f"{number:04d}" for number in range(1, 9)]
    assert sorted(path.name for path in empty.adr.iterdir()) == [*names, "index.md"]
    assert empty.breaches() == []


def test_what_a_killed_program_left_is_reported_and_removed(empty):
    (empty.adr / ".adr-4711.tmp").write_text("half")
    assert "leftover" in empty.breaches()[0]
    empty.ok("adr-index")
    assert empty.breaches() == []


def test_numbers_are_not_reused_and_gaps_are_allowed(empty):
    empty.new("One")
    empty.new("Two").rename(empty.adr / "0007-two.md")
    assert empty.new("Next").name == "0008-next.md"


def test_a_c_locale_changes_nothing(empty):
    made = empty.ok("adr-new", "Größe in Bytes", LC_ALL="C", LANG="C")
    assert made == "docs/adr/0001-grosse-in-bytes.md\n"
    assert "# 0001. Größe in Bytes\n" in (empty.root / made.strip()).read_text(encoding="utf-8")


def test_the_same_title_twice_is_remarked(empty):
    empty.new("Use Redis")
    done = empty.run("adr-new", "Use Redis")
    assert done.returncode == 0 and "has the same title" in done.stderr


def test_an_affected_path_that_matches_nothing_is_remarked(empty):
    assert "'lib/nowhere.rb' matches no file yet" in empty.run("adr-new", "A", "--affects", "lib/nowhere.rb").stderr
