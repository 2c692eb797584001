"""Source code in, source code out: what is kept of it parses if it did before, and says where something is missing."""

import ast
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from source_parsing import parses

from ctxcompress import CompressionConfig, Compressor, Passage, compress
from ctxcompress.code.detection import source_language
from ctxcompress.data.passages import shown

FIXTURES = Path(__file__).parent / "fixtures"
FILES = {path.name: path.read_text(encoding="utf-8") for path in FIXTURES.iterdir()}
LIBRARY = sorted(Path(ast.__file__).parent.glob("[a-c]*.py"))[::8]

SHELVES = '''import json
import time


class Shelf:
    """Books that stand together."""

    def __init__(self, name):
        self.name = name

    def put(self, book):
        """Puts a book at the end."""
        self.check(book)
        self.books.append(book)
        self.changed = time.time()
        self.notify_all_readers_of_the_change(book, self.name, "has been put", self.changed)
        return len(self.books)

    def save(self, path):
        path.write_text(json.dumps(self.books))


def oldest(shelves):
    return min(shelves)
'''


def chunks(text, size):
    """As a splitter makes them that cuts between lines."""
    found = [""]
    for line in text.splitlines(keepends=True):
        if found[-1] and len(found[-1]) + len(line) > size:
            found.append("")
        found[-1] += line
    return found


def passages(texts, name):
    return [Passage(str(n), text, file_path=name) for n, text in enumerate(texts)]


@pytest.mark.parametrize("name", FILES)
@given(random=st.randoms(use_true_random=False), budget=st.integers(40, 500), crlf=st.booleans())
def test_what_is_kept_of_a_file_can_be_parsed(name, random, budget, crlf):
    text = FILES[name].replace("\n", "\r\n") if crlf else FILES[name]
    words = [word for word in text.replace("_", " ").split() if word.isalpha()]
    result = compress(" ".join(random.choices(words, k=4)), passages([text], name), max_tokens=budget)
    assert result.tokens <= budget
    # A statement is only cut in two where nothing else fits.
    if budget >= 150:
        assert parses(result.text, source_language(text, name))


@pytest.mark.parametrize("path", LIBRARY, ids=lambda path: path.name)
@pytest.mark.parametrize("size", [None, 1_500])
def test_what_is_kept_of_the_standard_library_is_python(path, size):
    text = path.read_text(encoding="utf-8")
    given = passages([text] if size is None else chunks(text, size), path.name)
    for query in ("read the next line of a file", "what is raised if the name is wrong"):
        result = compress(query, given, max_tokens=800)
        if size is None:
            ast.parse(result.text)
        assert all(kept.text == shown(kept.original.text, kept.spans, kept.markers) for kept in result.passages)


def test_a_function_that_two_chunks_have_a_part_of_is_one():
    at = SHELVES.index("        self.changed")
    given = passages([SHELVES[:at], SHELVES[at:]], "shelf.py")
    result = compress("put a book at the end", given, max_tokens=88)
    assert [kept.index for kept in result.passages] == [0, 1]
    assert result.passages[1].text.startswith("        self.changed = time.time()\n")
    assert "return len(self.books)" in result.text
    assert "oldest" not in result.text
    ast.parse(result.text)


def test_markers_say_what_is_missing_and_are_counted():
    body = "".join(f"    step_{n} = prepare({n}, {'table chair lamp shelf'.split()[n % 4]!r})\n" for n in range(60))
    text = f"def arrange(room):\n{body}    return finish(room)\n"
    result = compress("finish the room", passages([text], "a.py"), max_tokens=60)
    (kept,) = result.passages
    assert result.tokens == Compressor(CompressionConfig()).count(result.text) <= 60
    assert "\n    # ...\n" in kept.text
    assert kept.markers == tuple(marker for marker in kept.markers if marker.text == "\n    # ...")
    assert kept.text == shown(text, kept.spans, kept.markers)
    assert all(0 < marker.before <= len(kept.spans) for marker in kept.markers)
    ast.parse(kept.text)


def test_a_body_of_python_is_never_empty():
    result = compress("Shelf", passages([SHELVES], "shelf.py"), max_tokens=12)
    ast.parse(result.text)
    assert result.text.count("...") == len(result.passages[0].markers)


BLOCKS = {
    "main.tf": ('resource "room" "one" {', '  option{n} = "x"', '  finish = "room"', "}", "# ..."),
    "room.tcl": ("proc room {name} {", "    set x{n} [list $name]", "    set y [finish $room]", "}", "# ..."),
    "room.css": (".room {", "  --option-{n}: red;", "  --finish: room;", "}", "/* ... */"),
    "room.vim": ("function! Room() abort", "  let l:x = {n}", "  call Finish(room)", "endfunction", '" ...'),
}


@pytest.mark.parametrize("is_named", [True, False])
@pytest.mark.parametrize("name", BLOCKS)
def test_markers_are_comments_of_the_language_without_its_name_too(name, is_named):
    opening, line, last, closing, marker = BLOCKS[name]
    if not is_named and name in ("room.css", "room.vim"):
        pytest.skip("nothing tells the language")
    body = "".join(f"{line.replace('{n}', str(n))}\n" for n in range(200))
    text = f"{opening}\n{body}{last}\n{closing}\n"
    result = compress("finish the room", [Passage("a", text, file_path=name if is_named else None)], max_tokens=60)
    kept = [line for line in result.text.split("\n") if line not in text]
    assert {line.strip() for line in kept} == {marker}
    assert last in result.text


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.min.js", "function a(){return 1}" + ";var b={c:[1,2,3]}" * 9_000),
        ("a.py", "def f():\n\tif x:\n        y = 1\n\treturn y\n" * 300),
        ("a.py", "def f(\n" * 3_000),
        ("a.ipynb", '{"cells": [' + '{"cell_type": "code", "source": ["import os\\n", "x = 1"]},' * 2_000 + "]}"),
        ("a.unknown", "procedure A is\nbegin\n  B;\nend A;\n" * 2_000),
        ("a.c", "{" * 20_000),
        ("a.py", "'''" * 20_000),
        ("a.ts", "`${" * 20_000),
        ("a.js", "var x = 1;\n" + "=/[" * 20_000),
    ],
)
def test_broken_generated_and_unknown_code_has_an_answer(name, text):
    result = compress("what is y?", passages([text], name), max_tokens=100)
    assert result.tokens <= 100
    assert result.text


def test_a_chunk_that_begins_within_a_function_shows_where_statements_are_missing() -> None:
    text = (
        "original = response.request\n"
        "        assert is_prepared(original)\n"
        "        headers = prepared.headers\n"
        "        url = prepared.url\n"
        '        if "Authorization" in headers and must_strip(original.url, url):\n'
        "            # A new host must not be told the password.\n"
        '            del headers["Authorization"]\n'
        "        new_auth = netrc_of(url) if self.trusts else None\n"
        "        if new_auth is not None:\n"
        "            prepared.prepare_auth(new_auth)\n"
    )
    kept = compress("when is the authorization stripped?", [Passage("a.py", text)], max_tokens=55).text
    assert "original = response.request\n        # ...\n" in kept
