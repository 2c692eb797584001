"""Draws what a compression keeps, as the code does it.

    python docs/draw_before_after.py    # writes docs/images/before-after.svg

On the left are the passages, with what is kept in green. On the right is the text that a language model reads.
"""

import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from xml.sax.saxutils import escape

from ctxcompress import Passage, compress

PICTURE = Path(__file__).parent / "images" / "before-after.svg"
QUERY = "What is the default timeout?"
MAX_TOKENS = 36
PASSAGES = (
    Passage(
        "client.md",
        "The pool opens ten connections when it starts. A connection that nobody uses for a minute is closed. "
        "The default timeout is 30 seconds. A request that takes longer is tried again twice.",
    ),
    Passage(
        "settings.md",
        "| setting   | default | unit    |\n|-----------|---------|---------|\n| pool      | 10      |         |\n"
        "| timeout   | 30      | seconds |\n| log level | info    |         |",
    ),
    Passage("logs.md", "Logs are kept for one week. They are compressed at night. The level is set in config.toml."),
    Passage("brand.md", "The logo shows a lighthouse. It was drawn in 2019."),
)

COLUMNS, LETTER, LINE, PAD, TOP = 56, 7.2, 18, 16, 64
BOX = COLUMNS * LETTER + 2 * PAD
RIGHT = BOX + 2 * PAD
STYLE = """
    .back { fill: #fff } .box { fill: #f6f8f8; stroke: #cfd8d8 } .mark { fill: #bfe6df }
    text { font: 12px ui-monospace, Consolas, "DejaVu Sans Mono", monospace; white-space: pre; fill: #102a2a }
    .dropped { fill: #8a9999 } .head { font: bold 14px system-ui, "DejaVu Sans", sans-serif } .name { fill: #00695c }
"""


def lines_of(text: str) -> list[tuple[int, str]]:
    """Return the lines of a text with their offsets, cut between words where one is too long."""
    return [(found.start(), found[0]) for found in re.finditer(rf"\S[^\n]{{0,{COLUMNS - 1}}}(?=\s|$)|^$", text, re.M)]


def drawn(text: str, left: float, top: float, of: str) -> str:
    """Return a text as SVG, as wide in every font."""
    width = len(text) * LETTER
    return f'<text class="{of}" x="{left:.1f}" y="{top:g}" textLength="{width:.1f}">{escape(text)}</text>'


def drawn_line(line: str, is_kept: list[bool], top: float) -> Iterator[str]:
    """Yield the parts of a line of a passage, those that are kept on a green ground."""
    left = PAD * 2.0
    for kept, letters in groupby(zip(is_kept, line, strict=True), lambda pair: pair[0]):
        part = "".join(letter for _, letter in letters)
        width = len(part) * LETTER
        if kept:
            yield f'<rect class="mark" x="{left:.1f}" y="{top - 13:g}" width="{width:.1f}" height="{LINE}"/>'
        yield drawn(part, left, top, "kept" if kept else "dropped")
        left += width


def drawn_box(left: float, height: float, head: str) -> Iterator[str]:
    """Yield a column's box and the line above it."""
    yield f'<text class="head" x="{left:g}" y="46">{head}</text>'
    yield f'<rect class="box" x="{left:g}" y="{TOP - 8}" width="{BOX:g}" height="{height:g}" rx="6"/>'


def picture() -> str:
    """Return what docs/images/before-after.svg must be."""
    result = compress(QUERY, PASSAGES, max_tokens=MAX_TOKENS)
    kept = {(part.id, at) for part in result.passages for span in part.spans for at in range(span.start, span.end)}
    left, top = [], TOP + LINE
    for passage in PASSAGES:
        left.append(drawn(passage.id, PAD * 2, top, "name"))
        for start, line in lines_of(passage.text):
            top += LINE
            left += drawn_line(line, [(passage.id, start + column) in kept for column in range(len(line))], top)
        top += 2 * LINE
    right = [
        drawn(line, RIGHT + PAD, TOP + LINE * row, "kept") for row, (_, line) in enumerate(lines_of(result.text), 1)
    ]
    width, height = RIGHT + BOX + PAD, top
    before, after = f"Retrieved: {result.stats.original_tokens} tokens", f"In the prompt: {result.tokens} tokens"
    boxes = [*drawn_box(PAD, height - TOP - 8, before), *drawn_box(RIGHT, height - TOP - 8, after)]
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" role="img">',
        f"<title>{before}. {after}</title>",
        f"<style>{STYLE}</style>",
        f'<rect class="back" width="{width:g}" height="{height:g}"/>',
        f'<text class="head" x="{PAD}" y="22">“{QUERY}”</text>',
    ]
    return "\n".join((*head, *boxes, *left, *right, "</svg>\n"))


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
