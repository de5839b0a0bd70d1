"""Which ADRs a text cites, and which four digits are something else."""

import pytest
from heldout.checks.citations import cited
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
        ("ADR 0003 says that nothing is replaced", {3}, set()),
    ],
)
def test_a_mention_as_not_holding_is_no_citation(text: str, held: set[int], mentioned: set[int]) -> None:
    assert cited(text) == (held, mentioned)


@given(st.text(alphabet="ADRs adr0129-/#,.()and\n", max_size=200))
def test_any_text_is_read_and_nothing_is_both(text: str) -> None:
    held, mentioned = cited(text)
    assert not held & mentioned
