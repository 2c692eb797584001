"""A long run of an agent, for both frameworks: 500 real documents, 30 steps, and what must hold at each of them."""

import re
import sysconfig
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from rank_bm25 import BM25Okapi

from ctxcompress import Compressor

DOCUMENTS = 500
STEPS = 30
RESTART_AFTER = 15
MUST_KEEP = [re.compile(r"INC-\d{4}")]
MARKER = re.compile(r"\[… (?:[^\]\n]* )?left out(?: \([^)\n]*\))?: expand (ctx-[0-9a-f]{8,16})\]")
GOALS = (
    "Find out how messages of e-mail are parsed and written.",
    "Now I need to know how threads and processes wait for each other.",
    "Next, compare how archives and databases are opened and read.",
)
TOPICS = (
    "how are the parts of a message with attachments merged?",
    "wrap a text to a number of columns",
    "which errors do parsers of options raise?",
    "how does a request retry after an error?",
    "how is a thread woken up by a condition?",
    "how does an event loop interrupt and resume a task?",
    "what is the header of a tar archive?",
    "how are the fields of a data class compared?",
    "nearest matches of a sequence with a cutoff, and what it returns",
    "how does a tokenizer split source code into names?",
)
_LONGEST = 6_000
_SHORTEST = 3_000
_PLACE = re.compile(r"^ *(?=(?:return|if|for|def|class|#) )", re.MULTILINE)
_LIBRARY = Path(sysconfig.get_path("stdlib"))
_APART = frozenset(("site-packages", "test", "tests", "idlelib", "lib2to3", "tkinter", "ensurepip", "turtledemo"))
"""Folders of the standard library that not every installation has, and what is installed beside it."""
_WORD = re.compile(r"[a-z]{3,}")
count = Compressor().count


@dataclass(frozen=True)
class Fact:
    """A sentence in a document that is read early, the question that asks for it at the end, and its answer."""

    document: int
    sentence: str
    question: str
    answer: str


FACTS = (
    Fact(11, "The harbour office keeps its spare key in cabinet 7411.", "In which cabinet is the spare key?", "7411"),
    Fact(12, "Tomasz Wieczorek feeds the lighthouse cat on Sundays.", "Who feeds the lighthouse cat?", "Wieczorek"),
    Fact(13, "The ferry to Ostrava leaves from pier nine.", "From which pier does the ferry leave?", "pier nine"),
    Fact(
        14, "Incident INC-2041 was closed by the night shift.", "Which incident did the night shift close?", "INC-2041"
    ),
    Fact(15, "Blue crates must be weighed twice.", "Which crates must be weighed twice?", "Blue crates"),
)


@cache
def corpus() -> Mapping[str, str]:
    """Return the names and texts of the documents: parts of the standard library. Some have a fact in their middle."""
    texts: dict[str, str] = {}
    for file in sorted(_LIBRARY.rglob("*.py")):
        name = file.relative_to(_LIBRARY)
        if _APART.isdisjoint(name.parts):
            texts |= _parts(str(name), file.read_text(encoding="utf-8", errors="replace"))
    chosen = [*texts][:: len(texts) // DOCUMENTS][:DOCUMENTS]
    found = {name: texts[name] for name in chosen}
    for fact in FACTS:
        text = found[chosen[fact.document]]
        place = _PLACE.search(text, len(text) // 3)
        assert place, f"{chosen[fact.document]} has no line before which the fact can stand"
        at, indent = place.start(), place[0]
        found[chosen[fact.document]] = f"{text[:at]}{indent}# {fact.sentence}\n{text[at:]}"
    return found


def _parts(name: str, text: str) -> dict[str, str]:
    """Return the parts of a file that are long enough to be a document, cut at ends of lines."""
    parts: dict[str, str] = {}
    while len(text) >= _SHORTEST and "INC-" not in text:
        end = text.rfind("\n", 0, _LONGEST) + 1 or len(text)
        parts[f"{name}#{len(parts) + 1}"], text = text[:end], text[end:]
    return parts


@cache
def names() -> Sequence[str]:
    """Return the names of the documents."""
    return tuple(corpus())


@cache
def _index() -> BM25Okapi:
    return BM25Okapi([_WORD.findall(text.lower()) for text in corpus().values()])


def ranked(query: str, k: int) -> list[tuple[str, float]]:
    """Return the names of the best documents with their scores from 0 to 1."""
    scores = _index().get_scores(_WORD.findall(query.lower()))
    best = sorted(range(len(scores)), key=lambda place: -scores[place])[:k]
    most = max(float(scores[best[0]]), 1.0)
    return [(names()[place], max(float(scores[place]), 0.0) / most) for place in best]


def web_search(query: str) -> dict[str, Any]:
    """Search the documents."""
    results = [
        {"title": name, "url": f"https://docs.example/{name}", "content": corpus()[name][:2_000], "score": score}
        for name, score in ranked(query, 8)
    ]
    return {"query": query, "results": results}


def read_document(number: int, question: str) -> str:
    """Read a document."""
    return corpus()[names()[number]]


def list_documents(folder: str) -> list[dict[str, Any]]:
    """List documents."""
    return [
        {"number": number, "name": name, "characters": len(text), "ticket": "INC-7702" if number == 300 else None}
        for number, (name, text) in enumerate(corpus().items())
    ]


def read_log(query: str) -> str:
    """Read the log of the index."""
    lines = [f"2026-03-01 04:{n // 60:02}:{n % 60:02} INFO indexed {name}" for n, name in enumerate(names())]
    lines[377] = "2026-03-01 04:06:17 ERROR INC-3310 the disk of shard 5 is full"
    return "\n".join(lines)


Call = tuple[str, dict[str, Any]]


def plan() -> list[list[Call]]:
    """Return the calls of each step. "?" stands for the last handle that the model was shown."""
    calls: list[list[Call]] = []
    for step in range(STEPS):
        topic = TOPICS[step % len(TOPICS)]
        kinds: list[list[Call]] = [
            [
                ("read_document", {"number": 11 + step // 6, "question": topic}),
                ("read_document", {"number": 40 + step, "question": topic}),
            ],
            [("web_search", {"query": topic}), ("search_and_add", {"query": topic})],
            [("list_documents", {"folder": "email"}) if step < 15 else ("read_log", {"query": topic})],
            [("find_passages", {"query": topic}), ("context_status", {})],
            [("expand", {"handle": "?", "lines": "20-60"})],
            [("expand", {"handle": "?", "question": topic}), ("search_and_add", {"query": topic + " and errors"})],
        ]
        calls.append(kinds[step % len(kinds)])
    return calls


@dataclass(frozen=True)
class Result:
    """What a tool answered to a call."""

    name: str
    args: Mapping[str, Any]
    text: str
    budget: int
    is_error: bool


Prompt = list[tuple[str, str]]
"""The messages of a prompt: (role, everything that the model reads of it)."""


@dataclass(frozen=True)
class LongRun:
    """The run, before and after the restart."""

    prompts: list[Prompt]
    sizes: list[int]
    """The tokens of each prompt without the system message."""
    history: int
    """The most tokens of a prompt."""
    results: list[Result]
    expand: Callable[..., str]
    """Reads from (handle, max_tokens, lines, question) what was left out, with nothing but the files."""
    context: Any
    """The context builder at the end."""
    generations: int
    """How often the history was compressed."""
    told: list[Any]
    turns: int
    lost: list[str]
    """The results that were shown without the handle that they had."""


def generations(prompts: Sequence[Sequence[Any]]) -> int:
    """Return how often a prompt did not begin with the one before."""
    return sum(after[: len(before)] != before for before, after in pairwise(prompts))


def known(prompts: Sequence[Prompt]) -> float:
    """Return the share of the tokens with which the prompt before began, too."""
    return sum(size(_common(before, after)) for before, after in pairwise(prompts)) / sum(map(size, prompts))


def handles(text: str) -> list[str]:
    """Return the handles in the markers of a text."""
    return MARKER.findall(text)


def size(prompt: Sequence[tuple[str, str]]) -> int:
    """Return the tokens of messages without what a prompt puts around them."""
    return sum(_tokens(text) for _, text in prompt)


@cache
def _tokens(text: str) -> int:
    return count(text)


def _common(before: Sequence[tuple[str, str]], after: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    both = list(zip(before, after, strict=False))
    same = next((place for place, (one, other) in enumerate(both) if one != other), len(both))
    return list(after[:same])


def must_keep_in(text: str) -> set[str]:
    """Return what the run must not lose of a text."""
    return {found[0] for rule in MUST_KEEP for found in rule.finditer(text)}
