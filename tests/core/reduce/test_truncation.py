"""Long texts keep their head, their tail and what matters most, in whole lines or sentences; code still parses."""

import ast
import re
import sysconfig
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ctxcompress.code.elision import PROSE, marks_for
from ctxcompress.code.line_outline import line_outline
from ctxcompress.data.passages import inverse, shown, walk
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


# What is not cut


@given(text=st.text(max_size=60))
def test_what_is_short_enough_stays_as_it_is(text):
    for cut in (truncated(text, (), 60, marker=PYTHON), truncated_prose(text, segment(text), 60)):
        assert text_of(text, cut) == text
        assert not cut.gaps


@pytest.mark.parametrize(
    "text",
    [
        "x = 1\n" * 10_000,
        "def f():\n    pass\n" * 4_000,
        " " * 100_000 + "x = 1\n" + "y = 2\n" * 1_000,
        "class A:\n" + "    def f(self):\n        return 1\n" * 3_000,
        "word. " * 10_000,
    ],
    ids=["statements", "functions", "indentation", "methods", "sentences"],
)
def test_long_texts_end(text):
    cut = truncated(text, outline(text, "a.py"), 2_000, marker=PYTHON, importance=naming("f", "word"))
    assert len(text_of(text, cut)) <= 2_000


@pytest.mark.parametrize(
    "text",
    [
        "const a = 1;\n" * 9 + "export a" + " " * 50_000 + "b\n",
        "exports" + " " * 50_000 + "b\n",
        "export {" + "a" * 50_000 + "\n",
        "export {\n" * 5_000,
        "/* a\n" * 10_000 + "export a\n",
        "import a from 'b';\n" * 3_000,
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
