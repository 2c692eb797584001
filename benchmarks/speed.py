"""Measures the CPU time of one compression, beside a plain baseline and beside the least that any compressor needs.

    python benchmarks/speed.py CASES... [--limit 50] [--json speed.json] [--docs docs/speed.md]

CASES are files of question answering cases that lib/cases.py reads, one for each set. Each way to compress gets each
case once, in one process: the ways take turns in being the first, because a tokenizer may remember texts. The tables
have the medians. "warm" has a `Cache` that knows the passages from another question. "rank_bm25" is lib/baseline.py,
with the same tokenizer on both sides: the one of ctxcompress, or tiktoken as a callable. "limit" is one scan for words
of the input and one encoding of the output by tiktoken. The second table has the milliseconds of wall time that each
stage of the core takes. What is kept, and what other compressors take, rivals/ measures. Needs the extra `dev`.
"""

import argparse
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
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

from ctxcompress import CompressionConfig, Compressor, Passage
from ctxcompress.cache import Cache
from ctxcompress.text.tokens import TokenCounter
from langchain_ctxcompress import CtxCompressor
from llamaindex_ctxcompress import CtxCompressPostprocessor

_WORD = re.compile(r"\w+")
_OTHER_QUESTION = "what else is said about this, and by whom?"
_FIRST = 3
_SHOWN = ("LangChain", "LlamaIndex", "warm", "rank_bm25", "limit")
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


@cache
def ways(budget: int) -> Mapping[str, Way]:
    """Return the name of each way to compress, and the way."""
    core, llamaindex = Compressor(_config(budget)), CtxCompressPostprocessor(max_tokens=budget, encoding=ENCODING)
    os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(files("llama_index.core") / "_static" / "tiktoken_cache"))
    encode = tiktoken.get_encoding(ENCODING).encode_ordinary
    return {
        "core": lambda case: core.compress(case.query, case.passages),
        "LlamaIndex": lambda case: llamaindex.postprocess_nodes(list(case.nodes), query_str=case.query),
        "warm": lambda case: case.warm.compress(case.new_query(), case.passages),
        "limit": lambda case: (list(map(_WORD.findall, case.texts)), encode(case.output)),
        **_counting(budget, ENCODING, "LangChain", "rank_bm25"),
        **_counting(budget, lambda text: len(encode(text)), "LangChain, tiktoken", "rank_bm25, tiktoken"),
    }


def _counting(budget: int, encoding: str | Callable[[str], int], ours: str, plain: str) -> dict[str, Way]:
    """Return LangChain's compressor and the baseline under these names, which count in the same way."""
    compressor, tokens = CtxCompressor(max_tokens=budget, encoding=encoding), TokenCounter(encoding)
    return {
        ours: lambda case: compressor.compress_documents(case.documents, case.query),
        plain: lambda case: RankedSentences.of(case.query, case.texts).within(budget, tokens),
    }


def measured(cases: Sequence[Prepared], budget: int) -> dict[str, float]:
    """Return the median CPU milliseconds of each way over the cases."""
    for case in cases[:_FIRST]:  # what the first calls load
        _times(case, budget, 0)
    found = [_times(case, budget, number) for number, case in enumerate(cases)]
    return {name: median(times[name] for times in found) for name in ways(budget)}


def _times(case: Prepared, budget: int, turn: int) -> dict[str, float]:
    named = list(ways(budget).items())
    start = turn % len(named)
    return {name: _time(way, case) for name, way in named[start:] + named[:start]}


def _time(way: Way, case: Prepared) -> float:
    start = process_time()
    way(case)
    return 1e3 * (process_time() - start)


def by_stage(cases: Sequence[Prepared], budget: int) -> dict[str, float]:
    """Return the median milliseconds of each stage of the core; the other stages take next to nothing."""
    compressor = Compressor(_config(budget))
    results = [compressor.compress(case.query, case.passages) for case in cases]
    found = [{stage.name: stage.milliseconds for stage in result.stages} for result in results]
    return {stage: median(of_case.get(stage, 0.0) for of_case in found) for stage in _STAGES}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", type=Path, nargs="+")
    parser.add_argument("--limit", type=int, default=50, help="cases of a set at most")
    parser.add_argument("--json", type=Path, help="the file to write the figures to")
    parser.add_argument("--docs", type=Path, help="the document to put the tables into")
    options = parser.parse_args()
    figures = {set_name(path): _figures(path, options.limit) for path in options.cases}
    publish({"speed": _speed(figures)}, options.docs)
    print(_stages(figures))
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


def _figures(path: Path, limit: int) -> dict[str, dict[str, Any]]:
    budget = budget_of(set_name(path))
    cases = [Prepared.of(case, budget) for case in read_cases(path, limit)]
    return {
        "milliseconds": measured(cases, budget),
        "stages": by_stage(cases, budget),
    }


def _speed(figures: _Figures) -> str:
    rows = [[name, *_speed_row(of_set["milliseconds"])] for name, of_set in figures.items()]
    return table(["set", *_SHOWN, "times rank_bm25", "with tiktoken"], rows)


def _speed_row(times: Mapping[str, float]) -> list[str]:
    """Return the cells of one set: milliseconds, then how many times the baseline's LangChain takes."""
    ratios = [times["LangChain" + counter] / times["rank_bm25" + counter] for counter in ("", ", tiktoken")]
    return [*(f"{times[name]:.1f}" for name in _SHOWN), *(f"{ratio:.1f}" for ratio in ratios)]


def _stages(figures: _Figures) -> str:
    rows = [[name, *(f"{of_set['stages'][stage]:.2f}" for stage in _STAGES)] for name, of_set in figures.items()]
    return table(["set", *_STAGES], rows)


if __name__ == "__main__":
    main()
