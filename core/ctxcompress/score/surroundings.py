"""Which of what pages put around their text a question asks for: "who wrote this?" wants the byline."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ctxcompress.data.passages import Kind, Segment
from ctxcompress.score.matches import Floats
from ctxcompress.text.notices import Notice, notice_of
from ctxcompress.text.words import Terms, split_words

__all__ = ["Surroundings", "surroundings"]

_BOILERPLATE = Kind.BOILERPLATE
_UNASKED = 1e-4
"""Factor on the score of what is not asked for: it comes after nearly everything else."""
_LEAST = 0.01
"""Score of what is asked for where nothing has any."""
_ENOUGH = 0.5
"""Share of the question's weight that a notice has in its words if it is asked for."""
_AUTHOR = re.compile(
    r"\b(?:who wrote|written|author|byline|publi(?:sh|cat|cad|é)|posted|updated|reading time|geschrieben|autor"
    r"|verfasser|veröffentlicht|aktualisiert|écrit|auteur|mis à jour|escribió|actualizado|автор|написал|опубликован"
    r"|обновл)|作者|谁写|发布|更新",
    re.IGNORECASE,
)
_ABOUT = tuple(
    (re.compile(rf"\b(?:{asked})", re.IGNORECASE), re.compile(said, re.IGNORECASE))
    for asked, said in (
        ("cookie|consent|tracking|куки", "cookie|consent|tracking|куки"),
        ("copyright|rights|urheber|droits|derechos|版权", "©|copyright|rights|rechte|droits|derechos|版权"),
        ("newsletter|subscri|mailing|abonn|подпис|订阅", "newsletter|subscri|sign up|mailing|abonn|inscri|подпис|订阅"),
        ("sponsor|affiliate|advert", "sponsor|affiliate|advert"),
        ("tag|categor|filed", "tag|categor|filed"),
    )
)
"""Words of questions, and of the notices that these are for. Nobody asks for links."""
_THE_PAGE = re.compile(
    r"\b(?:this|the|that) (?:\w+ )?(?:article|post|page|site|website|blog)\b|\b(?:this|the author)\W*$"
    r"|\b(?:dies\w*|der|die|das) (?:artikel|beitrag|seite|website)\b"
    r"|\b(?:cet|cette|l'|le|la|ce) ?(?:article|page|site)\b"
    r"|\b(?:este|esta|el|la) (?:artículo|página|sitio)\b|\bэт\w+ (?:стать|страниц|сайт)|本文|这篇|本站",
    re.IGNORECASE,
)


class Surroundings(NamedTuple):
    """The numbers of segments that are boilerplate."""

    unasked: list[int]
    """Those that the question does not ask for."""
    wanted: list[int]
    """Those that a question about the page itself asks for: few of its words need be in them."""

    def damp(self, scores: Floats) -> None:
        """Makes the scores of the ones next to nothing, and those of the others the best there are."""
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
    """Tells what of the boilerplate a question asks for.

    wanted: the question's terms, with their weights. under: number of a heading -> the segments right under it. A
    heading with nothing else under it is boilerplate too.
    """
    numbers = [number for number, segment in enumerate(segments) if segment[0] is _BOILERPLATE]
    if not numbers:
        return Surroundings([], [])
    named = [number for number in numbers if _is_named(query, texts[number])]
    others = set(numbers).difference(named)
    unasked = {number for number in others if not _has_its_words(texts[number], wanted, terms)}
    headings = {heading for heading, block in under.items() if block and unasked.issuperset(block)}
    return Surroundings(sorted(unasked | headings), named if _THE_PAGE.search(query) else [])


def _is_named(query: str, text: str) -> bool:
    """Whether the question has the word for what the notice is."""
    if any(asked.search(query) and said.search(text) for asked, said in _ABOUT):
        return True
    return _AUTHOR.search(query) is not None and notice_of(text) is Notice.BYLINE


def _has_its_words(text: str, wanted: Mapping[str, float], terms: Terms) -> bool:
    """Whether it is a byline with most of what the question is about: "Jane Doe"."""
    if notice_of(text) is not Notice.BYLINE:
        return False
    said = {term for of_word in terms.of_words(split_words(text)).values() for term in of_word}
    return sum(weight for term, weight in wanted.items() if term in said) > _ENOUGH * sum(wanted.values())
