"""What comes out was in the input, in its order, and is cut only where it can be read."""

import re

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from rule_inputs import budgets, fences, items, paragraphs, passages, queries, sentences, tables, words

from ctxcompress import CompressionConfig, Compressor, compress
from ctxcompress.data.passages import Kind
from ctxcompress.segment.formats import segment

FILLER = "Something else entirely is said here about gardens and rain. " * 12


def _boundaries(result):
    """(original, offset) of every place where a text is cut."""
    for kept in result.passages:
        for offset in {offset for span in kept.spans for offset in span}:
            if 0 < offset < len(kept.original.text):
                yield kept.original.text, offset


@given(texts=passages, query=queries, budget=budgets)
def test_the_output_is_a_subsequence_in_source_order(texts, query, budget):
    result = compress(query, texts, max_tokens=budget)
    whole = iter("\n\n".join(texts))
    kept = ("".join(part.original.text[start:end] for start, end in part.spans) for part in result.passages)
    # Markers are declared, and of these texts only source code has any.
    assert all(character in whole for character in "\n\n".join(kept))
    assert result.text == "\n\n".join(part.text for part in result.passages)


@given(texts=st.lists(paragraphs, min_size=1, max_size=4), query=words, budget=st.integers(40, 200))
def test_nothing_is_cut_inside_a_word_that_fits(texts, query, budget):
    for text, offset in _boundaries(compress(query, texts, max_tokens=budget)):
        assert not (text[offset - 1].isascii() and re.fullmatch(r"\w\w", text[offset - 1 : offset + 1], re.ASCII))


WHOLE = (
    "timeout configuration_option Einstellung настройка المهلة विद्यार्थी स्त्री क्षत्रिय সংযোগ 서버를 각설탕 a.b "
    "internationalization e\u0301te\u0301 C++ x"
).split()
prose = st.lists(st.sampled_from(WHOLE), min_size=1, max_size=8).map(" ".join)
small_blocks = st.one_of(
    prose,
    prose.map("# {}".format),
    prose.map("- {}".format),
    prose.map("12. {}".format),
    prose.map("> {}".format),
    st.tuples(prose, prose).map("```\n{0[0]}\n{0[1]}\n```".format),
    st.tuples(prose, prose).map("~~~python\n    {0[0]} = {0[1]}\n~~~".format),
    st.tuples(prose, prose).map("| {0[0]} | {0[1]} |\n|---|---|\n| {0[1]} | {0[0]} |".format),
)
TOKENS = {"characters": len, "o200k_base": "o200k_base"}


@pytest.mark.parametrize("encoding", TOKENS.values(), ids=TOKENS)
@given(
    blocks=st.lists(small_blocks, min_size=1, max_size=4),
    query=st.sampled_from(["", *WHOLE]),
    budget=st.integers(1, 40),
    together=st.booleans(),
)
def test_no_word_is_cut_where_any_fits(encoding, blocks, query, budget, together):
    texts = ["\n\n".join(blocks)] if together else blocks
    compressor = Compressor(CompressionConfig(max_tokens=budget, encoding=encoding))
    result = compressor.compress(query, texts)
    if any(regex.fullmatch(r"\w\w", text[offset - 1 : offset + 1]) for text, offset in _boundaries(result)):
        lines = [line for text in texts for line in text.split("\n") if not line.startswith(("```", "~~~"))]
        assert all(compressor.count(word) > budget for word in WHOLE if word in " ".join(lines).split())


@pytest.mark.parametrize("budget", [10, 11, 12])
def test_a_fence_is_given_up_before_a_word_is_cut(budget):
    fence = "```\ntimeout = 30\n```"
    assert compress("timeout", [f"{fence}\n\n{FILLER}"], max_tokens=budget, encoding=len).text in (
        "timeout =",
        "timeout = 30",
    )


def test_another_sentence_is_kept_where_no_word_of_the_best_one_fits():
    text = "Internationalization: timeout. It is so. Go on."
    assert compress("timeout", [text], max_tokens=9, encoding=len).text in ("It is so.", "Go on.")
    assert compress("timeout", ["Internationalization"], max_tokens=9, encoding=len).text == "Internati"


GRAPHEMES = [
    *"é|e\u0301|👍🏽|🇩🇪|👩\u200d👧|\r\n|กำ|दि|字|❤\ufe0f|각|क्ष|स्त्री|ক্ষ|क्\u200dष".split("|"),
    *"\u1112\u1161\u11ab|a| \u200d|\uff76\uff9e|🏴\U000e0067\U000e007f|।|. ".split("|"),
]


@pytest.mark.parametrize("encoding", TOKENS.values(), ids=TOKENS)
@given(text=st.lists(st.sampled_from(GRAPHEMES), min_size=30), budget=st.integers(1, 40))
def test_nothing_is_cut_inside_a_grapheme(encoding, text, budget):
    whole = "".join(text)
    starts = {match.start() for match in regex.finditer(r"\X", whole)}
    for _, offset in _boundaries(compress("q", [whole], max_tokens=budget, encoding=encoding)):
        assert offset in starts


NUMBER = re.compile(r"[ \t]*(?:\d{1,9}[.)]|[-*+])[ \t]*")


@given(
    parts=st.lists(st.one_of(items, sentences, sentences.map("7. {}".format)), min_size=1, max_size=6),
    query=words,
    budget=st.integers(1, 80),
)
def test_no_marker_of_a_list_stands_alone(parts, query, budget):
    text = "\n".join(parts)
    result = compress(query, [text], max_tokens=budget)
    assert not any(NUMBER.fullmatch(line) for line in result.text.split("\n"))


@given(before=paragraphs, fence=fences, after=paragraphs, budget=st.integers(30, 200))
def test_a_fence_that_is_kept_is_closed(before, fence, after, budget):
    result = compress("return", [f"{before}\n\n{fence}\n\n{after}"], max_tokens=budget)
    mark = fence[:3]
    lines = [line for line in result.text.splitlines() if line.startswith(mark)]
    assert lines in ([], [mark + "python", mark])


@given(before=paragraphs, table=tables, query=words, budget=st.integers(25, 120))
def test_a_row_keeps_its_header(before, table, query, budget):
    result = compress(query, [f"{before}\n\n{table}"], max_tokens=budget)
    rows = [line for line in result.text.splitlines() if line.startswith("| ")]
    assert not rows or "| k | v |\n|---|---|\n" in result.text + "\n"


@given(
    parts=st.lists(st.tuples(st.integers(1, 3), words, sentences), min_size=2, max_size=6), budget=st.integers(20, 90)
)
def test_a_heading_is_never_kept_without_text_under_it(parts, budget):
    text = "\n\n".join(f"{'#' * level} Title {title}\n\n{body}" for level, title, body in parts)
    result = compress("timeout", [text], max_tokens=budget)
    segments = segment(text)
    kept = [
        s for s in segments if any(a <= s.start < b for a, b in (span for k in result.passages for span in k.spans))
    ]
    for heading in (s for s in kept if s.kind is Kind.HEADING):
        assert any(s.heading[: len(heading.heading)] == heading.heading for s in kept if s.kind is not Kind.HEADING)


@given(
    sections=st.lists(st.tuples(st.integers(1, 3), st.lists(words, min_size=1, max_size=3)), min_size=2, max_size=7),
    budget=st.integers(20, 120),
)
def test_no_text_stands_below_the_heading_of_another_section(sections, budget):
    levels, parts, own = {}, [], {}
    for number, (level, ends) in enumerate(sections):
        lines = [f"- The default timeout is {number}{n} seconds, {end}." for n, end in enumerate(ends)]
        heading = f"{'#' * level} Part {number}"
        levels[heading] = level
        own |= dict.fromkeys(lines, heading)
        parts.append("\n".join((heading, "", *lines)))
    shown = ""
    for line in compress("what is the default timeout?", ["\n\n".join(parts)], max_tokens=budget).text.splitlines():
        shown = line if line in levels else shown
        heading = own.get(line.removesuffix(" […]"), shown)
        assert not shown or heading == shown or levels[shown] < levels[heading]


def test_passages_come_in_source_order_not_by_relevance():
    texts = [f"Step {n}: wait. {FILLER}" for n in range(4)] + ["The timeout is ninety seconds."]
    result = compress("what is the timeout, what is step 1", list(reversed(texts)), max_tokens=40)
    assert [kept.index for kept in result.passages] == sorted(kept.index for kept in result.passages)
    assert result.text.startswith("The timeout is ninety seconds.")


@pytest.mark.parametrize(
    "part",
    [
        "def wait(seconds):\n    if seconds > 90:\n        raise Timeout(seconds)\n    return  seconds * 2\n",
        "* the `timeout` option\n    * its **default** is 90\n",
        "超时默认为九十秒。“重启”之后生效！真的吗？",
        "timeout\tdefault  90   seconds .\u00a0Really !",
    ],
)
def test_indentation_marks_and_punctuation_stay_as_they_are(part):
    result = compress("timeout default seconds 超时", [part, FILLER, FILLER], max_tokens=60)
    assert part.strip() in result.text


def test_crlf_stays():
    text = f"The timeout is 90.\r\n\r\n{FILLER.strip()}\r\n\r\nThe timeout can be set.\r\n"
    assert compress("timeout", [text], max_tokens=14).text == "The timeout is 90. […]\r\n\r\nThe timeout can be set."


NESTED = st.tuples(
    st.sampled_from(["", "- Item one:\n\n", "1. Item one:\n\n"]),
    st.sampled_from(["```", "~~~", "````", "~~~~~"]),
    st.sampled_from(["", "md"]),
    st.sampled_from(["```", "~~~", "````"]),
    st.sampled_from(["", "x"]),
    st.sampled_from([1, 90]),
    st.booleans(),
    st.booleans(),
).filter(lambda parts: not parts[3].startswith(parts[1]))


def _nested(item, outer, info, inner, inner_info, lines, is_closed, is_inner_closed):
    code = [f"{outer}{info}", "code line here", f"{inner}{inner_info}", *["inner code"] * lines]
    code += [inner] * is_inner_closed + ["more code"] + [outer] * is_closed
    indent = {"": "", "-": "  ", "1": "   "}[item[:1]]
    return item + "\n".join(indent + line for line in code) + "\n\nAfter words the timeout is 30."


def _in_fences(text):
    return [token for token in MarkdownIt("commonmark").parse(text) if token.type == "fence"]


@given(parts=NESTED, query=st.sampled_from(["timeout", "inner code"]), share=st.floats(0, 1), before=st.booleans())
def test_no_text_comes_into_a_fence_that_it_was_not_in_and_no_fence_is_left_open(parts, query, share, before):
    text = "Before words come first.\n\n" * before + _nested(*parts)
    around = {"After", "Before"} - set(" ".join(token.content for token in _in_fences(text)).split())
    for budget in (1 + int(share * 60), 1 + int(share * len(text) / 3)):
        found = compress(query, [text], max_tokens=budget).text
        fences = _in_fences(found)
        assert not around.intersection(" ".join(token.content for token in fences).split()), found
        ends = [found.split("\n")[fence.map[1] - 1].strip() for fence in fences if fence.map[1] - fence.map[0] > 1]
        assert not parts[-2] or ends == [fence.markup for fence in fences], found
