"""HTML markup that no text can break out of.

Plain strings are escaped wherever they are put into an element; only the results of `element` count as markup.
Invisible characters, and those that change the direction of text, are shown by their code points.
"""

import html
import re
from base64 import b64encode
from collections.abc import Iterable, Mapping
from hashlib import sha256

from ctxcompress.lazy_regex import lazy_regex

__all__ = [
    "Html",
    "document",
    "element",
    "facts",
    "head",
    "label",
    "line",
    "plural",
    "rest",
    "saved",
    "section",
    "short",
    "with_codes",
]

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


def section(name: str, title: str, *inside: str) -> Html:
    """Return a section with a title. Links lead to it by its name."""
    head = element("h2", {"id": f"{name}-title"}, title)
    return element("section", {"id": name, "aria-labelledby": f"{name}-title"}, head, *inside)


def facts(known: Iterable[tuple[str, str]], longest: int) -> Html:
    """Return a list of names with their values, each shortened to `longest` characters."""
    rows = ((element("dt", None, name), element("dd", None, label(value, longest))) for name, value in known)
    return element("dl", None, *(part for row in rows for part in row))


def head(*names: str) -> Html:
    """Return the head of a table with these columns."""
    return element("thead", None, element("tr", None, *(element("th", {"scope": "col"}, name) for name in names)))


def line(name: str, meaning: str, cells: Iterable[str], *others: Html) -> Html:
    """Return a line of a table: what it is of, its figures, and other cells."""
    first = element("th", {"scope": "row"}, name, element("small", None, meaning))
    return element("tr", None, first, *(element("td", {"class": "n"}, cell) for cell in cells), *others)


def rest(characters: int) -> list[Html]:
    """Return what says how many characters more a text has, if it has more."""
    return [element("bdi", {"class": "more"}, f"{characters:,} more characters")] if characters > 0 else []


def saved(before: int, after: int) -> str:
    """Say what share of the tokens is saved; "" if there were none."""
    return f"{100 * (before - after) / before:.1f} % saved" if before else ""


def document(title: str, style: str, *inside: str, script: str = "", framed: str = "") -> str:
    """Return a page that loads nothing. Its content security policy allows this style and this script by their hashes,
    and nothing else. They must never come from a text. framed: the style of pages in its frames, which have its policy.
    """
    codes = [Html(f"<script>{script}</script>")] if script else []
    head = element(
        "head",
        None,
        element("meta", {"charset": "utf-8"}),
        element("meta", {"http-equiv": "Content-Security-Policy", "content": _policy(script, style, framed)}),
        element("meta", {"name": "viewport", "content": "width=device-width, initial-scale=1"}),
        element("meta", {"name": "color-scheme", "content": "light dark"}),
        element("meta", {"name": "referrer", "content": "no-referrer"}),
        element("title", None, with_codes(title)),
        Html(f"<style>{style}</style>"),
    )
    return f"<!DOCTYPE html>\n{element('html', {'lang': 'en'}, head, element('body', None, *inside, *codes))}\n"


def _policy(script: str, *styles: str) -> str:
    hashes = [
        " ".join((kind, *(f"'sha256-{b64encode(sha256(code.encode()).digest()).decode()}'" for code in codes if code)))
        for kind, codes in (("style-src", styles), ("script-src", (script,)))
        if any(codes)
    ]
    return "; ".join(("default-src 'none'", *hashes, "base-uri 'none'", "form-action 'none'"))


def visible(text: str) -> Html:
    """Escape a text, with invisible characters as `<bdi class="u">U+202E</bdi>`, which does not affect direction."""
    return Html(_UNSEEN.sub(_visible_character, html.escape(text, quote=False)))


def label(text: object, longest: int = 160) -> Html:
    """Return a name, shortened to `longest` characters, whose direction does not affect the text around it."""
    written = str(text)
    cut = written if len(written) <= longest else f"{written[: longest - 1]}…"
    return element("bdi", None, cut.replace("\n", " "))


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
