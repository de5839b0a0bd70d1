"""adr-supersede: both ways, the front matter alone, all or nothing."""

import pytest


def test_a_new_adr_and_the_old_one_are_linked(log, body):
    old = log.adr / "0003-use-http-2.md"
    before = old.read_text()
    out = log.ok("adr-supersede", "3", "Use HTTP 3", "--date", "2025-05-01", "--body", "-", stdin=body)
    assert out == "docs/adr/0005-use-http-3.md\ndocs/adr/0003-use-http-2.md\n"
    new = (log.adr / "0005-use-http-3.md").read_text()
    assert 'status: Accepted\ndate: 2025-05-01\nsupersedes: ["0003"]\nsuperseded-by: []\n' in new
    assert old.read_text() == before.replace("Accepted", "Superseded", 1).replace("by: []", 'by: ["0005"]', 1)
    assert "| Superseded | 2025-03-01 | [0005](0005-use-http-3.md) |" in (log.adr / "index.md").read_text()
    assert log.breaches() == []


@pytest.mark.parametrize("reference", ["0003", "ADR-3", "#3", "docs/adr/0003-use-http-2.md"])
def test_every_way_to_name_the_old_one(log, reference):
    log.ok("adr-supersede", reference, "--by", "0002")
    assert 'superseded-by: ["0002"]' in (log.adr / "0003-use-http-2.md").read_text()
    assert 'supersedes: ["0001", "0003"]' in (log.adr / "0002-store-utc.md").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["0003-use-http.md", "X"], "cannot find the ADR"),
        (["three", "X"], "cannot read 'three'"),
        (["3", "--by", "3"], "by itself"),
        (["3", "--by", "4"], "only an Accepted decision"),
        (["3", "--by", "1"], "its status is 'Superseded'"),
        (["3", "--by", "99"], "cannot find the ADR '99'"),
        (["3"], "either a TITLE"),
        (["3", "X", "--by", "2"], "either a TITLE"),
        (["3", "--by", "2", "--context", "x"], "--by takes an ADR as it is"),
    ],
)
def test_what_adr_supersede_refuses_leaves_nothing_behind(log, arguments, message):
    assert message in log.refused("adr-supersede", *arguments)


def test_a_rejected_adr_is_not_superseded(log):
    made = log.new("Never", status="Rejected")
    assert "never bound anybody" in log.refused("adr-supersede", made.name, "X")


def test_a_failure_half_way_restores_the_old_one(log, body):
    """The index cannot be written, after both ADRs were."""
    (log.adr / "index.md").unlink()
    (log.adr / "index.md").mkdir()
    (log.adr / "index.md" / "x").touch()
    log.refused("adr-supersede", "3", "X", "--body", "-", stdin=body)


def test_a_chain_of_three(log, body):
    log.ok("adr-supersede", "2", "Third", "--body", "-", stdin=body)
    assert log.breaches() == []
    assert "superseded by 0005" in log.refused("adr-supersede", "2", "Fourth")


def test_comments_quotes_order_and_own_keys_survive(log):
    old = log.adr / "0003-use-http-2.md"
    text = old.read_text()
    text = text.replace("status: Accepted", "status:   'Accepted'   # agreed in March")
    text = text.replace(
        "superseded-by: []", "superseded-by:\n  # nobody yet\nowner:\n  team: edge\n  since: {year: 2025}"
    )
    old.write_text(text)
    log.ok("adr-supersede", "3", "--by", "2")
    expected = text.replace("'Accepted'", "Superseded").replace("superseded-by:\n", 'superseded-by: ["0002"]\n')
    assert old.read_text() == expected
    assert log.breaches() == []


def test_the_mode_of_the_old_file_is_kept(log):
    old = log.adr / "0003-use-http-2.md"
    old.chmod(0o604)
    log.ok("adr-supersede", "3", "--by", "2")
    assert old.stat().st_mode & 0o777 == 0o604
