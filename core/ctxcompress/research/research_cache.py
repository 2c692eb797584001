"""The research cache: a question that was asked before in other words gets the context of the earlier one."""

import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from ctxcompress.cache.memory import MemoryCache
from ctxcompress.cache.protocol import Cache, key_of
from ctxcompress.config.checks import check_count
from ctxcompress.encoders.encoder import AsyncEncoder, Encoder, PassageVectors
from ctxcompress.encoders.static import StaticVectors
from ctxcompress.encoders.vectors import checked_numbers, unit
from ctxcompress.errors import ConfigError, InputError
from ctxcompress.pipeline.threads import on_thread
from ctxcompress.query.focus import without_courtesy
from ctxcompress.research.context_codecs import ENTRIES, HELD, ContextCodec, Entry, Held, Vector
from ctxcompress.research.same_question import QuestionForm, ask_the_same

__all__ = ["Research", "ResearchCache", "ResearchStats"]

T = TypeVar("T")

_STATIC_THRESHOLD = 0.85
"""For StaticVectors; see docs/how-to/research-cache.md for what it finds and what it confuses."""

_log = logging.getLogger("ctxcompress")


@dataclass(frozen=True, slots=True)
class Research(Generic[T]):
    """A context, and where it comes from."""

    context: T
    question: str
    """The question that was asked."""
    earlier: str | None = None
    """The earlier question whose context this is; None if it was searched for now."""
    similarity: float | None = None
    """The cosine similarity of the two questions."""
    age: float = 0.0
    """Seconds since the context was searched for."""
    corpus_version: str = ""

    @property
    def is_reused(self) -> bool:
        """Whether the context is that of an earlier question."""
        return self.earlier is not None


class ResearchStats(NamedTuple):
    """What a cache has done since it was made."""

    hits: int
    misses: int
    entries: int
    """The contexts of the current corpus version."""


class ResearchCache:
    """Gives a question the context of an earlier one that asks the same, for the same corpus and within `max_age`.

    A question asks the same if its similarity to the earlier one is at least `threshold`, and if nothing is found that
    makes them different: content words, numbers, names, negations, question words, tense, or who does what to whom.
    Greetings and thanks do not count. Only English questions are compared in this way; in other languages a question
    must have the same words in the same order. Reuse is never silent: the `Research` that is returned names the earlier
    question, and there is a line in the log.

    encoder: `StaticVectors()`, or another encoder with a `threshold` of its own. store: a cache of ctxcompress.cache; a
    `MemoryCache` of 64 MB if there is none. With a `DiskCache` it outlives the process, and other processes share it;
    contexts that cannot be written as JSON are then not stored. max_age: seconds. corpus_version: names the state of
    the corpus; a function is called each time. scope: keeps retrievers or users with different contexts apart.
    max_entries: the most contexts; the oldest are forgotten first. clock: the time in seconds since 1970.

    Threads can share it. Raises ConfigError for a wrong argument.
    """

    def __init__(
        self,
        encoder: Encoder | PassageVectors,
        *,
        store: Cache | None = None,
        threshold: float | None = None,
        max_age: float = 3_600.0,
        corpus_version: str | Callable[[], str] = "",
        scope: str = "default",
        max_entries: int = 500,
        clock: Callable[[], float] = time.time,
    ) -> None:
        _check(encoder, threshold, max_age, max_entries, store)
        self._encoder, self._store = encoder, MemoryCache(max_bytes=64_000_000) if store is None else store
        self.threshold = _STATIC_THRESHOLD if threshold is None else threshold
        self.max_age, self.scope, self.max_entries = max_age, scope, max_entries
        self._version, self._clock = corpus_version, clock
        self._lock = Lock()
        self._hits = self._misses = 0

    @property
    def corpus_version(self) -> str:
        """The current version of the corpus."""
        return self._version if isinstance(self._version, str) else self._version()

    def context(
        self, question: str, search: Callable[[str], T], *, codec: ContextCodec[T] | None = None
    ) -> Research[T]:
        """Return the context of an earlier question that asks the same, or else what `search` finds, and store that.

        An empty context is not stored. codec: writes contexts that JSON does not have, for a store outside memory.
        Raises InputError if the question is not a string, and what `search` and the encoder raise.
        """
        version, vector = self.corpus_version, self._vector(question)
        found = self._found(question, vector, version, codec or ContextCodec())
        if found is not None:
            return found
        context = search(question)
        self._put(question, vector, version, context, codec or ContextCodec())
        return Research(context, question, corpus_version=version)

    async def acontext(
        self, question: str, search: Callable[[str], Awaitable[T]], *, codec: ContextCodec[T] | None = None
    ) -> Research[T]:
        """Do the same with a coroutine function. Reading and writing run on another thread."""
        if isinstance(self._encoder, AsyncEncoder):
            vector = _checked_vector(await self._encoder.aencode_query(_asked(question)))
        else:
            vector = await on_thread(lambda: self._vector(question))
        version = self.corpus_version
        found = await on_thread(lambda: self._found(question, vector, version, codec or ContextCodec()))
        if found is not None:
            return found
        context = await search(question)
        await on_thread(lambda: self._put(question, vector, version, context, codec or ContextCodec()))
        return Research(context, question, corpus_version=version)

    def clear(self) -> None:
        """Forget all questions of this scope and of the current version of the corpus."""
        with self._lock:
            self._write(self.corpus_version, ())

    def stats(self) -> ResearchStats:
        """Return the hits and misses of this object, and the entries of the current version."""
        with self._lock:
            return ResearchStats(self._hits, self._misses, len(self._read(self.corpus_version)))

    def _found(self, question: str, vector: Vector, version: str, codec: ContextCodec[T]) -> Research[T] | None:
        form, now = QuestionForm.of(_checked(question)), self._clock()
        with self._lock:
            entries = self._read(version)
        near = [
            (_similarity(entry, question, vector), entry.at, entry) for entry in entries if self._is_fresh(entry, now)
        ]
        for similarity, _, entry in sorted(near, key=lambda found: found[:2], reverse=True):
            if similarity < self.threshold:
                break
            if ask_the_same(QuestionForm.of(entry.question), form) and (held := self._held(entry, version, codec)):
                return self._reused(question, entry, similarity, max(now - entry.at, 0.0), held, version)
        with self._lock:
            self._misses += 1
        return None

    def _reused(
        self, question: str, entry: Entry, similarity: float, age: float, held: Held, version: str
    ) -> Research[Any]:
        with self._lock:
            self._hits += 1
        _log.info("the context of an earlier question is reused: similarity %.3f, %.0f s old", similarity, age)
        return Research(held.value, question, entry.question, similarity, age, version)

    def _put(self, question: str, vector: Vector, version: str, context: T, codec: ContextCodec[T]) -> None:
        if not context:
            return
        now, data = self._clock(), codec.encode(context)
        entry = Entry(question, now, vector)
        key = self._context_key(entry, version)
        if key is None:
            return
        self._store.put(key, Held(data, None if data is not None else context), HELD)
        with self._lock:
            others = [
                other for other in self._read(version) if other.question != question and self._is_fresh(other, now)
            ]
            self._write(version, (*others, entry)[-self.max_entries :])

    def _held(self, entry: Entry, version: str, codec: ContextCodec[Any]) -> Held | None:
        """Return what is stored of an entry, with its context read; None if it is gone or damaged."""
        key = self._context_key(entry, version)
        held = None if key is None else self._store.get(key, HELD)
        if held is None or held.data is None:
            return held
        try:
            return Held(held.data, codec.decode(held.data))
        except ValueError as error:
            _log.warning("the context of an earlier question cannot be read (%s); it is searched for again", error)
            return None

    def _is_fresh(self, entry: Entry, now: float) -> bool:
        return now - entry.at <= self.max_age

    def _read(self, version: str) -> Sequence[Entry]:
        key = self._index_key(version)
        return () if key is None else self._store.get(key, ENTRIES) or ()

    def _write(self, version: str, entries: Sequence[Entry]) -> None:
        if (key := self._index_key(version)) is not None:
            self._store.put(key, tuple(entries), ENTRIES)

    def _index_key(self, version: str) -> str | None:
        return key_of("research", self.scope, version, _name(self._encoder))

    def _context_key(self, entry: Entry, version: str) -> str | None:
        return key_of("research", self.scope, version, _name(self._encoder), entry.question, entry.at)

    def _vector(self, question: str) -> Vector:
        if isinstance(self._encoder, PassageVectors):
            return _checked_vector(np.asarray(self._encoder.encode_passages([_asked(question)]))[0])
        return _checked_vector(self._encoder.encode_query(_asked(question)))


def _similarity(entry: Entry, question: str, vector: Vector) -> float:
    """Return the cosine, or 1.0 for the same words: an encoder may know none of them."""
    is_same = _asked(entry.question).split() == _asked(question).split()
    return 1.0 if is_same else min(float(entry.vector @ vector), 1.0)


def _name(encoder: object) -> str:
    return f"{type(encoder).__module__}.{type(encoder).__qualname__}"


def _checked(question: object) -> str:
    if not isinstance(question, str):
        raise InputError(f"the question is a {type(question).__name__}; give a string")
    return question


def _asked(question: object) -> str:
    """Return a question without greetings and thanks."""
    return without_courtesy(_checked(question))


def _checked_vector(vector: Any) -> Vector:
    return unit(checked_numbers(vector, "the question", 1)).astype(np.float32)


def _check(encoder: object, threshold: object, max_age: object, max_entries: object, store: object) -> None:
    if not isinstance(encoder, PassageVectors | Encoder):
        raise ConfigError(f"encoder is a {type(encoder).__name__}; give StaticVectors() or another Encoder")
    if threshold is None and not isinstance(encoder, StaticVectors):
        raise ConfigError(
            f"threshold is None with {type(encoder).__name__}; only StaticVectors has a measured one, so give a cosine "
            "similarity, such as 0.9"
        )
    if threshold is not None and (
        isinstance(threshold, bool) or not isinstance(threshold, int | float) or not 0 < threshold <= 1
    ):
        raise ConfigError(f"threshold is {threshold!r}; give a cosine similarity above 0, at most 1")
    if isinstance(max_age, bool) or not isinstance(max_age, int | float) or not max_age > 0:
        raise ConfigError(f"max_age is {max_age!r}; give seconds, more than 0")
    check_count("max_entries", max_entries, 1)
    if store is not None and not isinstance(store, Cache):
        raise ConfigError(f"store is a {type(store).__name__}; give one of ctxcompress.cache, such as MemoryCache()")
