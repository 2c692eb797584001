"""The outputs of tools: which argument of a call is the query, and how texts and search results are made shorter."""

import json
import re
import types
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self, TypeVar

from ctxcompress.agents.markers import LeftOut, Shorter, is_json
from ctxcompress.apps.search.compression import SearchCompression, compress_search_results
from ctxcompress.apps.search.result_limits import SearchLimits, SearchOptions
from ctxcompress.apps.search.shapes import read_shape, shown_to_model
from ctxcompress.compressor import Compressor
from ctxcompress.config.options import CompressionConfig
from ctxcompress.config.presets import is_share, share_of
from ctxcompress.data.results import Compression
from ctxcompress.errors import BudgetTooSmall, ConfigError, InputError, warn
from ctxcompress.guarded import on_own_thread, on_thread
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.segment.formats import data_outline
from ctxcompress.text.tokens import TokenCounter

__all__ = [
    "QUERY_NAMES",
    "OutputCompressor",
    "SearchLimits",
    "asked_query",
    "check_limits",
    "class_with",
    "has_records",
    "named_query",
    "on_own_thread",
    "on_thread",
    "only_text",
    "shown_to_model",
]

QUERY_NAMES = ("query", "q", "question", "search_query", "input")
"""The names of arguments that hold a query, the most telling first."""
Result = TypeVar("Result")
_STATEMENT = lazy_regex(
    r"\s*+(?:select\b[^;]{0,2000}?\bfrom\b|insert\s++into\b|update\s++\S++\s++set\b|delete\s++from\b|with\s++\w++\s++as\s*+\("
    r"|(?:create|alter|drop|truncate)\s++(?:or\s++replace\s++)?(?:table|view|index|database|schema|function)\b"
    r"|match\s*+\()",
    re.IGNORECASE,
)
"""How a statement of a query language begins."""
_SIGNS = lazy_regex(r"\A[-+/.~]++\w|[={}<>|$\\_\[\]*@]|\w\(|://|:\d")
_WORDS_TO_SIGN = 3
"""A query of which more than a third of the words have signs is no question."""
_MOST_WORDS = 60

# A language model reads this.
_NOTHING_KEPT = "Nothing in this result answers the query."

_CHARACTERS_PER_TOKEN = 8
"""More than texts really have, so that a page is limited by its tokens and not by its characters."""


@dataclass(frozen=True, slots=True)
class OutputCompressor:
    """A compressor for what tools return, within the budget of `config`."""

    config: CompressionConfig
    min_tokens: int
    """Shorter outputs stay as they are."""
    complexity: str | None = None
    """The complexity of every query, which limits search results; None classifies each query."""
    search_limits: SearchLimits | None = None
    """The limits on search results; with None, results that do not fit have those of the query's complexity."""

    def for_query(self, query: str | None) -> Self:
        """Return the same with the budget that "auto" means for `query`."""
        return replace(self, config=Compressor(self.config).resolve_auto_budget(query).config)

    @property
    def is_share(self) -> bool:
        """Whether the budget is a share of what is left of the context window."""
        return is_share(self.config.max_tokens)

    def in_window(self, tokens_left: int) -> Self:
        """Return the same with its share of these tokens as the budget, or `min_tokens` if that is more."""
        tokens = share_of(str(self.config.max_tokens), tokens_left)
        return replace(self, config=self.config.with_options(max_tokens=max(tokens, self.min_tokens, 1)))

    def with_rules_that_fit(self, shorten: Callable[[Self], Result]) -> Result:
        """Return what `shorten` makes with this; without `must_keep`, and with a warning, if that names more than fits.

        It is for results that are kept whole: a result with many matches must not end the run of an agent.
        """
        try:
            return shorten(self)
        except BudgetTooSmall as error:
            warn(f"must_keep does not hold for a tool's result, which can be expanded: {error}")
            return shorten(replace(self, config=self.config.with_options(must_keep=())))

    def count(self, text: str) -> int:
        """Return the number of tokens of a text."""
        return Compressor(self.config).count(text)

    def compress(self, texts: Sequence[str], query: str | None, *, separator: str | None = None) -> Compression:
        """Compress texts that are not search results. separator: in place of the one in `config`."""
        config = self.config if separator is None else self.config.with_options(separator=separator)
        return Compressor(config).compress_part(query, texts)

    def said_nothing(self) -> str:
        """Return what a language model reads where nothing of a text is kept; "" if that is over the budget."""
        return _NOTHING_KEPT if self.count(_NOTHING_KEPT) <= self.config.budget else ""

    def data(self, output: object, query: str | None) -> Shorter | None:
        """Compress a list or a mapping, which a model reads as JSON; None if it is no JSON or fits.

        The result is a list or a mapping again, or text where not one value fits with the brackets around it.
        """
        if not isinstance(output, list | dict) or not is_json(text := shown_to_model(output)):
            return None
        result = self.compress([text], query)
        if result.text == text:
            return None
        content, tokens = json.loads(result.text) if is_json(result.text) else result.text, result.tokens
        if not result.text:
            content = self.emptied(output)
            tokens = self.count(shown_to_model(content))
        return Shorter(content, result.stats.original_tokens, tokens, LeftOut.of_items(output, content))

    def emptied(self, output: Sequence[object] | Mapping[Any, object]) -> list[object] | dict[Any, object]:
        """Return a list or a mapping without its values. A mapping keeps the keys of lists and mappings if they fit."""
        if not isinstance(output, Mapping):
            return []
        empty: dict[Any, object] = {k: type(value)() for k, value in output.items() if isinstance(value, list | dict)}
        return empty if self.count(shown_to_model(empty)) <= self.config.budget else {}

    def emptied_text(self, text: str) -> str:
        """Return the JSON of an empty list or mapping for JSON of which nothing is kept, "" for any other text."""
        try:
            value = json.loads(text) if text.lstrip().startswith(("[", "{")) else None
        except (ValueError, RecursionError):
            return ""
        return shown_to_model(self.emptied(value)) if isinstance(value, list | dict) else ""

    def search_results(
        self,
        output: object,
        query: str | None,
        max_tokens: int | None = None,
        *,
        shown: Callable[[object], str] = shown_to_model,
    ) -> SearchCompression[Any] | None:
        """Compress search results, in their shape; None if the output is none by its keys, or they stay as they are.

        max_tokens: in place of the budget. shown: returns the output as a language model reads it.
        """
        shape = read_shape(output)
        if shape is None or not shape.is_evident:
            return None
        limits, fits = self.search_limits, self.count(shown(output)) <= self.config.budget
        if fits and (limits is None or limits.only_over_budget):
            if not self.config.adaptive:
                return None
            limits = _no_limits(self.config.budget)
        return self._results(output, query, self.config.budget if max_tokens is None else max_tokens, limits)

    def _results(
        self, output: Any, query: str | None, max_tokens: int, limits: SearchLimits | None
    ) -> SearchCompression[Any] | None:
        """Compress search results.

        Without `limits`, as many results are kept as fit into `max_tokens`, each within the limits of the query's
        complexity; a single result, such as a fetched page, may take the whole budget. If everything around the results
        already exceeds the budget, only the limits hold, and the output may be over the budget.
        """
        config = self.config
        if config.telemetry and TokenCounter(config.encoding).fits(shown_to_model(output), max_tokens) is not None:
            config = config.with_options(telemetry=False)  # tools leave what fits as it is, so nothing is saved
        compressed = partial(compress_search_results, output, query, complexity=self.complexity, config=config)
        given: SearchOptions = {"max_results": max_tokens} if limits is None else limits.options()
        with Compressor(config).observed(), suppress(InputError):
            try:
                found = compressed(max_tokens=max_tokens, **given)
                if limits is None and found.original_count == 1:
                    found = compressed(max_tokens=max_tokens, **_no_limits(max_tokens).options())
            except ConfigError:
                found = compressed(**({} if limits is None else given))
            return found
        return None


def _no_limits(max_tokens: int) -> SearchLimits:
    """Return limits that no result within `max_tokens` exceeds."""
    most = max_tokens * _CHARACTERS_PER_TOKEN
    return SearchLimits(max_results=most, max_characters=most, max_sentences=most, min_score=None)


def has_records(text: str) -> bool:
    """Return whether a text is data that can be cut at its records, as JSON or as Python writes it."""
    return bool(data_outline(text))


def check_limits(min_tokens: object, complexity: str | None, search_limits: object = None) -> None:
    """Raise ConfigError where `min_tokens` is no number of tokens, `complexity` no complexity of a query, or
    `search_limits` no limits."""
    if search_limits is not None and not isinstance(search_limits, SearchLimits):
        raise ConfigError(f"search_limits is {search_limits!r}; give ctxcompress.apps.search.SearchLimits(...) or None")
    if isinstance(min_tokens, bool) or not isinstance(min_tokens, int) or min_tokens < 0:
        raise ConfigError(f"min_tokens is {min_tokens!r}; give a whole number of tokens, or 0 to compress all results")
    compress_search_results([], None, complexity=complexity)


def named_query(arguments: Mapping[str, object], names: Collection[str] = QUERY_NAMES) -> str | None:
    """Return the argument of a call that is a query by its name."""
    return next((value for name in names if isinstance(value := arguments.get(name), str) and value.strip()), None)


def asked_query(arguments: Mapping[str, object]) -> str | None:
    """Return the argument of a call that is a query by its name, if it reads as words: as a question or keywords.

    A command, a statement of SQL or an expression says what to fetch, and not what the user wants to know of it.
    """
    query = named_query(arguments)
    if query is None or _STATEMENT.match(query):
        return None
    words = query.split()[:_MOST_WORDS]
    return query if _WORDS_TO_SIGN * sum(_SIGNS.search(word) is not None for word in words) <= len(words) else None


def only_text(arguments: Iterable[object]) -> str | None:
    """Return the one argument of a call that is a text."""
    texts = [value for value in arguments if isinstance(value, str) and value.strip()]
    return texts[0] if len(texts) == 1 else None


def class_with(kind: type, methods: Mapping[str, Any]) -> type:
    """Return a subclass that has other methods, and looks like `kind` in every other way."""
    names = {"__module__": kind.__module__, "__qualname__": kind.__qualname__, "__doc__": kind.__doc__}
    return types.new_class(kind.__name__, (kind,), exec_body=lambda body: body.update(names | dict(methods)))
