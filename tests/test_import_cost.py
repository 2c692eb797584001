"""What an import must not bring with it. The times themselves depend on the machine."""

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
    "tomllib": "only configuration files need it",
    "ctxcompress.apps.feedback": "only tuning needs it",
    "ctxcompress.apps.search": "only search results need it",
    "ctxcompress.apps.xray": "only pages need it",
}
_LATE_IN_LANGCHAIN = {
    "langchain_core.language_models.chat_models": "only the option llm needs it",
    "langchain_core.runnables.base": "only chains need it",
    "langsmith": "LangChain's runnables bring it",
    "numpy": "only a call needs it",
    "ctxcompress.pipeline": "only a call needs it",
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


@pytest.mark.parametrize(
    "package", ["ctxcompress", "ctxcompress.cache", "ctxcompress.encoders", "langchain_ctxcompress"]
)
def test_a_name_that_is_imported_late_is_listed_and_found_and_others_are_refused(package):
    module = __import__(package, fromlist=["*"])

    assert set(module.__all__) <= set(dir(module))
    assert all(getattr(module, name) is not None for name in module.__all__)
    with pytest.raises(AttributeError, match=f"'{package}' has no attribute 'compres'"):
        module.compres  # noqa: B018
