"""The limits on the number of passages: per document and in all."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reduce_inputs import dropped, ids, note

from ctxcompress import CompressionConfig, Passage, compress
from ctxcompress.errors import ConfigError
from ctxcompress.reduce.filters import document_key, within_limits


def of(**fields):
    """One passage for each value of the only field."""
    ((name, values),) = fields.items()
    return [Passage(str(n), f"Only here: {chr(97 + n) * 9}.", **{name: value}) for n, value in enumerate(values)]


def kept(passages, **options):
    return "".join(ids(compress("q", passages, **options)))


@pytest.mark.parametrize("field", ["doc_id", "file_path"])
def test_each_document_keeps_so_many(field):
    result = compress("q", of(**{field: "abaabab"}), max_chunks_per_doc=2)
    assert "".join(ids(result)) == "0124"
    assert dropped(result) == {"3": "limit", "5": "limit", "6": "limit"}
    assert note(result, "limit") == "2 per doc"
    assert result.stats.after_limit == 4


@pytest.mark.parametrize("field", ["doc_id", "file_path", "title"])
@pytest.mark.parametrize("unknown", [None, ""])
def test_passages_of_an_unknown_source_are_not_counted_together(field, unknown):
    assert kept(of(**{field: [unknown] * 4}), max_chunks_per_doc=1) == "0123"


def test_metadata_of_loaders_says_the_document():
    items = [
        {"text": f"Only here: {name}.", "metadata": {"source": source}}
        for name, source in zip(("aaa", "bbb", "ccc"), ("x.md", "x.md", "y.md"), strict=True)
    ]
    assert kept(items, max_chunks_per_doc=1) == "02"
    items = [{"text": item["text"], "my_doc": item["metadata"]["source"]} for item in items]
    assert kept(items, max_chunks_per_doc=1, metadata_map={"doc_id": "my_doc"}) == "02"


SAME_PAGE = [
    "https://example.org/guide/page",
    "http://example.org/guide/page",
    "https://example.org/guide/page/",
    "https://example.org/guide/page#install",
    "https://example.org/guide/page/#install",
    "HTTPS://EXAMPLE.org/guide/page",
    "https://www.example.org/guide/page",
    "https://example.org:443/guide/page",
    "http://example.org:80/guide/page",
    "https://example.org/guide/page?utm_source=mail&utm_campaign=x",
    "https://example.org/guide/page?UTM_Source=mail",
    "https://example.org/guide/page?gclid=1&fbclid=2#top",
    " https://example.org/guide/page\n",
]


@pytest.mark.parametrize("url", SAME_PAGE)
def test_what_does_not_say_which_page_it_is_does_not_count(url):
    assert kept(of(file_path=[SAME_PAGE[0], url, SAME_PAGE[0]]), max_chunks_per_doc=1) == "0"


OTHER_PAGES = [
    "https://example.org/guide/page",
    "https://example.org/guide/Page",
    "https://example.org/guide/page2",
    "https://example.org:8080/guide/page",
    "https://docs.example.org/guide/page",
    "https://example.org/guide/page?id=1",
    "https://example.org/guide/page?id=2",
    "https://example.org/guide/page?id=",
    "ftp://example.org/guide/page",
    "example.org/guide/page",
    "/guide/page",
    "guide/page",
]


def test_what_says_which_page_it_is_counts():
    assert len(compress("q", of(file_path=OTHER_PAGES), max_chunks_per_doc=1).passages) == len(OTHER_PAGES)


@pytest.mark.parametrize(
    ("kind", "expected"), [("similarity", "13"), ("distance", "02"), ("rank", "02"), ("none", "01")]
)
def test_the_best_ones_of_a_document_stay_in_their_order(kind, expected):
    passages = [Passage(str(n), f"Only here: {n}.", score=score, doc_id="d") for n, score in enumerate((1, 4, 2, 3))]
    assert kept(passages, max_chunks_per_doc=2, score_kind=kind) == expected
    assert kept(passages, top_n=2, score_kind=kind) == expected


def test_both_limits_hold_and_the_document_comes_first():
    passages = [
        Passage(str(n), f"Only here: {n}.", score=score, doc_id=doc)
        for n, (score, doc) in enumerate(zip((9, 8, 7, 6, 5), "aaabc", strict=True))
    ]
    result = compress("q", passages, max_chunks_per_doc=1, top_n=2)
    assert "".join(ids(result)) == "03"
    assert note(result, "limit") == "1 per doc, best 2"


documents = st.lists(st.tuples(st.sampled_from(["a", "b", None]), st.one_of(st.none(), st.floats(0, 1))), max_size=9)


@given(given_=documents, per_document=st.integers(0, 3), top_n=st.one_of(st.none(), st.integers(1, 9)))
def test_no_better_passage_is_left_out_for_a_worse_one(given_, per_document, top_n):
    passages = [Passage(str(n), "x", doc_id=doc, score=score) for n, (doc, score) in enumerate(given_)]
    numbers = range(len(passages))
    found = within_limits(passages, numbers, "similarity", max_chunks_per_doc=per_document, top_n=top_n)
    stay = sorted(found)
    assert top_n is None or len(stay) <= top_n
    for doc in ("a", "b"):
        of_document = [number for number in stay if passages[number].doc_id == doc]
        left_out = [n for n, passage in enumerate(passages) if passage.doc_id == doc and n not in of_document]
        assert not per_document or len(of_document) <= per_document
        worth = [-1.0 if passages[n].score is None else passages[n].score for n in range(len(passages))]
        assert all(worth[out] <= worth[stays] for out in left_out for stays in of_document)
    if top_n is None:
        unknown = {n for n, passage in enumerate(passages) if passage.doc_id is None}
        assert unknown <= set(stay)


@given(url=st.text(st.characters(exclude_categories=("C", "Z")), max_size=30).map("http://x.org/".__add__))
def test_any_address_has_a_key_and_its_key_is_its_own(url):
    key = document_key(Passage("0", "", file_path=url))
    assert isinstance(key, str)
    assert document_key(Passage("0", "", file_path=key)) == key


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_chunks_per_doc": -1}, "max_chunks_per_doc is -1; give a whole number, at least 0, where 0 keeps all"),
        ({"max_chunks_per_doc": 1.0}, "max_chunks_per_doc is 1.0; give a whole number"),
        ({"max_chunks_per_doc": True}, "max_chunks_per_doc is True; give"),
        ({"max_chunks_per_doc": None}, "max_chunks_per_doc is None; give"),
        ({"top_n": 0}, "top_n is 0; give a whole number, at least 1, or None to keep all"),
        ({"top_n": "5"}, "top_n is '5'; give a whole number"),
        ({"top_n": False}, "top_n is False; give"),
    ],
)
def test_a_limit_that_cannot_work_is_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        CompressionConfig(**options)
