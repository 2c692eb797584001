"""Cutting Markdown: within the budget, verbatim, and no fence is left open that was closed."""

import re

from cutting import cut
from fuzzing import read, spliced
from structures import is_whole, open_fences

from ctxcompress.data.passages import Kind
from ctxcompress.segment.formats import segment

mutate = spliced(
    *(
        "# A\n\n",
        "```\n",
        "```python\n",
        "~~~\n",
        "````\n",
        "> ",
        "- ",
        "  - ",
        "1. ",
        "   ",
        "    ",
        "\n\n",
        "\n",
        "\r\n",
    ),
    *(
        "| a | b |\n|---|---|\n| 1 | 2 |\n",
        "<b>",
        "</b>",
        "`",
        "``",
        "[x](y)",
        "[x]: y\n",
        "\\",
        "***\n",
    ),
    *("The timeout is 30 s. ", "It is so.", "Note:\n", "def f():\n    return 1\n", '{"a": 1}\n', "> ```\n", "- ```\n"),
)
_WITHIN_A_LINE = re.compile(r"^[^\n]*[^\s>*+.)`~\d-][^\n]*(?:`{3}|~{3})|`{3}[^`\n]+`", re.MULTILINE)
"""Signs that are no fence as they stand, and become one where their line is cut before or after them."""


def check(data: bytes) -> None:
    given = read(data)
    name = "a.md" if given.choice % 2 else None
    result = cut(given, name)
    if "<!--" in given.text or _WITHIN_A_LINE.search(given.text):  # a comment that is never closed hides a fence
        return
    if any(part.kind in (Kind.LOG, Kind.RECORD) for part in segment(given.text, name=name)):  # it is no Markdown
        return
    if result and given.budget > 40 and not open_fences(given.text) and not _begins_within_a_fence(given.text):
        assert is_whole("Markdown", result.text), result.text


def _begins_within_a_fence(text: str) -> bool:
    """Tell whether the text is taken for a chunk whose first fence is a closing one."""
    parts = [(part.kind, text[part.start : part.end].strip()) for part in segment(text)]
    first = next((part for kind, part in parts if kind is Kind.CODE), "```\n```")
    is_lone = any(kind is Kind.METADATA and part.startswith(("```", "~~~")) for kind, part in parts)
    is_begun = first.startswith(("```", "~~~")) and is_whole("Markdown", first)
    return is_lone or (text.strip().startswith(first) and not is_begun)
