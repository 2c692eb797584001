"""Segmentation of any text: prose into blocks and their segments, source code by its outline, long code fences."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ctxcompress.data.passages import Kind, Node, Segment
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.segment.conversation import LoneTurn, lone_turn, turns_of
from ctxcompress.segment.data_records import (
    data_outline,
    embedded_records,
    is_data,
    record_segments,
    sectioned_outline,
)
from ctxcompress.segment.logs import log_segments, output_segments, segments_among_logs
from ctxcompress.segment.manual import manual_blocks
from ctxcompress.segment.markdown import Block, markdown_blocks
from ctxcompress.segment.markup_lines import is_mark_alone
from ctxcompress.segment.plain_rows import plain_rows
from ctxcompress.segment.prose_lines import is_prose_line, segment_lines
from ctxcompress.segment.row_outline import row_outline
from ctxcompress.segment.sentences import split_sentences
from ctxcompress.segment.source_code import WHOLE, code_segments, outline
from ctxcompress.segment.speakers import Turn, is_said
from ctxcompress.segment.table_rows import table_rows
from ctxcompress.segment.tiny_lines import tiny_line_segments
from ctxcompress.text.lines import split_lines

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
_HEADING, _LIST_ITEM, _TABLE, _CODE = Kind.HEADING, Kind.LIST_ITEM, Kind.TABLE, Kind.CODE
_LONG_ITEM = 300
"""The most characters of a list item that is not split into sentences."""
_AGAIN = 3
"""The least number of texts that begin with a name if only their number tells that it is one."""
_SAID_AGAIN = 0.3
"""The least share of these texts with signs of speech."""
_LONG_TURN = 500
"""The most characters of a turn that is not split into sentences."""
_IN_TURNS = frozenset((_LIST_ITEM, _TABLE, _CODE))
_LONG_FENCE = 1_500
"""The most characters of a code block that is one segment."""
_PIECE = 250
"""The most characters of statements in a fence that are kept or dropped together."""
Read = tuple[tuple[Node, ...], list[Segment]]
"""The outline of a text and its segments, one of which is empty."""
_FENCE = lazy_regex(r"[ \t>]*+(`{3,}+|~{3,}+)")
_CLOSER = lazy_regex(r"[ \t]*(?:[})\]{]|end\b|else\b|elif\b|except\b|finally\b|catch\b)")


def segment(text: str, *, language: str = "en", name: str | None = None) -> list[Segment]:
    """Return the segments of `text` in order. Together they are exactly `text`. An empty text has none.

    language: ISO 639-1 code, for the sentence rules. name: file name or path, if known. Its extension distinguishes
    code from prose better than the content.
    """
    nodes, segments = read_text(text, language=language, name=name)
    return segments or segment_outlined(text, nodes, language=language)


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
    return [((), found[text]) if text in found else _read(text, name, language) for text, name in pairs]


def _read(text: str, name: str | None, language: str) -> Read:
    if tiny := tiny_line_segments(text):
        records = sectioned_outline(text, name) or row_outline(text, name)
        return records, [] if records else tiny
    nodes = data_outline(text, name) or outline(text, name)
    return nodes, [] if nodes else segment_outlined(text, nodes, language=language)


def segment_outlined(text: str, nodes: Sequence[Node], *, language: str, whole: int = WHOLE) -> list[Segment]:
    """Return the segments of a text whose outline is known.

    nodes: the outline, empty for prose. whole: the most characters of a function that is one segment.
    """
    if not text:
        return []
    if is_data(nodes):
        return record_segments(text, nodes, whole)
    if nodes:
        return code_segments(text, nodes, whole)
    if logs := log_segments(text):
        return logs
    if turns := turns_of(text):
        return _conversation(text, turns, language)
    return output_segments(text) or _prose(text, language)


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
    changed = segments_among_logs(texts, segmented)
    changed |= _by_lines(texts, segmented, language, map(lone_turn, texts) if turns is None else turns)
    recorded = [number for number, speaker in enumerate(speakers) if speaker and texts[number]]
    for number in recorded if len(recorded) > 1 else ():
        speaker = speakers[number]
        if speaker and not any(part.kind in (_HEADING, Kind.TURN) for part in changed.get(number, segmented[number])):
            said = Turn(0, 0, len(texts[number]))
            changed[number] = list(_of_turn(texts[number], said, 0, 0, (), speaker, language))
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
            changed[number] = _prose(texts[number], language)
        elif number not in are_turns and (is_known or is_conversation):
            changed[number] = _conversation(texts[number], [turn], language)
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


def _prose(text: str, language: str) -> list[Segment]:
    segments: list[Segment] = _manual(text, language)
    for number, block in enumerate(markdown_blocks(text) if not segments else ()):
        segments.extend(_split(text, block, number, len(segments), language))
    return segments


def _manual(text: str, language: str) -> list[Segment]:
    """Return the segments of a manual page, where all text of an entry needs its term; none of any other text."""
    segments: list[Segment] = []
    firsts: list[int] = []
    for number, (kind, start, end, heading, terms) in enumerate(manual_blocks(text)):
        firsts.append(len(segments))
        needs = tuple(firsts[term] for term in terms)
        parts = _split(text, Block(kind, start, end, heading), number, len(segments), language)
        segments += [part._replace(needs=(*part.needs, *needs)) for part in parts]
    return segments


def _conversation(text: str, turns: Sequence[Turn], language: str) -> list[Segment]:
    """Return the segments of the text before the first turn, then those of the turns."""
    before = turns[0].start
    segments: list[Segment] = []
    for number, block in enumerate(markdown_blocks(text[:before]) if before else ()):
        segments.extend(_split(text, block, number, len(segments), language))
    first = segments[-1].block + 1 if segments else 0
    speakers: list[int] = []  # the number of the segment that each turn begins with
    are_sessions = sum(turn.is_title for turn in turns) > 1
    title: tuple[int, ...] = ()
    for number, turn in enumerate(turns):
        speakers.append(len(segments))
        owner = turn.owner if turn.owner is not None and turn.owner >= 0 else number
        label = text[turns[owner].start : turns[owner].body] if turn.owner != -1 else ""
        needs = (speakers[owner],) if label else ()
        parts = list(_of_turn(text, turn, first + number, len(segments), needs, label, language))
        if turn.is_title and are_sessions:
            title = (len(segments),)
        elif title:  # a turn must not stand under the date of another session
            parts = [part._replace(needs=(*part.needs, *title)) for part in parts]
        segments.extend(parts)
    return segments


def _of_turn(
    text: str, turn: Turn, number: int, first: int, needs: tuple[int, ...], label: str, language: str
) -> Iterator[Segment]:
    """Yield one segment for a title or a short turn, else the speaker and then the parts of the turn, which need it.

    Code, tables and lists in a long turn keep their kind.
    """
    start, body, end, heading, is_title, owner = turn
    if is_title:
        yield Segment(_HEADING, start, end, number, heading)
        return
    if owner is None and end - start <= _LONG_TURN and "```" not in text[body:end]:
        yield Segment(Kind.TURN, start, end, number, heading, label=label)
        return
    if body > start:
        yield Segment(Kind.TURN, start, body, number, heading, label=label)
    first += body > start
    for block in markdown_blocks(text[body:end]) if body < end else ():
        moved = Block(block.kind, block.start + body, block.end + body, heading)
        for part in _split(text, moved, number, first, language):
            kind = part.kind if part.kind in _IN_TURNS else Kind.TURN if owner is None else Kind.PARAGRAPH
            yield part._replace(kind=kind, needs=(*part.needs, *needs), label=label)
            first += 1


def _split(text: str, block: Block, number: int, first: int, language: str) -> Iterable[Segment]:
    kind, start, end, heading = block
    if kind is _TABLE:
        return table_rows(text, block, number, first)
    if kind is _CODE:
        return _code(text, block, number, first)
    if kind in (_HEADING, Kind.BOILERPLATE) or (kind is _LIST_ITEM and end - start <= _LONG_ITEM):
        return [Segment(kind, start, end, number, heading)]
    if text[start] in "[{" and (records := embedded_records(text, start, end, number, first, heading)):
        return records
    if kind is Kind.PARAGRAPH and (rows := plain_rows(text, start, end, number, first, heading)):
        return rows
    return _sentences(text, block, number, language)


def _sentences(text: str, block: Block, number: int, language: str) -> list[Segment]:
    kind, start, end, heading = block
    cuts = split_sentences(text, start, end, language)
    while len(cuts) > 1 and is_mark_alone(text[start : cuts[0]]):
        del cuts[0]
    return [Segment(kind, begin, cut, number, heading) for begin, cut in zip([start, *cuts], cuts, strict=False)]


def _code(text: str, block: Block, number: int, first: int) -> Iterator[Segment]:
    """Yield one segment for a short code block, else its pieces, each of which needs the fences or the signature."""
    kind, start, end, heading = block
    if end - start <= _LONG_FENCE:
        is_ended_by_list = first and text[start] in " \t" and _closing_fence(split_lines(text[start:end])) == 0
        yield Segment(kind, start, end, number, heading, (first - 1,) if is_ended_by_list else ())
        return
    if records := _fenced_records(text, block, number, first):
        yield from records
        return
    cuts, closed = _split_fence(text, start, end)
    last = first + len(cuts) - 1
    for index, cut in enumerate(cuts, first):
        around = (first, last) if closed else (first,)
        needs = tuple(other for other in around if other != index)
        yield Segment(kind, start, cut, number, heading, needs if index != first or closed else ())
        start = cut


def _fenced_records(text: str, block: Block, number: int, first: int) -> list[Segment]:
    """Return the segments of a closed fence around data, or none if it is not one."""
    kind, start, end, heading = block
    head = text.find("\n", start, end) + 1
    tail = text.rfind("\n", start, start + len(text[start:end].rstrip())) + 1
    if not start < head < tail or text[head : head + _PIECE].lstrip()[:1] not in ("{", "["):
        return []
    records = embedded_records(text, head, tail, number, first + 1, heading, (first,))
    last = first + len(records) + 1
    around = Segment(kind, start, head, number, heading, (last,)), Segment(kind, tail, end, number, heading, (first,))
    inner = [record._replace(needs=(*record.needs, last)) for record in records]
    return [around[0], *inner, around[1]] if records else []


def _split_fence(text: str, start: int, end: int) -> tuple[list[int], bool]:
    """Cut a long code block into pieces, and return their ascending end offsets and whether it has a closing fence.

    The first piece is the signature or the opening fence, the last piece is the closing fence. The others are cut at
    the least indented lines between them. Statements share a piece as long as it stays short.
    """
    lines = split_lines(text[start:end])
    closing = _closing_fence(lines)
    fenced = closing is not None
    closing = closing or len(lines)
    inner = lines[1:closing]
    base = min((_indent(line) for line in inner if not line.isspace()), default=0)
    most = _PIECE if fenced else 1
    cuts: list[int] = []
    statement = position = start + len(lines[0])
    for number, line in enumerate(lines[1:], 1):
        at_statement = not line.isspace() and _indent(line) <= base and not (_CLOSER.match(line) and number != closing)
        if at_statement:
            _close_piece(cuts, statement, position, most)
            statement = position
        if number == closing:
            cuts.append(position)
        position += len(line)
    if closing == len(lines):
        _close_piece(cuts, statement, end, most)
    return [*dict.fromkeys(cuts), end], closing < len(lines)


def _close_piece(cuts: list[int], statement: int, end: int, most: int) -> None:
    """Add a cut before a statement that would make its piece too long. The first cut is after the head."""
    if not cuts or (end - cuts[-1] > most and statement > cuts[-1]):
        cuts.append(statement)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _closing_fence(lines: Sequence[str]) -> int | None:
    """Return the number of the line that closes a block: 0 if its fence is open, None if it has no fence."""
    fence = _FENCE.match(lines[0])
    if fence is None:
        return None
    return next((n for n in range(len(lines) - 1, 0, -1) if lines[n].lstrip(" \t>").startswith(fence[1])), 0)
