"""How what is kept becomes the final text, and what that costs."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from ctxcompress.select.assemble import assemble
from ctxcompress.select.candidates import Candidates
from ctxcompress.types import Span

__all__ = ["Layout", "Spans"]

Spans = dict[int, tuple[Span, ...]]
"""Passage number -> spans of its text, in order."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The final text: each passage's kept text in its frame, joined by the separator."""

    texts: Sequence[str]
    """Of the passages."""
    separator: str
    frame: Callable[[int, str], str]
    """(number of a passage, its kept text) -> what the reader sees of it."""
    count: Callable[[str], int]

    def spans(self, candidates: Candidates, kept: Iterable[int]) -> Spans:
        """Passage number -> the spans to emit of it, for every passage with something to emit, in order."""
        passage, first = candidates.passage, candidates.first
        spans: Spans = {}
        for index, group in groupby(sorted(kept), key=passage.__getitem__):
            begin, end = first[index], first[index + 1]
            local = [number - begin for number in group]
            found = assemble(self.texts[index], candidates.segments[begin:end], local)
            if found:
                spans[index] = found
        return spans

    def compose(self, spans: Spans) -> str:
        """The final text for these spans of the passages."""
        return self.separator.join(
            self.frame(index, "".join(self.texts[index][start:end] for start, end in parts))
            for index, parts in spans.items()
        )

    def opening(self, index: int) -> int:
        """Tokens that a passage costs before any of its text: its frame and the separator."""
        return self.count(self.frame(index, "")) + self.count(self.separator)
