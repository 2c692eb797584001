"""Question answering cases with marked evidence, read from the published files of the sets.

    for case in read_cases(Path("hotpot_dev_distractor_v1.json"), limit=100):
        print(case.query, [case.documents[document].text[start:end] for document, start, end in case.gold])

| set | file | first object has | evidence |
|---|---|---|---|
| HotpotQA, distractor setting | `*.json` | `context`, `supporting_facts` | the supporting sentences |
| SQuAD 1.1 and 2.0, XQuAD | `*.json` | `data` | the sentence with the answer |
| MuSiQue | `*.jsonl` | `paragraphs`, `question` | of each hop the sentence with its answer |
| marked cases, as docs/evidence.md describes them | `*.json.gz` | `cases`, `docs` | as marked |

If a set marks an answer and not a sentence, the sentence is one of `ctxcompress.segment.sentences`.
"""

import gzip
import json
import re
import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, chain, islice
from pathlib import Path
from typing import NamedTuple, TypeVar

from ctxcompress.segment.sentences import split_sentences
from ctxcompress.text.language import detect_language

__all__ = ["SUFFIXES", "Case", "Document", "Gold", "read_cases", "set_name"]

_PARAGRAPHS = 20
"""Paragraphs of an article that a SQuAD question is asked of, at most."""
_AS_PUBLISHED = "give the file as it was published"

_T = TypeVar("_T")


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
    """The cases of a file in one of the forms above, in its order, the first `limit` if that is given.

    Questions without evidence (those of SQuAD 2.0 and MuSiQue that cannot be answered) are left out.
    The form is looked at now, the cases are made one by one. Raises ValueError where the file is of another
    form or its content is not what the form says, OSError where it cannot be read.
    """
    objects = _objects(path)
    first = next(objects, None)
    if first is None:
        raise ValueError(f"{path} holds no cases; {_AS_PUBLISHED}")
    read = _form(path, first).read
    cases = (case for found in chain([first], objects) for case in read(found) if case.gold)
    return islice(cases, limit)


def set_name(path: Path) -> str:
    """The name of the set that a file holds: its own, without the suffix."""
    return path.name.removesuffix(_suffix(path))


@dataclass(frozen=True, slots=True)
class _Node:
    """A value in a file and where it stands there, so that whatever is wrong with it can be found."""

    where: str
    value: object

    def __getitem__(self, key: str) -> "_Node":
        fields = self._as(dict)
        if key not in fields:
            raise ValueError(f"{self.where} has no {key!r}, only {_listed(fields)}; {_AS_PUBLISHED}")
        return _Node(f"{self.where}.{key}", fields[key])

    def get(self, key: str) -> "_Node | None":
        """What stands under `key`, None where nothing or null does."""
        return self[key] if self._as(dict).get(key) is not None else None

    def items(self) -> "list[_Node]":
        return [_Node(f"{self.where}[{index}]", value) for index, value in enumerate(self._as(list))]

    def tuple_of(self, size: int) -> "list[_Node]":
        items = self.items()
        if len(items) != size:
            raise ValueError(f"{self.where} has {len(items)} items instead of {size}; {_AS_PUBLISHED}")
        return items

    def text(self) -> str:
        return self._as(str)

    def number(self) -> int:
        return self._as(int)

    def _as(self, kind: type[_T]) -> _T:
        if not isinstance(self.value, kind):
            found = type(self.value).__name__
            raise ValueError(f"{self.where} is of type {found} instead of {kind.__name__}; {_AS_PUBLISHED}")
        return self.value


# Files


@dataclass(frozen=True, slots=True)
class _Form:
    """A form that cases are published in, what it is known by, and what reads an object of it."""

    name: str
    suffix: str
    keys: frozenset[str]
    read: Callable[[_Node], Iterator[Case]]

    def __str__(self) -> str:
        return f"{self.name} (*{self.suffix} with {_listed(self.keys)})"


def _objects(path: Path) -> Iterator[_Node]:
    """The objects that a file holds: one a line, or those of its list, or the one that it is."""
    suffix = _suffix(path)
    if suffix == ".jsonl":
        yield from _lines(path)
        return
    raw = path.read_bytes()
    whole = _parsed(str(path), _unpacked(path, raw) if suffix == ".json.gz" else raw)
    if isinstance(whole.value, list):
        yield from whole.items()
    else:
        yield whole


def _lines(path: Path) -> Iterator[_Node]:
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                yield _parsed(f"{path}:{number}", line)


def _unpacked(path: Path, raw: bytes) -> bytes:
    try:
        return gzip.decompress(raw)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ValueError(f"{path} is not a whole gzip file ({error}); fetch it again") from error


def _parsed(where: str, raw: bytes) -> _Node:
    try:
        return _Node(where, json.loads(raw))
    except ValueError as error:
        raise ValueError(f"{where} is not JSON ({error}); {_AS_PUBLISHED}") from error


def _suffix(path: Path) -> str:
    for suffix in SUFFIXES:
        if path.name.endswith(suffix):
            return suffix
    raise ValueError(f"{path} has the suffix {path.suffix!r}; supported are {_supported()}")


def _form(path: Path, first: _Node) -> _Form:
    """The form of a file, told from its suffix and the keys of its first object."""
    keys = first.value.keys() if isinstance(first.value, dict) else frozenset()
    for form in _FORMS:
        if form.suffix == _suffix(path) and form.keys <= keys:
            return form
    found = f"an object with {_listed(keys)}" if keys else f"a {type(first.value).__name__} without keys"
    raise ValueError(f"{path} begins with {found}; supported are {_supported()}")


def _supported() -> str:
    return "; ".join(map(str, _FORMS))


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "nothing"


# HotpotQA: [{question, answer, supporting_facts: [[title, sentence]], context: [[title, [sentence]]]}]


def _hotpot(record: _Node) -> Iterator[Case]:
    titles, sentences = [], []
    for entry in record["context"].items():
        title, body = entry.tuple_of(2)
        titles.append(title.text())
        sentences.append([sentence.text() for sentence in body.items()])
    documents = tuple(Document(title, "".join(body)) for title, body in zip(titles, sentences, strict=True))
    facts = [_fact(entry, titles, sentences) for entry in record["supporting_facts"].items()]
    answers = (record["answer"].text(),)
    yield Case(record["question"].text(), documents, _tidy(documents, facts), answers)


def _fact(entry: _Node, titles: Sequence[str], sentences: Sequence[Sequence[str]]) -> Gold:
    """Where a supporting sentence stands. Some facts have a number beyond the sentences: the last one is meant."""
    title, number = entry.tuple_of(2)
    if title.text() not in titles:
        raise ValueError(
            f"{title.where} is {title.text()!r}, which is no document of the case; "
            "give the file of the distractor setting, which has them all"
        )
    document = titles.index(title.text())
    bounds = list(accumulate(map(len, sentences[document]), initial=0))
    last = max(len(bounds) - 2, 0)
    start, *end = bounds[min(max(number.number(), 0), last) :][:2]
    return Gold(document, start, *(end or [start]))


# SQuAD, XQuAD: {data: [{title, paragraphs: [{context, qas: [{question, answers: [{text, answer_start}]}]}]}]}


def _squad(file: _Node) -> Iterator[Case]:
    for article in file["data"].items():
        title = article["title"].text().replace("_", " ")  # as in the address of the article
        paragraphs = article["paragraphs"].items()
        documents = tuple(Document(title, paragraph["context"].text()) for paragraph in paragraphs)
        for index, paragraph in enumerate(paragraphs):
            first = _first_shown(index, len(documents))
            for asked in paragraph["qas"].items():
                yield _squad_case(asked, documents[first : first + _PARAGRAPHS], index - first)


def _first_shown(index: int, count: int) -> int:
    """The first of the paragraphs shown with a question about `index`. They begin at every twentieth, not so many
    before `index`: the right one shall be found at any place, not in the middle always."""
    return max(0, min(index // _PARAGRAPHS * _PARAGRAPHS, count - _PARAGRAPHS))


def _squad_case(asked: _Node, documents: tuple[Document, ...], document: int) -> Case:
    impossible = asked.get("is_impossible")
    answers = [] if impossible and impossible.value else asked["answers"].items()
    text = documents[document].text
    spans = (_answer_span(text, answer["text"].text(), answer["answer_start"].number()) for answer in answers)
    # All answers to a question are the same in other words, most of them in the same place: the first will do.
    first = next((span for span in spans if span), None)
    gold = [Gold(document, *_sentences_around(text, *first))] if first else []
    known = tuple(dict.fromkeys(answer["text"].text() for answer in answers))
    return Case(asked["question"].text(), documents, _tidy(documents, gold), known)


def _answer_span(text: str, answer: str, start: int) -> tuple[int, int] | None:
    """Where an answer stands; where it is not at the place given, the nearest one that it is at."""
    if not answer.strip():
        return None
    if not text.startswith(answer, max(start, 0)):
        places = [match.start() for match in re.finditer(re.escape(answer), text)]
        if not places:
            return None
        start = min(places, key=lambda place: abs(place - start))
    return max(start, 0), max(start, 0) + len(answer)


def _sentences_around(text: str, start: int, end: int) -> tuple[int, int]:
    """The sentence in which ``text[start:end]`` stands, or the sentences from its first to its last."""
    ends = _sentence_ends(text)
    begins = (0, *ends[:-1])
    return begins[bisect_right(begins, start) - 1], ends[bisect_left(ends, end)]


@lru_cache(maxsize=100)  # there are several questions to a paragraph, one after the other
def _sentence_ends(text: str) -> tuple[int, ...]:
    return tuple(split_sentences(text, 0, len(text), detect_language(text)))


# MuSiQue: {question, answer, answer_aliases, question_decomposition: [{answer, paragraph_support_idx}],
# paragraphs: [{idx, title, paragraph_text, is_supporting}]} a line


def _musique(record: _Node) -> Iterator[Case]:
    paragraphs = record["paragraphs"].items()
    documents = tuple(Document(p["title"].text(), p["paragraph_text"].text()) for p in paragraphs)
    answerable = record.get("answerable")
    impossible = answerable is not None and not answerable.value
    gold = () if impossible else _hop_evidence(paragraphs, documents, list(_hops(record)))
    answers = (record["answer"].text(), *_texts(record.get("answer_aliases")))
    yield Case(record["question"].text(), documents, _tidy(documents, gold), answers)


def _hops(record: _Node) -> Iterator[tuple[int, str]]:
    """Of each hop the number of the paragraph that answers it, and the answer, as far as they are given."""
    hops = record.get("question_decomposition")
    for hop in hops.items() if hops else ():
        place = hop.get("paragraph_support_idx")
        if place:
            yield place.number(), hop["answer"].text()


def _hop_evidence(
    paragraphs: Sequence[_Node], documents: Sequence[Document], hops: Sequence[tuple[int, str]]
) -> Iterator[Gold]:
    """Of each supporting paragraph the first sentence with the answer of its hop, all of it where there is none."""
    for index, paragraph in enumerate(paragraphs):
        number, text = paragraph["idx"].number(), documents[index].text
        if paragraph["is_supporting"].value:
            mentions = [_first_mention(text, answer) for place, answer in hops if place == number]
            for found in mentions or [None]:
                yield Gold(index, *(_sentences_around(text, *found) if found else (0, len(text))))


def _first_mention(text: str, answer: str) -> tuple[int, int] | None:
    """Where an answer stands first, as a word of its own if it does anywhere."""
    if not answer.strip():
        return None
    exact = re.escape(answer)
    for pattern in (rf"(?<!\w){exact}(?!\w)", exact):
        match = re.search(pattern, text, re.IGNORECASE)
        if match:
            return match.span()
    return None


# Marked cases: {docs: {key: {title, text}}, cases: [{query, docs: [key], gold: [[document, start, end]], answers}]}


def _marked(file: _Node) -> Iterator[Case]:
    documents: dict[str, Document] = {}
    for case in file["cases"].items():
        keys = [key.text() for key in case["docs"].items()]
        for key in keys:
            if key not in documents:
                found = file["docs"][key]
                documents[key] = Document(found["title"].text(), found["text"].text())
        shown = tuple(documents[key] for key in keys)
        gold = [_checked(entry, shown) for entry in case["gold"].items()]
        yield Case(case["query"].text(), shown, _tidy(shown, gold), tuple(_texts(case.get("answers"))))


def _checked(entry: _Node, documents: Sequence[Document]) -> Gold:
    gold = Gold(*(number.number() for number in entry.tuple_of(3)))
    length = len(documents[gold.document].text) if 0 <= gold.document < len(documents) else -1
    if not 0 <= gold.start <= gold.end <= length:
        raise ValueError(
            f"{entry.where} is {list(gold)}, which is outside of the {len(documents)} documents or of that one's text; "
            "offsets are of characters, half-open, documents counted from 0"
        )
    return gold


# What the forms share


def _texts(items: _Node | None) -> Iterator[str]:
    return (item.text() for item in items.items()) if items else iter(())


def _tidy(documents: Sequence[Document], gold: Iterable[Gold]) -> tuple[Gold, ...]:
    """The evidence in order, each stretch once and without the white space around it, blank ones left out."""
    trimmed = {_trimmed(documents[found.document].text, found) for found in gold}
    return tuple(sorted(found for found in trimmed if found.start < found.end))


def _trimmed(text: str, gold: Gold) -> Gold:
    part = text[gold.start : gold.end]
    start = gold.end - len(part.lstrip())
    return Gold(gold.document, start, max(start, gold.start + len(part.rstrip())))


_FORMS = (
    _Form("HotpotQA, distractor setting", ".json", frozenset({"context", "supporting_facts"}), _hotpot),
    _Form("SQuAD or XQuAD", ".json", frozenset({"data"}), _squad),
    _Form("MuSiQue", ".jsonl", frozenset({"paragraphs", "question"}), _musique),
    _Form("marked cases", ".json.gz", frozenset({"cases", "docs"}), _marked),
)
SUFFIXES = tuple(dict.fromkeys(form.suffix for form in _FORMS))
"""How the names of the files end that can be read."""
