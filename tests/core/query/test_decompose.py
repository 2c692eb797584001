"""Decomposition: the sub-queries of a query, by rules and by a language model."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.language_models import FakeListChatModel

from ctxcompress.query.complexity import classify_complexity
from ctxcompress.query.decompose import adecompose, decompose


@pytest.mark.parametrize(
    ("query", "searches"),
    [
        ("What is Python?", ("What is Python?",)),
        ("React vs Vue", ("React", "Vue")),
        (
            "Compare LangChain vs CrewAI vs Strands for production AI agents",
            (
                "LangChain for production AI agents",
                "CrewAI for production AI agents",
                "Strands for production AI agents",
                "Compare LangChain vs CrewAI vs Strands for production AI agents",
            ),
        ),
        ("Explain React hooks and state management", ("Explain React hooks", "Explain state management")),
        (
            "Who built the old gate of the town and when? Where are the plans of the wall kept today?",
            ("Who built the old gate of the town and when?", "Where are the plans of the wall kept today?"),
        ),
        ("Compare the cost and performance of AWS Lambda", ("the cost of AWS Lambda", "performance of AWS Lambda")),
        (
            "Vergleiche React und Vue für große Anwendungen",
            ("React für große Anwendungen", "Vue für große Anwendungen"),
        ),
        ("TCP和UDP有什么区别？", ("TCP", "UDP")),
        ("¿Cuál es la diferencia entre TCP y UDP?", ("TCP", "UDP")),
        ("Сравни Redis и Memcached", ("Redis", "Memcached")),
    ],
)
def test_rules(query, searches):
    assert decompose(query) == searches


GATE, WALL = "Who built the old gate of the town and when?", "Where are the plans of the wall kept today?"
TOR, MAUER = "Wer hat das alte Tor der Stadt gebaut und wann?", "Wo liegen die Pläne der Mauer heute im Archiv?"


@pytest.mark.parametrize(
    ("query", "searches"),
    [
        (f"Hi there! {GATE} {WALL} Thanks a lot in advance!", (GATE, WALL)),
        (f"{GATE} {WALL} please", (GATE, WALL)),
        (f"{GATE} {WALL} Please answer briefly.", (GATE, WALL)),
        (f"Guten Tag! {TOR} {MAUER} Vielen Dank!", (TOR, MAUER)),
        ("Hello! What is Python? Thanks", ("What is Python?",)),
        ("thanks", ("thanks",)),
        (
            "Please explain React hooks and state management, thanks!",
            ("explain React hooks", "explain state management"),
        ),
    ],
)
def test_greetings_and_thanks_are_no_searches(query, searches):
    assert decompose(query) == searches


@pytest.mark.parametrize(
    "query",
    [
        "What are the pros and cons of remote work for small companies?",
        "What is the current price and market cap of Apple?",
        "Explain how TCP handles congestion and packet loss over the latest networks",
        "Who directed The Good, the Bad and the Ugly and when was it released?",
        "How did the war in Ukraine affect wheat prices in Egypt and Turkey compared to 2021?",
        "Research shows that coffee and tea are healthy; is this true?",
        "What is the best way to compare two strings in Java and ignore case?",
        "Explain the pros and cons of nuclear energy, including safety, cost and waste",
    ],
)
def test_what_would_not_stand_alone_is_not_taken_apart(query):
    assert decompose(query) == (query,)


@pytest.mark.parametrize(
    "answer",
    [
        "React performance\nVue performance",
        "1. React performance\n2. Vue performance\n",
        'Here are the queries:\n1) "React performance"\n2) "Vue performance"\n3) "Angular performance"',
        "```text\nReact performance\nVue performance\n```",
    ],
)
def test_a_model_writes_them(answer):
    expected = ("React performance", "Vue performance")
    assert decompose("React vs Vue", FakeListChatModel(responses=[answer])) == expected
    assert decompose("React vs Vue", lambda prompt: answer) == expected


def test_the_model_is_asked_for_as_many_as_the_question_is_worth():
    prompts = []

    def llm(prompt):
        prompts.append(prompt)
        return ""

    assert decompose("What is Python?", llm) == ("What is Python?",)
    assert prompts == []
    query = "Compare the top 5 cloud providers for ML workloads"
    assert decompose(query, llm)
    (prompt,) = prompts
    assert "4 search queries" in prompt
    assert prompt.endswith(query)


class Slow:
    def invoke(self, prompt):
        raise TimeoutError("slow")


def test_where_the_model_fails_the_rules_make_them(warned):
    assert decompose("React vs Vue", Slow()) == ("React", "Vue")
    assert "the language model failed (TimeoutError('slow'))" in warned.text


@pytest.mark.parametrize(
    "answer", ["I'm sorry, but I cannot help with that.", "I can’t browse.", "Unfortunately no.", "word " * 100]
)
def test_where_the_model_refuses_or_rambles_the_rules_make_them(answer, warned):
    assert decompose("React vs Vue", lambda prompt: answer) == ("React", "Vue")
    assert "no sub-queries" in warned.text


async def test_a_model_that_is_awaited_writes_them(warned):
    async def ask(prompt):
        return "React speed\nVue speed\nmore"

    async def broken(prompt):
        raise TimeoutError("slow")

    assert await adecompose("React vs Vue", ask) == ("React speed", "Vue speed")
    assert await adecompose("React vs Vue", broken) == ("React", "Vue") == await adecompose("React vs Vue")
    assert "the language model failed" in warned.text


@pytest.mark.parametrize(
    ("query", "searches"),
    [
        (
            "Compare the top 5 cloud providers by price, support and security",
            ("top 5 cloud providers by price", "top 5 cloud providers by support", "top 5 cloud providers by security"),
        ),
        (
            "Was sind die top 5 Anbieter nach Preis und Sicherheit?",
            ("top 5 Anbieter nach Preis", "top 5 Anbieter nach Sicherheit"),
        ),
        ("best restaurants for kids and adults", ("best restaurants for kids and adults",)),
    ],
)
def test_the_best_of_many_is_searched_for_in_each_aspect_that_is_named(query, searches):
    assert decompose(query) == searches


@given(st.text(max_size=200))
def test_any_question_has_a_search(query):
    searches = decompose(query)
    assert 1 <= len(searches) <= max(8, classify_complexity(query).sub_query_count)
    assert all(searches) or query == ""
    assert len(set(searches)) == len(searches)


@pytest.mark.parametrize(
    "text",
    [
        "a vs " * 20_000,
        "compare " + "x, " * 50_000,
        "explain a and " * 20_000,
        "?a" * 50_000,
        "top 5 " + "by a, b " * 20_000,
        "best " + "for a and b " * 20_000,
    ],
)
def test_long_questions_are_no_burden(text):
    assert len(decompose(text)) <= 8
