"""The answer's sentence is kept at a small budget, in any language, without any option."""

import json
from pathlib import Path

import pytest

from ctxcompress import compress
from ctxcompress.data.passages import shown

LANGUAGES = json.loads(Path(__file__).with_name("languages.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("options", [{}, {"scorer": "bm25"}, {"language": "given"}], ids=str)
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_answer_is_kept_at_a_small_budget(language, options):
    question, answer, filler = LANGUAGES[language].values()
    texts = [f"{filler} {n}" for n in range(10)]
    texts[6] = f"{filler} {answer} {filler}"
    options = {name: language for name in options if name == "language"} or options
    result = compress(question, texts, max_tokens=60, **options)
    assert answer in result.text
    assert result.tokens <= 60


@pytest.mark.parametrize("language", LANGUAGES)
def test_punctuation_and_letters_are_as_they_were(language):
    question, answer, filler = LANGUAGES[language].values()
    for kept in compress(question, [f"{filler} {answer}"] * 2, max_tokens=40).passages:
        assert kept.text == shown(kept.original.text, kept.spans, kept.markers)
        assert kept.text
