"""What was left out of a tool's result: put into a store, named in a marker, and given back to the agent that asks."""

import hmac
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import sha256
from typing import Self

from ctxcompress.agents.left_out import LeftOutStore, as_bytes
from ctxcompress.agents.markers import PREFIX, LeftOut, Shorter, guarded, lines_of, marker_room
from ctxcompress.compressor import Compressor
from ctxcompress.config.checks import check_count
from ctxcompress.config.options import CompressionConfig
from ctxcompress.data.passages import Span
from ctxcompress.data.results import Compression
from ctxcompress.errors import BudgetTooSmall, ConfigError, InputError, warn
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.text.lines import longest_prefix

__all__ = [
    "EXPAND",
    "EXPAND_LEFT_OUT",
    "HANDLE",
    "LINES",
    "QUESTION",
    "CannotExpand",
    "Expander",
    "Keeper",
    "check_room",
    "fitted",
    "with_marker",
]

EXPAND = "expand"
"""The name of the tool, as markers have it."""
# A language model reads these texts.
EXPAND_LEFT_OUT = (
    "Read what was left out of an earlier tool result. Such a result ends with a line like "
    '"[… 120 lines left out (41-160): expand ctx-3f2a91c4]". Give the handle alone to read the whole result from its '
    "beginning, with lines to read these lines, or with a question to read the parts that answer it."
)
HANDLE = "The handle at the end of the tool result, such as ctx-3f2a91c4."
LINES = 'The lines to read, such as "41-160" or "41". Leave it out for all lines.'
QUESTION = "What to look for in the left-out text. Leave it out to read the lines one after the other."

_LEAST_TOKENS = 100
"""The smallest budget of a result in which a marker leaves room for text."""
_LEAST_EXPANDED = 300
"""The smallest budget of the tool, which has to hold a long line and a marker."""
_HANDLE_LENGTHS = (8, 16, 64)
"""Hexadecimal digits of a handle. The next length is for a handle that another text has."""
_MOST_KNOWN = 5
"""How many handles an error names."""
_TRIES = 4
Attempt = Callable[[int], Shorter | None]
_LINES = lazy_regex(r"\s*+(?:lines?\s)?\s*+(\d{1,9})\s*+(?:([-–—:])\s*+(\d{1,9})?)?\s*+", re.IGNORECASE)


class CannotExpand(InputError):  # noqa: N818 - as the other errors
    """There is no such handle or no such lines, or the store fails. The message is for the language model."""


@dataclass(frozen=True, slots=True, eq=False)
class Keeper:
    """Keeps the whole texts of results in a store, under handles that nobody can guess.

    The same text has the same handle in a conversation, as long as the process runs.
    """

    store: LeftOutStore
    secret: bytes = field(repr=False)

    def keep(self, conversation: str, text: str) -> str | None:
        """Keep the text, and return its handle; None, with a warning, if the store fails or is too small."""
        try:
            handle = self._free_handle(conversation, text)
            if self.store.put(conversation, handle, text):
                return handle
            reason = f"its {len(text):,} characters are more than the store holds"
        except OSError as error:
            reason = str(error)
        warn(f"a tool's result is shortened but cannot be kept ({reason}); it has no marker")
        return None

    def _free_handle(self, conversation: str, text: str) -> str:
        digest = hmac.new(self.secret, as_bytes(f"{conversation}\n{text}"), sha256).hexdigest()
        # Without a conversation only the handle protects the text, so the shortest ones are not used.
        handles = [PREFIX + digest[:length] for length in (_HANDLE_LENGTHS if conversation else _HANDLE_LENGTHS[1:])]
        return next(handle for handle in handles if self.store.get(conversation, handle) in (None, text))


def check_room(max_tokens: object, option: str = "max_tokens") -> None:
    """Raise ConfigError if a budget is too small for a text and a marker."""
    if isinstance(max_tokens, int) and max_tokens < _LEAST_TOKENS:
        raise ConfigError(
            f"{option} is {max_tokens}; give at least {_LEAST_TOKENS} where results can be expanded: their markers "
            "take up to 40 of them"
        )


def with_marker(
    attempt: Attempt,
    keep: Callable[[], str | None],
    mark: Callable[[Shorter, str], Shorter],
    limit: int,
    count: Callable[[str], int],
) -> Shorter | None:
    """Return a shortened result that ends with a marker: see `fitted`.

    keep: keeps the whole result and returns its handle; None if it cannot. mark: adds the marker with this handle.
    """
    handle = cache(keep)

    def marked(shorter: Shorter) -> Shorter | None:
        name = handle()
        return None if name is None else mark(shorter, name)

    return fitted(attempt, marked, limit, marker_room(count))


def fitted(attempt: Attempt, mark: Callable[[Shorter], Shorter | None], limit: int, room: int) -> Shorter | None:
    """Return a shortened text with its marker, in at most `limit` tokens; None if the text stays as it is.

    attempt: returns the text shortened to this many tokens, None if it stays as it is. mark: adds the marker, None if
    the text cannot be kept; then it is shortened without one, and so is a text in which what must be kept leaves no
    room for a marker. room: the tokens of a marker. Raises BudgetTooSmall if it does not even leave room for itself.
    """
    try:
        return _fitted_with_marker(attempt, mark, limit, room)
    except BudgetTooSmall:
        return attempt(limit)


def _fitted_with_marker(
    attempt: Attempt, mark: Callable[[Shorter], Shorter | None], limit: int, room: int
) -> Shorter | None:
    budget = max(1, limit - room)
    shorter = attempt(budget)
    if shorter is None or (shorter.original_tokens <= limit and attempt(limit) is None):
        return None
    made = mark(shorter)
    for _ in range(_TRIES):
        if made is None or made.compressed_tokens <= limit or budget == 1:
            break
        budget = max(1, budget - (made.compressed_tokens - limit))
        made = mark(attempt(budget) or shorter)
    if made is not None and made.compressed_tokens < made.original_tokens:
        return made
    return None if made is not None and made.original_tokens <= limit else attempt(limit)


@dataclass(frozen=True, slots=True)
class Expander:
    """The tool `expand`: gives back what was left out, in at most `max_tokens` tokens."""

    config: CompressionConfig
    max_tokens: int

    @classmethod
    def of(cls, config: CompressionConfig, max_tokens: int, option: str = "max_tokens") -> Self:
        """Make the tool. Raises ConfigError for a budget that is no whole number or too small.

        option: the name of the budget, for the message.
        """
        check_count(option, max_tokens, _LEAST_EXPANDED, "so that any line fits")
        return cls(config.for_expansion(max_tokens), max_tokens)

    def expand(
        self,
        store: LeftOutStore,
        conversations: Sequence[str],
        handle: str,
        lines: str | None = None,
        question: str | None = None,
    ) -> str:
        """Return the text under a handle or some of its lines; if a question is asked, the parts of these that answer
        best.

        What does not fit is named by a marker again, with the lines to go on with. Raises CannotExpand if there is no
        such handle, there are no such lines, or the store fails.

        conversations: where the handle may be, the agent's own one first.
        """
        name = handle.strip("[] \t\r\n\"'`").removeprefix("expand").strip().lower()
        try:
            text = next((text for kept in conversations if (text := store.get(kept, name)) is not None), None)
            known = store.handles(conversations[0]) if text is None and conversations[0] else []
        except OSError as error:
            raise CannotExpand(f"What was left out cannot be read ({error}). Call the tool again.") from error
        if text is None:
            raise CannotExpand(_unknown(handle, known))
        rows = lines_of(text)
        first, last = _asked_lines(lines, len(rows))
        asked = text[rows[first - 1].start : rows[last - 1].end] if rows else text
        if self._count(shown := guarded(asked)) <= self.max_tokens:
            return shown
        if question and question.strip():
            return self._answer(asked, first, question, name)
        return self._beginning(asked, first, name)

    def _answer(self, text: str, first: int, question: str, handle: str) -> str:
        """Return the parts that answer best."""

        def attempt(budget: int) -> Shorter:
            result = self._compressed(question, text, budget)
            before, left_out = result.stats.original_tokens, LeftOut.of_compression(result, first)
            return Shorter(result.text, before, left_out=left_out)

        return self._fitted(attempt, text, handle)

    def _compressed(self, question: str, text: str, budget: int) -> Compression:
        """Compress a text. Where `must_keep` names more than fits, it does not hold: the agent can read the lines."""
        config = self.config.with_options(max_tokens=budget)
        try:
            return Compressor(config).compress_part(question, [text])
        except BudgetTooSmall:
            return Compressor(config.with_options(must_keep=())).compress(question, [text])

    def _beginning(self, text: str, first: int, handle: str) -> str:
        """Return as many lines as fit, or the part of the first one that fits."""
        rows, tokens = lines_of(text), self._count(text)

        def attempt(budget: int) -> Shorter:
            end = longest_prefix(text, fits=lambda length: self._count(text[:length]) <= budget, lines=True)
            end = max((row.end for row in rows if row.end <= end), default=end)
            left_out = LeftOut.of_lines(text, [Span(0, end)], first)
            return Shorter(text[:end].rstrip("\r\n"), tokens, left_out=left_out)

        return self._fitted(attempt, text, handle)

    def _fitted(self, attempt: Attempt, text: str, handle: str) -> str:
        """Return a part of a text with its marker; the text where all of it stays."""

        def mark(part: Shorter) -> Shorter:
            text = guarded(part.content)
            text = f"{text}\n{part.marker(handle)}" if part.left_out and part.left_out.count else text
            return replace(part, content=text, compressed_tokens=self._count(text))

        made = fitted(attempt, mark, self.max_tokens, marker_room(self._count))
        return guarded(text) if made is None else str(made.content)

    def _count(self, text: str) -> int:
        return Compressor(self.config).count(text)


def _unknown(handle: str, known: list[str]) -> str:
    if not known:
        hint = "Call the tool again whose result you need."
    else:
        rest = len(known) - _MOST_KNOWN
        shown = ", ".join(known[:_MOST_KNOWN]) + (f" and {rest} older ones" if rest > 0 else "")
        hint = f"The handles in this conversation are {shown}. Give one of them, or call the tool again."
    return f"There is no handle {handle[:100]!r} in this conversation; it may have expired. {hint}"


def _asked_lines(lines: str | None, count: int) -> tuple[int, int]:
    """Return the first and the last line. Raises CannotExpand, for the model to read, if there are no such lines."""
    if lines is None or not lines.strip():
        return 1, count
    found = _LINES.fullmatch(lines)
    if found is None:
        raise CannotExpand(
            f'lines is {lines[:100]!r}. Give a range of lines such as "41-160", or one line such as "41".'
        )
    first = int(found[1])
    last = int(found[3]) if found[3] else count if found[2] else first
    if not 1 <= first <= min(last, count):
        raise CannotExpand(
            f'lines is {lines[:100]!r}; the text has the lines 1-{count}. Give a range such as "1-{count}".'
        )
    return first, min(last, count)
