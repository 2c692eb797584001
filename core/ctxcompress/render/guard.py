"""Lines of a text that could be taken for a header get a backslash."""

import re

from ctxcompress.text.invisible import BREAKS, INVISIBLE

__all__ = ["Guard"]


class Guard:
    """Puts a backslash before what looks like a header where a line begins, after what cannot be seen and any number of
    backslashes. Taking off one backslash from each line that looks so after one or more of them gives the text back.
    """

    __slots__ = ("_anywhere", "_lines")

    def __init__(self, header: str, flags: int = 0) -> None:
        """header: a regular expression that takes time in proportion to what it is tried on."""
        self._anywhere = re.compile(header, flags)  # found faster than the beginnings of lines
        self._lines = re.compile(rf"((?<![^{BREAKS}])(?:(?![{BREAKS}])[\s{INVISIBLE}])*+)(\\*+{header})", flags)

    def __call__(self, text: str) -> str:
        """The text with these backslashes."""
        return self._lines.sub(r"\1\\\2", text) if self._anywhere.search(text) else text
