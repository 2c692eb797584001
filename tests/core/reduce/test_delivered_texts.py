"""The index of delivered texts: with the candidates that it names, the same is found as with all texts."""

from hypothesis import given
from hypothesis import strategies as st

from ctxcompress import Passage
from ctxcompress.reduce.delivered_texts import DeliveredTexts
from ctxcompress.reduce.duplicates import exact_duplicates
from ctxcompress.reduce.filters import group_of
from ctxcompress.reduce.overlaps import find_overlaps

SENTENCES = [
    "Stop here.",
    "Rule 1 of the gateway says that port 81 is open.",
    "Go on.",
    "Nobody has measured how long a restart takes.",
    "Stop here.",
    "The pool opens ten connections.",
    "Go on.",
    "Logs are kept for one week.",
]
windows = st.tuples(
    st.integers(0, 7), st.integers(1, 3), st.sampled_from([" ", "\n"]), st.sampled_from([0, 0, 0, 5])
).map(lambda cut: cut[2].join(SENTENCES[cut[0] : cut[0] + cut[1]])[cut[3] :])
passages = st.lists(
    st.tuples(windows, st.sampled_from([None, "a", "a"])).map(lambda of: Passage("x", of[0], doc_id=of[1])), max_size=8
)


def relations(order, chunks, others=None):
    """What is a part of what, and what continues what, by numbers."""
    found = find_overlaps([chunk.text for chunk in chunks], list(map(group_of, chunks)), order, others or {})
    within = {order[part]: order[whole] for part, whole in found.within.items()}
    return within, {(link.length, order[link.before], order[link.after]) for link in found.links}


def check(rounds, new):
    """Compare what is found among the candidates and the new passages with what is found among all."""
    index, before = DeliveredTexts(), []
    for found in rounds:
        index, before = index.extended(found), [*before, *found]
    every, first = [*before, *new], len(before)
    same = exact_duplicates([passage.text for passage in every], range(len(every)))
    added = exact_duplicates([passage.text for passage in every], range(first, len(every)), index.first)
    assert added == {member: leader for member, leader in same.items() if member >= first}
    order = [number for number in range(len(every)) if number not in same]
    within, links = relations(order, [every[number] for number in order])
    left = [number for number in order if number >= first]
    candidates, others = index.beside([every[number] for number in left])
    few = [*candidates, *left]
    within_few, links_few = relations(few, [every[number] for number in few], others)
    of_new = {part: whole for part, whole in within.items() if part >= first}
    assert {part: whole for part, whole in within_few.items() if part >= first} == of_new
    new_links = {link for link in links if min(link[1:]) >= first}
    assert {link for link in links_few if min(link[1:]) >= first} == new_links
    return of_new, new_links


@given(rounds=st.lists(passages, max_size=3), new=passages)
def test_with_the_candidates_the_same_overlaps_are_found_as_with_all(rounds, new):
    check(rounds, new)


def of_one_document(*texts):
    return [Passage("x", text, doc_id="d") for text in texts]


def test_a_passage_within_a_delivered_one_is_found_among_few_and_many():
    whole = of_one_document(" ".join(SENTENCES[3:6]))
    for count in (0, 90):
        others = of_one_document(*(f"Text {n} is about something else, number {n}." for n in range(count)))
        assert check([whole, others], of_one_document(SENTENCES[5]))[0] == {count + 1: 0}
