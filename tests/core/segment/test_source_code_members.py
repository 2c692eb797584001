"""Members of objects, calls and classes, and the comments above them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from source_parsing import parses

from ctxcompress import Passage, compress
from ctxcompress.data.passages import NodeKind
from ctxcompress.segment.formats import segment

MEMBERS = "".join(f"  load{n}(x) {{\n    return fetch('/load/{n}', x);\n  }},\n" for n in range(20))
PARAGRAPH = "/// Words about the thing that it does, at length and with care for the reader.\n" * 4
FUNCTION = "#[inline]\npub fn run(x: u8) -> u8\nwhere\n    u8: Copy,\n{\n    x + 1\n}\n"
OBJECTS = {
    "a named object": (f"const api = {{\n{MEMBERS}}};\n", ("api", "load7")),
    "an exported object": (f"module.exports = {{\n{MEMBERS}}};\n", ("load7",)),
    "an object in a call": (f"Vue.component('x', {{\n{MEMBERS}}});\n", ("load7",)),
    "a default export": (f"export default {{\n{MEMBERS}}};\n", ("load7",)),
}


def parts(text, name):
    return [(item.unit, item.heading, text[item.start : item.end]) for item in segment(text, name=name)]


@pytest.mark.parametrize("name", OBJECTS)
def test_a_function_in_an_object_is_a_segment_with_a_name(name):
    text, heading = OBJECTS[name]
    found = [item for item in parts(text, "a.js") if "load7" in item[2]]
    assert [(item[1], item[2]) for item in found] == [
        (heading, "  load7(x) {\n    return fetch('/load/7', x);\n  },\n")
    ]
    assert found[0][0] in (NodeKind.FUNCTION, NodeKind.METHOD)


@given(st.integers(1, 5), st.booleans())
def test_a_long_comment_is_cut_and_the_function_stands_without_it(paragraphs, is_block):
    comment = "///\n".join([PARAGRAPH] * paragraphs)
    if is_block:
        comment = "/**\n" + comment.replace("///", " *") + " */\n"
    text = f"use a::b;\n\n{comment}{FUNCTION}\nfn other() {{\n    run(1);\n}}\n"
    segments = segment(text, name="a.rs")
    (function,) = [item for item in segments if item.unit is NodeKind.FUNCTION and item.heading == ("run",)]
    assert text[function.start : function.end].rstrip().endswith(FUNCTION.rstrip())
    assert (text[function.start : function.end] == f"{FUNCTION}\n") == (len(comment) > 500)
    docs = [item for item in segments if item.unit is NodeKind.DOC]
    assert function.needs == ()
    assert all(segments.index(function) in item.needs and item.heading == ("run",) for item in docs)
    assert all(item.end - item.start <= 500 for item in docs)


def test_what_is_kept_of_a_block_comment_is_a_comment():
    lines = "   * Words about the thing number {} that it does, at length and with care for the reader.\n"
    comment = "   *\n".join("".join(lines.format(n) for _ in range(4)) for n in range(6))
    text = f"class A {{\n  /**\n{comment}   */\n  @Override\n  int run(int x) {{\n    return x;\n  }}\n}}\n"
    kept = compress("thing number 3", [Passage("a", text, file_path="A.java")], max_tokens=140).text
    assert "number 3" in kept
    assert "number 5" not in kept
    assert kept.count("/**") == kept.count("*/") == 1
    assert parses(kept, "java")


def test_headings_name_the_receiver_and_the_type():
    go = "package a\n\nfunc (e *Engine) Run() error {\n\treturn nil\n}\n"
    body = '        write!(f, "{}", self.name)?;\n' * 8
    rust = f"impl Display for Shape {{\n    fn fmt(&self) -> Result {{\n{body}        Ok(())\n    }}\n}}\n"
    assert ("Engine", "Run") in {item[1] for item in parts(go, "a.go")}
    assert ("Shape", "fmt") in {item[1] for item in parts(rust, "a.rs")}
