"""The intent of a query: a fact or an explanation."""

import pytest

from ctxcompress.query.complexity import Intent, classify_intent


@pytest.mark.parametrize(
    "query",
    [
        "getUserById function",
        "parseJSON",
        "get_user_by_id",
        "parse_json",
        "`configure`",
        "`--flag`",
        "v1.5",
        "2.3.1",
        "install",
        "configure authentication",
        "enable logging",
        "syntax of tables",
        "Konfiguration installieren",
    ],
)
def test_signs_of_a_fact(query):
    assert classify_intent(query).intent is Intent.FACTUAL


@pytest.mark.parametrize(
    "query",
    [
        "why use JWT authentication?",
        "how to configure authentication",
        "explain the scheduler",
        "what getUserById returns",
        "getting started",
        "overview of the API",
        "background of v1.5",
        "difference of get_user and find_user",
        "compare `a` and `b`",
        "threads versus processes",
        "install?",
        "warum Redis",
        "为什么使用缓存",
        "как работает планировщик",
    ],
)
def test_signs_of_an_explanation_win(query):
    result = classify_intent(query)
    assert result.intent is Intent.CONCEPTUAL
    assert result.reasons


@pytest.mark.parametrize("query", ["", "API reference", "authentication setup", "whatever", "showcase", "canvas"])
def test_without_a_sign_a_fact_is_wanted(query):
    assert classify_intent(query).intent is Intent.FACTUAL


def test_reasons_say_what_was_found():
    assert classify_intent("why?").reasons == ("question ('why')", "question mark")
