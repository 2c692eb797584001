"""Measures the CPU time of one compression, beside a plain baseline and beside the least that any compressor needs.

    python benchmarks/speed.py CASES... [--limit 50] [--rounds 5] [--json speed.json] [--docs docs/speed.md]

CASES are files of question answering cases that lib/cases.py reads, one for each set. Each way to compress gets the
same cases in turn, in one process, and the quickest of some rounds counts for each case; the tables have the medians.
"warm" has a `Cache` that knows the passages from another question. "rank_bm25" is lib/baseline.py. "limit" is one
scan for words of the input and one encoding of the output by tiktoken. The second table has the milliseconds of wall
time that each stage of the core takes. What is kept, and what other compressors take, rivals/ measures. Needs the extra
`dev`.
"""

import argparse
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

import tiktoken
from langchain_core.documents import Document
from lib.baseline import RankedSentences
from lib.cases import Case, read_cases, set_name
from lib.evaluation import ENCODING, budget_of
from lib.markdown_blocks import publish, table
from llama_index.core.schema import NodeWithScore, TextNode

from ctxcompress import Compression, CompressionConfig, Compressor, Passage
from ctxcompress.cache import Cache
from ctxcompress.text.tokens import TokenCounter
from langchain_ctxcompress import CtxCompressor
from llamaindex_ctxcompress import CtxCompressPostprocessor

_WORD = re.compile(r"\w+")
_OTHER_QUESTION = "what else is said about this, and by whom?"
_STAGES = ("exact", "repeats", "segment", "score", "select")


@dataclass(frozen=True, slots=True)
class Prepared:
    """A case in the form that each way to compress takes. Making it is not measured."""

    query: str
    passages: Sequence[Passage]
    documents: Sequence[Document]
    nodes: Sequence[NodeWithScore]
    texts: Sequence[str]
    output: str
    """The compressed text."""
    warm: Compressor
    """A compressor with a cache that has the passages."""
    asked: Iterator[int]
    """How often the query was asked of it."""

    @classmethod
    def of(cls, case: Case, budget: int) -> "Prepared":
        pairs = [(document.title or None, document.text) for document in case.documents]
        passages = [Passage(str(number), text, title=title) for number, (title, text) in enumerate(pairs)]
        warm = Compressor(_config(budget).with_options(cache=Cache()))
        warm.compress(_OTHER_QUESTION, passages)
        metadata = [{"title": title} if title else {} for title, _ in pairs]
        texts = [text for _, text in pairs]
        return cls(
            case.query,
            passages,
            [Document(text, metadata=of_text) for text, of_text in zip(texts, metadata, strict=True)],
            [
                NodeWithScore(node=TextNode(text=text, metadata=of_text))
                for text, of_text in zip(texts, metadata, strict=True)
            ],
            texts,
            Compressor(_config(budget)).compress(case.query, passages).text,
            warm,
            count(1),
        )

    def new_query(self) -> str:
        """Return the query in a form whose result is in no cache: with more spaces at its end."""
        return self.query + " " * next(self.asked)


Way = Callable[[Prepared], object]
_Figures = Mapping[str, Mapping[str, Mapping[str, Any]]]


@cache
def _config(budget: int) -> CompressionConfig:
    return CompressionConfig(max_tokens=budget, encoding=ENCODING)


def ways(budget: int) -> Mapping[str, Way]:
    """Return the name of each way to compress, and the way."""
    core, tokens = Compressor(_config(budget)), TokenCounter(ENCODING)
    langchain = CtxCompressor(max_tokens=budget, encoding=ENCODING)
    llamaindex = CtxCompressPostprocessor(max_tokens=budget, encoding=ENCODING)
    encode = tiktoken.get_encoding(ENCODING).encode_ordinary
    return {
        "core": lambda case: core.compress(case.query, case.passages),
        "LangChain": lambda case: langchain.compress_documents(case.documents, case.query),
        "LlamaIndex": lambda case: llamaindex.postprocess_nodes(list(case.nodes), query_str=case.query),
        "warm": lambda case: case.warm.compress(case.new_query(), case.passages),
        "rank_bm25": lambda case: RankedSentences.of(case.query, case.texts).within(budget, tokens),
        "limit": lambda case: (list(map(_WORD.findall, case.texts)), encode(case.output)),
    }


def measured(cases: Sequence[Prepared], budget: int, rounds: int) -> dict[str, float]:
    """Return the median CPU milliseconds of each way over the cases."""
    best = [dict.fromkeys(ways(budget), float("inf")) for _ in cases]
    for _ in range(rounds):
        for case, of_case in zip(cases, best, strict=True):
            for name, milliseconds in _times(case, budget):
                of_case[name] = min(of_case.get(name, float("inf")), milliseconds)
    return {name: median(of_case[name] for of_case in best) for name in best[0]}


def _times(case: Prepared, budget: int) -> Iterator[tuple[str, float]]:
    for name, way in ways(budget).items():
        start = process_time()
        way(case)
        yield name, 1e3 * (process_time() - start)


def by_stage(cases: Sequence[Prepared], budget: int, rounds: int) -> dict[str, float]:
    """Return the median milliseconds of each stage of the core; the other stages take next to nothing."""
    compressor = Compressor(_config(budget))
    found = [_quickest(compressor, case, rounds) for case in cases]
    return {stage: median(of_case.get(stage, 0.0) for of_case in found) for stage in _STAGES}


def _quickest(compressor: Compressor, case: Prepared, rounds: int) -> dict[str, float]:
    results: Iterator[Compression] = (compressor.compress(case.query, case.passages) for _ in range(rounds))
    best: dict[str, float] = {}
    for result in results:
        for stage in result.stages:
            best[stage.name] = min(best.get(stage.name, float("inf")), stage.milliseconds)
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", type=Path, nargs="+")
    parser.add_argument("--limit", type=int, default=50, help="cases of a set at most")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path, help="the file to write the figures to")
    parser.add_argument("--docs", type=Path, help="the document to put the tables into")
    options = parser.parse_args()
    figures = {set_name(path): _figures(path, options.limit, options.rounds) for path in options.cases}
    publish({"speed": _speed(figures)}, options.docs)
    print(_stages(figures))
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


def _figures(path: Path, limit: int, rounds: int) -> dict[str, dict[str, Any]]:
    budget = budget_of(set_name(path))
    cases = [Prepared.of(case, budget) for case in read_cases(path, limit)]
    return {
        "milliseconds": measured(cases, budget, rounds),
        "stages": by_stage(cases, budget, rounds),
    }


def _speed(figures: _Figures) -> str:
    columns = list(next(iter(figures.values()))["milliseconds"])
    rows = [
        [name, *(f"{of_set['milliseconds'][column]:.1f}" for column in columns)] for name, of_set in figures.items()
    ]
    return table(["set", *columns], rows)


def _stages(figures: _Figures) -> str:
    rows = [[name, *(f"{of_set['stages'][stage]:.2f}" for stage in _STAGES)] for name, of_set in figures.items()]
    return table(["set", *_STAGES], rows)


if __name__ == "__main__":
    main()
