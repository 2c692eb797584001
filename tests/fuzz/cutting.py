"""Compress what an input says, and check what holds of every compression."""

from accounts import MARKERS, assert_partition, assert_shown
from fuzzing import Given

from ctxcompress import Compression, Passage, compress
from ctxcompress.errors import InputError


def cut(given: Given, name: str | None, **options: object) -> Compression | None:
    """Return the compression of the text; None if the text is refused."""
    try:
        passage = Passage("p", given.text, file_path=name)
        result = compress(given.query, [passage], max_tokens=given.budget, **options)
    except InputError:
        return None
    assert result.tokens <= given.budget
    for kept in result.passages:
        assert_shown(kept, given.text)
        # Those of HTML are marks of lists and quotes and white space, too.
        assert not any(mark.text.strip() not in MARKERS and any(map(str.isalpha, mark.text)) for mark in kept.markers)
    assert_partition(result, [given.text])
    return result
