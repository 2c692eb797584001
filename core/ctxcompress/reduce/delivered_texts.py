"""The texts that were delivered before, indexed, so that a search for duplicates and overlaps reads only new texts.

An index is never changed: `extended` returns one with more texts. So several threads can go on from the same one.
"""

from bisect import bisect_right
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from ctxcompress.data.passages import Passage
from ctxcompress.data.table import Floats
from ctxcompress.encoders.encoder import Encoder, PassageVectors
from ctxcompress.encoders.vectors import as_numbers, checked_numbers, unit, without_surrogates
from ctxcompress.errors import ConfigError
from ctxcompress.reduce.duplicates import folded
from ctxcompress.reduce.filters import group_of
from ctxcompress.reduce.overlaps import head_of, heads_in, units_at_ends

__all__ = ["DeliveredTexts"]

_BETWEEN = "\0"
"""A character between the texts of a group, which hardly any text has. Where one has it, texts that do not overlap are
compared, too."""


@dataclass(frozen=True, slots=True)
class DeliveredTexts:
    """An index of the passages that were delivered before. They are numbered from 0."""

    count: int = 0
    first: Mapping[str, int] = field(default_factory=dict)
    """Folded text -> the number of the first passage that has it."""
    groups: Mapping[Hashable, "_Group"] = field(default_factory=dict)
    """Key of a document -> its texts."""
    vectors: dict[str, Floats] = field(default_factory=dict)
    """Text -> the vector that an encoder made of it, filled by who needs vectors: making them may cost money."""

    def extended(self, passages: Sequence[Passage]) -> "DeliveredTexts":
        """Return an index with these passages after the others."""
        first, groups, changed = dict(self.first), dict(self.groups), dict[Hashable, _Group]()
        for number, passage in enumerate(passages, self.count):
            text = folded(passage.text)
            if text and first.setdefault(text, number) != number:
                continue
            key = group_of(passage)
            if key not in changed:
                changed[key] = groups[key].copy() if key in groups else _Group(has_units=key is not None)
            changed[key].add(number, passage.text.rstrip())
        count = self.count + len(passages)
        vectors = {text: vector for text, vector in dict(self.vectors).items() if folded(text) in first}
        return DeliveredTexts(count, first, {**groups, **changed}, vectors)

    def vectors_of(self, passages: Sequence[Passage], encoder: object) -> Floats | None:
        """Return a normalized vector for each passage; None if there is none.

        These are the embeddings of the passages if all of them carry one, else vectors from the encoder, which are
        made once for texts that were delivered before.
        """
        carried = [as_numbers(passage.embedding) for passage in passages if passage.embedding is not None]
        found = [vector for vector in carried if vector is not None and vector.ndim == 1 and np.isfinite(vector).all()]
        if len(found) == len(passages) and len({vector.size for vector in found}) == 1:
            return unit(np.array(found))
        texts = without_surrogates([passage.text for passage in passages])
        if not isinstance(encoder, Encoder | PassageVectors):
            return None
        if not self.count:
            return _made(texts, encoder)
        missing = [text for text in dict.fromkeys(texts) if text not in self.vectors]
        if missing:
            self.vectors.update(zip(missing, _made(missing, encoder), strict=True))
        return np.array([self.vectors[text] for text in texts])

    def beside(self, passages: Sequence[Passage]) -> tuple[list[int], dict[Hashable, int]]:
        """Return the numbers of the passages that may overlap with new ones, and how many others their groups have."""
        texts: dict[Hashable, list[str]] = {}
        for passage in passages:
            texts.setdefault(group_of(passage), []).append(passage.text.rstrip())
        numbers: list[int] = []
        others: dict[Hashable, int] = {}
        for key in texts.keys() & self.groups.keys():
            found = self.groups[key].beside(texts[key])
            numbers += found
            others[key] = len(self.groups[key].numbers) - len(found)
        return sorted(numbers), others


def _made(texts: Sequence[str], encoder: Encoder | PassageVectors) -> Floats:
    """Return the normalized vectors that the encoder makes of the texts."""
    made = encoder.encode_document(texts) if isinstance(encoder, Encoder) else encoder.encode_passages(texts)
    vectors = checked_numbers(made, f"{len(texts)} passages", 2)
    if len(vectors) != len(texts):
        raise ConfigError(f"the encoder gave {len(vectors)} vectors for {len(texts)} passages; give one for each")
    return unit(vectors)


class _Group:
    """The texts of one document, which may overlap with one another."""

    __slots__ = ("_has_units", "_heads", "_partners", "_starts", "_text", "_units", "numbers")

    def __init__(self, *, has_units: bool) -> None:
        """has_units: whether a shared sentence or line at their ends is enough for an overlap."""
        self.numbers: list[int] = []
        self._text = ""
        self._starts: list[int] = []
        """Where each text begins in the text of all."""
        self._heads: dict[str, tuple[int, ...]] = {}
        self._units: dict[str, tuple[int, ...]] | None = {} if has_units else None
        self._partners: dict[int, frozenset[int]] = {}
        """Number -> the texts that contain its head, and the texts whose heads it contains."""

    def copy(self) -> Self:
        copy = type(self)(has_units=self._units is not None)
        copy.numbers, copy._starts, copy._text = list(self.numbers), list(self._starts), self._text
        copy._heads, copy._partners = dict(self._heads), dict(self._partners)
        copy._units = None if self._units is None else dict(self._units)
        return copy

    def add(self, number: int, text: str) -> None:
        partners = frozenset(self._sharing_heads(text, len(self.numbers) + 1))
        self._partners[number] = partners
        for other in partners:
            self._partners[other] |= {number}
        self.numbers.append(number)
        self._starts.append(len(self._text))
        self._text += text + _BETWEEN
        head, _ = head_of(text)
        if head:
            self._heads[head] = (*self._heads.get(head, ()), number)
        if self._units is not None:
            for unit in units_at_ends(text):
                self._units[unit] = (*self._units.get(unit, ()), number)

    def beside(self, texts: Sequence[str]) -> set[int]:
        """Return the texts that may overlap with one of these, and those that overlap with them in turn."""
        size = len(self.numbers) + len(texts)
        found = {number for text in texts for number in self._sharing_heads(text, size)}
        if self._units is not None:
            for unit in set[str]().union(*map(units_at_ends, texts)):
                found.update(self._units.get(unit, ()))
        return found.union(*(self._partners[number] for number in found))

    def _sharing_heads(self, text: str, size: int) -> Iterator[int]:
        """Yield the texts whose head is in `text`, and the texts that have its head."""
        for _, head in heads_in(text, self._heads, size):
            yield from self._heads[head]
        head, _ = head_of(text)
        start = self._text.find(head) if head else -1
        while start >= 0:
            place = bisect_right(self._starts, start)
            yield self.numbers[place - 1]
            start = self._text.find(head, self._starts[place]) if place < len(self._starts) else -1
