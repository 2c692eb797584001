"""The final text is never longer than the input in the same format, in characters and in tokens, whatever is dropped.

Lines of `metadata_only` are the exception: one can be longer than a short passage.
"""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rule_inputs import budgets, passages, queries

from ctxcompress import Passage, compress
from ctxcompress.errors import BudgetTooSmall

OPTIONS = (
    {"adaptive": True},
    {"adaptive": 0.5},
    {"max_length": 100},
    {"factual_length": 20},
    {"ngram_threshold": 0.5},
    {"top_n": 2},
    {"keep_all_sources": True},
)
WORDS = ("timeout", "server", "default", "30", "seconds", "is", "the", "ok", "no", "a", "I")
sentences = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join), min_size=1, max_size=8)
"""Short ones, because a gap marker may be longer than what it stands for."""


def _prose(lines):
    return " ".join(f"{line.capitalize()}." for line in lines)


def _items(lines):
    return "\n".join(f"- {line}" for line in lines)


def _log(lines):
    return "\n".join(f"2026-01-01 12:00:0{number} INFO {line}" for number, line in enumerate(lines))


def _code(lines):
    return "\n\n".join(f"def f{number}():\n    return '{line}'" for number, line in enumerate(lines))


def _records(lines):
    return json.dumps({f"key{number}": line * 3 for number, line in enumerate(lines)})


def _rows(lines):
    return "a,b\n" + "\n".join(f"{number},{line}" for number, line in enumerate(lines))


kinds = st.sampled_from([_prose, _items, _log, _code, _records, _rows])
short = st.lists(st.builds(lambda kind, lines: kind(lines), kinds, sentences), min_size=1, max_size=4)


def _check(texts, query, **options):
    given = [Passage(f"p{number}", text, file_path="guide.md") for number, text in enumerate(texts)]
    try:
        found = compress(query, given, **options)
    except BudgetTooSmall:  # not even the places of all sources fit
        return
    assert len(found.text) <= len(found.original.text)
    assert found.tokens <= found.stats.original_tokens


formats = pytest.mark.parametrize("shown", ["plain", "compact", "verbose", "xml", "json"])


@formats
@given(texts=passages, query=queries, budget=budgets, options=st.sampled_from(({}, *OPTIONS)))
def test_any_texts(shown, texts, query, budget, options):
    _check(texts, query, max_tokens=budget, format=shown, **options)


@formats
@given(texts=short, less=st.integers(1, 30), options=st.sampled_from(({}, *OPTIONS)))
def test_short_sentences_of_which_few_are_dropped(shown, texts, less, options):
    tokens = compress("", texts, max_tokens=100_000, format=shown).tokens
    _check(texts, "what is the default timeout?", max_tokens=max(tokens - less, 1), format=shown, **options)


@pytest.mark.parametrize(
    ("shown", "around", "each"),
    [
        ("plain", "", ""),
        ("compact", "", "[1] a.md\n"),
        ("verbose", "", "**Result 1**\nFile: a.md\n\n"),
        ("xml", "<documents>\n\n</documents>", '<document index="1" source="a.md">\n\n</document>'),
    ],
)
def test_what_a_format_adds_is_declared(shown, around, each):
    text = compress("", [Passage("1", "The text.", file_path="a.md")], format=shown).text
    assert len(text) == len("The text.") + len(around) + len(each)
