"""All check words: importing this module registers them."""

from heldout.checks import adr_skills, adr_unprompted, diagnosis, judged, orchestration, vault
from heldout.checks.words import WORDS

__all__ = ["WORDS", "adr_skills", "adr_unprompted", "diagnosis", "judged", "orchestration", "vault"]
