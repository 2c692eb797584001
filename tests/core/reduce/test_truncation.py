"""Long texts keep their head, their tail and what matters most, in whole lines or sentences; code still parses."""

import ast
import re
import sysconfig
from pathlib import Path

import pytest
from accounts import assert_partition
from hypothesis import given
from hypothesis import strategies as st

from ctxcompress import Passage, compress
from ctxcompress.data.passages import walk
from ctxcompress.segment.formats import segment
from ctxcompress.segment.source_code import outline

LIBRARY = Path(sysconfig.get_path("stdlib"))
MODULES = ["textwrap", "argparse", "queue", "difflib", "enum"]


def cut(text, most, query="", name=None):
    """What is left of a text that is cut to a length."""
    options = {"max_length": most, "max_tokens": 1_000_000, "encoding": len}
    (kept,) = compress(query, [Passage("a", text, file_path=name)], **options).passages
    return kept


def assert_whole_lines(kept):
    text = kept.original.text
    for start, end in kept.spans:
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


@given(text=modules, most=st.integers(100, 300), asked=NAMES)
def test_code_that_parses_still_does_whatever_is_asked(text, most, asked):
    ast.parse(text)
    kept = cut(text, most, asked, "a.py")
    longest = max((node.end - node.start for node in walk(outline(text, "a.py")) if not node.children), default=0)
    if text.strip() and longest < most / 3:
        assert len(kept.text) <= most or kept.text == text
        assert_whole_lines(kept)
        ast.parse(kept.text)


@pytest.mark.parametrize("name", MODULES)
@pytest.mark.parametrize("most", [300, 2_000])
def test_modules_of_the_library_still_parse(name, most):
    text = (LIBRARY / f"{name}.py").read_text(encoding="utf-8")
    for query in ("", "the path of the result to close"):
        kept = cut(text, most, query, f"{name}.py")
        assert len(kept.text) <= most
        assert_whole_lines(kept)
        ast.parse(kept.text)


# Prose

WORDS = st.sampled_from("The a server waits isé你好 timeout 3.14 ภาษา 👩\u200d👧 e\u0301te\u0301".split())
SENTENCES = st.lists(WORDS, min_size=1, max_size=9).map(lambda words: " ".join(words) + ". ")
PROSE_TEXTS = st.lists(st.one_of(SENTENCES, st.just("\n\n"), st.just("# Heading\n\n")), min_size=3, max_size=60).map(
    "".join
)


@given(text=PROSE_TEXTS, most=st.integers(150, 400), asked=WORDS)
def test_prose_is_cut_between_segments(text, most, asked):
    kept = cut(text, most, asked)
    segments = segment(text)
    ends = {start + len(text[start:end].rstrip()) for _, start, end, *_ in segments}
    if len(text) > most and all(end - start < most / 3 for _, start, end, *_ in segments):
        assert len(kept.text) <= most
        assert all(len(text[:end].rstrip()) in ends for _, end in kept.spans)


@given(text=st.text(alphabet="ab \n\r\t字é\u0301.#`|-\u2028", max_size=600), name=st.sampled_from([None, "a.py"]))
def test_whatever_the_text_no_word_is_cut(text, name):
    for offset in {offset for span in cut(text, 100, name=name).spans for offset in span} - {0, len(text)}:
        assert not re.fullmatch(r"[a-z]{2}", text[offset - 1 : offset + 1])


def test_a_fence_is_not_cut_open():
    fence = "```python\n" + "print('one line of the code that nobody cuts')\n" * 20 + "```"
    for text in (fence, f"Before it. {'More of it. ' * 9}\n\n{fence}\n\n{'After it. ' * 9}"):
        left = cut(text, 300).text
        assert left.count("```") in (0, 2)
        assert all(" ".join(part.split()) in " ".join(text.split()) for part in left.split("[…]"))


def test_the_sentence_that_is_asked_for_is_kept_between_head_and_tail():
    filler = [f"Sentence number {n} says nothing of interest here." for n in range(100)]
    filler[47] = "The timeout is ninety seconds."
    left = cut(" ".join(filler), 1_000, "timeout").text
    assert left.startswith("Sentence number 0 ")
    assert left.endswith(filler[-1])
    assert " […] The timeout is ninety seconds. […] " in left


LONG = {
    "statements": "x = 1\n" * 10_000,
    "indentation": " " * 100_000 + "x = 1\n" + "y = 2\n" * 1_000,
    "methods": "class A:\n" + "    def f(self):\n        return 1\n" * 3_000,
    "sentences": "word. " * 10_000,
}


@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_long_texts_end(text):
    assert len(cut(text, 2_000, "f word", "a.py").text) <= 2_000


DATA = {
    "a.xml": "<shop>\n" + "".join(f"  <item id='{n}'><name>Lyon {n}</name></item>\n" for n in range(12)) + "</shop>\n",
    "a.yaml": "orders:\n" + "".join(f"  - id: {n}\n    city: Lyon {n}\n" for n in range(12)),
    "a.csv": "id,name\n" + "".join(f"{n},Lyon {n}\n" for n in range(30)),
}


@pytest.mark.parametrize("name", DATA)
def test_data_is_cut_between_records_without_a_marker(name):
    kept = cut(DATA[name], 150, name=name)
    assert 20 < len(kept.text) <= 150
    assert not kept.markers
    assert set(kept.text.split("\n")) <= set(DATA[name].split("\n"))


def test_each_character_between_two_gaps_in_a_page_is_dropped_once():
    page = (
        "<m>/h1>>|| and pool don't. It /b>.<table><tr><td></><td>2><tr><td>Server pool Client.get no; 2024-05/td>"
        "<td>3<tr><>no; request_/tr></table"
    )
    result = compress("pool '默认' || 2024-05-17'", [page], max_length=100)
    assert len(result.dropped[0].spans) > 3
    assert_partition(result, [page])
