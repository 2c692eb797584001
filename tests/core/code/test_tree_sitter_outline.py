"""Outlines by tree-sitter: what they say of real files, and that what is left of those can be parsed."""

import ast
import os
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest
from elided import faults, some_out, still_parses, without
from hypothesis import given
from hypothesis import strategies as st

from ctxcompress.code import tree_sitter_outline as grammars
from ctxcompress.code.tree_sitter_outline import parsed_outline
from ctxcompress.data.passages import NodeKind, walk

FIXTURES = {
    "python": "service.py",
    "javascript": "stream.js",
    "typescript": "store.ts",
    "tsx": "panel.tsx",
    "java": "Ledger.java",
    "go": "server.go",
    "rust": "shapes.rs",
    "c": "buffer.c",
    "cpp": "graph.cpp",
}
LANGUAGES = sorted(FIXTURES)
FOLDER = Path(__file__).parent / "fixtures"
TEXTS = {language: (FOLDER / name).read_text(encoding="utf-8") for language, name in FIXTURES.items()}
STANDARD_LIBRARY = sorted(Path(ast.__file__).parent.glob("*.py"))[::4]

DEFINED = {
    "python": "constant __all__, constant LIMIT, constant registry, constant MODE, constant DEPTH, constant WIDTH, "
    "constant HEIGHT, constant COLOR, class Service, constant Service.__slots__, method Service.__init__, "
    "method Service.size, class Service.Inner, class Service.Inner.Deep, method Service.Inner.Deep.method, "
    "method Service.Inner.other, function greet, function greet.local, function _hidden",
    "javascript": "constant TIMEOUT, constant counter, class Queue, constant Queue.#jobs, constant Queue.limit, "
    "constant Queue.quoted name, method Queue.handler, method Queue.constructor, method Queue.size, function mix, "
    "function module.exports.helper, function module.exports.helper.inner, constant exports.table, constant memo, "
    "function hidden, class default, method default.run",
    "typescript": "type Key, type Handler, type Stored, constant Stored.id, type Level, namespace plain, "
    "function plain.plain, constant plain.default, namespace Tools, constant Tools.hidden, constant Tools.shown, "
    "namespace Tools.Inner, function Tools.Inner.deep, function convert, function convert, function convert, "
    "class Store, constant Store.items, constant Store.count, method Store.handler, method Store.constructor, "
    "method Store.open, method Store.close, method Store.load, method Store.touch, method Store.size, "
    "function select, function main, class Plain",
    "tsx": "type Props, function Panel, class Old, constant Old.state, constant Old.defaultProps, "
    "method Old.componentDidMount, method Old.render, constant Named, constant default",
    "java": "class Ledger, constant Ledger.LIMIT, constant Ledger.rows, constant Ledger.a, method Ledger.Ledger, "
    "method Ledger.total, method Ledger.touch, method Ledger.left, class Ledger.Entry, constant Ledger.Entry.key, "
    "method Ledger.Entry.key, class Ledger.Point, method Ledger.Point.Point, method Ledger.Point.zero, "
    "type Ledger.State, constant Ledger.State.code, method Ledger.State.State, method Ledger.State.done, type Shape, "
    "constant Shape.PI, method Shape.area, method Shape.label, type Marked, method Marked.value, method Marked.sizes",
    "go": "constant first, constant Limit, constant cache, type Server, type Handler, type alias, method Server.Run, "
    "method Server.unexported, function Map, function init, type init.local",
    "rust": "constant LIMIT, constant COUNT, type Shape, type Unit, type Kind, type Weigh, constant Weigh.FACTOR, "
    "type Weigh.Output, method Weigh.weigh, method Weigh.twice, namespace Shape, constant Shape.EMPTY, "
    "method Shape.new, method Shape.walk, namespace Shape, method Shape.fmt, function square, function external, "
    "constant FOREIGN, namespace tests, function tests.weighs, function tests.weighs.inner",
    "c": "constant BUFFER_H, constant LIMIT, function SQUARE, type buffer_t, type plain, type state, type both, "
    "type callback, constant shared, constant hidden, constant table, constant pointer, function buffer_open, "
    "function buffer_name, function wait_for, function buffer_open, function one_line, function unused",
    "cpp": "function NODE, namespace graph.core, constant graph.core.kLimit, type graph.core.List, "
    "class graph.core.Forward, type graph.core.Weighted, class graph.core.Node, method graph.core.Node.Node, "
    "method graph.core.Node.Node, method graph.core.Node.~Node, method graph.core.Node.edges, "
    "method graph.core.Node.as, method graph.core.Node.operator==, type graph.core.Node.Edge, "
    "constant graph.core.Node.Edge.to, method graph.core.Node.Edge.weight, type graph.core.Node.Color, "
    "constant graph.core.Node.count_, constant graph.core.Node.value_, constant graph.core.Node.edges_, "
    "method graph.core.Node.touch, constant graph.core.secret, function graph.core.hide, type graph.core.Plain, "
    "constant graph.core.Plain.x, method graph.core.Plain.y, method graph.core.Node.~Node, "
    "method graph.core.Plain.y, function local, function c_function, function c_other, function c_single, "
    "function main",
}
HIDDEN = {
    "python": {"__all__", "registry", "MODE", "DEPTH", "WIDTH", "HEIGHT", "COLOR", "greet.local", "_hidden"},
    "javascript": {"counter", "Queue.#jobs", "mix", "module.exports.helper.inner"},
    "go": {"first", "cache", "alias", "Server.unexported", "init", "init.local"},
    "java": {
        "Ledger.rows", "Ledger.a", "Ledger.touch", "Ledger.left", "Ledger.Entry", "Ledger.Entry.key",
        "Ledger.Point.zero", "Ledger.State", "Ledger.State.code", "Ledger.State.State", "Ledger.State.done",
        "Shape", "Shape.PI", "Shape.area", "Shape.label", "Marked", "Marked.value", "Marked.sizes",
    },
    "c": {"hidden", "buffer_name", "wait_for", "one_line"},
}  # fmt: skip


def outline(text, language):
    nodes = parsed_outline(text, language)
    if nodes is None:
        pytest.fail(f"not valid {language}: {text[:200]!r}")
    return nodes


def named(nodes, name):
    return next(node for node in walk(nodes) if node.name == name)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_file_has_these_definitions(language):
    found = [f"{node.kind} {node.name}" for node in walk(outline(TEXTS[language], language)) if node.name]
    assert found == DEFINED[language].split(", ")


@pytest.mark.parametrize("language", sorted(HIDDEN))
def test_what_is_declared_for_others_is_exported(language):
    nodes = [node for node in walk(outline(TEXTS[language], language)) if node.name]
    assert {node.name for node in nodes if not node.exported} == HIDDEN[language]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_nodes_partition_the_lines(language, ending):
    text = TEXTS[language].replace("\n", ending)
    assert not faults(text, outline(text, language))
    assert not faults(text.rstrip(), outline(text.rstrip(), language))


@pytest.mark.parametrize("language", LANGUAGES)
@given(random=st.randoms(use_true_random=False), ending=st.sampled_from(("\n", "\r\n")))
def test_what_is_left_can_be_parsed(language, random, ending):
    assert still_parses(TEXTS[language].replace("\n", ending), language, random) is None


@pytest.mark.parametrize("language", LANGUAGES)
def test_any_single_node_can_be_left_out(language):
    text = TEXTS[language]
    nodes = outline(text, language)
    for out in walk(nodes):
        left = without(text, nodes, lambda node, out=out: node is out, python=language == "python")
        assert parsed_outline(left, language) is not None, text[out.start : out.end]


@pytest.mark.parametrize("path", STANDARD_LIBRARY, ids=lambda path: path.stem)
def test_what_is_left_of_the_standard_library_is_python(path):
    text = path.read_text(encoding="utf-8")
    nodes = outline(text, "python")
    assert not faults(text, nodes)
    for seed in range(3):
        ast.parse(without(text, nodes, some_out(Random(seed)), python=True))


@pytest.mark.parametrize("path", [*STANDARD_LIBRARY, FOLDER / "service.py"], ids=lambda path: path.stem)
def test_definitions_of_python_are_those_that_python_finds(path):
    text = path.read_text(encoding="utf-8")
    lines = text.split("\n")
    kinds = (NodeKind.FUNCTION, NodeKind.METHOD, NodeKind.CLASS)
    nodes = [node for node in walk(outline(text, "python")) if node.kind in kinds]
    found = {(node.name, text.count("\n", 0, node.signature) + 1): node for node in nodes}
    expected = {(one.name, one.line): one for one in definitions(ast.parse(text))}
    assert set(found) <= set(expected)
    assert {key for key, one in expected.items() if one.is_direct} <= set(found)
    for key, node in found.items():
        one = expected[key]
        assert (node.kind is NodeKind.METHOD) == one.is_method
        first, last = text.count("\n", 0, node.start), text.count("\n", 0, node.end - 1) + 1
        assert first < one.first <= one.last <= last
        others = [*lines[first : one.first - 1], *lines[one.last : last]]
        assert all(not line.strip() or line.lstrip().startswith("#") for line in others)


class Definition(NamedTuple):
    name: str
    line: int
    first: int
    """Line of the first decorator."""
    last: int
    is_method: bool
    is_direct: bool
    """Whether it, and what it is in, stands in nothing but definitions."""


def definitions(tree, prefix="", *, in_class=False, is_direct=True):
    for part in ast.iter_child_nodes(tree):
        if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            is_class = isinstance(part, ast.ClassDef)
            first = min((decorator.lineno for decorator in part.decorator_list), default=part.lineno)
            name = f"{prefix}{part.name}"
            last = part.end_lineno or part.lineno
            yield Definition(name, part.lineno, first, last, in_class and not is_class, is_direct)
            yield from definitions(part, f"{name}.", in_class=is_class, is_direct=is_direct)
        elif isinstance(part, ast.stmt | ast.excepthandler):
            yield from definitions(part, prefix, in_class=in_class, is_direct=False)


def test_a_definition_comes_with_what_is_above_it():
    text = TEXTS["python"]
    nodes = outline(text, "python")
    service = named(nodes, "Service")
    assert text[service.start :].startswith("# says what the decorator is for\n@decorate(\n    a=1,\n)\n# between\n")
    assert text[service.signature :].startswith("class Service(Base")
    assert text[service.body :].startswith("    # before the docstring\n")
    assert service.children[0].kind is NodeKind.DOC
    assert service.tail == service.end
    greet = named(nodes, "greet")
    assert text[greet.signature : greet.body] == "def greet(name: str, /, *, loud: bool = False) -> str:\n\n"


@pytest.mark.parametrize(
    ("language", "name", "above", "signature"),
    [
        ("java", "Ledger.total", "    // the total\n    @Override\n", "    public long total("),
        ("rust", "Shape", "/// A shape.\n#[derive", "pub struct Shape"),
        ("typescript", "Store.load", "  @Input()\n  // between", "  async load<K"),
        ("go", "Server.Run", "// Run runs it.\n", "func (s *Server"),
        ("cpp", "graph.core.Node.edges", "  // its edges\n", "  const List<Edge>& edges()"),
    ],
)
def test_a_signature_comes_after_comments_and_attributes(language, name, above, signature):
    text = TEXTS[language]
    node = named(outline(text, language), name)
    assert text[node.start :].startswith(above)
    assert text[node.signature :].startswith(signature)


def test_a_statement_that_would_continue_another_stays_with_what_keeps_them_apart():
    text = "let a = b\nstop()\n;[1, 2].forEach(use)\nlet c = a\nstop();\n(function () {})()\nend()\n"
    pieces = [text[node.start : node.end] for node in outline(text, "javascript")]
    assert "stop();\n(function () {})()\n" in pieces
    assert "stop()\n;[1, 2].forEach(use)\n" in pieces
    ended = "let a = b;\nstop();\n(function () {})()\n"
    assert [ended[node.start : node.end] for node in outline(ended, "javascript")][1] == "stop();\n"


def test_a_type_of_python_has_a_name():
    (node,) = outline("type Names[T] = list[T]\n", "python")  # not yet in Python 3.11, so not in the fixture
    assert (node.kind, node.name) == (NodeKind.TYPE, "Names")


def test_what_shares_a_line_is_one_statement():
    for text in ("x = 1; y = 2\n", "def f(): pass\n", "if a: b()\n"):
        assert [node.body for node in outline(text, "python")] == [-1]
    (node,) = outline("int f(void) { return 1; } int g(void) {\n return 2;\n}\n", "c")
    assert (node.kind, node.body) == (NodeKind.STATEMENT, -1)
    (node,) = outline("function f(){a();b()}", "javascript")
    assert (node.kind, node.name, node.body) == (NodeKind.FUNCTION, "f", -1)


def test_what_shares_a_line_with_what_closes_a_body_belongs_to_that():
    text = "void f(void) { int a;\n  b();\n  c(\n    1); }\n"
    (node,) = outline(text, "c")
    assert text[node.signature : node.body] == "void f(void) { int a;\n"
    assert [text[child.start : child.end] for child in node.children] == ["  b();\n"]
    assert text[node.tail :] == "  c(\n    1); }\n"
    text = "try:\n    a()\n    b()\n    c()\n    d()\n    e()  # why\nexcept E:\n    pass\n"
    (node,) = outline(text, "python")
    assert (len(node.children), text[node.tail :]) == (5, "except E:\n    pass\n")


def test_every_node_in_a_body_of_python_holds_a_statement():
    text = "def f():\n    # alone\n\n    x = 1\n\n    # alone\n\n    # alone\n"
    (node,) = outline(text, "python")
    assert [text[child.start : child.end] for child in node.children] == [text[node.body :]]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("text", ["", "\n", " \r\n\n\t", "x = (\n", "\ufeff", "\0", "\ud800"])
def test_odd_texts_have_an_outline_or_none(language, text):
    nodes = parsed_outline(text, language)
    assert nodes is None or not faults(text, nodes)


@pytest.mark.parametrize("language", LANGUAGES)
@given(data=st.data())
def test_any_text_has_an_outline_or_none(language, data):
    lines = st.sampled_from([*TEXTS[language].splitlines(keepends=True), "}\n", "\n", "é 😀", "\r", "\x0c\n"])
    text = "".join(data.draw(st.lists(lines | st.text(max_size=4), max_size=12)))
    nodes = parsed_outline(text, language)
    assert nodes is None or not faults(text, nodes)


DEEP = 3_000
NESTED = {
    "python": "".join(" " * depth + "if a:\n" for depth in range(90)) + " " * 90 + "b\n",
    "javascript": "a(() => {\n" * DEEP + "})\n" * DEEP,
    "typescript": "declare " * DEEP + "const a = 1",
    "tsx": "if (a) {\nb()\n}" + " else if (a) {\nb()\n}" * DEEP,
    "java": "class A {\n" * DEEP + "}\n" * DEEP,
    "go": "func (t " + "*" * DEEP + "T) f() {\n}\n",
    "rust": "mod a {\n" * DEEP + "}\n" * DEEP,
    "c": "int " + "(" * DEEP + "f" + ")" * DEEP + "(void) {\nreturn;\n}\n",
    "cpp": "int " + "a::" * DEEP + "f() {\nreturn;\n}\n",
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_nested_deeply_is_not_cut_there(language):
    text = NESTED[language]
    assert not faults(text, outline(text, language))


def test_comments_that_the_grammar_would_look_through_again_and_again_have_no_outline():
    text = "def f():\n" + "  # a\n\n" * 100_000 + "  x\n"  # minutes, if nobody stopped it
    assert parsed_outline(text, "python") is None


def test_unknown_languages_have_no_outline():
    assert parsed_outline("x = 1\n", "cobol") is None


def test_without_its_grammar_a_language_has_no_outline(monkeypatch):
    monkeypatch.setitem(sys.modules, "tree_sitter_go", None)
    assert parsed_outline("package a\n", "go") is None


@pytest.mark.parametrize("release", ["0.25.2", "0.26.0"])
def test_a_release_that_crashes_the_interpreter_is_not_asked(release, tmp_path):
    folder = tmp_path / f"tree_sitter-{release}.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: tree-sitter\nVersion: {release}\n")
    code = f"from {grammars.__name__} import parsed_outline; print(parsed_outline('a = 1\\n', 'python'))"
    paths = os.pathsep.join([str(tmp_path), *sys.path])
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ | {"PYTHONPATH": paths}
    )
    assert done.stdout.strip() == "None"


def test_no_grammar_is_loaded_before_it_is_needed():
    loaded = "[name for name in sys.modules if name.startswith('tree_sitter')]"
    code = f"import sys; import {grammars.__name__}; print({loaded})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
