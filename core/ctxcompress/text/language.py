"""Which language a text is in, told from its script and its function words."""

import re

from ctxcompress.text.stopwords import STOP_WORDS

__all__ = ["detect_language", "is_prose_in"]

# A script that (nearly) one language of those with a stemmer or stop words is written in.
_SCRIPTS = (
    ("zh", re.compile(r"[\u3040-\u30ff\uff66-\uff9f\u3400-\u9fff\uf900-\ufaff\U00020000-\U000323af]")),
    ("ko", re.compile(r"[\u1100-\u11ff\uac00-\ud7af]")),
    ("th", re.compile(r"[\u0e00-\u0e7f]")),
    ("ar", re.compile(r"[\u0600-\u06ff]")),
    ("hi", re.compile(r"[\u0900-\u097f]")),
    ("ru", re.compile(r"[\u0400-\u04ff]")),
    ("el", re.compile(r"[\u0370-\u03ff]")),
    ("hy", re.compile(r"[\u0530-\u058f]")),
    ("ta", re.compile(r"[\u0b80-\u0bff]")),
    ("he", re.compile(r"[\u0590-\u05ff]")),
)
_LATIN = ("en", "de", "fr", "es", "it", "pt", "nl", "sv", "tr")
_LATIN_WORD = re.compile(r"[a-zà-öø-ÿğışœ]+")
_HIRAGANA = re.compile(r"[\u3040-\u309f]")
_KATAKANA = re.compile(r"[\u30a0-\u30ff\uff66-\uff9f]")
_SCRIPT_SHARE = 0.2
_HIRAGANA_SHARE, _KATAKANA_SHARE = 0.05, 0.3
"""Of the Han and kana of a Japanese text, one or the other. A Chinese one may have names in katakana."""
_SAMPLE = 1_000
"""Characters by which it is told whether a text is prose in a language."""
_FUNCTION_WORDS = 0.15
"""Share of the words of prose that are function words, at least."""
_OWN_LETTERS = {"de": "äöüß", "es": "ñ¿¡", "pt": "ãõ", "sv": "å", "tr": "ığşİ"}


def detect_language(text: str) -> str:
    """ISO 639-1 code of the language that `text` is most likely in; "en" where nothing tells.

    Looks at the characters first, which settles all scripts but Latin, then counts function words, and where
    there are none, letters that one language has.
    """
    language = None if text.isascii() else _language_of_script(text)
    if language:
        return language
    words = set(_LATIN_WORD.findall(text.lower()))
    hits = {language: len(words & STOP_WORDS[language]) for language in _LATIN}
    if not text.isascii() and not any(hits.values()):
        hits |= {language: sum(map(text.count, letters)) for language, letters in _OWN_LETTERS.items()}
    return max(hits, key=lambda language: hits[language])


def is_prose_in(language: str, text: str) -> bool:
    """Tell whether a text is prose in this language, not only possibly in it: function words are a good share of its
    words. `language` is one with stop words that is written in Latin letters."""
    words = _LATIN_WORD.findall(text[:_SAMPLE].lower())
    found = sum(word in STOP_WORDS[language] for word in words)
    return bool(words) and found >= _FUNCTION_WORDS * len(words) and detect_language(text[:_SAMPLE]) == language


def _language_of_script(text: str) -> str | None:
    for language, characters in _SCRIPTS:
        found = len(characters.findall(text))
        if found > _SCRIPT_SHARE * len(text):
            return "ja" if language == "zh" and _is_japanese(text, found) else language
    return None


def _is_japanese(text: str, characters: int) -> bool:
    """Whether a text with so many Han and kana has enough kana."""
    hiragana, katakana = len(_HIRAGANA.findall(text)), len(_KATAKANA.findall(text))
    return hiragana > _HIRAGANA_SHARE * characters or katakana > _KATAKANA_SHARE * characters
