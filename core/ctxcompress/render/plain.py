"""The texts alone, with the separator of the options between them."""

from dataclasses import dataclass

from ctxcompress.render.entry import Entry

__all__ = ["Plain"]


@dataclass(frozen=True, slots=True)
class Plain:
    separator: str
    opening: str = ""
    closing: str = ""

    def entry(self, entry: Entry) -> str:
        return entry.text
