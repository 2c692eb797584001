"""What must hold of every result: an account of each character, and nothing but the input and declared markers."""

from collections.abc import Iterable, Mapping

from ctxcompress import Compression
from ctxcompress.data.passages import shown
from ctxcompress.data.results import Decision, KeptPassage

MARKERS = ("...", "case _: ...", "# ...", "// ...", "-- ...", "[…]")


def assert_verbatim(result: Compression, given: list[str]) -> None:
    """Every kept text is the join of ascending, disjoint spans of the passage it says it is of, in source order, and of
    declared markers."""
    assert [kept.index for kept in result.passages] == sorted({kept.index for kept in result.passages})
    for kept in result.passages:
        assert_shown(kept, given[kept.index])
        assert all(marker.text.strip() in MARKERS for marker in kept.markers)


def assert_shown(kept: KeptPassage, text: str) -> None:
    """A kept text is the join of ascending, disjoint spans and markers, or a line about its passage."""
    if kept.metadata_only:
        assert kept.spans == kept.markers == ()
    else:
        assert kept.text == shown(text, kept.spans, kept.markers)
        assert all(one.end <= other.start for one, other in zip(kept.spans, kept.spans[1:], strict=False))


def assert_partition(result: Compression, given: list[str]) -> None:
    """Every character of every passage is kept once or dropped once."""
    assert_accounted((*result.passages, *result.dropped), dict(enumerate(given)))


def assert_accounted(parts: Iterable[KeptPassage | Decision], came: Mapping[int, str]) -> None:
    """Every character of each of these passages is kept once or dropped once, and nothing is of others."""
    spans: dict[int, list[tuple[int, int]]] = {index: [] for index in came}
    for part in parts:
        assert list(part.spans) == sorted(part.spans)
        spans[part.index] += part.spans or [(0, 0)]
    for index, text in came.items():
        assert spans[index]
        ends = 0
        for start, end in sorted(spans[index]):
            assert start == ends <= end
            ends = end
        assert ends == len(text)
