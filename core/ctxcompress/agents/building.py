"""What the context builders of both frameworks have in common: their items, their saved form, their tools."""

from abc import ABC, abstractmethod
from collections import Counter, OrderedDict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from threading import Lock
from typing import Any, ClassVar, Generic, Self, TypeVar

from ctxcompress.agents.builder import Addition, ContextBuilder
from ctxcompress.agents.context_state import plain_data
from ctxcompress.config.checks import check_count
from ctxcompress.config.options import CompressionConfig
from ctxcompress.data.must_keep import read_rules, written
from ctxcompress.data.passages import Passage
from ctxcompress.data.results import Decision, KeptPassage, Reason
from ctxcompress.errors import BudgetTooSmall, ConfigError, InputError
from ctxcompress.render.formats import path_of, title_of
from ctxcompress.text.lines import one_line, shortened

__all__ = [
    "ADD",
    "STATUS",
    "Addition",
    "Branches",
    "FrameworkBuilder",
    "ItemPassage",
    "KeptPassage",
    "aadd_found",
    "add_found",
    "latest_context",
    "plain_data",
    "room_for_search",
]

Item = TypeVar("Item")
_Builder = TypeVar("_Builder", bound="FrameworkBuilder[Any]")

# A language model reads these texts.
ADD = (
    "Search the documents and add what answers the query to your context. Returns only text that the context does not "
    "have yet. The context has a limited size: context_status tells how much room is left."
)
STATUS = "Tell which sources your context has already, and how many tokens are left in it."
_NOTHING_FOUND = "Nothing was found. Search again with other words."
_NOTHING_NEW = "Nothing new: the context has what was found already."
_NO_ANSWER = "Nothing was added: what was found hardly answers the query. Search again with other words."
_NO_ROOM = "Nothing was added: {remaining} of {max_tokens} tokens are left, too few for what was found."

_NO_ROOM_FOR_RULES = (
    "Nothing was added: {remaining} of {max_tokens} tokens are left, and what was found has parts that must be kept "
    "and take {needed}."
)

_LONGEST = 80
"""The most characters of a source's name."""
_MOST_SOURCES = 20
_MOST_BRANCHES = 64
_SHARE = 4
"""Of the budget, one search gets a quarter unless told otherwise: the first would take it all."""
_NOT_NEEDED = frozenset({"cache", "telemetry"})
"""Options that need not be given again: the context is the same without them."""


@dataclass(frozen=True, slots=True)
class ItemPassage(Passage):
    """A passage that carries the framework's item that it was made of."""

    item: Any = field(default=None, kw_only=True, compare=False, repr=False)

    @classmethod
    def of(cls, passage: Passage, item: object) -> "ItemPassage":
        """Return the passage with its item."""
        return cls(**{each.name: getattr(passage, each.name) for each in fields(Passage)}, item=item)


@dataclass(frozen=True, slots=True)
class ContextStatus:
    """What is in a context, and what room is left."""

    passages: int
    sources: Mapping[str, int]
    """The path, title or id of each source -> the number of its passages, in the order of the context."""
    tokens: int
    max_tokens: int

    @property
    def remaining(self) -> int:
        """The tokens that are left."""
        return self.max_tokens - self.tokens

    def __str__(self) -> str:
        room = f"{self.tokens:,} of {self.max_tokens:,} tokens; {self.remaining:,} are left"
        if not self.passages:
            return f"The context is empty: {room}."
        shown = list(self.sources.items())[:_MOST_SOURCES]
        lines = [f"- {name}: {_counted(number, 'passage')}" for name, number in shown]
        more = len(self.sources) - len(shown)
        parts = f"{_counted(self.passages, 'passage')} of {_counted(len(self.sources), 'source')}"
        return "\n".join([f"The context has {parts}: {room}.", *lines, *([f"- {more} more"] if more else [])])


class FrameworkBuilder(ABC, Generic[Item]):
    """A ContextBuilder that takes and returns the items of a framework, and that can be saved."""

    _TYPE: ClassVar[str]
    """The name of the saved form."""

    def __init__(self, max_tokens: int | None = None, **options: Any) -> None:
        self._options = {**({} if max_tokens is None else {"max_tokens": max_tokens}), **options}
        self._config = self._config_of(self._options)
        self._builder = ContextBuilder(config=self._config)
        self._written: Sequence[Any] = ()
        """The items of passages that came from a saved context, as they were written."""

    @staticmethod
    @abstractmethod
    def _config_of(options: Mapping[str, Any]) -> CompressionConfig:
        """Return the options as the core takes them."""

    @abstractmethod
    def _write(self, item: Item) -> Any:
        """Return an item without its text, as data that JSON can hold."""

    @abstractmethod
    def _read(self, data: Any, text: str) -> Item:
        """Return the item that `_write` wrote."""

    @property
    def max_tokens(self) -> int:
        """The budget in tokens."""
        return self._builder.max_tokens

    @property
    def remaining(self) -> int:
        """The exact number of tokens left in the budget, with separators counted."""
        return self._builder.remaining

    def render(self) -> str:
        """Return the context: the kept text in the order in which it was added, in the format of the options."""
        return self._builder.render()

    def status(self) -> ContextStatus:
        """Return what is in the context, and what room is left."""
        parts = self._builder.passages
        sources = Counter(_source(part.original) for part in parts)
        return ContextStatus(len(parts), sources, self.max_tokens - self.remaining, self.max_tokens)

    def to_dict(self) -> dict[str, Any]:
        """Return the context as data that JSON can hold: all that was added, kept or dropped, and the options.

        An option that JSON cannot hold, such as `encoder`, must be given to `from_dict` again. Metadata that it cannot
        hold, such as a date, becomes text.
        """
        context = self._builder.to_state()
        added = self._builder.resumed(context).added  # of the very same state, whatever was added since
        items = [
            self._write(passage.item) if isinstance(passage, ItemPassage) else self._written[position]
            for position, passage in enumerate(added)
        ]
        options = {name: value for name, value in _written(self._options) if _is_plain(value)}
        missing = sorted(self._options.keys() - options.keys() - _NOT_NEEDED)
        return {"type": self._TYPE, "options": options, "not_saved": missing, "context": context, "items": items}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], **options: Any) -> Self:
        """Return a builder that goes on from a saved context as if it had never been interrupted.

        data: what `to_dict` returned. options: replace the saved ones.

        Raises InputError if the data are damaged or of another version, and ConfigError if an option that could not be
        saved is missing.
        """
        saved, not_saved = _checked(data, cls._TYPE)
        missing = [name for name in not_saved if name not in options]
        if missing:
            raise ConfigError(
                f"{missing[0]} could not be saved with the context; give it again: from_dict(data, {missing[0]}=...)"
            )
        return cls(**{**saved, **options}).resumed(data)

    def resumed(self, data: Mapping[str, Any] | None) -> Self:
        """Return a builder with the same options that goes on from a saved context, or from an empty one for None.

        A context that it, or a builder resumed from it, returned lately takes no time to load.
        """
        other = type(self)(**self._options)
        if data is None:
            return other
        _checked(data, self._TYPE)
        other._builder = self._builder.resumed(data["context"])
        other._written = data["items"]
        if len(other._written) != len(other._builder.added):
            raise InputError("the saved context is damaged: it has not one item for each passage; begin a new one")
        return other

    def _item(self, position: int, passage: Passage) -> Item:
        """Return the item of a passage. position: among all that were ever added."""
        if isinstance(passage, ItemPassage):
            item: Item = passage.item
            return item
        return self._read(self._written[position], passage.text)

    def _kept(self, parts: Sequence[KeptPassage]) -> list[tuple[Item, KeptPassage]]:
        return [(self._item(part.index, part.original), part) for part in parts]

    def _dropped(self, decisions: Sequence[Decision]) -> list[tuple[Item, Decision]]:
        return [(self._item(found.index, found.passage), found) for found in decisions]


def room_for_search(builder: FrameworkBuilder[Any], tokens_per_search: int | None) -> int:
    """Return the most tokens that one search may add. Raises ConfigError unless it is a whole number, at least 1."""
    if tokens_per_search is not None:
        check_count("tokens_per_search", tokens_per_search, 1, "or None for a quarter of the budget")
    return tokens_per_search or max(1, builder.max_tokens // _SHARE)


def add_found(builder: Any, items: Sequence[object], query: str, most: int) -> tuple[str, Any]:
    """Add what a search found to a framework's builder.

    Return what the language model reads of it, and what was added; None where `must_keep` names more than fits.
    """
    try:
        added = builder.add(items, query, max_tokens=most)
    except BudgetTooSmall as error:
        return _without_room(error, builder), None
    return _message(added, builder), added


async def aadd_found(builder: Any, items: Sequence[object], query: str, most: int) -> tuple[str, Any]:
    """Do the same with `aadd`."""
    try:
        added = await builder.aadd(items, query, max_tokens=most)
    except BudgetTooSmall as error:
        return _without_room(error, builder), None
    return _message(added, builder), added


def _message(added: Any, builder: FrameworkBuilder[Any]) -> str:
    """Return the new text, or why there is none."""
    if added.text:
        return str(added.text)
    if not added.reasons:
        return _NOTHING_FOUND
    if set(added.reasons) <= {Reason.DUPLICATE, Reason.EMPTY}:
        return _NOTHING_NEW
    if Reason.BUDGET not in added.reasons:
        return _NO_ANSWER
    return _NO_ROOM.format(remaining=builder.remaining, max_tokens=builder.max_tokens)


def _without_room(error: BudgetTooSmall, builder: FrameworkBuilder[Any]) -> str:
    return _NO_ROOM_FOR_RULES.format(remaining=builder.remaining, max_tokens=builder.max_tokens, needed=error.tokens)


def latest_context(one: Mapping[str, Any] | None, other: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Return the context that has had more added. The searches of one step add to one context, one after the other."""
    if not one or not other:
        return one or other
    return other if _age(other) >= _age(one) else one


class Branches(Generic[_Builder]):
    """The builders of the running steps of agents, so that searches at the same time share a budget.

    All searches of a step read the same saved context. The first makes a builder of it, and the others add to that one.
    A search that is run again, as when an agent goes back in time, begins with what is saved.
    """

    def __init__(self, builder: _Builder) -> None:
        """builder: has the options of all."""
        self._builder = builder
        self._lock = Lock()
        self._running: OrderedDict[Hashable, tuple[_Builder, set[Hashable]]] = OrderedDict()

    def join(self, data: Mapping[str, Any] | None, step: Hashable, call: Hashable) -> _Builder:
        """Return the builder of a step. data: the saved context. call: what tells this search from others."""
        key = (step, None if data is None else data["context"]["checksum"])
        with self._lock:
            builder, calls = self._running.pop(key, (None, set[Hashable]()))
            if builder is None or call in calls:
                builder, calls = self._builder.resumed(data), set()
            self._running[key] = builder, {*calls, call}
            while len(self._running) > _MOST_BRANCHES:
                self._running.popitem(last=False)
        return builder


def _age(data: Mapping[str, Any]) -> tuple[int, int]:
    return len(data["context"]["passages"]), len(data["context"]["queries"])


def _checked(data: object, kind: str) -> tuple[dict[str, Any], list[str]]:
    """Return the saved options, and the names of those that were not saved."""
    if not isinstance(data, Mapping) or data.get("type") != kind:
        raise InputError(f"{type(data).__name__} is no saved {kind}; give what to_dict() returned")
    options, missing, items = data.get("options"), data.get("not_saved"), data.get("items")
    if not (isinstance(options, Mapping) and isinstance(missing, list | tuple) and isinstance(items, list | tuple)):
        raise InputError(f"the saved {kind} is damaged; give what to_dict() returned, or begin a new one")
    return dict(options), list(missing)


def _written(options: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    """Yield the options, with the rules of `must_keep` as JSON has them unless one is a function."""
    for name, value in options.items():
        rules = written(read_rules(name, value)) if name == "must_keep" else None
        yield name, value if rules is None else rules


def _is_plain(value: object) -> bool:
    """Tell whether JSON holds a value as it is."""
    if isinstance(value, Mapping):
        return all(isinstance(key, str) and _is_plain(item) for key, item in value.items())
    if isinstance(value, list):
        return all(map(_is_plain, value))
    return value is None or type(value) in (str, int, float, bool)


def _source(passage: Passage) -> str:
    return path_of(passage) or title_of(passage) or shortened(one_line(passage.doc_id or passage.id), _LONGEST)


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
