"""Mistakes that were found once, each in the form in which it was seen."""

import pickle
from pathlib import Path

import pytest

from ctxcompress import Passage, compress
from ctxcompress.data.passages import Span
from ctxcompress.errors import InputError


def test_no_header_of_a_table_is_kept_without_a_row() -> None:
    table = "| code | meaning |\n|---|---|\n| 500 | ERROR internal server failure happened here |\n"
    text = compress("ERROR", [table] * 6 + ["Other text on the logs of the server. " * 3], max_tokens=60).text
    assert not text.endswith("|---|---|")
    assert "|---|---|\n\n" not in text


@pytest.mark.parametrize("fields", [{"file_path": Path("x.py")}, {"title": 5}, {"header_path": "Guide > Install"}])
def test_a_field_of_a_wrong_type_is_refused(fields: dict[str, object]) -> None:
    with pytest.raises(InputError, match=next(iter(fields))):
        compress("a", [Passage("1", "text", **fields)])


def test_a_result_can_be_pickled() -> None:
    result = compress("a", ["a b c"])
    assert pickle.loads(pickle.dumps(result)).stats.original_tokens == result.stats.original_tokens == 3


def test_many_passages_of_one_title_end() -> None:
    passages = [
        Passage(str(n), "I like Python. It is nice.", title="Python" if n % 2 else f"T{n}x") for n in range(8_000)
    ]
    assert compress("nice", passages, max_tokens=20).tokens <= 20


def test_text_that_is_repeated_on_and_on_is_kept_from_its_beginning() -> None:
    text = "The pool has ten connections. The default timeout is 30 seconds. " * 5
    result = compress("what is the default timeout?", [text], max_tokens=40)
    assert result.passages[0].spans == (Span(0, 64),)
    again = compress("what is the default timeout?", [text] * 3, max_tokens=40)
    assert [(part.index, part.spans) for part in again.passages] == [(0, (Span(0, 64),))]
