"""Of very many passages, only a shortlist is looked at, unless more than words may decide."""

import pytest

from ctxcompress import Compression, Passage, compress
from ctxcompress.cache import Cache
from ctxcompress.encoders import StaticVectors

QUESTION = "Which harbour do the ferries to Gotska leave from?"
ANSWER = "The ferries to Gotska leave from the harbour of Nynäs."
TEXTS = [f"Report {number}: the weather was calm and nothing was seen." for number in range(6_000)]
TEXTS[4_321] = ANSWER
PASSAGES = [Passage(f"p{number}", text) for number, text in enumerate(TEXTS)]


def shortlisted(result: Compression) -> int | None:
    return next((stage.items_out for stage in result.stages if stage.name == "shortlist"), None)


@pytest.mark.parametrize("cache", [None, Cache()])
def test_the_answer_among_thousands_is_kept(cache):
    for question in (QUESTION, "Where is the harbour of Nynäs?"):  # another one must not get the shortlist of the first
        result = compress(question, PASSAGES, max_tokens=40, cache=cache)
        assert shortlisted(result) == 2_000
        assert ANSWER in result.text
        assert result.tokens <= 40


def test_every_passage_is_accounted_for():
    result = compress(QUESTION, PASSAGES, max_tokens=40)
    assert result.input_passages() == PASSAGES
    covered = sum(end - start for part in (*result.passages, *result.dropped) for start, end in part.spans)
    assert covered == sum(map(len, TEXTS))
    assert [decision.index for decision in result.dropped] == sorted(decision.index for decision in result.dropped)
    assert "- Shortlist (2000 with most words of the query)" in result.stats.summary()
    assert result.stats.original_count == len(TEXTS)


@pytest.mark.parametrize(
    "options",
    [
        {"must_keep": ["Report 17"]},
        {"top_n": 3_000},
        {"language": "ar"},
        {"encoder": StaticVectors()},
    ],
)
def test_all_are_looked_at_if_more_than_words_decide(options):
    assert shortlisted(compress(QUESTION, PASSAGES, max_tokens=40, **options)) is None


@pytest.mark.parametrize(
    "line", ["2026-11-20 12:00:{0:02d} INFO worker-{0} done in {0} ms", '{{"id": {0}, "status": "ok"}}']
)
def test_all_are_looked_at_if_they_are_log_lines_or_records(line):
    texts = [line.format(number % 60) + " " * (number // 60) for number in range(6_000)]
    assert shortlisted(compress("Why did it fail?", texts, max_tokens=40)) is None
