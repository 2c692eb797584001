"""What names stand for: presets, which are sets of options, and budgets by tier or by share of the context window."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal, get_args

from ctxcompress.data.passages import Kind
from ctxcompress.errors import ConfigError
from ctxcompress.lazy_regex import lazy_regex

__all__ = [
    "NO_LIMIT",
    "PRESETS",
    "QATBE_TYPE_WEIGHTS",
    "TECHNICAL_SYNONYMS",
    "TIERS",
    "Preset",
    "Tier",
    "budget_of",
    "check_budget",
    "is_share",
    "share_of",
    "tokens_in_window",
    "with_one_budget",
]

Preset = Literal["docs", "code", "web", "page"]

QATBE_TYPE_WEIGHTS: Mapping[str, float] = MappingProxyType(
    {
        Kind.CODE: 1.5,
        Kind.TABLE: 1.4,
        Kind.HEADING: 1.3,
        Kind.LIST_ITEM: 1.1,
        Kind.PARAGRAPH: 1.0,
        Kind.QUOTE: 0.9,
        Kind.METADATA: 0.5,
    }
)
"""The published weights of QATBE. They are not the default: on pages with prose and code they lose evidence."""

_GROUPS = """
auth authentication authorization login sign-in; config configuration settings options preferences;
db database; delete remove erase drop; create add make new; update change modify edit;
error exception failure fault; bug defect issue; function method procedure routine;
parameter argument option flag; install setup installation; repo repository; directory folder path;
env environment; k8s kubernetes; js javascript; ts typescript; py python; api interface endpoint;
url link address uri; credential password secret token key; start launch run execute begin;
stop terminate kill halt end; timeout deadline expiry; limit maximum cap quota; default standard preset;
fast quick performance speed; memory ram; cpu processor; docs documentation manual guide;
deploy deployment release rollout; log logging trace; test testing spec; dependency package library module;
async asynchronous concurrent; cache caching memoize; doc document file; fetch get retrieve load;
send post submit push; encrypt encryption cipher
"""

TECHNICAL_SYNONYMS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {word: tuple(others) for word, *others in map(str.split, _GROUPS.split(";"))}
)
"""Words of technical English -> others that mean the same, for the option `synonyms`."""

PRESETS: Mapping[Preset, Mapping[str, object]] = MappingProxyType(
    {
        # A documentation index: many weak results, templates and duplicates.
        "docs": MappingProxyType({"min_score": 0.3, "ngram_threshold": 0.7, "similarity_threshold": 0.85}),
        # Chunks of source files, where similar texts differ in the details that matter.
        "code": MappingProxyType({"metadata_only": True}),
        # The results of a search service: rather all than none.
        "web": MappingProxyType({"min_score": 0.3, "on_empty": "original"}),
        # One long page, and a query that may use other words than the page.
        "page": MappingProxyType({"tier": "summary", "synonyms": TECHNICAL_SYNONYMS}),
    }
)
"""The options of each preset that differ from the defaults. None has a limit that drops evidence while there is room:
the budget decides. docs/how-to/published-settings.md has the options as they were published, with such limits."""

Tier = Literal["key_facts", "summary", "detailed", "complete"]

TIERS: Mapping[Tier, int] = MappingProxyType(
    {"key_facts": 200, "summary": 1_000, "detailed": 5_000, "complete": 20_000}
)
"""Budgets by name, in tokens."""

NO_LIMIT = 1_000_000_000
"""More tokens than any text has."""

_SHARE = lazy_regex(r"(?=.*[1-9])(100(?:\.0{1,6})?|\d{1,2}(?:\.\d{1,6})?)%")
_KEYS = ("max_tokens", "tier")


def check_budget(max_tokens: object, tier: object) -> None:
    """Raise ConfigError unless one of both can be a budget, or neither is given."""
    if max_tokens is not None and tier is not None:
        raise ConfigError(f"both max_tokens={max_tokens!r} and tier={tier!r} are given; give one of them")
    if isinstance(max_tokens, int) and max_tokens < 1:
        raise ConfigError(f"max_tokens is {max_tokens}; it must be at least 1")
    is_number = isinstance(max_tokens, int) and not isinstance(max_tokens, bool)
    if not (max_tokens in (None, "auto") or is_number or is_share(max_tokens)):
        raise ConfigError(
            f"max_tokens is {max_tokens!r}; give a whole number of tokens, at least 1, or 'auto', or a share of the "
            "context window, such as '25%'"
        )
    if tier is not None and tier not in get_args(Tier):
        raise ConfigError(f"tier is {tier!r}; give one of {', '.join(get_args(Tier))}, or max_tokens")


def is_share(max_tokens: object) -> bool:
    """Tell whether a budget is a share of the context window, such as "25%"."""
    return isinstance(max_tokens, str) and _SHARE.fullmatch(max_tokens) is not None


def share_of(share: str, tokens: int) -> int:
    """Return a share such as "25%" of these tokens, at least 0."""
    from fractions import Fraction  # takes time to import, and few calls need it

    return int(Fraction(share.removesuffix("%")) * max(tokens, 0) / 100)


def budget_of(max_tokens: int | str | None, tier: Tier | None, window: int | None) -> int:
    """Return the budget in tokens; for "auto" the most that it can be.

    Raises ConfigError for a share of a context window that is unknown, or so small that nothing is left.
    """
    if isinstance(max_tokens, int):
        return max_tokens
    if max_tokens is None:
        return TIERS[tier or "summary"]
    if max_tokens == "auto":
        return TIERS["detailed"]
    return tokens_in_window("max_tokens", max_tokens, window)


def tokens_in_window(name: str, share: str, window: int | None) -> int:
    """Return a share of the context window, which the argument `name` has. Raises ConfigError as `budget_of` does."""
    if window is None:
        raise ConfigError(
            f"{name} is {share!r}, a share of a context window whose size is not known; give context_window "
            "in tokens, in an adapter a model that tells it, or a number of tokens"
        )
    tokens = share_of(share, window)
    if tokens < 1:
        raise ConfigError(
            f"{name} is {share!r} of context_window={window}, which is less than one token; give a larger share, or a "
            "model with a larger window"
        )
    return tokens


def with_one_budget(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options in which one of `max_tokens` and `tier` replaces the other; None means that it is not given."""
    given = {name: value for name, value in options.items() if value is not None or name not in _KEYS}
    replaced = {name: None for name in _KEYS if name not in given} if given.keys() & set(_KEYS) else {}
    return given | replaced
