"""The documentation that is on every machine: the descriptions of the installed Python packages."""

from collections.abc import Iterator
from importlib.metadata import Distribution, distributions
from typing import NamedTuple

__all__ = ["Chunk", "installed_documentation", "split_markdown"]

CHUNK_CHARACTERS = 1_500

_READABLE = ("text/markdown", "text/plain")
_FENCES = ("```", "~~~")
_HEADING = "#"


class Chunk(NamedTuple):
    """A part of a package's description, as a vector store would hold it."""

    package: str
    number: int
    text: str


def installed_documentation() -> list[Chunk]:
    """Chunks of the Markdown and plain-text descriptions of the installed packages, by name of package."""
    described = {name: text for name, text in map(_description, distributions()) if text.strip()}
    return [
        Chunk(name, number, text)
        for name, description in sorted(described.items())
        for number, text in enumerate(split_markdown(description))
    ]


def split_markdown(text: str, limit: int = CHUNK_CHARACTERS) -> Iterator[str]:
    """Parts of `text` of about `limit` characters that together are the text.

    A part ends at a blank line, never inside a fenced block, and before a heading where it can:
    a part is only longer than `limit` if it is one paragraph or one fenced block.
    """
    part = ""
    for block in _blocks(text):
        if part and (block.startswith(_HEADING) or len(part) + len(block) > limit):
            yield part
            part = ""
        part += block
    if part:
        yield part


def _blocks(text: str) -> Iterator[str]:
    """The paragraphs with the blank lines after them; a fenced block is a part of one."""
    lines: list[str] = []
    fenced = False
    for line in text.splitlines(keepends=True):
        if lines and lines[-1].isspace() and not line.isspace() and not fenced:
            yield "".join(lines)
            lines = []
        fenced ^= line.lstrip().startswith(_FENCES)
        lines.append(line)
    if lines:
        yield "".join(lines)


def _description(distribution: Distribution) -> tuple[str, str]:
    metadata = distribution.metadata
    kind = (metadata["Description-Content-Type"] or "").partition(";")[0].strip().lower()
    return metadata["Name"] or "", (metadata["Description"] or "") if kind in _READABLE else ""
