"""A page of the site loads nothing from anywhere else: whatever would is a warning, which fails a strict build."""

import logging
from html.parser import HTMLParser
from typing import Any

_log = logging.getLogger("mkdocs.hooks.nothing_outside")
_LOADING = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src", "link": "href"}


class _Loads(HTMLParser):
    """Collects the addresses of other places that a page loads something from. Links that are clicked are none."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        address = dict(attrs).get(_LOADING.get(tag, "")) or ""
        if "//" in address.partition("?")[0] and not address.startswith("data:"):
            self.found.append(f"<{tag}> {address}")


def on_post_page(output: str, page: Any, **_: object) -> None:
    loads = _Loads()
    loads.feed(output)
    for found in loads.found:
        _log.warning("%s loads from outside: %s", page.file.src_uri, found)
