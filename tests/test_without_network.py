"""Nothing leaves the machine: in a network namespace without routes all is as it is elsewhere, and nothing is tried."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import json, sys
tried = []
LEAVING = "socket.connect", "socket.getaddrinfo", "socket.sendto"
sys.addaudithook(lambda name, args: tried.append(name) if name in LEAVING else None)
from langchain_core.documents import Document
from llama_index.core.schema import NodeWithScore, TextNode
from ctxcompress import compress
from ctxcompress.apps.index import FolderIndex
from ctxcompress.encoders import StaticVectors
from langchain_ctxcompress import CtxCompressor
from llamaindex_ctxcompress import CtxCompressPostprocessor

question, path = "what is the default timeout?", sys.argv[1]
with open(path + "/client.md") as file:
    text = file.read()
[document] = CtxCompressor(max_tokens=10).compress_documents([Document(text)], question)
nodes = [NodeWithScore(node=TextNode(text=text))]
[node] = CtxCompressPostprocessor(max_tokens=10).postprocess_nodes(nodes, query_str=question)
[found] = FolderIndex(path).search(question, 1)
print(json.dumps([
    compress(question, [text], max_tokens=10).text,
    compress(question, [text], max_tokens=10, encoder=StaticVectors()).text,
    document.page_content,
    node.get_content(),
    tried,
]))
"""


def unshared() -> list[str]:
    """The command that runs another one in a network namespace of its own; skips the test where there is none."""
    found = shutil.which("unshare")
    if found is None or subprocess.run([found, "-rn", "true"], capture_output=True, check=False).returncode:
        pytest.skip("no network namespace can be made here")
    return [found, "-rn"]


def test_without_routes_all_entries_answer_and_nothing_is_tried(tmp_path: Path) -> None:
    answer = "The default timeout is 30 seconds."
    (tmp_path / "client.md").write_text(f"The pool opens ten connections. {answer} Logs are kept for a week.")
    command = [*unshared(), sys.executable, "-c", PROGRAM, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == f'["{answer}", "{answer}", "{answer}", "{answer}", []]'
