"""A language model selects: what it names is kept, and whatever it does, the rules hold."""

import logging

import pytest
from language_models import ANSWER, QUERY, TOWNS, AsyncModel, Model, naming, number_of, numbers_in, page

from ctxcompress import CompressionConfig, Compressor, Passage, compress
from ctxcompress.agents.builder import ContextBuilder
from ctxcompress.cache import Cache, SqliteStore
from ctxcompress.language_model import LLMSelector

BUDGET = 120


def ask(llm, passages=None, **options):
    return compress(QUERY, passages or [page()], **{"max_tokens": BUDGET, "llm": llm, **options})


def test_what_the_model_names_is_kept_with_its_heading_and_nothing_else():
    model = Model(naming("The client of the museum in Riga"))
    result = ask(model)
    assert result.text == "## Riga\n\n[…] The client of the museum in Riga has version 3. […]"
    assert result.stats.llm.outcome == "used"
    assert result.stats.llm.named == 1
    assert result.stats.llm.calls == len(model.asked) == 1


TABLE = "\n".join(["| option | default |", "|---|---|", *(f"| option_{n} | the default {n} |" for n in range(60))])
TALK = "\n\n".join(f"{'Ann' if n % 2 else 'Ben'}: The default timeout of client {n} is {n} seconds." for n in range(40))
STEPS = "Set the timeout of the client:\n\n" + "\n".join(f"- step {n} of the default timeout" for n in range(60))


@pytest.mark.parametrize(
    ("text", "named", "kept"),
    [
        (TABLE, "| option_7 |", "| option | default |\n|---|---|\n| option_7 | the default 7 |"),
        (TALK, "Ann: The default timeout of client 7", "Ann: The default timeout of client 7 is 7 seconds."),
        (STEPS, "- step 7", "Set the timeout of the client: […]\n- step 7 of the default timeout […]"),
    ],
    ids=["table", "turn", "list"],
)
def test_what_a_segment_needs_comes_with_it(text, named, kept):
    result = ask(LLMSelector(Model(naming(named)), breadth=100), [Passage("p", text)], max_tokens=60)
    assert result.stats.llm.outcome == "used"
    assert result.text == kept


ANSWERS = {
    "": "failed: the answer is empty",
    "none": "failed: no segment is named",
    "I can't help with that.": "failed: the answer is not a list of numbers",
    "7-9": "failed: the answer is not a list of numbers",
    "777777": "failed: the answer names no segment that exists",
    "1, " * 3_500_000: "failed: the answer has 10,500,000 characters",
}


@pytest.mark.parametrize(("answer", "outcome"), ANSWERS.items(), ids=[answer[:10] for answer in ANSWERS])
def test_an_answer_that_says_nothing_leaves_the_result_without_the_model(answer, outcome, caplog):
    with caplog.at_level(logging.WARNING, "ctxcompress"):
        result = ask(Model(answer))
    assert result.stats.llm.outcome == outcome
    assert result.stats.llm.calls == 1
    assert result.text == ask(None).text
    assert result.dropped == ask(None).dropped
    assert outcome.removeprefix("failed: ") in caplog.text


def raising(prompt):
    raise TimeoutError("key sk-123")


def test_a_model_that_raises_leaves_the_result_without_it_and_its_message_is_told_nowhere(caplog):
    result = ask(Model(raising))
    assert result.stats.llm.outcome == "failed: the model raised TimeoutError"
    assert result.text == ask(None).text
    assert "sk-123" not in caplog.text + str(result.stats.to_dict())


def test_if_everything_fits_the_model_is_asked_only_on_request():
    model = Model(naming(ANSWER))
    result = ask(model, max_tokens=5_000)
    assert result.text == page().text
    assert not model.asked
    assert result.stats.llm.outcome == "not asked: everything fits"
    result = ask(LLMSelector(model, ask_if_fits=True), max_tokens=5_000)
    assert result.text == f"## {TOWNS[3]}\n\n[…] {ANSWER} […]"
    assert result.stats.llm.outcome == "used"


def test_there_is_nothing_to_ask_without_a_query_and_in_previews():
    model = Model("1")
    assert compress(" ", [page()], max_tokens=30, llm=model).stats.llm.outcome == "not asked: there is no query"
    assert ask(model, format="preview").stats.llm.outcome == "not asked: previews are chosen without it"
    assert not model.asked


def test_what_the_result_selected_changes_nothing_when_it_is_compressed_again():
    model = Model(naming(ANSWER))
    once = ask(model)
    again = ask(model, [once.text])
    assert again.text == once.text
    assert len(model.asked) == 1


def test_tokens_and_cost_are_as_the_model_says_or_counted():
    said = ask(Model("1", input_tokens=900, output_tokens=3, cost=0.25)).stats.llm
    assert (said.input_tokens, said.output_tokens, said.cost, said.is_estimated) == (900, 3, 0.25, False)
    priced = ask(LLMSelector(Model("1", input_tokens=1_000_000, output_tokens=500_000), price=(2, 8))).stats.llm
    assert priced.cost == 6.0
    model = Model("1")
    counted = ask(model, encoding=len).stats.llm
    assert (counted.input_tokens, counted.output_tokens) == (len(str(model.asked[0])), 1)
    assert counted.is_estimated
    assert counted.cost is None
    assert ask(Model("1", input_tokens=-4, output_tokens=True)).stats.llm.is_estimated


def test_the_statistics_are_in_the_summary_the_dictionary_and_the_stages():
    result = ask(LLMSelector(Model("1", input_tokens=900, output_tokens=3), price=(2, 8)))
    assert "- Language model: used, 1 call, 900 + 3 tokens, cost 0.001824" in result.stats.summary()
    assert result.stats.to_dict()["llm"]["outcome"] == "used"
    (stage,) = [stage for stage in result.stages if stage.name == "llm"]
    assert (stage.items_out, stage.note) == (1, "used")
    assert "llm" not in ask(None).stats.to_dict()
    assert "<html" in result.xray()


@pytest.mark.parametrize("kind", ["memory", "disk"])
def test_an_answer_is_cached_by_content_question_and_model(kind, tmp_path):
    cache = Cache() if kind == "memory" else Cache(SqliteStore(tmp_path / "cache.sqlite"))
    model = Model(naming(ANSWER), input_tokens=900, output_tokens=3)
    first, second = (ask(model, cache=cache) for _ in range(2))
    assert len(model.asked) == 1
    assert first.text == second.text == ask(model).text
    assert second.stats.llm.outcome == "cached"
    assert (second.stats.llm.calls, second.stats.llm.input_tokens, second.stats.llm.named) == (0, 0, 1)
    for other in (Model(naming(ANSWER), "model-2"), Model(naming(ANSWER), "")):
        ask(other, cache=cache)
        assert len(other.asked) == 1
    asked = len(model.asked)
    compress("which version has Oslo?", [page()], max_tokens=BUDGET, llm=model, cache=cache)
    ask(model, [page(5)], cache=cache)
    assert len(model.asked) == asked + 2


MANY = [
    Passage(f"p{n}", f"The default timeout of client {n} is given here, in a sentence of its own.") for n in range(900)
]


def test_many_segments_are_asked_in_several_prompts_and_the_first_of_each_come_first():
    model = Model(lambda prompt: f"{len(numbers_in(prompt))}, 1")
    result = ask(LLMSelector(model, breadth=20), MANY, max_tokens=1_000)
    assert result.stats.llm.calls == len(model.asked) > 1
    assert len(result.passages) == result.stats.llm.named == 2 * len(model.asked)
    model.asked.clear()
    small = ask(LLMSelector(model, breadth=100), MANY, max_tokens=60)
    lasts = [prompt.user.rpartition("] ")[2].partition("\n")[0] for prompt in model.asked]
    assert len(lasts) == 2
    assert all(last in small.text for last in lasts)
    assert len(small.passages) < small.stats.llm.named


async def test_an_async_model_is_awaited_and_the_result_can_be_used_afterwards():
    model = AsyncModel(naming(ANSWER))
    result = await Compressor(CompressionConfig(max_tokens=BUDGET, llm=model)).acompress(QUERY, [page()])
    assert result == ask(Model(naming(ANSWER)))
    assert result.expand("page", max_tokens=20)
    assert len(model.asked) == 1


async def test_a_context_builder_asks_too_for_what_is_new():
    model = AsyncModel(lambda prompt: number_of(ANSWER, prompt))
    builder = ContextBuilder(200, config=CompressionConfig(llm=model))
    addition = await builder.aadd([page()], query=QUERY, max_tokens=60)
    assert addition.text == f"## {TOWNS[3]}\n\n[…] {ANSWER} […]"
    await builder.aadd([page(), page(5)], query=QUERY, max_tokens=60)
    assert ANSWER not in model.asked[1].user
    assert builder.render().count(ANSWER) == 1
