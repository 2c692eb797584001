r"""A line before each text, with a number to cite it by.

    [1] docs/auth.md § Configuration > Authentication (0.92)
    Authentication is configured in the auth section of config.toml.

A line of a text that begins as a header does, after white space and any number of backslashes, has one backslash more:
"\[1] ...". In names that is so of the words "§", ">" and "(0.92)". Taking these off gives the text and the names back.
"""

from dataclasses import dataclass

from ctxcompress.render.entry import Entry
from ctxcompress.render.guard import Guard
from ctxcompress.render.headers import path_of, score_of, section_of, title_of
from ctxcompress.text.invisible import INVISIBLE

__all__ = ["Compact"]

_guarded = Guard(rf"\[(?:[{INVISIBLE}]*+\d)++[{INVISIBLE}]*+\](?![^\s{INVISIBLE}])")


@dataclass(frozen=True, slots=True)
class Compact:
    separator: str = "\n\n"
    opening: str = ""
    closing: str = ""

    def entry(self, entry: Entry) -> str:
        section, score = section_of(entry.passage), score_of(entry.passage, 2)
        place = path_of(entry.passage) or title_of(entry.passage)
        parts = (f"[{entry.number}]", place, section and f"§ {section}", score and f"({score})")
        return f"{' '.join(filter(None, parts))}\n{_guarded(entry.text)}"
