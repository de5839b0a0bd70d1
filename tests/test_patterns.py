"""Patterns: named groups that are put in where they are called match what they matched before, in time."""

from pathlib import Path

import pytest
import regex
from heldout import scenario
from heldout.checks import lint
from heldout.checks.patterns import compiled, found, normal

FIXTURES = Path(__file__).resolve().parents[1] / "fixture"
CALLED = [
    (name, pattern)
    for path in scenario.files()
    for name, patterns, _ in lint.pattern_sets(scenario.load(path))
    for pattern in patterns
    if "(?(DEFINE)" in pattern
]


@pytest.mark.parametrize(("name", "pattern"), CALLED)
def test_a_call_of_a_named_group_is_what_stands_there(name: str, pattern: str) -> None:
    as_written = regex.compile(pattern, regex.IGNORECASE | regex.DOTALL | regex.VERSION0)
    phrases = FIXTURES / scenario.find(name.split("/")[0]).suite / "phrases.tsv"
    rows = [line.split("\t") for line in phrases.read_text("utf-8").splitlines()]
    texts = [normal(text.replace("\\n", "\n")) for own, _, text in rows if own == name]
    assert len(texts) >= 20
    for text in texts:
        match = as_written.search(text)
        assert found(pattern, text) == (match[0] if match else None), text


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        (r"(?x) (?(DEFINE) (?<a> x | y ) (?<b> (?&a)+ \d ) ) (?&b) z", "axy1z", "xy1z"),
        (r"(?x) (?(DEFINE) (?<a> [)(] | \) | [])] ) ) (?&a) 1", "(1", "(1"),
        ("(?x) (?(DEFINE) (?<a> a | b # it's no end :)\n ) ) c (?&a) d", "cbd", "cbd"),
        (r"(?x) (?(DEFINE) (?<a> \( (?: [^()] | (?&a) )* \) ) ) (?&a)", "f(g(x))", "(g(x))"),
        (r"(?x) (?(DEFINE) (?<never> x ) ) y", "xy", "y"),
        (r"(?(DEFINE)(?<a>x y))(?&a)", "x y", "x y"),
    ],
)
def test_named_groups_of_every_form(pattern: str, text: str, expected: str) -> None:
    assert found(pattern, text) == expected


def test_a_group_that_is_not_there_is_an_error() -> None:
    with pytest.raises(regex.error):
        compiled(r"(?x) (?(DEFINE) (?<a> x ) ) (?&b)")


def test_a_long_text_takes_its_length_not_the_square_of_it() -> None:
    pattern = r"(?x) (?(DEFINE) (?<on> (?! \bnot\b ) [^.] ) ) ^ (?! .*? \ba\b (?&on){0,60} 7 ) .* \S"
    assert found(pattern, "a word or two and a full stop at last. " * 20_000)
