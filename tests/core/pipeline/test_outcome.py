"""The outcome of every passage: each character is kept or dropped exactly once, for the right reason."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcompress import Passage
from ctxcompress.data.documents import Document, Piece, documents_as_they_are
from ctxcompress.data.passages import Gap, Marker, Span
from ctxcompress.data.results import Reason
from ctxcompress.data.table import SegmentTable
from ctxcompress.pipeline.presentation import OutcomeBuilder
from ctxcompress.reduce.reduction import Reduction
from ctxcompress.segment.segments import segment
from ctxcompress.select.layout import Layout, arrangement
from ctxcompress.select.selection import Selection
from ctxcompress.text.tokens import TokenCounter

TEXTS = ("One. Two.", "Three.\n\nFour.", " \n", "")


def words(text):
    return len(text.split())


def outcome(
    texts=TEXTS, spans=None, *, documents=None, reasons=None, leaders=None, unlikely=None, known=None, duplicates=None,
    **layout_fields,
):  # fmt: skip
    """The outcome for passages with these texts. spans: document number -> what is kept of it; none for nothing."""
    passages = [Passage(str(number), text) for number, text in enumerate(texts)]
    if documents is None:
        documents = documents_as_they_are(texts, [n for n in range(len(texts)) if n not in (reasons or {})])
    layout = Layout(documents, texts, "\n\n", lambda _, of: of.text, words, **layout_fields)
    text = layout.compose(spans or {})
    selection = Selection(spans or {}, duplicates or {}, text, layout.tokens(text))
    reduction = Reduction(documents, reasons or {}, leaders or {}, ())
    return OutcomeBuilder(passages, reduction, layout, selection, unlikely or {}, known or {})


def kept(built, relevance=None):
    return list(built.kept(dict.fromkeys(range(9), 0.5) if relevance is None else relevance, TokenCounter(words)))


def dropped(built):
    """(number of a passage, reason, text) for all that is dropped."""
    return [(decision.index, decision.reason, decision.text) for decision in built.dropped()]


# What is kept


def test_what_is_kept_is_told_in_the_order_it_is_shown_in():
    spans = {0: (Span(0, 4),), 1: (Span(0, 13),)}
    built = outcome(spans=spans, arrange=arrangement("relevance", {0: 0.1, 1: 0.9}))
    assert [(part.index, part.text, part.spans) for part in kept(built, {0: 0.1, 1: 0.9})] == [
        (1, "Three.\n\nFour.", (Span(0, 13),)),
        (0, "One.", (Span(0, 4),)),
    ]
    assert list(built.spans) == [1, 0]


def test_what_is_kept_has_its_relevance_and_its_tokens():
    parts = kept(outcome(spans={0: (Span(0, 4),), 1: (Span(0, 13),)}), {0: 0.25, 1: 0.75})
    assert [(part.relevance, part.tokens) for part in parts] == [(0.25, 1), (0.75, 2)]


def test_what_is_all_of_the_final_text_is_not_counted_again():
    built = outcome(spans={0: (Span(0, 9),)})
    [part] = built.kept({0: 0.5}, TokenCounter(lambda text: pytest.fail(f"{text!r} is counted")))
    assert part.tokens == 2


def test_markers_are_a_part_of_what_is_kept():
    built = outcome(spans={0: (Span(0, 9),)}, elide=lambda *_: [(5, "(...) ")])
    [part] = kept(built)
    assert (part.text, part.spans, part.markers) == (
        "One. (...) Two.", (Span(0, 5), Span(5, 9)), (Marker(1, "(...) "),),
    )  # fmt: skip


def test_who_stands_for_others_names_them():
    built = outcome(
        ("One.", "One.", "Two.", "One."),
        {0: (Span(0, 4),), 1: (Span(0, 4),)},
        reasons={1: Reason.DUPLICATE, 3: Reason.DUPLICATE},
        leaders={3: 0, 1: 0},
    )
    assert [(part.index, part.stands_for) for part in kept(built)] == [(0, (1, 3)), (2, ())]
    assert [(d.index, d.duplicate_of, d.text) for d in built.dropped()] == [(1, 0, "One."), (3, 0, "One.")]


def test_a_line_about_a_passage_keeps_nothing_of_it():
    built = outcome(("One.", "Two."), {0: (Span(0, 4),)}, reasons={1: Reason.METADATA}, lines={1: "about two"})
    assert [(part.index, part.text, part.spans, part.relevance, part.metadata_only) for part in kept(built)] == [
        (0, "One.", (Span(0, 4),), 0.5, False),
        (1, "about two", (), 0.0, True),
    ]
    assert dropped(built) == [(1, Reason.METADATA, "Two.")]


# What is dropped, and why


def test_what_no_stage_dropped_did_not_fit():
    assert dropped(outcome(spans={0: (Span(0, 4),)})) == [
        (0, Reason.BUDGET, " Two."),
        (1, Reason.BUDGET, "Three.\n\nFour."),
        (2, Reason.EMPTY, " \n"),
        (3, Reason.EMPTY, ""),
    ]


@pytest.mark.parametrize("reason", [Reason.SCORE, Reason.LIMIT, Reason.DUPLICATE])
def test_a_passage_that_a_stage_dropped_is_dropped_whole_for_its_reason(reason):
    built = outcome(spans={0: (Span(0, 9),)}, reasons={1: reason})
    assert dropped(built)[0] == (1, reason, "Three.\n\nFour.")


def test_where_not_even_the_line_about_a_passage_fits_it_is_the_budget():
    built = outcome(("One.", "Two."), {0: (Span(0, 4),)}, reasons={1: Reason.METADATA})
    assert dropped(built) == [(1, Reason.BUDGET, "Two.")]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"unlikely": {0: (Span(5, 9),)}}, Reason.UNLIKELY),
        ({"duplicates": {0: (Span(5, 9),)}}, Reason.DUPLICATE),
        ({"known": {0: (Span(5, 9),)}}, Reason.DUPLICATE),
        ({"gaps": {0: [Gap(5, 9, "...", " ", "")]}}, Reason.TRUNCATED),
    ],
)
def test_a_part_of_a_passage_is_dropped_for_its_reason_and_white_space_with_it(fields, reason):
    assert dropped(outcome(("One. Two.",), {0: (Span(0, 4),)}, **fields)) == [(0, reason, " Two.")]


def test_a_part_that_two_stages_would_have_dropped_has_the_first_reason():
    built = outcome(
        ("One. Two. Three.",),
        {0: (Span(0, 4),)},
        unlikely={0: (Span(5, 16),)},
        duplicates={0: (Span(5, 9),)},
    )
    assert dropped(built) == [(0, Reason.DUPLICATE, " Two."), (0, Reason.UNLIKELY, " Three.")]


def test_what_is_kept_after_all_is_not_dropped():
    built = outcome(("One. Two.",), {0: (Span(0, 9),)}, unlikely={0: (Span(5, 9),)})
    assert dropped(built) == []


def test_what_is_left_beside_a_reason_did_not_fit():
    built = outcome(("One. Two. Three.",), {0: (Span(0, 4),)}, unlikely={0: (Span(5, 9),)})
    assert dropped(built) == [(0, Reason.UNLIKELY, "Two."), (0, Reason.BUDGET, "  Three.")]


def test_what_chunks_share_is_dropped_from_the_one_it_is_not_kept_of():
    texts = ("One. Two.", "Two. Three.")
    documents = [Document.of([Piece(0, Span(0, 9)), Piece(1, Span(5, 11), " ")], texts)]
    built = outcome(texts, {0: (Span(0, 16),)}, documents=documents)
    assert [part.text for part in kept(built)] == ["One. Two.", "Three."]
    assert dropped(built) == [(1, Reason.DUPLICATE, "Two. ")]


PAGES = st.lists(
    st.sampled_from(["# A\n\n", "Text. More text.\n\n", "| a | b |\n|---|---|\n| 1 | 2 |\n\n", "- item\n", " \n", "x"]),
    max_size=6,
).map("".join)


@given(texts=st.lists(PAGES, min_size=1, max_size=4), data=st.data())
def test_every_character_is_kept_or_dropped_once(texts, data):
    alive = [n for n in range(len(texts)) if data.draw(st.integers(0, 3))]
    reasons = {n: data.draw(st.sampled_from(list(Reason))) for n in range(len(texts)) if n not in alive}
    documents = documents_as_they_are(texts, alive)
    table = SegmentTable.of(documents, [segment(texts[n]) for n in alive])
    some = st.sets(st.integers(0, len(table.segments) - 1)) if table.segments else st.just(set())
    layout = Layout(documents, texts, "\n\n", lambda _, of: of.text, words)
    spans = layout.spans(table, data.draw(some))
    unlikely, duplicates = (table.spans(sorted(data.draw(some))) for _ in range(2))
    known = layout.of_passages(table.spans(sorted(data.draw(some))))
    built = outcome(
        texts, spans, documents=documents, reasons=reasons, unlikely=unlikely, known=known, duplicates=duplicates
    )
    parts = [(part.index, span) for part in kept(built) for span in part.spans]
    decisions = list(built.dropped())
    parts += [(decision.index, span) for decision in decisions for span in decision.spans]
    for number, text in enumerate(texts):
        own = sorted(span for index, span in parts if index == number)
        assert [n for start, end in own for n in range(start, end)] == list(range(len(text)))
        assert number in {index for index, _ in parts} or any(decision.index == number for decision in decisions)
    for decision in decisions:
        assert decision.spans == tuple(sorted(decision.spans))
        if decision.reason is Reason.EMPTY and decision.index in alive:
            assert not decision.passage.text.strip()


def test_the_same_passages_can_be_asked_for_again():
    built = outcome(spans={0: (Span(0, 4),)})
    assert kept(built) == kept(built)
    assert dropped(built) == dropped(built)
