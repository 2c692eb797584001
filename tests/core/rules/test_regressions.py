"""Mistakes that were found once, each in the form in which it was seen."""

import pickle
from pathlib import Path

import pytest

from ctxcompress import Passage, compress
from ctxcompress.errors import InputError


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


def test_a_table_below_a_line_that_looks_printed_keeps_its_header() -> None:
    text = "==== timeout timeout timeout 3.14 ====. \n\n| k | v |\n|---|---|\n| timeout | timeout |"
    assert "| k | v |\n|---|---|\n| timeout |" in compress("timeout", [text], max_tokens=25).text
