"""Which language a text is in, told from its script and its function words."""

import re

from ctxcompress.text.stopwords import STOP_WORDS

__all__ = ["detect_language"]

# A script that (nearly) one language of those with a stemmer or stop words is written in. Kana
# stands before Han: Japanese is written in both, Chinese in Han alone.
_SCRIPTS = (
    ("ja", re.compile(r"[\u3040-\u30ff]")),
    ("zh", re.compile(r"[\u3400-\u9fff\uf900-\ufaff\U00020000-\U000323af]")),
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
_SCRIPT_SHARE = 0.2


def detect_language(text: str) -> str:
    """ISO 639-1 code of the language that `text` is most likely in; "en" where nothing tells.

    Looks at the characters first, which settles all scripts but Latin, then counts function words.
    """
    if not text.isascii():
        for language, characters in _SCRIPTS:
            if len(characters.findall(text)) > _SCRIPT_SHARE * len(text):
                return language
    words = set(_LATIN_WORD.findall(text.lower()))
    hits = {language: len(words & STOP_WORDS[language]) for language in _LATIN}
    return max(hits, key=lambda language: hits[language])
