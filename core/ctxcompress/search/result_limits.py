"""How many results are kept, how long they may be, and which of them."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypedDict
from urllib.parse import SplitResult, urlsplit

from ctxcompress.config.checks import check_count
from ctxcompress.data.metadata import as_number
from ctxcompress.data.results import Reason
from ctxcompress.errors import ConfigError
from ctxcompress.query.complexity import Complexity, classify_complexity
from ctxcompress.search.shapes import Record

__all__ = ["Drop", "Limits", "SearchOptions", "best_first", "complexity_of", "left_out", "page_of"]

# What is added to an address to know where its reader came from; the page is the same without.
_TRACKING = re.compile(
    r"(?:utm_\w++|gclid|gclsrc|dclid|gbraid|wbraid|fbclid|msclkid|yclid|twclid|ttclid|igshid|mc_cid|mc_eid|_ga|_gl"
    r"|srsltid)(?:=|$)",
    re.IGNORECASE,
)
_PORTS = {"http": ":80", "https": ":443"}


def page_of(address: str) -> str:
    """What all addresses of a page have in common: without scheme, ``www.``, fragment, trailing slash and tracking.

    A fragment that names a page of its own (``#/path``, ``#!path``) stays. What is no address comes back as it is.
    """
    try:
        parts = urlsplit(address.strip())
        host = _host(parts)
    except ValueError:  # an unfinished IPv6 address
        return address
    if not host:
        return address.strip()
    query = "&".join(part for part in parts.query.split("&") if part and not _TRACKING.match(part))
    fragment = f"#{parts.fragment}" if parts.fragment.startswith(("/", "!")) else ""
    return host + parts.path.rstrip("/") + (f"?{query}" if query else "") + fragment


def _host(parts: SplitResult) -> str:
    return parts.netloc.lower().removesuffix(_PORTS.get(parts.scheme.lower(), "\0")).removeprefix("www.")


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
class Drop:
    """Why a result is not kept."""

    reason: Reason
    duplicate_of: int | None = None
    """The place of the result of the same page that is, and says all that this one does."""


def left_out(records: Sequence[Record], limits: Limits, hollow: Collection[int] = ()) -> dict[int, Drop]:
    """Place of a result -> why it is left out, before any text is shortened. hollow: the places of those that say
    nothing, which stay where no other has a text."""
    found: dict[int, Drop] = {}
    least = limits.min_score
    if least is not None:
        weak = [place for place, score in enumerate(map(_score, records)) if score is not None and score < least]
        if len(weak) < len(records):
            found.update(dict.fromkeys(weak, Drop(Reason.SCORE)))
    rest = [place for place in range(len(records)) if place not in found and place not in hollow]
    if any(text.strip() for place in rest for *_, text in records[place].texts()):
        found.update({place: Drop(Reason.BUDGET) for place in hollow if place not in found})
    found.update(_copies(records, [place for place in range(len(records)) if place not in found]))
    ranked = best_first(records, [place for place in range(len(records)) if place not in found])
    found.update(dict.fromkeys(ranked[limits.max_results :], Drop(Reason.LIMIT)))
    return found


def best_first(records: Sequence[Record], places: Sequence[int]) -> list[int]:
    """The places by score; in their order if not all of them have one, for what is unknown is not low."""
    scores = {place: score for place in places if (score := _score(records[place])) is not None}
    return sorted(places, key=lambda place: -scores[place]) if len(scores) == len(places) else list(places)


def _copies(records: Sequence[Record], places: Sequence[int]) -> dict[int, Drop]:
    """The results of whose page another one says the same: all of their text, or more. Of several that say the very
    same the best-scored stays, or the first. Two parts of a page are no copies of each other."""
    pages: dict[str, list[int]] = {}
    for place in places:
        pages.setdefault(page_of(records[place].address or ""), []).append(place)
    found: dict[int, Drop] = {}
    for of_page in pages.values():
        if len(of_page) > 1:
            found.update(_copies_in_page({place: _folded(records[place]) for place in best_first(records, of_page)}))
    return found


def _copies_in_page(texts: Mapping[int, Sequence[str]]) -> Iterator[tuple[int, Drop]]:
    """texts: those of each result, the best one first."""
    kept: dict[int, str] = {}
    for place in sorted(texts, key=lambda place: -sum(map(len, texts[place]))):
        own = "\n".join(texts[place])
        same = next((other for other, text in kept.items() if all(part in text for part in texts[place])), None)
        if same is None:
            kept[place] = own
        else:
            yield place, Drop(Reason.DUPLICATE, same)


def _folded(record: Record) -> list[str]:
    """The texts of a result, whatever their spaces are; in spaces, so that whole words are compared."""
    return [f" {folded} " for *_, text in record.texts() if (folded := " ".join(text.split()))]


def _score(record: Record) -> float | None:
    return as_number(record.fields.get("score"))
