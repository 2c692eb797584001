"""Not too many passages: of one document, and altogether."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from ctxcompress.config import ScoreKind
from ctxcompress.passages import Passage
from ctxcompress.reduce.scores import standing

__all__ = ["document_key", "within_limits"]

_TRACKING = frozenset("fbclid gclid dclid gbraid wbraid msclkid yclid igshid mc_cid mc_eid _ga _gl ref_src".split())
_TRACKING_PREFIXES = ("utm_", "pk_", "mtm_", "hsa_")
_PORTS = {"http": ":80", "https": ":443"}


def within_limits(
    passages: Sequence[Passage],
    numbers: Iterable[int],
    kind: ScoreKind,
    *,
    max_chunks_per_doc: int,
    top_n: int | None,
    copies: Mapping[int, Sequence[int]],
) -> dict[int, int]:
    """Which of the passages with these numbers stay, the best ones by score, equal ones in their order; and for each
    the one that stays in its place: itself, or where its document has enough, the first of its copies that is of a
    document which has not.

    A passage that does not say which document it is of counts as a document of its own. max_chunks_per_doc: 0 for all.
    """
    stands = standing(passages, kind)
    of_document: Counter[str] = Counter()
    stay: dict[int, int] = {}
    for number in sorted(numbers, key=lambda number: -stands[number]):
        for candidate in (number, *copies.get(number, ())):
            key = document_key(passages[candidate])
            if not max_chunks_per_doc or key is None or of_document[key] < max_chunks_per_doc:
                of_document[key or ""] += 1
                stay[number] = candidate
                break
        if len(stay) == top_n:
            break
    return stay


def document_key(passage: Passage) -> str | None:
    """What two passages of one document have in common: its id, else its path, else its address without what does
    not say which page it is (fragment, tracking parameters, the slash at the end); None if nothing is known."""
    name = passage.doc_id or passage.file_path
    return _normalized(name) if name else None


def _normalized(path: str) -> str:
    if "://" not in path:
        return path
    try:
        scheme, host, place, query, _ = urlsplit(path.strip())
    except ValueError:  # what looks like an address and is none
        return path
    if scheme not in _PORTS or not host:
        return path
    wanted = [(name, value) for name, value in parse_qsl(query, keep_blank_values=True) if not _is_tracking(name)]
    host = host.lower().removesuffix(_PORTS[scheme]).removeprefix("www.")
    return urlunsplit(("https", host, place.rstrip("/"), urlencode(sorted(wanted), errors="surrogatepass"), ""))


def _is_tracking(name: str) -> bool:
    return name.lower() in _TRACKING or name.lower().startswith(_TRACKING_PREFIXES)
