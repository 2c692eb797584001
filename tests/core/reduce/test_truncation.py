"""Long texts keep their head, their tail and what matters most, in whole lines or sentences; code still parses."""

import ast
import re
import sysconfig
from pathlib import Path

import pytest
import scripts
from hypothesis import example, given
from hypothesis import strategies as st
from python_outline import python_outline
from source_parsing import parses

from ctxcompress.code.detection import source_language
from ctxcompress.code.elision import PROSE, marks_for
from ctxcompress.code.line_outline import line_outline
from ctxcompress.data.passages import Gap, Marker, Node, NodeKind, Span, inverse, markers_for, merged, shown, walk
from ctxcompress.reduce.truncation import truncated, truncated_prose
from ctxcompress.segment.segments import segment
from ctxcompress.segment.source_code import outline

PYTHON = marks_for("python")
LIBRARY = Path(sysconfig.get_path("stdlib"))
MODULES = ["textwrap", "argparse", "queue", "statistics", "difflib", "calendar", "shelve", "zipfile", "ast", "enum"]


def text_of(text, cut):
    return shown(text, cut.spans, cut.markers)


def naming(*words):
    """How many of the words a text has."""
    return lambda text: float(sum(word in re.findall(r"\w+", text) for word in words))


def assert_cut(text, cut, most):
    """Ascending, disjoint spans, gaps where they are not, and not too much."""
    ends = 0
    for start, end in cut.spans:
        assert ends <= start < end <= len(text)
        ends = end
    assert len(text_of(text, cut)) <= most
    for start, end in inverse(cut.spans, len(text)):
        left_out = any(gap.start <= start and end <= gap.end + len(gap.separator) for gap in cut.gaps)
        assert left_out or not text[start:end].strip()


def assert_whole_lines(text, cut):
    for start, end in cut.spans:
        assert not text[end:].partition("\n")[0].strip()
        before = text[:start].rpartition("\n")[2] if not text[start:end].startswith(("\n", "\r\n")) else ""
        assert not before.strip()


# Code

NAMES = st.sampled_from("read write close _open _left _right Future Pool start stop".split())
COMMENTS = st.sampled_from(["", "# Why this is so.\n", "#: said\n\n", "\n"])
STATEMENTS = st.sampled_from(
    [
        "x = 1\n", "pass\n", "return_ = (\n    1,\n\n    2)\n", "for i in y:\n    print(i)\n", "y = '''a\n  b\n'''\n",
        "try:\n    f()\nexcept ValueError:\n    # nothing\n    pass\n", "match x:\n    case 1:\n        pass\n",
        '"""A string of its own."""\n', "if x:\n    pass\nelse:\n    z()\n", "del x; y = 2\n",
    ]
)  # fmt: skip


def indented(code):
    """Two spaces before each line that is not blank and not in a string."""
    return "".join("  " + line if line.strip() and line != "  b\n" else line for line in code.splitlines(keepends=True))


def defined(head, name, above, below, body):
    return f"{above}{head.format(name)}{indented(below + ''.join(body))}\n"


def blocks(inner):
    heads = st.sampled_from(
        ["def {}(self, a=(1, 2)):\n", "class {}(object):\n", "@one\n@two(3)\nasync def {}(\n  a\n):\n"]
    )
    bodies = st.lists(st.one_of(STATEMENTS, inner), min_size=1, max_size=4)
    return st.builds(defined, heads, NAMES, COMMENTS, COMMENTS, bodies)


modules = st.lists(st.recursive(STATEMENTS, blocks, max_leaves=12), min_size=1, max_size=8).map("".join)


@given(text=modules, most=st.integers(20, 300), asked=NAMES)
def test_code_that_parses_still_does_whatever_is_asked(text, most, asked):
    ast.parse(text)
    nodes = outline(text, "a.py")
    cut = truncated(text, nodes, most, marker=PYTHON, importance=naming(asked))
    assert_cut(text, cut, most)
    longest = max((node.end - node.start for node in walk(nodes) if not node.children), default=0)
    if nodes and longest < most / 3:
        assert_whole_lines(text, cut)
        ast.parse(text_of(text, cut))


@pytest.mark.parametrize("name", MODULES)
@pytest.mark.parametrize("most", [300, 1_000, 2_000, 8_000])
def test_modules_of_the_library_still_parse(name, most):
    text = (LIBRARY / f"{name}.py").read_text(encoding="utf-8")
    nodes = outline(text, f"{name}.py")
    for importance in (naming(), naming("result", "close", "path")):
        cut = truncated(text, nodes, most, marker=PYTHON, importance=importance)
        assert_cut(text, cut, most)
        assert_whole_lines(text, cut)
        ast.parse(text_of(text, cut))


@given(data=st.data(), name=st.sampled_from(MODULES), most=st.integers(100, 2_000))
def test_chunks_that_begin_and_end_anywhere(data, name, most):
    text = (LIBRARY / f"{name}.py").read_text(encoding="utf-8")
    start = data.draw(st.integers(0, len(text) - 1))
    text = text[start : start + data.draw(st.integers(most, 8_000))]
    cut = truncated(text, outline(text, "a.py"), most, marker=PYTHON, importance=naming("self"))
    assert_cut(text, cut, most)
    assert cut.spans


def test_a_chunk_can_begin_with_a_body():
    text = (
        "\n            return found\n        except KeyError:\n            pass\n\n    def next(self):\n"
        + "        go()\n" * 99
    )
    nodes = (Node(NodeKind.STATEMENT, 0, len(text), body=1, tail=len(text)),)
    assert_cut(text, truncated(text, nodes, 300, marker=PYTHON), 300)
    assert_cut(text, truncated(text, outline(text, "a.py"), 300, marker=PYTHON), 300)


@pytest.mark.parametrize("name", MODULES)
def test_an_outline_of_the_parser_itself_will_do(name):
    text = (LIBRARY / f"{name}.py").read_text(encoding="utf-8")
    nodes = python_outline(text)
    cut = truncated(text, nodes, 2_000, marker=PYTHON)
    assert_cut(text, cut, 2_000)
    kept = {node.name for node in ast.parse(text_of(text, cut)).body if hasattr(node, "name")}
    public = {node.name for node in ast.parse(text).body if hasattr(node, "name") and not node.name.startswith("_")}
    assert len(kept & public) >= 0.9 * len(public)


def test_public_signatures_come_before_private_ones_and_from_everywhere():
    text = "".join(f"def {'_' * (n % 2)}function_{n}(argument):\n    return {n}\n\n\n" for n in range(400))
    cut = truncated(text, outline(text, "a.py"), 2_000, marker=PYTHON)
    numbers = [int(found) for found in re.findall(r"function_(\d+)", text_of(text, cut))]
    assert len(numbers) > 30
    assert all(number % 2 == 0 for number in numbers)
    assert {number // 50 for number in numbers} == set(range(8))


def test_what_the_question_names_is_kept_with_its_body():
    body = "".join(f"    value = value + {n}\n" for n in range(10))
    text = "".join(f"def function_{n}(value):\n{body}    return value\n\n\n" for n in range(60))
    cut = truncated(text, outline(text, "a.py"), 2_000, marker=PYTHON, importance=naming("function_37"))
    assert f"def function_37(value):\n{body}    return value" in text_of(text, cut)


def test_of_a_text_a_little_too_long_the_head_and_the_tail_stay():
    text = "".join(f"value_{n:03} = compute({n})\n" for n in range(100))
    cut = truncated(text, outline(text, "a.py"), 1_500, marker=PYTHON)
    left = text_of(text, cut)
    assert left.startswith(text[:440])
    assert left.endswith(text[-440:].rstrip())


def test_braces_are_closed_and_marked_by_comments_of_the_language():
    functions = "".join(f"export function f{n}(a) {{\n  const b = a + {n};\n  return b;\n}}\n\n" for n in range(60))
    text = f"export class Store {{\n  get(key) {{\n    return this.map[key];\n  }}\n}}\n\n{functions}"
    left = text_of(text, truncated(text, outline(text, "a.js"), 2_000, marker=marks_for("javascript")))
    assert left.count("{") == left.count("}")
    assert "export function f0(a) {\n  // ...\n}\n" in left
    assert "export class Store {" in left


@pytest.mark.parametrize(
    ("name", "text", "most", "signature"),
    [
        ("orders.ts", scripts.typescript(), 2_250, "export async function {0}("),
        ("orders.js", scripts.javascript(), 2_000, "async function {0}("),
        ("orders.tsx", scripts.tsx(), 2_250, "export const {0} = ("),
    ],
)
def test_of_a_script_exported_functions_imports_and_exports_come_before_types(name, text, most, signature):
    language = source_language(text, name)
    cut = truncated(text, outline(text, name), most, marker=marks_for(language))
    left = text_of(text, cut)
    functions = [name[0].upper() + name[1:] if language == "tsx" else name for name in scripts.FUNCTIONS]
    assert [name for name in functions if f"\n{signature.format(name)}" not in left] == []
    assert left.count("import ") + left.count("require(") >= 5
    assert "export default " in left or "module.exports = {" in left
    assert_cut(text, cut, most)
    assert_whole_lines(text, cut)
    assert parses(left, language)


def test_the_exports_of_a_script_are_those_it_lists():
    function = "function {0}(a) {{\n  return run(a, 1);\n}}\n\n"
    functions = "".join(function.format(f"f{n}") for n in range(80))
    for ending in ("export { f70, f71 as other };", "export default f70;\nexport { f71 };",
                   "exports = module.exports = { f70, other: f71 };"):  # fmt: skip
        text = f"{functions}{ending}\n"
        left = text_of(text, truncated(text, outline(text, "a.js"), 400, marker=marks_for("javascript")))
        assert "function f70(a) {" in left
        assert "function f71(a) {" in left
        assert left.endswith(ending)


def test_a_file_that_exports_nothing_shows_its_functions_from_everywhere():
    text = "".join(f"function f{n}(a) {{\n  return run(a, {n});\n}}\n\n" for n in range(80))
    left = text_of(text, truncated(text, outline(text, "a.js"), 800, marker=marks_for("javascript")))
    assert {int(n) // 10 for n in re.findall(r"function f(\d+)", left)} == set(range(8))


@pytest.mark.parametrize(
    "comment", ["/**\n * One.\n *\n * @param a that\n */\n", "/*\nOne.\n\nTwo()\n*/\n", "// One.\n//\n// Two.\n"]
)
def test_of_a_comment_nothing_is_left_or_all(comment):
    text = "".join(f"{comment}export function f{n}(a) {{\n  return run(a, {n});\n}}\n\n" for n in range(80))
    left = text_of(text, truncated(text, outline(text, "a.js"), 800, marker=marks_for("javascript")))
    assert parses(left, "javascript")
    assert left.count("function") > 12


def test_a_statement_whose_body_is_left_out_goes_with_it():
    case = "    case {0}:\n" + "        act({0})\n" * 40
    text = "x = 1\n" * 20 + "match x:\n" + case.format(1) + case.format(2) + "y = 2\n" * 20
    begin, body = text.index("match"), text.index("    case 1")
    second, end = text.index("    case 2"), text.index("y = 2")
    cases = (Node(NodeKind.STATEMENT, body, second), Node(NodeKind.STATEMENT, second, end))
    lines = [Node(NodeKind.STATEMENT, at, at + 6) for at in (*range(0, begin, 6), *range(end, len(text), 6))]
    match = Node(NodeKind.STATEMENT, begin, end, body=body, tail=end, children=cases)
    cut = truncated(text, (*lines[:20], match, *lines[20:]), 300, marker=PYTHON, importance=naming("match"))
    assert "match" not in text_of(text, cut)
    ast.parse(text_of(text, cut))


def test_a_body_has_its_marker_only_below_its_signature():
    gap = Gap(10, 20, "    ...", "\n", "    # ...")
    assert markers_for([Span(0, 10), Span(20, 30)], [gap]) == (Marker(1, "\n    ..."),)
    assert markers_for([Span(0, 5), Span(20, 30)], [gap]) == (Marker(1, "\n    # ..."),)
    assert markers_for([Span(0, 10)], [gap]) == (Marker(1, "\n    ..."),)
    assert markers_for([Span(0, 5)], [gap]) == markers_for([], [gap]) == ()
    assert markers_for([Span(20, 30)], [gap]) == (Marker(0, "    ...\n"),)


def test_of_two_markers_in_a_place_the_one_for_a_body_stays():
    body, comment = Marker(1, "\n    ..."), Marker(1, "\n    # ...")
    assert merged([comment], [body]) == merged([body], [comment]) == (body,)
    assert merged([Marker(2, "x")], [comment]) == (comment, Marker(2, "x"))


def test_windows_line_ends_stay():
    text = "".join(f"def function_{n}(value):\r\n    value += 1\r\n    return value\r\n\r\n" for n in range(60))
    left = text_of(text, truncated(text, outline(text, "a.py"), 800, marker=PYTHON))
    assert "\n" not in left.replace("\r\n", "")
    ast.parse(left)


def test_without_an_outline_lines_that_define_something_are_kept():
    lines = [f"line {n} of something" for n in range(200)]
    lines[100] = "export class Something"
    text = "\n".join(lines)
    left = text_of(text, truncated(text, (), 1_000, marker=marks_for("")))
    assert left.startswith("line 0 ")
    assert left.endswith("line 199 of something")
    assert "\nexport class Something" in left
    assert "\n// ...\n" in left


# Prose

WORDS = st.sampled_from("The a server waits é你好 timeout 3.14 ภาษา 👩\u200d👧 e\u0301te\u0301".split())
SENTENCES = st.lists(WORDS, min_size=1, max_size=9).map(lambda words: " ".join(words) + ". ")
PROSE_TEXTS = st.lists(st.one_of(SENTENCES, st.just("\n\n"), st.just("# Heading\n\n")), min_size=3, max_size=60).map(
    "".join
)


@given(text=PROSE_TEXTS, most=st.integers(30, 400), asked=WORDS)
def test_prose_is_cut_between_segments(text, most, asked):
    segments = segment(text)
    cut = truncated_prose(text, segments, most, importance=naming(asked))
    assert_cut(text, cut, most)
    ends = {start + len(text[start:end].rstrip()) for _, start, end, *_ in segments}
    longest_marks = 2 * len("\n\n[…]\n\n")
    if len(text) > most and any(
        text[start:end].strip() and end - start + longest_marks <= most for _, start, end, *_ in segments
    ):
        assert all(end in ends for _, end in cut.spans)


@given(text=st.text(alphabet="ab \n\r\t字é\u0301.#`|-\u2028", max_size=400), most=st.integers(10, 100))
@example(text="`" * 11, most=10)
def test_whatever_the_text_no_word_is_cut(text, most):
    for cut in (
        truncated_prose(text, segment(text), most),
        truncated(text, outline(text, "a.py"), most, marker=PYTHON),
    ):
        if cut.spans or not text.strip():
            assert_cut(text, cut, most)
        else:  # no word fits: the caller keeps such a text whole
            assert all(len(word) + len(PROSE.gap) > most for word in text.split())
        for offset in {offset for span in cut.spans for offset in span} - {0, len(text)}:
            assert not re.fullmatch(r"[a-z]{2}", text[offset - 1 : offset + 1])


def test_the_sentence_that_is_asked_for_is_kept_between_head_and_tail():
    filler = [f"Sentence number {n} says nothing of interest here." for n in range(100)]
    filler[47] = "The timeout is ninety seconds."
    text = " ".join(filler)
    left = text_of(text, truncated_prose(text, segment(text), 1_000, importance=naming("timeout")))
    assert left.startswith("Sentence number 0 ")
    assert left.endswith(filler[-1])
    assert " […] The timeout is ninety seconds. […] " in left


def test_a_row_of_a_table_keeps_its_header():
    text = "| name | value |\n|---|---|\n" + "".join(f"| option_{n} | {n} |\n" for n in range(200))
    text = "Some words come first. " * 30 + "\n\n" + text
    left = text_of(text, truncated_prose(text, segment(text), 500, importance=naming("option_150")))
    assert "| name | value |\n|---|---|" in left
    assert "\n| option_150 | 150 |" in left


# What is not cut


@given(text=st.text(max_size=60))
def test_what_is_short_enough_stays_as_it_is(text):
    for cut in (truncated(text, (), 60, marker=PYTHON), truncated_prose(text, segment(text), 60)):
        assert text_of(text, cut) == text
        assert not cut.gaps


def test_a_word_that_is_too_long_is_not_cut():
    cut = truncated_prose("x" * 500, segment("x" * 500), 100)
    assert cut.spans == ()
    assert cut.markers == ()


@pytest.mark.parametrize(
    "text",
    [
        "x = 1\n" * 50_000,
        "def f():\n    pass\n" * 12_000,
        " " * 100_000 + "x = 1\n" + "y = 2\n" * 1_000,
        "class A:\n" + "    def f(self):\n        return 1\n" * 8_000,
        "word. " * 50_000,
    ],
    ids=["statements", "functions", "indentation", "methods", "sentences"],
)
def test_long_texts_end(text):
    cut = truncated(text, outline(text, "a.py"), 2_000, marker=PYTHON, importance=naming("f", "word"))
    assert len(text_of(text, cut)) <= 2_000


@pytest.mark.parametrize(
    "text",
    [
        "const a = 1;\n" * 9 + "export a" + " " * 200_000 + "b\n",
        "exports" + " " * 200_000 + "b\n",
        "export {" + "a" * 200_000 + "\n",
        "export {\n" * 20_000,
        "/* a\n" * 40_000 + "export a\n",
        "import a from 'b';\n" * 10_000,
    ],
    ids=["spaces", "spaces before", "a name", "open lists", "open comments", "imports"],
)
def test_long_scripts_end(text):
    cut = truncated(text, line_outline(text, "javascript"), 2_000, marker=marks_for("javascript"))
    assert len(text_of(text, cut)) <= 2_000


# What a module exports

IMPORTS = "import { Request } from 'express';\nimport type { Logger } from './logger';\n"


def script(exports):
    """Twenty functions with an interface and a type each, which are exported as `exports` says."""
    own = "export " if exports == "declared" else ""
    parts = [
        f"interface Options{n} {{\n  name: string;\n  value?: number;\n}}\n\n"
        f"type Handler{n} = (options: Options{n}) => void;\n\n"
        f"{own}async function load{n}(request: Request, options: Options{n}): Promise<string> {{\n"
        f"  const found = await store.get(request.id, options.value);\n  return found.name + '{n}';\n}}\n\n"
        for n in range(20)
    ]
    names = ", ".join(f"load{n}" for n in range(20))
    last = {
        "declared": "export default app;",
        "listed": f"export {{ {names} }};",
        "module.exports": f"module.exports = {{ {names} }};",
    }[exports]
    return f"{IMPORTS}\n{''.join(parts)}function helper(x: number) {{\n  return x * 2;\n}}\n\n{last}\n"


@pytest.mark.parametrize("exports", ["declared", "listed", "module.exports"])
@pytest.mark.parametrize("name", ["a.ts", "a.tsx"])
def test_exported_functions_imports_and_the_default_export_come_before_stubs_of_interfaces(exports, name):
    text = script(exports)
    cut = truncated(text, outline(text, name), 2_000, marker=marks_for("typescript"))
    assert_cut(text, cut, 2_000)
    kept = text_of(text, cut)
    assert kept.startswith(IMPORTS.rstrip())
    assert text.rstrip().splitlines()[-1] in kept
    assert len(set(re.findall(r"function (load\d+)", kept))) >= 14
    assert kept.count("interface ") <= 3


def test_types_and_what_is_not_exported_come_after_the_exported_functions():
    text = script("declared").replace("interface Options3", "export interface Options3")
    cut = truncated(text, outline(text, "a.ts"), 3_600, marker=marks_for("typescript"))
    kept = text_of(text, cut)
    assert len(set(re.findall(r"function (load\d+)", kept))) == 20
    assert "export interface Options3 {" in kept
