"""A format of texts, a filter, a renderer and an encoder of another package, used through both adapters."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ctxcompress import CompressionConfig, Passage, compress
from ctxcompress.errors import ConfigError

PACKAGE = Path(__file__).parent / "plugin_package"
CATALOG = "".join(
    f'msgid "The {word} is full."\nmsgstr "Translation {n}. It has two sentences, and is kept whole."\n'
    for n, word in enumerate(["disk", "queue", "glass", "moon", "train", "harbour", "cellar", "barn"])
)
QUERY = "translation of: the glass is full"
OBSOLETE = '#~ msgid "The glass is full."\n#~ msgstr "Translation of old."'
PROGRAM = """
import json, sys
from langchain_core.documents import Document
from llama_index.core.schema import NodeWithScore, TextNode
from ctxcompress import CompressionConfig, compress
from langchain_ctxcompress import CtxCompressor, format_documents
from llamaindex_ctxcompress import CtxCompressPostprocessor, format_nodes
(query, obsolete, catalog), metadata = json.load(sys.stdin), {"file_path": "de.po"}
documents = [Document(page_content=text, metadata=metadata) for text in (obsolete, catalog)]
nodes = [
    NodeWithScore(node=TextNode(text=text, metadata=metadata, excluded_llm_metadata_keys=["file_path"]))
    for text in (obsolete, catalog)
]
result = compress(query, [{"text": text, **metadata} for text in (obsolete, catalog)], max_tokens=60)
found = {
    "kept": [
        result.text,
        "\\n".join(d.page_content for d in CtxCompressor(max_tokens=60).compress_documents(documents, query)),
        "\\n".join(
            n.node.text for n in CtxCompressPostprocessor(max_tokens=60).postprocess_nodes(nodes, query_str=query)
        ),
    ],
    "dropped": [(decision.index, decision.reason) for decision in result.dropped],
}
CompressionConfig.from_file(sys.argv[1])
kept = CtxCompressor(max_tokens=60, format="numbered").compress_documents(documents, query)
shown = CtxCompressPostprocessor(max_tokens=60, format="numbered").postprocess_nodes(nodes, query_str=query)
found["shown"] = [
    compress(query, [catalog, "#7"], max_tokens=1_000, format="numbered").text,
    format_documents(kept, format="numbered"),
    format_nodes(shown, format="numbered"),
]
print(json.dumps(found))
"""


def _found(options: Path) -> dict[str, Any]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(PACKAGE), *filter(None, sys.path)])}
    texts = json.dumps([QUERY, OBSOLETE, CATALOG])
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(options)], input=texts, capture_output=True, text=True, env=environment
    )
    assert ran.returncode == 0, ran.stderr
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


def test_what_a_package_adds_works_in_the_core_and_through_both_adapters(tmp_path: Path) -> None:
    options = tmp_path / "options.toml"
    options.write_text('[compression]\nencoder = "first_letters"')
    found = _found(options)
    for text in found["kept"]:
        assert 'msgid "The glass is full."\nmsgstr "Translation 2. It has two sentences, and is kept whole."' in text
        assert text.count("msgid") == text.count("msgstr")
        assert "#~" not in text
    assert [0, "filter"] in found["dropped"]
    alone, of_documents, of_nodes = found["shown"]
    assert alone.startswith("#1\nmsgid")
    assert alone.endswith("\n#2\n\\#7")
    for text in (of_documents, of_nodes):
        assert text.startswith("#1\nmsgid") or "\nmsgid" in text
    without = compress(QUERY, [Passage(str(n), text, file_path="de.po") for n, text in enumerate([OBSOLETE, CATALOG])])
    assert not any(decision.reason == "filter" for decision in without.dropped)
    with pytest.raises(ConfigError, match="encoder is 'first_letters'; give 'static' or 'words', or in code an object"):
        CompressionConfig.from_file(options)
