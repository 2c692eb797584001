"""Closeness in meaning: what an encoder is asked, what it may give, and how much an unknown language counts."""

import numpy as np
import pytest

from ctxcompress import Passage, compress
from ctxcompress.errors import ConfigError, InputError

QUESTION = "which sentence of page 4 says something?"
PAGES = [
    Passage(str(page), " ".join(f"Sentence {line} of page {page} says a thing." for line in range(10)), title="Page")
    for page in range(6)
]


class Directions:
    """Texts that hold `word` point along one axis, others along another; remembers what it was given."""

    def __init__(self, word):
        self.word = word
        self.documents = []

    def encode_query(self, text):
        return np.array([1.0, 0.0])

    def encode_document(self, texts):
        self.documents += [text.encode().decode() for text in texts]
        return np.array([[3.0, 0.0] if self.word in text else [0.0, 5.0] for text in texts])


class Cheap:
    """Counts a letter."""

    compares_all = True

    def __init__(self, scale=1):
        self.scale = scale

    def compare(self, query, texts):
        return [self.scale * (1 + text.count("7")) for text in texts]


def run(encoder, passages=PAGES, question=QUESTION):
    return compress(question, passages, max_tokens=30, encoder=encoder)


def carrying(embeddings):
    return [Passage(str(n), f"The only sentence of {n}.", embedding=each) for n, each in enumerate(embeddings)]


def test_forty_segments_are_read_each_with_its_title_and_the_sentence_before_it():
    encoder = Directions("Sentence 3")
    run(encoder, PAGES * 5)
    assert len(encoder.documents) == 40
    assert "Page: Sentence 2 of page 4 says a thing. Sentence 3 of page 4 says a thing." in encoder.documents
    assert "Page: Sentence 0 of page 4 says a thing." in encoder.documents


def test_what_stands_out_in_meaning_comes_first_among_segments_that_words_cannot_tell_apart():
    for line in range(10):
        wanted = f"Sentence {line} of page 4"
        assert wanted in run(Directions(f"a thing. {wanted}" if line else f": {wanted}")).text


def test_an_encoder_to_which_all_is_the_same_changes_no_order():
    order = [sorted(run(each).passages, key=lambda kept: -kept.relevance) for each in (Directions("page"), "words")]
    assert [kept.text for kept in order[0]] == [kept.text for kept in order[1]]


@pytest.mark.parametrize("embedding", ["abc", 5, ["a", "b"], [[1.0, 2.0]], [10**400, 1]])
def test_an_embedding_that_is_no_list_of_numbers_is_refused(embedding):
    with pytest.raises(InputError, match="embedding of passage 0"):
        run(Directions("x"), carrying([embedding] * 9))


def test_embeddings_that_passages_carry_are_used_and_not_computed_again():
    encoder = Directions("nothing")
    result = run(encoder, carrying([[1.0, 0.0] if n == 7 else [0.0, 1.0] for n in range(9)]), "who?")
    assert encoder.documents == []
    assert max(result.passages, key=lambda kept: kept.relevance).id == "7"


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        ([[1.0, 0.0]], "one such vector for each text"),
        ([[1.0, 0.0, 0.0]] * 99, "one such vector for each text"),
        ([1.0, 2.0], "2 dimensions"),
        ([[float("nan"), 0.0]] * 99, "finite numbers"),
        ("vectors", "array of numbers"),
    ],
)
def test_an_encoder_that_gives_something_else_is_told_so(vectors, message):
    class Wrong(Directions):
        def encode_document(self, texts):
            return vectors[: len(texts)] if isinstance(vectors, list) and len(vectors) == 99 else vectors

    with pytest.raises(ConfigError, match=message):
        run(Wrong("x"))


def test_a_comparer_that_gives_too_few_numbers_is_told_so():
    class One(Cheap):
        def compare(self, query, texts):
            return [1]

    with pytest.raises(ConfigError, match="one for each"):
        run(One())


def test_no_encoder_is_given_lone_surrogates():
    odd = [Passage(p.id, p.text + " And \ud800 more.", title="\udfff") for p in PAGES]
    assert run(Directions("3"), odd, "a \ud83d question").text


class Stranger:
    """An encoder whose tokenizer cuts words into pieces of `letters` letters, and whose vectors mean nothing."""

    unk_token = None

    def __init__(self, letters):
        self.letters, self.calls = letters, 0

    @property
    def tokenizer(self):
        return self

    def tokenize(self, text):
        return [word[i : i + self.letters] for word in text.split() for i in range(0, len(word), self.letters)]

    def encode_query(self, text):
        return self.encode_document([text])[0]

    def encode_document(self, texts):
        self.calls += 1
        return np.array([[1.0, len(text) % 7, text.count("a") % 5] for text in texts])


GERMAN = [
    "Der Hafen ist im Winter geschlossen. Schiffe ankern dann weiter draussen.",
    "Brot wird aus Mehl gebacken. Der Ofen muss sehr heiss sein.",
    "Der Zug nach Bremen verkehrt stuendlich. Die Fahrt dauert lange.",
    "Ein Koenig regiert sein Reich. Seine Soldaten bewachen die Grenze.",
]


def relevances(encoder):
    found = compress("Wann ist der Hafen geschlossen?", GERMAN, max_tokens=40, encoder=encoder)
    return [(passage.text, passage.relevance) for passage in found.passages]


def test_an_encoder_that_reads_letters_is_not_called_and_changes_nothing():
    stranger = Stranger(letters=1)
    assert relevances(stranger) == relevances(None)
    assert stranger.calls == 0


def test_the_less_an_encoder_knows_the_less_it_changes():
    alone = relevances(None)[0][1]
    changes = [abs(relevances(Stranger(letters))[0][1] - alone) for letters in (1, 2, 50)]
    assert changes[0] == 0 < changes[1] < changes[2]
