"""Arithmetic on spans, against sets of offsets."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from ctxcompress.data.passages import Span
from ctxcompress.data.spans import intersection, inverse

LENGTH = 40
spans = st.lists(st.integers(0, LENGTH), unique=True).map(
    lambda offsets: [Span(*pair) for pair in zip(sorted(offsets)[::2], sorted(offsets)[1::2], strict=False)]
)
touching = spans.map(lambda found: [part for span in found for part in halves(span)])


def halves(span):
    middle = (span.start + span.end) // 2
    return [part for part in (Span(span.start, middle), Span(middle, span.end)) if part.start < part.end]


def offsets(found):
    return {offset for start, end in found for offset in range(start, end)}


def assert_ascending(found):
    assert all(isinstance(span, Span) and span.start < span.end for span in found)
    assert all(one.end <= other.start for one, other in pairwise(found))


@given(st.one_of(spans, touching))
def test_the_inverse_is_the_rest(found):
    rest = inverse(found, LENGTH)
    assert_ascending(rest)
    assert offsets(rest) == set(range(LENGTH)) - offsets(found)


@given(st.one_of(spans, touching), st.one_of(spans, touching))
def test_the_intersection_is_what_both_have(one, other):
    both = intersection(one, other)
    assert_ascending(both)
    assert offsets(both) == offsets(one) & offsets(other)
    assert offsets(intersection(other, one)) == offsets(both)
