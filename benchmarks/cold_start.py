"""Measures what a new process pays until it answers: importing the framework and the package, making a component, and
its first call.

    python benchmarks/cold_start.py [--rounds 5] [--docs docs/speed.md]

Each round runs in a new process, where the modules are compiled already, as those of an installed package are. The
framework is what its own components need too: in LangChain also what the first call of any runnable imports. The
figures are medians of CPU milliseconds; the memory is the peak of the whole process. Needs the extra `dev`.
"""

import json
import os
import subprocess
import sys
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from lib.markdown_blocks import publish, publishing_parser, table

_STEPS = ("framework", "import", "making", "first call", "second call")
_CODE = """
import json, resource, sys
from time import process_time

times = [process_time()]
line = "The default timeout is {n} seconds. A pool holds ten connections, and `close` ends all of them.\\n\\n"
query, texts = "what is the default timeout?", ["# Client\\n\\n" + 10 * line.replace("{n}", str(n)) for n in range(10)]
for step in json.loads(sys.argv[1]):
    exec(step)
    times.append(process_time())
print(json.dumps([times, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss]))
"""
_WAYS = {
    "core": (
        "import numpy",
        "from ctxcompress import CompressionConfig, Compressor",
        "made = Compressor(CompressionConfig(max_tokens=200))",
        "made.compress(query, texts)",
    ),
    "LangChain": (
        "from langchain_core.callbacks import CallbackManager\n"
        "from langchain_core.documents import BaseDocumentCompressor, Document\n"
        "CallbackManager.configure()\n"
        "texts = [Document(text) for text in texts]",
        "from langchain_ctxcompress import CtxCompressor",
        "made = CtxCompressor(max_tokens=200)",
        "made.compress_documents(texts, query)",
    ),
    "LlamaIndex": (
        "from llama_index.core.postprocessor.types import BaseNodePostprocessor\n"
        "from llama_index.core.schema import NodeWithScore, TextNode\n"
        "texts = [NodeWithScore(node=TextNode(text=text)) for text in texts]",
        "from llamaindex_ctxcompress import CtxCompressPostprocessor",
        "made = CtxCompressPostprocessor(max_tokens=200)",
        "made.postprocess_nodes(texts, query_str=query)",
    ),
}


def row(way: str, rounds: int, compiled: str) -> list[str]:
    """Return the figures of one way. compiled: a folder for compiled modules."""
    *steps, call = _WAYS[way]
    command = [sys.executable, "-c", _CODE, json.dumps([*steps, call, call])]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = compiled
    runs: list[Any] = []
    for _ in range(rounds + 1):
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment)
        runs.append(json.loads(done.stdout))
    measured = runs[1:]  # the first one compiled the modules
    times = [median(1e3 * (run[0][step + 1] - run[0][step]) for run in measured) for step in range(len(_STEPS))]
    return [way, *(f"{time:,.0f}" for time in times), f"{median(run[1] for run in measured) / 1024:.0f}"]


def main() -> None:
    parser = publishing_parser(__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with TemporaryDirectory() as compiled:
        rows = [row(way, options.rounds, compiled) for way in _WAYS]
    publish({"cold": table(["way", *_STEPS, "memory MB"], rows)}, options.docs)


if __name__ == "__main__":
    main()
