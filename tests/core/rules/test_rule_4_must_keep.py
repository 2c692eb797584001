"""What `must_keep` names is in the output, or there is an error."""

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from rule_inputs import budgets, fences, paragraphs, sentences, tables

from ctxcompress import CompressionConfig, Compressor, Passage, compress
from ctxcompress.agents.builder import ContextBuilder
from ctxcompress.errors import BudgetTooSmall

PATTERN = re.compile(r"[A-Z]+-\d+|\d{4}-\d{2}-\d{2}")
named = st.sampled_from(["TICKET-123", "INV-7", "on 2024-05-17", "see INV-77, INV-78", "X-1"])
facts = st.builds("{} {} {}".format, sentences, named, sentences)
blocks = st.one_of(
    paragraphs,
    facts,
    facts.map("# {}".format),
    facts.map("- {}".format),
    tables,
    named.map("| id | owner |\n|---|---|\n| {} | Ann |\n| none | Bob |".format),
    fences,
    named.map("```python\ndef f():\n    return '{}'\n```".format),
    named.map('{{"id": "{}", "owner": "Ann"}}'.format),
    st.tuples(named, sentences).map("Ann: {0[0]}\n\nBob: {0[1]}".format),
)
texts = st.lists(st.lists(blocks, min_size=1, max_size=5).map("\n\n".join), min_size=1, max_size=5)
options = st.fixed_dictionaries(
    {},
    optional={
        "adaptive": st.just(True),
        "top_n": st.just(1),
        "max_length": st.just(100),
        "factual_length": st.just(20),
        "min_score": st.just(0.9),
        "ngram_threshold": st.just(0.5),
        "max_chunks_per_doc": st.just(1),
        "order": st.sampled_from(["relevance", "edges"]),
        "format": st.sampled_from(["compact", "xml"]),
        "on_empty": st.sampled_from(["drop", "original"]),
    },
)


def _passages(texts):
    return [Passage(str(n), text, score=1 / (n + 1), doc_id=f"d{n % 2}") for n, text in enumerate(texts)]


def _matches(texts):
    return {match for text in texts for match in PATTERN.findall(text)}


@given(texts=texts, query=sentences, budget=budgets, options=options)
def test_every_match_is_kept_within_the_budget_or_there_is_an_error(texts, query, budget, options):
    config = CompressionConfig(max_tokens=budget, must_keep=[PATTERN], **options)
    compressor = Compressor(config)
    try:
        result = compressor.compress(query, _passages(texts))
    except BudgetTooSmall:
        alone = Compressor(config).count("\n".join(sorted(_matches(texts))))
        assert alone + 40 * len(texts) > budget // 3
        return
    assert result.tokens == compressor.count(result.text) <= budget
    kept = [part.text for part in result.passages]
    for match in _matches(texts):
        assert any(match in text for text in kept), match
    for part in result.passages:
        assert list(part.spans) == sorted(part.spans)


@given(texts=texts, query=sentences, budget=budgets)
def test_compressing_again_keeps_the_same(texts, query, budget):
    options = {"max_tokens": budget, "must_keep": [PATTERN, "dates"]}
    try:
        once = compress(query, texts, **options)
    except BudgetTooSmall:
        return
    again = compress(query, [part.text for part in once.passages], **options)
    assert again.text == once.text


@given(texts=texts, query=sentences)
def test_what_fits_is_untouched(texts, query):
    result = compress(query, texts, max_tokens=100_000, must_keep=[PATTERN, "ids", "code"])
    assert result.text == "\n\n".join(texts)


@given(texts=texts, data=st.data(), budget=budgets)
def test_spans_of_a_passage_are_kept_word_for_word(texts, data, budget):
    number = data.draw(st.integers(0, len(texts) - 1))
    start = data.draw(st.integers(0, len(texts[number])))
    end = data.draw(st.integers(start, min(start + 60, len(texts[number]))))
    assume(texts[number][start:end].strip())  # an empty span asks for nothing
    must_keep = [{"passage": str(number), "spans": [[start, end]]}]
    try:
        result = compress("harbour", _passages(texts), max_tokens=budget, must_keep=must_keep)
    except BudgetTooSmall:
        return
    wanted = texts[number][start:end].strip()
    kept = ["".join(part.original.text[a:b] for a, b in part.spans) for part in result.passages]
    assert any(wanted in text for text in kept)


@given(adds=st.lists(texts, min_size=1, max_size=3), budget=st.integers(30, 300))
def test_a_builder_keeps_every_match_or_changes_nothing(adds, budget):
    builder = ContextBuilder(budget, config=CompressionConfig(must_keep=[PATTERN]))
    for texts in adds:
        before = builder.render()
        try:
            builder.add(texts, query="harbour")
        except BudgetTooSmall:
            assert builder.render() == before
            continue
        assert builder.render().startswith(before)
        assert all(match in builder.render() for match in _matches(texts))


@pytest.mark.parametrize("budget", [25, 40, 80])
def test_it_is_kept_of_a_passage_that_every_filter_would_drop(budget):
    filler = "Ships came into the harbour late that day. " * 20
    passages = [
        Passage("a", f"The default timeout is 30 seconds. {filler}", score=1.0),
        Passage("b", f"{filler}The account is TICKET-123. {filler}", score=0.01),
    ]
    options = {"min_score": 0.5, "top_n": 1, "max_length": 100, "metadata_only": True, "adaptive": True}
    result = compress("default timeout", passages, max_tokens=budget, must_keep=["TICKET-123"], **options)
    assert "The account is TICKET-123." in result.text
    assert "The default timeout is 30 seconds." in result.text
