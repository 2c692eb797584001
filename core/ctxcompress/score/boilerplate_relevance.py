"""Which boilerplate of web pages a query asks for: "who wrote this?" asks for the byline.

Comments, front matter and definitions of links are no text either."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ctxcompress.data.passages import Kind, Segment
from ctxcompress.data.table import Floats
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.text.notices import Notice, notice_of
from ctxcompress.text.words import Terms, split_words

__all__ = ["Surroundings", "surroundings"]

_BOILERPLATE = Kind.BOILERPLATE
_NO_TEXT = ("<!--", "{/*", "---", "+++", "[", "import ")
"""How comments, front matter, definitions and imports of Markdown begin. A heading above them has text below."""
_UNASKED = 1e-4
"""The factor on the score of boilerplate that is not asked for: nearly everything else comes before it."""
_LEAST = 0.01
"""The score of wanted boilerplate where all scores are 0."""
_ENOUGH = 0.5
"""A byline with more than this share of the query's weight in its words is asked for."""
_AUTHOR = lazy_regex(
    r"\b(?:who wrote|written|author|byline|publi(?:sh|cat|cad|é)|posted|updated|reading time|geschrieben|autor"
    r"|verfasser|veröffentlicht|aktualisiert|écrit|auteur|mis à jour|escribió|actualizado|автор|написал|опубликован"
    r"|обновл)|作者|谁写|发布|更新",
    re.IGNORECASE,
)
_ABOUT = tuple(
    (lazy_regex(rf"\b(?:{asked})", re.IGNORECASE), lazy_regex(said, re.IGNORECASE))
    for asked, said in (
        ("cookie|consent|tracking|куки", "cookie|consent|tracking|куки"),
        ("copyright|rights|urheber|droits|derechos|版权", "©|copyright|rights|rechte|droits|derechos|版权"),
        ("newsletter|subscri|mailing|abonn|подпис|订阅", "newsletter|subscri|sign up|mailing|abonn|inscri|подпис|订阅"),
        ("sponsor|affiliate|advert", "sponsor|affiliate|advert"),
        ("tag|categor|filed", "tag|categor|filed"),
        (
            r"version|since|added|introduced|deprecated|changelog",
            r"\b(?:added|changes|deprecated|introduced_in|version):",
        ),
    )
)
"""(words of queries, words of the notices that these ask for). Nobody asks for links."""
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


def surroundings(
    query: str,
    segments: Sequence[Segment],
    texts: Sequence[str],
    wanted: Mapping[str, float],
    terms: Terms,
    under: Mapping[int, range],
) -> Surroundings:
    """Tell which boilerplate segments the query asks for.

    wanted: the terms of the query with their weights. under: number of a heading -> the segments right under it. A
    heading with only boilerplate under it is boilerplate too.
    """
    numbers = [number for number, segment in enumerate(segments) if segment[0] is _BOILERPLATE]
    if not numbers:
        return Surroundings([], [])
    named = [number for number in numbers if _is_named(query, texts[number])]
    others = set(numbers).difference(named)
    unasked = {number for number in others if not _has_its_words(texts[number], wanted, terms)}
    notices = {number for number in unasked if not texts[number].startswith(_NO_TEXT)}
    headings = {
        heading
        for heading, block in under.items()
        if block and unasked.issuperset(block) and not notices.isdisjoint(block)
    }
    return Surroundings(sorted(unasked | headings), named if _THE_PAGE.search(query) else [])


def _is_named(query: str, text: str) -> bool:
    """Tell whether the query names this kind of notice."""
    if any(asked.search(query) and said.search(text) for asked, said in _ABOUT):
        return True
    is_of_page = text.startswith(("---", "+++")) or notice_of(text) is Notice.BYLINE
    return is_of_page and _AUTHOR.search(query) is not None


def _has_its_words(text: str, wanted: Mapping[str, float], terms: Terms) -> bool:
    """Tell whether the notice is a byline with most of the query's weight, such as the author "Jane Doe"."""
    if notice_of(text) is not Notice.BYLINE:
        return False
    said = {term for of_word in terms.of_words(split_words(text)).values() for term in of_word}
    return sum(weight for term, weight in wanted.items() if term in said) > _ENOUGH * sum(wanted.values())
