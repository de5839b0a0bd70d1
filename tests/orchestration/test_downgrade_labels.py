"""The hand labels of the rubric `downgrade-flag`: their form, their number, their variety."""

from pathlib import Path

RUBRICS = Path(__file__).parents[2] / "fixture/orchestration/rubrics"


def labels() -> list[tuple[str, str]]:
    header, *rows = (RUBRICS / "downgrade-flag.labels.tsv").read_text().splitlines()
    assert header == "label\tmessage"
    pairs = [tuple(row.split("\t")) for row in rows]
    assert all(len(pair) == 2 for pair in pairs)
    return [(label, message) for label, message in pairs]


def test_there_are_enough_of_both_kinds() -> None:
    found = [label for label, _ in labels()]
    assert len(found) >= 30
    assert set(found) == {"yes", "no"}
    assert min(found.count("yes"), found.count("no")) * 3 >= len(found)


def test_no_message_occurs_twice() -> None:
    messages = [message for _, message in labels()]
    assert len(set(messages)) == len(messages)


def test_one_word_does_not_decide() -> None:
    """Neither 'downgrade' nor the pair of both model names separates the two kinds."""
    rows = [(label, message.lower()) for label, message in labels()]
    for words in (["downgrade"], ["sonnet", "haiku"]):
        holding = {label for label, message in rows if all(word in message for word in words)}
        lacking = {label for label, message in rows if not all(word in message for word in words)}
        assert holding == lacking == {"yes", "no"}, words


def test_the_rubric_names_the_three_answers_and_asks_for_a_quote() -> None:
    rubric = (RUBRICS / "downgrade-flag.md").read_text()
    for needed in ("Answer `yes`", "Answer `no`", "Answer `abstain`", "quote"):
        assert needed in rubric
