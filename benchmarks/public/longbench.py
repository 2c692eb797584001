"""LongBench's questions, within the budgets of LLMLingua-2's paper: is an answer still in the text?

DATA is a clone of https://github.com/MilkThink-Lab/MiniLongBench (ACL 2025), whose cases stand for all of LongBench.
Its `pred_data/example` has their prompts. Of both categories of question answering, those are taken whose accepted
answer is a string in the text and not just yes or no.
"""

import json
import re
import string
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from lib.budgeted import PublicCase, budget_table, count
from lib.cases import Document

__all__ = ["cases", "longbench", "middle_cut"]

_BUDGETS = (2_000, 3_000)
_ENGLISH = ("narrativeqa", "qasper", "multifieldqa_en", "hotpotqa", "2wikimqa", "musique")
_CHINESE = ("multifieldqa_zh", "dureader")
_PROMPT = re.compile(
    r".*?(?:following are given passages\.\n|Story: |answer briefly\.\n\n|简短回答：\n\n|文章：)(?P<context>.*)"
    r"\n\n[^\n]*\n\n(?:Question: |问题：)(?P<query>.*?)\s+(?:Answer:|回答：)\s*",
    re.DOTALL,
)
_PASSAGE = re.compile(r"^(?:Passage \d+:|文章\d+)\n", re.MULTILINE)
_ARTICLE = re.compile(r"\b(a|an|the)\b")
_SIGNS = re.compile(f"[{re.escape(string.punctuation)}]")
_CHINESE_SIGNS = re.compile(r"[^\w\s]|_")
_UNSPOKEN = frozenset(("", "yes", "no"))


def longbench(data: Path) -> tuple[str, str]:
    """Return what was measured, and the table."""
    found = list(cases(data / "pred_data" / "example"))
    cut = {"the middle cut out, as LongBench does": lambda case, budget: middle_cut("\n\n".join(case.texts()), budget)}
    return f"{len(found)} questions", budget_table(found, _BUDGETS, cut)


def cases(folder: Path) -> Iterator[PublicCase]:
    """Yield the questions whose answer stands in their text."""
    for task in (*_ENGLISH, *_CHINESE):
        file = json.loads((folder / f"MiniLongBench_{task}.json").read_text(encoding="utf-8"))
        normalized = _chinese if task in _CHINESE else _english
        for entry in file.values():
            asked = _PROMPT.fullmatch(entry["origin_prompt"])
            if asked is None:
                raise ValueError(f"a prompt of {task} has another form than published")
            holds = _Holds(normalized, [normalized(answer) for answer in entry["gold"]])
            if holds(asked["context"]):
                yield PublicCase(asked["query"], list(_documents(asked["context"])), holds)


def _documents(context: str) -> Iterator[Document]:
    """Yield the numbered passages, whose first lines are their titles, or the whole text where there are none."""
    whole, *passages = _PASSAGE.split(context)
    if whole.strip():
        yield Document("", whole)
    for passage in passages:
        title, _, text = passage.partition("\n")
        yield Document(title, text)


class _Holds(NamedTuple):
    """Tells whether an accepted answer is in a text, both as LongBench normalizes them."""

    normalized: Callable[[str], str]
    answers: Sequence[str]

    def __call__(self, text: str) -> bool:
        found = self.normalized(text)
        return any(answer in found for answer in self.answers if answer.strip() not in _UNSPOKEN)


def _english(text: str) -> str:
    """Return the words as `normalize_answer` of LongBench does: lower case, without punctuation and articles. Blanks
    around them keep an answer from being found within a word."""
    return f" {' '.join(_ARTICLE.sub(' ', _SIGNS.sub('', text.lower())).split())} "


def _chinese(text: str) -> str:
    return "".join(_CHINESE_SIGNS.sub("", text.lower()).split())


def middle_cut(text: str, budget: int) -> str:
    """Return the beginning and the end of a text, half of the budget each."""
    half = len(text)
    while count(text[:half] + text[-half:]) > budget:
        half = half * budget // (count(text[:half] + text[-half:]) + 1)
    return text[:half] + text[-half:]
