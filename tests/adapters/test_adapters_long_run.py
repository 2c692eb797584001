"""An agent of each framework with everything on: 500 documents, 30 steps, and a restart in the middle."""

from importlib import import_module

import long_runs
import pytest

WAYS = ("langchain", "llamaindex")


@pytest.fixture(scope="module", params=WAYS)
def way(request) -> str:
    return request.param


@pytest.fixture(scope="module")
def run(way: str, tmp_path_factory: pytest.TempPathFactory) -> long_runs.LongRun:
    return import_module(f"{way}_run").run_in(tmp_path_factory.mktemp("run"))


def test_every_step_is_made_once(run):
    assert len(run.prompts) == long_runs.STEPS + run.turns
    assert sorted(result.name for result in run.results) == sorted(
        name for calls in long_runs.plan() for name, _ in calls
    )
    assert not any(result.is_error for result in run.results)


def test_every_result_and_every_prompt_is_within_its_budget(run):
    for result in run.results:
        assert long_runs.count(result.text.strip()) <= result.budget, result.name
    assert max(run.sizes) <= run.history


def test_the_prompt_changes_its_beginning_only_with_a_new_turn_or_generation(run):
    assert 1 <= long_runs.generations(run.prompts) < run.turns + run.generations
    assert run.generations <= long_runs.STEPS // 4
    assert long_runs.known(run.prompts) > 0.6


def test_all_handles_give_the_whole_results(way, run):
    parsed = import_module(f"{way}_way").WAY.parsed
    wholes = {
        "web_search": lambda args, text: parsed(text) == long_runs.web_search(args["query"]),
        "read_document": lambda args, text: text == long_runs.corpus()[long_runs.names()[args["number"]]],
        "list_documents": lambda _, text: parsed(text) == long_runs.list_documents(""),
        "read_log": lambda _, text: text == long_runs.read_log(""),
    }
    for result in run.results:
        for handle in long_runs.handles(result.text):
            if result.name != "expand":
                assert wholes[result.name](result.args, run.expand(handle, max_tokens=1_000_000))
    shown = {handle for prompt in run.prompts for _, text in prompt for handle in long_runs.handles(text)}
    assert len(shown) > 15
    assert shown == {handle for result in run.results for handle in long_runs.handles(result.text)}


def test_handles_stay_in_the_prompt(run):
    """What is left out of the history has been kept whole, so its handle is still shown."""
    assert run.lost == []


def test_facts_that_were_left_out_can_be_read_at_the_end(run):
    outputs = {result.args["number"]: result.text for result in run.results if result.name == "read_document"}
    for fact in long_runs.FACTS:
        (handle,) = long_runs.handles(outputs[fact.document])
        answer = run.expand(handle, question=fact.question)
        assert fact.sentence in answer
        assert long_runs.count(answer) <= 700


def test_what_must_be_kept_is_in_every_prompt_after_it_was_found(run):
    due: set[str] = set()
    for prompt in run.prompts:
        assert due <= long_runs.must_keep_in("\n".join(text for _, text in prompt))
        due |= {found for role, text in prompt if role == "tool" for found in long_runs.must_keep_in(text)}
    assert due >= {"INC-2041", "INC-3310", "INC-7702"}


def test_the_context_goes_on_after_the_restart_and_telemetry_is_told(run):
    added = [result.text for result in run.results if result.name == "search_and_add"]
    assert run.context.render() == "\n\n".join(text for text in added if not text.startswith("Nothing"))
    assert 0 <= run.context.remaining < 700
    assert all(told.metric("ctxcompress.token.saved") > 0 for told in run.told)
