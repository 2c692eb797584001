"""The comparison of an agent's histories, over a shorter run that reads Python's own reference."""

from pydoc_data.topics import topics
from typing import Any

import pytest

STEPS, LIMIT = 20, 4_000
pytestmark = pytest.mark.slow(reason="nine histories are each asked for twenty facts")


@pytest.fixture(scope="module")
def outcomes(scripts: None) -> dict[str, Any]:
    from agent_history import measured, with_facts

    pages = [text for _, text in sorted(topics.items()) if len(text) > 3_000][:STEPS]
    assert len(pages) == STEPS
    return {outcome.name: outcome for outcome in measured(with_facts(pages), LIMIT)}


def row(outcome: Any) -> list[float]:
    return [float(cell.replace(",", "")) for cell in outcome.row()[1:]]


def test_more_facts_are_there_when_they_are_asked_for(outcomes: dict[str, Any]) -> None:
    found = {name: row(outcome)[4] for name, outcome in outcomes.items()}
    assert found["LangChain: everything"] == 20
    assert found[f"`CtxCompressMiddleware(history_tokens={LIMIT})`"] >= 17
    assert found["with `CtxCompressMemoryBlock`"] >= 17
    assert max(found["`ContextEditingMiddleware`"], found["LlamaIndex: `Memory`"]) < 12


def test_the_limit_holds_and_fewer_tokens_are_read(outcomes: dict[str, Any]) -> None:
    everything = row(outcomes["LangChain: everything"])
    tokens, largest, known, *_ = row(outcomes[f"`CtxCompressMiddleware(history_tokens={LIMIT})`"])
    assert tokens < 0.5 * everything[0]
    assert largest <= LIMIT + 10  # the system prompt
    assert 0.2 < known < everything[2]


def test_every_step_has_a_prompt(outcomes: dict[str, Any]) -> None:
    assert {len(outcome.prompts) for outcome in outcomes.values()} == {STEPS + 5}
    assert {len(outcome.asked) for outcome in outcomes.values()} == {20}
