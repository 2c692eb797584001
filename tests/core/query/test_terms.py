"""The terms of a query: its content words and their synonyms."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcompress.config.presets import TECHNICAL_SYNONYMS
from ctxcompress.query.terms import query_terms
from ctxcompress.text.words import Terms


def asked(query, language="en", synonyms=()):
    return query_terms(query, language=language, terms=Terms(language), synonyms=synonyms)


@pytest.mark.parametrize(
    ("language", "query", "expected"),
    [
        ("en", "What is the default timeout of the server?", ["default", "timeout", "server"]),
        ("en", "how do I set max_retries", ["set", "max_retri", "max", "retri"]),
        ("de", "Wie alt werden die Häuser?", ["alt", "haus"]),
        ("fr", "Quel est le délai du serveur ?", ["del", "serveur"]),
        ("es", "¿Cuál es el puerto?", ["puert"]),
        ("ru", "Какой порт у сервера?", ["порт", "сервер"]),
        ("zh", "服务器的端口是什么？", ["服务", "务器", "器的", "的端", "端口", "口是"]),
        ("ja", "水", ["水"]),
        ("tr", "Türkiye'nin İÇİN KIRMIZI BAYRAĞI", ["turki", "kirmi", "bayra"]),
        ("ar", "أين المتحف؟", ["تحف"]),
        ("ar", "أيْنَ المتحف؟", ["تحف"]),
        ("hi", "नदी कहाँ है", ["नद"]),
        ("hi", "ज़मीन में से", ["जमीन"]),
        ("ru", "её порт ещё", ["порт"]),
        ("th", "ทำไมปลา", ["ปลา"]),
        ("th", "R 5 คืออะไร", ["r", "5", "คือ"]),
    ],
)
def test_content_words_are_left_of_function_words_however_written(language, query, expected):
    assert list(asked(query, language)) == expected


@pytest.mark.parametrize("query", ["", "  ", "?!", "\ud800"])
def test_nothing_asked(query):
    assert asked(query) == {}


@given(st.text(), st.sampled_from(["en", "zh", "ja", "th", "ar", "xx"]))
def test_any_question(query, language):
    found = asked(query, language, TECHNICAL_SYNONYMS)
    assert all(term and weight in (0.5, 1.0) for term, weight in found.items())
    assert found == asked(query, language, TECHNICAL_SYNONYMS)


def test_synonyms_weigh_half_and_follow():
    found = asked("delete the db", synonyms={"db": ["database"], "k8s": ["kubernetes"]})
    assert found == {"delet": 1.0, "db": 1.0, "databas": 0.5}


@pytest.mark.parametrize("query", ["k8s pods", "pods in Kubernetes", "kube pods", "pods for container orchestration"])
def test_each_word_of_a_group_of_synonyms_finds_all_the_others(query):
    found = asked(query, synonyms={"k8s": ["kubernetes", "kube", "container orchestration"]})
    assert {"pod", "k8s", "kubernet", "kube", "contain", "orchestr"} <= set(found)
    own = set(asked(query))
    assert {term for term, weight in found.items() if weight == 1.0} == own


@pytest.mark.parametrize("group", [(word, *others) for word, others in TECHNICAL_SYNONYMS.items()])
def test_technical_synonyms_are_mutual(group):
    others = [set(asked(word, synonyms=TECHNICAL_SYNONYMS)) for word in group]
    assert all(set(asked(" ".join(group))) <= found for found in others)


def test_a_name_weighs_as_much_as_a_word_of_several_pairs():
    assert asked("包 hfsutils 的大小是多少？", language="zh")["hfsutil"] == 3
    assert asked("What does 情報 in the manual mean?")["manual"] == 1
