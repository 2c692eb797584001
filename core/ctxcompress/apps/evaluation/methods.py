"""The methods that are compared: each makes of a query and its passages a text within a budget."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from ctxcompress.compressor import Compressor
from ctxcompress.config.options import CompressionConfig, starting_config
from ctxcompress.data.passages import Passage
from ctxcompress.data.results import Compression
from ctxcompress.encoders import encoder_named
from ctxcompress.encoders.encoder import Encoder, PassageVectors
from ctxcompress.errors import ConfigError, InputError, MissingExtra
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.text.tokens import Encoding, TokenCounter

__all__ = ["JOIN", "NAMES", "Method", "Named", "method_named"]

JOIN = "\n\n"
"""What stands between two passages in a prompt."""
_OF_FILTER = ("langchain_classic", "langchain_community")
"""The packages that EmbeddingsFilter needs."""
_WORD_END = lazy_regex(r"\S+")
_WORD = lazy_regex(r"\w+")
_BREAK = lazy_regex(r"\n+|(?<=[.!?])[^\S\n]+|(?<=[。！？])(?!$)")


@runtime_checkable
class Method(Protocol):
    """A way to make passages smaller. One that has a method `why`, as `Named`, says why it dropped something."""

    @property
    def name(self) -> str:
        """The name in the report."""

    def __call__(self, query: str, passages: Sequence[Passage], max_tokens: int, /) -> str:
        """Return a text for the prompt, of at most `max_tokens` tokens."""


_Run = Callable[[str, Sequence[Passage], int], str]


class Named(NamedTuple):
    """A method that is known by its name."""

    name: str
    run: _Run

    def __call__(self, query: str, passages: Sequence[Passage], max_tokens: int, /) -> str:
        return self.run(query, passages, max_tokens)

    def why(self, query: str, passages: Sequence[Passage], max_tokens: int, lost: Sequence[str]) -> tuple[str, ...]:
        """Return in words why each of these pieces was dropped; "" where the method does not know."""
        if not isinstance(self.run, _Compressing):
            return ("",) * len(lost)
        result = self.run.result(query, passages, max_tokens)
        return tuple(_reason(result, piece) for piece in lost)

    def xray(self, query: str, passages: Sequence[Passage], max_tokens: int) -> str:
        """Return a page that shows what was kept and dropped of every passage; "" if the method has none."""
        return self.run.result(query, passages, max_tokens).xray() if isinstance(self.run, _Compressing) else ""


def method_named(name: str, encoding: Encoding) -> Named:
    """Return the method of a name, which counts tokens by `encoding`. Raises ConfigError, and MissingExtra.

    | name | method |
    |---|---|
    | `default` | this package, as it is |
    | `adaptive`, `adaptive:PROBABILITY` | the same with `adaptive=True`, or that probability |
    | `bm25` | the best sentences by the package rank-bm25: what an afternoon's work gives |
    | `first` | the passages in order, cut at the budget |
    | `preset:NAME`, `encoder:NAME`, `config:PATH` | this package with a preset, an encoder, the options of a file |
    | `EmbeddingsFilter:ENCODER` | the best whole passages by the EmbeddingsFilter of LangChain |
    """
    kind, _, argument = name.partition(":")
    made = _METHODS.get(kind)
    if made is None or (argument and not made.argument):
        raise ConfigError(f"there is no method {name!r}; give {', '.join(NAMES)}")
    if made.argument and not argument and not made.is_optional:
        raise ConfigError(f"method {name!r} needs {made.argument} after a colon, such as {made.example}")
    return Named(name, made.make(argument, encoding))


class _Compressing:
    """This package with some options."""

    def __init__(self, config: CompressionConfig, encoding: Encoding) -> None:
        # Without a cache, since a cache would make the first budget of each question pay for all.
        self._compressor = Compressor(config.with_options(encoding=encoding, cache=None))

    def __call__(self, query: str, passages: Sequence[Passage], max_tokens: int) -> str:
        return self.result(query, passages, max_tokens).text

    def result(self, query: str, passages: Sequence[Passage], max_tokens: int) -> Compression:
        return self._compressor.compress(query, passages, max_tokens=max_tokens)


def _compressing(options: Callable[[Any], CompressionConfig]) -> Callable[[str, Encoding], _Run]:
    return lambda argument, encoding: _Compressing(options(argument), encoding)


def _adaptive(probability: str) -> CompressionConfig:
    try:
        return CompressionConfig(adaptive=float(probability) if probability else True)
    except ValueError:
        raise ConfigError(f"adaptive is {probability!r}; give a probability, such as adaptive:0.05") from None


def _reason(result: Compression, lost: str) -> str:
    try:
        return next((part.why for part in result.explain(lost) if part.reason), "")
    except InputError:  # a relevant document may stand in the passages in another form
        return ""


def _first(_: str, encoding: Encoding) -> _Run:
    count = TokenCounter(encoding)
    return lambda _, passages, max_tokens: _cut(JOIN.join(p.text for p in passages), max_tokens, count)


def _cut(text: str, max_tokens: int, count: TokenCounter) -> str:
    """Return the longest beginning of whole words that fits."""
    if count.fits(text, max_tokens) is not None:
        return text
    ends = [0, *(found.end() for found in _WORD_END.finditer(text))]
    words = bisect_right(ends, max_tokens, key=lambda end: count(text[:end])) - 1
    while count(text[: ends[words]]) > max_tokens:  # one more word can have fewer tokens
        words -= 1
    return text[: ends[words]]


def _bm25(_: str, encoding: Encoding) -> _Run:
    if find_spec("rank_bm25") is None:
        raise MissingExtra("method 'bm25' needs rank-bm25; run: pip install 'ctxcompress[rank-bm25]'")
    count = TokenCounter(encoding)
    return lambda query, passages, max_tokens: _best_sentences(query, passages, max_tokens, count)


def _best_sentences(query: str, passages: Sequence[Passage], max_tokens: int, count: TokenCounter) -> str:
    """Return the sentences that BM25 ranks best, in source order, one a line: what an afternoon's work gives."""
    from rank_bm25 import BM25Okapi  # an optional dependency

    sentences = [
        _Sentence(place, part.strip())
        for place, passage in enumerate(passages)
        for part in _BREAK.split(passage.text)
        if part.strip()
    ]
    if not sentences:
        return ""
    # A sentence of signs alone has no words, and rank_bm25 divides by the number of all words.
    model = BM25Okapi([_words(sentence.text) or [""] for sentence in sentences])
    order = np.argsort(-np.asarray(model.get_scores(_words(query))), kind="stable").tolist()
    return _fitting(sentences, order, max_tokens, count)


class _Sentence(NamedTuple):
    passage: int
    text: str


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _fitting(sentences: Sequence[_Sentence], order: Iterable[int], max_tokens: int, count: TokenCounter) -> str:
    """Return the best sentences that fit, in source order."""
    left, chosen = max_tokens, []
    for place in order:
        cost = count(sentences[place].text) + 1  # what joins it to the next
        if cost <= left:
            chosen.append(place)
            left -= cost
    while count(text := _joined(sentences, chosen)) > max_tokens:  # the tokens of a text are not quite those of parts
        chosen.pop()
    return text


def _joined(sentences: Sequence[_Sentence], chosen: Sequence[int]) -> str:
    passages: dict[int, list[str]] = {}
    for place in sorted(chosen):
        passages.setdefault(sentences[place].passage, []).append(sentences[place].text)
    return JOIN.join(map("\n".join, passages.values()))


def _embeddings_filter(name: str, encoding: Encoding) -> _Run:
    """Return the method that keeps the best whole passages, as many as fit, in source order."""
    encoder = encoder_named(name)
    if not isinstance(encoder, Encoder | PassageVectors):
        raise ConfigError(f"the encoder {name!r} has no vectors of texts; give another, such as static")
    if absent := [package for package in _OF_FILTER if find_spec(package) is None]:
        names = " ".join(absent).replace("_", "-")
        raise MissingExtra(f"EmbeddingsFilter needs a package that is not installed; pip install {names}")
    from langchain_classic.retrievers.document_compressors import EmbeddingsFilter
    from langchain_core.documents import Document

    count, embeddings = TokenCounter(encoding), _embeddings(encoder)

    def run(query: str, passages: Sequence[Passage], max_tokens: int) -> str:
        documents = [Document(passage.text, metadata={"place": place}) for place, passage in enumerate(passages)]
        best = EmbeddingsFilter(embeddings=embeddings, k=len(documents)).compress_documents(documents, query)
        texts = [_Sentence(place, passage.text) for place, passage in enumerate(passages)]
        return _fitting(texts, [document.metadata["place"] for document in best], max_tokens, count)

    return run


def _embeddings(encoder: Encoder | PassageVectors) -> Any:
    """Return the encoder as LangChain takes it."""
    from langchain_core.embeddings import Embeddings

    class Encoded(Embeddings):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            given = encoder.encode_document(texts) if isinstance(encoder, Encoder) else encoder.encode_passages(texts)
            return [[*map(float, vector)] for vector in np.asarray(given)]

        def embed_query(self, text: str) -> list[float]:
            if isinstance(encoder, Encoder):
                return [*map(float, np.asarray(encoder.encode_query(text)))]
            return self.embed_documents([text])[0]

    return Encoded()


@dataclass(frozen=True, slots=True)
class _Kind:
    make: Callable[[str, Encoding], _Run]
    argument: str = ""
    """What has to follow after a colon."""
    example: str = ""
    is_optional: bool = False


_METHODS = {
    "default": _Kind(_compressing(lambda _: CompressionConfig())),
    "adaptive": _Kind(_compressing(_adaptive), "a probability", "adaptive:0.05", is_optional=True),
    "bm25": _Kind(_bm25),
    "first": _Kind(_first),
    "preset": _Kind(_compressing(CompressionConfig.from_preset), "a preset", "preset:docs"),
    "encoder": _Kind(_compressing(lambda name: CompressionConfig(encoder=name)), "an encoder", "encoder:words"),
    "config": _Kind(_compressing(lambda path: starting_config(path, None)), "a file", "config:ctx.toml"),
    "EmbeddingsFilter": _Kind(_embeddings_filter, "an encoder", "EmbeddingsFilter:static"),
}
NAMES = tuple(name if kind.is_optional else kind.example or name for name, kind in _METHODS.items())
"""The names of methods, with an example of what follows after a colon."""
