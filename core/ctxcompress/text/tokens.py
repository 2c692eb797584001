"""Counting tokens with the declared tokenizer, and never with another one."""

import functools
import reprlib
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Sized
from numbers import Integral
from threading import active_count
from typing import TYPE_CHECKING

from ctxcompress.errors import ConfigError, InputError, TokenizerUnavailable
from ctxcompress.guarded import called
from ctxcompress.lazy_regex import lazy_regex

if TYPE_CHECKING:
    import tiktoken

__all__ = ["CARRIED", "Encoding", "TokenCounter", "is_carried"]

Encoding = str | Callable[[str], int | Sized]
"""The name of a tiktoken encoding, or a function that returns the tokens of a text or their number."""

# The patterns by which tiktoken's encodings pre-split a text always end a piece between a letter and a space or one of
# these marks. So the tokens of the text up to there are exactly the first tokens of the whole text.
_PIECE_END = lazy_regex(r"[^\W\d_](?=[ ,.;:!?\u3001\u3002\uff0c\uff01\uff1f])")
_LONGEST_REMEMBERED = 1_000
"""Characters. The counts of shorter texts are remembered: separators and sentences occur often in a compression."""
CARRIED = frozenset(("cl100k_base", "o200k_base", "o200k_harmony"))
"""The encodings whose vocabularies toktok-rs carries."""
_WORD = 10
"""Characters of a word and the space after it: more than they have in most texts. A token has less than half of it, in
bytes: one of a script without spaces has one or two characters."""
_TAIL = 2_000
"""The characters at the end of a text in which its stable beginning may end."""
_BLANK = lazy_regex(r"[^\S\r\n]{2}[^\S\r\n]++")
_LONGEST_BLANK = 500_000
"""Spaces in a row that tiktoken can take. At about a million its regular expression overflows the stack and panics."""


class TokenCounter:
    """Counts the tokens of texts exactly as the declared tokenizer does.

    toktok-rs counts for the encodings whose vocabularies it carries: the counts are those of tiktoken, and nothing is
    downloaded. tiktoken itself counts for its other encodings.

    Raises TokenizerUnavailable if a tiktoken vocabulary can be neither found nor fetched, ConfigError if a callable
    returns neither tokens nor their number, and InputError if a text has more spaces in a row than tiktoken can take.
    """

    def __init__(self, encoding: Encoding, beginning: tuple[str, int] = ("", 0)) -> None:
        """beginning: a text that `stable_beginning` returned for the same encoding. In texts that begin with it, only
        the rest is counted."""
        self._beginning, self._encoding = beginning, encoding
        self._is_tiktoken = isinstance(encoding, str)
        self._count = _counter(encoding)
        self._known: dict[str, int] = {}
        self._last = ("", 0)
        self.is_fast = is_carried(encoding)
        """Whether a text is counted nearly as fast as its count is looked up, and many of them in one call."""
        self._counted = self._after_beginning if beginning[0] else self._count

    def of_all(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text."""
        self.ahead(texts)
        return list(map(self, texts))

    def ahead(self, texts: Iterable[str]) -> None:
        """Count the short ones of these texts together, if the tokenizer can, and remember their tokens.

        Each call of the tokenizer releases the interpreter's lock, and beside a busy thread can wait 5 ms to get it
        back. Without another thread, it is faster to count only what is asked for.
        """
        if self.is_fast and active_count() > 1:
            short = (text for text in dict.fromkeys(texts) if 0 < len(text) <= _LONGEST_REMEMBERED)
            new = [text for text in short if text not in self._known]
            self._known.update(zip(new, _together(new, str(self._encoding)), strict=True))

    def __call__(self, text: str) -> int:
        """Return the number of tokens of `text`."""
        if len(text) > _LONGEST_REMEMBERED:
            if self._last[0] != text:  # the kept text of a single passage is also the final text
                self._last = (text, self._counted(text))
            return self._last[1]
        if not text:
            return 0
        known = self._known.get(text)
        if known is None:
            known = self._known[text] = self._counted(text)
        return known

    def stable_beginning(self, text: str) -> tuple[str, int]:
        """Return a beginning of `text` whose tokens stay the same whatever is added after the text, and their number.

        It is nearly the whole text for an encoding of tiktoken, and empty for a callable.
        """
        known = self._beginning if text.startswith(self._beginning[0]) else ("", 0)
        first = len(known[0])
        ends = [match.end() for match in _PIECE_END.finditer(text, max(first, len(text) - _TAIL))]
        if not ends or not self._is_tiktoken:
            return known
        return text[: ends[-1]], known[1] + self._count(text[first : ends[-1]])

    def fits(self, text: str, limit: int) -> int | None:
        """Return the number of tokens of `text` if it is at most `limit`, else None.

        If a text is far too long, only its beginning is counted, or its words, provided the tokenizer allows it.
        """
        if self._is_tiktoken:
            if len(text[: _WORD * limit].replace("/", "").split(None, limit)) > limit:
                return None  # no token has parts of two words, but for slashes at the beginning of a line
            size = _WORD * limit // 2
            cut = _PIECE_END.search(text, len(text[:size].encode(errors="replace")[:size].decode(errors="ignore")))
            if cut and self(text[: cut.end()]) > limit:
                return None
        tokens = self(text)
        return tokens if tokens <= limit else None

    def _after_beginning(self, text: str) -> int:
        beginning, tokens = self._beginning
        if text.startswith(beginning):
            return tokens + self._count(text[len(beginning) :])
        return self._count(text)


def is_carried(encoding: object) -> bool:
    """Return whether this package brings the vocabulary of an encoding."""
    return isinstance(encoding, str) and encoding in CARRIED


def _counter(encoding: Encoding) -> Callable[[str], int]:
    if not isinstance(encoding, str):
        return _checked_tokenizer(encoding)
    if is_carried(encoding):
        return _toktok(encoding)
    encode = _tiktoken_encoding(encoding).encode_ordinary
    return lambda text: len(encode(_checked_blanks(text)))


def _checked_blanks(text: str) -> str:
    if len(text) > _LONGEST_BLANK:
        longest = max((match.end() - match.start() for match in _BLANK.finditer(text)), default=0)
        if longest > _LONGEST_BLANK:
            raise InputError(
                f"a text has {longest} spaces in a row, but tiktoken takes at most {_LONGEST_BLANK}; "
                "remove them, or pass encoding=<a callable>"
            )
    return text


def _checked_tokenizer(tokenizer: Callable[[str], object]) -> Callable[[str], int]:
    def count(text: str) -> int:
        tokens = tokenizer(text)
        number = _number(tokens)
        if number is None or number < 0:
            raise ConfigError(
                f"the tokenizer returned {_shown(tokens)} for a text of {len(text)} characters; encoding must return "
                "the tokens or their number, not a text, a mapping or a batch. For a Hugging Face tokenizer, give its "
                "method encode"
            )
        return number

    return lambda text: called("encoding", functools.partial(count, text))


def _number(tokens: object) -> int | None:
    """Return the number of tokens that a tokenizer's output stands for; None if that is unclear.

    The length of a text, of a mapping (input ids, attention mask) or of a batch is not the number of tokens.
    """
    if isinstance(tokens, Integral) and not isinstance(tokens, bool):
        return int(tokens)
    if not isinstance(tokens, Sized) or isinstance(tokens, str | Mapping) or getattr(tokens, "ndim", 1) != 1:
        return None
    first = next(iter(tokens), None) if isinstance(tokens, Iterable) else None
    return None if _is_token_list(first) else len(tokens)


def _is_token_list(item: object) -> bool:
    """Whether what should be a token is the tokens of a whole text, as in a batch."""
    if isinstance(item, str | bytes) or getattr(item, "ndim", 1) == 0:  # a list of torch scalars is no batch
        return False
    return isinstance(item, Collection) or hasattr(item, "ids")  # the Encoding of tokenizers is no Collection


def _shown(tokens: object) -> str:
    """Return the beginning of an output's repr: there may be millions of tokens."""
    kind = type(tokens).__name__
    return f"{reprlib.repr(tokens)} (a {kind})" if isinstance(tokens, Sized) else repr(tokens)


@functools.lru_cache(maxsize=8)
def _toktok(encoding: str) -> Callable[[str], int]:
    """Return a function that counts a text by toktok-rs.

    The one that truncates a text counts all of it in any case, and starts no thread.
    """
    from toktok import truncate  # takes time to import

    def count(text: str) -> int:
        try:
            return int(truncate(_checked_blanks(text), sys.maxsize, encoding)[1])
        except UnicodeEncodeError:  # a lone surrogate, which tiktoken replaces in this way
            whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            return int(truncate(whole, sys.maxsize, encoding)[1])

    return count


def _together(texts: Sequence[str], encoding: str) -> list[int]:
    """Return the number of tokens of each text by one call of toktok-rs, which starts a thread."""
    from toktok import batch_count

    try:
        return list(batch_count(texts, encoding, threads=1)) if texts else []
    except UnicodeEncodeError:  # a lone surrogate in one of them
        return list(map(_toktok(encoding), texts))


@functools.lru_cache(maxsize=8)
def _tiktoken_encoding(name: str) -> "tiktoken.Encoding":
    """Load a tiktoken encoding, whose vocabulary tiktoken finds or downloads."""
    import tiktoken  # takes time to import, and the default encoding does not need it

    try:
        return tiktoken.get_encoding(name)
    except (OSError, ValueError) as error:  # the download failed, or its content is wrong
        raise TokenizerUnavailable(
            f"the vocabulary of encoding {name!r} is not on this machine and could not be fetched ({error}); use "
            f"{', '.join(sorted(CARRIED))}, which need no download, set TIKTOKEN_CACHE_DIR to a folder that has the "
            "vocabulary, allow the download once, or pass encoding=<a callable>"
        ) from error
