"""All check words, each module of them imported when a scenario first names one of its words.

The modules compile many patterns, which would take longer than scoring a cell does.
"""

from functools import cache
from importlib import import_module
from pathlib import Path

from heldout.checks.words import WORDS, Word

MODULES = ("adr_skills", "adr_unprompted", "diagnosis", "judged", "orchestration", "vault")

__all__ = ["MODULES", "WORDS", "all_words", "find"]


def find(name: str) -> Word | None:
    """The word called `name`, or None."""
    if name not in WORDS:
        for module in MODULES:
            if f"\ndef {name}(" in _source(module):
                import_module(f"heldout.checks.{module}")
    return WORDS.get(name)


def all_words() -> dict[str, Word]:
    """Every word by its name."""
    for module in MODULES:
        import_module(f"heldout.checks.{module}")
    return WORDS


@cache
def _source(module: str) -> str:
    return Path(__file__).with_name(f"{module}.py").read_text("utf-8")
