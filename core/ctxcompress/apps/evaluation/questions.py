"""Questions, what their results must have, questions made from headings, and where their passages come from."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from os import PathLike
from typing import Any

import numpy as np

from ctxcompress.apps.index.chunks import analyse_file
from ctxcompress.apps.index.folder import Folder, Unreadable, decoded
from ctxcompress.apps.index.folder_index import FolderIndex
from ctxcompress.apps.index.ranking import Ranking
from ctxcompress.compressor import PassageInput
from ctxcompress.data.metadata import as_passages, passage_from_metadata
from ctxcompress.data.passages import Kind, Passage, Segment
from ctxcompress.errors import ConfigError, InputError
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.segment.formats import segment
from ctxcompress.text.language import detect_language

__all__ = [
    "CANDIDATES",
    "Question",
    "Retrieve",
    "from_folder",
    "from_langchain",
    "from_llamaindex",
    "from_texts",
    "passages_of",
    "questions_from_headings",
]

_SHORTEST, _LONGEST = 40, 400
"""Characters of the first sentences of a section that are evidence."""
_TAG = lazy_regex(r"<[^<>]++>")
_ENDS = tuple(".!?\u3002\uff01\uff1f\u061f\u0964")
"""How prose ends, and not an image or what leads to a list."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question and what its results must have. Without evidence, documents and answers only tokens are measured."""

    query: str
    answers: Sequence[str] = ()
    """Answers of which a result must have one, whatever its case, punctuation and articles."""
    evidence: Sequence[str] = ()
    """Texts that must be whole in a result, whatever the white space in them."""
    passages: Sequence[Passage] | None = None
    """The passages to compress; None if a retriever brings them."""
    id: str | None = None
    documents: Sequence[str] = field(default=(), kw_only=True)
    """The texts of relevant documents: a result must have at least a sentence of each."""
    made: bool = field(default=False, kw_only=True)
    """Whether the question was made from a heading."""
    response: str = field(default="", kw_only=True)
    """An answer from all passages. Without anything else to look for, what it quotes is evidence, and the passages that
    it cites by number, such as [2] or [1, 3], are relevant documents."""

    def __post_init__(self) -> None:
        if not isinstance(self.query, str) or not self.query.strip():
            raise InputError(f"query is {self.query!r}; give the text of a question")
        for name in ("answers", "evidence", "documents"):
            given = getattr(self, name)
            if isinstance(given, str) or not all(isinstance(text, str) for text in given):
                raise InputError(f"{name} is {given!r}; give a list of strings")
            object.__setattr__(self, name, tuple(text for text in given if text.strip()))
        if self.passages is not None:
            object.__setattr__(self, "passages", as_passages(self.passages))

    @property
    def is_judged(self) -> bool:
        """Whether there are answers, evidence or documents to look for."""
        return bool(self.answers or self.evidence or self.documents)


def questions_from_headings(
    source: Sequence[Passage] | str | PathLike[str], number: int = 20, *, seed: int = 0
) -> list[Question]:
    """Make up to `number` questions of passages, or of the files of a folder, drawn by chance and in their order.

    The heading of a section, after the one above it, is the question, and the first sentences of the section are the
    evidence. That is weaker than questions of users: the words of the question stand right above its evidence.

    Raises InputError if no section has both, and ConfigError if there is no such folder.
    """
    passages = _files(source) if isinstance(source, str | PathLike) else as_passages(source)
    found: dict[str, Question] = {}
    for passage in passages:
        for query, evidence in _sections(passage):
            found.setdefault(query, Question(query, evidence=[evidence], made=True))
    if not found:
        raise InputError("there is no heading with a sentence below it; give questions with answers or evidence")
    questions = [*found.values()]
    drawn = np.random.default_rng(seed).permutation(len(questions))[:number]
    return [questions[place] for place in sorted(drawn)]


def _files(folder: str | PathLike[str]) -> Iterator[Passage]:
    opened = Folder(folder)
    for path in opened.files().stamps:
        try:
            yield Passage(path, decoded(opened.read(path)), file_path=path)
        except (OSError, Unreadable):  # the index of the folder skips it, too
            continue


def _sections(passage: Passage) -> Iterator[tuple[str, str]]:
    """Yield (heading, first sentences) of the sections that begin with a paragraph."""
    text = passage.text
    segments = segment(text, language=detect_language(text[:_LONGEST]), name=passage.file_path)
    blocks = [list(group) for _, group in groupby(segments, key=lambda segment: segment.block)]
    for above, below in pairwise(blocks):
        query = ": ".join(filter(str.strip, above[-1].heading[-2:]))  # a heading can be a sign alone
        if above[-1].kind is Kind.HEADING and below[0].kind is Kind.PARAGRAPH and query:
            evidence = _opening(text, below)
            if evidence:
                yield query, evidence


def _opening(text: str, sentences: Sequence[Segment]) -> str:
    """Return the first sentences that are long enough together; nothing if that is not one to four lines of prose.

    Of HTML it is the longest text between two tags: results have no tags.
    """
    start = sentences[0].start
    openings = (max(_TAG.split(text[start : sentence.end]), key=len).strip() for sentence in sentences)
    opening = next((each for each in openings if len(each) >= _SHORTEST), "")
    return opening if len(opening) <= _LONGEST and opening.endswith(_ENDS) else ""


Retrieve = Callable[[str], PassageInput]
"""Returns the passages of a query."""

CANDIDATES = 20
"""How many passages a search returns."""


def passages_of(question: Question, retrieve: Retrieve | None) -> tuple[Passage, ...]:
    """Return the passages of a question. Raises InputError if there is nothing that brings them."""
    if retrieve is not None and not callable(retrieve):
        kind = type(retrieve).__name__
        raise ConfigError(f"retrieve is a {kind}; give a function, such as from_langchain(...) or from_llamaindex(...)")
    if retrieve is not None:
        return as_passages(retrieve(question.query))
    if question.passages is None:
        raise InputError(f"the question {question.query!r} has no passages; give retrieve, or passages with each one")
    return tuple(question.passages)


def from_langchain(retriever: Any) -> Retrieve:
    """Return a function that asks a retriever of LangChain, with as many results as it gives.

    Raises ConfigError if it is no retriever.
    """
    invoke = getattr(retriever, "invoke", None)
    if not callable(invoke):
        raise ConfigError(
            f"{type(retriever).__name__} has no method invoke; give a retriever, such as store.as_retriever()"
        )

    def retrieve(query: str) -> Sequence[Passage]:
        found = enumerate(invoke(query))
        return [passage_from_metadata(doc.id or str(place), doc.page_content, doc.metadata) for place, doc in found]

    return retrieve


def from_llamaindex(source: Any, candidates: int = CANDIDATES) -> Retrieve:
    """Return a function that asks a retriever of LlamaIndex, or an index for so many candidates.

    Raises ConfigError if it is neither.
    """
    as_retriever = getattr(source, "as_retriever", None)
    retriever = as_retriever(similarity_top_k=candidates) if callable(as_retriever) else source
    ask = getattr(retriever, "retrieve", None)
    if not callable(ask):
        raise ConfigError(f"{type(source).__name__} is no retriever and no index of LlamaIndex; give one of them")

    def retrieve(query: str) -> Sequence[Passage]:
        return [
            passage_from_metadata(
                found.node.node_id,
                found.node.get_content(),
                {"doc_id": found.node.ref_doc_id or "", **found.node.metadata},
                score=found.score,
            )
            for found in ask(query)
        ]

    return retrieve


def from_folder(folder: str | PathLike[str], candidates: int = CANDIDATES) -> Retrieve:
    """Return a function that finds the best chunks of a folder's text files by BM25.

    Raises ConfigError if there is no such folder.
    """
    index = FolderIndex(folder)
    index.refresh()
    return lambda query: [hit.passage() for hit in index.search(query, candidates)]


def from_texts(texts: Mapping[str, str], candidates: int = CANDIDATES) -> Retrieve:
    """Return a function that finds the best chunks of texts by BM25. texts: id -> text."""
    vocabulary: dict[str, int] = {}
    ranking = Ranking.of([analyse_file(text, name, vocabulary) for name, text in texts.items()], vocabulary)
    return lambda query: [hit.passage() for hit in ranking.search(query, candidates).best]
