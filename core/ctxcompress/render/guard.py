"""Lines of a text that could be taken for a header get a backslash."""

import re

__all__ = ["INVISIBLE", "Guard", "spelled"]

INVISIBLE = (
    r"\x00-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    r"\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Controls, marks of direction, and what Unicode says may be ignored where it is shown (Default_Ignorable_Code_Point):
a set of a regular expression."""

_BREAKS = r"\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
"""All that some reader takes for the end of a line."""


def spelled(word: str) -> str:
    """A regular expression for a word with anything between its letters that cannot be seen."""
    return rf"[{INVISIBLE}]*+".join(map(re.escape, word))


class Guard:
    """Puts a backslash before what looks like a header where a line begins, after what cannot be seen and any number of
    backslashes. Taking off one backslash from each line that looks so after one or more of them gives the text back.
    """

    __slots__ = ("_anywhere", "_lines")

    def __init__(self, header: str, flags: int = 0) -> None:
        """header: a regular expression that takes time in proportion to what it is tried on."""
        self._anywhere = re.compile(header, flags)  # found faster than the beginnings of lines
        self._lines = re.compile(rf"((?<![^{_BREAKS}])(?:(?![{_BREAKS}])[\s{INVISIBLE}])*+)(\\*+{header})", flags)

    def __call__(self, text: str) -> str:
        """The text with these backslashes."""
        return self._lines.sub(r"\1\\\2", text) if self._anywhere.search(text) else text
