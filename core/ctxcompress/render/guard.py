"""Lines of a text that could be taken for a header get a backslash."""

import re

__all__ = ["INVISIBLE", "line_pattern", "with_guards"]

INVISIBLE = (
    r"\x00-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
)
"""Controls, marks of direction and what has no width: a set of a regular expression."""

_BREAKS = r"\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
"""All that some reader takes for the end of a line."""


def line_pattern(header: str, flags: int = 0) -> re.Pattern[str]:
    """Where a line begins with such a header, after what cannot be seen and any number of backslashes.

    header: a regular expression that takes time in proportion to what it is tried on.
    """
    return re.compile(rf"((?<![^{_BREAKS}])(?:(?![{_BREAKS}])[\s{INVISIBLE}])*+)(\\*+{header})", flags)


def with_guards(text: str, pattern: re.Pattern[str]) -> str:
    """The text with one backslash more before what looks like a header. Taking off one backslash from each line that
    looks like one after any number of backslashes gives the text back."""
    return pattern.sub(r"\1\\\2", text)
