"""adr-check: every invariant has been seen broken, and the breach names file, expected and found."""

# pyright: reportMissingImports=false
# (osadr is the plugin's own library; conftest.py puts it on the path)

import re

import pytest
from osadr.rules import RULES

FIRST, SECOND, THIRD, FOURTH = (
    "0001-store-local-times.md",
    "0002-store-utc.md",
    "0003-use-http-2.md",
    "0004-try-grpc.md",
)
# rule, file, what is replaced, by what, and a part of the one line that must come of it
EDITS = [
    ("front-matter", THIRD, "date: 2025-03-01\n", "", "expected a readable 'date', found no such key"),
    ("front-matter", THIRD, "---\nid", "----\nid", "expected readable front matter, found line 1: no front matter"),
    ("front-matter", THIRD, "status: Accepted", "status:\n  Accepted", "expected one value on the line of 'status'"),
    ("front-matter", THIRD, "status: A", "status: A\nstatus: A", "'status' stands twice"),
    ("front-matter", THIRD, "supersedes: []", "supersedes: none", "expected a list under 'supersedes'"),
    (
        "front-matter",
        THIRD,
        "affected-paths:\n",
        "affected-paths:\n  sub:\n",
        "expected '- item' under 'affected-paths'",
    ),
    ("id", THIRD, '"0003"', "0003", 'expected "0003" in quotes, found 0003'),
    (
        "title",
        THIRD,
        "title: Use HTTP 2",
        "title: Use HTTP 3",
        "heading '0003. Use HTTP 3', found [\"0003. Use HTTP 2\"]",
    ),
    ("title", THIRD, "# 0003. Use HTTP 2\n", "", "heading '0003. Use HTTP 2', found []"),
    ("title", THIRD, "title: Use HTTP 2", 'title: ""', "expected a title, found an empty one"),
    (
        "status",
        THIRD,
        "Accepted",
        "accepted",
        "expected a status of Proposed, Accepted, Rejected, Deprecated, Superseded",
    ),
    ("date", THIRD, "2025-03-01", "2025-13-01", "expected a day written YYYY-MM-DD, found '2025-13-01'"),
    ("affected-paths", THIRD, "lib/**/*.rb", "lib/gone.rb", "match a file, found 'lib/gone.rb' matches none"),
    ("affected-paths", THIRD, "lib/**/*.rb", "/lib/x.rb", "expected a path relative to the project"),
    ("links", FIRST, '"0002"', '"0099"', 'another ADR of this folder, found "0099"'),
    ("links", FIRST, '"0002"', '"2"', 'quoted numbers like "0001", found "2"'),
    ("links", FIRST, '"0002"', '"0002", "0002"', "to name each ADR once"),
    ("both-ways", FIRST, 'by: ["0002"]', "by: []", 'superseded-by to hold "0002"'),
    ("both-ways", SECOND, 'supersedes: ["0001"]', "supersedes: []", 'supersedes to hold "0001", since 0001-store'),
    (
        "superseded",
        FIRST,
        "Superseded",
        "Accepted",
        'expected status Superseded, since superseded-by is ["0002"], found \'Acc',
    ),
    ("superseded", THIRD, "Accepted", "Superseded", "expected superseded-by to name the successor"),
    (
        "successor",
        SECOND,
        "Accepted",
        "Proposed",
        "expected status Accepted, since it supersedes [\"0001\"], found 'Proposed'",
    ),
    ("sections", THIRD, "## Decision", "### Decision", "in this order, found Context, Consequences"),
    ("sections", THIRD, "We do it.", "<!-- nothing -->", "expected text in the section Decision, found nothing"),
    ("fill", FOURTH, "We do it.", "<!-- FILL: the decision -->", "found <!-- FILL: the decision -->"),
    ("fill", FOURTH, "Proposed", "FILL", "expected a value for status, found the fill marker FILL"),
]


@pytest.mark.parametrize(("rule", "name", "old", "new", "line"), EDITS)
def test_a_broken_invariant_is_named(log, rule, name, old, new, line):
    path = log.adr / name
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))
    breaches = log.breaches()
    assert [breach for breach in breaches if breach.split(": ")[1] == rule and line in breach], breaches
    assert all(re.match(r"docs/adr/\S+\.md: [a-z-]+: expected .+, found .+", breach) for breach in breaches)


def test_both_ways_names_the_file_that_lacks_the_link(log):
    log.edit(log.adr / FIRST, ('by: ["0002"]', "by: []"))
    expected = 'expected superseded-by to hold "0002", since 0002-store-utc.md has it in supersedes, found []'
    assert f"docs/adr/{FIRST}: both-ways: {expected}" in log.breaches()


def test_a_circle_of_successors(log):
    log.edit(log.adr / SECOND, ("by: []", 'by: ["0001"]'), ("status: Accepted", "status: Superseded"))
    log.edit(log.adr / FIRST, ("supersedes: []", 'supersedes: ["0002"]'))
    said = "successor: expected a chain of successors with an end, found a circle"
    assert log.breaches() == [f"docs/adr/{FIRST}: {said}", f"docs/adr/{SECOND}: {said}"]


def test_file_name(log):
    names = [
        "5-short.md",
        "00005-long.md",
        "0005-Upper.md",
        "0005.md",
        "0005-a--b.md",
        "ADR-0005-x.md",
        "notes.md",
        "0005-x.MD",
    ]
    for name in names:
        (log.adr / name).write_bytes((log.adr / FOURTH).read_bytes())
    lines = log.breaches()
    for name in names:
        assert f"docs/adr/{name}: file-name: expected a name like 0001-lower-case-words.md, found {name}" in lines


def test_file_name_of_a_link(log):
    (log.adr / FOURTH).rename(log.root / "elsewhere.md")
    (log.adr / FOURTH).symlink_to(log.root / "elsewhere.md")
    assert log.breaches() == [f"docs/adr/{FOURTH}: file-name: expected a regular file, found a symbolic link"]


def test_what_is_no_adr_is_left_alone(log):
    (log.adr / "README.md").write_text("Ours.\n")
    (log.adr / "0001-x.md.orig").write_text("x")
    (log.adr / "0009-picture.png").write_text("x")
    (log.adr / "images").mkdir()
    (log.adr / "images" / "0001-x.md").write_text("x")
    assert log.breaches() == []
    assert log.new("Next").name == "0005-next.md"


def test_index_missing_and_a_checkout_with_crlf(log):
    index = log.adr / "index.md"
    index.write_bytes(index.read_bytes().replace(b"\n", b"\r\n"))
    assert log.breaches() == []
    index.unlink()
    assert log.breaches() == ["docs/adr/index.md: index: expected the generated index, found no such file"]


def test_checking_changes_nothing(log):
    log.edit(log.adr / THIRD, ("Accepted", "accepted"))
    before = log.snapshot()
    log.breaches()
    assert log.snapshot() == before


def test_an_adr_that_is_not_utf8_or_empty(log):
    (log.adr / THIRD).write_bytes((log.adr / THIRD).read_bytes().replace(b"We do it", b"We do \xff"))
    (log.adr / FOURTH).write_bytes(b"")
    lines = log.breaches()
    assert any(line.startswith(f"docs/adr/{THIRD}: front-matter:") and "not UTF-8" in line for line in lines)
    assert any(line.startswith(f"docs/adr/{FOURTH}: front-matter:") and "no front matter" in line for line in lines)


def test_every_rule_is_in_invariants_md_and_broken_here(plugin):
    told = re.findall(r"^- \*\*([a-z-]+)\*\*:", (plugin / "invariants.md").read_text(), re.MULTILINE)
    assert told == list(RULES)
    elsewhere = {"file-name", "number", "index", "leftover"}  # above, and in the tests of failures and adr-new
    assert {edit[0] for edit in EDITS} | elsewhere == set(RULES)
