"""The files of the page: they stand beside this module, and only the page itself has places to fill."""

from collections.abc import Iterable
from importlib.resources import files
from string import Template
from typing import NamedTuple

from ctxcompress.apps.playground.settings import FORMATS, PRESETS, encoders
from ctxcompress.apps.xray.html import Html, element, label, with_codes
from ctxcompress.apps.xray.page import style_sheet
from ctxcompress.config.options import OPTIONS

__all__ = ["POLICY", "PageFile", "page_files"]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""The content security policy: nothing but these files, and no script or style within the page."""


class PageFile(NamedTuple):
    """A file that the server has."""

    path: str
    kind: str
    content: str


def page_files(name: str) -> list[PageFile]:
    """Return the files of the page. name: what it says of its texts."""
    style = style_sheet() + _read("playground.css")
    return [
        PageFile("/", "text/html", _page(name)),
        PageFile("/playground.css", "text/css", style),
        PageFile("/playground.js", "text/javascript", _read("playground.js")),
        PageFile("/icon.svg", "image/svg+xml", _read("icon.svg")),
    ]


def _page(name: str) -> str:
    return Template(_read("page.html")).substitute(
        title=Html.of([with_codes(name)]),
        name=label(name, 80),
        presets=_choices([("", "none"), *((preset, preset) for preset in PRESETS)], ""),
        encoders=_choices(((each, each) for each in encoders()), OPTIONS["encoder"].default),
        formats=_choices(((each, each) for each in FORMATS), OPTIONS["format"].default),
    )


def _choices(choices: Iterable[tuple[str, str]], chosen: object) -> Html:
    return Html.of(
        element("option", {"value": value, **({"selected": ""} if value == chosen else {})}, shown)
        for value, shown in choices
    )


def _read(name: str) -> str:
    return files("ctxcompress.apps.playground").joinpath(name).read_text(encoding="utf-8")
