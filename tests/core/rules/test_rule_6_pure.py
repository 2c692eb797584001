"""Same input, same output; nothing around is touched."""

import json
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy

import pytest
from hypothesis import given
from rule_inputs import budgets, passages, queries

from ctxcompress import Compressor, Passage, compress

CASES = [
    ("timeout default", ["The timeout is 90 seconds. " * 9, "# A\n\nB c d.\n\n# Timeout\n\nIt is 90.", "x " * 300]),
    ("重启服务器", ["如何重启服务器？运行命令。" * 20, "其他内容。" * 50]),
    (None, ["word " * 400]),
]

PROGRAM = """
import json, sys
from ctxcompress import compress
for query, texts in json.loads(sys.argv[1]):
    result = compress(query, texts, max_tokens=40)
    print(json.dumps([result.text, [k.spans for k in result.passages], [k.relevance for k in result.passages]]))
"""

WATCHED = """
import os, sys
import numpy  # sets a variable and removes it again while it is imported
events = []
sys.addaudithook(lambda name, args: events.append((name, args)))
before = dict(os.environ)
from ctxcompress import compress
compress("timeout", ["The timeout is 90 seconds. " * 200, "Other words. " * 200], max_tokens=50)
assert dict(os.environ) == before
network = "socket.connect", "socket.getaddrinfo", "os.putenv"
assert not (used := [event for event in events if event[0] in network]), used
writing = os.O_WRONLY | os.O_RDWR | os.O_CREAT
written = [args[0] for name, args in events if name == "open" and isinstance(args[2], int) and args[2] & writing]
assert not [path for path in written if path != os.devnull], written
assert not [name for name, _ in events if name in ("os.mkdir", "os.rename", "os.remove", "subprocess.Popen")]
"""


def _run(program, *arguments, **environment):
    done = subprocess.run(
        [sys.executable, "-B", "-c", program, *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_same_output_across_processes_and_hash_seeds():
    for line, (query, texts) in zip(
        _run(PROGRAM, json.dumps(CASES), PYTHONHASHSEED="4242").splitlines(), CASES, strict=True
    ):
        result = compress(query, texts, max_tokens=40)  # with the hash seed of this process, which is another one
        kept = [result.text, [k.spans for k in result.passages], [k.relevance for k in result.passages]]
        assert line == json.dumps(kept)


def test_no_socket_no_file_written_no_environment_change():
    pytest.importorskip("llama_index.core", reason="the vocabulary has to be on this machine")
    _run(WATCHED)


def test_importing_the_core_and_its_commands_imports_no_framework_and_no_model_and_sets_up_no_logging():
    heavy = "torch transformers sentence_transformers langchain langchain_core llama_index typer rich pandas"
    program = f"""
import logging, sys, ctxcompress, ctxcompress.apps.cli
print(sorted(set('{heavy}'.split()) & set(sys.modules)), logging.root.handlers, logging.getLogger('ctxcompress').level)
"""
    assert _run(program).strip() == "[] [] 0"


@given(texts=passages, query=queries, budget=budgets)
def test_inputs_are_not_mutated(texts, query, budget):
    items = [
        Passage(str(n), text, score=0.5, metadata={"page": n, "nested": {"tags": ["a"]}}, embedding=[0.1])
        for n, text in enumerate(texts)
    ]
    mappings = [{"text": text, "metadata": {"nested": {"tags": ["a"]}}} for text in texts]
    before = deepcopy((items, mappings))
    compress(query, items, max_tokens=budget)
    compress(query, mappings, max_tokens=budget)
    assert (items, mappings) == before


def test_metadata_of_a_mapping_is_not_shared():
    lock = threading.Lock()  # which cannot be copied
    given_ = {"text": "a", "metadata": {"nested": {"tags": ["a"]}, "lock": lock}}
    (kept,) = compress("a", [given_]).passages
    given_["metadata"]["nested"]["tags"].append("b")
    assert kept.original.metadata == {"nested": {"tags": ["a"]}, "lock": lock}


def test_threads_and_the_order_of_calls_do_not_matter():
    compressor = Compressor()
    alone = [compressor.compress(query, texts, max_tokens=40) for query, texts in CASES]
    with ThreadPoolExecutor(4) as pool:
        jobs = [pool.submit(compressor.compress, *CASES[n % 3], max_tokens=40) for n in reversed(range(30))]
    for n, job in zip(reversed(range(30)), jobs, strict=True):
        assert job.result().text == alone[n % 3].text
        assert job.result().passages == alone[n % 3].passages


def test_an_iterator_of_passages_is_read_once():
    assert compress("a", (text for text in ("a", "b"))).text == "a\n\nb"
