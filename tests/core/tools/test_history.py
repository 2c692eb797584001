"""Older messages are compressed in generations: pairs, order, the budget, the prefix, and what never changes."""

import json
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxcompress import CompressionConfig
from ctxcompress.agents.agent_messages import AgentMessage, Role, goal_of, steps_of
from ctxcompress.agents.history import HistoryCompressor
from ctxcompress.agents.older_steps import LEFT_OUT
from ctxcompress.errors import ConfigError

CONFIG = CompressionConfig()
PARAGRAPHS = (
    "The gearbox of the ferry is fitted in May. ",
    "The yard in Bremen charges 4,200 for the crane. ",
    "Nobody has seen the cat since Tuesday, and the lighthouse keeper is worried. ",
    "Timeouts of the proxy are 30 seconds; the pool opens ten connections. ",
    "Rain fell on the harbour for the whole of the week. ",
)


def filler(number: int, sentences: int) -> str:
    return "".join(f"In note {number} on page {n}: {PARAGRAPHS[(number + n) % 5]}" for n in range(sentences))


def user(place: int, text: str) -> AgentMessage:
    return AgentMessage(Role.USER, [text], f"m{place}")


def said(place: int, text: str, *calls: str) -> AgentMessage:
    rest = "".join(json.dumps({"name": "look", "args": {"page": call}}) for call in calls)
    return AgentMessage(Role.ASSISTANT, [text], f"m{place}", rest=rest, calls=calls)


def result(place: int, call: str, text: str) -> AgentMessage:
    return AgentMessage(Role.TOOL, [text], f"m{place}", answers=call, title=call)


@st.composite
def histories(draw) -> list[AgentMessage]:
    """Runs with turns of the user, parallel calls, images, empty texts and a system prompt in between."""
    found: list[AgentMessage] = []
    for _ in range(draw(st.integers(1, 25))):
        place = len(found)
        kind = draw(st.sampled_from(("user", "says", "calls", "calls", "calls", "system")))
        text = filler(place, draw(st.integers(0, 12)))
        if kind == "user":
            found.append(user(place, text or "Go on."))
        elif kind == "says":
            found.append(said(place, text or "Done."))
        elif kind == "system":
            found.append(AgentMessage(Role.OTHER, [text], f"m{place}"))
        else:
            calls = [f"{place}-{n}" for n in range(draw(st.integers(1, 3)))]
            found.append(said(place, draw(st.sampled_from(("", text))), *calls))
            for n, call in enumerate(draw(st.permutations(calls))):
                message = result(len(found), call, filler(place + n, draw(st.integers(0, 20))))
                found.append(replace(message, media=draw(st.sampled_from((0, 0, 0, 1)))))
    return found


def untouched_places(messages, keep_last):
    """The same rule in other words, to test against."""
    steps = steps_of(messages)
    kept = {place for step in steps[-keep_last:] for place in step.places}
    goal = goal_of(messages)
    kept |= {goal} if goal is not None else set()
    turns = {step.turn for step in steps if kept & set(step.places)}
    for step in steps:
        first = next(other for other in steps if other.turn == step.turn)
        if step.turn in turns and messages[first.places[0]].role is Role.USER:
            kept |= set(first.places)
    return kept | {place for place, message in enumerate(messages) if message.role is Role.OTHER}


def assert_rules(messages, compressor, generation):
    shown = compressor.shown(messages, generation)
    assert list(shown) == sorted(shown)
    calls = {call for message in shown.values() for call in message.calls}
    assert calls == {message.answers for message in shown.values() if message.role is Role.TOOL}
    for place in untouched_places(messages, compressor.keep_last):
        assert shown[place] == messages[place]
    for place, message in shown.items():
        whole = messages[place]
        assert replace(message, texts=whole.texts) == whole
        for text, original in zip(message.texts, whole.texts, strict=True):
            bare = text.replace("[…]\n", "").replace("[…]", "")
            assert text in (original, LEFT_OUT) or is_subsequence(bare, original)
    fixed = sum(compressor.tokens(messages[place]) for place in untouched_places(messages, compressor.keep_last))
    total = sum(map(compressor.tokens, shown.values()))
    if fixed <= compressor.history_tokens:
        assert total <= compressor.history_tokens
    if generation is not None and len(messages) == len(shown) + len(generation["dropped"]):
        assert set(generation["dropped"]) == {m.id for n, m in enumerate(messages) if n not in shown}
    return shown


def is_subsequence(text: str, original: str) -> bool:
    left = iter(original)
    return all(character in left for character in text)


@settings(max_examples=2 * settings().max_examples)
@given(histories(), st.integers(60, 3_000), st.integers(1, 4))
def test_every_generation_of_a_run_keeps_the_rules(messages, history_tokens, keep_last):
    compressor = HistoryCompressor(CONFIG, history_tokens, keep_last=keep_last)
    generation = compressor.next_generation(messages, None)
    assert_rules(messages, compressor, generation)
    assert compressor.next_generation(messages, generation) is generation
    again = HistoryCompressor(CONFIG, history_tokens, keep_last=keep_last).next_generation(messages, None)
    assert again == generation
    assert json.loads(json.dumps(generation)) == generation


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 25)), min_size=2, max_size=12), st.integers(300, 2_000))
def test_user_and_model_still_take_turns(turns, history_tokens):
    messages = []
    for calls, size in turns:
        messages.append(user(len(messages), filler(len(messages), size) or "Go on."))
        for call in range(calls):
            name = f"{len(messages)}-{call}"
            messages.append(said(len(messages), "", name))
            messages.append(result(len(messages), name, filler(len(messages), size) or "Nothing."))
        messages.append(said(len(messages), filler(len(messages), size) or "Done."))
    compressor = HistoryCompressor(CONFIG, history_tokens, keep_last=2)
    shown = assert_rules(messages, compressor, compressor.next_generation(messages, None))
    assert all(message.texts[0] or message.calls for message in shown.values())
    roles = [message.role for message in shown.values()]
    assert roles[0] is Role.USER
    assert all(after is not Role.USER for before, after in pairwise(roles) if before is Role.USER)
    whole = [step for step in steps_of(list(shown.values())) if step.is_complete]
    last = {step.turn: list(shown.values())[step.places[0]] for step in whole}
    assert all(not message.calls for message in last.values())


@given(histories(), st.integers(300, 3_000))
def test_between_generations_messages_are_only_added(messages, history_tokens):
    compressor = HistoryCompressor(CONFIG, history_tokens)
    ends = sorted({step.places[-1] + 1 for step in steps_of(messages)})
    generation, before = None, []
    for end in ends:
        if not all(step.is_complete for step in steps_of(messages[:end])):
            continue
        following = compressor.next_generation(messages[:end], generation)
        shown = list(assert_rules(messages[:end], compressor, following).values())
        if following is generation:
            assert shown[: len(before)] == before
        generation, before = following, shown


def run(steps: int, *, goal: str = "When is the gearbox of the ferry fitted?", size: int = 20) -> list[AgentMessage]:
    messages = [user(0, goal)]
    for step in range(steps):
        messages.append(said(len(messages), "", f"{step}"))
        messages.append(result(len(messages), f"{step}", filler(step, size)))
    return messages


def test_a_short_message_of_a_dropped_step_comes_back_when_it_is_asked_for():
    messages = [user(0, "Look at page one."), *run(3)[1:]]
    messages += [user(7, "By the way, my deputy is Tomasz Wieczorek."), said(8, "Noted.")]
    messages += [message for turn in range(9, 109, 4) for message in calls_alone(turn)]
    messages = [replace(message, id=f"m{place}") for place, message in enumerate(messages)]
    compressor = HistoryCompressor(CONFIG, 900)
    first = compressor.next_generation(messages, None)
    assert "m7" in first["dropped"]
    messages += [said(197, "That was all."), user(198, "Who is my deputy?")]
    second = compressor.next_generation(messages, first)
    assert messages[7] in assert_rules(messages, compressor, second).values()


def calls_alone(place: int) -> list[AgentMessage]:
    made = [said(place + 1, "", f"{place}"), result(place + 2, f"{place}", filler(place, 1))]
    return [user(place, f"Look at page {place}."), *made, said(place + 3, "I did.")]


def test_what_answers_the_goal_is_kept_and_comes_back_for_another_goal():
    messages = run(12)
    messages[2] = replace(messages[2], texts=[filler(2, 10) + "The harbour master is called Okonkwo. " + filler(3, 10)])
    messages[4] = replace(
        messages[4], texts=[filler(2, 10) + "The spare anchor weighs 340 kilograms. " + filler(3, 10)]
    )
    compressor = HistoryCompressor(CONFIG, 2_000)
    messages[0] = user(0, "What is the name of the harbour master?")
    first = compressor.next_generation(messages, None)
    text = " ".join(text for message in compressor.shown(messages, first).values() for text in message.texts)
    assert "Okonkwo" in text
    messages += [said(98, "It is Okonkwo."), user(99, "How much does the spare anchor weigh?")]
    second = compressor.next_generation(messages, first)
    text = " ".join(text for message in compressor.shown(messages, second).values() for text in message.texts)
    assert "340 kilograms" in text
    assert (first["number"], second["number"]) == (1, 2)


def test_a_message_that_needs_nothing_of_what_was_left_out_changes_nothing():
    messages = run(12)
    compressor = HistoryCompressor(CONFIG, 3_000)
    first = compressor.next_generation(messages, None)
    messages += [said(97, "It is fitted in May."), user(98, "Put that into a letter to my grandmother, in rhymes.")]
    second = compressor.next_generation(messages, first)
    assert second == {**first, "goal": "m98"}
    assert compressor.next_generation(messages, second) is second
    bm25 = HistoryCompressor(CompressionConfig(scorer="bm25"), 3_000)  # it cannot tell what is likely
    before = bm25.next_generation(messages[:-2], None)
    assert bm25.next_generation(messages, before)["number"] == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"history_tokens": 0}, "history_tokens is 0; give a whole number, at least 1"),
        ({"history_tokens": True}, "history_tokens is True"),
        ({"history_tokens": "150%"}, "history_tokens is '150%'"),
        ({"keep_last": 0}, "keep_last is 0; give a whole number, at least 1"),
        ({"history_share": 1.0}, "history_share is 1.0; give a number between 0 and 1"),
    ],
)
def test_values_that_cannot_work_are_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        HistoryCompressor(CONFIG, **{"history_tokens": 100, **options})
