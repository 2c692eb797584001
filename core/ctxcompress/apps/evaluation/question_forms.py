"""Reads questions from files, in the forms that sets of questions are published in."""

import ast
import csv
import gzip
import io
import json
import re
import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, islice
from os import PathLike
from pathlib import Path
from typing import Any

from ctxcompress.apps.evaluation.questions import Question, from_texts
from ctxcompress.data.metadata import as_passages
from ctxcompress.data.passages import Passage
from ctxcompress.errors import InputError
from ctxcompress.segment.sentences import split_sentences
from ctxcompress.text.language import detect_language
from ctxcompress.text.lines import shortened

__all__ = ["read_questions"]

_REMEDY = (
    'give lines such as {"query": "...", "answers": ["..."]}, or a published set as it is; '
    "the forms are in the help: ctxcompress eval --help"
)
_SHOWN = 60
"""Characters of a line that is no JSON."""
_PARAGRAPHS = 20
"""Paragraphs of an article that a SQuAD question is asked of, at most."""


def read_questions(path: str | PathLike[str], *, limit: int | None = None) -> list[Question]:
    """Read the questions of a file, or of a folder of BEIR, the first `limit` if that is given.

    The content tells the form: see docs/how-to/evaluate.md. Questions that are marked as unanswerable are left out.

    Raises InputError, which names the place, what is there, and what could be.
    """
    try:
        if not (rows := _rows(Path(path))):
            raise InputError(f"{path} has no questions")
        fields = rows[0].of_type(dict).keys()
        form = next((form for form in _FORMS if fields >= form.fields), None)
        if form is None:
            raise InputError(f"{rows[0].where} has {', '.join(map(str, fields)) or 'nothing'}, which is no known form")
        return list(islice(chain.from_iterable(map(form.questions, rows)), limit))
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path} cannot be read ({getattr(error, 'strerror', None) or error})") from error
    except InputError as error:
        raise InputError(f"{error}; {_REMEDY}") from error


@dataclass(frozen=True, slots=True)
class _Node:
    """A value in a file, and where it is."""

    where: str
    value: Any

    def __getitem__(self, key: Any) -> "_Node":
        fields = self.of_type(dict)
        if fields.get(key) is None:
            raise InputError(f"{self.where} has no {key!r}, only {', '.join(map(str, fields)) or 'nothing'}")
        return _Node(f"{self.where}: {key}", fields[key])

    def any_of(self, *keys: str) -> "_Node | None":
        """Return the first of the fields that is there."""
        return next((self[key] for key in keys if self.of_type(dict).get(key) not in (None, "")), None)

    def of_type(self, kind: type) -> Any:
        if not isinstance(self.value, kind):
            raise InputError(f"{self.where} is a {type(self.value).__name__}, and must be a {kind.__name__}")
        return self.value

    def items(self) -> "list[_Node]":
        return [_Node(f"{self.where}[{number}]", item) for number, item in enumerate(self.of_type(list))]

    def texts(self) -> list[str]:
        """Return the texts of a string, a number, an object with "text", or a list of those."""
        if isinstance(self.value, list):
            return [text for item in self.items() for text in item.texts()]
        if isinstance(self.value, dict):
            return self["text"].texts()
        return [str(self.value) if isinstance(self.value, int | float) else self.of_type(str)]

    def name(self) -> str | None:
        """Return the id that the object has."""
        found = self.any_of("id", "_id")
        return None if found is None else str(found.value)

    def passages(self) -> tuple[Passage, ...]:
        return as_passages([self.value] if isinstance(self.value, str) else self.of_type(list))


# Files


def _rows(path: Path) -> list[_Node]:
    """Return the objects of a file: its lines, its list, or the one that it is. A folder is an object of its files."""
    if path.is_dir():
        return [_Node(str(path), {child.name: child for child in sorted(path.iterdir())})]
    content = path.read_bytes()
    try:
        text = (gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not text in UTF-8") from error
    if text.lstrip()[:1] not in ("{", "["):
        return _table(path, text)
    try:
        whole = _Node(str(path), json.loads(text))
    except ValueError:
        return _lines(path, text)
    return whole.items() if isinstance(whole.value, list) else [whole]


def _lines(path: Path, text: str) -> list[_Node]:
    rows = []
    for number, line in enumerate(text.split("\n"), 1):  # not splitlines(): a JSON string has other line ends
        if line.strip():
            try:
                rows.append(_Node(f"{path}, line {number}", json.loads(line)))
            except ValueError as error:
                why = getattr(error, "msg", error)  # without its own count of lines
                raise InputError(f"{path}, line {number} is not JSON ({why}): {shortened(line, _SHOWN)}") from error
    return rows


def _table(path: Path, text: str) -> list[_Node]:
    delimiter = max(",;\t", key=text.partition("\n")[0].count)
    rows = enumerate(csv.DictReader(io.StringIO(text), delimiter=delimiter), 1)
    return [
        _Node(f"{path}, row {number}", {key.strip().lower(): _cell(cell) for key, cell in row.items() if key and cell})
        for number, row in rows
    ]


def _cell(text: str) -> Any:
    """Return the list that a cell holds, as JSON or as Python writes it; any other text as it is."""
    if text.startswith("[") and text.endswith("]"):
        for read in (json.loads, ast.literal_eval):
            try:
                return read(text)
            except (ValueError, SyntaxError):
                continue
    return text


# Rows with columns: those of this package, of Ragas, of LlamaIndex, and of retrievers for open questions ("ctxs")


def _columns(row: _Node) -> Iterator[Question]:
    passages = row.any_of("passages", "contexts", "retrieved_contexts", "context", "ctxs")
    query = row.any_of("query", "question", "user_input") or row["query"]
    yield Question(
        query.of_type(str),
        _texts(row, "answers", "answer", "reference", "reference_answer"),
        _texts(row, "evidence"),
        None if passages is None else passages.passages(),
        row.name(),
        documents=_texts(row, "reference_contexts"),
        response=" ".join(_texts(row, "response")),
    )


def _texts(row: _Node, *fields: str) -> list[str]:
    found = row.any_of(*fields)
    return found.texts() if found else []


# HotpotQA, as published or as on the Hugging Face hub, where lists of pairs are pairs of lists


def _hotpot(row: _Node) -> Iterator[Question]:
    documents: dict[str, list[str]] = dict(_pairs(row["context"], "title", "sentences"))
    evidence = []
    for title, number in _pairs(row["supporting_facts"], "title", "sent_id"):
        if title not in documents:
            raise InputError(f"{row.where} has no document {title!r}; give the distractor setting, which has it")
        sentences = documents[title]
        evidence.append(sentences[min(number, len(sentences) - 1)])  # some numbers are too great: the last is meant
    passages = [Passage(title, "".join(texts), title=title) for title, texts in documents.items()]
    yield Question(row["question"].of_type(str), row["answer"].texts(), evidence, passages, row.name())


def _pairs(node: _Node, one: str, other: str) -> Iterator[tuple[Any, Any]]:
    if isinstance(node.value, dict):
        return zip(node[one].of_type(list), node[other].of_type(list), strict=True)
    return (tuple(pair.of_type(list)[:2]) for pair in node.items())


# SQuAD 1 and 2, XQuAD: the sentence with the answer is evidence, and the paragraphs around are passages


def _squad(file: _Node) -> Iterator[Question]:
    for article in file["data"].items():
        paragraphs = article["paragraphs"].items()
        texts = [paragraph["context"].of_type(str) for paragraph in paragraphs]
        title = str(article.value.get("title", "")).replace("_", " ")
        passages = [Passage(str(number), text, title=title) for number, text in enumerate(texts)]
        for number, paragraph in enumerate(paragraphs):
            # Not so many before and after, so that the right one is not always in the middle.
            first = max(0, min(number // _PARAGRAPHS * _PARAGRAPHS, len(texts) - _PARAGRAPHS))
            for asked in paragraph["qas"].items():
                shown = passages[first : first + _PARAGRAPHS]
                yield from _squad_question(asked, texts[number], shown)


def _squad_question(asked: _Node, text: str, passages: Sequence[Passage]) -> Iterator[Question]:
    answers = [] if asked.value.get("is_impossible") else asked["answers"].items()
    if answers:
        known = [*dict.fromkeys(answer["text"].of_type(str) for answer in answers)]
        evidence = _sentence_with(text, known[0], answers[0]["answer_start"].of_type(int))
        yield Question(asked["question"].of_type(str), known, [evidence], passages, asked.name())


def _sentence_with(text: str, answer: str, start: int = -1) -> str:
    """Return the sentence of a text that has an answer, or the sentences; the whole text if it is nowhere.

    start: where it is said to be. If it is not there, it is searched for, as a word of its own first.
    """
    exact = re.escape(answer)
    match = re.compile(exact).match(text, start) if start >= 0 else None
    for pattern in (rf"(?<!\w){exact}(?!\w)", exact):
        match = match or re.search(pattern, text, re.IGNORECASE)
    if match is None:
        return text
    ends = _ends(text)
    begin = (0, *ends)[bisect_right(ends, match.start())]
    return text[begin : ends[bisect_left(ends, match.end())]].strip()


@lru_cache(100)  # there are several questions to a paragraph
def _ends(text: str) -> tuple[int, ...]:
    return tuple(split_sentences(text, 0, len(text), detect_language(text)))


# MuSiQue: of each step the sentence with its answer


def _musique(row: _Node) -> Iterator[Question]:
    paragraphs = {paragraph["idx"].value: paragraph for paragraph in row["paragraphs"].items()}
    texts = {number: paragraph["paragraph_text"].of_type(str) for number, paragraph in paragraphs.items()}
    passages = [Passage(str(n), text, title=str(paragraphs[n].value.get("title", ""))) for n, text in texts.items()]
    if row.value.get("answerable", True):
        evidence = [
            _sentence_with(texts[step["paragraph_support_idx"].value], step["answer"].of_type(str))
            for step in row["question_decomposition"].items()
        ]
        answers = [*row["answer"].texts(), *_texts(row, "answer_aliases")]
        yield Question(row["question"].of_type(str), answers, evidence, passages, row.name())


# Relevant documents of a corpus: BEIR, and LlamaIndex's EmbeddingQAFinetuneDataset


def _beir(folder: _Node) -> Iterator[Question]:
    files: Mapping[str, Path] = folder.value
    judgements = {path.stem: path for path in sorted((files["corpus.jsonl"].parent / "qrels").glob("*.tsv"))}
    if not judgements:
        raise InputError(f"{folder.where} has no qrels/*.tsv")
    relevant: dict[str, list[str]] = {}
    for row in _rows(judgements.get("test") or next(iter(judgements.values()))):
        if float(row["score"].value) > 0:
            relevant.setdefault(row["query-id"].value, []).append(row["corpus-id"].value)
    queries = {str(row["_id"].value): row["text"].of_type(str) for row in _rows(files["queries.jsonl"])}
    rows = _rows(files["corpus.jsonl"])
    corpus = {str(row["_id"].value): f"{row.value.get('title') or ''}\n\n{row.value['text']}".strip() for row in rows}
    return _judged(folder, queries, corpus, relevant)


def _embedding_qa(file: _Node) -> Iterator[Question]:
    return _judged(file, *(file[name].of_type(dict) for name in ("queries", "corpus", "relevant_docs")))


def _judged(
    file: _Node, queries: Mapping[str, str], corpus: Mapping[str, str], relevant: Mapping[str, Sequence[str]]
) -> Iterator[Question]:
    retrieve = from_texts(corpus)
    for name, documents in relevant.items():
        if absent := [each for each in documents if each not in corpus] or [name] * (name not in queries):
            raise InputError(f"{file.where} has no query or document {absent[0]!r}, which is judged for {name!r}")
        query, texts = queries[name], [corpus[each] for each in documents]
        yield Question(query, passages=as_passages(retrieve(query)), id=name, documents=texts)


# The marked cases of this project


def _marked(file: _Node) -> Iterator[Question]:
    for case in file["cases"].items():
        documents = [file["docs"][key] for key in case["docs"].of_type(list)]
        texts = [document["text"].of_type(str) for document in documents]
        passages = [
            Passage(str(key), text, title=document.value.get("title"))
            for key, document, text in zip(case.value["docs"], documents, texts, strict=True)
        ]
        evidence = []
        for span in case["gold"].items():
            document, start, end = span.of_type(list)
            if not 0 <= document < len(texts) or not 0 <= start < end <= len(texts[document]):
                raise InputError(f"{span.where} is {span.value}, which is outside of the documents")
            evidence.append(texts[document][start:end])
        answers = _texts(case, "answers")
        yield Question(case["query"].of_type(str), answers, evidence, passages, case.name())


@dataclass(frozen=True, slots=True)
class _Form:
    """A form: what it is called, the fields of the first object that tell it, and what reads an object."""

    name: str
    fields: Set[str]
    read: Callable[[_Node], Iterator[Question]]

    def questions(self, row: _Node) -> Iterator[Question]:
        """Read an object. Raises InputError, which names the place."""
        try:
            yield from self.read(row)
        except InputError as error:
            raise error if row.where in str(error) else InputError(f"{row.where}: {error}") from error
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            raise InputError(f"{row.where} is not what {self.name} has ({error!r})") from error


_FORMS = (
    _Form("BEIR", {"queries.jsonl", "corpus.jsonl"}, _beir),
    _Form("the form of marked cases", {"docs", "cases"}, _marked),
    _Form("SQuAD", {"data"}, _squad),
    _Form("HotpotQA", {"context", "supporting_facts"}, _hotpot),
    _Form("MuSiQue", {"paragraphs", "question"}, _musique),
    _Form(
        "LabelledRagDataset", {"examples"}, lambda file: chain.from_iterable(map(_columns, file["examples"].items()))
    ),
    _Form("EmbeddingQAFinetuneDataset", {"queries", "relevant_docs"}, _embedding_qa),
    *(_Form("the form of rows", {name}, _columns) for name in ("query", "question", "user_input")),
)
"""The forms. The first that fits is taken."""
