"""Pages whose elements are a passage each: a title belongs with the passages under it."""

import random
from dataclasses import replace

import pytest

from ctxcompress import Passage, compress
from ctxcompress.reduce.stitching import links_of_elements

PAGE = [
    "# Limits",
    "Ten files may be open.",
    "# Quotas",
    "Each user has 5 GB.",
    "More is to be paid for.",
    "# Retention",
    "They are deleted after 30 days.",
    "# Contact",
    "Write to ops@acme.test.",
]
ELEMENTS = [Passage(str(number), text) for number, text in enumerate(PAGE)]


def linked(passages):
    return [(link.before, link.after) for link in links_of_elements(passages, range(len(passages)))]


@pytest.mark.parametrize("doc_id", [None, "manual"])
def test_a_title_is_kept_with_the_answer_under_it(doc_id):
    passages = [replace(passage, doc_id=doc_id) for passage in ELEMENTS]
    result = compress("retention", passages, max_tokens=14)
    assert [(part.index, part.text.strip()) for part in result.passages] == [(5, PAGE[5]), (6, PAGE[6])]


@pytest.mark.parametrize(
    "passages",
    [
        ELEMENTS[:3],
        [*ELEMENTS[:2], ELEMENTS[5], ELEMENTS[7], *ELEMENTS[2:5]],
        [replace(passage, score=0.5) for passage in ELEMENTS],
    ],
)
def test_without_the_order_of_a_page_nothing_is_linked(passages):
    assert linked(passages) == []


def test_elements_that_name_the_next_one_are_linked_in_any_order():
    named = [
        Passage(f"n{number}", text, score=0.5, metadata={"tag": "p", "ctxcompress_next_id": f"n{number + 1}"})
        for number, text in enumerate(PAGE)
    ]
    found = random.Random(1).sample(named, len(named) - 2)
    ids = {passage.id for passage in found}
    linked_ids = {(found[one].id, found[other].id) for one, other in linked(found)}
    expected = {(f"n{number}", f"n{number + 1}") for number in range(len(PAGE) - 1)}
    assert linked_ids == {pair for pair in expected if set(pair) <= ids}
    others = [replace(passage, metadata={**passage.metadata, "tag": None}) for passage in found]
    assert linked([replace(passage, metadata={"ctxcompress_next_id": "n1"}) for passage in others]) == []
