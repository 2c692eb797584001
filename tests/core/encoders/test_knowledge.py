"""How well an encoder knows a language, from how its tokenizer cuts words."""

import pytest

from ctxcompress.encoders.knowledge import knowledge

TEXTS = {
    "en": "The government decided yesterday that taxes will be lowered before the end of next year",
    "es": "El gobierno decidió ayer que los impuestos bajarán antes del final del próximo año",
    "ru": "Правительство вчера решило снизить налоги до конца следующего года",
    "hi": "सरकार ने कल अगले वर्ष के अंत से पहले करों को कम करने का निर्णय लिया",
    "ar": "قررت الحكومة أمس خفض الضرائب قبل نهاية العام المقبل",
    "zh": "政府昨天决定在明年年底之前降低税收",
}


class Cutter:
    """An encoder whose tokenizer cuts every word into pieces of `size` characters, some of them unknown."""

    unk_token = "?"

    def __init__(self, size, unknown=0):
        self.size, self.unknown = size, unknown

    @property
    def tokenizer(self):
        return self

    def tokenize(self, text):
        pieces = [w[i : i + self.size] for w in text.split() for i in range(0, len(w), self.size)]
        return ["?"] * self.unknown + pieces[self.unknown :]


def words(language):
    return [TEXTS[language].split()]


def test_whole_words_are_known_and_single_letters_are_not():
    assert knowledge(Cutter(50), words("en")) == 1
    assert knowledge(Cutter(1), words("en")) == 0


def test_knowledge_grows_with_the_length_of_pieces():
    shares = [knowledge(Cutter(size), words("en")) for size in (1, 2, 3, 4, 50)]
    assert shares == sorted(shares)
    assert 0 < shares[1] < shares[2] < 1


@pytest.mark.parametrize("encoder", [object(), type("Odd", (), {"tokenizer": None})()])
def test_an_encoder_that_cannot_be_asked_is_taken_to_know(encoder):
    assert knowledge(encoder, words("hi")) == 1


def test_word_vectors_know_english_and_no_script_but_ours():
    pytest.importorskip("wordllama")
    from ctxcompress.encoders import StaticVectors

    known = {language: knowledge(StaticVectors(), words(language)) for language in TEXTS}
    assert known["en"] == 1
    assert known["es"] > 0.7
    assert known["hi"] == known["ar"] == 0
    assert known["zh"] < 0.2
