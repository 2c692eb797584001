"""Prose: blocks of Markdown and turns of conversations, cut into sentences, without the heads and feet of pages; and
which texts beside others are turns."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from ctxcompress.code.lexing import indent_of
from ctxcompress.data.passages import Kind, Segment
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.segment.conversation import LoneTurn, Turn, lone_turn
from ctxcompress.segment.data_records import embedded_records
from ctxcompress.segment.markdown import Block, markdown_blocks
from ctxcompress.segment.rows import column_rows, table_rows
from ctxcompress.segment.sentences import sentence_segments
from ctxcompress.segment.titles import with_titles
from ctxcompress.text.lines import ends_sentence, split_lines

__all__ = ["conversation_segments", "prose_segments", "segments_together"]

# A name is ten times as fast as an attribute of an enum.
_HEADING, _LIST_ITEM, _TABLE, _CODE = Kind.HEADING, Kind.LIST_ITEM, Kind.TABLE, Kind.CODE
_PARAGRAPH, _TURN, _BOILERPLATE = Kind.PARAGRAPH, Kind.TURN, Kind.BOILERPLATE
_LONG_ITEM, _LONG_TURN, _LONG_FENCE = 300, 500, 400
"""The most characters of a list item, a turn and a code block that are not split."""
_IN_TURNS = frozenset((_LIST_ITEM, _TABLE, _CODE))
_PIECE = 120
"""The most characters of statements in a fence that are kept or dropped together."""
_FEWEST_PAGES = 4
"""The least pages of a text with running heads or feet."""
_LONGEST_FOOT, _PAGE = 200, 1_000
"""The most characters of a foot and a head together, and the least of most pages: formulas have numbers, too."""
_INTERRUPTING = 0.2
"""The least share of them that stand in the middle of a sentence. "Step 2" stands between sentences."""
_NUMBER = lazy_regex(r"\d{1,9}")
_LABEL = lazy_regex(r"[^\s.:!?][^\n.:!?]{0,60}[:\uff1a]\s")
"""The label at the beginning of a line."""
_FENCE = lazy_regex(r"[ \t>]*+(`{3,}+|~{3,}+)")
_CLOSER = lazy_regex(r"[ \t]*(?:[})\]{]|end\b|else\b|elif\b|except\b|finally\b|catch\b)")


def prose_segments(text: str, language: str) -> list[Segment]:
    """Return the segments of Markdown and any other text."""
    return _segments(text, with_titles(text, _without_running_lines(text, markdown_blocks(text))), language)


def _without_running_lines(text: str, blocks: Iterable[Block]) -> Sequence[Block]:
    """Return the blocks; running heads and feet, which each page of a text repeats, are boilerplate.

    They are known by repetition, in any language: blocks that are the same but for a number that goes up, and that
    interrupt sentences where the pages were put together.
    """
    blocks = list(blocks)
    if len(text) < 2 * _PAGE:  # the second page ends before
        return blocks
    found = (places for places in _repeated(text, blocks) if _are_running(text, blocks, places))
    running = {number for places in found for number in places}
    if not running:
        return blocks
    return [block._replace(kind=_BOILERPLATE) if n in running else block for n, block in enumerate(blocks)]


def _repeated(text: str, blocks: Sequence[Block]) -> Iterable[Sequence[int]]:
    """Return the numbers of the blocks that are the same but for their numbers, if there are enough of them."""
    alike = defaultdict[str, list[int]](list)
    for number, block in enumerate(blocks):
        is_short = block.kind is _PARAGRAPH and block.end - block.start <= _LONGEST_FOOT
        if is_short and _NUMBER.search(text, block.start, block.end):
            alike[_NUMBER.sub("0", " ".join(text[block.start : block.end].split()))].append(number)
    return (places for places in alike.values() if len(places) >= _FEWEST_PAGES)


def _are_running(text: str, blocks: Sequence[Block], places: Sequence[int]) -> bool:
    """Tell whether one of the numbers always goes up, and the blocks are a page apart and interrupt sentences."""
    texts = [text[blocks[place].start : blocks[place].end] for place in places]
    counted = zip(*([int(number) for number in _NUMBER.findall(each)] for each in texts), strict=True)
    goes_up = any(all(one < other for one, other in pairwise(numbers)) for numbers in counted)
    before = (blocks[place - 1] for place in places if place)
    open_ = sum(each.kind is _PARAGRAPH and not ends_sentence(text[each.start : each.end]) for each in before)
    pages = sorted(blocks[other].start - blocks[place].start for place, other in pairwise(places))
    return goes_up and pages[len(pages) // 2] >= _PAGE and open_ >= _INTERRUPTING * len(places)


def _segments(text: str, blocks: Iterable[Block], language: str) -> list[Segment]:
    segments: list[Segment] = []
    for number, block in enumerate(blocks):
        segments += _split(text, block, number, len(segments), language)
    return segments


def conversation_segments(text: str, turns: Sequence[Turn], language: str) -> list[Segment]:
    """Return the segments of the text before the first turn, then those of the turns."""
    before = turns[0].start
    segments = _segments(text, markdown_blocks(text[:before]) if before else (), language)
    first = segments[-1].block + 1 if segments else 0
    for number, turn in enumerate(turns):
        label = text[turn.start : turn.body]
        needs = (len(segments),) if label else ()
        segments.extend(turn_segments(text, turn, first + number, len(segments), needs, label, language))
    return segments


def turn_segments(
    text: str, turn: Turn, number: int, first: int, needs: tuple[int, ...], label: str, language: str
) -> Iterator[Segment]:
    """Yield one segment for a short turn, else the speaker and then the parts of the turn, which need it.

    Code, tables and lists in a long turn keep their kind.
    """
    start, body, end = turn
    if end - start <= _LONG_TURN and "```" not in text[body:end]:
        yield Segment(_TURN, start, end, number, label=label)
        return
    if body > start:
        yield Segment(_TURN, start, body, number, label=label)
    first += body > start
    for block in markdown_blocks(text[body:end]) if body < end else ():
        moved = Block(block.kind, block.start + body, block.end + body)
        for part in _split(text, moved, number, first, language):
            kind = part.kind if part.kind in _IN_TURNS else _TURN
            yield part._replace(kind=kind, needs=(*part.needs, *needs), label=label)
            first += 1


def _split(text: str, block: Block, number: int, first: int, language: str) -> Iterable[Segment]:
    kind, start, end, heading = block
    if kind is _TABLE:
        return table_rows(text, block, number, first)
    if kind is _CODE:
        return _code(text, block, number, first)
    if kind in (_HEADING, _BOILERPLATE) or (kind is _LIST_ITEM and end - start <= _LONG_ITEM):
        return [Segment(kind, start, end, number, heading)]
    if text[start] in "[{" and (records := embedded_records(Segment(kind, start, end, number, heading), text, first)):
        return records
    if kind is _PARAGRAPH and (rows := column_rows(text, start, end, number, first, heading)):
        return rows
    sentences = sentence_segments(text, block, number, language)
    return _under_labels(text, sentences, first) if kind is _PARAGRAPH and len(sentences) > 2 else sentences


def _under_labels(text: str, sentences: Sequence[Segment], first: int) -> Sequence[Segment]:
    """Return the sentences of a block. If several of its lines begin with a label, as in "Adults: ...", what follows on
    such a line needs its beginning: below another label it says something else. first: the number of the first one."""
    begins = [number for number, part in enumerate(sentences) if not number or text[part.start - 1] == "\n"]
    labels = {number for number in begins if _LABEL.match(text, sentences[number].start, sentences[number].end)}
    if len(labels) < 2:
        return sentences
    lines = ((begin, end) for begin, end in pairwise([*begins, len(sentences)]) if begin in labels)
    needed = {number: first + begin for begin, end in lines for number in range(begin + 1, end)}
    return [part._replace(needs=(needed[n],)) if n in needed else part for n, part in enumerate(sentences)]


def _code(text: str, block: Block, number: int, first: int) -> Iterator[Segment]:
    """Yield one segment for a short code block, else its pieces, each of which needs the fences or the signature."""
    kind, start, end, heading = block
    if end - start <= _LONG_FENCE:
        yield Segment(kind, start, end, number, heading)
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
    if not start < head < tail:
        return []
    records = embedded_records(Segment(Kind.RECORD, head, tail, number, heading, (first,)), text, first + 1)
    last = first + len(records) + 1
    around = Segment(kind, start, head, number, heading, (last,)), Segment(kind, tail, end, number, heading, (first,))
    return [around[0], *(part._replace(needs=(*part.needs, last)) for part in records), around[1]] if records else []


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
    base = min((indent_of(line) for line in inner if not line.isspace()), default=0)
    most = _PIECE if fenced else 1
    cuts: list[int] = []
    statement = position = start + len(lines[0])
    for number, line in enumerate(lines[1:], 1):
        is_within = line.isspace() or indent_of(line) > base
        if not is_within and (number == closing or not _CLOSER.match(line)):
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


def _closing_fence(lines: Sequence[str]) -> int | None:
    """Return the number of the line that closes a block: 0 if its fence is open, None if it has no fence."""
    fence = _FENCE.match(lines[0])
    if fence is None:
        return None
    return next((n for n in range(len(lines) - 1, 0, -1) if lines[n].lstrip(" \t>").startswith(fence[1])), 0)


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
        if speaker and not any(part.kind in (_HEADING, _TURN) for part in changed.get(number, segmented[number])):
            said = Turn(0, 0, len(texts[number]))
            changed[number] = list(turn_segments(texts[number], said, 0, 0, (), speaker, language))
    return changed


def _by_lines(
    texts: Sequence[str], segmented: Sequence[Sequence[Segment]], language: str, turns: Iterable[LoneTurn | None]
) -> dict[int, list[Segment]]:
    """Return the segments of texts that are turns, or no turns, by how their lines begin."""
    lone = {number: found for number, found in enumerate(turns) if found}
    if not lone or len(texts) == 1:
        return {}
    are_turns = {number for number in lone if segmented[number][0].kind is _TURN}
    names = Counter(name for name, _ in lone.values())
    speaking = {lone[number][0] for number in are_turns}
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
