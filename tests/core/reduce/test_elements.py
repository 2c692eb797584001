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


def test_all_passages_up_to_the_next_title_are_its_section():
    assert linked(ELEMENTS) == [(0, 1), (2, 3), (3, 4), (5, 6), (7, 8)]


def test_the_budget_is_filled_and_the_definition_found_among_many():
    names = [f"## ERR_{subject}_{number}" for subject in ("PIPE", "FILE", "SEEK") for number in range(40)]
    texts = [text for number, name in enumerate(names) for text in (name, f"Reason {number}: the call was made late.")]
    result = compress("What does ERR_SEEK_7 mean?", texts, max_tokens=300)
    assert "## ERR_SEEK_7\n\nReason 87: the call was made late." in result.text
    assert result.tokens > 200


def test_titles_of_a_loader_are_titles():
    passages = [
        replace(
            passage, text=passage.text.lstrip("# "), metadata={"category": "Title"} if number in (0, 2, 5, 7) else {}
        )
        for number, passage in enumerate(ELEMENTS)
    ]
    assert linked(passages) == linked(ELEMENTS)


def test_a_title_above_a_deeper_one_is_no_contradiction():
    below = [replace(passage, text=passage.text.replace("#", "##")) for passage in ELEMENTS]
    assert len(linked([Passage("top", "# Manual"), *below, *below])) == 10


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


def test_in_most_other_orders_nothing_is_linked():
    chance = random.Random(0)
    assert sum(bool(linked(chance.sample(ELEMENTS, len(ELEMENTS)))) for _ in range(400)) < 40


def test_a_title_belongs_to_passages_of_its_own_document():
    passages = [replace(passage, doc_id="a" if number < 6 else "b") for number, passage in enumerate(ELEMENTS)]
    assert (5, 6) not in linked(passages)


def test_a_title_alone_can_be_kept():
    texts = ["# Version 1.31.0", "Ships were late.", "Nothing else was seen.", "The weather was calm."]
    assert "# Version 1.31.0" in compress("version 1.31.0", texts, max_tokens=10).text


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
