"""Texts for the tests of segmentation: generated hostile ones, and real ones that every installation has."""

import importlib.metadata
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
    "\x0c", "\ufeff", "x" * 250, "word " * 60, "Skip to content\n", "Home | Docs | About\n",
    "By Jane Doe, 3 May 2024\n", "We use cookies. ", "Related posts\n", "Share this: ", "© 2024 ",
)  # fmt: skip
LANGUAGES = ("en", "de", "zh", "ja", "th", "ar", "hi", "ru", "xx")

texts = st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=60).map("".join))


def sources() -> dict[str, str]:
    """Some modules of the standard library."""
    folder = Path(os.__file__).parent
    return {name: (folder / name).read_text("utf-8") for name in ("argparse.py", "csv.py", "enum.py", "textwrap.py")}


def descriptions() -> dict[str, str]:
    """The Markdown descriptions of the installed packages."""
    found = {}
    for distribution in importlib.metadata.distributions():
        metadata = distribution.metadata
        if metadata and "markdown" in (metadata.get("Description-Content-Type") or ""):
            text = metadata.get("Description") or metadata.get_payload()
            if isinstance(text, str) and "\n" in text:
                found[metadata["Name"]] = text[:60_000]
    return found
