"""Which search results are kept, how many, and how long they may be.

A result is dropped if its score is too low, if another result of the same page contains its text, or if there are
enough better ones. `adaptive` drops more, see ctxcompress.apps.search.compression.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypedDict
from urllib.parse import urlsplit

from ctxcompress.apps.search.shapes import Record
from ctxcompress.config.checks import check_count, check_flag
from ctxcompress.data.metadata import as_number
from ctxcompress.data.results import Reason
from ctxcompress.errors import ConfigError
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.query.complexity import Complexity, classify_complexity

__all__ = [
    "Drop",
    "Limits",
    "SearchLimits",
    "SearchOptions",
    "best_first",
    "complexity_of",
    "find_drops",
    "have_no_scores",
    "page_of",
]

_LIMITS: Mapping[Complexity, Mapping[str, int]] = MappingProxyType(
    {
        Complexity.SIMPLE: MappingProxyType({"max_results": 3, "max_characters": 300}),
        Complexity.MODERATE: MappingProxyType({"max_results": 4, "max_characters": 400}),
        Complexity.COMPLEX: MappingProxyType({"max_results": 5, "max_characters": 500}),
    }
)
# Parameters that tell a site where its visitor came from: the page is the same without them.
_TRACKING = lazy_regex(
    r"(?:utm_\w++|gclid|gclsrc|dclid|gbraid|wbraid|fbclid|msclkid|yclid|twclid|ttclid|igshid|mc_cid|mc_eid|_ga|_gl"
    r"|srsltid)(?:=|$)",
    re.IGNORECASE,
)
_PORTS = {"http": ":80", "https": ":443"}


class SearchOptions(TypedDict, total=False):
    """Limits that replace those of the query's complexity in `compress_search_results`."""

    max_results: int
    max_characters: int
    max_sentences: int
    min_score: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits on search results. Raises ConfigError on an invalid value."""

    max_results: int
    max_characters: int
    """The most characters of all texts of a result together."""
    max_sentences: int = 3
    min_score: float | None = 0.3

    def __post_init__(self) -> None:
        for name in ("max_results", "max_characters", "max_sentences"):
            check_count(name, getattr(self, name), 1, "or omit it to use the limit of the query's complexity")
        if self.min_score is not None and as_number(self.min_score) is None:
            raise ConfigError(f"min_score is {self.min_score!r}; give a number, or None to keep results of any score")

    @classmethod
    def of(cls, complexity: Complexity, options: SearchOptions) -> "Limits":
        """Return the limits of a query's complexity, with `options` in place of some of them."""
        given: Any = {**_LIMITS[complexity], **options}
        return cls(**given)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchLimits:
    """The limits on search results that a tool returns. Raises ConfigError on an invalid value.

    A limit that is None is that of the query's complexity: 3, 4 or 5 results of 300, 400 or 500 characters each.
    """

    max_results: int | None = None
    """The most results."""
    max_characters: int | None = None
    """The most characters of all texts of a result together."""
    max_sentences: int = 3
    """The most sentences of a result."""
    min_score: float | None = 0.3
    """The score below which a result is dropped; None drops none by it."""
    only_over_budget: bool = False
    """Whether results that fit into the budget stay as they are. Otherwise the limits always hold."""

    def __post_init__(self) -> None:
        check_flag("only_over_budget", self.only_over_budget)
        Limits.of(Complexity.COMPLEX, self.options())

    def options(self) -> SearchOptions:
        """Return the limits as `compress_search_results` takes them."""
        options: SearchOptions = {"max_sentences": self.max_sentences, "min_score": self.min_score}
        if self.max_results is not None:
            options["max_results"] = self.max_results
        if self.max_characters is not None:
            options["max_characters"] = self.max_characters
        return options


def complexity_of(given: object, query: str | None) -> Complexity:
    """Return the given complexity, or else that of the query. Without a query it is complex, which keeps most.

    Raises ConfigError.
    """
    if given is None:
        return classify_complexity(query).level if query and query.strip() else Complexity.COMPLEX
    if given not in tuple(Complexity):
        raise ConfigError(
            f"complexity is {given!r}; give one of {', '.join(Complexity)}, or None to detect it from the query"
        )
    return Complexity(str(given))


@dataclass(frozen=True, slots=True)
class Drop:
    """Why a result is dropped."""

    reason: Reason
    duplicate_of: int | None = None
    """The position of the kept result of the same page that contains this one's text."""


def find_drops(records: Sequence[Record], limits: Limits, required: Collection[int] = ()) -> dict[int, Drop]:
    """Map the position of each result that is dropped before any text is scored to the reason.

    required: the positions of the results that are not dropped.
    """
    drops: dict[int, Drop] = {}
    least = limits.min_score
    if least is not None:
        weak = [n for n, score in enumerate(map(_score, records)) if score is not None and score < least]
        if len(weak) < len(records):
            drops.update(dict.fromkeys(weak, Drop(Reason.SCORE)))
    drops.update(_find_duplicates(records, [n for n in range(len(records)) if n not in drops]))
    return {position: drop for position, drop in drops.items() if position not in required}


def best_first(records: Sequence[Record], positions: Sequence[int]) -> list[int]:
    """Sort positions by score, best first. If a score is missing, the order stays: unknown does not mean low."""
    scores = {n: score for n in positions if (score := _score(records[n])) is not None}
    return sorted(positions, key=lambda n: -scores[n]) if len(scores) == len(positions) else list(positions)


def have_no_scores(records: Sequence[Record], positions: Sequence[int]) -> bool:
    """Return whether none of these results has a score."""
    return all(_score(records[n]) is None for n in positions)


def _score(record: Record) -> float | None:
    return as_number(record.fields.get("score"))


def _find_duplicates(records: Sequence[Record], positions: Sequence[int]) -> dict[int, Drop]:
    """Find results whose whole text is in another result of the same page.

    Of equal results the best-scored one stays, or the first. Different parts of a page are no duplicates.
    """
    pages: dict[str, list[int]] = {}
    for position in positions:
        pages.setdefault(page_of(records[position].address or ""), []).append(position)
    drops: dict[int, Drop] = {}
    for of_page in pages.values():
        if len(of_page) > 1:
            drops.update(_duplicates_in_page({n: _padded_texts(records[n]) for n in best_first(records, of_page)}))
    return drops


def _duplicates_in_page(texts: Mapping[int, Sequence[str]]) -> Iterator[tuple[int, Drop]]:
    """texts: those of each result of the page, the best result first."""
    kept: dict[int, str] = {}
    for position in sorted(texts, key=lambda n: -sum(map(len, texts[n]))):
        original = next((n for n, text in kept.items() if all(part in text for part in texts[position])), None)
        if original is None:
            kept[position] = "\n".join(texts[position])
        else:
            yield position, Drop(Reason.DUPLICATE, original)


def _padded_texts(record: Record) -> list[str]:
    """Return a result's texts with single spaces, also around them, so that only whole words match."""
    return [f" {folded} " for _, text in record.texts() if (folded := " ".join(text.split()))]


def page_of(address: str) -> str:
    """Return what all addresses of a page share: no scheme, ``www.``, fragment, trailing slash or tracking parameters.

    A fragment that names a page of its own (``#/path``, ``#!path``) stays. A text that is no address stays as it is.
    """
    try:
        parts = urlsplit(address.strip())
        host = parts.netloc.lower().removesuffix(_PORTS.get(parts.scheme.lower(), "\0")).removeprefix("www.")
    except ValueError:  # an unfinished IPv6 address
        return address
    if not host:
        return address.strip()
    query = "&".join(part for part in parts.query.split("&") if part and not _TRACKING.match(part))
    fragment = f"#{parts.fragment}" if parts.fragment.startswith(("/", "!")) else ""
    return host + parts.path.rstrip("/") + (f"?{query}" if query else "") + fragment
