"""What broke other ADR tools, one test for each failure; the reports are named in the docstrings."""

import pytest
import yaml


def commit(project, message):
    project.ok("git", "add", "-A")
    project.ok("git", "commit", "-q", "-m", message)


@pytest.fixture
def branches(empty):
    """Two branches that each took 0002 and are green by themselves; main has the one, `other` is checked out."""
    empty.ok("git", "init", "-q", "-b", "main")
    empty.new("Base")
    commit(empty, "base")
    empty.ok("git", "checkout", "-q", "-b", "other")
    empty.new("Theirs")
    commit(empty, "theirs")
    empty.ok("git", "checkout", "-q", "main")
    empty.new("Ours")
    commit(empty, "ours")
    empty.ok("git", "checkout", "-q", "other")
    assert empty.breaches() == []
    return empty


def test_duplicate_number_after_a_clean_merge_of_parallel_branches(branches):
    """npryce/adr-tools#102, mattpocock/skills#799; kamp-us/phoenix#1471: making the index again hid it"""
    branches.ok("git", "merge", "-q", "-X", "ours", "main")
    done = branches.run("adr-index")
    assert "'0002-ours.md' and '0002-theirs.md' share the number 0002" in done.stderr
    index = (branches.adr / "index.md").read_text()
    assert "(0002-ours.md)" in index and "(0002-theirs.md)" in index
    assert branches.breaches() == [
        "docs/adr/0002-theirs.md: number: expected the number 0002 once, found it is taken by 0002-ours.md"
    ]


def test_a_gate_per_branch_is_green_on_both_but_not_against_the_other(branches):
    """curie-eng/curie#1949"""
    done = branches.run("adr-check", "--against", "main")
    assert done.returncode == 1
    found = "expected a number that 'main' has not given to another ADR, found 0002-ours.md there"
    assert done.stdout == f"docs/adr/0002-theirs.md: number: {found}\n"
    assert branches.ok("adr-check", "--against", "other") == "2 ADRs, no breach\n"
    assert "cannot read the ADRs of 'nowhere'" in branches.refused("adr-check", "--against", "nowhere")


def test_the_old_adr_is_updated_on_supersede(log):
    """adoble/adr-j#47; joshrotenberg/adrs#53: the status was deleted and nothing put in its place"""
    log.ok("adr-supersede", "3", "--by", "2")
    text = (log.adr / "0003-use-http-2.md").read_text()
    assert "\nstatus: Superseded\n" in text and '\nsuperseded-by: ["0002"]\n' in text
    assert text.count("status:") == 1


def test_no_success_is_reported_when_the_old_status_cannot_be_found(log):
    """endjin/dotnet-adr#190; also adr-tools, whose index shows front-matter files as '-'"""
    (log.adr / "0005-nygard.md").write_text(
        "# 5. Nygard\n\nDate: 2025-01-01\n\n## Status\n\nAccepted\n\n## Context\n\nx\n"
    )
    assert "cannot change '0005-nygard.md'" in log.refused("adr-supersede", "5", "New")
    done = log.run("adr-index")
    assert "0005-nygard.md' cannot be read whole" in done.stderr
    assert "| [0005](0005-nygard.md) | 0005-nygard.md | unreadable |" in (log.adr / "index.md").read_text()


def test_the_checker_sees_a_link_that_stands_on_the_next_line(log):
    """joshrotenberg/adrs#197"""
    log.edit(log.adr / "0001-store-local-times.md", ('superseded-by: ["0002"]', 'superseded-by:\n  - "0002"'))
    log.edit(log.adr / "0002-store-utc.md", ('supersedes: ["0001"]', "supersedes:\n- '0001' # the first"))
    assert log.breaches() == []


def test_a_title_that_is_not_ascii_keeps_its_meaning_in_the_name(log):
    """joshrotenberg/adrs#369 and #373, and adr-tools run here: '0004-.md', '0002-caf-d-j-vu.md'"""
    names = {
        "Café déjà vu": ("0005-cafe-deja-vu.md", "C"),
        "日本語のタイトル": ("0006-日本語のタイトル.md", "C"),
        "redis を使う": ("0007-redis-を使う.md", "C.UTF-8"),
        "हिन्दी शीर्षक": ("0008-हिन्दी-शीर्षक.md", "C.UTF-8"),
        "Straße & Ærø": ("0009-strasse-aero.md", "C.UTF-8"),
    }
    for title, (name, locale) in names.items():
        made = log.ok("adr-new", title, "--context", "c", "--decision", "d", "--consequences", "e", LC_ALL=locale)
        assert made == f"docs/adr/{name}\n"
    assert log.breaches() == []


def test_titles_that_make_one_slug_never_overwrite(log):
    """Yeachan-Heo/oh-my-claudecode#2269: the title '.md'"""
    first, second = log.new(".md"), log.new(".md")
    assert (first.name, second.name) == ("0005-md.md", "0006-md.md")
    assert log.new("x" * 400).name == f"0007-{'x' * 60}.md"
    assert log.breaches() == []


def test_a_stale_index_is_a_breach(log):
    """dentalpin/dentalpin#300; anthonytorlucci/rlevo#1111: the index said superseded, the file active"""
    index = log.adr / "index.md"
    fresh = index.read_text()
    index.write_text("".join(line for line in fresh.splitlines(keepends=True) if "0003" not in line))
    assert [line.split(": ")[:2] for line in log.breaches()] == [["docs/adr/index.md", "index"]]
    index.write_text(fresh.replace("| Use HTTP 2 | Accepted |", "| Use HTTP 2 | Superseded |"))
    (line,) = log.breaches()
    assert line.startswith("docs/adr/index.md: index: expected line 11 '| [0003]") and "| Superseded |" in line


def test_crlf_and_a_byte_order_mark_are_read_and_kept(log):
    """joshrotenberg/adrs#327; adr-tools run here: stays Accepted, and the link gets a raw CR"""
    old = log.adr / "0003-use-http-2.md"
    crlf = b"\xef\xbb\xbf" + old.read_bytes().replace(b"\n", b"\r\n")
    old.write_bytes(crlf)
    assert log.breaches() == []
    new = log.root / log.ok("adr-supersede", "3", "Use HTTP 3", "--context", "x").split()[0]
    expected = crlf.replace(b"status: Accepted\r\n", b"status: Superseded\r\n").replace(
        b"by: []\r\n", b'by: ["0005"]\r\n'
    )
    assert old.read_bytes() == expected
    assert b"\r" not in new.read_bytes() and b"\r" not in (log.adr / "index.md").read_bytes()


def test_a_fenced_example_of_front_matter_is_not_the_status(log):
    """rjmurillo/ai-agents#5189; there a missing status also counted as proposed"""
    path = log.adr / "0003-use-http-2.md"
    log.edit(path, ("We do it.", "```yaml\n---\nstatus: Rejected\n---\n## Context\n<!-- FILL: x -->\n```"))
    assert log.breaches() == []
    assert "0003 [Accepted]" in log.ok("adr-find", "--status", "Accepted")
    log.edit(path, ("status: Accepted\n", ""))
    assert f"docs/adr/{path.name}: front-matter: expected a readable 'status', found no such key" in log.breaches()
    assert "0003" not in log.ok("adr-find", "--status", "Proposed")


def test_prose_that_begins_with_superseded_is_not_the_status(log):
    """joshrotenberg/adrs#376"""
    log.edit(log.adr / "0003-use-http-2.md", ("We do it.", "Superseded protocols are\nStatus: Deprecated\n"))
    assert log.breaches() == []
    assert "0003 [Accepted]" in log.ok("adr-find", "http")


def test_supersedes_is_not_read_as_superseded(log):
    """reddb-io/red-skills#2720"""
    assert "0002 [Accepted]" in log.ok("adr-find", "store", "--status", "Accepted")
    row = next(line for line in (log.adr / "index.md").read_text().splitlines() if line.startswith("| [0002]"))
    assert row.endswith("| 2025-04-01 |  |")


def test_a_dangling_supersession_and_a_proposed_successor_are_breaches(log):
    """rjmurillo/ai-agents#5192"""
    (log.adr / "0002-store-utc.md").unlink()
    log.ok("adr-index")
    found = 'expected superseded-by to name another ADR of this folder, found "0002"'
    assert log.breaches() == [f"docs/adr/0001-store-local-times.md: links: {found}"]
    assert "only an Accepted decision replaces another" in log.refused("adr-supersede", "3", "--by", "4")


def test_numbers_are_decimal_whatever_they_look_like(empty, front):
    """npryce/adr-tools#3: the ninth ADR could not be created"""
    for number in range(1, 8):
        (empty.adr / f"{number:04d}-x.md").write_bytes(b"")
    names = [empty.new(f"Decision {word}").name for word in ("eight", "nine", "ten", "eleven")]
    assert [name[:4] for name in names] == ["0008", "0009", "0010", "0011"]
    empty.ok("adr-supersede", "08", "--by", "0009")
    empty.ok("adr-supersede", "010", "--by", "00011")
    ten = yaml.safe_load(front(empty.adr / names[2]))
    assert (ten["id"], ten["superseded-by"]) == ("0010", ["0011"])


def test_a_gate_over_no_files_is_not_green(bare):
    """KooshaPari/OmniRoute#124: the glob matched nothing"""
    assert "cannot find 'docs/adr'" in bare.refused("adr-check")
    bare.ok("adr-init")
    (bare.adr / "ADR-0001-x.md").write_text("---\n---\n")
    (line,) = bare.breaches()
    assert line.startswith("docs/adr/ADR-0001-x.md: file-name: ")


def test_the_listing_is_not_too_loose(log):
    """npryce/adr-tools#108: checksums and sub-folders were listed"""
    before = (log.adr / "index.md").read_bytes()
    for name in ("0099-x.md5", "0099-x.md~", "0099-x.mdx", ".0099-x.md", "0099-x.txt"):
        (log.adr / name).write_text("x")
    (log.adr / "0099-folder.md").mkdir()
    log.ok("adr-index")
    assert (log.adr / "index.md").read_bytes() == before
    assert log.new("Next").name == "0005-next.md"


def test_links_to_a_number_that_two_adrs_share_are_not_touched(log):
    """joshrotenberg/adrs#364"""
    (log.adr / "0003-another.md").write_bytes((log.adr / "0003-use-http-2.md").read_bytes())
    log.ok("adr-index")
    for reference in ("3", "0003-use-http-2.md"):
        message = log.refused("adr-supersede", reference, "New")
        assert "'0003-another.md' and '0003-use-http-2.md' share the number" in message
    assert "share the number" in log.refused("adr-supersede", "2", "--by", "3")


def test_the_log_of_a_package_is_one_of_its_own(log, body):
    """thomvaill/log4brains#107"""
    log.ok("git", "init", "-q")
    package = log.root / "packages" / "billing"
    (package / "src").mkdir(parents=True)
    log.ok("adr-init", "--project", "packages/billing")
    log.ok(
        "adr-new", "Round half even", "--status", "Accepted", "--affects", "src", "--body", "-", stdin=body, cwd=package
    )
    out = log.ok("adr-supersede", "1", "Round half up", "--body", "-", stdin=body, cwd=package / "src")
    assert out.split() == ["docs/adr/0002-round-half-up.md", "docs/adr/0001-round-half-even.md"]
    assert "[0002](0002-round-half-up.md) |" in (package / "docs" / "adr" / "index.md").read_text()
    assert log.ok("adr-check", cwd=package) == "2 ADRs, no breach\n"
    assert log.ok("adr-check") == "4 ADRs, no breach\n"


def test_stale_paths_are_breaches_of_what_is_in_force_alone(log):
    """objectstack-ai/objectstack#14279; tosin2013/mcp-adr-analysis-server#1507: a superseded ADR is no drift"""
    (log.root / "lib" / "clock.rb").unlink()
    expected = "expected affected paths that match a file, found 'lib/**/*.rb' matches none"
    assert log.breaches() == [f"docs/adr/0003-use-http-2.md: affected-paths: {expected}"]


def test_signs_in_a_title_are_kept_and_break_nothing(log, front):
    """adr-tools run here: '&' became TITLE, '|' was a sed error and left an empty file"""
    titles = [
        "Use A & B",
        "Pipe | sign",
        "Back\\slash",
        "<b>bold</b>",
        "$(touch x) `y` %s {0}",
        '"Quoted": yes #1',
        "No",
    ]
    for title in titles:
        path = log.new(title)
        assert yaml.safe_load(front(path))["title"] == title
        assert f"\n# {path.name[:4]}. {title}\n" in path.read_text()
        cell = title.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")
        assert f"]({path.name}) | {cell} | Accepted |" in (log.adr / "index.md").read_text()
    assert log.breaches() == [] and not (log.root / "x").exists()


def test_a_proposed_adr_that_is_superseded_has_one_status(log):
    """adr-tools run here: it ended as 'Proposed' and 'Superceded by'"""
    log.ok("adr-supersede", "4", "--by", "3")
    text = (log.adr / "0004-try-grpc.md").read_text()
    assert text.count("status: Superseded\n") == 1 and "Proposed" not in text
    assert log.breaches() == []


def test_superseding_twice_is_refused(log):
    """adr-tools run here: two links"""
    log.ok("adr-supersede", "3", "--by", "2")
    assert "it is superseded by 0002; supersede that one" in log.refused("adr-supersede", "3", "Again")


def test_a_number_is_never_matched_inside_a_name(empty):
    """adr-tools run here: '-s 2' superseded 0001-use-http-2.md"""
    first, second = empty.new("Use HTTP 2"), empty.new("Another")
    before = first.read_bytes()
    empty.ok("adr-supersede", "2", "--by", "1")
    assert "status: Superseded" in second.read_text()
    assert first.read_bytes() == before.replace(b"supersedes: []", b'supersedes: ["0002"]')


def test_a_missing_target_leaves_nothing_behind(log):
    """adr-tools run here: '-s 99' failed and left 0014-missing.md"""
    assert "cannot find the ADR '99'" in log.refused("adr-supersede", "99", "Missing")


def test_numbers_past_9999_count_and_sort_as_numbers(empty):
    """adr-tools run here: 10000 was listed before 9999"""
    empty.new("Last of four").rename(empty.adr / "9999-last-of-four.md")
    empty.edit(empty.adr / "9999-last-of-four.md", ('id: "0001"', 'id: "9999"'), ("# 0001.", "# 9999."))
    assert empty.new("First of five").name == "10000-first-of-five.md"
    assert empty.new("Next").name == "10001-next.md"
    rows = [line[3:9] for line in (empty.adr / "index.md").read_text().splitlines() if line.startswith("| [")]
    assert rows == ["9999](", "10000]", "10001]"]
    empty.ok("adr-supersede", "10000", "--by", "10001")
    assert empty.breaches() == []


def test_eight_supersessions_at_once_leave_one_successor(log, body):
    """adr-tools run here: eight parallel 'adr new' shared two numbers"""
    ended = log.at_once([["adr-supersede", "3", "Use HTTP 3", "--body", "-"]] * 8, body)
    assert sorted(status for status, _, _ in ended) == [0] + [2] * 7, ended
    assert [path.name for path in sorted(log.adr.glob("0005*"))] == ["0005-use-http-3.md"]
    assert log.breaches() == []
