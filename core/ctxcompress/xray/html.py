"""Markup in which a text can only be a text.

What is a plain string is escaped wherever it is put into an element; only what an element gave is markup. What cannot
be seen, or would turn the text around it, is shown by its code point.
"""

import html
import re
from collections.abc import Iterable, Mapping

__all__ = ["Html", "element", "figure", "label", "plural", "short", "visible", "with_codes"]

_VOID = frozenset(("input", "meta"))
# Controls but for tabs and line feeds, halves of surrogate pairs, marks of direction, what has no width but for the
# joiners that scripts and emoji need, tags, and what is no character.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164"
    "\ud800-\udfff\ufdd0-\ufdef\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\U000e0000-\U000e0fff]"
)
_CARRIAGE_RETURN = "&#13;"  # as itself it would be read as a line feed


class Html(str):
    """Markup. What is put together of it with other strings is none, and is escaped."""

    __slots__ = ()

    @classmethod
    def of(cls, parts: Iterable[str]) -> "Html":
        """One after the other: markup as it is, strings as visible text."""
        return cls("".join(part if isinstance(part, cls) else visible(part) for part in parts))


def element(name: str, attributes: Mapping[str, str] | None = None, *inside: str) -> Html:
    """An element; strings inside it that are no markup are shown as they are. The name and the names of attributes are
    ours, never of a text."""
    told = "".join(f' {key}="{with_codes(html.escape(value))}"' for key, value in (attributes or {}).items())
    return Html(f"<{name}{told}>" if name in _VOID else f"<{name}{told}>{Html.of(inside)}</{name}>")


def visible(text: str) -> Html:
    """A text, with what cannot be seen as `<bdi class="u">U+202E</bdi>`, which says nothing of a text's direction."""
    return Html(_UNSEEN.sub(_shown, html.escape(text, quote=False)))


def label(text: object, longest: int = 160) -> Html:
    """A name on its own, cut where it is very long, whose direction is no matter of what stands around it."""
    written = str(text)
    cut = written if len(written) <= longest else f"{written[: longest - 1]}…"
    return element("bdi", None, cut.replace("\n", " "))


def figure(number: float) -> str:
    """A score: three digits, or where it is whole none after the point."""
    return f"{number:.3g}"


def short(number: float) -> str:
    """A score in little room: ".57", ".004", "0", "1"."""
    written = f"{number:.2f}" if number >= 0.1 else f"{number:.3f}"
    return written.rstrip("0").rstrip(".").removeprefix("0") or "0"


def plural(number: int, thing: str) -> str:
    """ "1 passage", "1,234 passages" """
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"


def _shown(match: re.Match[str]) -> str:
    is_line_end = match[0] == "\r" and match.string.startswith("\n", match.end())
    return _CARRIAGE_RETURN if is_line_end else f'<bdi class="u">{_code(match)}</bdi>'


def with_codes(text: str) -> str:
    """The text with the code points of what cannot be seen, where there can be no markup."""
    return _UNSEEN.sub(_code, text)


def _code(match: re.Match[str]) -> str:
    return f"U+{ord(match[0]):04X}"
