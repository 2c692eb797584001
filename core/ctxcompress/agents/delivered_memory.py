"""What is known of the part of a context that was delivered before, so that adding to it reads only new text.

Everything here follows from the delivered context: it saves time and decides nothing. A memory that grows is a new
object, so that several threads can go on from the same one. What is only sometimes needed is computed when it is, and
later memories go on from there.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ctxcompress.code.elision import GAP
from ctxcompress.data.passages import Passage, Span, joined, shown
from ctxcompress.data.results import KeptPassage
from ctxcompress.pipeline.analysis import Analyser, AnalysisOptions, read_together, segments_of
from ctxcompress.pipeline.call_cache import ReadText
from ctxcompress.pipeline.task import DeliveredContext
from ctxcompress.reduce.reduction import DeliveredTexts
from ctxcompress.segment.conversation import LoneTurn, lone_turn, recorded_speaker
from ctxcompress.select.repetition import DeliveredRuns, unit_texts
from ctxcompress.text.tokens import Encoding, TokenCounter

__all__ = ["DeliveredMemory"]


@dataclass(slots=True)
class DeliveredMemory:
    """A delivered context, with all that later adds need to know of it."""

    context: DeliveredContext = field(default_factory=DeliveredContext)
    passages: Sequence[Passage] = ()
    """The delivered parts as passages. An incomplete one has no embedding, because it was made of the whole text."""
    texts: DeliveredTexts = field(default_factory=DeliveredTexts)
    _spans: Mapping[str, tuple[Span, ...]] = field(default_factory=dict)
    """Original text -> its delivered spans."""
    _beginning: tuple[str, int] = ("", 0)
    """See `TokenCounter.stable_beginning`."""
    _runs: DeliveredRuns = field(default_factory=DeliveredRuns)
    _readings: dict[str, tuple["_Reading", ...]] = field(default_factory=dict)
    """Language -> the analysed texts, as far as they were needed."""
    _units: dict[str, "_Units"] = field(default_factory=dict)
    """Language -> what was last compared."""

    def extended(self, context: DeliveredContext) -> "DeliveredMemory":
        """Return the memory of a context that begins with this one. `stands_for` may differ in its parts."""
        new = context.parts[len(self.context.parts) :]
        passages = list(map(_as_passage, new))
        spans = dict(self._spans)
        for part in new:
            text = part.original.text
            spans[text] = joined(sorted((*spans.get(text, ()), *part.spans)))
        return DeliveredMemory(
            context,
            (*self.passages, *passages),
            self.texts.extended(passages),
            spans,
            self._beginning,
            self._runs,
            dict(self._readings),
            dict(self._units),
        )

    def counter(self, encoding: Encoding) -> TokenCounter:
        """Return a counter that counts only what comes after the delivered text, where the encoding allows it."""
        self._beginning = TokenCounter(encoding, self._beginning).stable_beginning(self.context.text)
        return TokenCounter(encoding, self._beginning)

    def runs(self) -> Collection[int]:
        """Return the hashes of the runs of words of the delivered text."""
        self._runs = self._runs.extended(self.context.text)
        return self._runs.hashes

    def spans_of(self, passages: Iterable[tuple[int, Passage]]) -> dict[int, tuple[Span, ...]]:
        """Return the delivered spans by number, for numbered passages whose original text was delivered before."""
        return {number: self._spans[passage.text] for number, passage in passages if passage.text in self._spans}

    def unit_texts(self, analyser: Analyser, options: AnalysisOptions) -> Collection[str]:
        """Return the texts of all delivered sentences, tables and code blocks: see `select.repetition`."""
        language = options.language
        known = self._readings.get(language, ())
        new = [_Reading.of(passage, analyser.read_text(passage, language)) for passage in self.passages[len(known) :]]
        readings = self._readings[language] = (*known, *new)
        units = self._units[language] = self._units.get(language, _Units()).extended(readings, options)
        if not units.unsure:
            return units.texts
        # What a single line such as "Anna: To the lake." is, the other texts show.
        turns = [reading.lone for reading in readings]
        together = read_together([reading.read for reading in readings], self.passages, language, turns)
        unsure = (readings[number].unit_texts(options, together[number]) for number in units.unsure)
        return units.texts.union(*unsure)


@dataclass(frozen=True, slots=True)
class _Reading:
    """An analysed text, with what is compared of it."""

    read: ReadText
    lone: LoneTurn | None
    """The turn, if the text may be a single one."""
    is_unsure: bool
    """Whether the other texts decide how it is segmented: it may be a turn by its line or by its metadata."""
    units: dict[int, Sequence[str]] = field(default_factory=dict)
    """The length of whole functions, 0 for prose -> the texts to compare."""

    @classmethod
    def of(cls, passage: Passage, read: ReadText) -> "_Reading":
        lone = lone_turn(read.text) if read.prose else None
        return cls(read, lone, lone is not None or recorded_speaker(passage.metadata) is not None)

    def unit_texts(self, options: AnalysisOptions, beside_others: ReadText | None = None) -> Sequence[str]:
        """beside_others: the text as `read_together` returns it, if it may be a single turn."""
        if beside_others is not None and beside_others is not self.read:
            return unit_texts(beside_others.text, beside_others.prose)
        whole = options.whole if self.read.outline else 0
        if whole not in self.units:
            self.units[whole] = unit_texts(self.read.text, segments_of(self.read, options))
        return self.units[whole]


@dataclass(frozen=True, slots=True)
class _Units:
    """The texts that are compared of the first readings."""

    count: int = 0
    """The number of these readings."""
    whole: int = 0
    """The length of whole functions."""
    texts: frozenset[str] = frozenset()
    unsure: Sequence[int] = ()
    """The numbers of the texts that the others decide about, which `texts` leaves out."""

    def extended(self, readings: Sequence[_Reading], options: AnalysisOptions) -> "_Units":
        """Return the texts of all readings, which begin with those that are known."""
        known = self if self.whole == options.whole else _Units()
        if known.count == len(readings):
            return known
        new = readings[known.count :]
        texts = (reading.unit_texts(options) for reading in new if not reading.is_unsure)
        unsure = (number for number, reading in enumerate(new, known.count) if reading.is_unsure)
        return _Units(len(readings), options.whole, known.texts.union(*texts), (*known.unsure, *unsure))


def _as_passage(part: KeptPassage) -> Passage:
    """Return the part as a passage, without the gap markers of prose, which are no part of any sentence."""
    if part.untouched:
        return part.original
    markers = [marker._replace(text=marker.text.replace(GAP, "")) for marker in part.markers]
    text = part.text if part.metadata_only else shown(part.original.text, part.spans, markers)
    return replace(part.original, text=text, embedding=None)
