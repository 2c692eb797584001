"""The relevance of lines of logs, made by hand: which words of the question a line has, how rare its shape is, and what
went wrong.

Logs repeat themselves: of a hundred lines of one shape, the best stands for all of them. So a word is the rarer, the
fewer shapes have it, and the second line of a shape is worth little. Questions about logs rarely have their words, so
words also match abbreviations and parts of identifiers, and where the question asks why something failed, errors and
exceptions count as matches.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

import numpy as np

from ctxcompress.data.passages import Kind
from ctxcompress.data.table import Floats, Integers
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.query.terms import Question
from ctxcompress.score.corpus import Corpus, of_kinds
from ctxcompress.text.log_lines import line_shape
from ctxcompress.text.words import split_words

__all__ = ["rescore_logs"]

_LONGEST, _MOST_WORDS = 600, 24
"""Characters of a line that are read, and words that make its shape."""
_FEWEST_ALIKE = 3
"""Number of shapes with a word from which the word is no name."""
_PART = lazy_regex(r"[A-Z]{2,}(?![a-z])|[A-Z]?[a-z]{2,}")
"""A word of an identifier: camelCase, snake_case, dotted names and paths have several."""
_FAILURES = (
    r"(?<!\w)(?:fehler\w*|fehlgeschlagen|gescheitert|abgebrochen|erreurs?|échec\w*|échou\w+|errores|errore|errori"
    r"|fall(?:ó|o|os)|fallit[oaie]|erros?|falh\w+|fout(?:en)?|mislukt\w*|błęd\w*|błąd\w*|fel|hata\w*|başarısız\w*|ошибк\w*|сбо[йя]"
    r"|не удалось)\b|(?=[^\x00-\x7f])(?:错误|失败|出错|無法|无法|錯誤|失敗|エラー|できません|拒否"
    r"|오류|에러|실패|خطأ|فشل|त्रुटि|विफल|ผิดพลาด|ล้มเหลว)"
)
"""Words for errors and failures in languages other than English, of a regular expression that ignores case."""
_SEVERITIES = (
    (0.6, r"(?i)\bexit(?:ed)?(?: with)? (?:code|status) \d|\berror \d+\s*\Z"),  # tells that something failed, not why
    (
        1.0,
        r"(?<!\w)(?:[Ff]atal|FATAL|CRITICAL|PANIC|EMERG|SEVERE|Segmentation fault|core dumped|OOM|[Oo]ut of memory)\b"
        r"|\nE   |panic:|panicked",
    ),
    (
        0.9,
        r"(?<!\w)(?:ERROR|ERR!|Error|error|Exception|FAILED|FAIL|BUILD FAILURE)\b|\[E\]|: E |\*\*\* [\w\[]"
        rf"|HTTP/[\d.]+\" 5\d\d|[a-z]Error\b|xception\b|(?i:{_FAILURES})",
    ),
    (
        0.6,
        r"(?i)(?<!\w)(?:fail(?:ed|ure|s|ing)?|denied|refused|cannot|can't|could ?n[o']t|unable|undefined"
        r"|abort(?:ed|ing)?|killed|crash(?:ed)?|not found|no such|timed? ?out|timeout|unreachable|rejected|invalid"
        r"|exceeded|unexpected"
        r"|corrupt(?:ed)?|violation|conflict|missing|exited|non-zero|no space|expired"
        r"|problems?|lost|unavailable|does(?: not|n't)|not ok|interrupted|mismatch\w*|too (?:few|many|large|long|big)"
        r"|because|due to|reason|disabled|not enabled|skipp(?:ed|ing)|ignor(?:ed|ing))\b",
    ),
    (0.4, r"(?i)(?<!\w)(?:WARN(?:ING)?|deprecated|retry(?:ing)?)\b|HTTP/[\d.]+\" 4\d\d"),
)
"""(how bad it is, what says so), in the order in which they are looked for."""
_SAYS = tuple((severity, lazy_regex(said)) for severity, said in _SEVERITIES)
_COLOUR = lazy_regex(r"(?:\x1b|\^\[)\[[\d;]*m")
"""A colour of a terminal, also with its first character written out, as GitHub's client prints it."""
_WRONG = 0.9
"""The least severity of a line that what is near it may belong to."""
_NEAR, _FARTHER = 0.5, 0.85
"""The share of it that the next rare line has, and how much less each further one has."""
_BELOW = 8
"""How many lines below have some."""

Shape = tuple[str, ...]


@dataclass(frozen=True)  # without slots: cached properties serve the next query
class _Lines:
    """The segments that are lines of logs, and the number of the shape that each of them has."""

    numbers: Integers
    """The numbers of the segments."""
    texts: Sequence[str]
    shape: Integers
    """The number of the shape of each, from 0."""
    document: Integers
    """The number of the document of each."""

    @classmethod
    def of(cls, corpus: Corpus) -> "_Lines":
        """Find the lines of logs, of which there are some, and their shapes."""
        table = corpus.table
        numbers = np.flatnonzero(of_kinds(table, (Kind.LOG,)))
        texts = [_COLOUR.sub("", table.texts[number][:_LONGEST]) for number in numbers.tolist()]
        shapes = _without_names([tuple(line_shape(text, _LONGEST)[:_MOST_WORDS]) for text in texts])
        known: dict[Shape, int] = {}
        of_lines = [known.setdefault(shape, len(known)) for shape in shapes]
        return cls(numbers, texts, np.array(of_lines, dtype=np.intp), table.documents[numbers])

    @cached_property
    def rarity(self) -> Floats:
        """How rare each line's shape is: 1 for the only line of its shape, about 0 if all lines have it."""
        return np.asarray(1 - np.log(np.bincount(self.shape)[self.shape]) / np.log(self.shape.size + 1))

    @cached_property
    def severity(self) -> Floats:
        """How bad each line says that things are, from 0 to 1.

        Rare lines have a share of that of a line right above them, because they say what it is about: the place, what
        was expected.
        """
        severity = np.array([_severity(text) for text in self.texts])
        wrong, near = np.where(severity >= _WRONG, severity, 0.0), severity.copy()
        for far in range(1, min(_BELOW, severity.size - 1) + 1):
            share = _NEAR * _FARTHER ** (far - 1) * (self.document[far:] == self.document[:-far])
            near[far:] = np.maximum(near[far:], share * wrong[:-far] * self.rarity[far:])
        return near


def _without_names(shapes: Sequence[Shape]) -> Sequence[Shape]:
    """Return the shapes without the words that few others have, which are names, where they are fewer than the rest."""
    distinct = dict.fromkeys(shapes)
    times = Counter(word for shape in distinct for word in set(shape))
    patterns = {shape: tuple(word if times[word] >= _FEWEST_ALIKE else "*" for word in shape) for shape in distinct}
    same = {shape: of if 2 * of.count("*") < len(of) else shape for shape, of in patterns.items()}
    return [same[shape] for shape in shapes]


def _severity(text: str) -> float:
    return next((severity for severity, said in _SAYS if said.search(text)), 0.0)


_ALIKE = 0.6
"""The weight of a word that has a term as a part or is an abbreviation of it, where the term itself has 1."""
_SHORTEST, _SHORTEST_WITHIN = 3, 5
"""Letters of a term that a word begins or ends with, and of one that it contains or abbreviates."""
_RARE, _CLOSE = 0.3, 0.7
"""The weights of a rare shape and of closeness in meaning, relative to the best line."""
_OF_SEVERITY = 0.8
"""The weight of a rare line's severity where the question asks what went wrong, relative to a line with all words."""
_MOST_TERMS = 64
"""The most terms of a question that are looked for: memory grows with them and with the lines."""
_STEEP = 3
"""How much lines that say what went wrong come before the others where the question asks for them: a power."""
_AGAIN, _MOST_AGAIN = 0.3, 3
"""The factor for each better line of the same shape, and how many of them count."""
_LEAST_PROBABILITY = 0.02
"""The least score of the best line: questions about logs rarely have their words. Where no line has a word of the
question, other text comes first."""
_ASKS_WHAT_WENT_WRONG = lazy_regex(
    r"(?<![\w-])(?:why|wrong|fail\w*|errors?|exceptions?|crash\w*|caus\w+|problems?|broken?|breaks?|bugs?|abort\w*"
    r"|panic\w*|issues?|root cause|happened|warum|wieso|weshalb|schief\w*|pourquoi|por qué|mal|perché|por que|waarom"
    r"|dlaczego|varför|hvorfor|neden|почему|чому|не так)(?![\w-])"
    rf"|为什么|为何|為什麼|なぜ|どうして|問題|问题|왜|لماذا|क्यों|ทำไม|{_FAILURES}",
    re.IGNORECASE,
)
"""Words that ask what went wrong. A part of a compound does not: a break-in is no break."""


def rescore_logs(question: Question, corpus: Corpus, scores: Floats, closeness: Floats | None = None) -> Floats:
    """Return the scores with those of the lines of logs replaced. The best line keeps the best of their scores.

    closeness: how close in meaning each segment is, in standard deviations, if an encoder tells.
    """
    if Kind.LOG not in corpus.table.kinds:
        return scores
    lines, wanted = corpus.once(_Lines.of), question.wanted
    asks = _ASKS_WHAT_WENT_WRONG.search(question.text) is not None
    if asks:
        asking = question.terms.of_words(split_words(" ".join(_ASKS_WHAT_WENT_WRONG.findall(question.text))))
        wanted = {term: weight for term, weight in wanted.items() if (term,) not in asking.values()}
    value = _matched(corpus, lines, question, dict(islice(wanted.items(), _MOST_TERMS)))
    if asks:
        # What happens again and again is less of an event.
        value = value + _OF_SEVERITY * lines.severity * (1 + lines.rarity) / 2
    says_nothing = not value.any() and lines.numbers.size < scores.size
    best = value.max() or 1.0
    value = value + _RARE * best * lines.rarity
    if closeness is not None:
        value += _CLOSE * best * _share_of_range(closeness[lines.numbers])
    value *= _without_repetition(value, lines)
    rescored = scores.copy()
    of_best = max(scores[lines.numbers].max(), 0.0 if says_nothing else _LEAST_PROBABILITY)
    rescored[lines.numbers] = of_best * (value / (value.max() or 1.0)) ** (_STEEP if asks else 1)
    return rescored


def _parts(corpus: Corpus) -> Mapping[str, Sequence[str]]:
    """Return the words of identifiers in lower case -> the identifiers."""
    found: dict[str, list[str]] = defaultdict(list)
    for word in corpus.concordance.vocabulary:
        for part in _PART.findall(word):
            found[part.lower()].append(word)
    return found


def _matched(corpus: Corpus, lines: _Lines, question: Question, wanted: Mapping[str, float]) -> Floats:
    """Return the share of the query's weight that each line has."""
    if not wanted:
        return np.zeros(lines.numbers.size)
    has = _occurrences(corpus, question, wanted)[lines.numbers]
    weights = np.array(list(wanted.values())) * _rarity_of_terms(has, lines)
    return np.asarray(has @ weights / sum(wanted.values()))


def _occurrences(corpus: Corpus, question: Question, wanted: Mapping[str, float]) -> Floats:
    """Return how well each segment has each term, shape (segments, terms): 1 for itself, less for a word alike."""
    matching = question.terms.matching(corpus.concordance.vocabulary, wanted)
    alike = _alike(corpus.once(_parts), wanted, question.ignored)
    words = {word: number for number, word in enumerate({**matching, **alike})}
    worth, has = np.zeros((len(words), len(wanted))), np.zeros((len(corpus.words), len(wanted)))
    for hits_of, value in ((alike, _ALIKE), (matching, 1.0)):
        for word, hits in hits_of.items():
            worth[words[word], hits] = value
    found = corpus.in_segments([*words])
    np.maximum.at(has, found.text, worth[found.word])
    return has


def _alike(
    parts: Mapping[str, Sequence[str]], wanted: Collection[str], ignored: Collection[str]
) -> Mapping[str, Sequence[int]]:
    """Return identifier -> the terms that a part of it abbreviates, begins or ends with, or contains."""
    found: dict[str, list[int]] = defaultdict(list)
    joined = "\n".join(parts)
    for number, term in enumerate(wanted):
        is_long, near = len(term) >= _SHORTEST_WITHIN, set[str]()
        if is_long:
            near = parts.keys() & {term[:size] for size in range(_SHORTEST, len(term))}
        if len(term) >= _SHORTEST and term in joined:
            near |= {
                part for part in parts if term in part and (is_long or part.startswith(term) or part.endswith(term))
            }
        for part in near.difference(ignored):
            for word in parts[part]:
                found[word].append(number)
    return found


def _rarity_of_terms(has: Floats, lines: _Lines) -> Floats:
    """Return the inverse frequency of each term among shapes, relative to that of a term of one shape."""
    shapes = int(lines.shape.max()) + 1
    line, term = has.nonzero()
    of_shapes = np.unique(lines.shape[line] * has.shape[1] + term) % has.shape[1]
    frequency = np.bincount(of_shapes, minlength=has.shape[1])
    return np.asarray(np.log(1 + (shapes - frequency + 0.5) / (frequency + 0.5)) / np.log(1 + (shapes - 0.5) / 1.5))


def _share_of_range(values: Floats) -> Floats:
    """Return the values from 0 for the least to 1 for the greatest."""
    least, greatest = values.min(), values.max()
    return (values - least) / (greatest - least) if greatest > least else np.zeros_like(values)


def _without_repetition(value: Floats, lines: _Lines) -> Floats:
    """Return a factor for each line: 1 for the best of a shape, less for each one after it."""
    order = np.argsort(-value, kind="stable")
    seen = np.zeros(int(lines.shape.max()) + 1, dtype=int)
    again = np.zeros(value.size, dtype=int)
    for place in order.tolist():
        again[place] = seen[lines.shape[place]]
        seen[lines.shape[place]] += 1
    return np.asarray(_AGAIN ** np.minimum(again, _MOST_AGAIN).astype(float))
