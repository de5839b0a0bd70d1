"""Task text is hidden wherever eight of its words stand in a row, and nothing else is."""

import re

import pytest
from heldout.hiding import MARK, RUN, Hider
from heldout.reporting.visible import cut, visible
from hypothesis import given
from hypothesis import strategies as st

TASK = "Please make the export of a report stop at the first empty row — it does not, and orders get lost."
WORDS = st.text("abcdefghijklmnopqrstuvwxyzäßéλ", min_size=1, max_size=9)
PUNCTUATED = st.builds(lambda word, mark: word + mark, WORDS, st.sampled_from(["", ",", ".", "`", "…"]))
SPACES = st.sampled_from([" ", "\n", "\t", "  ", "\n\n", "\u00a0"])


def test_a_quoted_run_is_replaced_whole_and_the_rest_stays() -> None:
    text = "You said: make the export of a report stop at the first empty row. I did."
    assert Hider([TASK])(text) == f"You said: {MARK}. I did."


def test_seven_words_are_no_run() -> None:
    text = "make the export of a report stop here"
    assert Hider([TASK])(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "MAKE the\nexport  of\ta report stop at",
        "> make the export of\n> a report stop at",
        '{"prompt": "make the export\\nof a report\\nstop at"}',
        "**make** the 'export' of (a) report: stop at",
        "ma\u200bke the export of a re\u2060port stop at",
        "row — it does not, and orders get",  # eight with its dash, seven without
    ],
)
def test_case_space_quoting_and_unseen_characters_do_not_let_a_run_out(text: str) -> None:
    assert MARK in Hider([TASK])(text)


def test_a_task_shorter_than_a_run_is_hidden_where_it_stands_whole() -> None:
    hide = Hider(["Fix the queue"])
    assert hide("asked to fix  THE queue now") == f"asked to {MARK} now"
    assert hide("fix the tests") == "fix the tests"


@given(st.lists(PUNCTUATED, min_size=RUN, max_size=40), st.data())
def test_no_run_of_a_task_survives_in_any_text(words: list[str], data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(words) - RUN))
    run = words[start : start + data.draw(st.integers(RUN, len(words) - start))]
    before, after = data.draw(st.lists(WORDS, max_size=4)), data.draw(st.lists(WORDS, max_size=4))
    spaced = [data.draw(st.sampled_from([str.upper, str.lower, str.title]))(word) for word in [*before, *run, *after]]
    text = "".join(word + data.draw(SPACES) for word in spaced)
    shown = [word.casefold() for word in Hider([" ".join(words)])(text).split()]
    folded = [word.casefold() for word in words]
    runs = {tuple(folded[i : i + RUN]) for i in range(len(folded) - RUN + 1)}
    assert not runs & {tuple(shown[i : i + RUN]) for i in range(len(shown) - RUN + 1)}


@given(st.lists(WORDS, max_size=60), st.lists(st.sampled_from("0123456789"), min_size=RUN, max_size=60))
def test_text_that_shares_no_word_is_untouched(task: list[str], text: list[str]) -> None:
    assert Hider([" ".join(task)])(" ".join(text)) == " ".join(text)


@given(st.text())
def test_without_a_task_nothing_changes(text: str) -> None:
    assert Hider([])(text) == text


@given(st.text(st.characters(), max_size=80))
def test_what_is_visible_is_utf8_without_controls_or_overrides(text: str) -> None:
    shown = visible(text)
    shown.encode()
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", shown)
    assert visible(shown) == shown


def test_unseen_characters_are_spelt_out() -> None:
    assert visible("a\u202eb\x00c\udcffd\r\ne") == "a⟨U+202E⟩b⟨U+0000⟩c\ufffdd\ne"


def test_a_cut_says_how_much_is_missing() -> None:
    assert cut("x" * 1500, 1000) == "x" * 1000 + "… [cut: 1,000 of 1,500 characters]"
    assert cut("x" * 1000, 1000) == "x" * 1000
