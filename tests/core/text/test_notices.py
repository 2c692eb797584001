"""Which texts are notices of a page, and which only look like notices."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcompress.text.notices import Notice, has_notice, is_title_of_links, notice_of

NOTICES = {
    Notice.BYLINE: (
        "By Jane Doe, March 3, 2024 · 5 min read",
        "Jane Doe · Mar 3, 2024 · 5 min read",
        "Written by Jane Doe and John Roe | 2024-03-03",
        "By Jane Doe",
        "**By Jane Doe** | 5 min read",
        "Published March 3, 2024",
        "Last updated on 14 March.",
        "Posted on 12 May 2023 at 10:30 am by Mark Lee",
        "Von Jana Meier, 3. März 2024 · 5 Min. Lesezeit",
        "Par Jeanne Petit, 3 mars 2024",
        "Автор: Анна Петрова, 3 марта 2024",
    ),
    Notice.COOKIES: (
        "We use cookies to improve your experience.",
        "This website uses cookies to ensure you get the best experience on our website.",
        'By clicking "Accept all", you agree to the storing of cookies on your device.',
        "Wir verwenden Cookies, um Inhalte zu personalisieren.",
        "Nous utilisons des cookies pour améliorer votre visite.",
        "Utilizamos cookies propias y de terceros.",
        "我们使用cookie来改善您的体验。",
    ),
    Notice.OFFER: (
        "Accept all cookies",
        "Cookie settings",
        "Share this article on LinkedIn, Mastodon or by mail.",
        "Subscribe to our newsletter to get the latest posts in your inbox.",
        "© 2024 Example Inc. All rights reserved.",
        "Copyright 2024 The Authors.",
        "Follow us on Mastodon",
        "Leave a comment",
        "Was this page helpful? Yes No",
        "Tags: python, http, timeouts",
        "Edit this page.",
        "Alle Rechte vorbehalten.",
    ),
    Notice.LINKS: (
        "Skip to content",
        "[Skip to main content](#main)",
        "Home | About | Contact",
        "* [Home](/) | [About](/about) | [Contact us](/contact)",
        "Home > Docs > Configuration > Timeouts",
        "Home / Learn / Containers / What is Kubernetes.",
        "Docs / Concepts / Overview.",
        "« Previous Next »",
        "← Back to the blog",
        "Previous post: How caches work",
        "Related posts",
        "Read more »",
        "Zum Inhalt springen",
        "Lire la suite",
    ),
    Notice.WORD: ("About us", "- [Contact](/contact)", "3 comments"),
}
TEXTS = (
    "By hand.",
    "By March 2024 the company had grown.",
    "By John Smith, the president of the company, 1990.",
    "By default, the gateway waits for thirty seconds.",
    "Cookie values are signed with the secret key.",
    "Browsers send cookies with every request.",
    "We use PostgreSQL for storage.",
    "This site was a harbour in Roman times.",
    "Alpha | Beta | Gamma",
    "Name | Email | Company",
    "Next: chapter 4",
    "Read more about the timeouts in the guide of the server.",
    "Copyright law changed in 1976.",
    "Skip to the content of a page with the key S, which many readers who use a keyboard are glad of.",
    "Berlin, 3 October 1990",
    "May 3, 2024 was a Friday.",
    "Share prices fell by a third.",
    "Home is where the heart is.",
    "Anzeige der Ergebnisse in einer Tabelle",
    "",
    " \n",
    "...",
)


@pytest.mark.parametrize(("expected", "text"), [(notice, text) for notice, texts in NOTICES.items() for text in texts])
def test_notices(expected, text):
    assert notice_of(text) is expected
    assert has_notice(["Timeouts are counted from the last byte.", text]) is (expected is not Notice.WORD)


@pytest.mark.parametrize("text", TEXTS)
def test_what_only_looks_like_one(text):
    assert notice_of(text) is None
    assert not has_notice([text])


@pytest.mark.parametrize("text", ["Related posts", "## You may also like:", "Ähnliche Artikel", "相关文章"])
def test_titles_of_links(text):
    assert is_title_of_links(text.lstrip("# "))
    assert not is_title_of_links(text + " of timeouts")


@given(st.text(max_size=400))
def test_any_text_is_one_or_none(text):
    assert notice_of(text) is None or isinstance(notice_of(text), Notice)


@pytest.mark.parametrize("piece", ["By A", "| ", " · ", "[a](", "cookies ", "© ", "min read", "Jane ", "1 ", "- "])
def test_long_repetitions_end(piece):
    text = "We use " + piece * 300_000
    assert notice_of(text) is None
    assert has_notice([text]) in (True, False)
    assert notice_of((piece * 300)[:300]) in (None, *Notice)
