"""A question as the scorer sees it: its text, its terms with their weights, and the function words of its language."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ctxcompress.query.terms import main_question, query_terms
from ctxcompress.text.language import STOP_WORDS
from ctxcompress.text.words import Terms, split_words

__all__ = ["Question"]

_FUNCTION_WEIGHT = 0.15
"""The weight of function words where they count."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question and how its words are compared."""

    text: str
    """The part of it that asks."""
    wanted: Mapping[str, float]
    """Its terms and their synonyms, with their weights."""
    terms: Terms
    ignored: frozenset[str]
    """The function words of the language."""

    @classmethod
    def of(cls, text: str, language: str, synonyms: Mapping[str, Sequence[str]]) -> "Question":
        terms, asking = Terms(language), main_question(text, language)
        wanted = query_terms(text, language=language, terms=terms, synonyms=synonyms, question=asking)
        return cls(asking, wanted, terms, STOP_WORDS.get(language, frozenset()))

    def beside_names(self) -> "Question":
        """Return the question with its function words, for texts that have none of its other words but speakers'
        names: "Until when is Bo off?" asks for more than for Bo."""
        words = (word for word in split_words(self.text) if word.lower() in self.ignored)
        function = {term for of_word in self.terms.of_words(words).values() for term in of_word}
        return replace(self, wanted={**dict.fromkeys(function, _FUNCTION_WEIGHT), **self.wanted})
