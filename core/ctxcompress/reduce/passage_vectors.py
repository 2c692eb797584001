"""The vectors of passages, by which duplicates in meaning are found."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ctxcompress.data.passages import Passage
from ctxcompress.encoders.encoder import Encoder, PassageVectors
from ctxcompress.encoders.vectors import as_numbers, checked_numbers, unit, without_surrogates
from ctxcompress.errors import ConfigError
from ctxcompress.reduce.delivered_texts import DeliveredTexts

__all__ = ["vectors_of"]


def vectors_of(passages: Sequence[Passage], encoder: object, before: DeliveredTexts) -> NDArray[np.float64] | None:
    """Return a normalized vector for each passage; None if there is none.

    These are the embeddings of the passages if all of them carry one, else vectors from the encoder. before: the texts
    that were delivered before, with the vectors that are known of them.
    """
    carried = [as_numbers(passage.embedding) for passage in passages if passage.embedding is not None]
    found = [vector for vector in carried if vector is not None and vector.ndim == 1 and np.isfinite(vector).all()]
    if len(found) == len(passages) and len({vector.size for vector in found}) == 1:
        return unit(np.array(found))
    texts = without_surrogates([passage.text for passage in passages])
    if not isinstance(encoder, Encoder | PassageVectors):
        return None
    if not before.count:
        return _made(texts, encoder)
    known = before.vectors
    missing = [text for text in dict.fromkeys(texts) if text not in known]
    if missing:
        known.update(zip(missing, _made(missing, encoder), strict=True))
    return np.array([known[text] for text in texts])


def _made(texts: Sequence[str], encoder: Encoder | PassageVectors) -> NDArray[np.float64]:
    """Return the normalized vectors that the encoder makes of the texts."""
    made = encoder.encode_document(texts) if isinstance(encoder, Encoder) else encoder.encode_passages(texts)
    vectors = checked_numbers(made, f"{len(texts)} passages", 2)
    if len(vectors) != len(texts):
        raise ConfigError(f"the encoder gave {len(vectors)} vectors for {len(texts)} passages; give one for each")
    return unit(vectors)
