"""The page of an evaluation in a real browser: the slider, without a script, on paper, on a phone, and in the dark."""

from typing import Any

import pytest
from contrast import LEAST_CONTRAST
from evaluation_example import example, question

from ctxcompress.apps.evaluation import page_of, xrays

REPORT, ANSWERS, GUARANTEE = example()
PAGE = page_of(REPORT, ANSWERS, GUARANTEE)
EVERYTHING = ["15 tokens", "30 tokens", "60 tokens", "120 tokens", "the whole context"]


def shown(page: Any) -> list[str]:
    """The budgets whose tables can be seen."""
    return page.locator("#budgets [data-stop]:visible").evaluate_all("all => all.map(one => one.dataset.name)")


def test_the_slider_moves_the_numbers_the_failures_and_the_mark(opened: Any) -> None:
    page = opened(PAGE)
    assert shown(page) == ["60 tokens"]  # it is promised
    assert page.locator("#said").inner_text() == page.locator("h1").inner_text()
    marked = page.locator("#mark").get_attribute("x1")
    for key, name in (("End", "the whole context"), ("Home", "15 tokens"), ("ArrowRight", "30 tokens")):
        page.locator("#stop").press(key)
        assert shown(page) == [name]
        assert page.locator("#stop").get_attribute("aria-valuetext") == name
        assert f"With {name}, default keeps" in page.locator("#said").inner_text()
        assert page.locator("#mark").get_attribute("x1") != marked
        assert f"With {name}: " in page.locator("#failures h3:visible").inner_text()
    page.locator("#plot").click(position={"x": 3, "y": 100})
    assert shown(page) == ["15 tokens"]


def test_what_a_link_leads_to_is_below_the_slider(opened: Any) -> None:
    page = opened(PAGE)
    page.locator("#every").check()
    page.locator("#failures").evaluate("node => node.scrollIntoView()")
    slider, title = page.locator(".control").bounding_box(), page.locator("#failures h2").bounding_box()
    assert slider["y"] + slider["height"] <= title["y"]


def test_everything_is_there_without_a_script_and_on_paper_and_on_demand(browser: Any, opened: Any) -> None:
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.set_content(PAGE)
        assert (shown(page), page.locator("#stop").is_visible()) == (EVERYTHING, False)
    page = opened(PAGE)
    page.locator("#every").check()
    assert shown(page) == EVERYTHING
    page.locator("#every").uncheck()
    page.emulate_media(media="print")
    assert (shown(page), page.locator("#stop").is_visible()) == (EVERYTHING, False)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_kept_text_opens_beside_the_lost_one_and_all_can_be_read(opened: Any, scheme: str) -> None:
    page = opened(PAGE, scheme=scheme)
    page.locator("#stop").press("Home")
    first = page.locator("#failures article:visible").first
    assert "</script>" in first.locator("blockquote").first.inner_text()
    first.locator("summary").press("Enter")
    lost, kept = first.locator("blockquote").first.bounding_box(), first.locator("details .t").bounding_box()
    assert lost["x"] + lost["width"] < kept["x"]
    page.locator("#promise summary").click()
    assert not {name: round(ratio, 2) for name, ratio in page.evaluate(LEAST_CONTRAST) if ratio < 4.5}


@pytest.mark.parametrize("width", [320, 390, 768, 1200])
def test_no_evaluation_is_wider_than_the_screen(opened: Any, width: int) -> None:
    page = opened(PAGE, width=width)
    page.locator("#every").check()
    for summary in page.locator("summary").all()[:3]:
        summary.click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_failure_opens_its_xray(opened: Any, scheme: str) -> None:
    page = opened(page_of(REPORT, xrays=xrays(REPORT, [*map(question, range(30))])), scheme=scheme)
    page.locator("#every").check()
    first = page.locator("#failures article:visible:has(iframe)").first
    first.locator(".xray summary").press("Enter")
    xray = first.locator("iframe").element_handle().content_frame()
    assert xray.locator("article").count() == 9
    xray.locator("label", has_text="kept").first.click()
    assert xray.locator("article:visible").count() < 9  # its style sheet is allowed
    assert not {name: round(ratio, 2) for name, ratio in xray.evaluate(LEAST_CONTRAST) if ratio < 4.5}
    page.emulate_media(media="print")
    assert not first.locator(".xray").is_visible()
