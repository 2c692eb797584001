"""Measures the evidence in the answers of the search tool, as its users meet it: folder, index, tool, answer.

    python benchmarks/search_tool.py CASES... [--limit 100] [--encoder static] [--preset docs] [--max-tokens 1000]

CASES are files of marked cases (`*.json.gz`, see lib/cases.py). The documents of a set become the files of a folder,
which the server's index reads. Each question is asked with the default arguments, for at most 10 results, and without
filters. The output is the share of the evidence that is whole in the answers, white space aside, and the mean tokens.
"""

import argparse
import gzip
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ctxcompress import CompressionConfig, Compressor
from ctxcompress.agents.query_tool import QueryTool
from ctxcompress.apps.index import FolderIndex
from ctxcompress.apps.mcp.tools import DocumentTools
from ctxcompress.config.options import Preset
from ctxcompress.encoders import encoder_named

ARGUMENTS: Mapping[str, Mapping[str, object]] = {
    "as it is": {},
    "10 results": {"top_n": 10},
    "no filters": {"filters": False},
}
"""Arguments of the calls besides the question."""


def folded(text: str) -> str:
    """The text with each stretch of white space as one space."""
    return " ".join(text.split())


def write_files(documents: Mapping[str, Mapping[str, str]], folder: Path) -> None:
    """Each document as a file of its own, called what it is called."""
    for number, document in enumerate(documents.values()):
        name = re.sub(r"\W+", "-", document["title"]).strip("-")[:60]
        (folder / f"{name}-{number}.md").write_text(document["text"], encoding="utf-8")


def evidence(data: Mapping[str, Any], case: Mapping[str, Any]) -> Iterator[str]:
    """What answers the question of a case."""
    for document, start, end in case["gold"]:
        yield data["docs"][case["docs"][document]]["text"][start:end]


def measured(data: Mapping[str, Any], tool: QueryTool, given: Mapping[str, object], limit: int) -> tuple[float, float]:
    """The share of the evidence in the answers, and their mean tokens."""
    count = Compressor(tool.config).count
    found: list[bool] = []
    tokens: list[int] = []
    with TemporaryDirectory() as folder:
        write_files(data["docs"], Path(folder))
        tools = DocumentTools(FolderIndex(folder), tool)
        for case in data["cases"][:limit]:
            text = tools.query({"query": case["query"], **given}).text
            found += [folded(part) in folded(text) for part in evidence(data, case)]
            tokens.append(count(text))
    return sum(found) / len(found), sum(tokens) / len(tokens)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="+", type=Path)
    parser.add_argument("--limit", type=int, default=100, help="questions of each file, at most")
    parser.add_argument("--encoder", help="such as static")
    parser.add_argument("--preset", default="docs", choices=Preset.__args__)
    parser.add_argument("--max-tokens", type=int, help="of an answer")
    options = parser.parse_args()
    encoder = encoder_named(options.encoder) if options.encoder else None
    start = CompressionConfig.from_preset(options.preset)
    tool = QueryTool.of(start, max_tokens=options.max_tokens, encoder=encoder)
    print(f"{'set':12}" + "".join(f"{name:>20}" for name in ARGUMENTS))
    for path in options.cases:
        data = json.loads(gzip.decompress(path.read_bytes()))
        row = [measured(data, tool, given, options.limit) for given in ARGUMENTS.values()]
        cells = "".join(f"{share:>12.3f} {tokens:>7,.0f}" for share, tokens in row)
        print(f"{path.name.partition('.')[0]:12}{cells}", flush=True)


if __name__ == "__main__":
    main()
