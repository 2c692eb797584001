"""Records the outputs of many compressions, and compares two records: for a change that should change none.

    python benchmarks/outputs.py record CASES before.jsonl
    python benchmarks/outputs.py record CASES after.jsonl
    python benchmarks/outputs.py compare before.jsonl after.jsonl

CASES is a folder of marked cases (`*.json.gz`, see lib/cases.py). Each case is compressed with the default options,
with each preset, with static word vectors and through both adapters. A record has one line for each run: the digests
of the text, of the spans, of the drops with their reasons and of the relevance, and the number of tokens. The exit
code of `compare` is 1 if outputs differ.
"""

import argparse
import gzip
import json
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from langchain_core.documents import Document
from llama_index.core.schema import NodeWithScore, TextNode

from ctxcompress import Compression, CompressionConfig, Compressor, Passage
from ctxcompress.encoders import StaticVectors
from langchain_ctxcompress import CtxCompressor
from llamaindex_ctxcompress import CtxCompressPostprocessor

_ENCODING = "cl100k_base"
_BUDGETS = (400, 1_000)

_PRESETS = ("docs", "code", "web", "page")

Case = tuple[str, list[dict[str, Any]], int]
"""The question, the documents with text and title, and the budget."""
Run = Callable[[str, list[dict[str, Any]], int], dict[str, Any]]


def read_cases(file: Path) -> Iterator[Case]:
    """The cases of one file, with each budget."""
    data = json.loads(gzip.decompress(file.read_bytes()))
    for case in data["cases"]:
        for budget in _BUDGETS:
            yield case["query"], [data["docs"][number] for number in case["docs"]], budget


def runs() -> dict[str, Run]:
    """The name of each way to compress a case, and the way."""
    static = StaticVectors()
    return {
        "default": lambda query, documents, budget: _core(query, documents, budget),
        "static": lambda query, documents, budget: _core(query, documents, budget, encoder=static),
        **{
            preset: lambda query, documents, budget, preset=preset: _core(query, documents, budget, preset=preset)
            for preset in _PRESETS
        },
        "langchain": _langchain,
        "llamaindex": _llamaindex,
    }


def _core(query: str, documents: list[dict[str, Any]], budget: int, **options: Any) -> dict[str, Any]:
    passages = [
        Passage(str(number), document["text"], title=document["title"], score=1 / (number + 1))
        for number, document in enumerate(documents)
    ]
    preset = options.pop("preset", None)
    start = CompressionConfig() if preset is None else CompressionConfig.from_preset(preset)
    config = start.with_options(max_tokens=budget, encoding=_ENCODING, **options)
    return _of(Compressor(config).compress(query, passages))


def _of(result: Compression) -> dict[str, Any]:
    kept = [(passage.index, [tuple(span) for span in passage.spans], passage.text) for passage in result.passages]
    dropped = [
        (drop.index, [tuple(span) for span in drop.spans], str(drop.reason), drop.duplicate_of)
        for drop in result.dropped
    ]
    relevance = [round(passage.relevance, 9) for passage in result.passages]
    return {
        "tokens": int(result.tokens),
        "text": _digest(result.text),
        "kept": _digest(kept),
        "dropped": _digest(dropped),
        "relevance": _digest(relevance),
    }


def _langchain(query: str, documents: list[dict[str, Any]], budget: int) -> dict[str, Any]:
    given = [Document(document["text"], metadata={"title": document["title"]}) for document in documents]
    kept = CtxCompressor(max_tokens=budget, encoding=_ENCODING).compress_documents(given, query)
    return {"text": _digest([(document.page_content, _plain(document.metadata)) for document in kept])}


def _llamaindex(query: str, documents: list[dict[str, Any]], budget: int) -> dict[str, Any]:
    nodes = [
        NodeWithScore(node=TextNode(id_=str(number), text=document["text"], metadata={"title": document["title"]}))
        for number, document in enumerate(documents)
    ]
    kept = CtxCompressPostprocessor(max_tokens=budget, encoding=_ENCODING).postprocess_nodes(nodes, query_str=query)
    return {"text": _digest([(item.node.get_content(), _plain(item.node.metadata), item.score) for item in kept])}


def _plain(metadata: dict[str, Any]) -> str:
    return json.dumps(metadata, sort_keys=True, default=str)


def _digest(value: object) -> str:
    return sha256(json.dumps(value, default=str).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def record(folder: Path, to: Path, limit: int | None) -> None:
    """Writes a line for each run of each case."""
    ways = runs()
    with to.open("w", encoding="utf-8") as file:
        for path in sorted(folder.glob("*.json.gz")):
            for number, (query, documents, budget) in enumerate(read_cases(path)):
                if limit is not None and number >= limit:
                    break
                for name, run in ways.items():
                    line = {"set": path.name.removesuffix(".json.gz"), "case": number, "run": name}
                    print(json.dumps(line | run(query, documents, budget)), file=file)


def compare(before: Path, after: Path) -> int:
    """Prints which runs differ, and in what; returns how many do."""
    old, new = (_lines(path) for path in (before, after))
    differing = {key: line for key, line in old.items() if new.get(key) != line}
    for key, line in list(differing.items())[:20]:
        other = new.get(key, {})
        print(*key, "differs in", ", ".join(name for name in line if other.get(name) != line[name]))
    print(f"{len(old)} runs before, {len(new)} after, {len(differing)} differ")
    return len(differing)


def _lines(path: Path) -> dict[tuple[str, int, str], dict[str, Any]]:
    lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return {(line.pop("set"), line.pop("case"), line.pop("run")): line for line in lines}


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record", help="compress every case and write the digests")
    recording.add_argument("cases", type=Path)
    recording.add_argument("to", type=Path)
    recording.add_argument("--limit", type=int, help="cases of each set")
    comparing = commands.add_parser("compare", help="print the runs of two records that differ")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    given = parser.parse_args()
    if given.command == "record":
        record(given.cases, given.to, given.limit)
    else:
        raise SystemExit(compare(given.before, given.after) > 0)


if __name__ == "__main__":
    main()
