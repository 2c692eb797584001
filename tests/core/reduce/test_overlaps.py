"""Overlapping chunks, chunks within chunks, repeated paragraphs: what stands in several passages is kept once."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reduce_inputs import assert_whole, dropped

from ctxcompress import Passage, compress
from ctxcompress.reduce.overlaps import find_overlaps

MOST_SECONDS = 1.0
"""Of processor time, for what takes a tenth of that; where every place was looked at, it would take far longer."""
THINGS = "amber birch cedar delta ember fjord grove heath inlet jetty knoll lagoon meadow north".split()
SENTENCES = [f"The {thing} of the town lies behind its {thing[::-1]} wall." for thing in THINGS]
PROSE = " ".join(SENTENCES)
CHINESE = "".join(
    f"{name}位于城市的{side}边并且有一座古老的{thing}。"
    for name, side, thing in zip("甲乙丙丁戊己庚辛", "东西南北上下左右", "桥门塔墙路井屋亭", strict=True)
)
LONG = "This paragraph is long enough to be understood alone, and every page of the manual has it word for word."


def windows(text, size, overlap):
    starts = range(0, max(len(text) - overlap, 1), size - overlap)
    return [text[start : start + size] for start in starts]


def run(texts, docs="one", paths=None, **options):
    docs = [docs] * len(texts) if isinstance(docs, str | None) else docs
    given_ = [
        Passage(f"p{n}", text, doc_id=doc, header_path=paths and paths[n])
        for n, (text, doc) in enumerate(zip(texts, docs, strict=True))
    ]
    result = compress("q", given_, **{"ngram_threshold": 1.0, "max_tokens": 20_000, **options})
    assert_whole(result, texts)
    return result


def letters(text):
    return "".join(text.split())


# Overlapping windows


@given(size=st.integers(100, 400), share=st.floats(0.25, 0.7), gap=st.sampled_from([" ", "\n", "\n\n", "\r\n"]))
def test_what_windows_share_is_kept_once(size, share, gap):
    text = gap.join(SENTENCES)
    assert letters(run(windows(text, size, max(40, int(size * share)))).text) == letters(text)


@given(data=st.data())
def test_the_order_of_the_windows_does_not_change_what_is_kept_of_each(data):
    chunks = windows(PROSE, 200, 60)
    order = data.draw(st.permutations(range(len(chunks))))
    straight = {kept.text for kept in run(chunks).passages}
    shuffled = run([chunks[number] for number in order])
    assert {kept.text for kept in shuffled.passages} == straight
    assert [kept.index for kept in shuffled.passages] == sorted(kept.index for kept in shuffled.passages)


@pytest.mark.parametrize(
    "chunks",
    [
        ["def a():\n    return compute(1)\n\ndef b():\n    x = 1\n", "def b():\n    x = 1\n    return x\n"],
        ["def a():\n    x = 1", "\n    y = 2\n    return y"],  # which share nothing
    ],
)
def test_code_in_stitched_chunks_keeps_its_indentation(chunks):
    lines = {line for chunk in chunks for line in chunk.splitlines()}
    assert set(run(chunks).text.splitlines()) <= lines | {""}


def test_a_word_that_a_window_has_whole_is_not_cut():
    chunks = [
        "The amber of the town lies behind its wall and nobody has seen the ga",
        "behind its wall and nobody has seen the gate of it since then. More follows.",
    ]
    assert set(run(chunks).text.split()) <= set(" ".join(chunks).split()) - {"te", "ga"}


# A chunk within another


@pytest.mark.parametrize("inner", [PROSE[:90], PROSE[100:190], PROSE[-90:], SENTENCES[3]])
@pytest.mark.parametrize("first", [True, False])
def test_a_chunk_within_another_is_left_out(inner, first):
    result = run([inner, PROSE] if first else [PROSE, inner])
    assert result.text == PROSE
    assert dropped(result) == {"p0" if first else "p1": "duplicate"}
    assert result.passages[0].stands_for == (0 if first else 1,)


# Paragraphs


@pytest.mark.parametrize("gap", ["\n\n", "\r\n\r\n", "\n \t\n"])
def test_a_long_paragraph_is_kept_once_whatever_the_document(gap):
    texts = [gap.join([SENTENCES[n], LONG, f"Only in number {n}."]) for n in range(4)]
    result = run(texts, docs=[f"d{n}" for n in range(4)])
    assert result.text.count(LONG) == 1
    assert all(f"Only in number {n}." in result.text and SENTENCES[n] in result.text for n in range(4))
    assert len([decision for decision in result.dropped if LONG in decision.text]) == 3


def test_a_paragraph_stays_where_the_score_is_best():
    texts = [f"One: {n}.\n\n{LONG}" for n in range(3)]
    given_ = [Passage(str(n), text, score=score) for n, (text, score) in enumerate(zip(texts, (1, 3, 2), strict=True))]
    result = compress("q", given_, ngram_threshold=1.0)
    assert [LONG in kept.text for kept in result.passages] == [False, True, False]


SAME_STAYS = {
    "short": "Deprecated since version 3.",
    "heading": "# " + LONG,
    "fence": f"```\n{LONG}\n\n{LONG}\n\n{LONG}\n```",
    "long fence": "~~~python\n" + "print('the same line of code')\n" * 9 + "~~~",
    "indented code": "    " + LONG,
}


@pytest.mark.parametrize("what", SAME_STAYS)
def test_what_is_about_its_surroundings_stays_everywhere(what):
    texts = [f"Text of page {n}.\n\n{SAME_STAYS[what]}\n\nEnd of page {n}." for n in range(3)]
    assert run(texts, docs=["a", "b", "c"]).text == "\n\n".join(texts)


# Circles, chains, and much of the same


A, B, C = "Alpha begins with many words here.", "Beta stands in the middle of it.", "Gamma ends with many other words."


def test_one_line_many_times_is_looked_at_a_few_times():
    texts = ["The same line of the log.\n" * 2_000 + f"End {n}." for n in range(60)]
    start = time.process_time()
    find_overlaps(texts, ["d"] * 60)
    assert time.process_time() - start < MOST_SECONDS


@given(
    texts=st.lists(st.text(alphabet="ab .\n\r`#你。\ud800", max_size=80), max_size=6), doc=st.sampled_from(["d", None])
)
def test_any_texts_are_kept_or_dropped_to_the_last_character(texts, doc):
    run(texts, docs=doc)


# What only looks like an overlap


TAIL = "the old gate of the town, where nobody has stood on guard for many years"


@pytest.mark.parametrize(
    ("outer", "inner"),
    [
        (f"Guests are not allowed behind {TAIL}.", f"allowed behind {TAIL}."),
        (f"Guests are unable to see {TAIL}.", "able to see the old gate"),
        (f"See {TAIL} by port 8080.", f"See {TAIL} by port 80"),
        (f"See {TAIL} of version 1.2.3 now.", f"See {TAIL} of version 1.2"),
        (f"See {TAIL}, which is forbidden not only here.", f"See {TAIL}, which is forbidden"),
        (f"{CHINESE}共12345个。", f"{CHINESE}共123"),
    ],
)
def test_what_means_something_else_alone_is_no_part_and_no_overlap(outer, inner):
    assert find_overlaps([outer, inner], ["d", "d"]) == ({}, [])
    before, after = f"Before. {outer}", f"{inner} And after."
    assert find_overlaps([before, after], ["d", "d"]) == ({}, [])
    before, after = f"Before. {inner}", f"{outer} And after."
    assert find_overlaps([before, after], ["d", "d"]) == ({}, [])


def test_what_two_chunks_share_is_a_duplicate_in_one_of_them_and_the_rest_of_it_is_not():
    lamp, shared, mayor = (
        "The lamp of the harbour is red. A ferry leaves at noon.",
        "The market opens at seven in the morning on every day but Sunday.",
        "The mayor was born in a small house.",
    )
    passages = [Passage(text, text, doc_id="d") for text in (f"{lamp} {shared}", f"{shared} {mayor}")]
    result = compress("which lamp has the harbour?", passages, max_tokens=9)
    assert result.text == "The lamp of the harbour is red."
    assert [(part.index, str(part.reason), part.text.strip()) for part in result.dropped] == [
        (0, "budget", f"A ferry leaves at noon. {shared}"),
        (1, "duplicate", shared),
        (1, "budget", mayor),
    ]
