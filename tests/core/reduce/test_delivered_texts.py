"""The index of delivered texts: with the candidates that it names, the same is found as with all texts."""

from hypothesis import given
from hypothesis import strategies as st

from ctxcompress import Passage
from ctxcompress.reduce.delivered_texts import DeliveredTexts
from ctxcompress.reduce.duplicates import exact_duplicates
from ctxcompress.reduce.filters import group_of
from ctxcompress.reduce.overlaps import find_overlaps

SENTENCES = [f"Rule {n} of the gateway says that port {80 + n} is open." for n in range(14)]
windows = st.tuples(st.integers(0, 13), st.integers(1, 4), st.sampled_from([" ", "\n"]), st.integers(0, 9)).map(
    lambda cut: cut[2].join(SENTENCES[cut[0] : cut[0] + cut[1]])[cut[3] :]
)
passages = st.lists(
    st.tuples(windows, st.sampled_from([None, "a", "b"])).map(lambda of: Passage("x", of[0], doc_id=of[1])), max_size=8
)


def relations(order, chunks, others=None):
    """What is a part of what, and what continues what, by numbers."""
    found = find_overlaps([chunk.text for chunk in chunks], list(map(group_of, chunks)), order, others or {})
    within = {order[part]: order[whole] for part, whole in found.within.items()}
    return within, {(link.length, order[link.before], order[link.after]) for link in found.links}


@given(rounds=st.lists(passages, max_size=3), new=passages)
def test_with_the_candidates_the_same_overlaps_are_found_as_with_all(rounds, new):
    index, before = DeliveredTexts(), []
    for found in rounds:
        index, before = index.extended(found), [*before, *found]
    every = [*before, *new]
    texts = [passage.text for passage in every]
    same = exact_duplicates(texts, range(len(every)))
    assert exact_duplicates(texts, range(len(before), len(every)), index.first) == {
        member: leader for member, leader in same.items() if member >= len(before)
    }
    order = [number for number in range(len(every)) if number not in same]
    within, links = relations(order, [every[number] for number in order])
    added = [number for number in order if number >= len(before)]
    candidates, others = index.beside([every[number] for number in added])
    few = [*candidates, *added]
    within_few, links_few = relations(few, [every[number] for number in few], others)
    first = len(before)
    assert {part: whole for part, whole in within_few.items() if part >= first} == {
        part: whole for part, whole in within.items() if part >= first
    }
    assert {link for link in links_few if min(link[1:]) >= first} == {link for link in links if min(link[1:]) >= first}


def test_what_an_index_grew_from_does_not_change():
    one = DeliveredTexts().extended([Passage("a", SENTENCES[0], doc_id="d")])
    one.extended([Passage("b", f"{SENTENCES[0]} {SENTENCES[1]}", doc_id="d")])
    assert one.count == 1
    assert one.beside([Passage("c", SENTENCES[1], doc_id="d")]) == ([], {("d", None): 1})
    assert one.beside([Passage("c", f"{SENTENCES[0]} {SENTENCES[1]}", doc_id="d")])[0] == [0]
