"""Detection of source code and its language, and of chunks that begin inside a docstring or a comment."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcompress.code.detection import (
    code_lines,
    continues_in_next,
    end_of_cut_text,
    looks_like_code,
    source_language,
)

MODULE = '''"""Keeps what was borrowed, and from whom.

A shelf has a name and books. Nothing is written anywhere:
what is to be kept longer has to be saved by the caller.
"""

import time

class Shelf:
    """Books that stand together.

    They are in the order in which they were put there. To look for
    one by its title goes through all of them.
    """

    def __init__(self, name):
        self.name = name
        self.books = []

    def put(self, book):
        """Puts a book at the end.

        >>> Shelf("a").put("b")
        1

        Gives back how many there are then.
        """
        if book in self.books:
            raise ValueError(
                book,
            )
        self.books.append(book)
        return len(self.books)


def oldest(shelves):
    # the one that was named first
    return min(shelves, key=lambda shelf: shelf.name)
'''
CODE = "".join(f"def f{n}(x):\n    y = x + {n}\n    return y\n\n" for n in range(6))
PROSE = "\n".join(
    f"This is what it does in the case of {word} books" for word in "old new red large small torn".split()
)
LINES = MODULE.splitlines(keepends=True)


def test_chunks_that_follow_one_another_are_recognized():
    missed = 0
    for size in range(3, 25):
        chunks = ["".join(LINES[n : n + size]) for n in range(0, len(LINES), size)]
        missed += sum(not found for found in continues_in_next(chunks, "python"))
    assert missed <= 3


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("def a():\n    x = 1\n    y = 2\n", "        z = 3\n        return z\n"),
        ('def a():\n    """Begins to say what it does,\n', CODE),
        (CODE, PROSE + "\n\"\"\"\n\n" + CODE),
    ],
)  # fmt: skip
def test_chunks_that_cannot_follow_one_another_do_not(before, after):
    assert list(continues_in_next([before, after], "python")) == [False]


def test_a_module_begins_with_its_docstring():
    assert end_of_cut_text(MODULE, "python") == 0
    inside = MODULE[MODULE.index("A shelf") :]
    assert inside[: end_of_cut_text(inside, "python")].endswith('caller.\n"""')


@given(st.text(alphabet="ab'\"\n #/*()", max_size=80), st.sampled_from(["python", "c", ""]))
def test_any_text_has_an_end(text, language):
    assert 0 <= end_of_cut_text(text, language) <= len(text)
    assert len(list(continues_in_next([text, text], language))) == 1


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a/b.py", "python"),
        ("a.H", "c"),
        ("x.tsx", "tsx"),
        ("mod.mts", "typescript"),
        ("run", "python"),
        (None, "python"),
    ],
)
def test_the_language_of_source_code(name, expected):
    assert source_language(MODULE, name) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#!/usr/bin/env node\nx()\n", "javascript"),
        ("#!/bin/sh\nx\n", "shell"),
        ("fn main() {\n    let mut x = 1;\n}\n", "rust"),
        ("package main\n\nfunc main() {\n\tx := 1\n}\n", "go"),
        ("public class A {\n    private int b;\n    @Override\n    public int c() { return b; }\n}\n", "java"),
        ("#include <vector>\nstd::vector<int> a;\n", "cpp"),
        ("#include <stdio.h>\nint main(void) {\n  return p->x;\n}\n", "c"),
        ("export type A = string;\ninterface B {\n  c: number;\n}\n", "typescript"),
        ("const a = require('b');\nmodule.exports = () => {\n  return a;\n};\n", "javascript"),
        ('input Move {\n  target: ID!\n  note: String = "none"\n}\n', "graphql"),
        ('resource "room" "one" {\n  size = 3\n}\n', "hcl"),
        ("server {\n    listen 80;\n    location / {\n        proxy_pass http://rooms;\n    }\n}\n", "nginx"),
        ("(defun room (name)\n  (message name))\n", "lisp"),
        ("-module(room).\n-export([open/1]).\n", "erlang"),
        ("local M = {}\nfunction M.open(name)\n  return name\nend\n", "lua"),
        ("proc room {name} {\n    foreach y $name {\n        puts $y\n    }\n    return $name\n}\n", "tcl"),
        ("function! s:Room(name)\n  let l:x = a:name\nendfunction\n", "vim"),
        ("CREATE TABLE room (\n  id integer\n);\nINSERT INTO room VALUES (1);\n", "sql"),
        ("let a = () => {\n  if (b) {\n    c();\n  } else {\n    d();\n  }\n};\n", "javascript"),
        ("???", ""),
    ],
)
def test_the_language_of_code_without_a_name(text, expected):
    assert source_language(text) == expected


def test_time_is_linear_in_quotes():
    text = '"""a\n' * 40_000
    assert end_of_cut_text(text, "python") == 0
    random.seed(1)
    assert end_of_cut_text("word " + "".join(random.choices("\"'\n", k=100_000)), "python") >= 0


@pytest.mark.parametrize("seed", range(20))
def test_a_file_is_code_if_a_fifth_of_its_lines_are(seed):
    random_ = random.Random(seed)
    lines = [random_.choice(["x = f(1)", "and then they went home"]) for _ in range(random_.randrange(1, 60))]
    text = "\n".join([*lines, *["the rest of it is prose"] * random_.randrange(150)])
    code, others = code_lines(text)
    assert looks_like_code(text, "notes.py") == (code / (code + others) > 0.2)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#pragma once\n\ninline namespace ponds::deep {\nint depth();\n}\n", "cpp"),
        ("class Pond {\n public:\n  int depth();\n};\n", "cpp"),
        ("#include <vector>\nstd::vector<int> depths();\n", "cpp"),
        ("#include <stdio.h>\n/* A class of ponds,\n   public or not. */\nstruct pond { int depth; };\n", "c"),
        ('#ifdef __cplusplus\nextern "C" {\n#endif\nint depth(void);\n#ifdef __cplusplus\n}\n#endif\n', "c"),
    ],
)
def test_a_header_is_of_the_language_that_it_has_signs_of(text, expected):
    assert source_language(text, "pond.h") == expected
    assert source_language(text, "pond.c") == "c"
