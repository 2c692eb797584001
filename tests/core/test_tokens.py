"""Counting: exactly what the declared tokenizer says, or a typed error."""

import os
import subprocess
import sys
from collections import UserDict
from concurrent.futures import ThreadPoolExecutor
from unittest.mock import Mock

import numpy as np
import pytest
import toktok
from framework import reference_encoding
from hypothesis import given
from hypothesis import strategies as st

from ctxcompress import CompressionConfig, compress
from ctxcompress.errors import ConfigError, InputError
from ctxcompress.text.tokens import TokenCounter, _toktok

ENCODINGS = ["o200k_base", "cl100k_base"]
PIECES = [
    *"abXYzs019 \t\n\r.,;:!?/'-_()[]、。，！？éßªº²½Ⅷⓐ一中文ไทยกุعـक\u094dᵃʰǅ",
    *"\u0301\u064b\u200b\u200d\u00a0\u3000\u2028\u0085😀🇩\ud800\udc00",
    *[
        "'s", "'LL", "don't", "  ", "\r\n", "word", "Straße", "привет", "重启", "ありがとう", "हिन्दी",
        "한국어", "<|endoftext|>", "987", "//\n//", "\x1c",
    ],
]  # fmt: skip
mixtures = st.lists(st.sampled_from(PIECES), max_size=60).map("".join)


def _truth(encoding, text):
    """tiktoken's own encoding of the same vocabulary, in a way of its own: one allowed special at a time."""
    return len(reference_encoding(encoding).encode(text, disallowed_special=()))


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(text=st.one_of(mixtures, st.text(st.characters(exclude_categories=()), max_size=80)))
def test_a_count_is_exactly_tiktokens(encoding, text):
    assert TokenCounter(encoding)(text) == _truth(encoding, text)


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(texts=st.lists(st.one_of(mixtures, st.text(st.characters(exclude_categories=()), max_size=80)), max_size=5))
def test_many_counts_at_once_are_those_of_each(encoding, texts):
    assert TokenCounter(encoding).of_all(texts) == [_truth(encoding, text) for text in texts]


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(text=mixtures, times=st.integers(1, 60), limit=st.integers(1, 20) | st.none(), difference=st.integers(-3, 3))
def test_fits_agrees_with_the_full_count(encoding, text, times, limit, difference):
    long = (text + "x ") * times
    tokens = _truth(encoding, long)
    limit = limit or max(1, tokens + difference)
    assert TokenCounter(encoding).fits(long, limit) == (tokens if tokens <= limit else None)
    assert TokenCounter(encoding).fits("one word each", 3) == 3


@pytest.mark.parametrize(
    ("tokenizer", "tokens"),
    [
        (len, 5),
        (str.split, 2),
        (str.encode, 5),
        (lambda text: np.int64(7), 7),
        (lambda text: np.zeros(3), 3),
        (lambda text: list(np.arange(3)), 3),
        (lambda text: [np.array(1), np.array(2)], 2),  # as of torch: each a number without a dimension
        (lambda text: (), 0),
    ],
)
def test_a_callable_returns_the_tokens_or_their_number(tokenizer, tokens):
    assert TokenCounter(tokenizer)("ab cd") == tokens


@pytest.mark.parametrize(
    "nonsense",
    [
        None,
        float("nan"),
        "ab cd",
        UserDict(input_ids=[1, 2]),  # which transformers' BatchEncoding is
        np.zeros((1, 9)),
        [[1, 2], [3, 4]],
        [("ab", "cd")],
    ],
)
def test_a_callable_that_returns_nonsense_is_refused(nonsense):
    config = CompressionConfig(encoding=lambda text: nonsense)
    with pytest.raises(
        ConfigError, match=r"(?s)the tokenizer returned .* for a text of 5 characters; encoding must return .* encode$"
    ) as raised:
        compress("q", ["ab cd"], config=config)
    assert repr(nonsense) in str(raised.value) or f"(a {type(nonsense).__name__})" in str(raised.value)


OFFLINE = """
import os, socket, sys
def refuse(*args, **kwargs): raise OSError("no network")
socket.socket.connect = refuse
socket.getaddrinfo = refuse
sys.modules["llama_index"] = None  # which carries vocabularies
from ctxcompress.errors import TokenizerUnavailable
from ctxcompress.text.tokens import TokenCounter
before = dict(os.environ)
try:
    print(TokenCounter(sys.argv[1])("hello world"))
except TokenizerUnavailable as error:
    print(error)
assert dict(os.environ) == before
"""


def _offline(tmp_path, *arguments, **environment):
    base = {name: value for name, value in os.environ.items() if not name.startswith(("TIKTOKEN", "DATA_GYM"))}
    done = subprocess.run(
        [sys.executable, "-c", OFFLINE, *arguments],
        env={**base, "TMPDIR": str(tmp_path), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("encoding", ["cl100k_base", "o200k_harmony"])
def test_the_base_install_carries_the_vocabularies_of_the_usual_encodings(tmp_path, encoding):
    assert _offline(tmp_path, encoding) == "2"
    assert not list(tmp_path.iterdir())


def test_without_a_vocabulary_the_error_names_the_remedy(tmp_path):
    message = _offline(tmp_path, "p50k_base")
    assert "the vocabulary of encoding 'p50k_base' is not on this machine" in message
    for remedy in ("TIKTOKEN_CACHE_DIR", "cl100k_base, o200k_base, o200k_harmony", "encoding=<a callable>"):
        assert remedy in message


@pytest.mark.parametrize("name", ["o200k_base", "cl100k_base"])
@given(
    texts=st.lists(
        st.sampled_from(["The gate's open. ", "It's 80,", "\n\n", "  x", "\t", "déjà vu", "你好，", "[a](b)"])
        | st.text(max_size=9),
        max_size=9,
    )
)
def test_only_what_follows_a_stable_beginning_is_counted(name, texts):
    beginning, whole = ("", 0), ""
    for text in texts:
        whole += text
        beginning = TokenCounter(name, beginning).stable_beginning(whole)
        assert whole.startswith(beginning[0])
        for more in ("", "s", " end", "\n\nNext one.", "́"):
            assert TokenCounter(name, beginning)(whole + more) == TokenCounter(name)(whole + more)


@pytest.mark.parametrize("name", ["o200k_base", "cl100k_base"])
def test_a_text_that_does_not_begin_with_the_stable_beginning_is_counted_whole(name):
    beginning = TokenCounter(name).stable_beginning("The gate's open until the evening. It is closed at night. ")
    assert beginning[1] > 3
    for text in ("A gate.", "Another gate, which is open until the morning and closed for the rest of the day."):
        assert TokenCounter(name, beginning)(text) == TokenCounter(name)(text)


@pytest.fixture
def tokenizer(monkeypatch):
    """The functions of toktok-rs, which remember their calls: each releases the interpreter's lock."""
    calls = Mock()
    for name in ("truncate", "batch_count"):
        calls.attach_mock(Mock(wraps=getattr(toktok, name)), name)
        monkeypatch.setattr(toktok, name, getattr(calls, name))
    _toktok.cache_clear()
    yield calls
    _toktok.cache_clear()


TOWNS = ["Aldmoor", "Brinkhaven", "Castlewick", "Dunmarrow", "Eastfell", "Farrowgate", "Glenholt"]
ARTICLES = [
    f"{town} is a market town on the River Tarn, about {7 + 3 * n} kilometres from the coast. The town was first "
    f"mentioned in {1104 + 11 * n}, when a charter granted the monks of {town} the right to hold a weekly fair. Its "
    f"population was {8_400 + 913 * n:,} at the census of 2011. The old bridge of {town} was built of sandstone by "
    f"masons from the north in {1740 + n}, and a flood carried away two of its five arches eleven years later. "
    f"Wool and later paper were the main trades until the mills closed in the {190 + n % 8}0s. The parish church "
    f"holds a carved screen that visitors from all over the county come to see. Since {1950 + 2 * n} a railway museum "
    f"occupies the former station, where steam trains run on summer weekends."
    for n, town in enumerate(TOWNS)
]


def test_beside_another_thread_a_search_result_is_compressed_with_four_calls_of_the_tokenizer(tokenizer):
    with ThreadPoolExecutor(1) as executor:
        question = "when was the old bridge of Dunmarrow built"
        result = executor.submit(compress, question, ARTICLES, max_tokens=700).result()
    assert "1743" in result.text
    assert 650 <= result.tokens <= 700
    assert len(tokenizer.mock_calls) <= 4


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_counts_beside_another_thread_are_those_of_each_text_also_of_half_a_character(encoding):
    texts = ["One text.", "half \ud800 of a character", "", "One text.", "重启。"]
    with ThreadPoolExecutor(1) as executor:
        assert executor.submit(TokenCounter(encoding).of_all, texts).result() == [_truth(encoding, t) for t in texts]


def test_the_most_spaces_in_a_row_are_what_a_refusal_names():
    with pytest.raises(InputError, match="a text has 600000 spaces in a row"):
        TokenCounter("o200k_base")(f"one    two{' ' * 600_000}three    four")
