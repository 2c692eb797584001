"""Exact duplicates, near-duplicates and duplicates in meaning, and the particulars in which these must not differ.

Each search goes through the texts from the best to the worst. A text that is similar to the leader of a cluster joins
it, or the best of several; any other text leads a new cluster. So every member is similar to its leader: a chain of
texts, each a little different from the one before, does not become one cluster.

Particulars are numbers, negations, code and names. A version, a port or a "not" may be one word of a hundred, and yet
the one that matters.
"""

import string
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ctxcompress.data.table import Floats
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.text.words import has_unspaced, split_unspaced

__all__ = ["MANY", "NEGATIONS", "Particulars", "exact_duplicates", "near_duplicates", "same_meaning"]

Hashes = NDArray[np.uint64]
Numbers = NDArray[np.intp]
Leaders = dict[int, int]
"""Number of a duplicate -> number of the text that stands for it."""
_SHORTEST, _FIRST_WORDS = 12, 8
"""Characters of a text that can be a duplicate, unlike "yes" in a list; words by which texts are told apart."""
MANY = 500
"""For more texts than this, a text is compared with few of those that share a key with it."""
_MOST_CANDIDATES = 8
"""The most leaders per key, and for a text, if there are many texts: comparing with all takes quadratic time."""
_MOST_ALIKE = 32
"""The most leaders with a close vector to compare a text with: some embeddings are all the same."""
_PUNCTUATION = dict.fromkeys(map(ord, string.punctuation))
"""Deleted from texts, so that a missing comma makes no difference."""
_ROUNDING = 1e-6
_CELLS = 2**22
"""The most products of vectors in memory at a time."""


def exact_duplicates(texts: Sequence[str]) -> Leaders:
    """Find the texts that are the same except for white space."""
    beginnings = [tuple(text.split(None, _FIRST_WORDS)[:_FIRST_WORDS]) for text in texts]
    times = Counter(beginnings)  # most texts begin like no other
    first: dict[str, int] = {}
    leaders: Leaders = {}
    for number, text in enumerate(texts):
        words = " ".join(text.split()) if len(text) >= _SHORTEST and times[beginnings[number]] > 1 else ""
        if len(words) >= _SHORTEST and first.setdefault(words, number) != number:
            leaders[number] = first[words]
    return leaders


def near_duplicates(texts: Sequence[str], threshold: float, particulars: "Particulars") -> Leaders:
    """Find the texts whose shingles are similar enough and that have the same particulars."""
    shingles = Shingles(texts)
    keys = shingles.keys(threshold)
    most = len(texts) if len(texts) <= MANY else _MOST_CANDIDATES
    leading: dict[int, list[int]] = {}  # key -> the leaders that have it
    leaders: Leaders = {}
    for number in range(len(texts)):
        found = [leader for key in keys[number] for leader in leading.get(key, ())]
        similar = set(found)
        for leader in sorted(similar if len(similar) <= most else (one for one, _ in Counter(found).most_common(most))):
            if shingles.similarity(number, leader) >= threshold and particulars.kept_by(leader, number):
                leaders[number] = leader
                break
        else:
            for key in keys[number]:
                of_key = leading.setdefault(key, [])
                if len(of_key) < most:
                    of_key.append(number)
    return leaders


def same_meaning(vectors: Floats, threshold: float, particulars: "Particulars") -> Leaders:
    """Find the texts whose vectors have at least this cosine and that have the same particulars.

    vectors: of length 1, or of length 0, which are close to none; shape (texts, dimensions).
    """
    count = len(vectors)
    leads = np.ones(count, dtype=bool)
    leaders: Leaders = {}
    rows = max(1, _CELLS // max(count, 1))
    for start in range(0, count, rows):
        close = vectors[start : start + rows] @ vectors[: start + rows].T >= threshold - _ROUNDING
        for number, similar in enumerate(close, start):
            others = np.flatnonzero(similar[:number] & leads[:number])[:_MOST_ALIKE].tolist()
            leader = next((other for other in others if particulars.kept_by(other, number)), None)
            if leader is not None:
                leaders[number], leads[number] = leader, False
    return leaders


class Shingles:
    """The shingles (runs of three words) of several texts, as numbers. Texts of fewer than three words have none."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._flat, self._starts = _numbered_shingles([_words(text) for text in texts])
        self._known: dict[int, frozenset[int]] = {}

    def similarity(self, one: int, other: int) -> float:
        """Return the Jaccard index of the shingles of two texts, 0 to 1."""
        a, b = self._set(one), self._set(other)
        shared = len(a & b)
        return shared / (len(a) + len(b) - shared) if shared else 0.0

    def keys(self, threshold: float) -> list[list[int]]:
        """Return keys for each text: two texts at least this similar have a key in common.

        Keys of a single text are not returned.
        """
        keys, of_text = self._prefixes(threshold)
        _, number, counts = np.unique(keys, return_inverse=True, return_counts=True)
        shared = counts[number] > 1
        starts = np.searchsorted(of_text[shared], np.arange(len(self._starts)))
        found = number[shared]
        return [found[start:end].tolist() for start, end in pairwise(starts.tolist())]

    def _set(self, text: int) -> frozenset[int]:
        if text not in self._known:
            self._known[text] = frozenset(self._flat[self._starts[text] : self._starts[text + 1]].tolist())
        return self._known[text]

    def _prefixes(self, threshold: float) -> tuple[Hashes, Numbers]:
        """Return the rarest shingles of each text: so many that two similar texts must have one of them in common.

        This is the prefix filter of Chaudhuri et al., "A primitive operator for similarity joins" (2006).
        """
        _, number, counts = np.unique(self._flat, return_inverse=True, return_counts=True)
        distinct = max(counts.size, 1)
        rarity = np.empty(counts.size, dtype=np.intp)
        rarity[np.argsort(counts, kind="stable")] = np.arange(counts.size)
        of_shingle = np.repeat(np.arange(len(self._starts) - 1), np.diff(self._starts))
        rare = np.sort(of_shingle * distinct + rarity[number])
        rare = rare[np.diff(rare, prepend=-1) > 0]
        of_text, rare = np.divmod(rare, distinct)
        starts = np.searchsorted(of_text, np.arange(len(self._starts)))
        sizes = np.diff(starts)
        prefixes = sizes - np.ceil(threshold * sizes - 1e-9).astype(np.intp) + 1
        chosen = np.arange(rare.size) - starts[of_text] < prefixes[of_text]
        return rare[chosen].astype(np.uint64), of_text[chosen]


def _words(text: str) -> list[str]:
    if has_unspaced(text):
        return split_unspaced(text.lower())
    return text.lower().translate(_PUNCTUATION).split()


def _numbered_shingles(words: Sequence[Sequence[str]]) -> tuple[Hashes, list[int]]:
    """Return a number for each run of three words, text after text, and the place where each text begins."""
    vocabulary: defaultdict[str, int] = defaultdict()
    vocabulary.default_factory = vocabulary.__len__
    lengths = np.fromiter(map(len, words), np.intp, len(words))
    flat = map(vocabulary.__getitem__, chain.from_iterable(words))
    numbers = np.fromiter(flat, np.uint64, int(lengths.sum()))
    of_text = np.repeat(np.arange(len(words)), lengths)
    base = np.uint64(max(len(vocabulary), 1))  # beyond 2.6 million words the product wraps and serves as a hash
    runs = (numbers[:-2] * base + numbers[1:-1]) * base + numbers[2:]
    starts = np.cumsum(np.maximum(lengths - 2, 0))
    return runs[of_text[2:] == of_text[:-2]], [0, *starts.tolist()]


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
