"""What comes out says what the source says: sentences are whole, or a marker shows where text of one is missing."""

import json
import re
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcompress import CompressionConfig, Compressor, compress

WORDS = (
    "pump valve register repairs warranty invoice working days within thirty notice hall lamps ledger before after"
).split()
GAP = "[…]"
BETWEEN = re.compile(r"\[…\]|(?<=[.!?。])[\"”』)]?\s+|\n\s*\n|(?<=。)")


def folded(text):
    return " ".join(text.split())


def pieces(text):
    """The parts of a text between sentence ends, gap markers and blank lines."""
    return [piece for piece in map(folded, BETWEEN.split(text)) if piece]


def assert_says_what_the_source_says(text, source):
    whole = folded(source)
    assert [piece for piece in pieces(text) if piece not in whole] == []


def justified(text, width, indent):
    """The text in lines of equal width, with wider blanks between some words, as nroff and PDF printers set it."""
    lines = textwrap.wrap(text, width)
    for number, line in enumerate(lines[:-1]):
        words = line.split(" ")
        for place in range(width - len(line)):
            words[(7 * number + 3 * place) % max(len(words) - 1, 1)] += " "
        lines[number] = " ".join(words)
    return "\n".join(" " * indent + line for line in lines)


def fill(block, width):
    """The block with lines of at most this width, if it is a paragraph."""
    return block if block[0] in "#->" else textwrap.fill(block, width)


sentences = st.lists(st.sampled_from(WORDS), min_size=4, max_size=40).map(
    lambda words: " ".join(words).capitalize() + "."
)
stories = st.lists(sentences, min_size=6, max_size=30, unique=True).map(" ".join)
dates = st.sampled_from(
    ["(February 27, 2016)", "614", "27 May 1947", '"no returns, ever"', "[see table 4, p. 9]", "1,947"]
)
flows = st.lists(st.one_of(st.sampled_from(WORDS), dates, st.just("until then,")), min_size=150, max_size=400).map(
    " ".join
)
clauses = st.lists(
    st.sampled_from("设备的保修期 委员会检查了 旧地图 三十六个月 访客离开 北厅在春天".split()), min_size=1, max_size=4
)
chinese = st.lists(clauses.map("".join), min_size=30, max_size=90).flatmap(
    lambda parts: st.sampled_from("；，　").map(lambda sign: sign.join(parts))
)


@given(
    text=stories,
    width=st.integers(40, 76),
    indent=st.sampled_from([0, 3, 7]),
    query=st.sampled_from(WORDS),
    budget=st.integers(30, 200),
)
def test_sentences_of_justified_lines_are_whole(text, width, indent, query, budget):
    source = justified(text, width, indent)
    assert_says_what_the_source_says(compress(query, [source], max_tokens=budget).text, source)


@given(text=st.one_of(flows, chinese), query=st.sampled_from([*WORDS, "1947", "保修期"]), budget=st.integers(30, 300))
def test_a_gap_in_a_text_without_sentence_ends_has_a_marker(text, query, budget):
    compressor = Compressor(CompressionConfig(max_tokens=budget))
    result = compressor.compress(query, [text])
    assert_says_what_the_source_says(result.text, text)
    assert result.tokens == compressor.count(result.text) <= budget
    assert compressor.compress(query, [result.text]).text == result.text


MANUAL = """\
       --warranty
              To keep the warranty, register the  pump  within  thirty
              days,  or  else  the  maker  may  refuse  any  claim that
              concerns its bearings.  Repairs take ten  working  days.
              A  claim  that is late can still be settled if the maker
              agrees in writing.
"""


def test_an_option_of_a_manual_is_not_spliced():
    for budget in range(12, 70, 6):
        for query in ("register the pump", "how long do repairs take?", "late claim"):
            kept = compress(query, [MANUAL * 3], max_tokens=budget).text
            assert_says_what_the_source_says(kept.replace("--warranty", ""), MANUAL * 3)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        (
            "and then the supplier moved the maps " * 30 + "bleed it at the upper screw " + "and so it went on " * 30,
            "bleed",
        ),
        (
            "担当者は古い地図を確認した　" * 20
            + "装置の保証期間は三十六か月です　"
            + "委員会は北の広間を修理した　" * 20,
            "保証期間",
        ),
        ("委员会检查了旧地图；" * 20 + "设备的保修期为三十六个月；" + "访客修理了北厅；" * 20, "保修期"),
        ("ทีมงานเยี่ยมชมพิพิธภัณฑ์ " * 20 + "ระยะเวลารับประกันคือสามสิบหกเดือน " + "แขกขายโรงงาน " * 20, "ระยะเวลารับประกัน"),
    ],
)
def test_a_long_text_without_sentence_ends_keeps_what_answers(text, query):
    result = compress(query, [text], max_tokens=100).text
    assert query in result
    assert GAP in result


def test_a_marker_shows_that_the_rest_of_a_sentence_is_missing():
    text = (
        "The tenant may sublet the rooms on the upper floor "
        + "and the attic, the cellar and the yard " * 40
        + "if the landlord agrees."
    )
    result = compress("sublet rooms", [text], max_tokens=60)
    assert result.text.endswith(GAP)
    assert result.passages[0].markers[-1].text.strip() == GAP


blocks = st.one_of(
    stories,
    sentences.map(lambda text: f"## {text[:20].strip('.')}"),
    st.lists(sentences, min_size=2, max_size=9, unique=True).map(
        lambda items: "\n".join(f"- {item}" for item in items)
    ),
    sentences.map(lambda text: f"> {text}"),
)


@given(
    passages=st.lists(st.lists(blocks, min_size=1, max_size=5, unique=True), min_size=1, max_size=4),
    width=st.sampled_from([0, 40, 72]),
    budget=st.integers(30, 300),
    query=st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join),
)
def test_what_is_kept_stands_together_in_the_source_or_a_marker_is_between(passages, width, budget, query):
    texts = ["\n\n".join(fill(block, width) if width else block for block in blocks) for blocks in passages]
    for kept in compress(query, texts, max_tokens=budget).passages:
        whole = folded(kept.original.text)
        assert [piece for piece in map(folded, kept.text.split(GAP)) if piece not in whole] == []


def test_this_does_not_stand_for_another_sentence():
    rule = "A package in main must be built from source. Maintainers must review it twice."
    contrib = "A package in contrib may depend on anything. This restriction does not apply to contrib."
    between = "The archive is mirrored in many countries. Mirrors have names. They are updated at night."
    text = f"{rule} {between} {contrib}"
    query = "Does the restriction of main packages apply to contrib, must they be built from source?"
    kept = compress(query, [text], max_tokens=45)
    assert re.search(r"(\[…\]|depend on anything\.) This restriction does not apply to contrib\.", kept.text)
    assert GAP in kept.text


def test_the_rest_of_a_paragraph_does_not_stand_under_another_one():
    text = (
        "WakeSystem wakes the machine before the timer elapses. It is off unless you turn it on.\n\n"
        "RemainAfterElapse keeps the unit loaded. Units can be queried then. It does no harm. Its default is on."
    )
    kept = compress("wake the machine, default", [text], max_tokens=36)
    assert re.search(r"\[…\]\n\n.*\[…\] Its default is on\.", kept.text)


def test_the_rest_of_a_paragraph_has_a_marker_under_its_heading():
    text = (
        "# Peers\n\nSometimes a package is made for another one that it does not contain. Then it says what fits. "
        "This is usually referred to as a plugin.\n\n# Others\n\nNothing is said of these."
    )
    assert "# Peers\n\n[…] " in compress("is it a plugin?", [text], max_tokens=22).text


def test_a_marker_shows_that_items_of_a_list_are_missing_and_lines_of_rows_have_none():
    items = "\n".join(f"- The {word} is checked in week {n}." for n, word in enumerate(WORDS))
    rows = "\n".join(f"{word} = {n}" for n, word in enumerate(WORDS))
    assert " […]\n- The" in compress("pump, invoice and ledger", [items], max_tokens=60).text
    assert GAP not in compress("pump, invoice and ledger", [rows], max_tokens=60).text


def test_a_marker_within_a_string_of_json_stands_at_the_beginning_of_its_line():
    lines = [f"Ship {n} came into the harbour late." for n in range(30)]
    lines[15], lines[25] = "The retry limit is seven.", "The retry limit of the pool is nine."
    text = json.dumps({"log": "\n".join(lines)})
    result = compress("what is the retry limit?", [text], max_tokens=100, encoding=len)
    assert json.loads(result.text)["log"] == f"{lines[15]}\n[…] {lines[25]}\n"
