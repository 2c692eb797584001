"""The page in a real browser: it is quiet, works with the keyboard, fits a phone, and can be read."""

from dataclasses import replace
from typing import Any

import pytest
from contrast import LEAST_CONTRAST
from example import QUESTION, example

from ctxcompress import Passage, compress
from ctxcompress.apps.xray import RunXray


@pytest.fixture(scope="module")
def page_of_example() -> str:
    return example().xray()


def visible(page: Any) -> list[int]:
    """The passages that are shown."""
    return [int(item.get_attribute("id")[1:]) for item in page.locator("article.p").all() if item.is_visible()]


def test_an_attack_in_a_text_is_text(opened: Any, page_of_example: str) -> None:
    page = opened(page_of_example)
    forum = page.locator("#p9")
    assert "<script>alert('owned')</script>" in forum.inner_text()
    assert "U+202E" in forum.inner_text()
    assert page.locator("script, img").count() == 0
    assert page.locator("article.p").count() == 12


def test_the_style_sheet_is_allowed_by_the_policy(opened: Any, page_of_example: str) -> None:
    page = opened(page_of_example)
    size = page.evaluate("getComputedStyle(document.querySelector('.numbers strong')).fontSize")
    assert float(size.removesuffix("px")) > 30
    fill = page.evaluate("getComputedStyle(document.querySelector('rect.left')).fill")
    assert fill == "rgb(47, 111, 206)"


def test_a_style_that_is_not_ours_is_refused(browser: Any, page_of_example: str, tmp_path: Any) -> None:
    file = tmp_path / "page.html"
    changed = page_of_example.replace("</head>", "<style>h1 { display: none }</style></head>")
    file.write_text(changed.replace("<main>", '<main style="display:none">'), encoding="utf-8")
    context = browser.new_context()
    page = context.new_page()
    page.goto(file.as_uri())
    assert page.locator("h1").is_visible()
    assert page.locator("main").is_visible()
    context.close()


def test_filters_work_with_the_keyboard_alone(opened: Any, page_of_example: str) -> None:
    page = opened(page_of_example)
    result = example()
    everything = list(range(12))
    assert visible(page) == everything
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id") == "f-all":
            break
    assert page.evaluate("document.activeElement.id") == "f-all"
    assert page.evaluate("document.activeElement.matches(':focus-visible')")
    page.keyboard.press("ArrowRight")
    assert visible(page) == sorted(part.index for part in result.passages)
    reasons = page.locator("input[type=radio]").evaluate_all("all => all.map(one => one.id.slice(2))")[2:]
    for reason in reasons:
        page.keyboard.press("ArrowRight")
        assert page.locator(f"#f-{reason}").is_checked()
        assert visible(page) == sorted({part.index for part in result.dropped if part.reason.value == reason})
    page.keyboard.press("ArrowRight")
    assert visible(page) == everything
    assert not page.locator("sup").first.is_visible()
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    assert page.locator("#figures").is_checked()
    assert page.locator("sup").first.is_visible()


def test_the_first_stop_of_the_keyboard_skips_to_the_passages(opened: Any, page_of_example: str) -> None:
    page = opened(page_of_example)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    assert page.evaluate("document.activeElement.getBoundingClientRect().left >= 0")
    page.keyboard.press("Enter")
    page.wait_for_url("**#passages")


@pytest.mark.parametrize("chosen", ["f-all", "f-duplicate"])
def test_all_text_can_be_read(opened: Any, page_of_example: str, chosen: str) -> None:
    page = opened(page_of_example)
    page.locator(f"#{chosen}").check()
    page.locator("#figures").check()
    for summary in page.locator("summary:visible").all():
        summary.click()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        found = page.evaluate(LEAST_CONTRAST)
        assert len(found) > 25
        assert {name: round(ratio, 2) for name, ratio in found if ratio < 4.5} == {}, scheme


def test_nothing_is_wider_than_the_screen(opened: Any) -> None:
    texts = [
        "timeout" * 400,
        "| a | b |\n|---|---|\n" + "| cell | `a_very_long_name_without_a_space` |\n" * 3,
        "x = 1\n" + " " * 300 + "y",
    ]
    passages = [Passage(text[:300], text, title=text[:300], file_path="a/" * 200 + "b.py") for text in texts]
    for result in (example(), compress(f"timeout {'q' * 300}", passages, max_tokens=600)):
        slow = replace(result, stages=tuple(replace(stage, milliseconds=12345.6) for stage in result.stages))
        shown = opened(slow.xray())
        for summary in shown.locator("summary").all():
            summary.click()
        for width in (320, 360, 390, 768, 800, 1000, 1200):
            shown.set_viewport_size({"width": width, "height": 900})
            assert shown.evaluate("document.documentElement.scrollWidth") <= width


def test_the_reasons_of_a_run_fit_a_phone(opened: Any) -> None:
    run = RunXray()
    compress("timeout?", ["The timeout is 30 seconds. " + "It rains in Spain. " * 90], max_tokens=20, telemetry=run)
    page = opened(run.page(), width=320)
    reason, *_, why = page.locator(".words tbody tr").first.locator("td").all()
    assert why.bounding_box()["y"] >= reason.bounding_box()["y"] + reason.bounding_box()["height"]
    assert page.evaluate("document.documentElement.scrollWidth") <= 320


def test_a_notebook_shows_the_brief_form(opened: Any) -> None:
    page = opened(f"<!DOCTYPE html><meta charset='utf-8'><title>notebook</title>{example()._repr_html_()}")
    assert QUESTION in page.locator("body").inner_text()
    assert page.locator("table tr").count() >= 3
    page.locator("summary").click()
    assert page.locator("li").first.is_visible()
