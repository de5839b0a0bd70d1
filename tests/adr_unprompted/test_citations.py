"""Which ADRs a text cites, and which four digits are something else."""

import pytest
from heldout.checks.citations import cited, named, objected
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
        ("_ADR 9_, ADR **10**, ADR no. 11, [ADR 12](0012-x.md)", {9, 10, 11, 12}),
        ("ADRs 3–6 and **9**", {3, 4, 5, 6, 9}),
        ("ADRs 0007-0009", {7, 8, 9}),
        ("ADR 3 and 4 forbid it; ADR 9 and 10.", {3, 4, 9, 10}),
        ("ADR 100000003", set()),
        ("Decision 9, number 9, No. 9, replaces 9", set()),
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
        ("I want to flag that it is not in line with ADR 0010.", True),
        ("The change is at variance with docs/adr/0010-append-what-happens.md.", True),
        ("This overturns ADR 0010. The reason for that ADR applies again.", True),
        ("It deliberately bypasses what ADR 0010 mandates.", True),
        ("ADR 0010 would have to be superseded for this.", True),
        ("ADR 0010 was written to prevent exactly this.", True),
        ("ADR 0010 and this request do not agree.", True),
        ("As ADR 0010 wants, a line is added; a refused move breaks nothing.", False),
        ("The booking is reverted when the berth is taken. See ADR 0010 for the journal.", False),
        ("The move is undone by a second one, as ADR 0010 has it.", False),
        ("ADR 0010 remains in place for the other events.", False),
        ("It answers 409 Conflict. Lines are added (ADR 0010).", False),
        ("A booking conflict is told first; ADR 0010 is kept.", False),
        ("The new departure is checked, as is ADR 0010.", False),
    ],
)
def test_whether_the_work_is_said_to_go_against_one(text: str, expected: bool) -> None:
    assert objected(text, {10}) is expected


@given(st.text(alphabet="ADRs adr0129-/#,.()and\n", max_size=200))
def test_any_text_is_read_and_nothing_is_both(text: str) -> None:
    held, mentioned = cited(text)
    assert not held & mentioned


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("ADR 3 and ADR-0004, then adr #5", [3, 4, 5]),
        ("docs/adr/0003-keep-all.md", [3]),
        ("0003 holds; see (0004).", [3, 4]),
        ("ＡＤＲ\u00a0０００３", [3]),
        ("ADR 10001", [10001]),
        ("ADRs 3 and 4 forbid it", [3, 4]),
        ("ADRs 2 and 4: take what is stored", [2, 4]),
        ("ADRs 2, 3 & 4; ADRs 7 to 9", [2, 3, 4, 7, 8, 9]),
        ("ADR 0003 (which replaced 1, and belongs with 4) forbids it", [3, 1, 4]),
        ("ADR no. 2", [2]),
        ("ADR № 2", [2]),
        ("ADR **3**", [3]),
        ("Decision 2: take it. The decision number 4", [2, 4]),
        ("Decisions 2 and 4", [2, 4]),
        ("conflict\r\n\r\n**3**\r\n\r\nNo second store.", [3]),
        ('2: "Whatever shows a due date"', [2]),
        ("ADR 3 (superseding 1).", [3, 1]),
        ("version 1.0003, 0.0004, 10003, 0003.5 and year 2025", []),
        ("ADR 100000003", []),
        ("the decision of 16 April 2024; decision 2024-04-16; decision 2 days later", []),
        ("it replaces 4 files, together with 3 others, on line no. 7", []),
        ("2 days later", []),
        ("12:30 was the time", []),
    ],
)
def test_an_answer_that_was_to_name_one_names_it_by_number(text: str, ids: list[int]) -> None:
    assert named(text) == ids
