"""The shapes of the lines of logs: a line without what differs from one time to the next."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ctxcompress.data.passages import Kind
from ctxcompress.data.table import Floats, Integers, SegmentTable
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.text.log_lines import LineKind, line_shape, log_lines

__all__ = ["FAILURES", "LineShapes"]

_LOG = Kind.LOG  # ten times as fast as an attribute of an enum
_LONGEST = 400
"""Characters of a line that make its shape."""
_MOST_WORDS = 24
_FEWEST_ALIKE = 3
"""Number of shapes that differ in one word from which the word is a name, and the shapes are one."""
_MOST_SHAPES = 5_000
"""With more shapes, names are not looked for: it would take too much memory."""
_PART = lazy_regex(r"[A-Z]{2,}(?![a-z])|[A-Z]?[a-z]{2,}")
"""A word of an identifier: camelCase, snake_case, dotted names and paths have several."""
FAILURES = (
    r"\b(?:fehler\w*|fehlgeschlagen|gescheitert|abgebrochen|erreurs?|échec\w*|échou\w+|errores|errore|errori"
    r"|fall(?:ó|o|os)|fallit[oaie]|erros?|falh\w+|fout(?:en)?|mislukt\w*|błęd\w*|błąd\w*|fel|hata\w*|başarısız\w*|ошибк\w*|сбо[йя]"
    r"|не удалось)\b|错误|失败|出错|無法|无法|錯誤|失敗|エラー|できません|拒否"
    r"|오류|에러|실패|خطأ|فشل|त्रुटि|विफल|ผิดพลาด|ล้มเหลว"
)
"""Words for errors and failures in languages other than English, of a regular expression that ignores case."""
_SEVERITIES = (
    (0.6, r"(?i)\bexit(?:ed)?(?: with)? (?:code|status) \d|\berror \d+\s*\Z"),  # tells that something failed, not why
    (
        1.0,
        r"\b(?:[Ff]atal|FATAL|CRITICAL|PANIC|EMERG|SEVERE|Segmentation fault|core dumped|OOM|[Oo]ut of memory)\b"
        r"|\nE   |panic:|panicked",
    ),
    (
        0.9,
        r"\b(?:ERROR|ERR!|Error|error|Exception|FAILED|FAIL|BUILD FAILURE)\b|\[E\]|: E |\*\*\*|HTTP/[\d.]+\" 5\d\d"
        rf"|[a-z]Error\b|xception\b|(?i:{FAILURES})",
    ),
    (
        0.6,
        r"(?i)\b(?:fail(?:ed|ure|s|ing)?|denied|refused|cannot|can't|could ?n[o']t|unable|undefined|abort(?:ed|ing)?"
        r"|killed|crash(?:ed)?|not found|no such|timed? ?out|timeout|unreachable|rejected|invalid|exceeded|unexpected"
        r"|corrupt(?:ed)?|violation|conflict|missing|exited|non-zero|no space|expired"
        r"|problems?|lost|unavailable|does(?: not|n't)|not ok|interrupted|mismatch\w*|too (?:few|many|large|long|big)"
        r"|because|due to|reason|disabled|not enabled|skipp(?:ed|ing)|ignor(?:ed|ing))\b",
    ),
    (0.4, r"(?i)\bWARN(?:ING)?\b|HTTP/[\d.]+\" 4\d\d|\bdeprecated\b|\bretry(?:ing)?\b"),
)
"""(how bad it is, what says so), in the order in which they are looked for."""
_SAYS = tuple((severity, lazy_regex(said)) for severity, said in _SEVERITIES)
_READ = 600
"""Characters of a segment in which its severity is looked for."""
_COLOUR = lazy_regex(r"\x1b\[[\d;]*m")
_OF_FRAME = 0.3
_OF_EXCEPTION = 0.95
"""The severity of the line of an exception, which names its kind alone: KeyError: 'x'."""
_WRONG = 0.9
"""The least severity of a line that what is near it may belong to."""
_NEAR, _FARTHER = 0.5, 0.85
"""The share of it that the next rare line has, and how much less each further one has."""
_BELOW, _ABOVE = 8, 2
"""How many lines below and above have some."""
_WORD = lazy_regex(r"\w")

Shape = tuple[str, ...]


@dataclass(frozen=True)  # without slots: cached properties serve the next query
class LineShapes:
    """The segments that are lines of logs, and the number of the shape that each of them has."""

    numbers: Integers
    """The numbers of the segments."""
    shape: Integers
    """The number of the shape of each, from 0."""
    table: SegmentTable

    @classmethod
    def of(cls, table: SegmentTable) -> "LineShapes":
        """Find the lines of logs and their shapes."""
        lines = enumerate(table.segments) if _LOG in table.kinds else ()
        numbers = [number for number, segment in lines if segment[0] is _LOG]
        shapes = _without_names([_shape(table.texts[number]) for number in numbers])
        known: dict[Shape, int] = {}
        of_lines = [known.setdefault(shape, len(known)) for shape in shapes]
        return cls(np.array(numbers, dtype=np.intp), np.array(of_lines, dtype=np.intp), table)

    @property
    def texts(self) -> Sequence[str]:
        return [self.table.texts[number] for number in self.numbers.tolist()]

    @cached_property
    def rarity(self) -> Floats:
        """How rare each line's shape is: 1 for the only line of its shape, about 0 if all lines have it."""
        times = np.bincount(self.shape)[self.shape] if self.shape.size else np.zeros(0)
        rare: Floats = 1 - np.log(np.maximum(times, 1)) / np.log(self.shape.size + 1)
        rare[self._says_little] = 0.0
        return rare

    @cached_property
    def parts(self) -> Mapping[str, Sequence[int]]:
        """Word of an identifier in lower case -> the lines that have it, as places in `numbers`."""
        places: dict[str, list[int]] = defaultdict(list)
        for place, text in enumerate(self.texts):
            for part in {part.lower() for part in _PART.findall(text)}:
                places[part].append(place)
        return places

    @cached_property
    def severity(self) -> Floats:
        """How bad each line says that things are, from 0 to 1. A frame counts more if its exception is near."""
        found = np.array([_severity(text) for text in self.texts])
        for place in self._frames:
            number = int(self.numbers[place])
            for cause in self.table.needs(number):
                found[place] = _OF_FRAME / abs(number - cause) ** 0.5
                found[self._places[cause]] = max(found[self._places[cause]], _OF_EXCEPTION)
        return self._with_near(found)

    def _with_near(self, severity: Floats) -> Floats:
        """Return the severity, where rare lines have a share of that of a line right above or below them.

        They say what it is about: the place, what was expected, the test.
        """
        document = self.table.documents[self.numbers]
        wrong, near = np.where(severity >= _WRONG, severity, 0.0), severity.copy()
        for far in range(1, min(_BELOW, severity.size - 1) + 1):
            share = _NEAR * _FARTHER ** (far - 1) * (document[far:] == document[:-far])
            near[far:] = np.maximum(near[far:], share * wrong[:-far] * self.rarity[far:])
            if far <= _ABOVE:
                near[:-far] = np.maximum(near[:-far], share * wrong[far:] * self.rarity[:-far])
        return near

    def of_needed(self, values: Floats) -> Floats:
        """Return the greatest of the values, shape (rows, lines), of what each line needs; 0 if it needs nothing."""
        found = np.zeros_like(values)
        for place, number in enumerate(self.numbers.tolist()):
            for other in self.table.needs(number):
                if other in self._places:
                    found[:, place] = np.maximum(found[:, place], values[:, self._places[other]])
        return found

    @cached_property
    def _places(self) -> Mapping[int, int]:
        """Number of a segment -> its place in `numbers`."""
        return {number: place for place, number in enumerate(self.numbers.tolist())}

    @cached_property
    def _frames(self) -> Sequence[int]:
        """The places of frames that need an exception."""
        return [
            place
            for place, number in enumerate(self.numbers.tolist())
            if self.table.segments[number].needs and next(log_lines(self.table.texts[number])).kind is LineKind.FRAME
        ]

    @cached_property
    def _says_little(self) -> list[int]:
        """The lines without a word, and those of diffs that did not change."""
        numbered = zip(self.numbers.tolist(), self.texts, strict=True)
        is_piece = [bool(self.table.segments[number].needs) and _is_context(text) for number, text in numbered]
        return [place for place, text in enumerate(self.texts) if is_piece[place] or not _WORD.search(text)]


def _is_context(text: str) -> bool:
    """Tell whether a part of a diff did not change."""
    return text[:1] in (" ", "@") and all(line[:1] in (" ", "@", "") for line in text.split("\n"))


def _shape(text: str) -> Shape:
    return tuple(line_shape(text, _LONGEST)[:_MOST_WORDS])


def _without_names(shapes: Sequence[Shape]) -> Sequence[Shape]:
    """Return the shapes, where those that differ in one word from several others are one: the word is a name."""
    distinct = dict.fromkeys(shapes)  # in order, so that the result does not depend on hashes
    if len(distinct) > _MOST_SHAPES:
        return shapes
    alike: dict[Shape, list[Shape]] = defaultdict(list)
    for shape in distinct:
        for wider in _wider(shape):
            alike[wider].append(shape)
    same: dict[Shape, Shape] = {}
    for wider, narrow in alike.items():
        if len(narrow) >= _FEWEST_ALIKE:
            for shape in narrow:
                same.setdefault(shape, wider)
    return [same.get(shape, shape) for shape in shapes] if same else shapes


def _wider(shape: Shape) -> Iterable[Shape]:
    if len(shape) > 2:
        for place in range(len(shape)):
            yield (*shape[:place], "*", *shape[place + 1 :])


def _severity(text: str) -> float:
    read = _COLOUR.sub("", text[:_READ]) if "\x1b" in text else text[:_READ]
    return next((severity for severity, said in _SAYS if said.search(read)), 0.0)
