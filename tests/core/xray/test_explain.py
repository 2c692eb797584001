"""Why a piece of the input was kept or dropped, in words."""

import pytest

from ctxcompress import Compression, Passage, compress
from ctxcompress.data.results import Explanation, Reason
from ctxcompress.errors import InputError

QUESTION = "what is the default timeout?"
TEXT = "The pool has ten connections. The default timeout is 30 seconds."
LIST = "# Retries\n\nThe client retries on failure:\n\n- It waits 2 seconds.\n- It gives up after the default timeout."
PASSAGES = [
    Passage("a", TEXT, score=0.9),
    Passage("b", TEXT, score=0.8),
    Passage("c", "The logo was redrawn in spring.", score=0.1),
    Passage("d", LIST, score=0.7),
]


@pytest.fixture(scope="module")
def result() -> Compression:
    return compress(QUESTION, PASSAGES, max_tokens=30, min_score=0.2)


def explained(result: Compression, quote: str, passage: int) -> Explanation:
    [found] = [each for each in result.explain(quote) if each.index == passage]
    return found


def test_the_best_text_is_kept_for_its_score(result: Compression) -> None:
    found = explained(result, "timeout is 30", 0)
    assert found.text == "The default timeout is 30 seconds."
    assert found.reason is None
    assert found.why.startswith("kept: its score is 0.")
    assert "rank 1 of" in found.why


def test_what_was_dropped_for_the_budget_has_a_score_and_a_rank(result: Compression) -> None:
    found = explained(result, "ten connections", 0)
    assert found.reason is Reason.BUDGET
    assert "Other text is worth more of the budget. Its score is" in found.why


def test_a_duplicate_names_the_passage_that_stands_for_it(result: Compression) -> None:
    found = explained(result, "timeout is 30", 1)
    assert found.reason is Reason.DUPLICATE
    assert found.why.endswith("Passage 0 stands for it.")


def test_a_filter_is_named(result: Compression) -> None:
    found = explained(result, "The logo", 2)
    assert (found.reason, found.text) == (Reason.SCORE, "The logo")
    assert "below min_score" in found.why


def test_what_came_along_says_so(result: Compression) -> None:
    assert explained(result, "client retries", 3).why.endswith("better text cannot be read without it")


def test_a_quote_over_several_segments_has_an_explanation_of_each(result: Compression) -> None:
    found = [each for each in result.explain(TEXT) if each.index == 0]
    assert [each.reason for each in found] == [Reason.BUDGET, None]
    assert "".join(each.text for each in found) == TEXT


def test_everything_fits() -> None:
    [found] = compress(QUESTION, [TEXT], max_tokens=100).explain("The pool")
    assert found.why == "kept: everything fits into 100 tokens"


def test_must_keep_is_named() -> None:
    [found] = compress(QUESTION, [TEXT], max_tokens=8, must_keep=["ten connections"]).explain("ten connections")
    assert found.why == "kept: must_keep names it"


@pytest.mark.parametrize("quote", ["not there", "", " "])
def test_a_quote_that_is_nowhere_is_refused(result: Compression, quote: str) -> None:
    with pytest.raises(InputError, match="is in no passage; give a text as it stands in the input"):
        result.explain(quote)


def test_only_strings_are_quotes(result: Compression) -> None:
    with pytest.raises(InputError, match="quote is a int; give a string"):
        result.explain(3)  # type: ignore[arg-type]
