"""Lines of a text that could be taken for a header get a backslash."""

import re

__all__ = ["INVISIBLE", "Guard"]

INVISIBLE = (
    r"\x00-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
)
"""Controls, marks of direction and what has no width: a set of a regular expression."""

_BREAKS = r"\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
"""All that some reader takes for the end of a line."""


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
