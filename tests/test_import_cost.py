"""What an import must not bring with it, and what a component brings with it when it is made, so that no call has to.
The times themselves depend on the machine."""

import json
import subprocess
import sys

import pytest

_LATE = {
    "asyncio": "only calls on an event loop need it",
    "difflib": "only messages about misspelt names need it",
    "email": "importlib.metadata brings it",
    "fractions": "only budgets in percent need it",
    "importlib.metadata": "only caches and whole source files need it",
    "sqlite3": "only caches in a file need it",
    "tiktoken": "only encodings that are downloaded need it",
    "tomllib": "only configuration files need it",
    "ctxcompress.apps.feedback": "only tuning needs it",
    "ctxcompress.apps.search": "only search results need it",
    "ctxcompress.apps.xray": "only pages need it",
}
_LATE_IN_LANGCHAIN = {
    "langchain_core.language_models.chat_models": "only the option llm needs it",
    "langchain_core.runnables.base": "only chains need it",
    "langsmith": "LangChain's runnables bring it",
    "numpy": "only components need it",
    "ctxcompress.pipeline": "only components need it",
    **{name: _LATE[name] for name in ("difflib", "sqlite3", "tomllib", "ctxcompress.apps.feedback")},
}
_CODE = """
import json, re, sys
{statement}
own = [module for name, module in sys.modules.items() if name.partition(".")[0].endswith("ctxcompress")]
compiled = [f"{{module.__name__}}.{{name}}" for module in own for name, value in vars(module).items()
            if isinstance(value, re.Pattern)]
print(json.dumps([sorted(sys.modules), compiled]))
"""


def _imported(statement: str) -> tuple[set[str], list[str]]:
    """Return the modules that a new process has after a statement, and which regular expressions are compiled."""
    code = _CODE.format(statement=statement)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules, compiled = json.loads(done.stdout)
    return set(modules), compiled


@pytest.mark.parametrize(
    ("statement", "late"),
    [
        ("import ctxcompress", {**_LATE, "numpy": "only a call needs it"}),
        ("from ctxcompress import Compressor, compress", _LATE),
        ("import langchain_ctxcompress", {**_LATE, "langchain_core": "its names import it"}),
        ("from langchain_ctxcompress import CtxCompressor", _LATE_IN_LANGCHAIN),
        ("import llamaindex_ctxcompress", {**_LATE, "llama_index": "its names import it"}),
    ],
)
def test_an_import_brings_no_module_that_most_calls_do_not_need(statement, late):
    modules, compiled = _imported(statement)

    assert {name: why for name, why in late.items() if name in modules} == {}
    assert compiled == []  # a pattern that is compiled when it is used takes no time here: lazy_regex


_CALLS = {
    "compressor": """
from langchain_core.documents import Document
from langchain_ctxcompress import CtxCompressor
made = CtxCompressor()
def call():
    return made.compress_documents([Document(text) for text in texts], query)
""",
    "retriever": """
from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda
from langchain_ctxcompress import CtxCompressRetriever
made = CtxCompressRetriever(base_retriever=RunnableLambda(lambda _: [Document(text) for text in texts]))
def call():
    return made.invoke(query)
""",
    "middleware": """
from langchain.agents.middleware import ToolCallRequest
from langchain_core.messages import ToolMessage
from langchain_ctxcompress import CtxCompressMiddleware
made = CtxCompressMiddleware()
asked = {"name": "search", "args": {"query": query}, "id": "1", "type": "tool_call"}
request = ToolCallRequest(tool_call=asked, tool=None, state={"messages": []}, runtime=None)
found = "\\n\\n".join(texts)
def call():
    return made.wrap_tool_call(request, lambda _: ToolMessage(found, tool_call_id="1")).update["ctxcompress"]
""",
    "tool": """
from langchain_core.tools import tool
from langchain_ctxcompress import compress_tool
@tool
def search(query: str) -> str:
    "Search."
    return "\\n\\n".join(texts)
made = compress_tool(search)
def call():
    return made.invoke({"query": query})
""",
    "search": """
from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda
from langchain_ctxcompress import query_tool
made = query_tool(RunnableLambda(lambda _: [Document(text) for text in texts]))
def call():
    return made.invoke({"query": query})
""",
    "postprocessor": """
from llama_index.core.schema import NodeWithScore, TextNode
from llamaindex_ctxcompress import CtxCompressPostprocessor
made = CtxCompressPostprocessor()
def call():
    return made.postprocess_nodes([NodeWithScore(node=TextNode(text=text)) for text in texts], query_str=query)
""",
}
_CALL = """
import json, sys
query, texts = "how is the default timeout set?", json.loads(sys.argv[1])
{made}
before = {{*sys.modules}}
assert call()
from toktok import _CACHE
print(json.dumps([sorted(sys.modules.keys() - before), [name for name, _ in _CACHE]]))
"""
_TEXTS = [
    "# Ports\n\nThe port is 8080. It is set by `port`.\n\n| name | value |\n| --- | --- |\n| port | 8080 |\n" * 30,
    "def connect(port, timeout=None):\n    return socket.create_connection((HOST, port), timeout)\n\n\n" * 30,
    "Das Zeitlimit beträgt dreißig Sekunden. Danach gibt das Programm auf und meldet einen Fehler. " * 30,
    "\n".join(f"2026-01-01 10:00:{second} ERROR the timeout is over" for second in range(10, 59)),
]


_LIKE_OTHERS = pytest.mark.slow(reason="a process imports LangChain, as for the compressor and the middleware")


@pytest.mark.parametrize(
    "made",
    [pytest.param(name, marks=_LIKE_OTHERS if name in ("retriever", "tool", "search") else ()) for name in _CALLS],
)
def test_a_call_imports_nothing_because_the_component_has_all_when_it_is_made(made):
    pytest.importorskip({"postprocessor": "llama_index.core"}.get(made, "langchain"))
    command = [sys.executable, "-c", _CALL.format(made=_CALLS[made]), json.dumps(_TEXTS)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)

    assert json.loads(done.stdout) == [[], ["o200k_base"]]


def test_only_the_vocabulary_of_the_options_is_loaded_and_none_is_downloaded():
    code = (
        "from ctxcompress import CompressionConfig; from ctxcompress.agents.warm_up import warm_up\n"
        "from tiktoken import registry; from toktok import _CACHE\n"
        "[warm_up(CompressionConfig(encoding=encoding)) for encoding in ('cl100k_base', 'p50k_base', len)]; "
        "print([name for name, _ in _CACHE], [*registry.ENCODINGS])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "['cl100k_base'] []"


def test_a_compression_around_it_does_not_hear_of_the_practice():
    code = (
        "from ctxcompress import CompressionConfig; from ctxcompress.pipeline.scoring import listening\n"
        "from ctxcompress.agents.warm_up import warm_up\n"
        "with listening() as heard:\n    warm_up(CompressionConfig(language='en'))\nprint(heard.last)"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "None"


@pytest.mark.parametrize(
    "package", ["ctxcompress", "ctxcompress.cache", "ctxcompress.encoders", "langchain_ctxcompress"]
)
def test_a_name_that_is_imported_late_is_listed_and_found_and_others_are_refused(package):
    module = __import__(package, fromlist=["*"])

    assert set(module.__all__) <= set(dir(module))
    assert all(getattr(module, name) is not None for name in module.__all__)
    with pytest.raises(AttributeError, match=f"'{package}' has no attribute 'compres'"):
        module.compres  # noqa: B018
