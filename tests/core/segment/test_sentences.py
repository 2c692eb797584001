"""Where sentences end, and where they must not."""

import textwrap
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from segment_texts import texts

from ctxcompress.segment import sentences as module
from ctxcompress.segment.sentences import split_sentences


def sentences(text, language="en"):
    cuts = [0, *split_sentences(text, 0, len(text), language)]
    return [text[start:end] for start, end in pairwise(cuts)]


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("en", ["It works. ", "Dr. Smith agreed with Mr. Jones. ", "Good."]),
        ("en", ["Is it so? ", "It is! ", "They said so in 1999."]),
        ("en", ["It costs 3.5 dollars. ", "Version 2.0.1 is out."]),
        ("en", ["Use `a. B` here. ", "Then [go on](http://x.y/a. B) there."]),
        ("en", ["See https://example.org/a.B?c=d. ", "Then stop."]),
        ("en", ["3. **Append only.** What was said stays. ", "Then it is sent."]),
        ("en", ["Open the door. ", "2. Go in. ", "3. Close it. ", "14. Wait."]),
        ("en", ["Do what follows:\n", "2. Open the door. ", "Go in. ", "Close it."]),
        ("en", ["It was built in\n1986. A year later it closed. ", "That was all."]),
        ("en", ["1.2. The scope is wide. ", "IV. The fourth one is not."]),
        ("en", ["(1) The gate is open. ", "It closes at six.\n", "(2) The guard has the key. ", "He is tall."]),
        ("de", ["(1) Das Tor ist offen. ", "Es geht zu.\n", "(12) Bei Regen bleibt es zu. ", "So ist es."]),
        ("en", ["Tell them of ", "• rain, e.g. ", "• Snow in May. ", "It melts."]),
        ("en", ["The lease begins on 1. January 2027. ", "It ends in 2030.  ", "He was 18. ", "The others were 31."]),
        ("en", ["Die Abgabe wird ab 1. Jänner 2027 erhöht. ", "So wurde es am 14.–18. Juni 2026 beschlossen."]),
        ("en", ["The port is 30. ", "Retries are 5. ", "Nobody knows why."]),
        ("de", ["Das ist z. B. ein Satz. ", "Noch einer."]),
        (
            "de",
            ["Der Saal im 3. Stock ist zu. ", "Das Fest ist am 2.\nMärz. ", "Es kamen 12. ", "Die Feier endet um 1."],
        ),
        ("cs", ["Platí od 3. Ledna 2020."]),
        ("fr", ["Est-ce vrai ? ", "Oui, c'est vrai."]),
        ("es", ["¿Qué es esto? ", "Es una prueba."]),
        ("ru", ["Это первое предложение. ", "Это второе."]),
        ("zh", ["今天的天气很好。", "我们去公园吧！", "你觉得怎么样？"]),
        ("ja", ["今日は天気がいいです。", "公園に行きましょう。"]),
        ("hi", ["यह पहला वाक्य है। ", "यह दूसरा वाक्य है।"]),
        ("ar", ["هذه هي الجملة الأولى. ", "هل هذه هي الجملة الثانية؟ ", "نعم هي."]),
    ],
)
def test_sentences_by_language(language, expected):
    assert sentences("".join(expected), language) == expected


@given(texts)
def test_the_cuts_ascend_to_the_end(text):
    if text:
        cuts = split_sentences(text, 0, len(text), "en")
        assert cuts == sorted(set(cuts))
        assert cuts[0] > 0
        assert cuts[-1] == len(text)


@pytest.mark.parametrize("language", ["en", "zh", "de"])
def test_blank_lines_of_a_long_text_stay_in_it(language):
    text = "The quick brown fox jumps.\n\nIt is over. " * 1_500
    assert "".join(sentences(text, language)) == text
    assert len(sentences(text, language)) > 2_000


@pytest.mark.parametrize("space", ["\xa0", "\x85", "\u2028", "\u3000", "\u202f"])
def test_wide_spaces_near_initials(space):
    text = f"He is J{space}. Smith, or B{space}. Or else{space}A.{space}Jones. The end of it."
    assert "".join(sentences(text)) == text


def test_thai_is_cut_at_spaces():
    text = "ประเทศไทยเป็นประเทศที่มีวัฒนธรรมเก่าแก่ " * 20
    pieces = sentences(text, "th")
    assert len(pieces) >= 3
    assert all(piece.endswith(" ") for piece in pieces)


def test_all_lines_of_a_long_list_without_sentences_are_cut():
    text = "\n".join(f"BD{number}:{number}:Taka number {number}" for number in range(40))
    assert sentences(text, "en")[-2:] == ["BD38:38:Taka number 38\n", "BD39:39:Taka number 39"]


@pytest.mark.parametrize("fence", ["```", "~~~"])
def test_a_sentence_within_a_line_does_not_begin_with_a_fence(fence):
    text = f"The timeout is thirty seconds. {fence}\nIt is set so. Another sentence comes here."
    assert sentences(text, "en") == [text[:-28], "Another sentence comes here."]


def test_a_long_line_is_cut_at_clauses():
    pieces = sentences("alpha beta gamma, delta epsilon; " * 100)
    assert len(pieces) > 10
    assert all(piece.endswith((" ", ",", ";")) for piece in pieces)


@pytest.mark.parametrize("number", ["2.", "12)", "(3)", "**4.**", "> 5.", "- 6."])
@pytest.mark.parametrize("before", ["", "All is said above.\n", "First open it:\n"])
def test_no_number_is_cut_off_from_its_item(before, number):
    pieces = sentences(f"{before}{number} Something is said here at some length. And more of it follows.")
    assert any(f"{number} Something is said" in piece for piece in pieces)


def test_a_long_line_is_not_cut_after_the_number_of_an_item():
    for length in range(180, 220):
        pieces = sentences("x" * length + " it is so.\n3. " + "other words and more, " * 40)
        assert not any(piece.rstrip().endswith("\n3.") for piece in pieces)


def test_very_short_sentences_are_not_alone():
    assert all(len(piece.strip()) > 2 for piece in sentences("No. 1. Go. A. The longer sentence follows here. B. C."))


# What sentencex finds is taken as it is where it is surely right. The oracle looks at each sentence.

PROSE = (
    *(
        "The cat sat on the mat near the house", "Ann 3. ", "A", "Iv", "ii", "2", "10", "He said", "approx", "30 s",
        "no", "Dr",
    ),
    *(
        "U.S", " ", " ", "  ", "\xa0", "\u3000", ". ", ". ", ". ", "! ", "? ", ".", "。", "！", "”", "“", '"', "'",
        "(", ")",
    ),
    *(
        "[", "]", "«", "`a. B`", "](http://a. b)", "https://x.y. Z", "\n", "\n\n", "- ", "1. ", "\u200e", "é", "É",
        "Ё", "你好",
    ),
    *(
        "世", "：", "ไทยภาษา", "مرحبا", "\u0301", "\ud800", "\r\n", "\t", "\0", "…", "lower case words",
        "3 of them came",
    ),
)  # fmt: skip
"""What makes or breaks the end of a sentence."""


def checked(text, start, language):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_are_sure", lambda part, found: False)
        return split_sentences(text, start, len(text), language)


@given(
    st.lists(st.sampled_from(PROSE), min_size=2, max_size=40).map("".join), st.sampled_from(("en", "de", "zh", "ar"))
)
def test_sure_sentences_are_those_that_each_check_finds(text, language):
    assert split_sentences(text, 0, len(text), language) == checked(text, 0, language)


WRAPPED = "\n".join(
    textwrap.wrap(
        "He shall have the Power to name the Keepers of the Harbour and of the Lights, the Pilots, and all other "
        "Officers whose Names are not in this Charter; " * 6,
        width=70,
    )
)
"""One sentence, with line ends."""


def test_a_long_wrapped_sentence_is_cut_at_clauses_not_at_lines():
    cuts = split_sentences(WRAPPED, 0, len(WRAPPED), "en")
    assert len(cuts) > 3
    assert all(WRAPPED[:cut].rstrip()[-1] in ",;" for cut in cuts[:-1])
