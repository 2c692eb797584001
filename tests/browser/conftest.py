"""A real browser, where there is one: Chromium as the system has it, driven by playwright."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pytest_socket import enable_socket

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_REMEDY = "install it with: apt-get install chromium, and pip install 'playwright>=1.49'"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A browser without a window; without one the tests are skipped. Not for longer than a module: an event loop runs
    as long as it does."""
    api = pytest.importorskip("playwright.sync_api", reason=f"there is no playwright; {_REMEDY}")
    path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, _NAMES)), None)
    if path is None:
        pytest.skip(f"there is no Chromium; {_REMEDY}")
    enable_socket()  # playwright speaks to it through pipes, and needs an event loop for them
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    with api.sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"] if is_root else [])
        yield found
        found.close()


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Iterator[Any]:
    """Opens a page of HTML; at the end no console message came, and nothing was asked for but the page."""
    contexts, messages, requests = [], [], []

    def open_page(content: str, *, width: int = 1200, scheme: str = "light") -> Any:
        file = tmp_path / f"{len(contexts)}.html"
        file.write_bytes(content.encode())
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: messages.append(message.text))
        page.on("pageerror", lambda error: messages.append(str(error)))
        page.on("dialog", lambda dialog: messages.append(dialog.message))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(file.as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert messages == []
    assert all(url.startswith("file:") for url in requests)
    assert len(requests) == len(contexts)
