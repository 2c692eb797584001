"""What the lines tell of each language: definitions, their names, and whose they are."""

from pathlib import Path

import pytest
from outline_faults import faults

from ctxcompress.code.detection import source_language
from ctxcompress.code.line_outline import line_outline
from ctxcompress.data.passages import NodeKind, walk

FOLDER = Path(__file__).parent
DEFINES = frozenset((NodeKind.FUNCTION, NodeKind.METHOD, NodeKind.CLASS, NodeKind.TYPE, NodeKind.NAMESPACE))
NAMES = {
    "fixtures/Ledger.java": "Ledger Ledger.Ledger Ledger.total Ledger.Entry Ledger.Entry.key Ledger.Point "
    "Ledger.Point.zero Ledger.State Ledger.State.State Ledger.State.done Shape Shape.label Marked",
    "fixtures/buffer.c": "plain state both buffer_open",
    "fixtures/graph.cpp": "graph.core graph.core.Forward graph.core.Node graph.core.Node.as graph.core.Node.Edge "
    "graph.core.Node.Edge.weight graph.core.Node.Color graph.core.Plain graph.core.Node.~Node graph.core.Plain.y main",
    "fixtures/server.go": "Server Handler Server.Run Server.unexported Map init init.local",
    "fixtures/service.py": "Service Service.__init__ Service.size Service.Inner Service.Inner.Deep "
    "Service.Inner.Deep.method Service.Inner.other greet _hidden",
    "fixtures/shapes.rs": "other Shape Unit Kind Weigh Weigh.Output Weigh.weigh Weigh.twice Shape Shape.new Shape.walk "
    "Shape Shape.fmt square tests tests.weighs tests.weighs.inner",
    "samples/actor.swift": "A A.init A.make A.go",
    "samples/bar.kt": "Foo.bar A A.go A.constructor",
    "samples/build.sh": "build deploy",
    "samples/builder.rb": "A A.B A.B.build A.B.run",
    "samples/component.ts": "A A.go A.constructor A.find default",
    "samples/controller.cs": "A.B A.B.C A.B.C.C A.B.C.Get",
    "samples/maker.php": "A A.make A.foo",
    "samples/router.js": "Router._optionsFor data load drop-all Foo Foo.secret Foo.size Foo.handle inner "
    "request.onload",
    "samples/users.sql": "users f",
}


@pytest.mark.parametrize("name", NAMES)
def test_definitions_are_found_with_whose_they_are_and_chunks_that_begin_anywhere_are_partitioned(name):
    text = (FOLDER / name).read_text(encoding="utf-8")
    language = source_language(text, name)
    nodes = line_outline(text, language)
    assert [node.name for node in walk(nodes) if node.kind in DEFINES and node.name] == NAMES[name].split()
    for start in range(0, len(text), 37):
        assert not faults(text[start:], line_outline(text[start:], language))


@pytest.mark.parametrize("language", ["javascript", "java", "rust"])
def test_many_open_brackets_take_no_longer(language):
    text = "f({\n" * 20_000 + "}" * 20_000
    assert not faults(text, line_outline(text, language))
    text = "where\n" * 20_000 + "#[a] " * 20_000 + "(" * 20_000
    assert not faults(text, line_outline(text, language))
