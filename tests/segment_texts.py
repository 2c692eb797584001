"""Texts for the tests of segmentation: generated hostile ones, and real ones that every checkout has."""

import os
from pathlib import Path

from hypothesis import strategies as st

PIECES = (
    "a", "B", "words and more ", "Dr", " ", ". ", ".", "\n", "\n\n", "。", "，", "é", "👍", "`", '"', "“",
    "”", "(", ")", "\x00", "\x85", "\u2028", "\r\n", "\r", "\t", "J. ", "1. ", "1986. ", "!", "?", "- ",
    "* ", "ภาษาไทย", "\u0301", "\u200d", "\ufe0f", "\xa0", "\u3000", "中文", "日本語。", "हिन्दी। ", "ि",
    "العربية؟ ", "\ud800", "\udc00", "# ", "## ", "---\n", "===\n", "> ", "```", "```py\n", "~~~\n",
    "|a|b|\n", "|-|-|\n", "    ", "<!-- ", "-->", "<div>", "{", "}", ";\n", "def f():\n", "class A:\n",
    "@x\n", "module.Class ", "https://a.b/c ", "[a](b c)", "👩\u200d👩", "🇩🇪", "\\", "$", "\x1c", "\x0b",
    "\x0c", "\ufeff", "x" * 250, "word " * 60,
)  # fmt: skip
_ROOT = Path(__file__).parents[1]
LANGUAGES = ("en", "de", "zh", "ja", "th", "ar", "hi", "ru", "xx")

texts = st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=60).map("".join))


def sources() -> dict[str, str]:
    """Some modules of the standard library."""
    folder = Path(os.__file__).parent
    return {name: (folder / name).read_text("utf-8") for name in ("argparse.py", "csv.py", "enum.py", "textwrap.py")}


def markdown_pages() -> dict[str, str]:
    """The Markdown pages of this project."""
    found = [*_ROOT.glob("*.md"), *_ROOT.glob("docs/**/*.md"), *_ROOT.glob("benchmarks/*.md")]
    return {str(page.relative_to(_ROOT)): page.read_text(encoding="utf-8")[:60_000] for page in sorted(found)}
