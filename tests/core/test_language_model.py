"""How a language model is asked: the values that can work, and the adapter for event loops."""

import pytest
from language_models import Model

from ctxcompress import CompressionConfig, CtxCompressError
from ctxcompress.language_model import LLMSelector


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"breadth": 0.5}, "breadth is 0.5; give a number from 1 to 100"),
        ({"ask_if_fits": 1}, "ask_if_fits is 1; give True or False"),
        ({"fill_budget": None}, "fill_budget is None; give True or False"),
        ({"price": 3}, "price is 3; give what a million input tokens"),
    ],
)
def test_a_value_that_cannot_work_is_refused_with_the_remedy(given, said):
    with pytest.raises(CtxCompressError) as caught:
        LLMSelector(Model(""), **given)
    assert said in str(caught.value)


@pytest.mark.parametrize("llm", ["gpt", 3, object(), Model, LLMSelector("gpt"), lambda prompt: "1"])
def test_what_is_no_language_model_is_refused(llm):
    with pytest.raises(CtxCompressError, match=r"llm is .*give an object with identity and complete"):
        CompressionConfig(llm=llm)


def test_a_refused_object_is_named_by_its_type_because_it_may_have_a_key():
    class Client:
        def __repr__(self):
            return "Client(key='secret')"

    with pytest.raises(CtxCompressError) as caught:
        CompressionConfig(llm=Client())
    assert "secret" not in str(caught.value)
