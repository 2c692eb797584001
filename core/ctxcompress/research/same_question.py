"""Tells whether two questions ask for the same thing.

Vectors place a question and its opposite close together: "before tax" and "after tax", "Alice told Bob" and "Bob told
Alice". So similarity alone does not decide. These rules find what makes two similar questions different; they rather
separate two that are the same.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.query.focus import without_courtesy
from ctxcompress.reduce.differences import Particulars
from ctxcompress.text.language import STOP_WORDS, detect_language
from ctxcompress.text.spelling import fold
from ctxcompress.text.words import Terms, split_words

__all__ = ["QuestionForm", "ask_the_same"]

_PRONOUN = lazy_regex(r"\bI\b(?!['\u2019.\-])")
_POSSESSIVE = lazy_regex(r"['\u2019]s\b")
_NAME = lazy_regex(r"(?<=\S\s)[^\W\d_a-z][\w'\u2019-]*+")
_ASKING = frozenset(
    "answer describ display explain find give know list overview pleas possibl show summar tell want".split()
)
"""Terms that say that something is asked, and not what."""
_WH: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("who", "whom"), "who"),
        **dict.fromkeys(("what", "which"), "what"),
        **{word: word for word in ("whose", "when", "where", "why", "how")},
    }
)
_DO = frozenset(("do", "does", "did"))
_BE_OR_HAVE = frozenset("is are was were be been has have had can could will would should must may might shall".split())
_CLASSES: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("was", "were", "did", "had"), "past"),
        **dict.fromkeys(("will", "would"), "future"),
        **dict.fromkeys(("should", "must", "shall"), "duty"),
    }
)
"""Function words that tell questions apart by what they stand for."""
_TELLING = frozenset(
    "above after against all before below both down during each further into more most not off once only other out "
    "over same through under until up without".split()
)
"""Function words that tell questions apart."""
_EMPTY = frozenset("a an and for i in me my of the to your".split())
"""Function words that do not even tell keywords apart."""
_DIRECTIONS = frozenset(("by", "from", "into", "than", "to"))
_BEFORE_A_VERB = frozenset("able going have how like need needed possible want way".split())
"""Before "to", which then stands before a verb and not before a place."""


@dataclass(frozen=True, slots=True)
class QuestionForm:
    """A question and what tells it apart from similar ones."""

    text: str
    language: str
    words: tuple[str, ...]
    """All words, as stems."""
    terms: frozenset[str]
    """The content words, as stems, without those that only say that something is asked."""
    kind: str
    """What is asked for: "who", "what", "yes or no" and so on; "" for keywords."""
    telling: frozenset[str]
    """Function words that matter."""
    targets: Mapping[str, str]
    """Word of a direction -> the content word after it, "" if there is none."""
    names: tuple[str, ...]
    """Words with a capital letter, except at the beginning."""

    @classmethod
    @lru_cache(maxsize=2_048)
    def of(cls, question: str) -> "QuestionForm":
        """Read a question without greetings and thanks. Questions that were read lately are remembered."""
        text = _PRONOUN.sub("i", without_courtesy(question).strip().rstrip("?.! \u061f\uff1f"))
        text = _POSSESSIVE.sub("", text)
        language = detect_language(text)
        plain = [fold(word.lower()) for word in split_words(text)]
        stems = _stems(plain, language)
        stop = STOP_WORDS.get(language, frozenset())
        content = [stem if word not in stop else "" for word, stem in zip(plain, stems, strict=True)]
        terms = frozenset(stem for stem in content if stem)
        kind = _kind(plain)
        return cls(
            text=text,
            language=language,
            words=tuple(stems),
            terms=terms - _ASKING,
            kind=kind,
            telling=frozenset(_telling(plain) if kind else (word for word in plain if word in stop - _EMPTY)),
            targets=MappingProxyType(dict(_targets(plain, content))),
            names=tuple(_NAME.findall(text)),
        )

    @property
    def is_read(self) -> bool:
        """Whether the language is one whose questions these rules can read."""
        return self.language == "en"


def ask_the_same(one: QuestionForm, other: QuestionForm) -> bool:
    """Tell whether nothing is found that makes two similar questions different.

    In English, both must have the same content words, numbers, names and negations, ask for the same kind of thing, and
    agree in tense, in function words such as "before" and "only", and in who does what to whom. In other languages they
    must have the same words in the same order, apart from case and punctuation.
    """
    if one.words == other.words and one.names == other.names:
        return _same_particulars(one, other)
    if not (one.is_read and other.is_read) or not one.terms or one.terms != other.terms:
        return False
    return (
        sorted(one.words) != sorted(other.words)  # the same words in another order: who does it to whom
        and _same_kind(one.kind, other.kind)
        and one.telling == other.telling
        and _same_roles(one, other)
        and _same_particulars(one, other)
    )


def _same_kind(one: str, other: str) -> bool:
    """Tell whether two kinds are the same, or one is of keywords, which ask what or how."""
    kinds = {one, other}
    return len(kinds) == 1 or ("" in kinds and bool(kinds & {"what", "how"})) or _is_loose(one, other)


def _is_loose(one: str, other: str) -> bool:
    """Tell whether one of two kinds with the same question word says nothing of the subject."""
    return one.split()[:1] == other.split()[:1] and " " not in min(one, other, key=len)


def _same_roles(one: QuestionForm, other: QuestionForm) -> bool:
    shared = one.targets.keys() & other.targets.keys()
    if any(one.targets[word] != other.targets[word] for word in shared):
        return False
    if sorted(one.names) == sorted(other.names) and one.names != other.names:
        return False
    for passive, active in ((one, other), (other, one)):
        if "by" in passive.targets and "by" not in active.targets and not _is_active(passive.targets["by"], active):
            return False
    return True


def _is_active(agent: str, active: QuestionForm) -> bool:
    """Tell whether the agent of a passive question, as the subject of another, comes before its last content word."""
    content = [word for word in active.words if word in active.terms]
    return not agent or (agent in content and content[-1] != agent)


def _same_particulars(one: QuestionForm, other: QuestionForm) -> bool:
    """Tell whether both have the same numbers, names, negations and code."""
    found = Particulars([one.text, other.text])
    return found.kept_by(0, 1) and found.kept_by(1, 0)


def _stems(words: Sequence[str], language: str) -> list[str]:
    terms = Terms(language).of_words(words)
    return [terms[word][0] if terms[word] else word for word in words]


def _kind(words: Sequence[str]) -> str:
    """Return the kind of a question: its question word, and whether that is its subject ("who runs") or not ("who does
    he run")."""
    for place, word in enumerate(words):
        if word in _WH:
            return _WH[word] + _subject(_WH[word], words[place + 1 :])
    is_question = bool(words) and words[0] in (_DO | _BE_OR_HAVE)
    return "yes or no" if is_question else ""


def _subject(kind: str, rest: Sequence[str]) -> str:
    if kind not in ("who", "what"):
        return ""
    if any(word in _DO for word in rest):
        return " as object"
    return "" if any(word in _BE_OR_HAVE for word in rest) else " as subject"


def _telling(words: Sequence[str]) -> Iterator[str]:
    for word in words:
        if word in _CLASSES:
            yield _CLASSES[word]
        elif word in _TELLING:
            yield word


def _targets(words: Sequence[str], content: Sequence[str]) -> Iterator[tuple[str, str]]:
    """content: the stem of each content word, "" for other words."""
    for place, word in enumerate(words):
        if word not in _DIRECTIONS or (word == "to" and place and words[place - 1] in _BEFORE_A_VERB):
            continue
        yield word, next((stem for stem in content[place + 1 :] if stem), "")
