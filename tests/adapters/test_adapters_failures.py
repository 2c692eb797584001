"""What becomes of both adapters' results if a model of the framework fails or hangs, and how all sources come back."""

import asyncio
import threading
from collections.abc import Iterator

import pytest
from both_frameworks import QUERY, Framework, both, check_verbatim, tokens
from language_models import QUERY as OF_TOWNS
from language_models import page
from meanings import QUESTION

from ctxcompress.errors import BudgetTooSmall, CtxCompressWarning, PluginError

pytestmark = both
LONG = 30.0
"""Seconds after which a test has failed."""


def refuse(*_: object):
    raise ConnectionError("key sk-123")


@pytest.fixture
def let_go() -> Iterator[threading.Event]:
    """Ends what hangs when the test is over."""
    event = threading.Event()
    yield event
    event.set()


async def compressed(framework: Framework, is_async, items, query, **options):
    component = framework.component(**options)
    if is_async:
        return await asyncio.wait_for(framework.acompress(component, items, query), LONG)
    return framework.compress(component, items, query)


@pytest.mark.parametrize("is_async", [False, True])
async def test_embeddings_that_fail_are_an_error_or_done_without(framework: Framework, is_async):
    encoder = framework.embeddings(refuse)
    with pytest.raises(PluginError, match="encoder raised ConnectionError") as raised:
        await compressed(framework, is_async, framework.pages(), QUESTION, max_tokens=60, encoder=encoder)
    assert isinstance(raised.value.__cause__, ConnectionError)
    expected = framework.texts(framework.kept(framework.pages(), QUESTION, max_tokens=60))
    for on_error in ("without", "original"):
        options = {"max_tokens": 60, "encoder": encoder, "on_error": on_error}
        with framework.hearing() as heard, pytest.warns(CtxCompressWarning, match="encoder: it raised ConnectionError"):
            kept = await compressed(framework, is_async, framework.pages(), QUESTION, **options)
        assert framework.texts(kept) == expected
        assert [failure["part"] for failure in heard[0]["failures"]] == ["encoder"]
        assert "sk-123" not in str(heard)


def test_embeddings_that_hang_are_left_behind(framework: Framework, let_go):
    def hang(_: str):
        assert let_go.wait(LONG)
        return refuse()

    expected = framework.texts(framework.kept(framework.pages(), QUESTION, max_tokens=60))
    with pytest.warns(CtxCompressWarning, match="encoder: it has not answered"):
        kept = framework.kept(
            framework.pages(), QUESTION, max_tokens=60, encoder=framework.embeddings(hang), timeout=0.2
        )
    assert framework.texts(kept) == expected


async def test_embeddings_that_are_awaited_for_too_long_are_cancelled(framework: Framework):
    cancelled, encoder = asyncio.Event(), framework.embeddings()

    class Hanging(type(encoder)):
        async def aembed_query(self, *_: object):
            try:
                await asyncio.Event().wait()
            finally:
                cancelled.set()

        aembed_documents = aget_query_embedding = aget_text_embedding_batch = aembed_query

    object.__setattr__(encoder, "__class__", Hanging)
    expected = framework.texts(framework.kept(framework.pages(), QUESTION, max_tokens=60))
    component = framework.component(max_tokens=60, encoder=encoder, timeout=0.2)
    with pytest.warns(CtxCompressWarning, match="encoder: it has not answered"):
        kept = await asyncio.wait_for(framework.acompress(component, framework.pages(), QUESTION), LONG)
    assert framework.texts(kept) == expected
    await asyncio.wait_for(cancelled.wait(), LONG)


async def test_a_chat_model_that_hangs_is_left_behind(framework: Framework, let_go):
    model = framework.chat(lambda _: let_go.wait(LONG) and "1")
    towns = [framework.item(page().text, "page", metadata={"source": "docs/towns.md"})]
    expected = framework.texts(framework.kept(towns, OF_TOWNS, max_tokens=120))
    with framework.hearing() as heard:
        kept = framework.kept(towns, OF_TOWNS, max_tokens=120, llm=model, timeout=0.2)
    assert framework.texts(kept) == expected
    assert [failure["part"] for failure in heard[0]["failures"]] == ["llm"]


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("options", [{}, {"format": "xml"}])
async def test_where_tokens_cannot_be_counted_items_come_as_they_were(framework: Framework, is_async, options):
    with pytest.warns(CtxCompressWarning, match="encoding: it raised ConnectionError; the passages are as they came"):
        kept = await compressed(
            framework,
            is_async,
            framework.items(),
            QUERY,
            max_tokens=20,
            encoding=refuse,
            on_error="original",
            **options,
        )
    assert framework.texts(kept) == framework.texts(framework.items())
    assert framework.ids(kept) == framework.ids(framework.items())


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("filters", [{}, {"top_n": 1, "ngram_threshold": 0.5, "similarity_threshold": None}])
async def test_all_sources_come_back_in_their_order(framework: Framework, is_async, filters):
    given = [*framework.items(), *framework.items()]
    for budget in (150, 250, 400, 5_000):
        kept = await compressed(
            framework, is_async, given, QUERY, max_tokens=budget, keep_all_sources=True, score_kind="none", **filters
        )
        assert framework.ids(kept) == framework.ids(given)
        assert tokens(framework.shown(kept)) <= budget
        assert [framework.metadata(item)["title"] for item in kept] == [
            framework.metadata(item)["title"] for item in given
        ]
        check_verbatim(framework, given, kept)
    assert framework.texts(kept) == framework.texts(given)


def test_more_sources_with_a_greater_budget(framework: Framework):
    with_text = [
        sum(map(bool, framework.texts(framework.kept(framework.pages(), QUESTION, max_tokens=budget, **ALL))))
        for budget in (100, 200, 300)
    ]
    assert with_text == sorted(with_text)
    assert with_text[-1] == 4


ALL = {"keep_all_sources": True}


@pytest.mark.parametrize("shown", ["compact", "verbose", "xml"])
def test_the_places_of_all_sources_count_in_every_format(framework: Framework, shown):
    kept = framework.kept(framework.pages(), QUESTION, max_tokens=150, format=shown, **ALL)
    assert len(kept) == 4
    assert tokens(framework.formatted(kept, format=shown)) <= 150
    with pytest.raises(BudgetTooSmall, match=r"4 sources take \d+ tokens even without their texts"):
        framework.kept(framework.pages(), QUESTION, max_tokens=5, format=shown, **ALL)
    with pytest.raises(ValueError, match="keep_all_sources=True is given with"):
        framework.Component(order="edges", **ALL)
