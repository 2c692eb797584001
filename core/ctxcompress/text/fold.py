"""One spelling for words that are written in several ways."""

import re
import unicodedata

__all__ = ["fold"]

# The points of Arabic and its letter stretcher, the Indic nukta, the joiners.
_MARKS = r"\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u093c\u200c\u200d"
_LEFT_OUT = re.compile(f"[{_MARKS}]")
# Accents that tell how a Russian word is stressed.
_STRESS = re.compile(r"(?<=[\u0400-\u04ff])[\u0300\u0301]")
# A nasal without a vowel before a consonant is as often written as the dot above: हिन्दी, हिंदी.
_NASAL = re.compile(r"[ङञणनम]\u094d(?=[क-ह])")
_DIGIT_ZEROS = "\u0660\u06f0\u0966\u09e6\u0a66\u0ae6\u0be6\u0c66\u0ce6\u0d66\u0e50\u0ed0\u1040\u17e0"
_LETTERS = str.maketrans(
    {"ё": "е", "Ё": "Е", "\u0901": "\u0902"}
    | {chr(ord(zero) + digit): str(digit) for zero in _DIGIT_ZEROS for digit in range(10)}
)
_DIGITS = "".join(f"{zero}-{chr(ord(zero) + 9)}" for zero in _DIGIT_ZEROS)
_FOLDED = re.compile(
    rf"[{_MARKS}{_DIGITS}ёЁ\u0300-\u036f\u0901\u094d\u0958-\u095f\ufb00-\ufb06\ufb50-\ufdff\ufe70-\ufefc\uff00-\uff9f]"
)


def fold(word: str) -> str:
    """`word` in its commonest spelling: letters of normal width and composed, ASCII digits, without the marks
    that are left out as often as written. A word may become empty."""
    if not _FOLDED.search(word):
        return word
    composed = _STRESS.sub("", unicodedata.normalize("NFKC", word))
    return _NASAL.sub("\u0902", _LEFT_OUT.sub("", composed)).translate(_LETTERS)
