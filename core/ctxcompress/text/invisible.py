"""What a reader does not see, and where one may see a line end: pieces of regular expressions."""

import re

__all__ = ["BREAKS", "INVISIBLE", "spelled"]

INVISIBLE = (
    r"\x00-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    r"\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Controls, marks of direction, and what Unicode says may be ignored where it is shown (Default_Ignorable_Code_Point):
a set of a regular expression."""

BREAKS = r"\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
"""All that some reader takes for the end of a line."""


def spelled(word: str) -> str:
    """A regular expression for a word with anything between its letters that cannot be seen."""
    return rf"[{INVISIBLE}]*+".join(map(re.escape, word))
