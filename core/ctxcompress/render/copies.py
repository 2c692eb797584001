"""Passages that stand for others, and these beside them with the words that differ."""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from ctxcompress.passages import Passage
from ctxcompress.render.facts import Facts
from ctxcompress.render.html import Html, element, label, plural
from ctxcompress.render.passages import link

__all__ = ["clusters", "clusters_of"]

_COMPARED = 600
"""Characters of each text: comparing takes time in proportion to their square."""
_MOST = 7
"""Copies that are shown beside the one that stands for them."""
_WORD = re.compile(r"\w+|\s+|[^\w\s]")


def clusters_of(facts: Facts) -> dict[int, list[int]]:
    """Number of a passage -> the numbers of those that it stands for."""
    found: dict[int, list[int]] = {}
    for decision in facts.compression.dropped:
        if decision.duplicate_of is not None:
            found.setdefault(decision.duplicate_of, []).append(decision.index)
    return dict(sorted(found.items()))


def clusters(facts: Facts) -> Iterator[Html]:
    """Each leader with its members."""
    for leader, members in clusters_of(facts).items():
        head = element("h3", None, link(leader), f" stands for {plural(len(members), 'passage')}")
        whole = facts.passages[leader]
        sides = [_side(leader, whole, [whole.text[:_COMPARED]], "stands for the others")]
        sides += [_member(member, facts.passages[member], whole) for member in members[:_MOST]]
        others = [" ", *(part for member in members[_MOST:] for part in (link(member), " "))]
        more = [element("p", None, "and ", *others)] if len(members) > _MOST else []
        yield element("section", {"class": "cluster"}, head, element("div", {"class": "sides"}, *sides), *more)


def _member(index: int, passage: Passage, leader: Passage) -> Html:
    if passage.text == leader.text:
        return _side(index, passage, [element("i", None, "the same text")], "")
    return _side(
        index, passage, list(_compared(leader.text[:_COMPARED], passage.text[:_COMPARED])), "marked: only here"
    )


def _side(index: int, passage: Passage, inside: Sequence[str], told: str) -> Html:
    name = next(filter(None, (passage.title, passage.file_path, passage.id)), "")
    rest = len(passage.text) - _COMPARED
    more = [element("bdi", {"class": "more"}, f"{rest:,} more characters")] if rest > 0 else []
    head = element("p", {"class": "told"}, link(index), " ", label(name, 80), element("small", None, told))
    return element("div", {"class": "side"}, head, element("div", {"class": "c", "dir": "auto"}, *inside, *more))


def _compared(one: str, other: str) -> Iterator[str]:
    """The other text, with what is not in the first one marked."""
    before, after = _WORD.findall(one), _WORD.findall(other)
    for kind, _, _, start, end in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        text = "".join(after[start:end])
        if text:
            yield text if kind == "equal" or text.isspace() else element("ins", None, text)
