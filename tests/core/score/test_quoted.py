"""What a query quotes word for word."""

import inspect
import zipfile

import numpy as np
import pytest

from ctxcompress import Passage, compress
from ctxcompress.data.documents import documents_as_they_are
from ctxcompress.data.table import SegmentTable
from ctxcompress.score.quoted import quotations, raise_quoted
from ctxcompress.segment.segments import segment

MESSAGE = "Bad magic number for file header"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (f'Where is "{MESSAGE}" raised?', (MESSAGE,)),
        (f"Wo kommt \u201e{MESSAGE}\u201c her?", (MESSAGE,)),
        (f"What is `{MESSAGE}` and \u00abno space left\u00bb?", (MESSAGE, "no space left")),
        (MESSAGE, (MESSAGE,)),
        ("Bad  magic\nnumber found", ("Bad magic number found",)),
        ("bad magic number", ()),
        ("Which files have a bad magic number?", ()),
        ('What is a "magic number"?', ()),
        ("", ()),
    ],
)
def test_quotations_are_several_words(query, expected):
    assert quotations(query) == expected


def test_only_some_quotations_of_a_long_query_count():
    assert len(quotations(" ".join(f'"one two {number}"' for number in range(1_000)))) == 8


@pytest.mark.parametrize("query", [MESSAGE, f'Where is "{MESSAGE}" raised?'])
def test_the_line_with_a_message_is_found_in_a_source_file(query):
    source = inspect.getsource(zipfile)
    assert MESSAGE in compress(query, [Passage("1", source, file_path="zipfile.py")], max_tokens=1_500).text


def test_a_passage_that_is_the_query_is_kept_among_many_like_it():
    texts = [f"LATIN SMALL LETTER {number}" for number in range(100)]
    texts += [f"KATAKANA LETTER {name}" for name in "A I U E O KA KI KU KE KO TA TU TE TO".split()]
    texts.append("KATAKANA LETTER SMALL TU")
    assert texts[-1] in compress(texts[-1], texts, max_tokens=60).text


def test_in_source_code_a_string_has_it_and_no_comment():
    code = [
        f"def {name}(path):\n    # {MESSAGE}\n    return open(path, {number})\n"
        for number, name in enumerate("abcdefgh")
    ]
    code[5] = f"def f(path):\n    raise Error('{MESSAGE}')\n"
    assert "raise Error" in compress(MESSAGE, [Passage("1", "\n".join(code), file_path="a.py")], max_tokens=40).text


def test_white_space_may_differ_and_common_phrases_count_for_nothing():
    texts = ["on the other hand", "on the other hand", "on the\n    other side", *["on the other hand"] * 3]
    table = SegmentTable.of(documents_as_they_are(texts), [segment(text) for text in texts])
    probability = np.full(6, 0.1)
    assert raise_quoted('who said "on the other side"?', table, probability).tolist() == [0.1, 0.1, 0.9, 0.1, 0.1, 0.1]
    assert raise_quoted('who said "on the other hand"?', table, probability) is probability
