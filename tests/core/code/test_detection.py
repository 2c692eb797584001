"""Detection of the language of source code, and of chunks that begin inside a docstring or a comment."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcompress.code.detection import (
    code_share,
    continues_in_next,
    end_of_cut_text,
    source_language,
)

MODULE = "import time\n\n\ndef put(book):\n    return time.time()\n"


def test_a_chunk_may_begin_inside_a_docstring():
    assert end_of_cut_text(f'"""Says what.\n"""\n{MODULE}', "python") == 0
    assert end_of_cut_text(f'what is said of it.\n"""\n\n{MODULE}', "python") == len('what is said of it.\n"""')


def test_a_sentence_in_parentheses_is_no_code():
    assert code_share("      4.3 The keeper locks the gate. (This happens at dusk. See rule 7.)") == 0
    assert code_share("      lock(gate)") == code_share("      lock(gate, 7)") == 1


@given(st.text(alphabet="ab'\"\n #/*()", max_size=80), st.sampled_from(["python", "c", ""]))
def test_any_text_has_an_end(text, language):
    assert 0 <= end_of_cut_text(text, language) <= len(text)
    assert len(list(continues_in_next([text, text], language))) == 1


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a/b.py", "python"),
        ("x.tsx", "tsx"),
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
        ("fn main() {\n    let mut x = 1;\n}\n", "rust"),
        ("package main\n\nfunc main() {\n\tx := 1\n}\n", "go"),
        ("public class A {\n    private int b;\n    @Override\n    public int c() { return b; }\n}\n", "java"),
        ("#include <vector>\nstd::vector<int> a;\n", "cpp"),
        ("#include <stdio.h>\nint main(void) {\n  return p->x;\n}\n", "c"),
        ("export type A = string;\ninterface B {\n  c: number;\n}\n", "typescript"),
        ('input Move {\n  target: ID!\n  note: String = "none"\n}\n', "graphql"),
        ('resource "room" "one" {\n  size = 3\n}\n', "hcl"),
        ("server {\n    listen 80;\n    location / {\n        proxy_pass http://rooms;\n    }\n}\n", "nginx"),
        ("-module(room).\n-export([open/1]).\n", "erlang"),
        ("proc room {name} {\n    foreach y $name {\n        puts $y\n    }\n    return $name\n}\n", "tcl"),
        ("function! s:Room(name)\n  let l:x = a:name\nendfunction\n", "vim"),
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
