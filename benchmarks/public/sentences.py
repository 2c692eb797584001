"""Precision, recall and F2 of the sentences that `adaptive` keeps without a budget, as OpenProvence measures them.

DATA is HotpotQA's `hotpot_dev_distractor_v1.json` (http://curtis.ml.cmu.edu/datasets/hotpot, CC BY-SA 4.0), or the
Parquet file of a set of OpenProvence (https://huggingface.co/datasets/hotchpotch/natural-questions-context-relevance)
with the columns `query`, `texts`, `context_spans` and `context_spans_relevance`. The rule: the sentences of all
questions are counted together; what is pruned is the mean over the documents. A sentence is kept if most of it is.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from lib.budgeted import with_interval
from lib.cases import Document
from lib.markdown_blocks import share, table
from lib.pruning import THRESHOLDS
from numpy.typing import NDArray

from ctxcompress import CompressionConfig, Compressor, Passage
from ctxcompress.apps.evaluation.intervals import RESAMPLES, Estimate
from ctxcompress.data.passages import Span

__all__ = ["Question", "f_two", "questions", "sentences"]

_UNLIMITED = 1_000_000
_LIMIT = 1_000
"""Questions at most, at equal distances."""


class Question(NamedTuple):
    """A question, its documents, and each document's sentences and which of them are needed."""

    query: str
    documents: Sequence[Document]
    spans: Sequence[Sequence[Span]]
    needed: Sequence[Sequence[bool]]


class _Kept(NamedTuple):
    """What is kept of a question's documents."""

    right: int
    """Kept sentences that are needed."""
    kept: int
    needed: int
    pruned: Sequence[float]
    """Of each document, the share of its characters that went."""


def sentences(data: Path) -> tuple[str, str]:
    """Return what was measured, and the table."""
    every = list(questions(data))
    found = every[:: -(-len(every) // _LIMIT)]
    rows = [[f"{at:g}" if at else "off", *_cells(found, at)] for at in (False, *THRESHOLDS)]
    return f"{len(found)} questions", table(["`adaptive`", "precision", "recall", "F2 [95 %]", "pruned"], rows)


def questions(data: Path) -> Iterator[Question]:
    """Yield the questions of a file in one of the two forms."""
    if data.suffix == ".parquet":
        import pyarrow.parquet as parquet

        yield from map(_marked_spans, parquet.read_table(data).to_pylist())
    else:
        yield from map(_hotpot, json.loads(data.read_text(encoding="utf-8")))


def _hotpot(record: Mapping[str, Any]) -> Question:
    facts = {(title, number) for title, number in record["supporting_facts"]}
    documents, spans, needed = [], [], []
    for title, parts in record["context"]:
        documents.append(Document(title, "".join(parts)))
        spans.append([Span(*of) for of in pairwise(accumulate(map(len, parts), initial=0))])
        needed.append([(title, number) in facts for number in range(len(parts))])
    return Question(record["question"], documents, spans, needed)


def _marked_spans(record: Mapping[str, Any]) -> Question:
    documents = [Document("", text) for text in record["texts"]]
    spans = [[Span(*of) for of in found] for found in record["context_spans"]]
    needed = [[bool(of) for of in found] for found in record["context_spans_relevance"]]
    return Question(record["query"], documents, spans, needed)


def _cells(found: Sequence[Question], adaptive: float) -> list[str]:
    config = CompressionConfig(max_tokens=_UNLIMITED, adaptive=adaptive, on_empty="drop")
    kept = [_kept(question, Compressor(config)) for question in found]
    counts = np.array([of[:3] for of in kept], dtype=np.float64)
    right, chosen, needed = counts.sum(axis=0)
    pruned = np.mean([share for of in kept for share in of.pruned])
    return [share(right / max(chosen, 1)), share(right / needed), with_interval(f_two(counts)), f"{100 * pruned:.0f} %"]


def _kept(question: Question, compressor: Compressor) -> _Kept:
    passages = [Passage(str(n), of.text, title=of.title or None) for n, of in enumerate(question.documents)]
    left = {part.index: part.spans for part in compressor.compress(question.query, passages).passages}
    right = kept = 0
    pruned = []
    for number, (spans, needed) in enumerate(zip(question.spans, question.needed, strict=True)):
        parts = left.get(number, ())
        chosen = [2 * _common(span, parts) > span.end - span.start for span in spans]
        kept += sum(chosen)
        right += sum(map(min, chosen, needed))
        pruned.append(1 - sum(end - start for start, end in parts) / max(len(passages[number].text), 1))
    return _Kept(right, kept, sum(map(sum, question.needed)), pruned)


def _common(span: Span, parts: Sequence[Span]) -> int:
    return sum(max(0, min(end, span.end) - max(start, span.start)) for start, end in parts)


def f_two(counts: NDArray[np.float64]) -> Estimate:
    """Return F2 with the interval of the bootstrap over the rows, which are (right, kept, needed) of a question."""
    size = len(counts)
    draws = np.random.default_rng(0).multinomial(size, np.full(size, 1 / size), size=RESAMPLES)
    values = [_f_two(of) for of in (counts.sum(axis=0), draws @ counts)]
    return Estimate(float(values[0]), *map(float, np.quantile(values[1], (0.025, 0.975))))


def _f_two(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    right, kept, needed = np.moveaxis(sums, -1, 0)
    found: NDArray[np.float64] = 5 * right / np.maximum(kept + 4 * needed, 1)
    return found
