"""Word vectors do not keep passages about something else."""

import pytest

from ctxcompress import compress

encoders = pytest.importorskip("ctxcompress.encoders")
pytest.importorskip("wordllama")

PAGES = [
    "The pool has ten connections. A connection is closed after it was idle for a minute.",
    "Logs are kept for a week. Then they are deleted by a job that runs at night.",
    "Invoices are settled by bank transfer or credit card.",
    *(
        f"Section {n} of the manual describes option {n}. It is set in the file, and read at the start."
        for n in range(20)
    ),
]
OPTIONS = {"max_tokens": 40, "adaptive": True, "on_empty": "drop"}


def test_nothing_is_kept_of_passages_about_something_else():
    assert compress("what is the capital of France?", PAGES, encoder=encoders.StaticVectors(), **OPTIONS).text == ""


def test_an_answer_in_other_words_is_kept():
    text = compress("how can I pay?", PAGES, encoder=encoders.StaticVectors(), **OPTIONS).text
    assert "credit card" in text
