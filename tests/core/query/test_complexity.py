"""The complexity of a query and its intent, a fact or an explanation, and the reasons for them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcompress.query.complexity import Complexity, Intent, classify_complexity, classify_intent

LONG = "please tell me all about the " + "very " * 25 + "old library of this town"


@pytest.mark.parametrize(
    ("query", "expected", "searches", "score"),
    [
        ("What is Python?", "simple", 1, -1),
        ("What is Kubernetes?", "simple", 1, -1),
        ("Explain React hooks and state management", "moderate", 2, 1),
        ("React vs Vue", "moderate", 2, 1),
        ("Compare LangChain vs CrewAI vs Strands for production AI agents", "complex", 4, 4),
        ("Compare the top 5 cloud providers for ML workloads", "complex", 4, 3),
    ],
)
def test_the_published_examples(query, expected, searches, score):
    result = classify_complexity(query, year=2026)
    assert (result.level, result.sub_query_count, result.score) == (expected, searches, score)
    assert result.reasoning.startswith(f"Score {score}: ")
    assert all(reason in result.reasoning for reason in result.reasons)


@pytest.mark.parametrize(
    ("query", "score", "reason"),
    [
        ("one two three four five six seven eight nine", -1, "very short query (9 words)"),
        ("one two three four five six seven eight nine ten", 0, None),
        (LONG, 1, "long query (36 words)"),
        ("where does it say that in the book? and when was it?", 1, "2 questions"),
        ("the tall and the small or the old ones in this town", 1, "2 conjunctions"),
        ("what is the difference between the two kinds of gates in it", 2, "comparison ('difference between')"),
        ("the mayor only wants to see the state of the gates there", 1, "analysis ('state of')"),
        ("what are the newest gates that one can buy in this town", 1, "current events ('newest')"),
        ("which gates of the town were built in 2025 by the mayor", 1, "current events ('2025')"),
        ("which gates of the town were built in 2021 by the mayor", 0, None),
    ],
)
def test_each_signal_counts(query, score, reason):
    result = classify_complexity(query, year=2026)
    assert result.score == score
    assert result.reasons == ((reason,) if reason else ())


@pytest.mark.parametrize(
    "query",
    [
        "How do I draw on a canvas in a browser with few lines",
        "the researcher who has discovered the gate of the old town",
        "who wrote the papers of Microsoft Research on the gates of towns",
        "which incandescent lamps did the old mayor of the town buy",
    ],
)
def test_words_within_words_and_names_do_not_count(query):
    result = classify_complexity(query, year=2026)
    assert not any(reason.startswith(("comparison", "analysis")) for reason in result.reasons), result


@pytest.mark.parametrize(
    ("query", "language"),
    [
        ("Was ist der Unterschied zwischen TCP und UDP?", "de"),
        ("¿Cuál es la diferencia entre TCP y UDP?", "es"),
        ("Quelle est la différence entre TCP et UDP ?", "fr"),
        ("Qual è la differenza tra TCP e UDP?", "it"),
        ("Qual é a diferença entre TCP e UDP?", "pt"),
        ("Чем отличается TCP от UDP?", "ru"),
        ("TCP ve UDP arasındaki fark nedir?", "tr"),
        ("TCP和UDP有什么区别？", "zh"),
        ("TCPとUDPの違いは何ですか？", "ja"),
        ("TCP กับ UDP แตกต่างกันอย่างไร", "th"),
        ("ما الفرق بين TCP و UDP؟", "ar"),
        ("TCP और UDP में क्या अंतर है?", "hi"),
    ],
)
def test_a_comparison_is_one_in_any_language(query, language):
    for given_language in (None, language):
        result = classify_complexity(query, language=given_language)
        assert any(reason.startswith("comparison") for reason in result.reasons), result
        assert result.level is Complexity.MODERATE


@given(st.text(max_size=300))
def test_any_text_has_a_level(query):
    result = classify_complexity(query, year=2026)
    assert result == classify_complexity(query, year=2026)
    assert result.sub_query_count == {"simple": 1, "moderate": 2, "complex": 4}[result.level]
    assert (result.score <= 0, result.score > 2) == (result.level == "simple", result.level == "complex")


@pytest.mark.parametrize(
    "text", ["vs " * 50_000, "a" * 200_000, "compare " + "x, " * 50_000, "_" * 100_000, "和" * 50_000]
)
def test_long_texts_are_no_burden(text):
    assert classify_complexity(text).reasons


def test_numbered_questions_count():
    two, three = "1) What is TCP? 2) What is UDP?", "1) What is TCP? 2) What is UDP? 3) What is QUIC?"
    assert (classify_complexity(two).sub_query_count, classify_complexity(three).sub_query_count) == (2, 4)
    assert "2 numbered questions" in classify_complexity(two).reasons


# The intent

FACTUAL = """\
getUserById function|parse_json|`configure`|`--flag`|v1.5|install|configure authentication|enable logging
syntax of tables|Konfiguration installieren|API reference|authentication setup|whatever|showcase|canvas
"""
CONCEPTUAL = """\
why use JWT authentication?|how to configure authentication|explain the scheduler|what getUserById returns
getting started|overview of the API|background of v1.5|difference of get_user and find_user|compare `a` and `b`
threads versus processes|install?|warum Redis|为什么使用缓存|как работает планировщик
"""


def test_a_fact_is_wanted_unless_there_is_a_sign_of_an_explanation():
    for queries, intent in ((FACTUAL, Intent.FACTUAL), (CONCEPTUAL, Intent.CONCEPTUAL)):
        for query in queries.strip().replace("\n", "|").split("|"):
            assert classify_intent(query).intent is intent, query
    assert classify_intent("").intent is Intent.FACTUAL
    assert classify_intent("why?").reasons == ("question ('why')", "question mark")
