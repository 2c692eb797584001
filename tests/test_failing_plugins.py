"""What another package adds, and what fails of it, through the core and both adapters."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PACKAGE = Path(__file__).parent / "failing_package"
PROGRAM = """
import json, warnings
from langchain_core.documents import Document
from llama_index.core.schema import NodeWithScore, TextNode
from ctxcompress import Compressor, compress
from ctxcompress.cache import Cache
from ctxcompress.errors import PluginError
from langchain_ctxcompress import CtxCompressor
from llamaindex_ctxcompress import CtxCompressPostprocessor
query = "what is the default timeout?"
texts = [f"The timeout of server {n} is {n} seconds. \\n\\nIt is kept in its file." for n in range(9)]
documents = [Document(page_content=text) for text in texts]
nodes = [NodeWithScore(node=TextNode(text=text)) for text in texts]
found = {"raised": [], "kept": [], "warned": [], "failures": []}
for options in ({"max_tokens": 60}, {"max_tokens": 60, "format": "broken"}):
    for work in (
        lambda: compress(query, texts, **options),
        lambda: CtxCompressor(**options).compress_documents(documents, query),
        lambda: CtxCompressPostprocessor(**options).postprocess_nodes(nodes, query_str=query),
    ):
        try:
            work()
        except PluginError as error:
            found["raised"].append([str(error), type(error.__cause__).__name__])
cache = Cache()
for on_error in ("without", "original"):
    options = {"max_tokens": 60, "format": "broken", "on_error": on_error}
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        result = compress(query, texts, cache=cache, **options)
        found["kept"] += [
            result.text,
            "\\n\\n".join(d.page_content for d in CtxCompressor(**options).compress_documents(documents, query)),
            "\\n\\n".join(
                n.node.text for n in CtxCompressPostprocessor(**options).postprocess_nodes(nodes, query_str=query)
            ),
        ]
    found["warned"] += [str(warning.message) for warning in warned]
    found["failures"].append([list(failure) for failure in result.failures])
print(json.dumps(found))
"""


def _ran(program: str, *paths: str) -> str:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*paths, *filter(None, sys.path)])}
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    return json.loads(_ran(PROGRAM, str(PACKAGE)))


def test_it_comes_out_as_one_typed_error(found):
    said = [message.partition(":")[0] for message, _ in found["raised"]]
    causes = [cause for _, cause in found["raised"]]
    assert said == ["filter missing raised ModuleNotFoundError"] * 3 + ["renderer broken raised LookupError"] * 3
    assert causes == ["ModuleNotFoundError"] * 3 + ["LookupError"] * 3


def test_the_result_is_the_one_without_it_and_says_so(found):
    alone = _ran(PROGRAM.partition("documents =")[0] + "print(compress(query, texts, max_tokens=60).text, end='')")
    assert found["kept"] == [alone] * 6
    for failures in found["failures"]:
        assert {part: reason for part, reason, _ in failures} == {
            "renderer broken": "it raised LookupError",
            "filter broken": "it raised LookupError",
            "filter missing": "it raised ModuleNotFoundError",
            "format broken": "it raised LookupError",
        }
        assert not any(is_original for *_, is_original in failures)
    assert len(found["warned"]) >= 6 * 4
    assert "sk-123" not in str([found["warned"], found["failures"]])
