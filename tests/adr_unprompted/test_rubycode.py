"""What lines of Ruby do: without comments and prose, constants worked out, new methods with those that call them."""

import pytest
from heldout.checks.rubycode import comments, lines, methods, with_helpers
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
        ("x = <<~A\n  Dear #{b.name} and c\nA\ny", "x = <<~A¦b.name¦¦y"),
        ("=begin\nnothing\n=end\nx", "¦¦¦x"),
        ("A = 6 * 60 * MINUTE\nMINUTE = 60", "A = 21600¦MINUTE = 60"),
        ("  A  =  (6*60*60).freeze", "  A = 21600"),
        ("A = 6.hours", "A = 21600"),
        ("A = 1_000 + 2**3 - 8", "A = 1000"),
        ("A = 2 * B::DAYS", "A = 172800"),
        ("A = 7 / 2", "A = 3"),
        ("A = 0.5 * 60", "A = 30"),
        ("A = 62.5 / 100", "A = 0.625"),
        ("A = 2 ** 999999", "A = 2 ** 999999"),
        ("A = B\nB = A", "A = B¦B = A"),
        ("A = 1 / 0", "A = 1 / 0"),
        ("A = [6 * 60].freeze", "A = [6 * 60].freeze"),
        ("A == 6 * 60", "A == 6 * 60"),
        ("A =\n  6 *\n  60\nb", "A = 360¦  6 *¦  60¦b"),
        ("A = 6 *\n  60", "A = 360¦  60"),
        ("A = [1,\n  2\n].last * 60", "A = 120¦  2¦].last * 60"),
        ("A = Duration.hours(6)", "A = 21600"),
        ("A = hours(6) / 2", "A = 10800"),
        (
            "A = [1, 5, 60].map { |m| m * 60 }.freeze\nB = 6 * A.last",
            "A = [1, 5, 60].map { |m| m * 60 }.freeze¦B = 21600",
        ),
        ("A = [60, 300, 900].freeze\nB = A.sum", "A = [60, 300, 900].freeze¦B = 1260"),
        ("A = [2, 3].map { _1 * 60 }.max", "A = 180"),
        ("A = [x, 3]\nB = A.last", "A = [x, 3]¦B = A.last"),
        ("A = A.last", "A = A.last"),
        ("A = {\n  a: 1,\n}\nb", "A = {¦  a: 1,¦}¦b"),
    ],
)
def test_lines(text: str, expected: str) -> None:
    assert lines(text) == expected.split("¦")


DEFINED = """\
  def a(x)
    b
  end

  def b = c.phone
  def self.d
    1
  end
  def initialize"""


def of(text: str) -> dict[str, str]:
    return dict(methods(text.splitlines(), range(len(text.splitlines()))))


def test_methods_go_with_those_that_call_them() -> None:
    found = of(DEFINED)
    assert found == {"a": "(x)\n    self.b", "b": " = c.phone", "d": "\n    1"}
    assert with_helpers("x.a(1)", "", found).split() == ["x.a(1)", "def", "a(x)", "self.b", "def", "b", "=", "c.phone"]
    assert with_helpers("x.ab(1); a: 2; :a", "", found) == "x.ab(1); a: 2; :a"


@pytest.mark.parametrize(
    ("code", "called"),
    [
        ("x.who", True),
        ("who", True),
        ("who(1)", True),
        ("items.map(&:who)", True),
        ("x.public_send(:who)", True),
        ("who = 1\nputs who", False),
        ("who ||= find\nwho.to_s", False),
        ("items.each { |who| puts who }", False),
        ("def run(day, who:)\n  puts who\nend", False),
        ("booking => { who: }\nputs who", False),
        ("rescue Error => who\n  puts who", False),
        ("who = x.who", True),
        ("def who\n  1\nend\nputs who(2)", False),
        ("def who\n  1\nend\nputs x.who", True),
        ("@who; $who; Who; whose", False),
    ],
)
def test_a_name_is_a_call_where_the_file_has_nothing_of_that_name(code: str, called: bool) -> None:
    assert with_helpers(code, code, {"who": " = 1"}) == (f"{code}\ndef who = 1" if called else code)


def test_what_an_object_has_itself_is_called_on_self() -> None:
    file = "Booking = Struct.new(:number, :reference) do\n  def key\n    number.to_s\n  end\nend"
    assert of(file) == {"key": "\n    self.number.to_s"}
    other = "  def find(number)\n  end\n\n  def by_key(key)\n    find(key) or b.find { |number| number }\n  end"
    assert of(other)["by_key"] == ("(key)\n    self.find(key) or b.find { |number| number }")
    hash_of = "attr_reader :reference, :berth\n  def fields = { reference: reference, at: berth }"
    assert of(hash_of) == {"fields": " = { reference: self.reference, at: self.berth }"}


def test_comments() -> None:
    text = 'x = "a # b" # one\n# two\n\ny\n  # three'
    assert comments(text) == "one\ntwo\n\nthree"


@given(st.text(alphabet="AB =\"'#{}<~d\ne1*./\\", max_size=80))
def test_any_text_keeps_its_lines(text: str) -> None:
    assert len(lines(text)) == len(text.splitlines())
