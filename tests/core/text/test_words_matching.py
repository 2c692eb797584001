"""Every word is found by its stems, and by what stands for them, although most words are not stemmed."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ctxcompress.text.stems import other_stems
from ctxcompress.text.words import Terms, has_unspaced, split_words

LETTERS = {
    "ar": ("ابتكلمنهويفسرةىأإآؤئءعقد\u064e\u0640\u0654", "ات ون ين ان ها هم هن كم نا يه ته ه ي ا هما تين"),
    "bg": ("абвгдеийктнорсуъюя", "та то ът ите ове"),
    "ca": ("abcdeioulmnrstçèàíïóúü·", "ació isme ment ats íssim uc eria"),
    "cs": ("abceioukrstvěščřžýáíéůd", "ech ích ému atech ové ovi če ště"),
    "da": ("abdegiknorstuæøåé", "erne ende hed ernes løst lig ig t"),
    "de": ("abceinorstuäöüßqy", "ung keit lich ern em isch heit es ue ae oe erin"),
    "es": ("abceilnorstuáéíóúñgqy", "ación logía ución encia mente ándose iendo yendo íamos idad"),
    "fr": ("abceilnorstuéèêàçqyïë", "ication logie ution ence amment emment euse ivement issement ièrement"),
    "hu": ("abeiklnorstzáéíóöőúű", "val szal ként ban ok ainak itokat"),
    "it": ("abceilnorstuàèéìòùgqh", "azione logia uzione enza amente erebbero andosi ità"),
    "no": ("abdegiknorstuæøåé", "ene endes hetens leg lov vt"),
    "pl": ("abceiklnorstząćęłńóśźż", "iego owego aliśmy ością ami ach ować"),
    "pt": ("abceilnorstuáâãçéêíóõgq", "ação logia ución ência mente ássemos idade iria"),
    "ro": ("abceilnorstuăâîșțşţ", "ului itate ației ism ist abil ească"),
    "ru": ("абвгдеёийклнорстуфьщюяы\u0301", "ость ейшими вшись ующая ями ами нн ого"),
    "sv": ("abdegiknorstuäöåé", "arna heter lig els fullt löst igt"),
    "uk": ("абвгдеиійїєкнорстуюя", "ого ами ість"),
}
ENGLISH = ("", *"lying skies ational biliti studies getValue _a 中文 ﬁ ｌｙｉｎｇ ½ ² 1990".split())


def words_of(language):
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
    @given(words_of(language))
    def check(words):
        assert not list(missed(language, words))

    check()


@given(words_of("ar"), words_of("de"))
@example(["المؤامرة", "مؤ\u0654ام\u0640رة", "ۀۂۓ", "\u0640"], ["Straßen", "Muellers", "neue", "e"])
@example(["و1990", "والهم", "é", "Ａ"], ["Wasserverbrauchszähler", "ueber", "ß"])
def test_each_word_is_found_by_its_stems_in_texts_of_two_languages(arabic, german):
    for language in ("ar", "de", "ru", "es"):
        assert not list(missed(language, arabic + german))
