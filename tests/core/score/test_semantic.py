"""Closeness in meaning: what is compared, and what the columns say of it."""

import numpy as np
import pytest

from ctxcompress import compress
from ctxcompress.data.documents import documents_as_they_are
from ctxcompress.data.passages import Passage
from ctxcompress.data.table import SegmentTable
from ctxcompress.errors import ConfigError, InputError
from ctxcompress.score.corpus import Corpus
from ctxcompress.score.semantic import SEMANTIC, Semantics
from ctxcompress.segment.segments import segment

PAGES = [
    Passage(
        f"p{page}",
        " ".join(f"Sentence {line} of page {page} says something of its own." for line in range(10)),
        title=f"Page {page}",
    )
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
        self.documents += texts
        return np.array([[3.0, 0.0] if self.word in text else [0.0, 5.0] for text in texts])


class Cheap:
    """Counts a letter."""

    compares_all = True

    def compare(self, query, texts):
        return [text.count("7") for text in texts]


class Counting:
    """Counts what it is asked for; remembers what that was."""

    compares_all = True

    def __init__(self):
        self.queries = []

    def compare(self, query, texts):
        self.queries.append(query)
        return [text.count(query) for text in texts]


class CountingAtOnce(Counting):
    """The same for several at once."""

    def compare(self, query, texts):
        raise AssertionError("asked one by one")

    def compare_each(self, queries, texts):
        return [super(CountingAtOnce, self).compare(query, texts) for query in queries]


def corpus_of(passages):
    segmented = [segment(passage.text) for passage in passages]
    return Corpus.of(passages, SegmentTable.of(documents_as_they_are([p.text for p in passages]), segmented))


def columns_of(encoder, logits, passages=PAGES, clauses=()):
    semantics = Semantics(encoder, [passage.embedding for passage in passages])
    rows = semantics.features("question", corpus_of(passages), logits, clauses)
    return dict(zip(SEMANTIC, rows, strict=True))


def falling(passages=PAGES):
    return np.linspace(3, -3, len(corpus_of(passages).texts))


def test_what_is_compared_costs_a_fifth_of_everything_at_most():
    encoder = Directions("Sentence 3")
    columns_of(encoder, falling())
    assert 0 < sum(map(len, encoder.documents)) < sum(len(page.text) for page in PAGES) * 0.21


@pytest.mark.parametrize("scale", [1e-12, 1e200, 1e307])
def test_numbers_may_be_very_large_or_small(scale):
    class Scaled(Cheap):
        def compare(self, query, texts):
            return [scale * (1 + number) for number in super().compare(query, texts)]

    with np.errstate(all="raise"):
        rows = np.vstack(list(columns_of(Scaled(), falling()).values()))
    np.testing.assert_allclose(rows, np.vstack(list(columns_of(Cheap(), falling()).values())), atol=1e-6)


def test_where_words_tell_nothing_not_endlessly_many_titles_are_compared():
    pages = [Passage(str(n), "Short.", title=f"Title number {n}") for n in range(2_500)]
    encoder = Directions("nothing")
    columns_of(encoder, None, pages)
    assert 1_000 < len(encoder.documents) <= 3_000


@pytest.mark.parametrize("embedding", ["abc", 5, ["a", "b"], [[1.0, 2.0]], [10**400, 1]])
def test_an_embedding_that_is_no_list_of_numbers_is_refused(embedding):
    carried = [Passage(str(n), f"The only sentence of {n}.", embedding=embedding) for n in range(3)]
    with pytest.raises(InputError, match="embedding of passage 0"):
        columns_of(Directions("x"), falling(carried), carried)


def test_embeddings_that_passages_carry_are_used_and_not_computed_again():
    carried = [
        Passage(str(n), f"The only sentence of {n}.", embedding=[1.0, 0.0] if n == 7 else [0.0, 1.0]) for n in range(9)
    ]
    encoder = Directions("nothing")
    columns = columns_of(encoder, falling(carried), carried)
    assert encoder.documents == []
    assert columns["similarity_rank"].argmax() == columns["similarity_of_passage"].argmax() == 7
    assert columns["compared"].all()


@pytest.mark.parametrize("embedding", [[1.0, 0.0, 0.0], [float("nan"), 1.0], []])
def test_embeddings_of_another_model_are_left_alone(embedding):
    carried = [Passage(str(n), f"The only sentence of {n}.", embedding=embedding) for n in range(9)]
    encoder = Directions("of 7")
    columns = columns_of(encoder, falling(carried), carried)
    assert len(encoder.documents) == columns["compared"].sum() > 0


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
        columns_of(Wrong("x"), falling())


def test_a_comparer_that_gives_too_few_numbers_is_told_so():
    class Wrong(Cheap):
        def compare(self, query, texts):
            return [1]

    with pytest.raises(ConfigError, match="one for each"):
        columns_of(Wrong(), falling())


def test_no_encoder_is_given_lone_surrogates():
    class Strict(Directions):
        def encode_query(self, text):
            return super().encode_query(text.encode().decode())

        def encode_document(self, texts):
            return super().encode_document([text.encode().decode() for text in texts])

    odd = [Passage(p.id, p.text + " And \ud800 more.", title="\udfff") for p in PAGES]
    semantics = Semantics(Strict("3"), [None] * len(odd))
    assert semantics.features("a \ud83d question", corpus_of(odd), falling(odd)).any()


def test_a_comparer_of_several_questions_that_gives_another_shape_is_told_so():
    class Wrong(CountingAtOnce):
        def compare_each(self, queries, texts):
            return [[1] * len(texts)]

    with pytest.raises(ConfigError, match="for each question and text"):
        columns_of(Wrong(), falling(), clauses=("page 1",))


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
