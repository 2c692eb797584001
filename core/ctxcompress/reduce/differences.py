"""Particulars: the numbers, negations, code and names in which duplicates must not differ.

A version, a port or a "not" may be one word of a hundred, and yet the one that matters.
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from ctxcompress.lazy_regex import lazy_regex

__all__ = ["NEGATIONS", "Particulars"]

# Tokens that are not just small Latin letters, as most are; a number together with its unit.
_NOT_PLAIN = lazy_regex(r"(?<!\S)[a-z]*+[^a-z\s]\S*+(?:(?<=\d)[^\S\n][A-Za-z\u00b5]{1,3}(?![^\s.,;:!?)]))?")
# A word that may begin with a capital letter and does not begin a sentence.
_NAME = lazy_regex(r"(?<=[^\s.!?:\u3002]\s)[^\W\d_a-z][\w'\u2019-]*+")
_NEGATION = "not"
_CODE_SPAN = lazy_regex(r"`[^`\n]+`")
# A digit, a character that only code, addresses and tables have, or a capital letter after a small one.
_EXACT = lazy_regex(
    r"\d|[_=<>{}\[\]\\/|&*+$#@%^~\u00a2-\u00b6\u00b9-\u00be\u00d7\u00f7\u2030\u2031\u2070-\u20bf\u2150-\u22ff]"
    r"|\w\(|[a-z][A-Z]|^--?\w|^!\w|\w\.\w"
)
_SENTENCE_BREAK = lazy_regex(r"(?<=[.!?\u2026\u061f\u0964])\s+|(?<=[\u3002\uff01\uff1f])\s*|\n\s*\n")
_EDGES = "'\".,;:?\u2018\u2019\u201c\u201d\u3002\uff0c\uff01\uff1f\u3001"
NEGATIONS = frozenset(
    # English; German, Spanish, French, Italian, Portuguese, Dutch and the Nordic languages; Polish, Czech, Hungarian,
    # Finnish, Romanian, Vietnamese, Indonesian, Greek, Persian; Russian, Turkish, Arabic, Hebrew, Hindi.
    "no not never none neither nor nothing nobody nowhere cannot without unless except false disable disables disabled "
    "disallow disallows deny denies denied forbid forbids forbidden deactivate deactivated deprecated unable "
    "impossible invalid unavailable unsupported unsafe inactive "
    "isnt arent wasnt werent dont doesnt didnt cant couldnt wont wouldnt shouldnt mustnt hasnt havent hadnt "
    "nicht kein keine keinen keiner keines nie niemals ohne nunca jamás jamas sin ningún ninguna ninguno tampoco "
    "ne pas jamais aucun aucune sans non mai senza nessun nessuna não nao nem sem nenhum nenhuma "
    "niet geen nooit zonder inte ej aldrig ikke aldri utan uten uden "
    "nie nigdy bez żaden není nesmí nelze nikdy nem nincs soha ei eivät älä nu fără không chưa đừng tidak bukan jangan "
    "tanpa δεν μην όχι ποτέ χωρίς نیست نباید نمی ندارد نشود "
    "не нет ни без никогда нельзя değil yok asla hiç لا لم لن ليس ليست غير بدون دون לא אין בלי नहीं न मत बिना".split()
)
# Of "enable" and "disable", of "allow" and "block", one is enough: a paraphrase may say the other in many ways.
_DECISIVE = frozenset(
    "off before after above below less increase increases increased decrease decreases decreased "
    "minimum maximum min max least most always only true must reject rejects rejected block blocks blocked "
    "prevent prevents prevented refuse refuses refused prohibit prohibits prohibited ban bans banned "
    "suspend suspends suspended revoke revokes revoked "
    "read reads write writes start starts stop stops second third fourth fifth upper lower "
    "two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty hundred thousand million "
    "half twice".split()
)
# Negations and numbers of Chinese and Japanese, negations of Thai and Korean.
_UNSPACED = lazy_regex(
    r"[不没沒無无非未勿别別一二三四五六七八九十百千万萬億亿半两兩]|ない|ません|なし|ずに|ไม่|ห้าม|않|못하|없|아니|마세요|말아"
)


class _Read(NamedTuple):
    """What must not differ between a text and a duplicate of it."""

    exact: list[str]
    """Its numbers and code, in order."""
    words: list[str]
    """Its decisive words, its negations with the word after each, and both in scripts without spaces."""
    names: frozenset[str]
    """The words with a capital letter that do not begin a sentence."""

    @classmethod
    def of(cls, text: str, kinds: "_Kinds") -> "_Read":
        words = text.split()
        kept_words = [word for word in words if word in _DECISIVE]
        kept_words += [" ".join(words[n : n + 2]) for n, word in enumerate(words) if word in NEGATIONS]
        found = [kinds[token] for token in _NOT_PLAIN.findall(text)]
        exact = [*_CODE_SPAN.findall(text), *filter(None, found)] if "`" in text else [*filter(None, found)]
        if not text.isascii():
            kept_words += _UNSPACED.findall(text)
        return cls(exact, kept_words, frozenset(name for name in _NAME.findall(text) if name[0].isupper()))


class Particulars:
    """The particulars of several texts."""

    __slots__ = ("_kinds", "_read", "_sentences", "_texts", "apart")

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        self._sentences: dict[int, str] = {}
        self._read: dict[int, _Read] = {}
        self.apart: Counter[str] = Counter()
        """How many pairs were kept apart, by what they differ in."""
        self._kinds = _Kinds()

    @property
    def note(self) -> str:
        """What similar pairs were kept apart by, for the note of a stage; "" if there were none."""
        return "".join(
            f", {times} pair{'s' * (times > 1)} kept apart by {why}" for why, times in sorted(self.apart.items())
        )

    def kept_by(self, leader: int, member: int) -> bool:
        """Tell whether no particular is lost if the leader stands for the member.

        Both must have the same numbers and code in the same order and the same negations of the same words, and the
        leader must have every name of the member; or the leader must have every sentence of it, in a row.
        """
        difference = self._difference(leader, member)
        is_shorter = len(self._texts[member]) < len(self._texts[leader])
        if not difference or (is_shorter and self._in_a_row(member) in self._in_a_row(leader)):
            return True
        self.apart[difference] += 1
        return False

    def _difference(self, leader: int, member: int) -> str:
        """Return what two texts differ in; "" if in nothing that matters."""
        one, other = self._particulars(leader), self._particulars(member)
        if [word for word in one.exact if word != _NEGATION] != [word for word in other.exact if word != _NEGATION]:
            return "numbers or code"
        if one.words != other.words or one.exact.count(_NEGATION) != other.exact.count(_NEGATION):
            return 'words such as "not"'
        return "" if one.names >= other.names else "names"

    def _particulars(self, number: int) -> _Read:
        if number not in self._read:
            self._read[number] = _Read.of(self._texts[number], self._kinds)
        return self._read[number]

    def _in_a_row(self, number: int) -> str:
        """Return the sentences and paragraphs of a text, each on a line."""
        if number not in self._sentences:
            lines = (" ".join(sentence.split()) for sentence in _SENTENCE_BREAK.split(self._texts[number]))
            self._sentences[number] = "\n".join(("", *filter(None, lines), ""))
        return self._sentences[number]


class _Kinds(dict[str, str]):
    """A cache: token as written -> the word in it if that is a number or code, _NEGATION for a negation, else ""."""

    def __missing__(self, token: str) -> str:
        bare = token.strip(_EDGES)
        word = bare.strip("()")
        lowered = word.lower()
        kind = ""
        if _EXACT.search(bare) or lowered in _DECISIVE:
            kind = word
        elif token not in NEGATIONS and (
            lowered in NEGATIONS or lowered.startswith("non-") or lowered.endswith(("n't", "n\u2019t"))
        ):
            kind = _NEGATION
        self[token] = kind
        return kind
