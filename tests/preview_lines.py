"""Preview lines, read in tests."""

import re

__all__ = ["without_relevance"]

_RELEVANCE = re.compile(r"^(\[[^\n]*?\]) \(\d+\.\d\d\)", re.MULTILINE)


def without_relevance(text: str) -> str:
    """Return preview lines without the relevance behind each id, which none of them may lack."""
    bare, found = _RELEVANCE.subn(r"\1", text)
    assert found == len(text.splitlines()), text
    return bare
