"""Finds the numbered titles of contracts, laws and terms of service in plain text: lines such as these.

    § 4 Kaution                ARTICLE IV                    1.2 Scope
    Section 3. Term            Definitions                   第三条 租赁期限

A title is a short line of its own with text under it. A line that reads like a sentence, or may be in the middle of
one, is none; nor is an entry of a table of contents, which another title follows at once.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.text.lines import split_lines

__all__ = ["NumberedTitle", "numbered_titles"]

_LEVELS = {
    1: "part parte partie teil часть schedule annex appendix exhibit anlage anhang annexe anexo allegato приложение",
    2: "title titel título titre titolo",
    3: "amendment chapter kapitel capítulo chapitre capitolo hoofdstuk rozdział глава",
    4: "section abschnitt sección seção sezione afdeling avsnitt раздел",
    5: "article art artikel artículo articolo artigo artykuł статья clause cláusula clausola madde § §§",
}
_LEVEL_OF = {word: level for level, words in _LEVELS.items() for word in words.split()}
"""The first word of a title -> its depth."""
_LEVEL_OVER_SECTIONS = {**_LEVEL_OF, **dict.fromkeys(_LEVELS[5].split(), 3)}
"""The same in a text whose articles have sections, as constitutions and contracts in English do."""
_ARTICLE_OVER_SECTION = lazy_regex(r"^[ \t]*+art(?:icle)?\.?[ \t]++\w++[^\n]{0,80}+\n\s*+section[ \t]", re.I | re.M)
_HAN_LEVELS = {"编": 1, "編": 1, "部": 1, "章": 3, "节": 4, "節": 4, "条": 5, "條": 5}
_DECIMAL_LEVEL = 5
_DEEPER = 2
"""How much deeper each further part of a number is: Section 1.1 is within Article 1."""
_HAN_NUMBER = r"\d〇零一二三四五六七八九十百千"
_MAY_BE = lazy_regex(
    rf"\n[ \t]*+(?:§|第[{_HAN_NUMBER}]|\d{{1,2}}\.\d|(?P<word>[^\W\d_a-z][^\W\d_]{{2,11}})\.?[ \t]++[\dIVXLCDMA-H])"
)
"""The beginning of a line that may be a title, with the line end before it, to which a search skips."""
_NUMBER = r"\d{1,4}(?:\.\d{1,3}){0,3}[a-z]?|[IVXLCDM]{1,8}|[A-H]"
_BEGINNING = lazy_regex(
    rf"(?:(?P<word>§§?|[^\W\d_]{{3,12}})(?:\.?[ \t\u00a0]++|(?<=§))(?P<number>{_NUMBER})(?![\w%])"
    rf"|(?P<decimal>[1-9]\d?(?:\.[1-9]\d?){{1,3}})(?=\.?[ \t])"
    rf"|第[{_HAN_NUMBER}]{{1,8}}(?P<han>[{''.join(_HAN_LEVELS)}]))"
    r"(?P<mark>(?:[ \t]*+[.:\u2013\u2014-])?)(?:[ \t\u3000]++|(?=[（(【])|$)"
)
_CAPTION = lazy_regex(r"[\"'“„«(（【\[]?[^\W\d_a-zß-öø-ÿа-яё]")
"""The beginning of a caption: no small letter."""
_APART = lazy_regex(r"[ \t]{2}|\t|\||\.{2}|…")
"""What stands between the cells of a table, or before the number of a page."""
_LONGEST = 100
"""The most characters of a line that is a title."""
_MOST_WORDS = 12
_SENTENCE_ENDS = (".", "!", "?", "。", "！", "？", "؟", "।")
_GOES_ON = (*_SENTENCE_ENDS, ",", ";", ":", "，", "；", "：", "、", "-")
"""How text ends, but no title."""
_MAY_COME_BEFORE = (*_SENTENCE_ENDS, ";", ":", "；", "：")
"""How the line right above a title ends."""


class NumberedTitle(NamedTuple):
    """A title."""

    start: int
    end: int
    """Where the line under it starts."""
    level: int
    """How deep it is, from 1."""


class _Line(NamedTuple):
    """A line that is not blank."""

    start: int
    text: str
    """Without the white space around it."""
    is_after_blank: bool
    """Whether it is the first one, or a blank line is above it."""
    level: int
    """How deep the title is that it may be, from 1; 0 if it reads like anything else."""


def numbered_titles(text: str) -> list[NumberedTitle]:
    """Return the numbered titles of a text, in order."""
    words = {(match["word"] or "§").lower() for match in _MAY_BE.finditer(f"\n{text}")} if "\n" in text else set()
    if _LEVEL_OF.keys().isdisjoint(words):  # so it is for most texts
        return []
    has_both = "section" in words and _ARTICLE_OVER_SECTION.search(text)
    lines = list(_lines(text, _LEVEL_OVER_SECTIONS if has_both else _LEVEL_OF))
    found: list[NumberedTitle] = []
    following: NumberedTitle | None = None
    for number in range(len(lines) - 2, -1, -1):  # what follows a title tells whether it is one
        line = lines[number]
        if not line.level or not _is_apart(lines, number):
            continue
        under = number + 1 + _is_caption_under(lines, number)
        if lines[under].level and not _is_deeper(following, lines[under].start, line.level):
            continue
        following = NumberedTitle(line.start, lines[under].start, line.level)
        found.append(following)
    return found[::-1]


def _lines(text: str, level_of: Mapping[str, int]) -> Iterator[_Line]:
    start, is_after_blank = 0, True
    for line in split_lines(text):
        bare = line.strip()
        if bare:
            yield _Line(start, bare, is_after_blank, _level(bare, level_of))
        is_after_blank = not bare
        start += len(line)


def _level(line: str, level_of: Mapping[str, int]) -> int:
    """Return how deep the title is that this line may be, from 1; 0 if it reads like anything else.

    level_of: first word of a title -> its depth.
    """
    match = _BEGINNING.match(line) if len(line) <= _LONGEST else None
    if match is None or not _reads_like_title(line[match.end() :], is_marked=bool(match["mark"].strip())):
        return 0
    if match["han"]:
        return _HAN_LEVELS[match["han"]]
    if match["decimal"]:
        return (_DECIMAL_LEVEL + _DEEPER * match["decimal"].count(".")) * bool(line[match.end() :])
    word = match["word"]
    level = level_of.get(word.lower(), 0)
    return level and (level + _DEEPER * match["number"].count(".")) * (not word[0].islower())


def _reads_like_title(caption: str, *, is_marked: bool) -> bool:
    """Tell whether the text after a number is the caption of a title. is_marked: whether a sign stands in between."""
    if is_marked and caption.endswith(".") and not caption.endswith(".."):
        caption = caption[:-1]  # "Section 3. Term." is no sentence
    return not caption or _is_caption(caption)


def _is_caption(line: str) -> bool:
    is_short = len(line) <= _LONGEST and line.count(" ") < _MOST_WORDS
    return is_short and _CAPTION.match(line) is not None and not line.endswith(_GOES_ON) and not _APART.search(line)


def _is_apart(lines: Sequence[_Line], number: int) -> bool:
    """Tell whether the lines around are no part of the same sentence."""
    below = lines[number + 1]
    if not below.is_after_blank and below.text[0].islower():
        return False
    above = lines[number - 1]
    return lines[number].is_after_blank or above.text.endswith(_MAY_COME_BEFORE) or above.level > 0


def _is_caption_under(lines: Sequence[_Line], number: int) -> bool:
    """Tell whether the next line is the caption of a title that is a number alone."""
    if number + 2 >= len(lines) or not _BEGINNING.fullmatch(lines[number].text):
        return False
    caption, below = lines[number + 1], lines[number + 2]
    return _is_caption(caption.text) and not caption.level and not below.text[0].islower()


def _is_deeper(title: NumberedTitle | None, start: int, level: int) -> bool:
    """Tell whether the title begins here and is deeper than this."""
    return title is not None and title.start == start and title.level > level
