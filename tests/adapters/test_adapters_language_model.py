"""The option `llm` of both adapters: a model of the framework selects, is awaited and cached."""

import pytest
from both_frameworks import Framework, both
from language_models import ANSWER, QUERY, naming, page

from ctxcompress.cache import Cache

pytestmark = both
SELECTED = f"## Riga\n\n[…] {ANSWER} […]"


def chat(framework: Framework, answer=None, **fields):
    return framework.chat(answer or naming(ANSWER), **fields)


def items(framework: Framework):
    return [framework.item(page().text, "page", metadata={"source": "docs/towns.md"})]


def compressed(framework: Framework, llm, **options) -> list[str]:
    return framework.texts(framework.kept(items(framework), QUERY, max_tokens=120, llm=llm, **options))


async def test_a_model_selects_and_the_statistics_say_so(framework: Framework):
    model = chat(framework)
    with framework.hearing() as heard:
        assert compressed(framework, model) == [SELECTED]
        component = framework.component(max_tokens=120, llm=model)
        assert framework.texts(await framework.acompress(component, items(framework), QUERY)) == [SELECTED]
    assert model.asked == ["sync", "async"]
    for stats in (found["llm"] for found in heard):
        assert (stats["outcome"], stats["named"], stats["calls"], stats["cost"]) == ("used", 1, 1, None)
        assert stats["input_tokens"] > 300


def test_a_selector_says_how_the_model_is_asked(framework: Framework):
    selector = framework.package.LLMSelector(chat(framework), breadth=4, price=(2, 8))
    with framework.hearing() as heard:
        assert compressed(framework, selector) == [SELECTED]
    stats = heard[0]["llm"]
    assert stats["cost"] == pytest.approx((stats["input_tokens"] * 2 + stats["output_tokens"] * 8) / 1e6)


def raising(prompt):
    raise ConnectionError("key sk-123")


@pytest.mark.parametrize("answer", [raising, lambda _: "", lambda _: "all"])
def test_a_model_that_fails_or_refuses_leaves_the_result_without_it(framework: Framework, answer):
    with framework.hearing() as heard:
        assert compressed(framework, chat(framework, answer)) == compressed(framework, None)
    assert heard[0]["llm"]["outcome"].startswith("failed: ")
    assert "sk-123" not in str(heard[0])


def test_answers_are_cached_by_the_parameters_of_the_model(framework: Framework):
    cache, models = Cache(), [chat(framework, version=version) for version in (1, 1, 2)]
    for model in models * 2:
        assert compressed(framework, model, cache=cache) == [SELECTED]
    assert [len(model.asked) for model in models] == [1, 0, 1]


def test_what_is_no_model_is_refused(framework: Framework):
    for llm in ("gpt", object(), framework.package.LLMSelector("gpt")):
        with pytest.raises(ValueError, match=r"llm is .*a model of its framework"):
            framework.Component(llm=llm)


async def test_tools_take_a_model_and_the_search_tool_asks_once(framework: Framework):
    def read_page(query: str) -> str:
        """Read a page."""
        return page().text

    model = chat(framework)
    short = framework.package.compress_tool(framework.tool(read_page), max_tokens=120, llm=model, min_tokens=0)
    assert framework.call(short, query=QUERY).text == SELECTED
    search = framework.package.query_tool(framework.finding(*items(framework)), max_tokens=150, llm=model)
    output = await framework.acall(search, query=QUERY, show_stats=True)  # which has to be shortened for these
    assert SELECTED in output.text
    assert model.asked == ["sync", "async"]
