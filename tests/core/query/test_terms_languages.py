"""Which words of a query are content words, in languages other than English."""

import pytest

from ctxcompress.query.terms import query_terms
from ctxcompress.text.words import Terms


def asked(language, query):
    return query_terms(query, language=language, terms=Terms(language))


@pytest.mark.parametrize(
    ("language", "query", "expected"),
    [
        ("tr", "Türkiye'nin İÇİN KIRMIZI BAYRAĞI", ["turki", "kirmi", "bayra"]),
        ("tr", "NASIL çalışır?", ["calis"]),
        ("ar", "أين المتحف؟", ["تحف"]),
        ("ar", "اين المتحف؟", ["تحف"]),
        ("ar", "أيْنَ المتحف؟", ["تحف"]),
        ("ar", "أين القبائل والنهر؟", ["قبل", "نهر"]),
        ("hi", "नदी कहाँ है", ["नद"]),
        ("hi", "नदी कहां हैं", ["नद"]),
        ("hi", "ज़मीन में से", ["जमीन"]),
        ("ru", "её порт ещё", ["порт"]),
        ("ru", "ее порт е\u0308е", ["порт"]),
        ("th", "ทำไมปลา", ["ปลา"]),
        ("th", "ปลาของใคร", ["ปลา"]),
        ("th", "R 5 คืออะไร", ["r", "5", "คือ"]),
        ("th", "ใคร", ["ใคร"]),
    ],
)
def test_function_words_are_left_out_however_written(language, query, expected):
    assert list(asked(language, query)) == expected
