"""Parts of a text: what spans cover, and what they leave."""

from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from ctxcompress.data.passages import Gap, Marker, Span, intersection, inverse, joined, markers_for, merged, stripped

LENGTH = 24
sets = st.frozensets(st.integers(0, LENGTH - 1))


def spans_of(places):
    """The longest spans of these characters."""
    return joined(Span(place, place + 1) for place in sorted(places))


def covered(spans):
    return {place for start, end in spans for place in range(start, end)}


def is_in_order(spans):
    return all(start < end for start, end in spans) and all(one.end < other.start for one, other in pairwise(spans))


@given(places=sets)
def test_what_spans_leave_is_all_that_they_do_not_cover(places):
    left = inverse(spans_of(places), LENGTH)
    assert is_in_order(left)
    assert covered(left) == set(range(LENGTH)) - places


@given(one=sets, other=sets)
def test_an_intersection_is_what_both_cover(one, other):
    found = intersection(spans_of(one), spans_of(other))
    assert is_in_order(found)
    assert covered(found) == one & other


def test_joined_spans_have_no_empty_ones():
    assert joined([Span(1, 1), Span(2, 4), Span(4, 5), Span(7, 7), Span(8, 9)]) == (Span(2, 5), Span(8, 9))


@given(text=st.text(st.sampled_from("a \n"), min_size=LENGTH, max_size=LENGTH), places=sets)
@example(text=f"  {'a' * (LENGTH - 2)}", places=frozenset(range(9)))  # the indentation of the first line of a text
def test_stripped_spans_lose_only_white_space_at_both_ends_but_no_indentation(text, places):
    spans = spans_of(places)
    found = stripped(spans, text)
    visible = {place for place in places if not text[place].isspace()}
    assert covered(found) >= visible
    assert covered(found) <= places
    if visible:
        first, last = min(visible), max(visible)
        begin = text.rfind("\n", 0, first) + 1
        assert found[-1].end == last + 1
        assert found[0].start == (begin if places.issuperset(range(begin, first)) else first)
    else:
        assert not found


def test_the_marker_of_a_body_wins_where_other_text_is_missing_too():
    body, missing, other = Marker(1, "\n    ..."), Marker(1, " […]"), Marker(2, " […]")
    assert merged([missing, other], [body]) == (body, other)
    assert merged([body], [missing, other]) == (body, other)
    assert merged([body], [Marker(1, "\n...")]) == (body,)
    assert merged([missing], [Marker(1, "[…] ")]) == (missing,)


def test_a_gap_before_the_first_span_has_a_marker_if_it_ends_there():
    gap = Gap(0, 4, "[…]", "\n", "[…]")
    assert markers_for([Span(4, 9)], [gap]) == (Marker(0, "[…]\n"),)
    assert markers_for([Span(6, 9)], [gap]) == ()
