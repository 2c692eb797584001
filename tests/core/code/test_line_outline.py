"""Outlines by lines: of whole files, and of chunks that begin and end anywhere."""

import ast
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from outline_faults import faults
from segment_texts import sources

from ctxcompress.code.detection import source_language
from ctxcompress.code.line_outline import line_outline
from ctxcompress.data.passages import NodeKind, walk

FILES = {path.name: path.read_text(encoding="utf-8") for path in (Path(__file__).parent / "fixtures").iterdir()}
LANGUAGES = "python javascript typescript tsx java go rust c cpp ruby shell sql yaml haskell unknown".split()


ODD = [
    *("def f(x):\n", "    return (\n", "        1)\n", '"""\n', "'''a\n", "{", "}\n", "class A {\n", "/*", "*/\n", "`"),
    *("#if X\n", "else:\n", "\t\tx = {\n", "\r\n", "  \n", "fn a<'b>() {\n", "\\\n", '"', "// a (\n", "# b {\n", "]"),
]


def kinds(text, language="python"):
    return [(str(node.kind), node.name) for node in walk(line_outline(text, language))]


@pytest.mark.parametrize("name", FILES)
def test_nodes_partition_the_lines(name):
    text = FILES[name]
    assert not faults(text, line_outline(text, source_language(text, name)))
    for start in range(0, len(text), 400):  # whatever a splitter cuts out
        chunk = text[start : start + 900]
        assert not faults(chunk, line_outline(chunk, source_language(text, name)))


@pytest.mark.parametrize("name", [name for name in sources() if name.endswith(".py")][:10])
def test_definitions_of_python_are_those_that_python_finds(name):
    text = sources()[name]
    defined = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    expected = {(node.name, node.lineno) for node in ast.walk(ast.parse(text)) if isinstance(node, defined)}
    kinds = (NodeKind.FUNCTION, NodeKind.METHOD, NodeKind.CLASS)
    nodes = [node for node in walk(line_outline(text, "python")) if node.kind in kinds]
    found = {(node.name.rpartition(".")[2], text.count("\n", 0, node.signature) + 1) for node in nodes}
    other_parts = sum(
        isinstance(node, defined)
        for statement in ast.walk(ast.parse(text))
        for part in ("orelse", "handlers", "finalbody", "body")
        if isinstance(statement, ast.If | ast.Try | ast.ExceptHandler | ast.For | ast.While)
        for node in getattr(statement, part, ())
    )
    assert found <= expected
    assert len(expected - found) <= other_parts


@pytest.mark.parametrize("language", LANGUAGES)
@given(text=st.lists(st.sampled_from(ODD), max_size=25).map("".join))
def test_any_text_is_partitioned(language, text):
    nodes = line_outline(text, language)
    assert not [fault for fault in faults(text, nodes) if "end with a line" not in fault]


def test_deep_nesting_is_no_error():
    text = "".join("  " * n + "if x:\n" for n in range(3_000)) + "  " * 3_000 + "pass\n"
    assert not faults(text, line_outline(text, "python"))
    text = "{\n" * 5_000 + "}\n" * 5_000
    assert not faults(text, line_outline(text, "c"))
