"""The texts of records as the scorers read them: without the keys that most records have, and without escapes."""

import re
from collections import Counter
from collections.abc import Sequence, Set

from ctxcompress.lazy_regex import lazy_regex

__all__ = ["readable_records"]

_KEY = lazy_regex(r"\"((?:[^\"\\]++|\\.){0,64}+)\\?\"[ \t]*+:")
"""A key. Without a limit, each quote that is escaped would be tried as the start of one that ends nowhere."""
_ESCAPE = lazy_regex(r"\\++(?:u([0-9a-fA-F]{4})|.)", re.DOTALL)
_SURROGATES = lazy_regex(r"[\ud800-\udbff][\udc00-\udfff]")
_COMMON = 0.5
"""A key that more than this share of the records has says nothing about one of them."""
_FEW = 3
"""In fewer records no key counts as common."""
_NONE: Set[str] = frozenset()


def readable_records(texts: Sequence[str]) -> list[str]:
    """Return the texts of records without the keys that most of them have, and with escaped characters as they are."""
    keys = [{match[1] for match in _KEY.finditer(text)} if ":" in text else _NONE for text in texts]
    with_keys = [of_text for of_text in keys if of_text]
    counts = Counter(key for of_text in with_keys for key in of_text)
    enough = max(_COMMON * len(with_keys), _FEW)
    common = {key for key, number in counts.items() if number > enough}
    return [_unescaped(_without(text, common & of_text)) for text, of_text in zip(texts, keys, strict=True)]


def _without(text: str, keys: Set[str]) -> str:
    return _KEY.sub(lambda match: " " if match[1] in keys else match[0], text) if keys else text


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text
    plain = _ESCAPE.sub(lambda match: chr(int(match[1], 16)) if match[1] else " ", text)
    return _SURROGATES.sub(lambda match: match[0].encode("utf-16", "surrogatepass").decode("utf-16"), plain)
