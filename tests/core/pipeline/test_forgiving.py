"""What was plugged in raises, hangs or returns garbage: one typed error, or the result without it, which says so."""

import asyncio
import pickle
import threading
import warnings
from collections.abc import Iterator
from time import monotonic

import pytest
from language_models import ANSWER, Model, naming, page
from language_models import QUERY as OF_TOWNS

from ctxcompress import CompressionConfig, Compressor, compress
from ctxcompress.agents.builder import ContextBuilder
from ctxcompress.cache import Cache
from ctxcompress.errors import BudgetTooSmall, ConfigError, CtxCompressWarning, InputError, PluginError
from ctxcompress.pipeline import pipeline

QUERY = "what is the default timeout?"
TEXTS = [f"The timeout of server {n} is {n} seconds. It is kept in its file. Nothing else is in it." for n in range(20)]
SOON = 0.2
"""Seconds of the option `timeout`."""
LONG = 30.0
"""Seconds after which a test has failed."""


def refuse(*_: object, **__: object):
    raise ConnectionError("key sk-123")


class Encoder:
    """Does the same whatever it is asked."""

    def __init__(self, answer) -> None:
        self.answer = answer

    def encode_query(self, text, /):
        return self.answer(text)

    def encode_document(self, texts, /):
        return self.answer(texts)


class AsyncEncoder(Encoder):
    async def aencode_query(self, text, /):
        return await self.answer(text)

    aencode_document = aencode_query


class Comparer:
    compares_all = True

    def __init__(self, answer) -> None:
        self.compare = lambda query, texts, /: answer(texts)


class Passages(Comparer):
    language = "en"

    def __init__(self, answer) -> None:
        self.encode_passages = answer
        self.compare = lambda query, texts, /: [0.0] * len(texts)


class Observer:
    """Fails when it is asked, when it is told, or when its block is left."""

    def __init__(self, fails_at: str) -> None:
        self.fails_at = fails_at

    def observe(self):
        return refuse() if self.fails_at == "observe" else self

    def __enter__(self):
        return refuse if self.fails_at == "report" else lambda _: None

    def __exit__(self, *_: object) -> None:
        if self.fails_at == "exit":
            refuse()


@pytest.fixture
def let_go() -> Iterator[threading.Event]:
    """Ends what hangs when the test is over."""
    event = threading.Event()
    yield event
    event.set()


def hanging(event: threading.Event):
    def hang(*_: object):
        event.wait(LONG)
        return refuse()

    return hang


BROKEN = {
    "encoder that embeds": ("encoder", {"encoder": Encoder(refuse)}),
    "encoder that compares": ("encoder", {"encoder": Comparer(refuse)}),
    "encoder of passages": ("encoder", {"encoder": Passages(refuse), "similarity_threshold": 0.9}),
    "encoder for duplicates": ("encoder", {"encoder": Encoder(refuse), "similarity_threshold": 0.9}),
}
broken = pytest.mark.parametrize(("part", "options"), BROKEN.values(), ids=BROKEN)


def without(options):
    return {name: value for name, value in options.items() if name != "encoder"}


@broken
def test_what_it_raises_comes_out_as_one_typed_error_with_its_cause(part, options):
    with pytest.raises(PluginError, match=rf"{part} raised ConnectionError: .*give on_error=") as raised:
        compress(QUERY, TEXTS, max_tokens=60, **options)
    assert isinstance(raised.value.__cause__, ConnectionError)
    assert isinstance(raised.value, RuntimeError)
    assert pickle.loads(pickle.dumps(raised.value)).part == part


@broken
@pytest.mark.parametrize("on_error", ["without", "original"])
def test_without_it_the_result_is_literally_the_one_without_it(part, options, on_error):
    expected = compress(QUERY, TEXTS, max_tokens=60, **without(options))
    with pytest.warns(CtxCompressWarning, match=f"{part}: it raised ConnectionError; it is done without") as warned:
        found = compress(QUERY, TEXTS, max_tokens=60, on_error=on_error, **options)
    assert (found.text, found.passages, found.dropped) == (expected.text, expected.passages, expected.dropped)
    assert [tuple(failure) for failure in found.failures] == [(part, "it raised ConnectionError", False)]
    assert found.stats.failures == found.failures
    assert found.stats.to_dict()["failures"][0]["part"] == part
    assert f"Failed: {part}" in found.stats.summary()
    assert "sk-123" not in str([*map(str, warned), found.stats.to_dict()])
    assert found.render("xml") == expected.render("xml")
    assert found.confidence == expected.confidence
    assert found.xray()


@pytest.mark.parametrize(
    "garbage", [lambda _: "none", lambda _: [[float("nan")] * 3], lambda texts: [[1.0, 2.0]] * (len(texts) + 1)]
)
def test_garbage_is_refused_or_done_without(garbage):
    with pytest.raises(ConfigError, match="the encoder gave"):
        compress(QUERY, TEXTS, max_tokens=60, encoder=Encoder(garbage))
    with pytest.warns(CtxCompressWarning, match="encoder: it raised ConfigError"):
        found = compress(QUERY, TEXTS, max_tokens=60, encoder=Encoder(garbage), on_error="without")
    assert found.text == compress(QUERY, TEXTS, max_tokens=60).text


@pytest.mark.parametrize("encoding", [refuse, lambda text: "no number"])
def test_a_tokenizer_cannot_be_done_without(encoding):
    with pytest.raises(PluginError, match=r"encoding raised"):
        compress(QUERY, TEXTS, max_tokens=60, encoding=encoding, on_error="without")
    with pytest.warns(CtxCompressWarning, match="encoding: it raised .*; the passages are as they came"):
        found = compress(QUERY, TEXTS, max_tokens=60, encoding=encoding, on_error="original")
    assert [part.text for part in found.passages] == TEXTS
    assert (found.text, found.dropped, found.is_original) == ("\n\n".join(TEXTS), (), True)
    assert found.stats.compressed_tokens == found.tokens == Compressor().count(found.text) > found.max_tokens
    assert found.stats.failures[0].is_original
    assert found.input_passages() == [part.original for part in found.passages]
    assert found.cite("The timeout of server 3 is 3 seconds.")[0].index == 3
    assert found.confidence == compress(QUERY, TEXTS, max_tokens=60).confidence


def test_a_vocabulary_that_cannot_be_had_is_one_of_these_errors(monkeypatch):
    monkeypatch.setattr("tiktoken.get_encoding", refuse_download)
    with pytest.raises(PluginError, match="vocabulary"):
        compress(QUERY, TEXTS, max_tokens=60, encoding="p50k_base", on_error="without")
    with pytest.warns(CtxCompressWarning, match="encoding: it cannot be loaded"):
        assert compress(QUERY, TEXTS, max_tokens=60, encoding="p50k_base", on_error="original").is_original


def refuse_download(_: str):
    raise OSError("no route")


def test_an_error_of_our_own_is_the_last_resort_of_the_originals_only(monkeypatch):
    monkeypatch.setattr(pipeline, "select_segments", refuse)
    with pytest.raises(ConnectionError):
        compress(QUERY, TEXTS, max_tokens=60, on_error="without")
    with pytest.warns(CtxCompressWarning, match="compression: it raised .*; the passages are as they came"):
        found = compress(QUERY, TEXTS, max_tokens=60, on_error="original", format="xml")
    assert found.text.count("<document ") == len(found.passages) == len(TEXTS)


@pytest.mark.parametrize("on_error", ["without", "original"])
def test_what_the_caller_gave_wrong_is_an_error_all_the_same(on_error):
    with pytest.raises(BudgetTooSmall):
        compress(QUERY, TEXTS, max_tokens=2, must_keep=["Nothing else is in it."], on_error=on_error)
    with pytest.raises(InputError):
        compress(QUERY, [1], on_error=on_error)
    with pytest.raises(ConfigError, match="on_error is 'ignore'; give one of raise, without, original"):
        CompressionConfig(on_error="ignore")
    with pytest.raises(ConfigError, match="timeout is 0; give a number of seconds above 0"):
        CompressionConfig(timeout=0)


@pytest.mark.parametrize("fails_at", ["observe", "report", "exit"])
def test_an_observer_that_fails_changes_no_result(fails_at):
    with pytest.raises(PluginError, match="telemetry raised ConnectionError"):
        compress(QUERY, TEXTS, max_tokens=60, telemetry=Observer(fails_at))
    with pytest.warns(CtxCompressWarning, match="telemetry: it raised ConnectionError"):
        found = compress(QUERY, TEXTS, max_tokens=60, telemetry=Observer(fails_at), on_error="without")
    assert found.text == compress(QUERY, TEXTS, max_tokens=60).text


def test_nothing_is_said_where_nothing_fails(recwarn):
    calm = Encoder(lambda given: [1.0, 2.0] if isinstance(given, str) else [[1.0, 2.0]] * len(given))
    for options in ({}, {"encoder": calm}, {"encoder": calm, "timeout": LONG}):
        assert compress(QUERY, TEXTS, max_tokens=60, on_error="original", **options).failures == ()
    assert not recwarn


def test_what_is_always_done_without_is_named():
    found = compress(OF_TOWNS, [page()], max_tokens=120, llm=Model(refuse), on_error="raise")
    assert found.text == compress(OF_TOWNS, [page()], max_tokens=120).text
    assert [tuple(failure) for failure in found.failures] == [("llm", "the model raised ConnectionError", False)]

    class Store(dict):
        get = __setitem__ = refuse

    cache = Cache(Store())
    for query, reason in ((QUERY, "it raised ConnectionError"), ("server 3?", "it failed less than a minute ago")):
        found = compress(query, TEXTS, max_tokens=60, cache=cache)
        assert [tuple(failure) for failure in found.failures] == [("cache", reason, False)]
        assert found.text == compress(query, TEXTS, max_tokens=60).text


def test_no_thread_is_begun_without_a_limit():
    threads = set()

    def note(given):
        threads.add(threading.current_thread())
        return [1.0, 2.0] if isinstance(given, str) else [[1.0, 2.0]] * len(given)

    compress(QUERY, TEXTS, max_tokens=60, encoder=Encoder(note))
    assert threads == {threading.current_thread()}
    compress(QUERY, TEXTS, max_tokens=60, encoder=Encoder(note), timeout=LONG)
    assert all(thread.daemon for thread in threads - {threading.current_thread()})


@pytest.mark.parametrize("on_error", ["raise", "original"])
@pytest.mark.parametrize("kind", [Encoder, Comparer])
def test_an_encoder_that_hangs_is_left_behind(kind, on_error, let_go):
    options = {"encoder": kind(hanging(let_go)), "timeout": SOON, "on_error": on_error}
    begin = monotonic()
    with pytest.warns(CtxCompressWarning, match=r"encoder: it has not answered within the 0\.[12]\d* s .* without"):
        found = compress(QUERY, TEXTS, max_tokens=60, **options)
    assert monotonic() - begin < LONG / 2
    assert found.text == compress(QUERY, TEXTS, max_tokens=60).text
    assert [failure.part for failure in found.failures] == ["encoder"]


def test_a_store_and_a_model_that_hang_share_the_time(let_go):
    class Store(dict):
        get = hanging(let_go)

    begin = monotonic()
    model = Model(hanging(let_go))
    found = compress(OF_TOWNS, [page()], max_tokens=120, llm=model, cache=Cache(Store()), timeout=SOON)
    assert monotonic() - begin < LONG / 2
    assert found.text == compress(OF_TOWNS, [page()], max_tokens=120).text
    assert {failure.part for failure in found.failures} == {"llm", "cache"}


def test_who_answers_in_time_is_used():
    found = compress(OF_TOWNS, [page()], max_tokens=120, llm=Model(naming(ANSWER)), timeout=LONG)
    assert (found.llm.outcome, found.failures) == ("used", ())


async def test_what_is_awaited_has_a_limit_too_and_is_cancelled():
    cancelled = asyncio.Event()

    async def hang(_):
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    compressor = Compressor(CompressionConfig(max_tokens=60, encoder=AsyncEncoder(hang), timeout=SOON))
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        found = await asyncio.wait_for(compressor.acompress(QUERY, TEXTS), LONG)
    assert found.text == compress(QUERY, TEXTS, max_tokens=60).text
    assert "encoder: it has not answered" in str(warned[0].message)
    await asyncio.wait_for(cancelled.wait(), LONG)
    assert found.confidence == compress(QUERY, TEXTS, max_tokens=60).confidence


def test_a_cancelled_task_does_not_hold_the_loop_at_its_end(let_go):
    asked = threading.Event()

    def hang(_):
        asked.set()
        let_go.wait(LONG)

    async def cancelled() -> None:
        compressor = Compressor(CompressionConfig(max_tokens=60, encoder=Encoder(hang), timeout=LONG))
        task = asyncio.ensure_future(compressor.acompress(QUERY, TEXTS))
        await asyncio.to_thread(asked.wait, LONG)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    begin = monotonic()
    asyncio.run(cancelled())  # which waits for the threads of its executor
    assert monotonic() - begin < LONG / 2
    assert not let_go.is_set()


def test_the_builder_of_a_context_goes_on_too():
    config = CompressionConfig(encoder=Encoder(refuse), on_error="without", similarity_threshold=0.9, top_n=9)
    builder = ContextBuilder(60, config=config)
    for rebalance in (False, True):
        with pytest.warns(CtxCompressWarning, match="encoder"):
            assert builder.add(TEXTS, query=QUERY, rebalance=rebalance).text


def test_attempts_at_one_compression_share_the_time(let_go):
    asked, hang = [], hanging(let_go)

    def note(given):
        asked.append(given)
        return hang(given)

    compressor = Compressor(CompressionConfig(max_tokens=60, encoder=Encoder(note), timeout=SOON))
    with pytest.warns(CtxCompressWarning, match="encoder"), compressor.observed():
        texts = [compressor.compress(QUERY, TEXTS, max_tokens=budget).text for budget in (60, 50, 40)]
    assert len(asked) == 1
    assert texts == [compress(QUERY, TEXTS, max_tokens=budget).text for budget in (60, 50, 40)]


def test_it_is_said_that_nothing_fits_also_if_one_of_the_passages_has_no_text(warned):
    compress("which lamp?", ["", "The lamp is red."], max_tokens=1, encoding=lambda text: 5 * len(text))
    assert "no passage fits into max_tokens=1" in warned.text
