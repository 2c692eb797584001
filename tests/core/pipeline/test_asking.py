"""A model is asked with a time limit, and whatever it raises is a reason and no error."""

import contextvars
import threading

import pytest
from language_models import Model

from ctxcompress.guarded import Guard, guarding
from ctxcompress.language_model import Answer, Prompt
from ctxcompress.pipeline import numbered_prompts
from ctxcompress.pipeline.numbered_prompts import NoAnswerError, ask

PROMPTS = [Prompt("", str(number)) for number in range(20)]


def test_a_model_that_never_answers_is_given_up_and_prompts_that_wait_are_not_asked():
    held, begun = threading.Event(), threading.Semaphore(0)

    def hold(prompt):
        begun.release()
        held.wait()
        return "1"

    model = Model(hold)
    try:
        with pytest.raises(NoAnswerError, match=r"^no answer within 0.2 s$"), guarding(Guard.within(0.2)):
            ask(model, PROMPTS)
        for _ in range(8):
            begun.acquire()
    finally:
        held.set()
    for thread in threading.enumerate():
        if thread.name == "ctxcompress-plugged-in":
            thread.join()
    assert len(model.asked) == 8


def test_the_model_sees_the_context_variables_of_the_caller():
    variable = contextvars.ContextVar("trace")
    variable.set("run 7")
    assert ask(Model(lambda prompt: variable.get()), PROMPTS[:1]) == [Answer("run 7")]


def test_without_a_timeout_a_model_has_half_a_minute(monkeypatch):
    held, waited = threading.Event(), []
    monkeypatch.setattr(numbered_prompts, "wait_for", lambda _, seconds: waited.append(seconds))
    with pytest.raises(NoAnswerError, match=r"^no answer within 30 s$"):
        ask(Model(lambda prompt: held.wait() and "1"), PROMPTS[:1])
    held.set()
    assert waited == [30.0]
