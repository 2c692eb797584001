"""Passages that a splitter cut within a sentence."""

from ctxcompress import compress

REST = "be restarted regardless of how it ended. Gulls nest on the roof of the hall. The ferry leaves at four."
OTHERS = [f"The office of site {n} painted its north hall before the fair of that year." for n in range(9)]


def test_a_passage_that_begins_within_a_sentence_says_so_where_part_of_it_is_kept() -> None:
    result = compress("What will be restarted?", [*OTHERS, REST], max_tokens=16)
    assert "[…] be restarted regardless" in result.text
    assert result.tokens <= 16


def test_it_stays_as_it_is_where_all_of_it_is_kept() -> None:
    assert compress("What will be restarted?", [REST], max_tokens=90).text == REST
    assert f"\n\n{REST}" in compress("What will be restarted?", [*OTHERS, REST], max_tokens=60).text
