"""The passages of a page, each with what is kept and what is left out of it."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import NamedTuple

from ctxcompress.code.detection import looks_like_code
from ctxcompress.data.passages import Passage, Span
from ctxcompress.data.results import Decision, KeptPassage, Reason
from ctxcompress.data.spans import joined
from ctxcompress.render.headers import known_score
from ctxcompress.xray.facts import MEANING, Facts, Scored
from ctxcompress.xray.html import Html, element, figure, label, plural, short

__all__ = ["Part", "clusters", "clusters_of", "filters", "link", "map_of", "parts_of", "passages", "scale"]


class Part(NamedTuple):
    """A piece of what is shown of a passage."""

    text: str
    reason: Reason | None = None
    """Why it is left out; None for what is kept."""
    score: float | None = None
    """Of the segment, or of the best one in what is left out; None where that is not known."""
    is_marker: bool = False
    """Whether it stands for what is left out, and is not of the passage."""


def parts_of(text: str, kept: KeptPassage | None, dropped: Iterable[Decision], scores: Sequence[Scored]) -> list[Part]:
    """The parts in the order of the text. Without markers they are the text."""
    found: list[tuple[Span, Sequence[Part]]] = []
    for decision in dropped:
        for start, end in joined(decision.spans):
            found.append((Span(start, end), [Part(text[start:end], decision.reason, _best(start, end, scores))]))
    if kept is not None and not kept.metadata_only:
        markers = {before: Part(mark, is_marker=True) for before, mark in kept.markers}
        for number, span in enumerate(kept.spans):
            before = [markers[number]] if number in markers else []
            found.append((span, [*before, *_kept(text, span, scores)]))
        if found and len(kept.spans) in markers:
            found.append((Span(*[kept.spans[-1].end] * 2), [markers[len(kept.spans)]]))
    return [part for _, parts in sorted(found, key=lambda pair: pair[0]) for part in parts]


def _kept(text: str, span: Span, scores: Sequence[Scored]) -> Iterator[Part]:
    """The segments that a kept span consists of."""
    start = span.start
    for (begin, end), score in _within(span.start, span.end, scores):
        if start < begin:
            yield Part(text[start:begin])
        yield Part(text[max(start, begin) : min(end, span.end)], score=score)
        start = min(end, span.end)
    if start < span.end:
        yield Part(text[start : span.end])


def _best(start: int, end: int, scores: Sequence[Scored]) -> float | None:
    return max((score for _, score in _within(start, end, scores)), default=None)


def _within(start: int, end: int, scores: Sequence[Scored]) -> Iterator[Scored]:
    """The segments that have something in common with these characters."""
    first = bisect_right(scores, start, key=lambda scored: scored.span.end)
    while first < len(scores) and scores[first].span.start < end:
        yield scores[first]
        first += 1


_ALLOWANCE = 90_000
"""Bytes of what is left out that a page shows."""
_LONGEST, _SHORTEST = 1_500, 80
"""Of one run of it, in characters."""
_HEAD = 240
"""Characters of a passage of which nothing is kept that are seen before it is opened."""


def link(index: int) -> Html:
    """To a passage."""
    return element("a", {"href": f"#p{index}"}, f"#{index}")


def map_of(facts: Facts) -> Html:
    """All passages in a row: whole, in part, or left out."""
    kept = facts.kept
    items = (element("li", {"class": _share(kept.get(index))}, link(index)) for index in range(len(facts.passages)))
    return element("nav", {"aria-label": "All passages"}, element("ol", {"class": "map"}, *items))


def filters(facts: Facts) -> Html:
    """What is shown: all, what is kept, or what is left out for one reason."""
    rows = [("all", "all", f"{len(facts.passages):,}"), ("kept", "kept", f"{len(facts.compression.passages):,}")]
    for reason in facts.reasons:
        of = [decision for decision in facts.compression.dropped if decision.reason is reason]
        rows.append((reason.value, reason.value, f"{len({decision.index for decision in of}):,}"))
    chosen = [
        element(
            "label",
            {"class": f"f r-{name}"},
            element("input", {"type": "radio", "name": "f", "id": f"f-{name}", **_checked(name == "all")}),
            f" {shown} ",
            element("span", {"class": "n"}, number),
        )
        for name, shown, number in rows
    ]
    figures = element(
        "label", {"class": "f"}, element("input", {"type": "checkbox", "id": "figures"}), " scores in figures"
    )
    legend = element("legend", None, "Show passages")
    return element("fieldset", {"class": "filters"}, legend, *chosen, figures)


def scale(facts: Facts) -> Html:
    """What the colours mean."""
    steps = (
        element("li", None, element("mark", {"class": f"h{number}"}, short(least)))
        for number, least in enumerate(facts.levels)
    )
    sample = element("bdi", {"class": "why"}, "reason .02")
    told = element(
        "p", None, f"Kept text by its score, {facts.scale}, from these values on. ", sample, "left out; best score"
    )
    return element("div", {"class": "scale"}, element("ol", None, *steps), told)


def passages(facts: Facts) -> Iterator[Html]:
    """All of them, in the order in which they came."""
    kept, dropped = facts.kept, facts.dropped
    shown = [
        parts_of(passage.text, kept.get(index), dropped[index], facts.scores.get(index, ()))
        for index, passage in enumerate(facts.passages)
    ]
    text = _Texts(facts.levels, _limit(part for parts in shown for part in parts))
    for index, (passage, parts) in enumerate(zip(facts.passages, shown, strict=True)):
        part = kept.get(index)
        reasons = [reason for reason in MEANING if any(decision.reason is reason for decision in dropped[index])]
        classes = ["p", *["kept"] * (part is not None), *(f"r-{reason.value}" for reason in reasons)]
        leader = next((decision.duplicate_of for decision in dropped[index] if decision.duplicate_of is not None), None)
        yield element(
            "article",
            {"class": " ".join(classes), "id": f"p{index}", "aria-labelledby": f"t{index}"},
            _header(index, passage, part, leader, facts),
            *([element("p", {"class": "line", "dir": "auto"}, part.text)] if part and part.metadata_only else []),
            text.of(passage, parts, is_out=part is None or part.metadata_only),
        )


def _header(index: int, passage: Passage, part: KeptPassage | None, leader: int | None, facts: Facts) -> Html:
    name = next(filter(None, (passage.title, passage.file_path, passage.id)), "")
    place = [label(passage.file_path)] if passage.file_path and passage.file_path != name else []
    if passage.header_path:
        place.append(label("§ " + " > ".join(map(str, passage.header_path))))
    told: list[Html | str] = [Html.of(("id ", label(passage.id)))] if passage.id != name else []
    if (score := known_score(passage)) is not None:
        told.append(f"retriever's score {figure(score)}")
    tokens_in = facts.count(passage.text)
    told.append(plural(tokens_in, "token") if part is None else f"{part.tokens:,} of {plural(tokens_in, 'token')}")
    if part is not None and not part.metadata_only:
        told.append(f"relevance {figure(part.relevance)}")
    if part is not None and part.metadata_only:
        told.append("shown as a line")
    if leader is not None:
        told.append(Html.of(("a copy: ", link(leader), " stands for it")))
    if part is not None and part.stands_for:
        told.append(Html.of(("stands for ", *_listed(map(link, part.stands_for)))))
    return element(
        "header",
        None,
        element(
            "h3",
            {"id": f"t{index}"},
            element("a", {"href": f"#p{index}", "class": "no"}, f"#{index}"),
            " ",
            label(name),
        ),
        element("span", {"class": f"state {_share(part)}"}, _STATES[_share(part)]),
        *([element("p", {"class": "place"}, *_listed(place))] if place else []),
        element("p", {"class": "told"}, *_listed(told)),
    )


_STATES = {"whole": "whole", "some": "in part", "line": "as a line", "none": "left out"}


def _share(part: KeptPassage | None) -> str:
    if part is None:
        return "none"
    return "line" if part.metadata_only else "whole" if part.untouched else "some"


@dataclass(frozen=True, slots=True)
class _Texts:
    """How texts are shown."""

    levels: Sequence[float]
    limit: int
    """The most characters of a run of left out text."""

    def of(self, passage: Passage, parts: Sequence[Part], *, is_out: bool) -> Html:
        """is_out: whether nothing of it is kept."""
        is_code = looks_like_code(passage.text, passage.file_path or passage.title)
        attributes = {"class": "t code" if is_code else "t", "dir": "ltr" if is_code else "auto"}
        show = self._folded if is_out else self._shown
        return element("div", attributes, *(html for part in parts for html in show(part)))

    def _shown(self, part: Part) -> Iterator[Html]:
        if part.is_marker:
            yield element("b", {"class": "m"}, part.text)
        elif part.reason is not None:
            yield self._dropped(part.reason, part.text, _why(part), self.limit)
        elif part.score is None or part.text.isspace():
            yield element("mark", {"class": "h"}, part.text)
        else:
            level = max(bisect_right(self.levels, part.score) - 1, 0)
            yield element("mark", {"class": f"h{level}"}, element("sup", None, short(part.score)), part.text)

    def _folded(self, part: Part) -> Iterator[Html]:
        """The beginning, and the rest when it is opened."""
        head, rest = part.text[:_HEAD], part.text[_HEAD:]
        if part.reason is None or len(rest) <= _SHORTEST:
            yield from self._shown(part)
            return
        yield self._dropped(part.reason, head, _why(part), _HEAD)
        summary = element("summary", None, f"{len(rest):,} more characters")
        yield element("details", None, summary, self._dropped(part.reason, rest, "", self.limit))

    def _dropped(self, reason: Reason, text: str, why: str, limit: int) -> Html:
        """The reason stands where there is something to be read, not at the end of the line before."""
        begin = min(len(text) - len(text.lstrip()), limit) if why else 0
        inside = [text[:begin], element("bdi", {"class": "why"}, why) if why else "", text[begin:limit]]
        if len(text) > limit:
            inside.append(element("bdi", {"class": "more"}, f"{len(text) - limit:,} more characters"))
        return element("del", {"class": f"d r-{reason.value}"}, *inside)


def _why(part: Part) -> str:
    if not part.text.strip():
        return ""
    return str(part.reason) if part.score is None else f"{part.reason} {short(part.score)}"


def _limit(parts: Iterable[Part]) -> int:
    """The most characters of a run of left out text, so that all of them together are not too much."""
    left_out = [part.text for part in parts if part.reason is not None]
    lengths = [len(text) for text in left_out]
    characters = sum(lengths)
    if not characters:
        return _LONGEST
    width = sum(len(text[:_LONGEST].encode("utf-8", "replace")) for text in left_out) / sum(
        min(length, _LONGEST) for length in lengths
    )
    return min(_LONGEST, max(_SHORTEST, int(_ALLOWANCE / width / len(lengths))))


def _listed(parts: Iterable[Html | str]) -> list[str]:
    """With a point between two."""
    found: list[str] = []
    for part in parts:
        found += [*[" · "] * bool(found), part]
    return found


def _checked(is_so: bool) -> dict[str, str]:
    return {"checked": ""} if is_so else {}


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
