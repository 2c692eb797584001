"""Words as they are written, their spellings and forms, and the terms that they become."""

import re
import unicodedata
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcompress.text.stems import other_stems
from ctxcompress.text.words import Terms, fold, has_unspaced, split_each, split_words

VOCABULARY = (
    "running Runs RunTime get_value HTTPServer camelCase x2 2nd A1B2 IDs NASA __init__ _ __ a A 0 Straße straße ẞ ÉTÉ "
    "été naïve cafe\u0301 İstanbul ılık ﬁne ǅ ½ ① ａｂ K Å 中文字 中 中中中 日本語 ガギグ ｶﾞ ภาษาไทย ก हिन्दी العربية "
    "والكتاب كتابها لتمويل تمويل و2014 ٢٠١٤ Wasserverbrauch Verbrauch wasser ёлка елка a\u0301 犬は 水を飲む IŞIK ışık "
    "१९६८ หน้า gelopen gemaakt membaca 한국어 한 русский бегущий Ελληνικά עברית nodeJS"
).split()
generated = st.text("aAbBz19_éßİ中日กㄱع\u0301\u200d ", max_size=12).map(split_words)
words = st.lists(st.one_of(st.sampled_from(VOCABULARY).map(lambda word: [word]), generated), max_size=8).map(
    lambda lists: [word for words_ in lists for word in words_]
)


def is_unspaced(word):
    return (
        re.match(
            r"(?!\d)[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uff66-\uff9f]", word
        )
        is not None
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("हिन्दी में। लिखा", ["हिन्दी", "में", "लिखा"]),
        ("كِتَابٌ جديد", ["كِتَابٌ", "جديد"]),
        ("שָׁלוֹם עולם", ["שָׁלוֹם", "עולם"]),
        ("བོད་ཡིག", ["བོད", "ཡིག"]),
        ("中文和Python3代码", ["中文和", "Python3", "代码"]),
        ("한국어 문장", ["한국어", "문장"]),
        ("می\u200cخواهم", ["می\u200cخواهم"]),
        ("a\ud800b", ["a", "b"]),
        ("", []),
    ],
)
def test_words_of_other_scripts(text, expected):
    assert split_words(text) == expected


def is_letters_mark(character):
    """Combining marks, but for those of symbols and the choice between text and emoji."""
    named = unicodedata.name(character, "")
    of_symbols = "\u20d0" <= character <= "\u20ff" or named.startswith("VARIATION SELECTOR")
    return unicodedata.category(character) in ("Mn", "Mc") and not of_symbols


def test_every_combining_mark_stays_in_its_word():
    marks = [chr(code) for code in range(0x80, 0x10000) if is_letters_mark(chr(code))]
    parted = [
        mark
        for mark in marks
        for base in ("ก" if is_unspaced(mark) else "a")
        if len(split_words(base + mark + base)) > 1
    ]
    assert len(marks) > 1_000
    assert parted == []


@given(st.text())
def test_words_are_in_the_text_in_order_without_space(text):
    position = 0
    for word in split_words(text):
        position = text.index(word, position) + len(word)
        assert word
        assert not any(character.isspace() for character in word)


@given(
    st.lists(
        st.one_of(
            st.text(st.characters(max_codepoint=127)),
            st.text(st.one_of(st.characters(max_codepoint=255), st.sampled_from("–—“”’…€œŒŠžƒ™‰ā\u2028\u0301 "))),
            st.text(),
        ),
        max_size=6,
    )
)
def test_many_texts_have_the_words_of_each(texts):
    assert list(map(list, split_each(texts))) == list(map(split_words, texts))


def match(language, asked, written):
    """Whether a question with one word finds the other word."""
    wanted = [term for of_word in Terms(language).of_words(split_words(asked)).values() for term in of_word]
    return bool(Terms(language).matching(split_words(written), wanted))


FORMS = {
    "es": "ciudades ciudad, canción canciones",
    "de": "Häuser Haus, Ha\u0308user Haus, Strasse Straßen, Wasserverbrauch Verbrauch",
    "nl": "verzekering zorgverzekering",
    "ru": "ёлками елка, замо\u0301к замок, Толсто\u0301й Толстого, servers server",
    "tr": "IŞIK ışıklar, YILLARI yıl, ISPARTA'da Isparta'nın, istanbul İSTANBUL’un, kapanıyor kapanır, evler evlerinde",
    "ar": "الكتاب كتاب, كتاب والكتب, المكتبة مكتبه, مُحَمَّد محمد, محـــمد محمد, أحمد احمد",
    "hi": "हिन्दी हिंदी, पाँच पांच, ज़मीन जमीन, \u0958लम \u0915\u093cलम, लड़कियों लड़की, 1968 १९६८",
    "zh": "３０ 30, servers server",
    "ja": "犬は 犬が, ﾃﾞｰﾀ データ, ＡＰＩ api",
    "th": "2511 พ.ศ.๒๕๑๑, โรงพยาบาล ในโรงพยาบาลนี้",
}
OTHERS = {
    "es": "casa cosa",
    "de": "Spiel Beispiel, Haus Maus",
    "en": "fire campfires",
    "ru": "дом дым",
    "tr": "kalem kadın, 100000 100001",
    "ar": "فنادق بنادق, سيارة طيارة, كتاب باب, مدينة سفينة",
    "hi": "नदी शादी",
    "zh": "中国 国中",
    "ja": "病院 病気",
    "th": "ปลา เวลา",
}


@pytest.mark.parametrize("pairs", [FORMS, OTHERS], ids=["forms", "others"])
def test_forms_of_a_word_match_and_other_words_do_not(pairs):
    wrong = [
        (language, asked, written)
        for language, of_language in pairs.items()
        for pair in of_language.split(", ")
        for asked, written in permutations(pair.split(" "))
        if match(language, asked, written) != (pairs is FORMS)
    ]
    assert wrong == []


@pytest.mark.parametrize("character", ["a", "A", "_", "aB", "中", "ก", "ع", "é", "\u0301", "1", "İ"])
def test_giant_words_end(character):
    word = character * (200_000 // len(character))
    terms = Terms("en")
    assert len(split_words(word)) == 1
    assert terms.of_words([word])[word]
    assert set(terms.matching([word], ["zz", "中中"])) <= {word}


def test_words_of_a_large_input_are_the_same_and_equal_words_are_one_object():
    texts = [f"The pool {number} opens größere connections.\n" * 20 for number in range(600)]
    assert sum(map(len, texts)) > 3 * 2**17

    found = split_each(["", *texts, "x" * 2**18, ""])

    assert list(map(list, found)) == [[], *map(split_words, texts), ["x" * 2**18], []]
    assert len({id(word) for words in found for word in words if word == "pool"}) == 1


# Every word is found by its stems, although most words are not stemmed

LETTERS = {
    "ar": ("ابتكلمنهويفسرةىأإآؤئءعقد\u064e\u0640\u0654", "ات ون ين ان ها هم هن كم نا يه ته ه ي ا هما تين"),
    "de": ("abceinorstuäöüßqy", "ung keit lich ern em isch heit es ue ae oe erin"),
    "es": ("abceilnorstuáéíóúñgqy", "ación logía ución encia mente ándose iendo yendo íamos idad"),
    "fr": ("abceilnorstuéèêàçqyïë", "ication logie ution ence amment emment euse ivement issement ièrement"),
    "ru": ("абвгдеёийклнорстуфьщюяы\u0301", "ость ейшими вшись ующая ями ами нн ого"),
    "sv": ("abdegiknorstuäöåé", "arna heter lig els fullt löst igt"),
    "uk": ("абвгдеиійїєкнорстуюя", "ого ами ість"),
}
ENGLISH = ("", *"lying skies ational biliti studies getValue _a 中文 ﬁ ｌｙｉｎｇ ½ ² 1990".split())


def written_in(language):
    letters, endings = LETTERS[language]
    part = st.text(letters + "aeé", max_size=5)
    ending = st.sampled_from((*endings.split(), *ENGLISH))
    written = st.sampled_from((str, str.capitalize, str.upper))
    return st.builds(
        lambda begin, middle, end, form: form(begin + middle + end), part, part | ending, ending, written
    ).map(split_words)


def missed(language, words):
    """The words that a search for one of their terms, or for what stands for it, does not find."""
    other, terms = other_stems(language) or (lambda _: ()), Terms(language)
    for word, of_word in terms.of_words([word for word in words if not has_unspaced(word[:1])]).items():
        for wanted in {each for term in of_word for each in (term, *other(term))}:
            if word not in terms.matching(["zzz", *words], [wanted, "yyy"]):
                yield word, wanted


@pytest.mark.parametrize("language", LETTERS)
def test_each_word_is_found_by_its_stems(language):
    @given(written_in(language))
    def check(words):
        assert not list(missed(language, words))

    check()


# Spellings


def test_a_word_whose_letters_are_spaced_is_there_as_a_whole():
    (words,) = split_each(["2 W I N T E R storage, a b c"])
    assert "WINTER" in words
    assert "abc" not in words


@pytest.mark.parametrize(
    "spellings",
    [
        "straße straße|café cafe\u0301|test1 ｔｅｓｔ１|fine ﬁne|елка ёлка \u0435\u0308лка|замок замо\u0301к",
        "test 𝐭𝐞𝐬𝐭|3 ③|שלום שָׁלוֹם",
        "كتاب كِتَابٌ كتــاب ﻛﺘﺎﺏ|123 ١٢٣ ۱۲۳ १२३ ๑๒๓|हिंदी हिन्दी|पांच पाँच|जमीन ज़मीन|\ud800 \ud800",
    ],
)
def test_spellings_of_one_word_become_one(spellings):
    for group in spellings.split("|"):
        expected, *written = group.split(" ")
        assert {fold(word) for word in written} == {expected}
    assert fold("ـ") == fold("") == ""


@given(st.text(), st.text(st.characters(max_codepoint=0x2FF)))
def test_folding_is_done_once_and_western_letters_stay(text, western):
    folded = fold(text)
    assert fold(folded) == folded
    assert fold(western) == western
