r"""A line for each thing that is known, an empty line, and the text.

    **Result 1** (Score: 0.9234)
    File: docs/auth.md
    Section: Configuration > Authentication

    Authentication is configured in the auth section of config.toml.

A line of a text that begins as the first one does, after white space and any number of backslashes, has one backslash
more: "\**Result 1**". In names that is so of the words ">", "§" and "(0.92)".
"""

import re
from dataclasses import dataclass

from ctxcompress.render.entry import Entry
from ctxcompress.render.guard import Guard
from ctxcompress.render.headers import path_of, score_of, section_of, title_of
from ctxcompress.text.invisible import INVISIBLE, spelled

__all__ = ["Verbose"]

_guarded = Guard(rf"{spelled('**')}[\s{INVISIBLE}]*+{spelled('result')}[\s{INVISIBLE}]*+\d", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Verbose:
    separator: str = "\n\n"
    opening: str = ""
    closing: str = ""

    def entry(self, entry: Entry) -> str:
        passage = entry.passage
        score, section = score_of(passage, 4), section_of(passage)
        path, title = path_of(passage), title_of(passage)
        lines = (
            f"**Result {entry.number}**" + (f" (Score: {score})" if score else ""),
            f"File: {path}" if path else "",
            f"Title: {title}" if title else "",
            f"Section: {section}" if section else "",
        )
        header = "\n".join(filter(None, lines))
        return f"{header}\n\n{_guarded(entry.text)}"
