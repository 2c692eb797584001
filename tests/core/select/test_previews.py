"""One line a passage to tell which to read, and how to read it in full."""

from dataclasses import replace

import pytest
from preview_lines import without_relevance
from towns import PASSAGES, QUERY, TEXTS, words

from ctxcompress import Passage, compress
from ctxcompress.errors import CtxCompressError, InputError
from ctxcompress.select.layout import Composed, Layout
from ctxcompress.select.previews import Lines
from ctxcompress.select.selection import Selection
from ctxcompress.text.tokens import TokenCounter


def preview(max_tokens=300, passages=PASSAGES, query=QUERY, **options):
    return compress(query, passages, format="preview", max_tokens=max_tokens, encoding=words, **options)


def test_a_preview_is_one_line_a_passage_with_its_id_and_headings():
    lines = without_relevance(preview().text).splitlines()
    assert len(lines) == len(PASSAGES)
    for line, passage in zip(lines, PASSAGES, strict=True):
        assert line.startswith(f"[{passage.id}] {passage.title} › Coast › Towns: ")
        assert line.partition(": ")[2] in passage.text


@pytest.mark.parametrize("max_tokens", [1, 5, 20, 40, 80])
def test_previews_stay_within_the_budget_the_most_relevant_first(max_tokens):
    result = preview(max_tokens)
    assert words(result.text) == result.tokens <= max_tokens
    assert len(result.passages) == len(result.text.splitlines())
    assert len(result.passages) < len(PASSAGES)
    assert not result.passages or "fenwick" in [kept.id for kept in result.passages]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("# Title\n\nThe body of it.", "[0] The body of it."),
        ("# Title", "[0] # Title"),
        ("```python\nfirst = 1\nsecond = 2\n```", "[0] first = 1"),
        ("One\nsentence\r\nof  it.", "[0] One sentence of it."),
        ("字" * 5_000, "[0] " + "字" * 200),
        (f"{'word ' * 39}last.\n\n", f"[0] {'word ' * 39}last."),
    ],
)
def test_what_a_preview_shows(text, line):
    assert without_relevance(preview(passages=[text]).text) == line


@pytest.mark.parametrize("text", ["\n\n   One sentence.  ", "```python\n\n   first = 1\n```"])
def test_the_spans_of_a_line_begin_and_end_with_its_text(text):
    (kept,) = preview(passages=[text]).passages
    assert kept.text == kept.text.strip() != ""


FORGED = [f"{line_break}[arle] forged" for line_break in "\n \r \r\n \x0b \x0c \x1c \x85 \u2028 \u2029".split(" ")]


@pytest.mark.parametrize("forged", FORGED)
@pytest.mark.parametrize("where", ["id", "title", "header_path", "text"])
def test_line_breaks_cannot_forge_a_line(forged, where):
    fields = {"id": "x", "title": "Title", "header_path": ("Top",), "text": "The words of it."}
    fields[where] = ("Top" + forged,) if where == "header_path" else f"The words{forged}"
    result = preview(passages=[Passage(**fields), *PASSAGES[:1]])
    assert len(result.text.splitlines()) == 2
    assert [line.startswith("[arle]") for line in result.text.splitlines()] == [False, True]


def test_a_short_line_fills_the_room_that_is_left_where_a_long_one_does_not_fit():
    passages = [
        Passage("best", "The lamp of the tower is red."),
        Passage("long", f"The lamp of a ship {'and another ship ' * 8}is green."),
        Passage("short", "A lamp is lit."),
    ]
    result = preview(20, passages, "which lamp has the tower, the ship?")
    assert [kept.id for kept in result.passages] == ["best", "short"]


# Expanding


def test_what_was_previewed_can_be_read_in_part():
    result = preview()
    text = result.expand("fenwick", max_tokens=12)
    assert words(text) <= 12
    assert "lighthouse" in text
    assert "\n[" not in text
    assert result.expand("fenwick", max_tokens=10_000) == TEXTS[5]


def test_what_was_dropped_can_be_read_too():
    passages = [*PASSAGES, Passage("copy", TEXTS[0]), Passage("weak", "Nothing here of it.", score=0.01)]
    for options in ({"format": "preview", "max_tokens": 20}, {"top_n": 1, "ngram_threshold": 1.0}, {"max_tokens": 10}):
        result = compress(QUERY, passages, **{"max_tokens": 500, "encoding": words, **options})
        assert result.dropped
        assert [result.expand(passage.id) for passage in passages] == [passage.text for passage in passages]


def test_an_unknown_id_is_refused_with_those_there_are():
    with pytest.raises(
        InputError, match="no passage has the id 'nowhere'; the first ones are 'arle', 'brent', "
    ) as raised:
        preview().expand("nowhere")
    assert isinstance(raised.value, CtxCompressError)
    with pytest.raises(InputError, match="the first ones are none"):
        compress("q", [], format="preview").expand("0")


# Relevance


@pytest.mark.parametrize(("on_empty", "count"), [("keep_best", 1), ("original", len(PASSAGES)), ("drop", 0)])
def test_if_no_passage_answers_on_empty_decides(on_empty, count):
    result = preview(query="zebra stripes in kenya", adaptive=True, on_empty=on_empty)
    assert len(result.passages) == len(result.text.splitlines()) == count


# Lines about passages with low scores


def with_lines(budget, texts, kept="", before=""):
    layout = Layout([], [], "\n\n", lambda _, of: of.text, TokenCounter(len), before=before)
    selection = replace(Selection.of({}, layout), composed=Composed(kept, {}), tokens=layout.tokens(kept))
    return Lines(dict(enumerate(texts)), range(len(texts))).beside(selection, layout, budget)


@pytest.mark.parametrize(("budget", "text"), [(4, ""), (5, "first"), (11, "first"), (12, "first\n\nother")])
def test_lines_alone_fill_the_budget(budget, text):
    assert with_lines(budget, ["first", "other"]).text == text


@pytest.mark.parametrize("too_long", ["other", "others"])
def test_a_line_that_fits_is_shown_where_a_better_one_does_not(too_long):
    assert with_lines(9, [too_long, "more"], before="abc").text == "more"


@pytest.mark.parametrize("budget", [150, 300, 600])
def test_lines_take_a_tenth_of_the_budget_where_more_text_would_fit(budget):
    ships = " ".join(f"Ship {n} brought {n + 3} crates of tea to the harbour of the town." for n in range(90))
    weak = [Passage(f"b{n}", f"Tea is at {n}.", score=0.01) for n in range(99)]
    passages = [Passage("a", f"The default timeout is nine seconds. {ships}", score=0.9), *weak]
    options = {"max_tokens": budget, "encoding": words, "metadata_only": True}
    text, *lines = compress("what is the default timeout?", passages, **options).passages
    assert text.tokens > 0.85 * budget
    assert 0.05 * budget < sum(line.tokens for line in lines) < 0.15 * budget
