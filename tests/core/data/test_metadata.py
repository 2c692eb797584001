"""Reading what loaders, splitters and vector stores write into metadata."""

from fractions import Fraction

import numpy as np
import pytest

from ctxcompress.data.metadata import as_passages, passage_from_metadata
from ctxcompress.data.passages import Passage


@pytest.mark.parametrize(
    ("metadata", "field", "expected"),
    [
        ({"source": "https://a.b/c", "title": "C", "language": "en"}, "title", "C"),
        ({"file_path": "/x/a.py", "file_name": "a.py", "file_size": 3}, "file_path", "/x/a.py"),
        ({"file_name": "a.py"}, "file_path", "a.py"),
        ({"document_title": "D"}, "title", "D"),
        ({"title": "", "document_title": "D"}, "title", "D"),
        ({"ref_doc_id": "r"}, "doc_id", "r"),
        ({"doc_id": "d", "ref_doc_id": "r"}, "doc_id", "d"),
        ({"Header 1": "A", "Header 3": "C"}, "header_path", ("A", "C")),
        ({"Header 2": "B", "section": "S"}, "header_path", ("B",)),
        ({"header_path": "/A/B/"}, "header_path", ("A", "B")),
        ({"header_path": "A > B"}, "header_path", ("A", "B")),
        ({"headings": ["A", "B"]}, "header_path", ("A", "B")),
        ({"headings": [], "section": "S"}, "header_path", ("S",)),
        ({"section": "Read/write"}, "header_path", ("Read/write",)),
        ({"page": 3}, "file_path", None),
    ],
)
def test_usual_keys(metadata, field, expected):
    assert getattr(passage_from_metadata("1", "text", metadata), field) == expected


def test_mapped_keys_replace_the_usual_ones():
    metadata = {"title": "usual", "name": "mine", "path": "A > B", "Header 1": "H", "similarity": 0.5}
    mapping = {"title": "name", "header_path": "path", "score": "similarity"}
    passage = passage_from_metadata("1", "text", metadata, metadata_map=mapping)
    assert (passage.title, passage.header_path, passage.score) == ("mine", ("A", "B"), 0.5)
    assert passage_from_metadata("1", "text", metadata, score=0.9, metadata_map={"score": "similarity"}).score == 0.9


@pytest.mark.parametrize("value", [None, np.float64("nan"), True, False, np.True_, "0.9", [0.9], 1j, 10**400])
def test_what_is_no_score_is_unknown(value):
    assert as_passages([{"text": "x", "score": value}])[0].score is None


@pytest.mark.parametrize("value", [0, 0.5, -1, np.float32(0.5), np.float64(0.5), np.int64(2), Fraction(1, 2)])
def test_scores_are_native_floats(value):
    score = as_passages([{"text": "x", "score": value}])[0].score
    assert type(score) is float
    assert score == float(value)


@pytest.mark.parametrize("key", ["text", "page_content", "content"])
def test_mappings_become_passages(key):
    item = {key: "words", "id": 7, "score": 0.5, "metadata": {"title": "T", "a": 1}, "source": "s.md", "a": 2}
    (passage,) = as_passages([item])
    assert passage == Passage(
        "7", "words", score=0.5, title="T", file_path="s.md", metadata={"title": "T", "a": 2, "source": "s.md"}
    )


@pytest.mark.parametrize(
    ("path", "title", "expected"),
    [
        ("docs/a.yaml#L10-L42", None, "docs/a.yaml"),
        ("docs/a.yaml#L10-L42-2", "A", "docs/a.yaml"),
        ("docs/notes#1.md", None, "docs/notes#1.md"),
        (None, "C#", "C#"),
        (None, None, None),
    ],
)
def test_a_place_in_a_file_does_not_hide_its_extension(path, title, expected):
    assert Passage("1", "text", file_path=path, title=title).file_name == expected
