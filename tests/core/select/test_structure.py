"""What holds for segments whatever their scores: which can be chosen, which repeat others, and which lead to others."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selections import pages, structure_of

from ctxcompress.data.documents import documents_as_they_are
from ctxcompress.data.passages import Kind
from ctxcompress.data.table import SegmentTable
from ctxcompress.segment.segments import segment
from ctxcompress.select.structure import Structure, announced, announcements, with_colon

page_lists = st.lists(pages, min_size=1, max_size=3)


def texts_of(structure, numbers):
    return [structure.table.texts[number].strip() for number in numbers]


def standing(*texts):
    structure = structure_of(texts)
    return texts_of(structure, [number for number, stands in enumerate(structure.stands) if stands])


# What can be chosen


@pytest.mark.parametrize(
    ("text", "standing_in_it"),
    [
        ("One. Two.", ["One.", "Two."]),
        ("# One\n\nText.", ["# One", "Text."]),
        ("\n\n  \n", []),
        ("| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n", ["| 1 | 2 |", "| 3 | 4 |"]),
        ("| a | b |\n|---|---|\n", ["| a | b |\n|---|---|"]),
        ("Text.\n\n1.\n", ["Text."]),
        ("Text.\n\n-\n", ["Text."]),
        ("```\nrun it\n```\n", ["```\nrun it\n```"]),
    ],
)
def test_what_can_be_chosen(text, standing_in_it):
    assert standing(text) == standing_in_it


def test_the_fence_of_a_long_block_comes_with_what_is_in_it():
    block = "```python\n" + "".join(f"def f{n}():\n    return {n} * {'x' * 300}\n\n\n" for n in range(8)) + "```\n"
    structure = structure_of([block])
    fences = [number for number, text in enumerate(structure.table.texts) if text.strip() in ("```python", "```")]
    assert len(fences) == 2
    assert not any(structure.stands[number] for number in fences)
    for number in range(fences[0] + 1, fences[1]):
        assert set(structure.table.needs(number)) >= set(fences)
        assert structure.stands[number]


@given(page_lists)
def test_whatever_has_text_can_be_chosen_or_is_needed(texts):
    structure = structure_of(texts)
    table = structure.table
    needed = {other for number in range(len(table.segments)) for other in table.needs(number)}
    for number, text in enumerate(table.texts):
        if text.strip() and not structure.stands[number]:
            assert number in needed or table.segments[number].kind is Kind.CODE or len(text.strip()) < 4


@given(page_lists)
def test_sizes_are_characters_and_nothing_of_a_page_is_a_source_file(texts):
    structure = structure_of(texts)
    assert structure.table.lengths.tolist() == [len(text) for text in structure.table.texts]
    assert not structure.table.is_source.any()


def test_segments_of_source_files_are_told_from_prose():
    texts = ["def f():\n    return 1\n", "Some prose. And more."]
    segmented = [segment(texts[0], name="a.py"), segment(texts[1])]
    structure = Structure(SegmentTable.of(documents_as_they_are(texts), segmented))
    assert structure.table.is_source.tolist() == [True] * len(segmented[0]) + [False] * 2


# What repeats


def test_both_copies_of_a_text_are_known():
    structure = structure_of(["Retries are off. Timeouts are on.", "Retries are off.\n"])
    assert structure.same == {0: "Retries are off.", 2: "Retries are off."}


@pytest.mark.parametrize(
    "text", ["Yes. Yes.", "# The same heading\n\n# The same heading\n\n", "| same | row |\n|---|---|\n" * 2]
)
def test_short_texts_headings_and_rows_may_be_kept_twice(text):
    assert structure_of([text, text]).same == {}


@given(page_lists)
def test_only_texts_that_occur_more_than_once_are_the_same(texts):
    structure = structure_of(texts)
    for number, text in structure.same.items():
        assert structure.table.texts[number].strip() == text
        assert [*structure.same.values()].count(text) > 1


# What leads what


def test_what_stands_under_a_heading_goes_up_to_the_next_one_and_not_beyond_its_document():
    structure = structure_of(["Before.\n\n# One\n\nGo on. Stay.\n\n## Two\n\n## Three\n\nC.", "D."])
    under = {texts_of(structure, [number])[0]: texts_of(structure, block) for number, block in structure.under.items()}
    assert under == {"# One": ["Go on.", "Stay."], "## Two": [], "## Three": ["C."]}


@given(page_lists)
def test_each_text_is_under_the_heading_right_above_it(texts):
    structure = structure_of(texts)
    table = structure.table
    found = {number: heading for heading, block in structure.under.items() for number in block}
    heading = None
    for number, part in enumerate(table.segments):
        if number in table.first:
            heading = None
        if part.kind is Kind.HEADING:
            heading = number
            assert number not in found
        else:
            assert found.get(number) == heading


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("As follows:\n\n- a\n", [0]),
        ("**As follows:**\n\n- a\n", [0]),
        ("以下の通り：\n\n- a\n", [0]),
        ("At 10:30 it rains. Then: sun.", []),
        ("No colon.", []),
    ],
)
def test_segments_that_end_with_a_colon_are_found(text, numbers):
    assert with_colon(structure_of([text]).table) == numbers


@given(page_lists)
def test_what_is_announced_knows_what_announces_it(texts):
    structure = structure_of(texts)
    table = structure.table
    colons = with_colon(table)
    assert structure.announcement == announcements(table, colons)
    assert structure.announced == announced(table, colons)
    assert structure.leading.keys() == structure.under.keys() | structure.announced.keys()
    for number, block in structure.announced.items():
        assert number in colons
        assert block.start == number + 1 < block.stop
        assert len({table.document[n] for n in (number, *block)}) == 1
    for number, other in enumerate(structure.announcement):
        assert other == -1 or (other in colons and other < number and table.document[other] == table.document[number])


def test_an_empty_table_has_an_empty_structure():
    structure = structure_of([])
    assert (structure.stands, structure.same, structure.leading, structure.announcement) == ([], {}, {}, [])
