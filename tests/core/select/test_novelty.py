"""How much of a text is new: compared with the plain sets of all runs of eight words."""

from hypothesis import given
from hypothesis import strategies as st

from ctxcompress.select.novelty import Novelty, Runs

words = st.lists(st.sampled_from("a b c the of in".split()), min_size=6, max_size=24)
"""Of so few words that two texts often share a run, and far more often a part of one."""


def _runs(text):
    found = text.lower().split()
    return {tuple(found[start : start + 8]) for start in range(len(found) - 7)}


def _share(texts, taken, item):
    seen = set().union(*(_runs(texts[other]) for other in taken))
    runs = _runs(texts[item])
    return len(runs - seen) / len(runs) if runs else 1.0


@st.composite
def texts_that_repeat(draw):
    """Texts, some of which have a part of an earlier one."""
    texts = []
    for _ in range(draw(st.integers(2, 6))):
        text = draw(words)
        if texts and draw(st.booleans()):
            other = draw(st.sampled_from(texts))
            start = draw(st.integers(0, len(other) - 1))
            text = [*text[:4], *other[start : start + draw(st.integers(5, 12))], *text[4:]]
        texts.append(text)
    return [" ".join(text) for text in texts]


@given(texts_that_repeat(), st.booleans())
def test_the_share_of_new_runs_is_that_of_all_runs(texts, lasting):
    runs = Runs(texts)
    if lasting:
        runs.find_repeating()
    novelty = Novelty(runs)
    for item in range(len(texts)):
        assert novelty.share([item, len(texts)]) == _share(texts, range(item), item)
        novelty.take([item, len(texts)])
