"""What pages put around their text is of a kind of its own."""

import pytest
from segment_texts import markdown_pages

from ctxcompress.data.passages import Kind
from ctxcompress.segment.segments import segment

TEXT = "The gateway closes a connection after ninety seconds.\nIt counts from the last byte."


def around(text, **options):
    return [text[part.start : part.end].strip() for part in segment(text, **options) if part.kind is Kind.BOILERPLATE]


def test_lines_around_a_text():
    text = (
        "Skip to content\nHome | Docs | Contact\nBy Jane Doe, March 3, 2024 · 5 min read\n"
        f"We use cookies to improve your visit. Cookie settings\n{TEXT}\nShare this: Twitter, LinkedIn\n© 2024 Larch"
    )
    assert around(text) == [
        "Skip to content",
        "Home | Docs | Contact",
        "By Jane Doe, March 3, 2024 · 5 min read",
        "We use cookies to improve your visit.",
        "Cookie settings",
        "Share this: Twitter, LinkedIn",
        "© 2024 Larch",
    ]


def test_sentences_in_one_line():
    text = f"Home / Learn / Gateways. Last updated on 14 March. {TEXT} Share this article on LinkedIn."
    assert around(text) == ["Home / Learn / Gateways.", "Last updated on 14 March.", "Share this article on LinkedIn."]


def test_lists_of_links():
    text = (
        f"- [Home](/)\n- [Docs](/docs)\n- [Contact us](/contact)\n\n{TEXT}\n\n## Related posts\n\n"
        "- [Retries](/retries)\n- How the gateway got its name\n\n## Limits\n\n- ninety seconds\n"
    )
    assert around(text) == [
        "- [Home](/)",
        "- [Docs](/docs)",
        "- [Contact us](/contact)",
        "- [Retries](/retries)",
        "- How the gateway got its name",
    ]


def test_words_count_only_among_notices():
    text = f"{TEXT}\n\nThese are supported:\n\n- GitHub\n- Reddit\n- YouTube\n"
    assert around(text) == []
    assert around(f"Home\nSearch\nLog in\n\n{TEXT}") == ["Home", "Search", "Log in"]


def test_a_text_about_cookies_keeps_its_sentences():
    about = (
        "This site uses cookies to keep you logged in.\n\nA session cookie ends with the browser. A cookie with a date "
        "stays. The flag Secure keeps a cookie off plain HTTP."
    )
    assert around(about) == []
    assert around(f"This site uses cookies to keep you logged in.\n\n{TEXT}") != []


def test_a_wrapped_paragraph_is_not_cut():
    text = (
        "The picture shows the harbour of the old town in the morning, and was painted\n"
        "By Hand, as the catalogue says, which has many more of these, all of them now\n"
        "sold to a collector in the north who has no use for them.\n"
    )
    assert len(segment(text)) == 1
    text = f"The letter was written\nby Jane Doe, March 3, 2024\nand lost. {TEXT}"
    assert around(text) == []


@pytest.mark.parametrize("kind", ["# {}\n\nText.", "| a | b |\n|---|---|\n| {} | x |\n", "```\n{}\n```"])
def test_headings_tables_and_code_stay_what_they_are(kind):
    assert around(kind.format("Cookie settings")) == []


def test_only_both_ends_of_a_long_text_are_searched():
    filler = f"{TEXT}\n\n" * 100
    assert around(f"Cookie settings\n\n{filler}Leave a comment\n\n{filler}© 2024 Larch") == [
        "Cookie settings",
        "© 2024 Larch",
    ]


def test_what_pages_say_is_text():
    pieces = [(text, part) for text in markdown_pages().values() for part in segment(text)]
    marked = [text[part.start : part.end] for text, part in pieces if part.kind is Kind.BOILERPLATE]
    marked = [part for part in marked if not part.lstrip().startswith(("<!--", "[", "---"))]  # which nobody reads
    assert len(marked) < len(pieces) * 0.002, marked


def test_blank_lines_go_with_the_line_before():
    assert [part.kind for part in segment("Home | Docs | Blog\n\n# Title\n")] == [Kind.BOILERPLATE, Kind.HEADING]
    pieces = segment("Skip to content\nHome | Docs | Blog\n\n# Title\n")
    assert [part.kind for part in pieces] == [Kind.BOILERPLATE, Kind.BOILERPLATE, Kind.HEADING]
