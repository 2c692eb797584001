"""The texts that were delivered before, indexed, so that a search for duplicates and overlaps reads only new texts.

An index is never changed: `extended` returns one with more texts. So several threads can go on from the same one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ctxcompress.data.passages import Passage
from ctxcompress.data.table import Floats
from ctxcompress.encoders.encoder import Encoder, PassageVectors
from ctxcompress.encoders.vectors import as_numbers, checked_numbers, unit, without_surrogates
from ctxcompress.errors import ConfigError
from ctxcompress.reduce.duplicates import folded

__all__ = ["DeliveredTexts"]


@dataclass(frozen=True, slots=True)
class DeliveredTexts:
    """An index of the passages that were delivered before. They are numbered from 0."""

    count: int = 0
    first: Mapping[str, int] = field(default_factory=dict)
    """Folded text -> the number of the first passage that has it."""
    vectors: dict[str, Floats] = field(default_factory=dict)
    """Text -> the vector that an encoder made of it, filled by who needs vectors: making them may cost money."""

    def extended(self, passages: Sequence[Passage]) -> "DeliveredTexts":
        """Return an index with these passages after the others."""
        first = dict(self.first)
        for number, passage in enumerate(passages, self.count):
            if text := folded(passage.text):
                first.setdefault(text, number)
        vectors = {text: vector for text, vector in dict(self.vectors).items() if folded(text) in first}
        return DeliveredTexts(self.count + len(passages), first, vectors)

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


def _made(texts: Sequence[str], encoder: Encoder | PassageVectors) -> Floats:
    """Return the normalized vectors that the encoder makes of the texts."""
    made = encoder.encode_document(texts) if isinstance(encoder, Encoder) else encoder.encode_passages(texts)
    vectors = checked_numbers(made, f"{len(texts)} passages", 2)
    if len(vectors) != len(texts):
        raise ConfigError(f"the encoder gave {len(vectors)} vectors for {len(texts)} passages; give one for each")
    return unit(vectors)
