"""The playground in a real browser: it follows each change, is quiet, can be read, and fits a phone."""

import socket
from collections.abc import Callable, Iterator
from threading import Thread
from typing import Any

import pytest
from contrast import LEAST_CONTRAST
from example import QUESTION, passages

from ctxcompress.apps.loopback import local_server
from ctxcompress.apps.playground.server import LIMITS, application

pytestmark = pytest.mark.usefixtures("loopback")
Visit = Callable[..., Any]


@pytest.fixture
def visit(browser: Any, loopback: None) -> Iterator[Visit]:
    """Opens the playground; at the end no console message came, and nothing was asked of anybody else."""
    contexts, messages, requests = [], [], []
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        app = application(lambda query: [] if query == "zeppelin" else passages(), "handbook")
        server = local_server(app, port, LIMITS)
        thread = Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        address = f"http://127.0.0.1:{port}"

        def open_page(width: int = 1200, height: int = 900, scheme: str = "light") -> Any:
            context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
            context.grant_permissions(["clipboard-read", "clipboard-write"], origin=address)
            contexts.append(context)
            page = context.new_page()
            page.on("console", lambda message: messages.append(message.text))
            page.on("pageerror", lambda error: messages.append(str(error)))
            page.on("request", lambda request: requests.append(request.url))
            page.goto(address)
            page.locator("#numbers strong").first.wait_for()
            answered(page, lambda: page.keyboard.insert_text(QUESTION))  # the field has the focus
            page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
            return page

        yield open_page
        for context in contexts:
            context.close()
        server.should_exit = True
        thread.join(60)
    assert [message for message in messages if "422" not in message] == []
    assert {url.rpartition("/")[0] for url in requests} == {address}


def answered(page: Any, act: Callable[[], object]) -> None:
    with page.expect_response("**/compress"):
        act()
    page.locator("body[aria-busy=false]").wait_for()


def test_the_text_follows_the_question_the_budget_and_the_options(visit: Visit) -> None:
    page = visit()
    answered(page, lambda: page.fill("#query", "when is the console faster?"))
    assert "starts faster" in page.inner_text("#text")
    answered(page, lambda: page.fill("#query", QUESTION))
    text = page.inner_text("#text")
    answered(page, lambda: page.press("#slider", "Home"))
    assert page.input_value("#max_tokens") == "50"
    assert page.get_attribute("#slider", "aria-valuetext") == "50 tokens"
    assert len(page.inner_text("#text")) < len(text)
    answered(page, lambda: page.fill("#max_tokens", "20000"))
    page.check("#f-kept")
    answered(page, lambda: page.select_option("#format", "xml"))
    assert page.locator("#f-kept").is_checked()  # the choice of passages outlives an answer
    assert "<script>alert" in page.inner_text("#passages")
    answered(page, lambda: page.fill("#max_tokens", "0"))
    assert page.inner_text("[role=alert]") == "max_tokens is 0; it must be at least 1"


def test_nothing_found_is_said_whatever_is_chosen_of_the_passages(visit: Visit) -> None:
    page = visit()
    page.check("#figures")
    answered(page, lambda: page.fill("#query", "zeppelin"))
    assert page.inner_text("#note") == "No text in this folder has words of the question."
    assert page.inner_text("[role=alert]") == ""
    answered(page, lambda: page.fill("#query", QUESTION))
    assert page.inner_text("#text")


def test_a_field_that_is_emptied_is_no_mistake(visit: Visit) -> None:
    page = visit()
    asked: list[object] = []
    page.on("request", lambda request: asked.append(request.post_data_json["max_tokens"]))
    page.clock.install()
    page.fill("#max_tokens", "")
    page.clock.run_for(400)  # longer than the pause
    answered(page, lambda: page.fill("#max_tokens", "60"))
    assert asked == [60]


def test_the_keyboard_stops_once_at_each_text(visit: Visit) -> None:
    page = visit()
    regions = page.locator("[role=region][tabindex='0']").evaluate_all("all => all.map(one => one.id)")
    assert regions == ["text", "passages"]


def test_the_configuration_is_copied(visit: Visit) -> None:
    page = visit()
    answered(page, lambda: page.check("#adaptive"))
    page.check("[value=langchain]")
    assert "CtxCompressor(\n    max_tokens=500,\n    adaptive=True," in page.inner_text("#export")
    page.check("[value=toml]")
    page.click("#copy-export")
    page.locator("#copy-export", has_text="Copied").wait_for()
    assert "[compression]\nmax_tokens = 500\nadaptive = true\n" in page.evaluate("navigator.clipboard.readText()")


def test_the_page_waits_for_a_pause_and_drops_a_request_that_is_overtaken(visit: Visit) -> None:
    page = visit()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.post_data_json["query"]))
    typed = "query.dispatchEvent(new Event('input', { bubbles: true }))"
    answered(page, lambda: page.evaluate(f"for (const sign of ' In hours?') {{ query.value += sign; {typed}; }}"))
    assert asked == [f"{QUESTION} In hours?"]
    page.route("**/compress", lambda _: None, times=1)  # this request is never answered
    with page.expect_event("requestfailed") as failed:
        with page.expect_request("**/compress"):
            page.fill("#query", "what is in a token?")
        answered(page, lambda: page.fill("#query", "when is the console faster?"))
    assert failed.value.post_data_json["query"] == "what is in a token?"
    assert "starts faster" in page.inner_text("#text")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_can_be_read(visit: Visit, scheme: str) -> None:
    page = visit(scheme=scheme)
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert paper == {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 23, 27)"}[scheme]
    assert not {name: round(ratio, 2) for name, ratio in page.evaluate(LEAST_CONTRAST) if ratio < 4.5}


@pytest.mark.parametrize("width", [320, 390, 800, 1100])
def test_nothing_is_wider_than_the_screen(visit: Visit, width: int) -> None:
    page = visit(width=width, height=844)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    unnamed = "all => all.filter(one => !one.labels?.length && !one.ariaLabel).map(one => one.outerHTML)"
    assert page.locator("input, select").evaluate_all(unnamed) == []
