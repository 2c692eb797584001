"""How what is kept becomes the final text, and what that costs."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from ctxcompress.documents import Document, Spans
from ctxcompress.select.assemble import assemble
from ctxcompress.select.candidates import Candidates
from ctxcompress.types import Span

__all__ = ["Arrange", "Layout"]

Arrange = Callable[[Iterable[int]], Sequence[int]]
"""From numbers of passages to the order in which they are shown."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The final text: each passage's kept text in its frame, joined by the separator."""

    documents: Sequence[Document]
    passages: Sequence[str]
    """The texts of the passages that the documents are made of."""
    separator: str
    frame: Callable[[int, str], str]
    """(number of a passage, its kept text) -> what the reader sees of it."""
    count: Callable[[str], int]
    arrange: Arrange = sorted

    @property
    def everything(self) -> Spans:
        """Document number -> all of its text."""
        return {number: (Span(0, len(document.text)),) for number, document in enumerate(self.documents)}

    def spans(self, candidates: Candidates, kept: Iterable[int]) -> Spans:
        """Document number -> the spans to emit of it, for every document with something to emit, in order."""
        document, first = candidates.document, candidates.first
        spans: Spans = {}
        for index, group in groupby(sorted(kept), key=document.__getitem__):
            begin, end = first[index], first[index + 1]
            local = [number - begin for number in group]
            found = assemble(self.documents[index].text, candidates.segments[begin:end], local)
            if found:
                spans[index] = found
        return spans

    def of_passages(self, spans: Mapping[int, Sequence[Span]]) -> Spans:
        """Passage number -> its spans, from those of the documents; in the order in which they are shown."""
        found: Spans = {}
        for number, of_document in spans.items():
            found |= self.documents[number].of_passages(of_document)
        return {passage: found[passage] for passage in self.arrange(found)}

    def compose(self, spans: Mapping[int, Sequence[Span]]) -> str:
        """The final text for these spans of the documents."""
        return self.separator.join(
            self.frame(passage, "".join(self.passages[passage][start:end] for start, end in parts))
            for passage, parts in self.of_passages(spans).items()
        )

    def opening(self, passage: int) -> int:
        """Tokens that a passage costs before any of its text: its frame and the separator."""
        return self.count(self.frame(passage, "")) + self.count(self.separator)
