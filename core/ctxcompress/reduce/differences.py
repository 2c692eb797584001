"""Particulars: the numbers, negations, code and names in which duplicates must not differ.

A version, a port or a "not" may be one word of a hundred, and yet the one that matters.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from itertools import compress, count
from operator import ne
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


class _SplitText(NamedTuple):
    """One text, split up."""

    text: str
    tokens: list[str]
    """The tokens that may be a number, code, a name or a negation, in order."""
    counts: Counter[str]
    plain: list[str]
    """Decisive words, negations with the word after them, and both in scripts without spaces."""

    @classmethod
    def of(cls, text: str) -> "_SplitText":
        words = text.split()
        plain = [word for word in words if word in _DECISIVE]
        plain += [" ".join(words[n : n + 2]) for n, word in enumerate(words) if word in NEGATIONS]
        if not text.isascii():
            plain += _UNSPACED.findall(text)
        tokens = _NOT_PLAIN.findall(text)
        return cls(text, tokens, Counter(tokens), plain)


class Particulars:
    """The particulars of several texts. Each distinct word is classified once."""

    __slots__ = ("_kinds", "_sentences", "_signatures", "_split_texts", "_texts", "_words", "apart")

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        self._sentences: dict[int, str] = {}
        self.apart: Counter[str] = Counter()
        """How many pairs were kept apart, by what they differ in."""
        self._words: dict[int, list[str]] = {}
        self._split_texts: dict[int, _SplitText] = {}
        self._signatures: dict[int, tuple[int, frozenset[str]]] = {}
        """Quick signatures of texts, for texts that were not duplicates of one that they were compared with."""
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
        is_known = leader in self._signatures and self._signatures[leader] != self._signature(member)
        kept = not is_known and self._is_kept(leader, member)
        is_shorter = len(self._texts[member]) < len(self._texts[leader])
        if not kept and not (kept := is_shorter and self._in_a_row(member) in self._in_a_row(leader)):
            self.apart[self._difference(leader, member)] += 1
        return kept

    def _in_a_row(self, number: int) -> str:
        """Return the sentences and paragraphs of a text, each on a line."""
        if number not in self._sentences:
            lines = (" ".join(sentence.split()) for sentence in _SENTENCE_BREAK.split(self._texts[number]))
            self._sentences[number] = "\n".join(("", *filter(None, lines), ""))
        return self._sentences[number]

    def _difference(self, leader: int, member: int) -> str:
        """Return what two texts differ in."""
        one, other = self._signature(leader), self._signature(member)
        if one[1] != other[1]:
            return "numbers or code"
        if one == other and self._split_text(leader).plain == self._split_text(member).plain:
            return "names" if self._names(member) - self._names(leader) else "numbers or code"
        return 'words such as "not"'

    def _is_kept(self, leader: int, member: int) -> bool:
        """Tell the same by comparing the two texts, without signatures."""
        if _code(self._texts[leader]) != _code(self._texts[member]):
            return False
        one, other = self._split(leader), self._split(member)
        # Near-duplicates differ only in a few words.
        parts = _differences(one, other)
        if parts is None:
            is_same = self._signature(leader) == self._signature(member)
            return is_same and self._is_kept_in_part(leader, self._split_text(leader), self._split_text(member))
        return self._is_kept_in_part(
            leader, _split_parts(one, [here for here, _ in parts]), _split_parts(other, [there for _, there in parts])
        )

    def _is_kept_in_part(self, leader: int, one: _SplitText, other: _SplitText) -> bool:
        """Tell the same for a part of the leader and a part of the member."""
        more, missing = one.counts - other.counts, other.counts - one.counts
        exact, negations = self._exact(more.elements())
        other_exact, other_negations = self._exact(missing.elements())
        if sorted(exact) != sorted(other_exact) or negations != other_negations or one.plain != other.plain:
            return False
        if not self._is_same_order(one, other, set() if exact else {*more, *missing}):
            return False
        named = any(token.strip(_EDGES)[:1].isupper() for token in missing)
        return not named or self._names(leader).issuperset(_names(other.text))

    def _is_same_order(self, one: _SplitText, other: _SplitText, harmless: Set[str]) -> bool:
        """Tell whether the shared numbers and code have the same order.

        harmless: tokens that are neither numbers nor code.
        """
        shared, others = ([token for token in read.tokens if token not in harmless] for read in (one, other))
        return shared == others or self._exact(one.tokens)[0] == self._exact(other.tokens)[0]

    def _exact(self, tokens: Iterable[str]) -> tuple[list[str], int]:
        """Return the numbers and code among the tokens, and the number of negations."""
        found = [word for word in map(self._kinds.__getitem__, tokens) if word]
        exact = [word for word in found if word is not _NEGATION]
        return exact, len(found) - len(exact)

    def _signature(self, number: int) -> tuple[int, frozenset[str]]:
        """Return a hash of the numbers, code, decisive words and capital negations of a text, and its numbers and code.

        Texts of which one can stand for the other have the same signature.
        """
        if number not in self._signatures:
            words = self._split(number)
            found = sorted(filter(None, map(self._kinds.__getitem__, words)))
            found = [*_code(self._texts[number]), *found]
            exact = (word for word in found if word is not _NEGATION and word.lower() not in _DECISIVE)
            self._signatures[number] = hash(tuple(found)), frozenset(exact)
        return self._signatures[number]

    def _split(self, number: int) -> list[str]:
        if number not in self._words:
            self._words[number] = self._texts[number].split()
        return self._words[number]

    def _split_text(self, number: int) -> _SplitText:
        if number not in self._split_texts:
            self._split_texts[number] = _SplitText.of(self._texts[number])
        return self._split_texts[number]

    def _names(self, number: int) -> frozenset[str]:
        return _names(self._texts[number])


def _differences(one: Sequence[str], other: Sequence[str]) -> list[tuple[slice, slice]] | None:
    """Return the slices in which two lists of words differ, with one word around; None if most words differ."""
    most = min(len(one), len(other)) // 2
    if len(one) == len(other):
        places = list(compress(range(len(one)), map(ne, one, other)))
        if len(places) > most:
            return None
        slices = [slice(max(0, first - 1), last + 2) for first, last in _runs(places)]
        return [(part, part) for part in slices]
    begin = _common_prefix(one, other)
    end = min(_common_prefix(one[::-1], other[::-1]), min(len(one), len(other)) - begin)
    if begin + end < most:
        return None
    first, kept = max(0, begin - 1), max(0, end - 1)
    return [(slice(first, len(one) - kept), slice(first, len(other) - kept))]


def _runs(places: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield (first, last) of the runs of places, with gaps of at most two."""
    first = last = -1
    for place in places:
        if first < 0:
            first = place
        elif place - last > 3:
            yield first, last
            first = place
        last = place
    if first >= 0:
        yield first, last


def _common_prefix(one: Sequence[str], other: Sequence[str]) -> int:
    """Return the number of words at the beginning of both lists that are the same."""
    return next(compress(count(), map(ne, one, other)), min(len(one), len(other)))


def _split_parts(words: Sequence[str], slices: Iterable[slice]) -> _SplitText:
    return _SplitText.of("\n".join(" ".join(words[part]) for part in slices))


def _code(text: str) -> list[str]:
    return _CODE_SPAN.findall(text) if "`" in text else []


def _names(text: str) -> frozenset[str]:
    """Return the words with a capital letter that do not begin a sentence."""
    return frozenset(name for name in set(_NAME.findall(text)) if name[0].isupper())


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
