"""Shortening the texts of search results to their key sentences."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ctxcompress.apps.search.key_sentences import KeySentences
from ctxcompress.apps.search.shapes import Record, TextKey
from ctxcompress.config.options import CompressionConfig
from ctxcompress.data.passages import Passage, Span

__all__ = ["ResultText", "ShortenedResult", "Shortener", "name_of", "passage_of"]


@dataclass(frozen=True, slots=True)
class ResultText:
    """A text of a result."""

    position: int
    """Position of the result."""
    key: TextKey
    text: str


@dataclass(frozen=True, slots=True)
class ShortenedResult:
    """What is kept of the texts of one result."""

    spans: Mapping[TextKey, Sequence[Span]]
    changed: Mapping[TextKey, str]
    """The texts that are shorter now."""


class Shortener:
    """Shortens the texts of results, and remembers each result at each length."""

    __slots__ = ("_known", "_numbers", "_sentences", "_texts")

    def __init__(
        self,
        query: str,
        records: Sequence[Record],
        texts: Mapping[int, Sequence[ResultText]],
        config: CompressionConfig,
    ) -> None:
        self._texts = [text for position in sorted(texts) for text in texts[position]]
        self._numbers: dict[int, list[int]] = {position: [] for position in texts}
        for number, text in enumerate(self._texts):
            self._numbers[text.position].append(number)
        passages = [
            Passage(name_of(text.position, records[text.position]), text.text, title=records[text.position].title)
            for text in self._texts
        ]
        self._sentences = KeySentences(query, passages, config)
        self._known: dict[tuple[int, int], ShortenedResult] = {}

    def worth(self, position: int) -> float:
        """Return how well the best sentence of a result answers the query."""
        return self._sentences.worth(self._numbers[position])

    def unlikely(self, positions: Sequence[int], config: CompressionConfig) -> list[int]:
        """Return the positions of the results that the query hardly needs. If it needs none, `on_empty` decides."""
        found = [n for n in positions if self._sentences.are_unlikely(self._numbers[n])]
        if found and len(found) == len(positions) and config.on_empty != "drop":
            found.remove(max(found, key=self.worth))
        return found

    def shorten(self, position: int, characters: int, sentences: int) -> ShortenedResult:
        """Return the key sentences of a result, at most so many and with so many characters together."""
        if (position, characters) not in self._known:
            kept = self._sentences.choose(self._numbers[position], characters, sentences)
            self._known[position, characters] = ShortenedResult(
                {self._texts[n].key: part.spans for n, part in kept.items()},
                {self._texts[n].key: part.text for n, part in kept.items() if part.text != self._texts[n].text},
            )
        return self._known[position, characters]


def name_of(position: int, record: Record) -> str:
    """Return the address of a result, or its position if it has none."""
    return record.address or str(position)


def passage_of(position: int, record: Record, text: ResultText | None = None) -> Passage:
    """Return a text of a result as a passage; without `text` one that is empty."""
    metadata = {"key": text.key[0]} if text else {}
    return Passage(name_of(position, record), text.text if text else "", title=record.title, metadata=metadata)
