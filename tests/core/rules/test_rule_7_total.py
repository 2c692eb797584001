"""Whatever comes in: an answer or a typed error."""

import pytest
from hypothesis import settings

from ctxcompress import CompressionConfig, CtxCompressError, Passage, compress
from ctxcompress.errors import ConfigError, InputError

LONG = 10_000 * settings().max_examples
"""A million characters where there is more time."""
HOSTILE = {
    "one word": "a" * LONG,
    "line ends": "\n" * LONG,
    "spaces and a word": " " * (LONG // 3) + "x",
    "a word and spaces": "x" + " " * (LONG // 3),
    "back ticks": "`" * LONG,
    "image beginnings": "![" * (LONG // 2),
    "comment beginnings": "<!--" * (LONG // 4),
    "fence of spaces": "```" + " " * (LONG // 10) + "`\nfoo",
    "quotes in quotes": ">" * (LONG // 10),
    "list in list": "- " * (LONG // 10),
    "JSON in JSON": '{"a":' * (LONG // 5),
    "escaped quotes": '{"a": "' + '\\"' * (LONG // 2),
    "a tab in a manual": f"OPTIONS\n    -a\t{'b ' * (LONG // 8)}\n{' ' * (LONG // 4)}c\n",
    "Chinese without line ends": "中文。" * (LONG // 3),
    "open quotation marks": "“" * LONG,
    "combining marks": "e" + "\u0301" * (LONG // 4),
    "joined emoji": "😀\u200d" * (LONG // 8),
    "lone surrogates": "\ud800" * (LONG // 4),
    "fences": "```\n" * (LONG // 4),
    "a line in a fence": "```\n" + "x" * LONG + "\n```",
    "table": "|a|b|\n|-|-|\n" + "|1|2|\n" * (LONG // 20),
    "functions": "def f():\n" * (LONG // 10),
    "labels of labels": "a:\n\n" * (LONG // 20),
    "headings": "###### h\n\nt\n" * (LONG // 50),
    "nested classes": "".join(" " * depth + f"class C{depth}:\n" for depth in range(1_000)),
    "nul": "\0" * LONG,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_ends_within_the_budget(name):
    text = HOSTILE[name]
    result = compress("what is a word", [text], max_tokens=30)
    assert result.tokens <= 30
    assert result.text or not text.strip() or name in ("joined emoji", "combining marks", "back ticks")


@pytest.mark.parametrize("blank", [" ", "\u00a0"])
def test_more_white_space_than_tiktoken_takes_is_refused(blank):
    with pytest.raises(InputError, match="has 1000000 spaces in a row"):
        compress("q", [blank * 1_000_000 + "x"], max_tokens=30)
    config = CompressionConfig(max_tokens=30, encoding=lambda text: text.split())
    assert compress("q", [blank * 1_000_000 + "x" * 50], config=config).tokens == 1


@pytest.mark.parametrize("query", [None, "", "   ", "?!", "\ud800", "word " * 5_000, "x" * 100_000, "的", "\0"])
def test_any_query_has_an_answer(query):
    result = compress(query, ["First things first. " * 30, "Then others. " * 30], max_tokens=20)
    assert 0 < result.tokens <= 20
    assert result.query == (query or "")


def test_without_a_query_what_comes_first_is_kept():
    assert compress(None, ["First of all. " + "More of it. " * 40], max_tokens=10).text.startswith("First of all.")


def test_empty_list():
    result = compress("q", [])
    assert (result.text, result.tokens, result.passages, result.dropped) == ("", 0, (), ())
    assert result.stats.savings_percent == 0


@pytest.mark.parametrize("texts", [[""], ["", ""], ["", "a", ""], ["\ud800"], ["a\ud800 b\udfff"]])
def test_empty_and_broken_texts(texts):
    assert compress("a", texts).text == "\n\n".join(texts)


@pytest.mark.parametrize(
    ("passages", "message"),
    [
        (None, "passages is a NoneType; give a list of passages"),
        (5, "passages is a int; give a list of passages"),
        ("text", "passages is a str; give a list of passages"),
        ({"text": "a"}, "passages is a dict; give a list of passages"),
        (Passage("a", "b"), "passages is a Passage; give a list of passages"),
        ([None], "passage 0 is a NoneType; give a string"),
        (["a", b"bytes"], "passage 1 is a bytes; give a string"),
        ([["a"]], "passage 0 is a list; give a string"),
        ([{"body": "a"}], r"passage 0 has the keys \['body'\]; its text must be a string under 'text'"),
        ([{"text": None}], "passage 0 has the keys"),
        ([Passage("a", None)], "the text of passage 0 is a NoneType; give a string"),
    ],
)
def test_wrong_passages_are_refused(passages, message):
    with pytest.raises(InputError, match=message):
        compress("q", passages)


@pytest.mark.parametrize("query", [5, b"bytes", ["a"], object()])
def test_a_wrong_query_is_refused(query):
    with pytest.raises(InputError, match=f"query is a {type(query).__name__}; give a string, or None"):
        compress(query, ["a"])


def test_one_root_catches_all_errors():
    for error in (ConfigError, InputError):
        assert issubclass(error, CtxCompressError)
    with pytest.raises(CtxCompressError):
        CompressionConfig(max_tokens=0)
