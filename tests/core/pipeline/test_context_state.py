"""The state of a context as plain data: nothing is lost, and damage is noticed."""

import json
from datetime import date

import numpy as np
import pytest

from ctxcompress import CompressionConfig, Passage
from ctxcompress.agents.builder import ContextBuilder
from ctxcompress.errors import ConfigError, InputError

RULES = [f"Rule {n} of the gateway says that port {8000 + n} is for tenant number {n}." for n in range(12)]
PAGE = Passage(
    "page",
    " ".join(RULES),
    score=np.float32(0.5),
    doc_id="d",
    file_path="rules.md",
    title="Rules",
    header_path=("Rules", "Ports"),
    metadata={"start_index": 7, "day": date(2026, 1, 2), "tags": ("a", "b"), "size": np.int64(3)},
    embedding=np.array([0.1, 0.2], dtype=np.float32),
)


def built(**options):
    builder = ContextBuilder(config=CompressionConfig(max_tokens=60, **options))
    builder.add([PAGE, "A text of its own.", ""], query="which port is for tenant number 7?", max_tokens=30)
    return builder


def test_the_state_is_json_and_comes_back_whole():
    builder = built()
    state = builder.to_state()
    assert json.loads(json.dumps(state, allow_nan=False)) == state
    again = ContextBuilder.from_state(json.loads(json.dumps(state)), 60)
    assert again.render() == builder.render()
    assert again.remaining == builder.remaining
    assert again.to_state() == state
    page = again.added[0]
    assert (page.id, page.text, page.score, page.title, page.header_path) == (
        "page",
        PAGE.text,
        0.5,
        "Rules",
        ("Rules", "Ports"),
    )
    assert page.metadata == {"start_index": 7, "day": "2026-01-02", "tags": ["a", "b"], "size": 3}
    assert page.embedding == [float(number) for number in PAGE.embedding]
    assert [(part.text, part.spans, part.tokens, part.relevance) for part in again.passages] == [
        (part.text, part.spans, part.tokens, part.relevance) for part in builder.passages
    ]


def changed(state, **changes):
    return {**state, **changes}


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda state: changed(state, text="other"), "damaged: its checksum"),
        (lambda state: changed(state, tokens=1), "damaged"),
        (lambda state: {name: value for name, value in state.items() if name != "checksum"}, "damaged"),
        (lambda state: changed(state, version=2), "has version 2, but this is for version 1"),
        (lambda state: changed(state, type="other"), "a dict of type 'other' is no state"),
        (lambda state: None, "a NoneType is no state"),
    ],
)
def test_a_damaged_state_is_refused(damage, message):
    state = damage(built().to_state())
    with pytest.raises(InputError, match=message):
        ContextBuilder.from_state(state, 60)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_tokens": 3}, "max_tokens is 3; the context has"),
        ({"encoding": "cl100k_base"}, "encoding is 'cl100k_base', but the context was built with 'o200k_base'"),
        ({"separator": " "}, "separator is ' '"),
        ({"format": "compact"}, "format is 'compact'"),
    ],
)
def test_options_that_decide_what_is_in_must_be_the_same(options, message):
    with pytest.raises(ConfigError, match=message):
        ContextBuilder.from_state(built().to_state(), config=CompressionConfig(**{"max_tokens": 60, **options}))


def test_a_heading_with_only_delivered_text_under_it_is_not_shown_again():
    builder = ContextBuilder(config=CompressionConfig(max_tokens=200))
    locks, lamps = "The lock of the harbour opens at seven.", "The lamp of the harbour is red. It was lit in 1920."
    builder.add([locks], query="when does the lock open?")
    page = f"# Manual\n\nIt is for all.\n\n## Locks\n\n{locks}\n\n## Lamps\n\n{lamps}"
    builder.add([page], query="which lamp has the harbour?")
    text = builder.render()
    assert "## Locks" not in text
    assert f"# Manual\n\nIt is for all. […]\n\n## Lamps\n\n{lamps}" in text
