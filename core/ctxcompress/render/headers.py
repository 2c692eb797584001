"""What a header says of a passage: where it is from, and what the retriever thought of it. It stays on one line."""

import math
import re
from numbers import Real

from ctxcompress.passages import Passage
from ctxcompress.text.labels import one_line, shortened, shortened_path

__all__ = ["known_score", "path_of", "score_of", "section_of", "title_of"]

_LONGEST = 120
"""Characters of a path or a title."""
_LONGEST_HEADING = 80
_MOST_HEADINGS = 8
_GREATEST = 1e6
"""Scores up to which there are no powers of ten."""
_SIGN = re.compile(r"\\*+(?:[§>]|\(-?+\d[\d.e+-]*+\))")
"""A word that would be taken for a sign of the header itself."""


def path_of(passage: Passage) -> str:
    """The path or address of a passage.

    The document's id never stands in for it: it is a hash mostly, which costs much and tells a reader nothing.
    """
    return _guarded(shortened_path(one_line(passage.file_path or ""), _LONGEST))


def title_of(passage: Passage) -> str:
    """The title of a passage; empty where it is the path once more."""
    return _guarded(shortened(one_line(passage.title or ""), _LONGEST)) if passage.title != passage.file_path else ""


def section_of(passage: Passage) -> str:
    """The headings that a passage stands under, the innermost ones if there are many: "Configuration > TLS"."""
    names = (one_line(str(name)) for name in (passage.header_path or ())[-_MOST_HEADINGS:])
    return " > ".join(_guarded(shortened(name, _LONGEST_HEADING)) for name in names if name)


def score_of(passage: Passage, decimals: int) -> str:
    """What the retriever said of a passage; empty where that is not known.

    Not the relevance, which the scorer gives: of the segment that fits best, not of the text that is shown, and not
    comparable with scores that readers know from the retriever.
    """
    score = known_score(passage)
    return "" if score is None else f"{score:.{decimals}{'f' if abs(score) < _GREATEST else 'e'}}"


def known_score(passage: Passage) -> float | None:
    """The score as a number of Python, where it is one that can be compared."""
    score = passage.score
    try:
        known = isinstance(score, Real) and not isinstance(score, bool) and math.isfinite(score)
        return float(score) if known and score is not None else None
    except OverflowError:
        return None


def _guarded(name: str) -> str:
    """With a backslash before each word that is a sign of the header, after any number of backslashes."""
    return " ".join(f"\\{word}" if _SIGN.fullmatch(word) else word for word in name.split(" "))
