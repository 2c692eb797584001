"""HTML is read as a page: headings stand with text under them, and what is left does not run together."""

import pytest

from ctxcompress import compress
from ctxcompress.data.passages import Kind
from ctxcompress.segment.segments import segment

SYSTEMS = [
    ("Plan 9", "nineget"),
    ("Amiga", "lhaput"),
    ("BeOS", "haikupak"),
    ("Solaris", "sunadd"),
    ("Irix", "inst"),
    ("Tru64", "setld"),
    ("Ultrix", "mopadd"),
    ("Minix", "pkgin"),
]
PAGE = "\n".join(
    [
        "<!DOCTYPE html><html><head><title>Answers</title><style>",
        "/*! reset.css! all is equal! */",
        "body { margin: 0; padding: 0; font-family: serif; color: black; background-color: white; line-height: 1.5 }",
        "</style></head><body><h1>Answers</h1>",
        *(
            f'<div class="section">\n<h2 id="s{n}"><a href="#s{n}"></a>How is the viewer set up on {system}?</h2>\n'
            f'<div class="text">\n<p>There is a <a href="https://mirror.example/{n}">ready-made archive</a> of it.\n'
            f"Become an administrator, and then type this into a terminal of your choice:</p>\n</div>\n"
            f'<div class="listing">\n<pre class="shell">{tool} viewer-{n}</pre>\n</div>\n</div>'
            for n, (system, tool) in enumerate(SYSTEMS)
        ),
        "</body></html>",
    ]
)


def test_headings_of_html_have_a_heading_path() -> None:
    segments = segment(PAGE)
    titles = [part.heading for part in segments if part.kind is Kind.HEADING]
    assert titles == [
        ("Answers",),
        *(("Answers", f"How is the viewer set up on {system}?") for system, _ in SYSTEMS),
    ]
    listing = next(part for part in segments if "lhaput" in PAGE[part.start : part.end])
    assert listing.heading == titles[2]
    assert "".join(PAGE[part.start : part.end] for part in segments) == PAGE


@pytest.mark.parametrize("budget", range(30, 330, 25))
def test_a_heading_of_html_is_never_kept_alone(budget: int) -> None:
    text = compress("How is the viewer set up on Amiga?", [PAGE], max_tokens=budget).text
    parts = text.split("</h2>")
    assert all(part.split("<h2")[0].strip() for part in parts[1:])


def test_the_command_under_the_heading_that_the_question_names_is_found() -> None:
    assert "lhaput viewer-1" in compress("How is the viewer set up on Amiga?", [PAGE], max_tokens=150).text


def test_elements_do_not_run_together_where_tags_between_them_are_dropped() -> None:
    text = compress("How is the viewer set up on Amiga?", [PAGE], max_tokens=150).text
    assert "</h2>\nThere is" in text


def test_no_piece_of_a_style_sheet_is_kept() -> None:
    assert "/*!" not in compress("Are all equal?", [PAGE], max_tokens=300).text
    kinds = {part.kind for part in segment(PAGE) if "margin" in PAGE[part.start : part.end]}
    assert kinds == {Kind.BOILERPLATE}


def test_a_long_heading_of_html_is_one_segment() -> None:
    title = "<h3>" + "A long title that goes on. And on! " * 20 + "</h3>"
    text = f"<html><body>{title}<p>{'Some text. ' * 30}</p></body></html>"
    assert [text[part.start : part.end] for part in segment(text) if part.kind is Kind.HEADING] == [title]
