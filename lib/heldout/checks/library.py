"""All check words: importing this module registers them."""

from heldout.checks import judged, vault
from heldout.checks.words import WORDS

__all__ = ["WORDS", "judged", "vault"]
