"""The cards of the X-ray page: passages with kept and dropped text, filters, and duplicates side by side."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import NamedTuple

from ctxcompress.apps.xray.facts import MEANING, Facts, Scored, within
from ctxcompress.apps.xray.html import Html, element, label, plural, rest, short
from ctxcompress.code.detection import looks_like_code
from ctxcompress.data.metadata import as_number
from ctxcompress.data.passages import Passage, Span, joined
from ctxcompress.data.results import Decision, KeptPassage, Reason
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.text.lines import shortened

__all__ = ["Part", "clusters", "clusters_of", "filters", "link", "map_of", "parts_of", "passages", "scale"]

_ALLOWANCE = 90_000
"""Bytes of dropped text on a page."""
_LONGEST, _SHORTEST = 1_500, 80
"""The most and the fewest characters of one dropped run."""
_HEAD = 240
"""Characters of a dropped passage that are visible before it is opened."""
_STATES = {"whole": "whole", "some": "in part", "line": "as a line", "none": "dropped"}
_COMPARED = 600
"""Characters of each text that are compared: comparing takes quadratic time."""
_MOST_NAMED, _LONGEST_NAMED = 5, 40
"""Of the texts that must be kept of a passage: how many are shown, with how many characters."""
_MOST = 7
"""Duplicates that are shown beside their leader."""
_WORD = lazy_regex(r"\w+|\s+|[^\w\s]")


class Part(NamedTuple):
    """A piece of a passage, or a gap marker."""

    text: str
    reason: Reason | None = None
    """Why it was dropped; None if it is kept."""
    score: float | None = None
    """Of the segment, or of the best segment in dropped text; None if unknown."""
    is_marker: bool = False
    """Whether it is a gap marker, which is not in the passage."""
    along: str = ""
    """Why it may come along with better text."""


def parts_of(text: str, kept: KeptPassage | None, dropped: Iterable[Decision], scores: Sequence[Scored]) -> list[Part]:
    """Return the parts in the order of the text. Without markers they make up the text."""
    found: list[tuple[Span, Sequence[Part]]] = []
    for decision in dropped:
        for start, end in joined(decision.spans):
            best = max((scored.score for scored in within(start, end, scores)), default=None)
            found.append((Span(start, end), [Part(text[start:end], decision.reason, best)]))
    if kept is not None and not kept.metadata_only:
        markers = {before: Part(mark, is_marker=True) for before, mark in kept.markers}
        for number, span in enumerate(kept.spans):
            before = [markers[number]] if number in markers else []
            found.append((span, [*before, *_kept(text, span, scores)]))
        if found and len(kept.spans) in markers:
            found.append((Span(*[kept.spans[-1].end] * 2), [markers[len(kept.spans)]]))
    return [part for _, parts in sorted(found, key=lambda pair: pair[0]) for part in parts]


def _kept(text: str, span: Span, scores: Sequence[Scored]) -> Iterator[Part]:
    """Yield the segments of a kept span."""
    start = span.start
    for (begin, end), score, along in within(span.start, span.end, scores):
        if start < begin:
            yield Part(text[start:begin])
        yield Part(text[max(start, begin) : min(end, span.end)], score=score, along=along)
        start = min(end, span.end)
    if start < span.end:
        yield Part(text[start : span.end])


def map_of(facts: Facts) -> Html:
    """Return a row of all passages: whole, in part, or dropped."""
    kept = facts.kept
    items = (element("li", {"class": _share(kept.get(index))}, link(index)) for index in range(len(facts.passages)))
    return element("nav", {"aria-label": "All passages"}, element("ol", {"class": "map"}, *items))


def filters(facts: Facts) -> Html:
    """Return the choice of passages to show: all, the kept ones, or those dropped for one reason."""
    rows = [("all", f"{len(facts.passages):,}"), ("kept", f"{len(facts.compression.passages):,}")]
    for reason in facts.reasons:
        of = [decision for decision in facts.compression.dropped if decision.reason is reason]
        rows.append((reason.value, f"{len({decision.index for decision in of}):,}"))
    chosen = []
    for name, number in rows:
        choice = {"type": "radio", "name": "f", "id": f"f-{name}", **({"checked": ""} if name == "all" else {})}
        inside = (element("input", choice), f" {name} ", element("span", {"class": "n"}, number))
        chosen.append(element("label", {"class": f"f r-{name}"}, *inside))
    box = element("input", {"type": "checkbox", "id": "figures"})
    figures = element("label", {"class": "f"}, box, " scores in figures")
    legend = element("legend", None, "Show passages")
    return element("fieldset", {"class": "filters"}, legend, *chosen, figures)


def scale(facts: Facts) -> Html:
    """Return the legend of the colours."""
    steps = (
        element("li", None, element("mark", {"class": f"h{number}"}, short(least)))
        for number, least in enumerate(facts.levels)
    )
    sample = element("bdi", {"class": "why"}, "reason .02")
    kept = f"Kept text has the colour of its score, {facts.scale}. "
    dropped = "is dropped text with its best score. The figures also say what better text needs, and what completes it."
    details = element("p", None, kept, sample, dropped)
    return element("div", {"class": "scale"}, element("ol", None, *steps), details)


def passages(facts: Facts) -> Iterator[Html]:
    """Yield the cards of all passages, in input order."""
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
    details: list[Html | str] = [Html.of(("id ", label(passage.id)))] if passage.id != name else []
    details += _figures(passage, part, facts)
    if index in facts.required:
        details.append(Html.of(("must_keep: ", *_listed(map(label, _named(passage, facts.required[index]))))))
    if leader is not None:
        details.append(Html.of(("a duplicate: ", link(leader), " stands for it")))
    if part is not None and part.stands_for:
        details.append(Html.of(("stands for ", *_listed(map(link, part.stands_for)))))
    number = element("a", {"href": f"#p{index}", "class": "no"}, f"#{index}")
    return element(
        "header",
        None,
        element("h3", {"id": f"t{index}"}, number, " ", label(name)),
        element("span", {"class": f"state {_share(part)}"}, _STATES[_share(part)]),
        *([element("p", {"class": "place"}, *_listed(place))] if place else []),
        element("p", {"class": "told"}, *_listed(details)),
    )


def _figures(passage: Passage, part: KeptPassage | None, facts: Facts) -> Iterator[str]:
    """Yield the retriever's score, the tokens and the relevance of a passage."""
    if (score := as_number(passage.score)) is not None:
        yield f"retriever's score {score:.3g}"
    tokens_in = plural(facts.count(passage.text), "token")
    if part is None:
        yield tokens_in
        return
    yield f"{part.tokens:,} of {tokens_in}"
    yield "shown as a line" if part.metadata_only else f"relevance {part.relevance:.3g}"


def _named(passage: Passage, spans: Sequence[Span]) -> list[str]:
    """Return the first few different texts that must be kept of a passage, shortened, and how many others there are."""
    texts = list(dict.fromkeys(" ".join(passage.text[start:end].split()) for start, end in spans))
    shown = [shortened(text, _LONGEST_NAMED) for text in texts[:_MOST_NAMED]]
    return [*shown, f"{len(texts) - _MOST_NAMED:,} others"] if len(texts) > _MOST_NAMED else shown


def _share(part: KeptPassage | None) -> str:
    if part is None:
        return "none"
    return "line" if part.metadata_only else "whole" if part.untouched else "some"


@dataclass(frozen=True, slots=True)
class _Texts:
    """Renders the texts of passages."""

    levels: Sequence[float]
    limit: int
    """The most characters of a dropped run."""

    def of(self, passage: Passage, parts: Sequence[Part], *, is_out: bool) -> Html:
        """Return the text of a passage. is_out: whether nothing of it is kept."""
        is_code = looks_like_code(passage.text, passage.file_name)
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
            figures = f"{short(part.score)} {part.along}".rstrip()
            yield element("mark", {"class": f"h{level}"}, element("sup", None, figures), part.text)

    def _folded(self, part: Part) -> Iterator[Html]:
        """Yield the beginning of a part, and the rest to be opened."""
        head, more = part.text[:_HEAD], part.text[_HEAD:]
        if part.reason is None or len(more) <= _SHORTEST:
            yield from self._shown(part)
            return
        yield self._dropped(part.reason, head, _why(part), _HEAD)
        summary = element("summary", None, f"{len(more):,} more characters")
        yield element("details", None, summary, self._dropped(part.reason, more, "", self.limit))

    def _dropped(self, reason: Reason, text: str, why: str, limit: int) -> Html:
        """Return dropped text with its reason right before the first visible character."""
        begin = min(len(text) - len(text.lstrip()), limit) if why else 0
        inside = (text[:begin], element("bdi", {"class": "why"}, why) if why else "", text[begin:limit])
        return element("del", {"class": f"d r-{reason.value}"}, *inside, *rest(len(text) - limit))


def _why(part: Part) -> str:
    if not part.text.strip():
        return ""
    return str(part.reason) if part.score is None else f"{part.reason} {short(part.score)}"


def _limit(parts: Iterable[Part]) -> int:
    """Return the most characters of a dropped run, so that the page does not become too large."""
    dropped = [part.text for part in parts if part.reason is not None]
    lengths = [len(text) for text in dropped]
    characters = sum(lengths)
    if not characters:
        return _LONGEST
    width = sum(len(text[:_LONGEST].encode("utf-8", "replace")) for text in dropped) / sum(
        min(length, _LONGEST) for length in lengths
    )
    return min(_LONGEST, max(_SHORTEST, int(_ALLOWANCE / width / len(lengths))))


def clusters_of(facts: Facts) -> dict[int, list[int]]:
    """Return number of a passage -> the numbers of its duplicates."""
    found: dict[int, list[int]] = {}
    for decision in facts.compression.dropped:
        if decision.duplicate_of is not None:
            found.setdefault(decision.duplicate_of, []).append(decision.index)
    return dict(sorted(found.items()))


def clusters(facts: Facts) -> Iterator[Html]:
    """Yield each leader with its duplicates."""
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
    differences = [*_marked_differences(leader.text[:_COMPARED], passage.text[:_COMPARED])]
    return _side(index, passage, differences, "marked: only here")


def _side(index: int, passage: Passage, inside: Sequence[str], details: str) -> Html:
    name = next(filter(None, (passage.title, passage.file_path, passage.id)), "")
    head = element("p", {"class": "told"}, link(index), " ", label(name, 80), element("small", None, details))
    return element(
        "div",
        {"class": "side"},
        head,
        element("div", {"class": "c", "dir": "auto"}, *inside, *rest(len(passage.text) - _COMPARED)),
    )


def _marked_differences(one: str, other: str) -> Iterator[str]:
    """Yield the other text with the words that the first one lacks marked."""
    before, after = _WORD.findall(one), _WORD.findall(other)
    for kind, _, _, start, end in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        text = "".join(after[start:end])
        if text:
            yield text if kind == "equal" or text.isspace() else element("ins", None, text)


def link(index: int) -> Html:
    """Return a link to a passage."""
    return element("a", {"href": f"#p{index}"}, f"#{index}")


def _listed(parts: Iterable[Html | str]) -> list[str]:
    """Join the parts with dots in between."""
    found: list[str] = []
    for part in parts:
        found += [*[" · "] * bool(found), part]
    return found
