"""adr-migrate: one ADR for each entry, facts taken, gaps marked, the log untouched."""

import pytest
import yaml

LOG = """\
# Decisions

We write down what we decide.

## Contents

- [1](#1)

## 1. Use Postgres (2023-04-02)

**Status:** Accepted

We keep orders in Postgres, in `src/orders.rb` and `src/gone.rb`.
Superseded tables are dropped.

Why: MySQL lost writes.

```
## 9. not a heading
Status: Rejected
```

## ADR-002: Queue in Redis — 12 March 2023 [Accepted]

Context: jobs were lost.
Decision: Use Redis lists.

### Notes

More.

## 3. Queue in Postgres

- Date: May 5th, 2024
- Status: Accepted
- Supersedes: #2

### Context

Redis evicted.

### Decision

Use a table.

### Consequences

Slower, and safe.

### Alternatives considered

Kafka.

## 4. Something odd

*2024-06-01*

We talked. Status: who knows.
"""


@pytest.fixture
def legacy(bare):
    """A project with a decision log and no docs/adr."""
    (bare.root / "src").mkdir()
    (bare.root / "src" / "orders.rb").touch()
    (bare.root / "DECISIONS.md").write_text(LOG)
    return bare


def migrated(project, text, *options):
    """The front matter of the ADRs made of the log `text`, by file name."""
    (project.root / "DECISIONS.md").write_bytes(text.encode())
    project.ok("adr-migrate", *options)
    assert (project.root / "DECISIONS.md").read_bytes() == text.encode()
    paths = sorted(project.adr.glob("[0-9]*.md"))
    return {path.name: yaml.safe_load(path.read_text().split("---\n")[1]) for path in paths}


def facts(project, text, *options):
    made = migrated(project, text, *options)
    return [(name, front["status"], str(front["date"])) for name, front in made.items()]


def test_one_adr_for_each_entry(legacy):
    made = migrated(legacy, LOG)
    assert [(name, front["title"], front["status"], str(front["date"])) for name, front in made.items()] == [
        ("0001-use-postgres.md", "Use Postgres", "Accepted", "2023-04-02"),
        ("0002-queue-in-redis.md", "Queue in Redis", "Superseded", "2023-03-12"),
        ("0003-queue-in-postgres.md", "Queue in Postgres", "Accepted", "2024-05-05"),
        ("0004-something-odd.md", "Something odd", "FILL", "2024-06-01"),
    ]
    assert made["0002-queue-in-redis.md"]["superseded-by"] == ["0003"]
    assert made["0003-queue-in-postgres.md"]["supersedes"] == ["0002"]
    assert made["0001-use-postgres.md"]["affected-paths"] == ["src/orders.rb"]


def test_the_text_lands_in_its_sections_word_for_word(legacy):
    legacy.ok("adr-migrate")
    first = (legacy.adr / "0001-use-postgres.md").read_text()
    assert "## Context\n\nMySQL lost writes.\n\n```\n## 9. not a heading\nStatus: Rejected\n```\n" in first
    assert (
        "## Decision\n\nWe keep orders in Postgres, in `src/orders.rb` and `src/gone.rb`.\nSuperseded tables" in first
    )
    second = (legacy.adr / "0002-queue-in-redis.md").read_text()
    assert "## Context\n\njobs were lost.\n\n## Decision\n\nUse Redis lists.\n\n### Notes\n\nMore.\n" in second
    third = (legacy.adr / "0003-queue-in-postgres.md").read_text()
    assert (
        "## Consequences\n\nSlower, and safe.\n\n## Alternatives\n\nKafka.\n\n<!-- Migrated from DECISIONS.md: 3. "
        in third
    )
    assert "We talked. Status: who knows." in (legacy.adr / "0004-something-odd.md").read_text()


def test_what_the_text_does_not_say_is_marked_and_nothing_else_is_wrong(legacy):
    done = legacy.run("adr-migrate")
    assert done.stdout.splitlines() == [
        "docs/adr/0001-use-postgres.md\tConsequences, Alternatives",
        "docs/adr/0002-queue-in-redis.md\tConsequences, Alternatives",
        "docs/adr/0003-queue-in-postgres.md\t",
        "docs/adr/0004-something-odd.md\tstatus, Context, Consequences, Alternatives",
    ]
    assert "not migrated: 'DECISIONS.md' lines 1-4" in done.stderr
    lines = legacy.breaches()
    assert {line.split(": ")[1] for line in lines} == {"fill"} and len(lines) == 8
    for path in legacy.adr.glob("0*.md"):
        text = path.read_text().replace("status: FILL", "status: Accepted")
        path.write_text("".join("Not recorded.\n" if "<!-- FILL" in line else line for line in text.splitlines(True)))
    legacy.ok("adr-index")
    assert legacy.breaches() == []


def test_a_dry_run_prints_the_same_and_writes_nothing(legacy):
    before = legacy.snapshot()
    dry = legacy.ok("adr-migrate", "--dry-run")
    assert legacy.snapshot() == before
    assert legacy.ok("adr-migrate") == dry


def test_twice_is_refused(legacy):
    legacy.ok("adr-migrate")
    assert "cannot migrate 'DECISIONS.md' again: '0001-use-postgres.md'" in legacy.refused("adr-migrate")
    assert "again" in legacy.refused("adr-migrate", "--dry-run")


def test_into_a_log_that_has_adrs_the_numbers_go_on(legacy, body):
    legacy.ok("adr-init")
    legacy.new("First of all")
    names = [line.split("\t")[0][9:13] for line in legacy.ok("adr-migrate").splitlines()]
    assert names == ["0002", "0003", "0004", "0005"]
    text = (legacy.adr / "0004-queue-in-postgres.md").read_text() + (legacy.adr / "0005-something-odd.md").read_text()
    assert 'supersedes: ["0002"]' in text, "2023-03-12 is the oldest, so it is 0002"


def test_entries_without_numbers_newest_first(bare):
    text = "# Log\n\n## 2024-02-01: Newer\n\nA.\n\n## 2023-01-31 – Older\n\nB.\n"
    assert facts(bare, text) == [("0001-older.md", "FILL", "2023-01-31"), ("0002-newer.md", "FILL", "2024-02-01")]


def test_entries_without_all_dates_keep_their_order_and_numbers_of_their_own_are_kept(bare):
    assert [name for name, *_ in facts(bare, "# Log\n## B (2024-02-01)\nx\n## A\ny\n")] == ["0001-b.md", "0002-a.md"]


def test_own_numbers_are_kept_with_their_gaps(bare):
    assert [name for name, *_ in facts(bare, "# Log\n## 7. B\nx\n## 3) A\ny\n")] == ["0003-a.md", "0007-b.md"]


def test_numbers_that_occur_twice_are_not_kept(bare):
    assert [name for name, *_ in facts(bare, "# Log\n## 7. B\nx\n## 7. A\ny\n")] == ["0001-b.md", "0002-a.md"]


@pytest.mark.parametrize(
    ("heading", "below", "expected"),
    [
        ("Use X", "Status: accepted (2024-01-02)", ("use-x", "Accepted", "2024-01-02")),
        ("Use X", "_Approved, 2 Jan 2024_", ("use-x", "Accepted", "2024-01-02")),
        ("Use X", "| Date: 2024/01/02 | Status: Rejected |", ("use-x", "Rejected", "2024-01-02")),
        ("Use X [2024-01-02]", "### Status\n\nProposed", ("use-x", "Proposed", "2024-01-02")),
        ("#12 Use X (rejected)", "Decided: January 2, 2024", ("use-x", "Rejected", "2024-01-02")),
        ("Use X in March 2024", "Status: in use since 2024-01-02", ("use-x-in-march-2024", "FILL", "FILL")),
        (
            "Use X",
            "Superseded designs are gone.\nAccepted practice says so. 2024-01-02 was a good day.",
            ("use-x", "FILL", "FILL"),
        ),
        ("2024 – a plan", "Date: 2024-02-30", ("2024-a-plan", "FILL", "FILL")),
    ],
)
def test_only_unmistakable_facts_are_taken(bare, heading, below, expected):
    """The two that look most like facts are joshrotenberg/adrs#376 and #324."""
    made = facts(bare, f"# Log\n\n## {heading}\n\n{below}\n\nText.\n")
    ((name, status, date),) = made
    assert (name[5:-3], status, date) == expected


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Status: Superseded by #2", "Status: Accepted"),
        ("Status: Superseded by [2. Use HTTP 1](#2-use-http-1)", "Status: Accepted"),
        ("Superseded by: Use HTTP 1", "Status: Accepted"),
        ("### Status\n\nSuperseded\nSuperseded by: ADR-0002", "Status: Accepted"),
        ("Status: Accepted", "Status: Accepted\nSupersedes: 1"),
        ("Status: Superseded by 2", "Status: Accepted\nSupersedes: Use HTTP 2"),
    ],
)
def test_links_are_found_in_either_entry_and_set_in_both(bare, older, newer):
    """Also the numbers in the titles: 'Use HTTP 2' is entry 1."""
    made = migrated(bare, f"# Log\n\n## 1. Use HTTP 2\n\n{older}\n\nA.\n\n## 2. Use HTTP 1\n\n{newer}\n\nB.\n")
    first, second = made["0001-use-http-2.md"], made["0002-use-http-1.md"]
    assert (first["status"], first["superseded-by"], second["supersedes"]) == ("Superseded", ["0002"], ["0001"])
    assert (second["status"], second["superseded-by"], first["supersedes"]) == ("Accepted", [], [])


def test_a_successor_that_is_not_to_be_found_is_marked(bare):
    made = migrated(bare, "# Log\n## A\nStatus: Superseded by the new thing\n\nx\n## B\nStatus: Superseded\n\ny\n")
    assert [(front["status"], front["superseded-by"]) for front in made.values()] == [("Superseded", ["FILL"])] * 2
    assert {line.split(": ")[1] for line in bare.breaches()} == {"fill"}


def test_skip_and_level(bare):
    text = "# Log\n## How we decide\nx\n## 2023\n### Use A\na\n### Use B\nb\n## 2024\n### Use C\nc\n"
    assert [name for name, *_ in facts(bare, text, "--level", "3", "--skip", "Use B")] == [
        "0001-use-a.md",
        "0002-use-c.md",
    ]


def test_underlined_headings_crlf_and_a_byte_order_mark(bare):
    text = "\ufeffDecisions\r\n=========\r\n\r\nUse A\r\n-----\r\n\r\nStatus: Accepted\r\n\r\nText.\r\n"
    assert facts(bare, text) == [("0001-use-a.md", "Accepted", "FILL")]
    assert b"\r" not in (bare.adr / "0001-use-a.md").read_bytes()


def test_entries_that_are_the_first_level(bare):
    text = "# Use A\n\n## Context\n\nc\n\n## Decision\n\nd\n\n# Use B\n\n## Context\n\nc2\n"
    assert [name for name, *_ in facts(bare, text)] == ["0001-use-a.md", "0002-use-b.md"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "cannot find an entry"),
        ("# Decisions\n\nNone yet.\n", "cannot find an entry"),
        ("# Log\n## A\n\n```\nno end\n", "a code fence or comment in it has no end"),
    ],
)
def test_a_log_that_cannot_be_split_leaves_nothing_behind(bare, text, message):
    (bare.root / "DECISIONS.md").write_text(text)
    assert message in bare.refused("adr-migrate")


def test_a_missing_or_unreadable_log(bare):
    assert "name it: adr-migrate FILE" in bare.refused("adr-migrate")
    (bare.root / "log.md").write_bytes(b"# Log\n## Caf\xe9\n")
    assert "byte 12 is not UTF-8" in bare.refused("adr-migrate", "log.md")
