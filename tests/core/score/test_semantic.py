"""Closeness in meaning: what is compared, and what the columns say of it."""

import numpy as np
import pytest

from ctxcompress import compress
from ctxcompress.data.documents import documents_as_they_are
from ctxcompress.data.passages import Passage
from ctxcompress.data.table import SegmentTable
from ctxcompress.errors import ConfigError, InputError
from ctxcompress.score.corpus import Corpus
from ctxcompress.score.semantic import SEMANTIC, WORD_VECTORS, Semantics
from ctxcompress.segment.segments import segment

PAGES = [
    Passage(
        f"p{page}",
        " ".join(f"Sentence {line} of page {page} says something of its own." for line in range(10)),
        title=f"Page {page}",
    )
    for page in range(6)
]


LONGER = [Passage(page.id, f"{page.text} {page.text}", title=page.title) for page in PAGES]
LONG = [
    Passage(
        "long",
        "\n\n".join(
            f"## Part {part}\n\n" + " ".join(f"Sentence {part}-{line} goes on and on about it." for line in range(15))
            for part in range(9)
        ),
        title="Long",
    )
]
WIDE = [Passage("wide", " ".join(f"Line {line} {'and on ' * 30}." for line in range(40)), title="Wide")]


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


def first_of(page):
    return page.text.split(". ")[0] + "."


def falling(passages=PAGES):
    return np.linspace(3, -3, len(corpus_of(passages).texts))


class Beside(Directions):
    """With something else that is called word_vectors."""

    def __init__(self, word, word_vectors):
        super().__init__(word)
        self.word_vectors = word_vectors


def test_word_vectors_beside_an_encoder_say_the_same_as_alone_the_less_the_longer_the_question():
    corpus, clauses = corpus_of(PAGES), ("7", "page 3", "own")
    asked = ("question 7", corpus, falling(), clauses)
    both = Semantics.of(Beside("Page 4", Cheap()), [None] * len(PAGES), "en").features(*asked)
    alone = Semantics(Cheap(), []).features(*asked)
    assert both.shape == (len(SEMANTIC) + len(WORD_VECTORS), len(corpus.texts))
    np.testing.assert_array_equal(both[len(SEMANTIC) :], alone / 4)
    assert alone.any()
    longer = Semantics.of(Beside("Page 4", None), [None] * len(PAGES), "en").features(*asked)
    assert longer.shape == (len(SEMANTIC), len(corpus.texts))


def test_with_word_vectors_the_encoder_is_given_a_little_less():
    texts = []
    for word_vectors in (None, Cheap()):
        encoder = Beside("Page 4", word_vectors)
        semantics = Semantics.of(encoder, [None] * len(LONGER), "en")
        semantics.features("question", corpus_of(LONGER), falling(LONGER))
        texts.append(sum(map(len, encoder.documents)))
    assert 0.7 * texts[0] < texts[1] < texts[0]


def test_each_combination_has_weights_of_its_own_and_word_vectors_are_for_english():
    def model(encoder, language="en"):
        return Semantics.of(encoder, [], language).model

    class CheapWithVectors(Cheap):
        word_vectors = Cheap()

    assert model(Directions("x")) == model(Beside("x", None)) == model(Beside("x", Cheap()), "es") == "encoder"
    assert model(Cheap()) == model(CheapWithVectors()) == "static"
    assert model(Beside("x", Cheap())) == "encoder_and_static"


def test_what_is_compared_costs_a_fifth_of_everything_at_most():
    encoder = Directions("Sentence 3")
    columns_of(encoder, falling())
    assert 0 < sum(map(len, encoder.documents)) < sum(len(page.text) for page in PAGES) * 0.21


def test_how_passages_begin_is_compared_first_title_and_headings_before_it():
    encoder = Directions("Page 4")
    columns = columns_of(encoder, falling(LONGER), LONGER)
    assert encoder.documents[:2] == [f"Page {page}: {first_of(PAGES[page])}" for page in range(2)]
    assert columns["compared"][[0, 20]].all()


def test_of_long_passages_titles_and_headings_are_compared():
    encoder = Directions("Part 3")
    columns = columns_of(encoder, falling(LONG), LONG)
    assert "Long › Part 3" in encoder.documents
    of_part_3 = [text.startswith("Sentence 3-") for text in corpus_of(LONG).texts]
    assert set(columns["similarity_rank_of_label"][of_part_3]) == {1.0}


def test_of_a_segment_the_beginning_is_compared():
    encoder = Directions("x")
    columns_of(encoder, falling(WIDE), WIDE)
    assert max(map(len, encoder.documents)) == len("Wide: ") + 80


def test_the_likeliest_segments_are_compared():
    logits = np.zeros(10)
    logits[6:8] = 3
    assert columns_of(Directions("x"), logits, PAGES[:1])["compared"][[6, 7]].all()


def test_at_least_four_segments_are_compared_however_few_there_are():
    columns = columns_of(Directions("Sentence 1"), falling(PAGES[:1]), PAGES[:1])
    assert columns["compared"].sum() == 4


def test_everything_is_compared_where_that_is_cheap_or_words_tell_nothing():
    assert columns_of(Cheap(), falling())["compared"].all()
    assert columns_of(Directions("Sentence 3"), None)["compared"].all()


def test_similarity_is_in_standard_deviations_of_what_was_compared():
    columns = columns_of(Cheap(), falling())
    assert columns["similarity"].mean() == pytest.approx(0)
    assert columns["similarity"].std() == pytest.approx(1)
    assert columns["similarity_gap"].max() == 0
    best = columns["similarity_rank"] == 1
    assert best.tolist() == ["7" in text for text in corpus_of(PAGES).texts]


def test_a_scale_of_the_numbers_does_not_matter():
    class Large(Cheap):
        def compare(self, query, texts):
            return [1e6 + 1e3 * number for number in super().compare(query, texts)]

    for name, values in columns_of(Cheap(), falling()).items():
        np.testing.assert_allclose(columns_of(Large(), falling())[name], values, atol=1e-9)


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


def test_nothing_is_closer_than_others_where_all_are_the_same():
    columns = columns_of(Directions("Sentence"), falling())
    assert not columns["similarity"].any()
    assert np.isfinite(np.vstack(list(columns.values()))).all()


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


@pytest.mark.parametrize("encoder", [Counting(), CountingAtOnce()], ids=["one by one", "at once"])
def test_a_segment_close_to_one_clause_stands_out(encoder):
    columns = columns_of(encoder, falling(), clauses=("Sentence 3", "page 4"))
    assert set(encoder.queries) == {"question", "Sentence 3", "page 4"}
    assert not columns["similarity"].any()
    best = columns["clause_similarity"].reshape(6, 10)
    assert best[:, 3].min() > 0
    assert best[4].min() > 0
    assert np.delete(np.delete(best, 4, axis=0), 3, axis=1).max() <= 0


def test_a_passage_is_as_close_to_a_clause_as_its_closest_segment_and_its_title_for_itself():
    columns = columns_of(Counting(), falling(), clauses=("Page 4", "Sentence 7 of page 2"))
    of_passage = columns["clause_similarity_of_passage"].reshape(6, 10)
    np.testing.assert_array_equal(of_passage[:, 0], columns["clause_similarity"].reshape(6, 10).max(axis=1))
    assert (of_passage == of_passage[:, :1]).all()
    assert of_passage[:, 0].argmax() == 2
    assert columns["clause_similarity_of_label"].reshape(6, 10)[:, 0].argmax() == 4


def test_a_question_without_clauses_is_its_own():
    columns = columns_of(Cheap(), falling())
    np.testing.assert_array_equal(columns["clause_similarity"], columns["similarity"])
    np.testing.assert_array_equal(columns["clause_similarity_of_passage"], columns["similarity_of_passage"])
    np.testing.assert_array_equal(columns["clause_similarity_of_label"], columns["similarity_of_label"])


@pytest.mark.parametrize("number", [1, 2])
def test_one_or_two_passages_are_not_compared_with_clauses(number):
    encoder = Counting()
    columns = columns_of(encoder, falling(PAGES[:number]), PAGES[:number], ("Sentence 3", "page 1"))
    assert set(encoder.queries) == {"question"}
    assert not np.vstack([columns[name] for name in SEMANTIC if name.startswith("clause")]).any()


def test_a_comparer_that_is_not_cheap_is_asked_the_question_alone():
    class Dear(Counting):
        compares_all = False

    encoder = Dear()
    columns_of(encoder, falling(), clauses=("page 1",))
    assert set(encoder.queries) == {"question"}


def test_an_encoder_is_given_five_clauses_at_most_in_one_call_with_the_texts():
    class Calls(Directions):
        calls = 0

        def encode_document(self, texts):
            self.calls += 1
            return super().encode_document(texts)

    encoder = Calls("x")
    columns_of(encoder, falling(LONGER), LONGER, tuple(f"part {number}" for number in range(8)))
    assert encoder.calls == 1
    assert encoder.documents[:6] == [*(f"part {number}" for number in range(5)), f"Page 0: {first_of(PAGES[0])}"]


def test_a_passage_close_to_a_clause_stands_out_though_the_question_is_far_from_all():
    class Words(Directions):
        """Each of these words is an axis."""

        def encode_query(self, text):
            return self.encode_document([text])[0]

        def encode_document(self, texts):
            axes = ("question", "page 0", "page 1")
            return np.array([[float(axis in text.casefold()) for axis in axes] for text in texts])

    columns = columns_of(Words(""), falling(LONGER), LONGER, ("of page 1",))
    assert not columns["similarity"].any()
    assert columns["clause_similarity_of_label"].reshape(6, 20)[:, 0].argmax() == 1


def test_embeddings_that_passages_carry_are_compared_with_clauses_too():
    class Axes(Directions):
        def encode_document(self, texts):
            self.documents += texts
            return np.array([[0.0, 1.0] for _ in texts])

    carried = [Passage(p.id, p.text, embedding=[1.0, 3.0] if p.id == "p4" else [1.0, 0.0]) for p in LONGER]
    columns = columns_of(Axes("x"), falling(carried), carried, ("the other",))
    assert columns["clause_similarity_of_label"].reshape(6, 20)[:, 0].argmax() == 4
    assert columns["similarity_rank_of_label"].reshape(6, 20)[4, 0] == pytest.approx(1 / 6)


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
