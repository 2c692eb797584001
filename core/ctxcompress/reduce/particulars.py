"""What two texts must not differ in to count as the same: numbers, negations, code, names.

A version, a port or a "not" is one word of a hundred, and all that matters.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["Particulars", "ParticularsReader"]

_CODE_SPAN = re.compile(r"`[^`\n]+`")
# A digit, what only code, addresses and tables have, a capital letter after a small one.
_EXACT = re.compile(r"\d|[_=<>{}\[\]\\/|&*+$#@%^~]|\w\(|[a-z][A-Z]|^--?\w|\w\.\w")
_EDGES = "'\".,;:!?()\u2018\u2019\u201c\u201d\u3002\uff0c\uff01\uff1f\u3001"
_STOPS = ".!?:\u3002"
_NEGATIONS = frozenset(
    # English; what German, Spanish, French, Italian, Portuguese, Dutch and the Nordic languages say; Russian, Turkish,
    # Arabic, Hebrew, Hindi.
    "no not never none neither nor nothing nobody nowhere cannot without unless except false disable disabled disallow "
    "deny denied forbid forbidden deprecated "
    "nicht kein keine keinen keiner keines nie niemals ohne nunca jamás jamas sin ningún ninguna ninguno tampoco "
    "ne pas jamais aucun aucune sans non mai senza nessun nessuna não nao nem sem nenhum nenhuma "
    "niet geen nooit zonder inte ej aldrig ikke aldri utan uten uden "
    "не нет ни без никогда нельзя değil yok asla hiç لا لم لن ليس ليست غير بدون دون לא אין בלי नहीं न मत बिना".split()
)
_UNSPACED_NEGATION = re.compile(r"[不没沒無无非未勿别別]|ない|ません|なし|ずに|ไม่|ห้าม")


class Particulars(NamedTuple):
    """Of one text. `exact` and `negations` must be the same, and what is left out must have no name of its own."""

    exact: tuple[str, ...]
    """Numbers and code, in their order."""
    negations: int
    names: frozenset[str]
    """Words with a capital letter that do not begin a sentence."""


class ParticularsReader:
    """Reads the particulars of texts, each once, and looks at each word of them all once."""

    __slots__ = ("_known", "_texts", "_words")

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        self._known: dict[int, Particulars] = {}
        self._words = _Words()

    def __call__(self, number: int) -> Particulars:
        """The particulars of the text with this number."""
        if number not in self._known:
            self._known[number] = self._read(self._texts[number])
        return self._known[number]

    def _read(self, text: str) -> Particulars:
        tokens = text.split()
        # Most words are plain: only what is not in small letters alone is looked at.
        found = [
            (place, *word)
            for place, token in enumerate(tokens)
            if (not (token.isalpha() and token.islower()) or token in _NEGATIONS) and (word := self._words[token])
        ]
        exact = [word for _, kind, word in found if kind == "exact"]
        negations = sum(kind == "negation" for _, kind, _ in found)
        names = {
            word for place, kind, word in found if kind == "name" and place and tokens[place - 1][-1] not in _STOPS
        }
        if not text.isascii():
            negations += len(_UNSPACED_NEGATION.findall(text))
        spans = _CODE_SPAN.findall(text) if "`" in text else []
        return Particulars((*exact, *spans), negations, frozenset(names))


class _Words(dict[str, tuple[str, str] | None]):
    """A token as written -> what it may be particular as, and the word in it; None for most."""

    def __missing__(self, token: str) -> tuple[str, str] | None:
        word = token.strip(_EDGES)
        found = None
        if not (word.isascii() and word.isalpha() and word.islower()) and _EXACT.search(word):
            found = "exact", word
        elif word.lower() in _NEGATIONS or word.lower().endswith(("n't", "n\u2019t")):
            found = "negation", word
        elif word[:1].isupper():
            found = "name", word
        self[token] = found
        return found
