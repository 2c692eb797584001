"""SentenceEncoder and CrossEncoder around stand-ins for models; tests/semantic has real ones."""

import sys
import types

import numpy as np
import pytest

from ctxcompress.encoders import CrossEncoder, SentenceEncoder, StaticVectors
from ctxcompress.errors import MissingExtra


class BiModel:
    """What SentenceEncoder uses of a SentenceTransformer."""

    def __init__(self, name=None):
        self.name = name
        self.asked = []

    def encode_query(self, texts, **options):
        self.asked.append(("query", texts, options))
        return np.array([[len(text), 1.0] for text in texts], dtype=np.float32)

    def encode_document(self, texts, **options):
        self.asked.append(("document", texts, options))
        return np.array([[len(text), 2.0] for text in texts], dtype=np.float32)


class CrossModel:
    """What CrossEncoder uses of its namesake."""

    def __init__(self, name=None):
        self.name = name
        self.asked = []

    def predict(self, pairs, **options):
        self.asked.append((pairs, options))
        return np.array([len(text) for _, text in pairs], dtype=np.float32)


def test_questions_and_texts_go_to_the_models_methods_for_them():
    model = BiModel()
    encoder = SentenceEncoder(model, batch_size=7)
    assert encoder.encode_query("how?").tolist() == [4, 1]
    assert encoder.encode_document(("a", "bc")).tolist() == [[1, 2], [2, 2]]
    (_, query, quiet), (_, texts, options) = model.asked
    assert (query, texts) == (["how?"], ["a", "bc"])
    assert options == {"batch_size": 7, "show_progress_bar": False}
    assert quiet["show_progress_bar"] is False


def test_a_cross_encoder_reads_the_question_with_each_text():
    model = CrossModel()
    assert CrossEncoder(model, batch_size=3).compare("how?", ("a", "bc")).tolist() == [1, 2]
    assert model.asked == [([("how?", "a"), ("how?", "bc")], {"batch_size": 3, "show_progress_bar": False})]


def test_word_vectors_stand_beside_a_sentence_encoder_unless_they_are_not_wanted(monkeypatch):
    assert isinstance(SentenceEncoder(BiModel()).word_vectors, StaticVectors)
    assert SentenceEncoder(BiModel(), word_vectors=False).word_vectors is None
    monkeypatch.setitem(sys.modules, "wordllama", None)
    with pytest.raises(MissingExtra, match=r"StaticVectors needs wordllama; pip install 'ctxcompress\[static\]'") as e:
        SentenceEncoder(BiModel())
    assert isinstance(e.value.__cause__, ImportError)
    assert SentenceEncoder(BiModel(), word_vectors=False).encode_query("a").tolist() == [1, 1]


@pytest.mark.parametrize(("kind", "name"), [(SentenceEncoder, "SentenceTransformer"), (CrossEncoder, "CrossEncoder")])
def test_a_name_or_folder_is_handed_to_sentence_transformers(kind, name, monkeypatch):
    made = []

    class Made(BiModel):
        def __init__(self, given):
            super().__init__()
            made.append(given)

    package = types.ModuleType("sentence_transformers")
    setattr(package, name, Made)
    monkeypatch.setitem(sys.modules, "sentence_transformers", package)
    kind("some/model")
    assert made == ["some/model"]


@pytest.mark.parametrize(("kind", "name"), [(SentenceEncoder, "SentenceTransformer"), (CrossEncoder, "CrossEncoder")])
def test_without_the_package_the_extra_is_named(kind, name, monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(MissingExtra, match=rf"{name} 'some/model' needs .*pip install 'ctxcompress\[semantic\]'") as e:
        kind("some/model")
    assert isinstance(e.value, ImportError)
