"""Patterns: groups that are defined once are put in place of their calls, and mean the same."""

import pytest
import regex
from heldout.checks import patterns

DEFINED = r"""(?x)
  (?(DEFINE)
    (?<gap>  (?: [^.()] | \.(?=\w) ){0,20} )
    (?<noun> \b(?: job | [()[\]] | \( )s? (?&gap) )
  )
  (?&noun)\bl[oa]st\b | (?<!no\ )\blost(?&gap)(?&noun)?\)"""


def test_defined_groups_are_put_in_place() -> None:
    assert patterns.inlined(DEFINED).count("(?&") == 0
    assert "DEFINE" not in patterns.inlined(DEFINED)


@pytest.mark.parametrize("text", ["the jobs of a.b were lost", "job. lost", "no lost jobs)", "lost (s job)", "lost)"])
def test_what_is_put_in_place_matches_the_same(text: str) -> None:
    called = regex.search(DEFINED, text, regex.IGNORECASE | regex.DOTALL)
    assert patterns.found(DEFINED, text) == (called and called[0])


@pytest.mark.parametrize(
    "pattern", ["lost", r"(?(DEFINE)(?<nest>\((?&nest)*\)))x(?&nest)", r"(?<one>a)(?&one)", r"(?(DEFINE)(?<a>x)|y)"]
)
def test_a_pattern_without_or_with_other_groups_stays(pattern: str) -> None:
    assert patterns.inlined(pattern) == pattern
