"""The research cache: a question like an earlier one gets the context of the earlier one, with a note that says so."""

import json
from asyncio import to_thread
from collections.abc import Awaitable, Callable
from functools import lru_cache
from typing import Any, Generic, NamedTuple, TypeVar, cast

from ctxcompress.cache import Cache
from ctxcompress.config.checks import cache_store, check_count
from ctxcompress.data.metadata import copied
from ctxcompress.encoders.encoder import Encoder, PassageVectors
from ctxcompress.encoders.vectors import Floats, checked_numbers, unit
from ctxcompress.errors import ConfigError, InputError
from ctxcompress.pipeline.call_cache import key_of
from ctxcompress.query.focus import without_courtesy
from ctxcompress.query.terms import query_terms
from ctxcompress.text.language import detect_language
from ctxcompress.text.words import Terms, split_words

__all__ = ["ContextCodec", "Research", "ResearchCache", "question_similarity"]

T = TypeVar("T")


class Research(NamedTuple, Generic[T]):
    """A context; if it is that of an earlier question, that question, and how similar it is to the one asked now."""

    context: T
    earlier: str | None = None
    similarity: float | None = None


class ContextCodec(NamedTuple, Generic[T]):
    """Writes contexts as JSON, with functions to and from what JSON has."""

    to_json: Callable[[T], object] = lambda context: context
    from_json: Callable[[Any], T] = lambda data: data

    def encode(self, context: T, /) -> bytes | None:
        """Return the context as bytes; None if it cannot be written, or would be read back as something else."""
        try:
            data = json.dumps(self.to_json(context), allow_nan=False).encode()
            return data if self.decode(data) == context else None
        except (TypeError, ValueError, RecursionError):
            return None

    def decode(self, data: bytes, /) -> T:
        """Return the context that `encode` wrote. Raises ValueError if it did not write this."""
        try:
            return self.from_json(json.loads(data))
        except (TypeError, KeyError, RecursionError) as error:
            raise ValueError(str(error)) from error

    def estimated_size(self, context: T, /) -> int:
        """Return about how many bytes of memory the context takes: a guess if it cannot be written."""
        return len(self.encode(context) or bytes(20_000))


_AS_IT_IS: ContextCodec[Any] = ContextCodec()


class ResearchCache:
    """Gives a question the context of the earlier one most similar to it, or searches if none is similar enough.

    Without an encoder, that is `question_similarity`; with one, the cosine of vectors. store: a cache;
    one that processes share has nothing in memory (`max_bytes=0`), and stores what JSON has. threshold: the least
    similarity. scope: keeps apart what must not be shared: users, states of a corpus. max_entries: the most questions;
    the least recently used are forgotten first.
    """

    def __init__(
        self,
        encoder: Encoder | PassageVectors | None = None,
        *,
        store: Cache | None = None,
        threshold: float = 0.85,
        scope: str = "default",
        max_entries: int = 500,
    ) -> None:
        if not isinstance(encoder, Encoder | PassageVectors | None):
            raise ConfigError(f"encoder is a {type(encoder).__name__}; give an Encoder, or None to compare keywords")
        if isinstance(threshold, bool) or not isinstance(threshold, int | float) or not 0 < threshold <= 1:
            raise ConfigError(f"threshold is {threshold!r}; give a number above 0 and at most 1")
        cache_store("store", store)
        check_count("max_entries", max_entries, 1)
        self._store = Cache(max_bytes=64_000_000, ttl=3_600) if store is None else store
        self.threshold, self.scope, self.max_entries = threshold, scope, max_entries
        self._similarity = question_similarity if encoder is None else _cosine_of(encoder)

    def context(self, question: str, search: Callable[[str], T], codec: ContextCodec[T] = _AS_IT_IS) -> Research[T]:
        """Return the context of an earlier question, or else what `search` finds, and store that unless it is empty."""
        return self._found(question, codec) or self._stored(question, search(question), codec)

    async def acontext(
        self, question: str, search: Callable[[str], Awaitable[T]], codec: ContextCodec[T] = _AS_IT_IS
    ) -> Research[T]:
        """Do the same with a coroutine function. All but the search runs on another thread."""
        if (found := await to_thread(self._found, question, codec)) is not None:
            return found
        return await to_thread(self._stored, question, await search(question), codec)

    def _found(self, question: str, codec: ContextCodec[T]) -> Research[T] | None:
        if not isinstance(question, str):
            raise InputError(f"the question is a {type(question).__name__}; give a string")
        alike = [(self._similarity(question, earlier), earlier) for earlier in self._asked()]
        for similarity, earlier in sorted(alike, reverse=True):
            if similarity >= self.threshold and (context := self._store.get(self._key(earlier), codec)) is not None:
                self._use(earlier)
                return Research(cast(T, copied(context)), earlier, similarity)
        return None

    def _stored(self, question: str, context: T, codec: ContextCodec[T]) -> Research[T]:
        if context:
            self._store.put(self._key(question), cast(T, copied(context)), codec)
            self._use(question)
        return Research(context)

    def _use(self, question: str) -> None:
        asked = [question, *(other for other in self._asked() if other != question)]
        self._store.put(self._key(), asked[: self.max_entries], _AS_IT_IS)

    def _asked(self) -> list[str]:
        return self._store.get(self._key(), _AS_IT_IS) or []

    def _key(self, *question: str) -> str:
        return str(key_of("research", self.scope, *question))


def question_similarity(one: str, other: str) -> float:
    """Return the share of the keywords of two questions that both have (Jaccard); 1.0 for the same question."""
    ours, theirs = _keywords(one), _keywords(other)
    return 1.0 if one == other else len(ours & theirs) / max(len(ours | theirs), 1)


@lru_cache(4_096)
def _keywords(question: str) -> frozenset[str]:
    asked = without_courtesy(question)
    # A word in capitals is a name in any language: "AI agents" is not Italian.
    language = detect_language(" ".join(word for word in split_words(asked) if not word.isupper()))
    return frozenset(query_terms(asked, language=language, terms=Terms(language), question=asked))


def _cosine_of(encoder: Encoder | PassageVectors) -> Callable[[str, str], float]:
    @lru_cache(4_096)
    def vector(question: str) -> Floats:
        asked = [without_courtesy(question)]
        made = encoder.encode_document(asked) if isinstance(encoder, Encoder) else encoder.encode_passages(asked)
        return unit(checked_numbers(made, "the question", 2)[0])

    return lambda one, other: 1.0 if one == other else min(float(vector(one) @ vector(other)), 1.0)
