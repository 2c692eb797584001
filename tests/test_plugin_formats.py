"""A format of another package, used through both adapters."""

import json
import os
import subprocess
import sys
from pathlib import Path

PACKAGE = Path(__file__).parent / "plugin_package"
CATALOG = "".join(
    f'msgid "The {word} is full."\nmsgstr "Translation {n}. It has two sentences, and is kept whole."\n'
    for n, word in enumerate(["disk", "queue", "glass", "moon", "train", "harbour", "cellar", "barn"])
)
PROGRAM = """
import json, sys
from langchain_core.documents import Document
from llama_index.core.schema import NodeWithScore, TextNode
from ctxcompress import compress
from langchain_ctxcompress import CtxCompressor
from llamaindex_ctxcompress import CtxCompressPostprocessor
text, query = sys.stdin.read(), "translation of: the glass is full"
metadata = {"file_path": "de.po"}
document = Document(page_content=text, metadata=metadata)
node = NodeWithScore(node=TextNode(text=text, metadata=metadata, excluded_llm_metadata_keys=["file_path"]))
kept = [
    compress(query, [{"text": text, **metadata}], max_tokens=60).text,
    CtxCompressor(max_tokens=60).compress_documents([document], query)[0].page_content,
    CtxCompressPostprocessor(max_tokens=60).postprocess_nodes([node], query_str=query)[0].node.text,
]
print(json.dumps(kept))
"""


def _kept(*path: str) -> list[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*path, *filter(None, sys.path)])}
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM], input=CATALOG, capture_output=True, text=True, env=environment
    )
    assert ran.returncode == 0, ran.stderr
    found: list[str] = json.loads(ran.stdout)
    return found


def test_an_installed_format_reads_its_texts_through_both_adapters() -> None:
    for text in _kept(str(PACKAGE)):
        assert 'msgid "The glass is full."\nmsgstr "Translation 2. It has two sentences, and is kept whole."' in text
        assert text.count("msgid") == text.count("msgstr")


def test_without_the_package_it_is_a_text_like_others() -> None:
    assert _kept() != _kept(str(PACKAGE))
