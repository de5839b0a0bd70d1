"""Which ADRs a text cites, and which four digits are something else."""

import pytest
from heldout.checks.citations import cited, objected
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("see ADR 9", {9}),
        ("ADR-0009", {9}),
        ("ADR0009", {9}),
        ("adr #9", {9}),
        ("ADR No. 9", {9}),
        ("ADR\n0009", {9}),
        ("**ADR 0009**, `ADR 0016`", {9, 16}),
        ("ADRs 3, 9 and 16", {3, 9, 16}),
        ("ADR 0009/0016", {9, 16}),
        ("ADR 0009, ADR-0010 or ADR 11", {9, 10, 11}),
        ("0009-show-people-a-reference", {9}),
        ("[0009](docs/adr/0009-show-people.md)", {9}),
        ("docs/adr/0009*", {9}),
        ("per ADR 9 and 14 days later", {9}),
        ("Decision record 0009", {9}),
        ("decision record no. 9", {9}),
        ("decisions 0009 and 0010", {9, 10}),
        ("decision 0009 (on references)", {9}),
        ("decision 9 and 14 days later", set()),
        ("a decision in 2009, a record 0009", set()),
        ("port 0009 in 2026, booking 0009, 0009", set()),
        ("on 2026-06-10 at 0009", set()),
        ("ADR and 9 others", set()),
        ("B-0009-x", set()),
        ("quadr 9", set()),
        ("0009-2026", set()),
    ],
)
def test_forms(text: str, held: set[int]) -> None:
    assert cited(text)[0] == held


@pytest.mark.parametrize(
    ("text", "held", "mentioned"),
    [
        ("ADR 0003, superseded by ADR 0009", {9}, {3}),
        ("ADR 0003 is superseded by ADR 0009", {9}, {3}),
        ("ADR 0009 superseded ADR 0003", {9}, {3}),
        ("ADR 0009 (supersedes 0003-give-each)", {9}, {3}),
        ("ADR 0003 (Superseded) is history", set(), {3}),
        ("the superseded ADR 0003", set(), {3}),
        ("not ADR 0003 but ADR 0009", {9}, {3}),
        ("ADR 0009 holds instead of ADR 0003", {9}, {3}),
        ("ADR 0003 does not apply here", set(), {3}),
        ("ADR 0003 doesn't bind any more", set(), {3}),
        ("ADR 0003 no longer holds; ADR 0009 does", {9}, {3}),
        ("ADR 0015 is about something else", set(), {15}),
        ("ADR 0003 was replaced. ADR 0003 it is!", {3}, set()),
        ("ADR 0003. It is superseded, I know.", {3}, set()),
        ("ADR 0014 holds. I also read ADR 0015 and ADR 0020; neither applies here.", {14}, {15, 20}),
        ("ADR 0014 holds. I read ADR 0015 and ADR 0020. None of them is about the log.", {14}, {15, 20}),
        ("ADR 0015 (keypads), ADR 0020 (what was sent) do not apply", set(), {15, 20}),
        ("0015-try-a-keypad.md and 0020-keep-sent.md are about something else", set(), {15, 20}),
        ("ADRs 15 and 20 are not relevant", set(), {15, 20}),
        ("[ADR 0015](docs/adr/0015-try.md) and [ADR 0020](docs/adr/0020-keep.md) are not relevant", set(), {15, 20}),
        ("ADR 0003 and ADR 0008 have been superseded", set(), {3, 8}),
        ("neither ADR 0015 nor ADR 0020 governs this", set(), {15, 20}),
        ("ADR 0014 and then ADR 0015. Neither test fails.", {14, 15}, set()),
        ('ADR 0010: "None is edited or taken out"', {10}, set()),
        ("I go by ADR 0015, and ADR 0020 does not apply", {15}, {20}),
        ("By ADR 0015 and ADR 0020 nobody is told", {15, 20}, set()),
        ("I follow ADR 0015. ADR 0003 and ADR 0020 do not apply.", {15}, {3, 20}),
        ("ADR 0003 says that nothing is replaced", {3}, set()),
    ],
)
def test_a_mention_as_not_holding_is_no_citation(text: str, held: set[int], mentioned: set[int]) -> None:
    assert cited(text) == (held, mentioned)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("This contradicts ADR-0010, which is in force.", True),
        ("ADR 0010 forbids that. You asked for it, so it is done.", True),
        ("ADR 0010 wants lines to stay. That is a conflict with your wish.", True),
        ("Done, in line with ADR 0010. The suite passes.", False),
        ("As ADR 0010 has it, the line is corrected. All is well. All tests run. This is not against anything.", False),
        ("This contradicts ADR 0002. A. B. ADR 0010 is kept.", False),
        ("This contradicts what you said.", False),
        ("It does not contradict ADR 0010.", False),
        ("I checked the change against ADR 0010.", False),
        ("There is no conflict with ADR 0010.", False),
    ],
)
def test_whether_the_work_is_said_to_go_against_one(text: str, expected: bool) -> None:
    assert objected(text, {10}) is expected


@given(st.text(alphabet="ADRs adr0129-/#,.()and\n", max_size=200))
def test_any_text_is_read_and_nothing_is_both(text: str) -> None:
    held, mentioned = cited(text)
    assert not held & mentioned
