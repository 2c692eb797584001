"""What is kept as the final text: which spans are emitted, what is shown around and between them, what that costs."""

from dataclasses import replace
from itertools import accumulate, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selections import pages

from ctxcompress.data.documents import Document, Piece, documents_as_they_are
from ctxcompress.data.passages import Gap, Kind, Marker, Segment, Span, shown
from ctxcompress.data.table import SegmentTable
from ctxcompress.segment.segments import segment
from ctxcompress.select.layout import Layout, SegmentCosts, Shown, arrangement, assemble, stripped_end, tokens_of


def words(text):
    return len(text.split())


def numbered(position, of_passage):
    return f"[{position}] {of_passage.text}"


def layout_of(*texts, **fields):
    return Layout(documents_as_they_are(texts), texts, "\n\n", numbered, words, **fields)


def table_of(texts):
    return SegmentTable.of(documents_as_they_are(texts), [segment(text) for text in texts])


@st.composite
def kept_of_pages(draw):
    """Some pages as a layout and a table, and some of their segments."""
    texts = draw(st.lists(pages, min_size=1, max_size=3))
    table = table_of(texts)
    return layout_of(*texts), table, draw(st.sets(st.integers(0, len(table.segments) - 1)))


# Spans


@given(text=pages, data=st.data())
def test_assembled_spans_hold_the_kept_segments_and_white_space(text, data):
    segments = segment(text)
    kept = sorted(data.draw(st.sets(st.integers(0, len(segments) - 1))))
    spans = assemble(text, segments, kept)
    covered = {position for start, end in spans for position in range(start, end)}
    assert all(start < end for start, end in spans)
    assert all(one.end < other.start for one, other in pairwise(spans))
    for number, (_, start, end, *_) in enumerate(segments):
        visible = {position for position in range(start, end) if not text[position].isspace()}
        assert covered & visible == (visible if number in kept else set())


def test_what_is_kept_of_two_blocks_stays_apart():
    text = "One. Two.\n\nThree. Four.\n"
    segments = segment(text)
    kept = [n for n, part in enumerate(segments) if text[part.start : part.end].strip() in ("One.", "Four.")]
    assert "".join(text[start:end] for start, end in assemble(text, segments, kept)) == "One.\n\nFour."


def test_what_is_kept_of_one_block_is_parted_as_its_sentences_were():
    text = "One. Two.\nThree. Four."
    assert shown(text, assemble(text, segment(text), [0, 2])) == "One.\nThree."
    assert shown(text, assemble(text, segment(text), [0, 3])) == "One. Four."


def test_all_segments_are_the_whole_text():
    text = " a.\n\nb. \n"
    segments = segment(text)
    assert assemble(text, segments, range(len(segments))) == ((0, len(text)),)


def test_nothing_kept_is_nothing():
    assert assemble("One. Two.", segment("One. Two."), []) == ()
    assert assemble("", [], []) == ()


@pytest.mark.parametrize(("text", "end"), [("one  ", 3), ("one", 3), (" \n ", 0), ("one \n two\n\n", 9)])
def test_where_a_text_ends_without_white_space(text, end):
    assert stripped_end(text, 0, len(text)) == end
    assert stripped_end(f"before{text}after", 6, 6 + len(text)) == 6 + end


@given(kept_of_pages())
def test_spans_are_of_the_documents_that_something_is_kept_of(case):
    layout, table, kept = case
    spans = layout.spans(table, kept)
    assert list(spans) == sorted({table.document[n] for n in kept if table.texts[n].strip()} | spans.keys())
    for number, of_document in spans.items():
        first = table.first[number]
        own = sorted(n - first for n in kept if table.document[n] == number)
        assert of_document == assemble(layout.passages[number], table.segments[first : table.first[number + 1]], own)


# The text


@given(st.lists(pages, min_size=1, max_size=4))
def test_everything_is_each_text_in_its_frame(texts):
    layout = layout_of(*texts)
    assert layout.compose(layout.everything) == "\n\n".join(f"[{n}] {text}" for n, text in enumerate(texts))


@given(kept_of_pages())
def test_what_is_composed_is_what_the_spans_hold(case):
    layout, table, kept = case
    spans = layout.spans(table, kept)
    parts = [shown(layout.passages[number], of_document) for number, of_document in spans.items()]
    assert layout.compose(spans) == "\n\n".join(f"[{n}] {text}" for n, text in enumerate(parts))
    assert list(layout.texts(layout.shown(spans)).values()) == parts


def test_nothing_is_composed_of_nothing():
    assert layout_of("One.").compose({}) == ""


@pytest.mark.parametrize(
    ("before", "text", "final"),
    [
        ("", "", "<>"),
        ("", "new", "<new>"),
        ("old", "", "<old>"),
        ("old", "new", "<old\n\nnew>"),
    ],
)
def test_what_stands_before_and_around_is_of_the_final_text(before, text, final):
    layout = layout_of("One.", before=before, envelope=("<", ">"))
    assert layout.final(text) == final
    assert layout.tokens(text) == words(final)


@pytest.mark.parametrize(
    ("order", "composed"),
    [("source", "0 a, 1 b, 2 c, 3 d"), ("relevance", "0 b, 1 c, 2 d, 3 a"), ("edges", "0 b, 1 d, 2 a, 3 c")],
)
def test_passages_are_numbered_in_the_order_they_are_shown_in(order, composed):
    arrange = arrangement(order, {0: 0.1, 1: 0.9, 2: 0.5, 3: 0.3})
    layout = replace(
        layout_of("a", "b", "c", "d", arrange=arrange), separator=", ", frame=lambda n, of: f"{n} {of.text}"
    )
    assert layout.compose(layout.everything) == composed


def test_a_frame_is_told_of_relevance_and_what_it_is_around():
    told = []
    layout = replace(
        layout_of("One.", "Two."), frame=lambda n, of: told.append((n, of)) or of.text, relevance={1: 0.25}
    )
    layout.compose(layout.everything)
    assert told == [
        (0, Shown(0, "One.", (Span(0, 4),), relevance=1.0)),
        (1, Shown(1, "Two.", (Span(0, 4),), relevance=0.25)),
    ]


def test_a_line_stands_in_the_place_of_its_passage_with_nothing_kept_of_it():
    texts = ("One.", "Two.", "Three.")
    layout = Layout(documents_as_they_are(texts, [0, 2]), texts, "\n\n", numbered, words, lines={1: "about two"})
    spans = layout.everything
    assert layout.of_passages(spans) == {0: (Span(0, 4),), 1: (), 2: (Span(0, 6),)}
    assert layout.compose(spans) == "[0] One.\n\n[1] about two\n\n[2] Three."


def overlapping():
    """Two chunks that share a sentence, as one document in which it stands once."""
    texts = ("One. Two.", "Two. Three.")
    document = Document.of([Piece(0, Span(0, 9)), Piece(1, Span(5, 11), " ")], texts)
    assert document.text == "One. Two. Three."
    return Layout([document], texts, "\n\n", numbered, words)


def test_spans_of_a_document_are_those_of_its_passages():
    layout = overlapping()
    assert layout.of_passages(layout.everything) == {0: (Span(0, 9),), 1: (Span(5, 11),)}
    assert layout.compose(layout.everything) == "[0] One. Two.\n\n[1] Three."
    assert layout.compose({0: (Span(5, 16),)}) == "[0] Two.\n\n[1] Three."
    assert layout.compose({0: (Span(10, 16),)}) == "[0] Three."


# Markers


def test_a_marker_stands_where_something_was_cut_out():
    text = "def f():\n    long()\n    return 1\n"
    gap = Gap(9, 20, "    # ...", "\n", "")
    layout = layout_of(text, gaps={0: [gap]})
    spans = {0: (Span(0, 9), Span(20, len(text)))}
    parts = layout.shown(spans)
    assert parts == {0: ((Span(0, 9), Span(20, len(text))), (Marker(1, "\n    # ..."),))}
    assert layout.compose(spans) == f"[0] {text[:9]}\n    # ...{text[20:]}"


def test_a_marker_within_a_span_cuts_it_in_two():
    layout = layout_of("One. Two. Three.", elide=lambda number, spans: [(5, "(...) ")] if number == 0 else [])
    assert layout.shown(layout.everything) == {0: ((Span(0, 5), Span(5, 16)), (Marker(1, "(...) "),))}
    assert layout.compose(layout.everything) == "[0] One. (...) Two. Three."


def test_a_marker_at_the_end_of_a_document_is_of_its_last_passage():
    layout = replace(overlapping(), elide=lambda number, spans: [(spans[-1].end, " (...)")])
    assert layout.compose(layout.everything) == "[0] One. Two.\n\n[1] Three. (...)"
    assert layout.compose({0: (Span(0, 4),)}) == "[0] One. (...)"


@given(kept_of_pages(), st.data())
def test_a_backslash_is_shown_in_each_of_its_places_that_is_kept(case, data):
    layout, table, kept = case
    escapes = {
        number: sorted(data.draw(st.sets(st.integers(0, len(text) - 1), max_size=5)))
        for number, text in enumerate(layout.passages)
    }
    spans = layout.spans(table, kept)
    escaped = replace(layout, escapes=escapes).shown(spans)
    for number, (parts, markers) in escaped.items():
        text, of_document = layout.passages[number], spans[number]
        places = {place for place in escapes[number] if any(start <= place < end for start, end in of_document)}
        expected = "".join("\\" * (n in places) + text[n] for start, end in of_document for n in range(start, end))
        assert shown(text, parts, markers) == expected
        assert shown(text, parts) == shown(text, of_document)


def test_an_escape_and_a_marker_in_one_place_are_both_shown():
    layout = layout_of("One. Two.", elide=lambda *_: [(5, "(...) ")], escapes={0: [5]})
    assert layout.compose(layout.everything) == "[0] One. (...) \\Two."


# What it costs


@given(kept_of_pages())
def test_parts_counted_one_by_one_are_not_less_than_all_together(case):
    layout, table, kept = case
    spans = layout.spans(table, kept)
    cost = SegmentCosts(table, layout)
    openings = {len(table.segments) + table.passage[n] for n in kept}
    assert layout.tokens(layout.compose(spans)) <= sum(map(cost, kept | openings))


def test_an_opening_is_a_frame_and_a_separator():
    layout = replace(layout_of("One. Two."), separator=" and ", frame=lambda n, of: f"from a page: {of.text}")
    assert layout.opening(0) == 4
    assert layout.cost_of(Shown(0, "One. Two.")) == 6


def test_what_a_segment_costs_is_counted_once_and_only_when_asked():
    asked = []
    layout = replace(layout_of("One. Two. Three."), count=lambda text: asked.append(text) or len(text))
    cost = SegmentCosts(table_of(["One. Two. Three."]), layout)
    assert asked == []
    assert [cost(1), cost(1)] == [4, 4]
    assert asked == ["Two."]


def test_costs_that_are_known_are_not_counted():
    layout = replace(layout_of("One. Two."), count=lambda text: pytest.fail(f"{text!r} is counted"))
    cost = SegmentCosts(table_of(["One. Two."]), layout, [7, 9])
    assert [cost(0), cost(1)] == [7, 9]


def test_before_anything_is_counted_a_segment_may_cost_nothing():
    cost = SegmentCosts(table_of(["One. Two."]), layout_of("One. Two."))
    assert cost.at_least(1) == 0


@given(st.lists(st.integers(1, 30), min_size=2, max_size=8))
def test_what_a_segment_costs_at_least_is_below_what_it_does_cost(lengths):
    text = " ".join("word " * (length - 1) + "end." for length in lengths)
    table = table_of([text])
    cost = SegmentCosts(table, layout_of(text))
    first = cost(0)
    assert cost.at_least(0) == first
    for number in range(1, len(table.segments)):
        assert 0 < cost.at_least(number) <= cost(number) == cost.at_least(number)


@pytest.mark.parametrize(("text", "tokens"), [("one ", 3), ("one\n", 4), ("one  \n ", 6), ("", 0)])
def test_a_space_after_a_segment_is_of_the_next_word(text, tokens):
    assert tokens_of(text, len) == tokens


def test_a_sentence_of_a_later_paragraph_does_not_go_on_in_the_line_of_an_earlier_one():
    parts = ["Directory    Description\n\n", "Some are reserved. ", "They are:\n\n", "next"]
    ends = list(accumulate(map(len, parts), initial=0))
    segments = [Segment(Kind.PARAGRAPH, start, end, 0) for start, end in pairwise(ends)]
    spans = assemble("".join(parts), segments, [0, 2])
    assert shown("".join(parts), spans) == "Directory    Description\n\nThey are:"
