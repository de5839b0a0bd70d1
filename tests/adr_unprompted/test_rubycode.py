"""What lines of Ruby do: without comments and prose, constants worked out, new methods with those that call them."""

import pytest
from heldout.checks.rubycode import lines, methods, with_helpers
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = 1 # six", "x = 1"),
        ("# all of it", ""),
        ('x = "a#b"', 'x = "a#b"'),
        ('puts "a # b" # c', 'puts ""'),
        ('puts "No. #{a.number} of #{b}"', 'puts "#{a.number} #{b}"'),
        ('puts "a b #{h["c d"]} e"', 'puts "#{h["c d"]}"'),
        ('record("moved", "10:00")', 'record("moved", "10:00")'),
        ('puts "\\"a b\\"", c', 'puts "", c'),
        ('x = "open', 'x = "open'),
        ("x = <<~A\n  Dear #{b.name} and c\nA\ny", "x = <<~A|b.name||y"),
        ("=begin\nnothing\n=end\nx", "|||x"),
        ("A = 6 * 60 * MINUTE\nMINUTE = 60", "A = 21600|MINUTE = 60"),
        ("  A  =  (6*60*60).freeze", "  A = 21600"),
        ("A = 6.hours", "A = 21600"),
        ("A = 1_000 + 2**3 - 8", "A = 1000"),
        ("A = 2 * B::DAYS", "A = 172800"),
        ("A = 7 / 2", "A = 3"),
        ("A = 0.5 * 60", "A = 30"),
        ("A = 62.5 / 100", "A = 0.625"),
        ("A = 2 ** 999999", "A = 2 ** 999999"),
        ("A = B\nB = A", "A = B|B = A"),
        ("A = 1 / 0", "A = 1 / 0"),
        ("A = [6 * 60].freeze", "A = [6 * 60].freeze"),
        ("A == 6 * 60", "A == 6 * 60"),
    ],
)
def test_lines(text: str, expected: str) -> None:
    assert lines(text) == expected.split("|")


def test_methods_go_with_those_that_call_them() -> None:
    code = [
        "  def a(x)",
        "    b",
        "  end",
        "",
        "  def b = c.phone",
        "  def self.d",
        "    1",
        "  end",
        "  def initialize",
    ]
    found = dict(methods(code))
    assert found == {"a": "(x)\n    b", "b": " = c.phone", "d": "\n    1"}
    assert with_helpers("x.a(1)", found).split() == ["x.a(1)", "(x)", "b", "=", "c.phone"]
    assert with_helpers("x.ab(1); a: 2; :a", found) == "x.ab(1); a: 2; :a"


@given(st.text(alphabet="AB =\"'#{}<~d\ne1*./\\", max_size=80))
def test_any_text_keeps_its_lines(text: str) -> None:
    assert len(lines(text)) == len(text.splitlines())
