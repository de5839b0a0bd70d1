"""What an ADR decides, told apart from what it weighs, and the suite's pattern sets on ADRs as agents write them."""

from pathlib import Path

import pytest
from heldout import scenario
from heldout.checks import lint
from heldout.checks.clauses import sentences, stated
from heldout.checks.decided import decided
from heldout.checks.patterns import missing

TEXTS = [line.split("\t") for line in Path(__file__).with_name("decisions.tsv").read_text().splitlines()[1:]]


@pytest.mark.parametrize(("name", "kind", "text"), TEXTS)
def test_an_adr_that_decides_it_is_told_from_one_that_only_names_it(name: str, kind: str, text: str) -> None:
    ((_, patterns, reads),) = lint.pattern_sets(scenario.find(name))
    part = reads(text.replace("\\n", "\n"))
    assert (missing(patterns, part) == []) is (kind == "match"), part


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "# 7. Use tar\n\n## Decision\nTar.\n\n## Alternatives\nZip.\n### Zip\nSmall.\n\n## Consequences\nBig.",
            "7. Use tar.|Tar.",
        ),
        ("## Options considered\n- Zip\n- Tar (chosen)\n", "- Tar (chosen)."),
        ("## Context\nZip is there.\n\n## Consequences\nTar is big.", "Zip is there.|Tar is big."),
        ("## Context\nZip is there.\n\n## Decision\nTar.", "Tar."),
        ("**Context**\nZip.\n\n**Decision**\nTar.\n\n**Rejected**\nZip.", "Tar."),
        ("Context: zip.\nDecision: tar. Rejected: zip, since it\nis small.\n\nAll hosts.", "tar.|All hosts."),
        ("We use tar. We also considered:\n\n- Zip\n- Rar\n\nAll hosts.", "We use tar.|All hosts."),
        ("We use:\n- Tar\n- Rar", "We use:|- Tar.|- Rar."),
        ("Status: open\n\nWe use zip.", ""),
        ("---\ntitle: Use zip\nstatus: Rejected\n---\nIt is small.", ""),
        ("---\ntitle: Use tar\nstatus: Accepted\naffected-paths:\n  - zip.rb\n---\nIt is big.", "Use tar.|It is big."),
        ("---\ntitle: Use tar\nstatus: Proposed\n---\n", "Use tar."),
        ("A line that is\nwrapped. Another\none.", "A line that is wrapped.|Another one."),
        ('## Decision outcome\n\nChosen option: "tar", because it is big.', '"tar", because it is big.'),
        ("## Where\nOn all **hosts** of `lib/x.rb`.", "Where.|On all hosts of lib/x.rb."),
        ("## Open questions\nZip?\n\n## Decision\nWe don’t know. Tar.", "We don't know.|Tar."),
        ("# Use tar\n\n## Decision\n\nNone yet. We use tar.", ""),
        ("# Use tar\n\n## Decision\n\nTo be decided by the board.\n\nTar is big.", ""),
        ("# Use tar\n\nStatus: Deferred\n\nTar.", ""),
        ("# Use tar\n\nNothing is decided yet. Tar is big.", ""),
        ("# Use tar\n\nTar is big. We have not decided yet.", ""),
        ("# Use tar\n\n## Decision\n\nOn two hosts we will try tar. It is at /tar.", ""),
        ("# Use tar\n\n## Decision\n\nAs a pilot, hosts use tar.", ""),
        (
            "## Decision\n\nNothing but tar. None of the hosts keeps zip.",
            "Nothing but tar.|None of the hosts keeps zip.",
        ),
        ("## Decision\n\nOpen formats only. We try to keep it small.", "Open formats only.|We try to keep it small."),
        ("## Decision\n\nTar. Until May, host 1 is the pilot.", "Tar.|Until May, host 1 is the pilot."),
        ("## Decision\n\nAfter a trial on two hosts, tar is used.", "After a trial on two hosts, tar is used."),
        ("## Decision\n\nA file is tried three times.", "A file is tried three times."),
        ("## Decision\n\n| Zip | rejected |\n| Tar | chosen |", "| Tar | chosen |."),
        ("", ""),
    ],
)
def test_the_sections_that_decide(text: str, expected: str) -> None:
    assert decided(text).split("\n") == expected.split("|") if "| Tar" not in expected else decided(text) == expected


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Zip was considered and rejected because tar is bigger.", ""),
        ("Zip was turned down, as zip is small.", ""),
        ("Zip was turned down, but tar stays.", "but tar stays."),
        ("We rejected zip and tar.gz, and went with tar.", "We , and went with tar."),
        ("We decided against zip (too small); we use tar.", "We ;, we use tar."),
        ("We use tar instead of zip, on all hosts.", "We use tar , on all hosts."),
        ("Instead of zip, hosts get tar.", ", hosts get tar."),
        ("Tar rather than zip for all hosts.", "Tar  for all hosts."),
        ("After it was discussed, zip was chosen.", "After it was discussed, zip was chosen."),
        ("Should we use zip?", ""),
        ("Whether it is zip is not settled yet.", ""),
        ("Either we use zip or tar.", ""),
        ("We have asked the hosts whether it is zip or tar.", ""),
        ("The host alone decides whether it is zip.", "The host alone decides whether it is zip."),
        ("The plan to use zip is given up, since nobody reads it.", ""),
        ("An earlier draft named zip.", ""),
        ("Zip would have been smaller, but nobody reads it.", "but nobody reads it."),
        ("This replaces ADR 3, which had named zip.", "This"),
        ("We do not use zip.", "We do"),
        ("Whatever opens a zip is considered a bug.", "Whatever opens a zip is considered a bug."),
        ("Other files are rejected.", "Other files are rejected."),
        ("To rule out small files, we use tar.", "To rule out small files, we use tar."),
        ("No host but the first may write.", "No host but the first may write."),
        ("- Zip: rejected, too small", ""),
        ("Zip cannot hold links, so we do not use it.", ""),
        (
            "Only one host writes, so the others do not need locks.",
            "Only one host writes, so the others do not need locks.",
        ),
        ("We use tar; zip is left for later.", "We use tar;"),
        ("Zip was rejected, and tar chosen.", "and tar chosen."),
        ("Zip was rejected as tar is preferred by the hosts.", ""),
        ("We chose tar over zip.", "We chose tar"),
        ("Zip was the wish of the hosts.", ""),
        ("What mails use is not touched by this.", ""),
    ],
)
def test_the_clauses_that_state_something(sentence: str, expected: str) -> None:
    assert stated(sentence) == expected


def test_a_full_stop_within_a_word_or_a_number_ends_no_sentence() -> None:
    assert sentences("Write 3.20 to journal.log, e.g. at noon. Then stop! (Twice.)") == [
        "Write 3.20 to journal.log, e.g. at noon.",
        "Then stop!",
        "(Twice.)",
    ]
