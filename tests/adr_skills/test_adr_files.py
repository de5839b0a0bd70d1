"""Reading ADR files: every invariant has been seen broken, and the index is the one that the plugin writes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from heldout.checks import adr_files
from heldout.checks.adr_files import Adr
from heldout.tree import FolderTree
from programs import ROOT

PLUGIN = ROOT / "fixture/plugins/os-adr"
WHOLE = """\
---
id: "0007"
title: Use it
status: Accepted
date: 2025-03-01
supersedes: ["0003"]
superseded-by: []
affected-paths:
  - lib/*.rb
---

# 0007. Use it

## Context

It is there.

## Decision

We use it.

## Consequences

It is used.
"""


def adr(text: str = WHOLE, name: str = "0007-use-it.md") -> Adr:
    number, _, rest = name.partition("-")
    return Adr(f"project/docs/adr/{name}", int(number), rest.removesuffix(".md"), text)


def project(root: Path, **files: str) -> FolderTree:
    """A sandbox whose project has these ADRs, `0007_use_it` standing for 0007-use-it.md."""
    folder = root / "project/docs/adr"
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / f"{name.strip('_').replace('_', '-')}.md").write_text(text)
    return FolderTree(root)


def test_a_whole_one_keeps_everything() -> None:
    assert list(adr_files.broken(adr())) == []


def test_styles_that_say_the_same_are_the_same() -> None:
    changed = [
        ('["0003"]', "\n  - '0003'"),
        ("superseded-by: []", "superseded-by:  # nobody\nowner: us"),
        ("date: 2025-03-01", 'date: "2025-03-01"'),
        ("# 0007. Use it", "# 0007. Use it #"),
        ("It is there.", "```\n## Decision\n<!-- FILL: x -->\n```\n\n<!--\n## Decision\n-->\n\nIt is there."),
        ("## Consequences", "## Alternatives\n\nNone.\n\n## Consequences"),
    ]
    text = WHOLE
    for old, new in changed:
        assert old in text
        text = text.replace(old, new, 1)
    found = adr(text)
    assert list(adr_files.broken(found)) == []
    assert (found.word("date"), found.items("supersedes"), found.items("superseded-by")) == ("2025-03-01", ["0003"], [])
    assert found.section("Decision") == "We use it."


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('"0007"', "0007", "0007 id is a number, expected a text that is not empty"),
        ('"0007"', '"0008"', "0007 id '0008' != '0007'"),
        ("title: Use it\n", "", "0007 front matter lacks 'title'"),
        ("title: Use it", "title: Use", "0007 first-level headings ['0007. Use it'] != ['0007. Use']"),
        (
            "title: Use it",
            "title: Use: it: now",
            "0007 has front matter that cannot be read: 0007-use-it.md:3: not YAML",
        ),
        ("title: Use it", "title: No", "0007 title is yes/no, expected a text that is not empty"),
        ("status: A", "status: A\nstatus: A", "key 'status' occurs twice"),
        ("Accepted", "accepted", "0007 status 'accepted' is none of Proposed, Accepted"),
        ("2025-03-01", "1 March 2025", "0007 date '1 March 2025' is not YYYY-MM-DD"),
        ("2025-03-01", "2025-02-30", "0007 has front matter that cannot be read: day is out of range"),
        ("2025-03-01", "2025-03-01 10:00:00", "0007 date '2025-03-01T10:00:00' is not YYYY-MM-DD"),
        ('["0003"]', "[0003]", "0007 supersedes [3] is not a list of texts"),
        ('["0003"]', '"0003"', "0007 supersedes 0003 is not a list of texts"),
        ('["0003"]', '["3"]', "0007 supersedes '3' is not the number of another ADR"),
        ('["0003"]', '["0007"]', "0007 supersedes '0007' is not the number of another ADR"),
        ("## Decision", "### Decision", "0007 sections ['Context', 'Consequences'] != ['Context', 'Decision',"),
        ("We use it.", "<!-- nothing -->", "0007 section Decision is empty"),
        ("We use it.", "<!-- FILL: what -->", "0007 has fill markers left: Decision"),
        ("# 0007. Use it", "# 0007. Use it\n\n<!-- FILL: x -->", "0007 has fill markers left: the text"),
        ("Accepted", "FILL", "0007 has fill markers left: status"),
        ("---\nid", "----\nid", "0007 has no front matter between '---' lines"),
        ("---\n\n#", "\n#", "0007 has no front matter between '---' lines"),
    ],
)
def test_a_broken_invariant_is_named(old: str, new: str, told: str) -> None:
    assert old in WHOLE
    (line,) = adr_files.broken(adr(WHOLE.replace(old, new, 1)))
    assert line.startswith(told) or told in line


def test_front_matter_that_is_no_mapping() -> None:
    assert list(adr_files.broken(adr("---\n- a\n---\n"))) == [
        "0007 has front matter that is a list, expected a mapping"
    ]
    assert list(adr_files.broken(adr("---\n---\n"))) == ["0007 has front matter that is nothing, expected a mapping"]


@pytest.mark.parametrize(
    "name", ["7-use-it.md", "00007-use-it.md", "0007-Use-it.md", "0007-use--it.md", "0007-use_it.md", "0007-.md"]
)
def test_a_bad_name_is_named(name: str) -> None:
    assert list(adr_files.broken(adr(name=name))) == [f"0007 file name '{name}' is not like 0001-lower-case-words.md"]


def test_names_of_any_script_are_good() -> None:
    for name in ("0007-日本語の-タイトル.md", "0007-हिन्दी.md", "0007-http-2.md"):
        assert list(adr_files.broken(adr(name=name))) == []


def test_what_is_read_from_a_folder(tmp_path: Path) -> None:
    tree = project(tmp_path, _10000_late=WHOLE, _0009_crlf=WHOLE.replace("\n", "\r\n"), notes="x", _9_short=WHOLE)
    (tmp_path / "project/docs/adr/0001-x.md.orig").write_text("x")
    (tmp_path / "project/docs/adr/old").mkdir()
    (tmp_path / "project/docs/adr/old/0001-x.md").write_text("x")
    found = adr_files.read(FolderTree(tmp_path), "project")
    assert [item.name for item in found] == ["0009-crlf.md", "9-short.md", "10000-late.md"]
    assert found[0].word("title") == "Use it" and "\r" not in found[0].text
    assert adr_files.read(tree, "elsewhere") == []


def test_links_are_told_for_the_file_that_lacks_them() -> None:
    old = adr(WHOLE.replace("0007", "0003").replace('["0003"]', "[]"), "0003-old.md")
    assert list(adr_files.unlinked([old, adr()])) == ["0003 superseded-by [] lacks '0007', which has it in supersedes"]
    back = adr(old.text.replace("superseded-by: []", 'superseded-by: ["0007"]'), "0003-old.md")
    told = "0003 status 'Accepted' != 'Superseded', but it names a successor"
    assert list(adr_files.unlinked([back, adr()])) == [told]
    good = adr(back.text.replace("Accepted", "Superseded"), "0003-old.md")
    assert list(adr_files.unlinked([good, adr()])) == []
    assert list(adr_files.unlinked([good])) == ["0003 superseded-by '0007', which is no ADR"]


def test_the_index_is_what_the_plugin_writes(tmp_path: Path) -> None:
    """Two independent readings of invariants.md agree, also on titles that are hard to list."""
    titles = [
        "Use A & B",
        "Pipe | sign",
        "Back\\slash",
        "<b>bold</b>",
        '"Quoted": yes #1',
        "日本語のタイトル",
        "Café 100 %",
    ]
    path = os.pathsep.join([str(PLUGIN / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "PYTHONPATH": ""}
    root = tmp_path / "project"
    root.mkdir()

    def plugin(*words: str) -> None:
        subprocess.run(words, cwd=root, env=environment, check=True, capture_output=True)

    plugin("adr-init")
    assert adr_files.stale(FolderTree(tmp_path), "project") == ""
    for title in titles:
        plugin("adr-new", title, "--status", "Accepted", "--context", "c", "--decision", "d", "--consequences", "e")
    plugin("adr-supersede", "2", "--by", "6")
    plugin("adr-supersede", "7", "--by", "6")
    tree = FolderTree(tmp_path)
    assert adr_files.stale(tree, "project") == ""
    assert [line for item in adr_files.read(tree, "project") for line in adr_files.broken(item)] == []
    assert list(adr_files.unlinked(adr_files.read(tree, "project"))) == []
    index = root / "docs/adr/index.md"
    index.write_bytes(index.read_bytes().replace(b"\n", b"\r\n"))
    assert adr_files.stale(FolderTree(tmp_path), "project") == ""
    index.write_text(index.read_text().replace("| Accepted |", "| Proposed |", 1))
    assert "line 9 '| [0001](0001-use-a-b.md) | Use A & B | Proposed |" in adr_files.stale(
        FolderTree(tmp_path), "project"
    )
    index.unlink()
    assert adr_files.stale(FolderTree(tmp_path), "project") == "docs/adr/index.md is missing"


@pytest.mark.parametrize(
    ("pattern", "path", "wanted"),
    [
        ("lib/a.rb", "lib/a.rb", True),
        ("./lib/", "lib/deep/a.rb", True),
        ("lib", "library/a.rb", False),
        ("lib/*.rb", "lib/a.rb", True),
        ("lib/*.rb", "lib/deep/a.rb", False),
        ("lib/**/*.rb", "lib/a.rb", True),
        ("lib/**/*.rb", "lib/deep/er/a.rb", True),
        ("lib/**", "lib/deep/a.rb", True),
        ("lib/a?.rb", "lib/ab.rb", True),
        ("lib/a.rb", "lib/axrb", False),
        ('""', "lib/a.rb", False),
        ("'lib/[ab].rb'", "lib/a.rb", True),
        ("'[l]ib/[!ab].rb'", "lib/a.rb", False),
        ("'pages/[id].tsx'", "pages/[id].tsx", True),
        ("'pages/[a^].tsx'", "pages/^.tsx", True),
    ],
)
def test_what_affected_paths_govern(pattern: str, path: str, wanted: bool) -> None:
    assert adr_files.governs(adr(WHOLE.replace("lib/*.rb", pattern)), path) is wanted


def test_affected_paths_that_match_no_file() -> None:
    paths = adr(WHOLE.replace("lib/*.rb", "lib/\n  - ./bin/x\n  - 'src/**'"))
    assert adr_files.idle_paths(paths, ["lib/a.rb", "bin/y"]) == ["./bin/x", "src/**"]


def test_headings_may_be_underlined() -> None:
    text = WHOLE.replace("## Context", "Context\n-------").replace("## Decision", "Decision\n---")
    text = text.replace("# 0007. Use it", "0007. Use it\n===")
    assert list(adr_files.broken(adr(text))) == list(adr_files.broken(adr(WHOLE)))
    assert adr(text).sections == adr(WHOLE).sections
