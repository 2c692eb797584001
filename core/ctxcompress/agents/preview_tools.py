"""The tools `search_previews` and `expand_chunk`: one shows a line for each result, the other opens a result."""

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from difflib import get_close_matches
from hashlib import sha256
from threading import Lock
from typing import TypeVar

from ctxcompress.compressor import Compressor
from ctxcompress.data.passages import Passage
from ctxcompress.errors import BudgetTooSmall, ConfigError, InputError

__all__ = ["CHUNK_ID", "EXPAND", "MAX_TOKENS", "NOTHING", "SEARCH", "PreviewTools"]

Item = TypeVar("Item")

# A language model reads these texts.
SEARCH = (
    "Search the documents. Returns one line for each result: its id in square brackets, its relevance in parentheses "
    "(more is better), the title and headings above it, and the one sentence that fits the query best. A line is only "
    "a preview: read the promising results with expand_chunk before you answer from them."
)
EXPAND = (
    "Read a result of search_previews: its full text or, with max_tokens, only the parts that best answer the query "
    "that found it."
)
CHUNK_ID = "The id of a result, as search_previews shows it in square brackets."
MAX_TOKENS = "The most tokens to return, such as 300. Leave it out for the full text."
NOTHING = "No results to show. Search again with other words."
_TOO_SHORT = "Nothing of it fits into so few tokens. Give more, or leave max_tokens out for the full text."

_LONGEST = 100
"""The most characters of an id that is shown as it is: ids count in the budget."""


@dataclass(frozen=True, slots=True)
class _Found:
    """A passage under its shown id, and the last query that found it."""

    query: str
    passage: Passage


class PreviewTools:
    """A memory of what searches found, by id, from which results are opened. Threads can share it."""

    __slots__ = ("_found", "_lock", "_most", "compressor")

    def __init__(self, compressor: Compressor, *, max_remembered: int) -> None:
        """Make the memory. Raises ConfigError unless `max_remembered` is a whole number, at least 1.

        max_remembered: how many passages to remember; all of the last search if these are more. The least recently
        found are forgotten first.
        """
        if isinstance(max_remembered, bool) or not isinstance(max_remembered, int) or max_remembered < 1:
            raise ConfigError(f"max_remembered is {max_remembered!r}; give a whole number of results, at least 1")
        self.compressor = compressor
        self._most, self._lock = max_remembered, Lock()
        self._found: OrderedDict[str, _Found] = OrderedDict()

    def remember(self, query: str, passages: Sequence[Passage]) -> list[Passage]:
        """Return the passages under ids that no other text has.

        An id stays if a line can show it and no other text has it. Otherwise it is a short hash of the text and its
        source, the same in every search.
        """
        with self._lock:
            named = [self._named(query, passage) for passage in passages]
            while len(self._found) > max(self._most, len({passage.id for passage in named})):
                self._found.popitem(last=False)
        return named

    def remember_items(
        self, query: str, items: Sequence[Item], passages: Sequence[Passage]
    ) -> list[tuple[Item, Passage]]:
        """Return each item of a framework with its passage as remembered; items with the same id count once."""
        found: dict[str, tuple[Item, Passage]] = {}
        for item, passage in zip(items, self.remember(query, passages), strict=True):
            found.setdefault(passage.id, (item, passage))
        return list(found.values())

    def expand(self, chunk_id: str, max_tokens: int | None = None) -> str:
        """Return the full text of a result, or the parts that answer its query, in at most `max_tokens` tokens.

        Raises InputError, for the model to read, if no result has this id or nothing of it fits.
        """
        found = self._recall(chunk_id)
        if max_tokens is None:
            return found.passage.text
        with _told_to_the_model():
            return _checked(self.compressor.expand(found.query, found.passage, max_tokens))

    async def aexpand(self, chunk_id: str, max_tokens: int | None = None) -> str:
        """Do the same on another thread."""
        found = self._recall(chunk_id)
        if max_tokens is None:
            return found.passage.text
        with _told_to_the_model():
            return _checked(await self.compressor.aexpand(found.query, found.passage, max_tokens))

    def _recall(self, id: str) -> _Found:
        with self._lock:
            found = self._found.get(id) or self._found.get(id.strip("[] \n"))
            known = list(self._found)
        if found is None:
            close = get_close_matches(id, known)
            hint = f"Did you mean {' or '.join(close)}? " if close else ""
            raise InputError(
                f"There is no result with the id {id[:100]!r}. {hint}Give an id as search_previews shows it, or search "
                "again: results of long ago are forgotten."
            )
        return found

    def _named(self, query: str, passage: Passage) -> Passage:
        named = replace(passage, id=next(name for name in _names(passage) if self._is_free(name, passage.text)))
        self._found[named.id] = _Found(query, named)
        self._found.move_to_end(named.id)
        return named

    def _is_free(self, id: str, text: str) -> bool:
        return id not in self._found or self._found[id].passage.text == text


@contextmanager
def _told_to_the_model() -> Iterator[None]:
    """Turn the error about a budget that is too small into one that the model reads: it chose the budget."""
    try:
        yield
    except BudgetTooSmall as error:
        raise InputError(str(error)) from error


def _checked(text: str) -> str:
    if not text:
        raise InputError(_TOO_SHORT)
    return text


def _names(passage: Passage) -> Iterator[str]:
    """Yield the passage's own id if a line can show it, then hashes, of which the last is unique to the text."""
    if passage.id == " ".join(passage.id.split()) and 0 < len(passage.id) <= _LONGEST and "]" not in passage.id:
        yield passage.id
    digest = sha256(f"{passage.doc_id}\n{passage.file_path}\n{passage.text}".encode(errors="surrogatepass")).hexdigest()
    yield from (digest[:8], digest)
