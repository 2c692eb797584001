"""How many results are kept, how long they may be, and which of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from types import MappingProxyType
from typing import Any, TypedDict

from ctxcompress.checks import check_count
from ctxcompress.errors import ConfigError
from ctxcompress.metadata import as_number
from ctxcompress.query.complexity import Complexity, classify_complexity
from ctxcompress.search.addresses import page_of
from ctxcompress.search.shapes import Record
from ctxcompress.types import Reason

__all__ = ["LeftOut", "Limits", "SearchOptions", "complexity_of", "left_out"]

_LIMITS: Mapping[Complexity, Mapping[str, int]] = MappingProxyType(
    {
        Complexity.SIMPLE: MappingProxyType({"max_results": 3, "max_characters": 300}),
        Complexity.MODERATE: MappingProxyType({"max_results": 4, "max_characters": 400}),
        Complexity.COMPLEX: MappingProxyType({"max_results": 5, "max_characters": 500}),
    }
)


class SearchOptions(TypedDict, total=False):
    """The limits of `compress_search_results`, where they are not those of the question's complexity."""

    max_results: int
    max_characters: int
    max_sentences: int
    min_score: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What results may be kept. Raises ConfigError on a value that cannot work."""

    max_results: int
    max_characters: int
    """Of a result's texts together."""
    max_sentences: int = 3
    min_score: float | None = 0.3

    def __post_init__(self) -> None:
        for name in ("max_results", "max_characters", "max_sentences"):
            check_count(name, getattr(self, name), 1, "or leave it out for what the question needs")
        if self.min_score is not None and as_number(self.min_score) is None:
            raise ConfigError(f"min_score is {self.min_score!r}; give a number, or None to keep results of any score")

    @classmethod
    def of(cls, complexity: Complexity, options: SearchOptions) -> "Limits":
        """Those of a question's complexity, with others in place of some of them."""
        given: Any = {**_LIMITS[complexity], **options}
        return cls(**given)


def complexity_of(given: object, query: str | None) -> Complexity:
    """The complexity that is given, or that of the question; without either, nothing speaks for leaving more out.

    Raises ConfigError.
    """
    if given is None:
        return classify_complexity(query).level if query and query.strip() else Complexity.COMPLEX
    if given not in tuple(Complexity):
        raise ConfigError(f"complexity is {given!r}; give one of {', '.join(Complexity)}, or None to tell it")
    return Complexity(str(given))


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Why a result is not kept."""

    reason: Reason
    duplicate_of: int | None = None
    """The place of the result of the same page that is."""


def left_out(records: Sequence[Record], limits: Limits) -> dict[int, LeftOut]:
    """Place of a result -> why it is left out, before any text is looked at."""
    found = _same_pages(records)
    places = [place for place in range(len(records)) if place not in found]
    least = limits.min_score
    if least is not None:
        weak = [place for place in places if (score := _score(records[place])) is not None and score < least]
        if len(weak) < len(places):
            found.update(dict.fromkeys(weak, LeftOut(Reason.SCORE)))
    ranked = [place for place in places if place not in found]
    found.update(dict.fromkeys(ranked[limits.max_results :], LeftOut(Reason.LIMIT)))
    return found


def _same_pages(records: Sequence[Record]) -> dict[int, LeftOut]:
    """The results of pages of which there is a better one: scored better, or as well and earlier."""
    best: dict[str, int] = {}
    pages = [page_of(record.address or "") for record in records]
    ranks = [(_score(record) if _score(record) is not None else -inf, -place) for place, record in enumerate(records)]
    for place, page in enumerate(pages):
        if ranks[place] > ranks[best.setdefault(page, place)]:
            best[page] = place
    return {place: LeftOut(Reason.DUPLICATE, best[page]) for place, page in enumerate(pages) if best[page] != place}


def _score(record: Record) -> float | None:
    return as_number(record.fields.get("score"))
