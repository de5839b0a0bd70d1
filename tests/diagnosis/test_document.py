"""Every scenario title of the requirement document (scenarios.txt, a line each) has a test that is called by it."""

import ast
import re
from pathlib import Path

import pytest

HERE = Path(__file__).parent
TITLES = (HERE / "scenarios.txt").read_text(encoding="utf-8").splitlines()
TESTS = {
    node.name: path.name
    for path in HERE.glob("test_*.py")
    for node in ast.parse(path.read_text(encoding="utf-8")).body
    if isinstance(node, ast.FunctionDef)
}


def test_the_list_is_whole() -> None:
    assert len(TITLES) == len(set(TITLES)) == 32


@pytest.mark.parametrize("title", TITLES)
def test_a_title_has_its_test(title: str) -> None:
    assert f"test_{re.sub(r'[^a-z0-9]+', '_', title.lower())}" in TESTS
