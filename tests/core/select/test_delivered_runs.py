"""The runs of a context that grows are those of reading all of it again, whatever comes next."""

from hypothesis import example, given
from hypothesis import strategies as st

from ctxcompress.select.repetition import DeliveredRuns, Novelty, Runs

PIECES = st.lists(st.sampled_from(["one", "two", "three", " ", "\n", "|", "|---|", "-"]), max_size=24).map("".join)
WORDS = "one two three four five six seven eight nine ten eleven twelve"


def read(text):
    runs = DeliveredRuns().extended(text)
    return runs.text, runs.hashes, runs.last_words


@given(before=PIECES, after=PIECES, grows=st.booleans())
@example(before=WORDS, after="another text of nine words that begins in no way", grows=False)
@example(before=f"one - two {WORDS}", after=f" | {WORDS}", grows=True)  # bars make the dash no word
@example(before=f"| {WORDS} |", after=f"\n| {WORDS} |", grows=True)
@example(before=WORDS, after=f"th {WORDS}", grows=True)
def test_they_are_those_of_the_whole_text(before, after, grows):
    text = before + after if grows else after
    runs = DeliveredRuns().extended(before).extended(text)
    assert (runs.text, runs.hashes, runs.last_words) == read(text)


def test_the_bars_and_the_rule_of_a_table_are_no_words():
    table = f"| {WORDS.replace(' ', ' | ')} |\n|---|:---:|"
    assert set(DeliveredRuns().extended(table).hashes) == set(DeliveredRuns().extended(WORDS).hashes)


def test_only_what_was_not_delivered_before_is_new():
    runs = Runs([WORDS, f"{WORDS} thirteen fourteen", "some thing quite other than that and more words"])
    assert [Novelty(runs, runs.of(0)).share([n]) for n in range(3)] == [0.0, 2 / 7, 1.0]
