"""Which boilerplate a query asks for: "who wrote this?" asks for the front matter that names the author.

Boilerplate is what no reader of a text sees, such as comments, front matter and definitions of links."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from ctxcompress.data.passages import Kind, Segment
from ctxcompress.data.table import Floats
from ctxcompress.lazy_regex import lazy_regex

__all__ = ["Surroundings", "surroundings"]

_BOILERPLATE = Kind.BOILERPLATE
_UNASKED = 1e-4
"""The factor on the score of boilerplate that is not asked for: nearly everything else comes before it."""
_LEAST = 0.01
"""The score of wanted boilerplate where all scores are 0."""
_ABOUT = tuple(
    (lazy_regex(asked, re.IGNORECASE), lazy_regex(said, re.IGNORECASE))
    for asked, said in (
        (
            r"\b(?:who wrote|written|author|byline|publi(?:sh|cat|cad|é)|posted|updated|geschrieben|autor|verfasser"
            r"|veröffentlicht|aktualisiert|écrit|auteur|mis à jour|escribió|actualizado|автор|написал|опубликован"
            r"|обновл)|作者|谁写|发布|更新",
            r"\A(?:---|\+\+\+)",
        ),
        (r"\b(?:tag|categor)", "tag|categor"),
        (
            r"\b(?:version|since|added|introduced|deprecated|changelog)",
            r"\b(?:added|changes|deprecated|introduced_in|version):",
        ),
    )
)
"""(words of queries, words of the boilerplate that these ask for). Front matter tells who wrote a text, and when."""
_THE_PAGE = lazy_regex(
    r"\b(?:this|the|that) (?:\w+ )?(?:article|post|page|site|website|blog)\b|\b(?:this|the author)\W*$"
    r"|\b(?:dies\w*|der|die|das) (?:artikel|beitrag|seite|website)\b"
    r"|\b(?:cet|cette|l'|le|la|ce) ?(?:article|page|site)\b"
    r"|\b(?:este|esta|el|la) (?:artículo|página|sitio)\b|\bэт\w+ (?:стать|страниц|сайт)|本文|这篇|本站",
    re.IGNORECASE,
)


class Surroundings(NamedTuple):
    """The numbers of boilerplate segments."""

    unasked: list[int]
    """Segments that the query does not ask for."""
    wanted: list[int]
    """Segments that a query about the page itself asks for, even where they have few of its words."""

    def damp(self, scores: Floats) -> None:
        """Lower the scores of unasked segments to almost nothing, and raise those of wanted ones to the best."""
        if self.unasked or self.wanted:  # most texts have neither
            scores[self.unasked] *= _UNASKED
            scores[self.wanted] = scores.max(initial=_LEAST)


def surroundings(query: str, segments: Sequence[Segment], texts: Sequence[str]) -> Surroundings:
    """Tell which boilerplate segments the query asks for."""
    numbers = [number for number, segment in enumerate(segments) if segment[0] is _BOILERPLATE]
    named = [number for number in numbers if _is_named(query, texts[number])]
    unasked = [number for number in numbers if number not in named]
    return Surroundings(unasked, named if _THE_PAGE.search(query) else [])


def _is_named(query: str, text: str) -> bool:
    """Tell whether the query names what this boilerplate says."""
    return any(asked.search(query) and said.search(text) for asked, said in _ABOUT)
