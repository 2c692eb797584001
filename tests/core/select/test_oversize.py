"""Segments that are larger than the whole budget: which part of which one is kept."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selections import pages

from ctxcompress.data.documents import documents_as_they_are
from ctxcompress.data.passages import Kind, shown
from ctxcompress.data.table import SegmentTable
from ctxcompress.segment.segments import segment
from ctxcompress.select.layout import Layout
from ctxcompress.select.oversize import best_alone, best_split, opening_fence

FENCED = "```python\nfirst = 1\nsecond = 2\nthird = 3\n```\n"
ROWS = "| name | port |\n|---|---|\n| alpha beta gamma | 80 |\n| delta | 443 |\n"
TWO_FUNCTIONS = "def long():\n    return [1, 2, 3, 4, 5, 6, 7]\n\n\ndef f():\n    pass\n"


def layout_of(*texts, count=len, **fields):
    return Layout(documents_as_they_are(texts), texts, "\n\n", lambda _, of: of.text, count, **fields)


def table_of(texts, name=None):
    return SegmentTable.of(documents_as_they_are(texts), [segment(text, name=name) for text in texts])


def split(text, budget, ranking=None, name=None, **fields):
    """The part that is to be kept, with what closes it; None where nothing is split."""
    table, layout = table_of([text], name), layout_of(text, **fields)
    found = best_split(table, range(len(table.segments)) if ranking is None else ranking, layout, budget)
    if found is None:
        return None
    pieces, number, added = found
    assert len(pieces.segments) == len(table.segments) + added
    return layout.compose(part(layout, table, pieces, number))


def part(layout, table, pieces, number):
    """The spans of a part that is to be kept, with what closes it: a row's header is counted later."""
    return layout.spans(pieces, {number, *pieces.needs(number)[len(table.needs(number)) :]})


def alone(text, budget, ranking=None, name=None, **fields):
    table, layout = table_of([text], name), layout_of(text, **fields)
    numbers = range(len(table.segments)) if ranking is None else ranking
    return layout.compose(best_alone(table, numbers, layout, budget))


@st.composite
def ranked_pages(draw):
    """Some pages as a layout and a table, with a ranking of the segments, and a budget."""
    texts = draw(st.lists(pages, min_size=1, max_size=2))
    table = table_of(texts)
    count = draw(st.sampled_from([len, lambda text: len(text.split()), lambda text: len(text.encode()) // 3]))
    ranking = draw(st.permutations([n for n, text in enumerate(table.texts) if text.strip()]))
    return table, layout_of(*texts, count=count), ranking, draw(st.integers(0, 60))


# A segment is split


def test_the_longest_beginning_that_fits_is_kept():
    assert split("A sentence of seven words is here.", 20) == "A sentence of seven"
    assert split("A sentence of seven words is here.", 19) == "A sentence of seven"
    assert split("A sentence of seven words is here.", 18) == "A sentence of"


@pytest.mark.parametrize("budget", [34, 35, 1_000])
def test_what_fits_is_not_split(budget):
    assert split("A sentence of seven words is here.", budget) is None


def test_where_not_even_the_first_word_fits_another_segment_is_kept_that_does():
    text = "Incomprehensibilities abound. Go on."
    assert split(text, 8, [0, 1]) is None
    assert split(text, 8, [0]) is None


def test_only_the_best_is_split():
    text = "One sentence with many words. Another one with many words."
    assert split(text, 12, [1, 0]) == "Another one"


def test_a_heading_is_not_split():
    text = "# A heading that is long\n\nSome text under it."
    assert split(text, 10, [0, 1]) == "Some text"
    assert split(text, 10, [0]) is None


def test_a_part_of_a_fence_is_whole_lines_with_the_fence_around_it():
    assert split(FENCED, 30) == "```python\nfirst = 1\n```"
    assert split(FENCED, 40) == "```python\nfirst = 1\nsecond = 2\n```"


def test_a_row_is_split_where_it_does_not_fit_with_its_header():
    number = next(n for n, text in enumerate(table_of([ROWS]).texts) if "alpha" in text)
    assert split(ROWS, 51, [number]) is None
    assert split(ROWS, 50, [number]) == "| alpha beta gamma | 80 |"
    assert split(ROWS, 12, [number]) == "| alpha beta"


def test_a_statement_is_not_cut_while_another_one_fits():
    ranking = [0, 1]
    assert split(TWO_FUNCTIONS, 20, ranking, name="a.py") is None
    assert split(TWO_FUNCTIONS, 15, ranking, name="a.py") == "def f():"


def test_after_what_stands_before_only_what_no_budget_has_room_for_is_split():
    text = "A sentence of seven words is here."
    assert split(text, 40, before="0123456789012345678") is None
    assert split(text, 30, before="0123456789012345678") == "A"


def test_after_what_stands_before_a_word_that_no_budget_has_room_for_is_cut():
    assert split("Incomprehensibilities.", 20, before="before") == "Incomprehens"
    assert split("Incomprehensibilities.", 20) is None


@given(ranked_pages())
def test_a_part_that_is_split_fits_and_nothing_is_lost(case):
    table, layout, ranking, budget = case
    found = best_split(table, ranking, layout, budget)
    if found is None:
        return
    pieces, number, added = found
    assert layout.tokens(layout.compose(part(layout, table, pieces, number))) <= budget
    assert pieces.texts[number].strip()
    assert pieces.segments[number].kind is not Kind.HEADING
    assert "".join(pieces.texts) == "".join(layout.passages)
    assert len(pieces.segments) == len(table.segments) + added
    whole = layout.spans(table, {number, *table.needs(number)})
    assert layout.tokens(layout.compose(whole)) > budget


# Nothing can be kept as it should be


def test_the_best_segment_is_kept_whole_with_what_it_needs_where_that_fits():
    number = next(n for n, text in enumerate(table_of([ROWS]).texts) if "delta" in text)
    assert alone(ROWS, 50, [number]) == "| name | port |\n|---|---|\n| delta | 443 |"


def test_else_without_what_it_needs():
    number = next(n for n, text in enumerate(table_of([ROWS]).texts) if "delta" in text)
    assert alone(ROWS, 15, [number]) == "| delta | 443 |"


def test_else_its_beginning():
    assert alone("One sentence of it.", 12) == "One sentence"


def test_a_fence_goes_before_what_is_in_it():
    assert alone(FENCED, 19) == "first = 1\nsecond ="


def test_what_a_list_item_begins_with_goes_before_its_text():
    assert alone("- incomprehensible", 16) == "incomprehensible"


def test_a_heading_is_kept_only_where_there_is_nothing_else():
    text = "# Go\n\nIncomprehensibilities abound."
    assert alone(text, 6, [0, 1]) == "# Go"
    assert alone("# Go\n\nOn it.", 6, [0, 1]) == "On it."


def test_a_word_that_fits_is_kept_before_the_beginning_of_one_that_does_not():
    assert alone("Incomprehensibilities go on.", 4) == "go"
    assert alone("Incomprehensibilities.", 4) == "Inco"


def test_a_word_without_letters_is_none():
    assert alone("Incomprehensibilities ... abound -- on.", 3) == "on."


@pytest.mark.parametrize(("text", "kept"), [("e\u0301e\u0301", "e\u0301"), ("👩\u200d👩x", ""), ("重启服务器", "重启")])
def test_no_character_is_cut_as_readers_see_it(text, kept):
    assert alone(text, 2) == kept


def test_where_not_one_character_fits_nothing_is_kept():
    assert alone("Some text.", 0) == ""
    assert best_alone(table_of([""]), [], layout_of(""), 10) == {}


@given(ranked_pages())
def test_what_is_kept_alone_fits_and_is_of_the_text(case):
    table, layout, ranking, budget = case
    spans = best_alone(table, ranking, layout, budget)
    assert layout.tokens(layout.compose(spans)) <= max(budget, 0)
    assert len(spans) <= 1
    for number, of_document in spans.items():
        kept = shown(layout.passages[number], of_document)
        assert kept
        assert kept == kept.rstrip()


@given(ranked_pages())
def test_more_room_never_leaves_nothing_where_less_does_not(case):
    table, layout, ranking, budget = case
    if best_alone(table, ranking, layout, budget):
        assert best_alone(table, ranking, layout, budget + 10)


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("```\ncode", 4),
        ("~~~python\ncode", 10),
        ("> ```\n> code", 6),
        ("```code```\nmore", 0),
        ("text\n```\ncode", 0),
        ("``\ncode", 0),
        ("```", 0),
        ("", 0),
    ],
)
def test_where_the_line_of_an_opening_fence_ends(text, end):
    assert opening_fence(text) == end
