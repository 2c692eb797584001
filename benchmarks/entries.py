"""Measures whether every entry that takes passages keeps the same evidence.

    python benchmarks/entries.py CASES... [--limit 60]

CASES are files of question answering cases that lib/cases.py reads, one for each set. Each case goes through the core,
both adapters, and a tool of each framework that returns documents, as `compress_tool` wraps it, with the budget of its
set. Many tools return one text without titles: that goes through the core, the middleware of LangChain and the tool of
LlamaIndex. The table has the evidence kept by each, as a mean of the sets, and the set that keeps least of what the
core keeps. Needs the extra `dev`.
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import mean
from types import SimpleNamespace
from typing import Any

from langchain_core.documents import Document
from langchain_core.messages import ToolMessage
from langchain_core.tools import StructuredTool
from lib.cases import Case, read_cases, set_name
from lib.evaluation import ENCODING, budget_of
from lib.markdown_blocks import share, table
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.core.tools import FunctionTool

from ctxcompress import CompressionConfig, Compressor, Passage
from ctxcompress.text.tokens import TokenCounter
from langchain_ctxcompress import CtxCompressMiddleware, CtxCompressor
from langchain_ctxcompress import compress_tool as langchain_tool
from llamaindex_ctxcompress import CtxCompressPostprocessor
from llamaindex_ctxcompress import compress_tool as llamaindex_tool

Entry = Callable[[Case, int], str]
"""A function of a case and a budget: the final text."""


def core(case: Case, budget: int) -> str:
    passages = [
        Passage(str(n), document.text, title=document.title or None) for n, document in enumerate(case.documents)
    ]
    return _core(case, budget, passages)


def core_of_one_text(case: Case, budget: int) -> str:
    return _core(case, budget, [Passage("0", _joined(case))])


def _core(case: Case, budget: int, passages: Sequence[Passage]) -> str:
    return Compressor(CompressionConfig(max_tokens=budget, encoding=ENCODING)).compress(case.query, passages).text


def langchain(case: Case, budget: int) -> str:
    compressor = CtxCompressor(max_tokens=budget, encoding=ENCODING)
    kept = compressor.compress_documents(_documents(case), case.query)
    return compressor.separator.join(document.page_content for document in kept)


def llamaindex(case: Case, budget: int) -> str:
    postprocessor = CtxCompressPostprocessor(max_tokens=budget, encoding=ENCODING)
    kept = postprocessor.postprocess_nodes(_nodes(case), query_str=case.query)
    return postprocessor.separator.join(node.node.get_content() for node in kept)


def tool_of_langchain(case: Case, budget: int) -> str:
    def search(query: str) -> list[Document]:  # noqa: ARG001
        """Search."""
        return _documents(case)

    tool = StructuredTool.from_function(search)
    kept = langchain_tool(tool, max_tokens=budget, encoding=ENCODING).invoke({"query": case.query})
    return "\n\n".join(document.page_content for document in kept)


def tool_of_llamaindex(case: Case, budget: int) -> str:
    def search(query: str) -> list[NodeWithScore]:  # noqa: ARG001
        """Search."""
        return _nodes(case)

    tool = FunctionTool.from_defaults(search)
    return str(llamaindex_tool(tool, max_tokens=budget, encoding=ENCODING)(query=case.query).content)


def text_tool_of_llamaindex(case: Case, budget: int) -> str:
    def search(query: str) -> str:  # noqa: ARG001
        """Search."""
        return _joined(case)

    tool = FunctionTool.from_defaults(search)
    return str(llamaindex_tool(tool, max_tokens=budget, encoding=ENCODING)(query=case.query).content)


def middleware(case: Case, budget: int) -> str:
    call = {"name": "search", "args": {"query": case.query}, "id": "1", "type": "tool_call"}
    request: Any = SimpleNamespace(tool_call=call, tool=None, runtime=None, state={"messages": []})
    message = ToolMessage(_joined(case), tool_call_id="1", name="search")
    result: Any = CtxCompressMiddleware(max_tokens=budget, encoding=ENCODING).wrap_tool_call(request, lambda _: message)
    return str((result if isinstance(result, ToolMessage) else result.update["messages"][0]).content)


def _documents(case: Case) -> list[Document]:
    return [Document(document.text, metadata=_metadata(document.title)) for document in case.documents]


def _nodes(case: Case) -> list[NodeWithScore]:
    return [
        NodeWithScore(node=TextNode(text=document.text, metadata=_metadata(document.title)))
        for document in case.documents
    ]


def _metadata(title: str) -> dict[str, str]:
    return {"title": title} if title else {}


def _joined(case: Case) -> str:
    """All documents as one text, as the tool of a retriever gives them."""
    return "\n\n".join(document.text for document in case.documents)


ENTRIES: Mapping[str, Entry] = {
    "core": core,
    "LangChain": langchain,
    "LlamaIndex": llamaindex,
    "LangChain tool": tool_of_langchain,
    "LlamaIndex tool": tool_of_llamaindex,
    "core, one text": core_of_one_text,
    "middleware, one text": middleware,
    "LlamaIndex tool, one text": text_tool_of_llamaindex,
}


def measured(cases: Sequence[Case], budget: int, entry: Entry) -> tuple[float, int]:
    """Return the share of the evidence that is kept, and how many outputs are above the budget."""
    count = TokenCounter(ENCODING)
    kept: list[bool] = []
    over = 0
    for case in cases:
        text = entry(case, budget)
        over += count(text) > budget
        folded = " ".join(text.split())
        kept += [
            " ".join(case.documents[document].text[start:end].split()) in folded for document, start, end in case.gold
        ]
    return sum(kept) / max(len(kept), 1), over


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", type=Path, nargs="+")
    parser.add_argument("--limit", type=int, default=60, help="cases of a set at most")
    options = parser.parse_args()
    found, over = dict[str, dict[str, float]](), 0
    for path in options.cases:
        cases, budget = list(read_cases(path, options.limit)), budget_of(set_name(path))
        of_set = {name: measured(cases, budget, entry) for name, entry in ENTRIES.items()}
        found[set_name(path)] = {name: evidence for name, (evidence, _) in of_set.items()}
        print(set_name(path), found[set_name(path)])
        over += sum(above for _, above in of_set.values())
    print(by_way(found))
    print(f"outputs above the budget: {over}")


def by_way(found: Mapping[str, Mapping[str, float]]) -> str:
    """Return the table of the evidence kept by each way, from that of each set. Losses are against the first."""
    first, *_ = ways = [*next(iter(found.values()))]
    rows = []
    for way in ways:
        changes = {name: of_set[way] - of_set[first] for name, of_set in found.items()}
        least = min(changes, key=changes.__getitem__)
        loses = f"{least} {changes[least]:.3f}" if changes[least] < 0 else ""
        rows.append([way, share(mean(of_set[way] for of_set in found.values())), loses])
    return table(["", "mean", "loses most"], rows)


if __name__ == "__main__":
    main()
