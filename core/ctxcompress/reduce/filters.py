"""What filters of whole passages go by: the retriever's score, and the document; a shortlist of very many; and the
metadata line, which stands for a passage with a low score."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from math import inf, lgamma, log
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import numpy as np

from ctxcompress.config.options import ScoreKind
from ctxcompress.data.metadata import RECORD_KEY, as_number
from ctxcompress.data.passages import Node, NodeKind, Passage, places
from ctxcompress.data.table import Floats
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.text.lines import BREAKS, INVISIBLE, one_line, shortened, shortened_path, spelled, split_lines

__all__ = [
    "PREFIX",
    "above_threshold",
    "are_doubtful",
    "document_key",
    "group_of",
    "is_own_line",
    "known_scores",
    "like_own_lines",
    "metadata_line",
    "relative_scores",
    "shortlist",
    "standing",
]

_ENDING, _LEAST_LETTERS = 2, 4
"""The letters at the end of a term that may differ in a text, and the least that are looked for."""
_FROM_NEIGHBOURS = {1: 0.5, 2: 0.25, 3: 0.125, -1: 0.25}
"""How many passages before it a neighbour stands -> the part of what it is worth that a passage is worth, too."""


def shortlist(texts: Sequence[str], terms: Mapping[str, float], most: int) -> list[int]:
    """Return the numbers of at most so many texts, in order: those that are worth most by the terms that they have.

    Of texts that are worth the same, the first are on the list. terms: term of the query -> its weight.
    """
    lowered = [text.lower() for text in texts]
    joined = "\n".join(lowered)
    begins = np.cumsum([0, *(len(text) + 1 for text in lowered)])[:-1]
    worth = np.zeros(len(texts))
    for piece, weight in _pieces(terms).items():
        found = np.fromiter(places(piece, joined), np.intp)
        has = np.unique(begins.searchsorted(found, side="right") - 1)
        worth[has] += weight * np.log(1 + (len(texts) - has.size + 0.5) / (has.size + 0.5))
    best = np.argsort(-_with_neighbours(worth), kind="stable")[:most]
    return sorted(best.tolist())


def _pieces(terms: Mapping[str, float]) -> dict[str, float]:
    """Return what is searched for -> its weight."""
    found: dict[str, float] = {}
    for term, weight in terms.items():
        piece = term.lower()[: max(_LEAST_LETTERS, len(term) - _ENDING)]
        found[piece] = max(weight, found.get(piece, 0.0))
    return found


def _with_neighbours(worth: Floats) -> Floats:
    most = max(_FROM_NEIGHBOURS)
    around = np.pad(worth, most)
    parts = (part * around[most - before : most - before + worth.size] for before, part in _FROM_NEIGHBOURS.items())
    return np.asarray(worth + sum(parts))


_CHANCE = 0.01
"""An order less likely by chance than this is no coincidence."""
_ROUNDING = 1e-9
"""The tolerance below a threshold: 0.3 * 0.9 is not quite 0.27."""
_TRACKING = frozenset("fbclid gclid dclid gbraid wbraid msclkid yclid igshid mc_cid mc_eid _ga _gl ref_src".split())
_TRACKING_PREFIXES = ("utm_", "pk_", "mtm_", "hsa_")
_PORTS = {"http": ":80", "https": ":443"}


def above_threshold(passages: Sequence[Passage], min_score: float, kind: ScoreKind) -> list[int] | None:
    """Return the numbers of the passages at least this good or with an unknown score; None if all are unknown.

    Absolute scores are compared as they are, others relative to the best, see `relative_scores`.
    """
    scores = known_scores(passages, kind)
    if kind != "absolute":
        scores = relative_scores(scores, kind)
    if all(score is None for score in scores):
        return None
    slack = _ROUNDING * max(1.0, abs(min_score))
    return [number for number, score in enumerate(scores) if score is None or score >= min_score - slack]


def relative_scores(scores: Sequence[float | None], kind: ScoreKind) -> list[float | None]:
    """Normalize the scores of one retrieval to 0 to 1, with 1.0 for the best. Unknown scores stay unknown.

    A similarity becomes its share of the greatest one, a distance d becomes (1 + least) / (1 + d), and a rank r becomes
    1 / (1 + r - least), the reciprocal rank. All become unknown if no similarity is positive and some are negative, or
    if a distance is negative: then a share means nothing.
    """
    known = [score for score in scores if score is not None]
    if not known:
        return list(scores)
    if kind in ("similarity", "absolute"):
        best = max(known)
        if best <= 0:
            all_equal = min(known) == 0
            return [1.0 if all_equal and score is not None else None for score in scores]
        return [None if score is None else max(score / best, 0.0) for score in scores]
    least = min(known)
    if kind == "rank":
        return [None if score is None else 1 / (1 + (score - least)) for score in scores]
    if least < 0:
        return [None] * len(scores)
    return [None if score is None else (1 + least) / (1 + score) for score in scores]


def known_scores(passages: Sequence[Passage], kind: ScoreKind) -> list[float | None]:
    """Return the score of each passage; None if it is unknown or if scores mean nothing."""
    return [None if kind == "none" else as_number(passage.score) for passage in passages]


def standing(passages: Sequence[Passage], kind: ScoreKind) -> list[float]:
    """Return numbers by which passages can be compared: more is better, an unknown score is -inf."""
    sign = -1.0 if kind in ("distance", "rank") else 1.0
    return [-inf if score is None else sign * score for score in known_scores(passages, kind)]


def are_doubtful(standing: Sequence[float]) -> bool:
    """Tell whether scores never get worse from the first passage to the last, and this is no coincidence.

    A retriever gives its best passage first. So the scores mean the opposite of what was declared, or the passages were
    reversed. standing: of the passages of one retrieval, in their order.
    """
    known = [stands for stands in standing if stands != -inf]
    if any(one > next_one for one, next_one in pairwise(known)):
        return False
    ties = sum(lgamma(1 + times) for times in Counter(known).values())
    return ties - lgamma(1 + len(known)) < log(_CHANCE)  # the share of all orders that never fall


def document_key(passage: Passage) -> str | None:
    """Return a key that is the same for all passages of one document; None if the document is unknown.

    It is the id, else the path or address. An address loses its fragment, tracking parameters and final slash.
    """
    name = passage.doc_id or passage.file_path
    return _normalized(name) if name else None


def group_of(passage: Passage) -> tuple[object, ...] | None:
    """Return a key that is the same for chunks that may be pieces of one text; None if nothing is known."""
    key = document_key(passage) or passage.title
    return (key, passage.header_path) if key else None


def _normalized(path: str) -> str:
    if "://" not in path:
        return path
    try:
        scheme, host, place, query, _ = urlsplit(path.strip())
    except ValueError:  # not a valid address
        return path
    if scheme not in _PORTS or not host:
        return path
    wanted = [
        (name, value)
        for name, value in parse_qsl(query, keep_blank_values=True)
        if not (name.lower() in _TRACKING or name.lower().startswith(_TRACKING_PREFIXES))
    ]
    host = host.lower().removesuffix(_PORTS[scheme]).removeprefix("www.")
    return urlunsplit(("https", host, place.rstrip("/"), urlencode(sorted(wanted), errors="surrogatepass"), ""))


PREFIX = "[metadata-only]"

_LONGEST, _LONGEST_PLACE, _LONGEST_NAME = 200, 80, 40
"""Characters of both lines, of a path or an id, and of a name."""
_RESERVED = 60
"""Characters that are reserved for the comment, before names take the rest."""
_SAMPLE = 2_000
"""Characters at the beginning of a passage that a comment or a first line is looked for in."""
_CONTAINERS = frozenset((NodeKind.CLASS, NodeKind.TYPE, NodeKind.NAMESPACE))
_NAMED = _CONTAINERS | {NodeKind.FUNCTION, NodeKind.METHOD, NodeKind.CONSTANT}
_COMMENT = lazy_regex(r"[ \t]*(?:#(?![!\[])|//|/\*|\*|--|\"{3}|'{3}|[rRuU](?:\"{3}|'{3}))")
_DECORATION = "#/*-!\"'`=~_ \t"
_SHEBANG = lazy_regex(r"#!|[ \t]*#[^\n]*coding[:=]")
_LOOKS_LIKE_LINE = lazy_regex(rf"(?<![^{BREAKS}])(?:(?![{BREAKS}])[\s{INVISIBLE}])*+({spelled(PREFIX)})", re.IGNORECASE)
_LAST_LINE = 10**9
_KEYS = (("start_line", "end_line"), ("startLine", "endLine"), ("loc.lines.from", "loc.lines.to"))


def is_own_line(passage: Passage) -> bool:
    """Tell whether a passage is a line from an earlier compression: its record says so."""
    text = passage.text
    if len(text) > _LONGEST or text.count("\n") > 1 or not text.startswith(PREFIX):
        return False
    record = passage.metadata.get(RECORD_KEY)
    return isinstance(record, Mapping) and record.get("metadata_only") is True


def like_own_lines(passage: Passage) -> tuple[int, ...]:
    """Return the places in a passage's text that look like the beginning of such a line.

    The caller shows a backslash before each, so that they cannot be mistaken for a real line.
    """
    if is_own_line(passage) or "]" not in passage.text:
        return ()
    return tuple(match.start(1) for match in _LOOKS_LIKE_LINE.finditer(passage.text))


def metadata_line(passage: Passage, nodes: Sequence[Node] = ()) -> str:
    """Return the line that stands for a passage: its place and line numbers, and the names that it defines.

    A passage that defines nothing shows its headings and size instead. A second line has the beginning of its comment
    or docstring. There are at most two lines and 200 characters. Line breaks and control, formatting and bidirectional
    characters are removed, because they could forge a line. Line numbers are those that a loader has stored
    (`start_line` and `end_line`, or `loc.lines`), else they count from the beginning of the passage. nodes: the outline
    of source code.
    """
    where = _where(passage)
    first, last = _lines(passage)
    place = f"{PREFIX} {where}:{first}-{last}" if last > first else f"{PREFIX} {where}:{first}"
    about = _LOOKS_LIKE_LINE.sub(r"\\\1", _description(passage.text)) if nodes else ""  # it begins a line
    room = _LONGEST - len(place) - min(len(about), _RESERVED)
    what = _what(passage, nodes, room - 5)
    line = f"{place}: {what}" if what else place
    room = _LONGEST - len(line) - 3
    return f"{line}\n  {shortened(about, room)}" if about and room >= min(len(about), _RESERVED // 2) else line


def _where(passage: Passage) -> str:
    path = passage.file_path or passage.doc_id or passage.title
    place = one_line(path) if path else ""
    return shortened_path(place, _LONGEST_PLACE) if place else shortened(one_line(passage.id), _LONGEST_PLACE)


def _what(passage: Passage, nodes: Sequence[Node], room: int) -> str:
    """Return as many kinds and names of definitions as fit, or the headings and the size of prose."""
    names = [shortened(one_line(name), _LONGEST_NAME) for name in _definitions(nodes)]
    if names:
        shown, length = list[str](), len(", …")
        for name in names:
            if length + len(name) + 2 > room:
                return ", ".join((*shown, "…"))
            shown.append(name)
            length += len(name) + 2
        return ", ".join(shown)
    size = f"{len(passage.text):,} characters"
    headings = passage.header_path or ((passage.title,) if passage.title else ())
    path = " › ".join(filter(None, map(one_line, headings))) or _first_line(passage.text)
    return (
        f"{shortened(path, room - len(size) - 2)}, {size}" if path and room > len(size) + 12 else size[: max(room, 0)]
    )


def _definitions(nodes: Sequence[Node]) -> Iterator[str]:
    """Yield the definitions, outer ones first and public ones before private ones."""
    level = [node for node in nodes if node.name and node.kind in _NAMED]
    while level:
        for node in sorted(
            level, key=lambda node: (node.kind is NodeKind.CONSTANT, node.name.rpartition(".")[2].startswith("_"))
        ):
            yield f"{node.kind} {node.name}"
        inside = (child for node in level if node.kind in _CONTAINERS for child in node.children)
        level = [child for child in inside if child.name and child.kind in _NAMED - {NodeKind.CONSTANT}]


def _lines(passage: Passage) -> tuple[int, int]:
    """Return the numbers of the first and the last line, from 1."""
    metadata, loc = dict(passage.metadata), passage.metadata.get("loc")
    if isinstance(loc, Mapping) and isinstance(lines := loc.get("lines"), Mapping):
        metadata |= {f"loc.lines.{name}": number for name, number in lines.items()}
    for first, last in _KEYS:
        begin, end = as_number(metadata.get(first)), as_number(metadata.get(last)) or 0
        if begin is not None and 0 <= begin <= _LAST_LINE:
            return int(begin), int(min(max(begin, end), _LAST_LINE))
    return 1, max(passage.text.rstrip().count("\n") + 1, 1)


def _description(text: str) -> str:
    """Return the first line with letters in the first comment or docstring."""
    within = False
    for line in split_lines(text[:_SAMPLE]):
        within = (within and bool(line.strip())) or _COMMENT.match(line) is not None
        words = one_line(line.strip()).strip(_DECORATION)
        if within and not _SHEBANG.match(line) and any(map(str.isalpha, words)):
            return words.removeprefix('r"""').strip()
    return ""


def _first_line(text: str) -> str:
    return next((words for line in split_lines(text[:_SAMPLE]) if (words := one_line(line).strip("#*=- \t"))), "")
