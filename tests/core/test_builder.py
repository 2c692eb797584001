"""A context that grows over several retrievals."""

import asyncio

import numpy as np
import pytest
from meanings import Encoding

from ctxcompress import CompressionConfig, Passage
from ctxcompress.agents.builder import ContextBuilder
from ctxcompress.errors import ConfigError, InputError, PluginError

POOL = "The pool opens ten connections at the start. The default timeout is 30 seconds. Logs are kept for one week."
RULES = [f"Rule {n} of the gateway says that port {8000 + n} is for tenant number {n}." for n in range(12)]


def reasons(added):
    return [(found.index, str(found.reason), found.duplicate_of) for found in added.dropped]


def test_an_agent_searches_three_times():
    builder = ContextBuilder(40)
    first = builder.add([POOL], query="what is the default timeout?", max_tokens=8)
    assert (first.text, first.tokens, first.remaining) == ("The default timeout is 30 seconds.", 8, 32)
    second = builder.add([POOL, "Restart the server to apply a change."], query="how long are logs kept?", max_tokens=9)
    assert second.text == "[…] Logs are kept for one week."
    assert reasons(second) == [(1, "duplicate", 0), (1, "budget", None), (2, "budget", None)]
    third = builder.add([POOL], query="how many connections are opened?")
    assert third.text == "The pool opens ten connections at the start. […]"
    assert builder.render() == "\n\n".join((first.text, second.text, third.text))
    assert builder.remaining == 40 - first.tokens - second.tokens - third.tokens
    assert [part.index for part in builder.passages] == [0, 1, 3]
    assert all(part.stands_for == () for part in builder.passages)
    assert [part.id for part in builder.passages] == ["0", "1", "3"]


def test_a_copy_names_what_is_in_and_stands_for_it():
    builder = ContextBuilder(1_000)
    builder.add([RULES[0], POOL], query="rule")
    added = builder.add([f"{POOL} ", "A text of its own."], query="rule")
    assert reasons(added) == [(2, "duplicate", 1)]
    assert builder.passages[1].stands_for == (2,)
    assert builder.render() == f"{RULES[0]}\n\n{POOL}\n\nA text of its own."


def test_what_means_the_same_as_what_is_in_is_left_out_if_that_is_asked_for():
    builder = ContextBuilder(config=CompressionConfig(max_tokens=1_000, similarity_threshold=0.9))
    builder.add([Passage("a", "Cats sleep all day.", embedding=[1.0, 0.0])])
    builder.add(["Nothing is known of the meaning of this."])
    same = Passage("b", "Felines rest from dawn to dusk.", embedding=np.array([0.99, 0.01]))
    other = Passage("c", "Dogs bark at night.", embedding=[0.0, 1.0])
    assert reasons(builder.add([same, other])) == [(2, "duplicate", 0)]


def test_what_has_no_room_comes_in_when_it_is_rebalanced():
    builder = ContextBuilder(18)
    builder.add(["Nobody asks for this. It is only here. And it is long enough."])
    added = builder.add([POOL], query="default timeout")
    assert added.text == ""
    added = builder.add([], query="default timeout?", rebalance=True)
    assert "The default timeout is 30 seconds." in added.text
    assert added.rebalanced
    assert {found.index for found in (*added.dropped, *added.passages)} == {0, 1}


async def test_adds_at_the_same_time_all_come_in():
    builder = ContextBuilder(1_000)
    await asyncio.gather(*(builder.aadd([rule], query="rule") for rule in RULES))
    assert sorted(builder.render().split("\n\n")) == sorted(RULES)
    assert sorted(part.index for part in builder.passages) == list(range(12))


def broken(text):
    if "broken" in text:
        raise ValueError("this tokenizer breaks")
    return len(text)


def test_where_an_add_fails_nothing_has_changed():
    builder = ContextBuilder(config=CompressionConfig(max_tokens=500, encoding=broken))
    builder.add([POOL])
    with pytest.raises(PluginError, match="breaks"):
        builder.add(["This is broken."])
    assert builder.render() == POOL
    assert builder.add(["Another one."]).passages[0].index == 1


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"passages": "one text"}, InputError, "give a list"),
        ({"passages": [3]}, InputError, "passage 0 is a int"),
        ({"passages": [], "query": 3}, InputError, "query is a int"),
        ({"passages": [], "max_tokens": 0}, ConfigError, "max_tokens is 0"),
        ({"passages": [], "max_tokens": 5, "rebalance": True}, ConfigError, "whole budget"),
        ({"passages": [], "rebalance": "yes"}, ConfigError, "give True or False"),
    ],
)
def test_what_cannot_work_is_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        ContextBuilder(100).add(**arguments)


def test_a_text_that_is_in_is_not_encoded_at_every_add():
    # Each text has a direction of its own.
    encoder = Encoding(lambda text: np.random.default_rng(sum(text.encode())).normal(size=16))
    config = CompressionConfig(max_tokens=1_000, similarity_threshold=0.99, encoder=encoder)
    builder = ContextBuilder(config=config)
    for rule in RULES:
        builder.add([rule])
    assert len(builder.passages) == len(RULES)
    assert max(sum(texts.count(rule) for texts in encoder.asked) for rule in RULES) <= 4
