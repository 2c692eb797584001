"""A page on a town, in which a few questions are answered in other words than they are asked in."""

from pathlib import Path

SENTENCES = tuple(Path(__file__).with_name("town.txt").read_text(encoding="utf-8").splitlines())
PAGE = " ".join(SENTENCES)

PARAPHRASES = {
    "unscheduled doctor visit": SENTENCES[3],
    "does a toddler pay?": SENTENCES[9],
    "garbage pickup schedule": SENTENCES[27],
}
"""Question -> its answer, which shares no word with it, as no other sentence does."""

QUESTION = "What does the ferry carry, and who rides the ferry without a ticket?"
