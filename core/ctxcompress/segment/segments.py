"""Segmentation of any text, alone and beside others."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from ctxcompress.data.passages import Kind, Node, Segment
from ctxcompress.segment.conversation import LoneTurn, Turn, is_said, lone_turn
from ctxcompress.segment.data_records import is_data, record_segments
from ctxcompress.segment.formats import Read, read
from ctxcompress.segment.prose import conversation_segments, prose_segments, turn_segments
from ctxcompress.segment.sentences import is_prose_line, segment_lines
from ctxcompress.segment.source_code import WHOLE, code_segments

__all__ = [
    "LoneTurn",
    "Read",
    "lone_turn",
    "read_each",
    "read_text",
    "segment",
    "segment_outlined",
    "segments_together",
]

# A name is ten times as fast as an attribute of an enum.
_HEADING = Kind.HEADING
_AGAIN = 3
"""The least number of texts that begin with a name if only their number tells that it is one."""
_SAID_AGAIN = 0.3
"""The least share of these texts with signs of speech."""


def segment(text: str, *, language: str = "en", name: str | None = None) -> list[Segment]:
    """Return the segments of `text` in order. Together they are exactly `text`. An empty text has none.

    language: ISO 639-1 code, for the sentence rules. name: file name or path, if known. Its extension distinguishes
    code from prose better than the content.
    """
    nodes, segments = read_text(text, language=language, name=name)
    return segment_outlined(text, nodes) if nodes else segments


def read_text(text: str, *, language: str, name: str | None) -> Read:
    """Return `read_each` of one text."""
    return read_each([text], [name], language=language)[0]


def read_each(texts: Sequence[str], names: Sequence[str | None], *, language: str) -> list[Read]:
    """Return the outline of each text if it is source code or data, or its segments if it is prose.

    The segments of what has an outline depend on the budget: see `segment_outlined`.
    """
    lines = [text for text in texts if is_prose_line(text)]
    found = dict(zip(lines, segment_lines(lines, language), strict=True))
    pairs = zip(texts, names, strict=True)
    return [((), found[text]) if text in found else read(text, name, language) for text, name in pairs]


def segment_outlined(text: str, nodes: Sequence[Node], *, whole: int = WHOLE) -> list[Segment]:
    """Return the segments of a text that has an outline.

    nodes: the outline. whole: the most characters of a function that is one segment.
    """
    if is_data(nodes):
        return record_segments(text, nodes, whole)
    return code_segments(text, nodes, whole)


def segments_together(
    texts: Sequence[str],
    segmented: Sequence[Sequence[Segment]],
    language: str,
    speakers: Sequence[str | None] = (),
    turns: Sequence[LoneTurn | None] | None = None,
) -> dict[int, list[Segment]]:
    """Return number of a text -> other segments for it, where the other texts show what it is.

    A text of one line such as "Anna: To the lake." is a turn if Anna speaks in another text, too, or if all texts may
    be turns of people who speak more than once. A text that only looks like a turn, such as "Shipping: We deliver
    everywhere.", is none if no other text has that speaker and most texts are no turns. Texts whose metadata say who
    speaks are turns if there are at least two, except for texts with headings, which are documents that somebody wrote.

    texts: those of prose. segmented: the segments of each. speakers: who speaks, by the metadata of each. turns: the
    `lone_turn` of each, if known.
    """
    changed = _by_lines(texts, segmented, language, map(lone_turn, texts) if turns is None else turns)
    recorded = [number for number, speaker in enumerate(speakers) if speaker and texts[number]]
    for number in recorded if len(recorded) > 1 else ():
        speaker = speakers[number]
        if speaker and not any(part.kind in (_HEADING, Kind.TURN) for part in changed.get(number, segmented[number])):
            said = Turn(0, 0, len(texts[number]))
            changed[number] = list(turn_segments(texts[number], said, 0, 0, (), speaker, language))
    return changed


def _by_lines(
    texts: Sequence[str],
    segmented: Sequence[Sequence[Segment]],
    language: str,
    turns: Iterable[LoneTurn | None],
) -> dict[int, list[Segment]]:
    """Return the segments of texts that are turns, or no turns, by how their lines begin."""
    lone = {number: found for number, found in enumerate(turns) if found}
    if not lone or len(texts) == 1:
        return {}
    are_turns = {number for number in lone if segmented[number][0].kind is Kind.TURN}
    names = Counter(name for name, _ in lone.values())
    speaking = {lone[number][0] for number in are_turns} | _who_speak_again(texts, lone, names)
    all_speak_again = len(lone) == len(texts) and bool(are_turns) and min(names.values()) > 1
    is_conversation = all_speak_again or 2 * len(are_turns) > len(texts)
    changed: dict[int, list[Segment]] = {}
    for number, (name, turn) in lone.items():
        is_known = names[name] > 1 and name in speaking
        if number in are_turns and not (is_known or is_conversation):
            changed[number] = prose_segments(texts[number], language)
        elif number not in are_turns and (is_known or is_conversation):
            changed[number] = conversation_segments(texts[number], [turn], language)
    return changed


def _who_speak_again(texts: Sequence[str], lone: Mapping[int, LoneTurn], names: Mapping[str, int]) -> set[str]:
    """Return the names that many texts begin with, if most texts do and enough of these are speech.

    lone: the texts that may be turns. names: name -> how many of these it begins.
    """
    again = {number: found for number, found in lone.items() if names[found[0]] >= _AGAIN}
    said = sum(is_said(texts[number][turn.body :]) for number, (_, turn) in again.items())
    is_spoken = 2 * len(again) > len(texts) and said >= _SAID_AGAIN * len(again)
    found = {name for name, _ in again.values()}
    return found if is_spoken and len(found) > 1 else set()
