"""HTML markup that no text can break out of.

Plain strings are escaped wherever they are put into an element; only the results of `element` count as markup.
Invisible characters, and those that change the direction of text, are shown by their code points.
"""

import html
import re
from collections.abc import Iterable, Mapping

from ctxcompress.lazy_regex import lazy_regex

__all__ = ["Html", "element", "figure", "label", "plural", "short", "visible", "with_codes"]

_VOID = frozenset(("input", "meta"))
# Controls except tabs and line feeds, halves of surrogate pairs, direction marks, characters without width except the
# joiners that scripts and emoji need, tags, and code points that are no characters.
_UNSEEN = lazy_regex(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164"
    "\ud800-\udfff\ufdd0-\ufdef\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\U000e0000-\U000e0fff]"
)
_CARRIAGE_RETURN = "&#13;"  # browsers read the character itself as a line feed


class Html(str):
    """Markup. A string built from it, as with `+`, is a plain string again and is escaped."""

    __slots__ = ()

    @classmethod
    def of(cls, parts: Iterable[str]) -> "Html":
        """Join the parts: markup unchanged, strings as visible text."""
        return cls("".join(part if isinstance(part, cls) else visible(part) for part in parts))


def element(name: str, attributes: Mapping[str, str] | None = None, *inside: str) -> Html:
    """Return an element. Strings inside that are no markup are escaped. The names of the element and of its attributes
    must never come from a text."""
    written_attributes = "".join(
        f' {key}="{with_codes(html.escape(value))}"' for key, value in (attributes or {}).items()
    )
    return Html(
        f"<{name}{written_attributes}>" if name in _VOID else f"<{name}{written_attributes}>{Html.of(inside)}</{name}>"
    )


def visible(text: str) -> Html:
    """Escape a text, with invisible characters as `<bdi class="u">U+202E</bdi>`, which does not affect direction."""
    return Html(_UNSEEN.sub(_visible_character, html.escape(text, quote=False)))


def label(text: object, longest: int = 160) -> Html:
    """Return a name, shortened to `longest` characters, whose direction does not affect the text around it."""
    written = str(text)
    cut = written if len(written) <= longest else f"{written[: longest - 1]}…"
    return element("bdi", None, cut.replace("\n", " "))


def figure(number: float) -> str:
    """Format a score with three significant digits."""
    return f"{number:.3g}"


def short(number: float) -> str:
    """Format a score for little space: ".57", ".004", "0", "1"."""
    written = f"{number:.2f}" if number >= 0.1 else f"{number:.3f}"
    return written.rstrip("0").rstrip(".").removeprefix("0") or "0"


def plural(number: int, thing: str) -> str:
    """Format a count: "1 passage", "1,234 passages"."""
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"


def _visible_character(match: re.Match[str]) -> str:
    is_line_end = match[0] == "\r" and match.string.startswith("\n", match.end())
    return _CARRIAGE_RETURN if is_line_end else f'<bdi class="u">{_code_point(match)}</bdi>'


def with_codes(text: str) -> str:
    """Return the text with the code points of invisible characters, for places without markup."""
    return _UNSEEN.sub(_code_point, text)


def _code_point(match: re.Match[str]) -> str:
    return f"U+{ord(match[0]):04X}"
