"""Question answering cases with marked evidence, read from the published files of the sets.

    for case in read_cases(Path("hotpot_dev_distractor_v1.json"), limit=100):
        print(case.query, [case.documents[document].text[start:end] for document, start, end in case.gold])

The sets are HotpotQA in its distractor setting, SQuAD, XQuAD (`*.json`) and MuSiQue (`*.jsonl`), as `read_questions` of
ctxcompress.apps.evaluation reads them, and marked cases, as docs/evidence.md describes them (`*.json.gz`).
"""

import gzip
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from ctxcompress.apps.evaluation import Question, read_questions

__all__ = ["SUFFIXES", "Case", "Document", "Gold", "read_cases", "set_name"]

_MARKED = ".json.gz"
SUFFIXES = (_MARKED, ".jsonl", ".json")
"""How the names of the files end that can be read."""


@dataclass(frozen=True, slots=True)
class Document:
    """One retrieved text."""

    title: str
    text: str


class Gold(NamedTuple):
    """A stretch of evidence: half-open character offsets into the text of the document with that index."""

    document: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Case:
    """A question, the documents retrieved for it, where the evidence stands in them, and the accepted answers.

    There is always evidence, none of it is blank, and it is in the order of the documents.
    """

    query: str
    documents: tuple[Document, ...]
    gold: tuple[Gold, ...]
    answers: tuple[str, ...]


def read_cases(path: Path, limit: int | None = None) -> Iterator[Case]:
    """Yield the cases of a file, in its order, the first `limit` if that is given, without those that have no evidence.

    Raises InputError or ValueError where the file is of another form or its content is not what the form says.
    """
    cases = _marked(path) if path.name.endswith(_MARKED) else map(_found, read_questions(path))
    return islice((case for case in cases if case.gold), limit)


def set_name(path: Path) -> str:
    """Return the name of the set that a file holds: its own, without the suffix."""
    for suffix in SUFFIXES:
        if path.name.endswith(suffix):
            return path.name.removesuffix(suffix)
    raise ValueError(f"{path} has the suffix {path.suffix!r}; supported are {', '.join(SUFFIXES)}")


def _marked(path: Path) -> Iterator[Case]:
    """Yield the cases of a file whose evidence is marked by offsets, which tell equal texts from each other."""
    file = json.loads(gzip.decompress(path.read_bytes()))
    documents = {key: Document(found["title"], found["text"]) for key, found in file["docs"].items()}
    for case in file["cases"]:
        shown = tuple(documents[key] for key in case["docs"])
        gold = [_checked(path, Gold(*entry), shown) for entry in case["gold"]]
        yield Case(case["query"], shown, _tidy(shown, gold), tuple(case.get("answers") or ()))


def _checked(path: Path, gold: Gold, documents: Sequence[Document]) -> Gold:
    length = len(documents[gold.document].text) if 0 <= gold.document < len(documents) else -1
    if not 0 <= gold.start <= gold.end <= length:
        raise ValueError(f"{path} has {gold}, which is outside of the {len(documents)} documents or of that one's text")
    return gold


def _found(question: Question) -> Case:
    """Return a question as a case. Its evidence is where it stands first."""
    documents = tuple(Document(passage.title or "", passage.text) for passage in question.passages or ())
    gold = [
        next((Gold(place, at, at + len(text)) for place, of in enumerate(documents) if (at := of.text.find(text)) >= 0))
        for text in question.evidence
    ]
    return Case(question.query, documents, _tidy(documents, gold), tuple(question.answers))


def _tidy(documents: Sequence[Document], gold: Iterable[Gold]) -> tuple[Gold, ...]:
    """Return the evidence in order, each stretch once and without the white space around it, blank ones left out."""
    trimmed = {_trimmed(documents[found.document].text, found) for found in gold}
    return tuple(sorted(found for found in trimmed if found.start < found.end))


def _trimmed(text: str, gold: Gold) -> Gold:
    part = text[gold.start : gold.end]
    start = gold.end - len(part.lstrip())
    return Gold(gold.document, start, max(start, gold.start + len(part.rstrip())))
