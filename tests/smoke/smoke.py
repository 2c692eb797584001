"""Uses the installed wheel as a user would, and no network. Copied out of the repository and run with `python -I`."""

import importlib
import importlib.metadata
import importlib.util
import json
import os
import socket
import subprocess
import sys
import sysconfig
from pathlib import Path

PACKAGES = ("ctxcompress", "langchain_ctxcompress", "llamaindex_ctxcompress")
BUDGET = 60
QUESTION = "What is the default timeout of a request?"
ANSWER = "The default timeout of a request is 30 seconds."
FILLER = "The library was written by people who like the sea, and its logo shows a lighthouse at night. "
TEXTS = [f"{FILLER * 6}\n\n{ANSWER} It can be changed.\n\n{FILLER * 6}", FILLER * 8, FILLER.upper() * 8]


def check(holds: bool, complaint: str) -> None:
    if not holds:
        sys.exit(f"smoke: {complaint}")


def check_installation() -> None:
    site_packages = Path(sysconfig.get_path("purelib")).resolve()
    recorded = {str(file) for file in importlib.metadata.files("ctxcompress") or ()}
    for package in PACKAGES:
        origin = Path(str(importlib.import_module(package).__file__)).resolve()
        check(origin.is_relative_to(site_packages), f"{package} comes from {origin}")
        check(f"{package}/py.typed" in recorded, f"{package}/py.typed is not in the wheel")
    check(importlib.util.find_spec("torch") is None, "torch is installed")


def check_compressed(name: str, text: str) -> None:
    tokens = count_tokens(text)
    check(ANSWER in text, f"{name} lost the answer; it kept {text!r}")
    check(tokens <= BUDGET, f"{name} kept {tokens} tokens; the budget is {BUDGET}")
    print(f"smoke: {name}: {sum(map(count_tokens, TEXTS))} -> {tokens} tokens")


def count_tokens(text: str) -> int:
    """Independent of ctxcompress: tiktoken alone, with the vocabulary that llama-index-core carries."""
    import tiktoken
    from llama_index import core

    os.environ["TIKTOKEN_CACHE_DIR"] = str(Path(core.__file__).parent / "_static" / "tiktoken_cache")
    try:
        return len(tiktoken.get_encoding("o200k_base").encode_ordinary(text))
    finally:
        del os.environ["TIKTOKEN_CACHE_DIR"]


def use_core() -> str:
    from ctxcompress import compress

    return compress(QUESTION, TEXTS, max_tokens=BUDGET).text


def use_langchain() -> str:
    from langchain_core.documents import Document
    from langchain_core.embeddings import DeterministicFakeEmbedding
    from langchain_core.vectorstores import InMemoryVectorStore

    from langchain_ctxcompress import CtxCompressor, CtxCompressRetriever

    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
    store.add_documents([Document(text) for text in TEXTS])
    compressor = CtxCompressor(max_tokens=BUDGET)
    retriever = CtxCompressRetriever(base_retriever=store.as_retriever(), compressor=compressor)
    return "\n\n".join(document.page_content for document in retriever.invoke(QUESTION))


def use_llamaindex() -> str:
    from llama_index.core.schema import MetadataMode, NodeWithScore, TextNode
    from llama_index.postprocessor.ctxcompress import CtxCompressPostprocessor

    nodes = [NodeWithScore(node=TextNode(text=text)) for text in TEXTS]
    kept = CtxCompressPostprocessor(max_tokens=BUDGET).postprocess_nodes(nodes, query_str=QUESTION)
    return "\n\n".join(item.get_content(MetadataMode.LLM) for item in kept)


def check_page() -> None:
    from ctxcompress import compress

    page = compress(QUESTION, TEXTS, max_tokens=BUDGET).xray()
    check(ANSWER in page, "the page lost the answer")
    check("<style>" in page and "prefers-color-scheme" in page, "the page has no style sheet")
    print(f"smoke: page: {len(page.encode())} bytes")


def use_command() -> str:
    command = Path(sysconfig.get_path("scripts")) / "ctxcompress"
    arguments = [command, "compress", "--query", QUESTION, "--max-tokens", str(BUDGET), "--json"]
    ran = subprocess.run(arguments, input="\n\n".join(TEXTS), text=True, encoding="utf-8", stdout=subprocess.PIPE)
    check(ran.returncode == 0, f"the command ended with exit code {ran.returncode}")
    return str(json.loads(ran.stdout)["text"])


def refuse(*_: object, **__: object) -> None:
    raise OSError("the network is used")


socket.socket.connect = socket.getaddrinfo = refuse  # type: ignore[method-assign, assignment]
check_installation()
check_compressed("core", use_core())
check_compressed("LangChain", use_langchain())
check_compressed("LlamaIndex", use_llamaindex())
check_compressed("command", use_command())
check_page()
