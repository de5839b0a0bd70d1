"""All check words: importing this module registers them."""

from heldout.checks import diagnosis, judged, vault
from heldout.checks.words import WORDS

__all__ = ["WORDS", "diagnosis", "judged", "vault"]
