"""HTML is read as a page: its text nodes are kept, in lines, and tags are not, unless the whole text fits."""

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcompress import Compression, CompressionConfig, Compressor, Passage, compress
from ctxcompress.data.passages import Kind, shown
from ctxcompress.segment.formats import segment

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
QUERY = "How is the viewer set up on Amiga?"
TAG = re.compile(r"</?[A-Za-z!]")


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


@pytest.mark.parametrize("budget", range(20, 200, 15))
def test_a_heading_of_html_is_never_kept_alone(budget: int) -> None:
    lines = [line for line in compress(QUERY, [PAGE], max_tokens=budget).text.split("\n") if line]
    headings = {"Answers", *(f"How is the viewer set up on {system}?" for system, _ in SYSTEMS)}
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        assert line not in headings or (following and (line == "Answers" or following not in headings)), lines


def test_a_page_that_fits_is_untouched() -> None:
    assert compress(QUERY, [PAGE], max_tokens=5_000).text == PAGE
    assert compress(QUERY, [PAGE, "More."], max_tokens=5_000, order="relevance").passages[0].text in (PAGE, "More.")


CASES = {
    "inline code": (
        "<p>Use <code>run --fast</code>, or <b>un</b>likely <a href='/x'>th<i>is</i></a>.</p>",
        "Use run --fast, or unlikely this.",
    ),
    "line breaks": ("<p>One<br>two<br/>\n three<wbr>four</p>", "One\ntwo\nthreefour"),
    "table": (
        "<table><caption>Ports</caption>\n<thead><tr><th>Name</th> <th>Port</th></tr></thead>\n<tbody>"
        "<tr><td>web\n  server</td><td><p>80</p><p>81</p></td></tr><tr><td></td><td>25</td></tr></tbody></table>",
        "Ports\n\nName\tPort\nweb server\t80 81\n\t25",
    ),
    "table without a header": ("<table><tr><td>a</td><td>1</td></tr><tr><td>b<td>2</table>", "a\t1\nb\t2"),
    "table that is cut": ("<table><tr><td>a</td><td>1</td></tr><tr><td>b</td><td>2", "a\t1\nb\t2"),
    "end of a table": ("<tr><td>a</td><td>1</td></tr></table><p>Two</p><p>tides.</p>", "a\t1\n\nTwo\n\ntides."),
    "empty cells": (
        "<p>Two:</p><table><tr><th></th><th></th><th>b</th></tr><tr><td></td><td></td><td>1</td></tr></table>",
        "Two:\n\n\t\tb\n\t\t1",
    ),
    "layout": (
        "<table><tr><td><h1>Menu</h1><p>Soup.</p></td><td><pre>1\n  2</pre></td></tr></table>",
        "Menu\n\nSoup.\n\n1\n  2",
    ),
    "nested lists": (
        "<p>Two:</p><ul><li>a<ul><li>a1</li>\n<li><p>a2</p></li></ul></li><li>b</li></ul><p>End.</p>",
        "Two:\n\na\n  a1\n  a2\n\nb\n\nEnd.",
    ),
    "definitions": (
        "<dl><dt>tide</dt><dd><p>Water that rises.</p><p>And falls.</p></dd><dt>ebb</dt><dd>It falls.</dd></dl>",
        "tide\n  Water that rises.\n\n  And falls.\n\nebb\n  It falls.",
    ),
    "code": (
        '<p>So:</p>\n<pre><span class="k">def</span> f(x):\n\n    <span>return</span> x  # 1\n</pre>'
        "Yes, it returns the number that it was given.",
        "So:\n\ndef f(x):\n\n    return x  # 1\n\nYes, it returns the number that it was given.",
    ),
    "indented code": ("<p>So:</p><pre>    a\n    b\n</pre>", "So:\n\n    a\n    b"),
    "what nobody reads": (
        "<p>Tide<!-- b --><script>c()</script> rises.</p><style>e</style><svg><text>f</text></svg><p>g</p>",
        "Tide rises.\n\ng",
    ),
    "links and powers": (
        "<p><a>Home</a><a>About</a></p><p>10<sup>6</sup> or m<sup>2</sup>, H<sub>2</sub>O, the 1<sup>st</sup></p>",
        "Home About\n\n10 6 or m2, H2O, the 1st",
    ),
    "entities": ("<p>a &lt; b &amp;&nbsp;c</p>", "a &lt; b &amp;&nbsp;c"),
    "cut in a tag": ("<p>One.</p><p>Two.</p><a href='https://mirror.exam", "One.\n\nTwo."),
    "chunk that begins with a closing tag": ("</p></div>\n<div><p>Two.</p></div>", "Two."),
    "attributes": ("<p title='a > b' data-x=\"<b>\">Text <img alt='x' src='y'>here.</p>", "Text here."),
}


@pytest.mark.parametrize(("page", "expected"), CASES.values(), ids=CASES)
def test_the_text_of_html_is_what_a_browser_shows(page: str, expected: str) -> None:
    page = f"<!-- {'x ' * 200} -->{page}"
    result = compress("", [page], max_tokens=100)
    assert result.text == expected
    check_spans(result, page)


def test_a_row_has_the_header_of_its_table_and_a_cell_stands_under_its_column() -> None:
    head = "<table><tr><th>Port</th><th>Open</th><th>Note</th></tr>"
    rows = "".join(f"<tr><td>{n}</td><td>{'yes' if n % 2 else ''}</td><td>{n} is it</td></tr>" for n in range(400, 500))
    result = compress("What is the note of port 444?", [f"{head}{rows}</table>"], max_tokens=40)
    assert result.text.startswith("Port\tOpen\tNote\n")
    assert "\n444\t\t444 is it" in result.text


@pytest.mark.parametrize("budget", range(15, 60, 5))
def test_a_header_that_begins_with_an_empty_cell_comes_with_a_row(budget: int) -> None:
    head = "<table><tr><th></th><th>Port 444</th><th>Port 445</th></tr>"
    rows = "".join(f"<tr><th>Attribute {n}</th><td>{n}</td><td>{n + 1}</td></tr>" for n in range(100, 150))
    text = compress(
        "What is attribute 133 of port 444?", [f"<p>Ports:</p>{head}{rows}</table>"], max_tokens=budget
    ).text
    assert "Port 444\tPort 445\nAttribute " in text


def test_a_page_in_chunks_is_read_as_one_text() -> None:
    cut = PAGE.index("Amiga?")
    chunks = [Passage(str(n), text, doc_id="page") for n, text in enumerate((PAGE[: cut + 300], PAGE[cut:]))]
    result = compress(QUERY, chunks, max_tokens=150)
    assert not TAG.search(result.text)
    assert "lhaput viewer-1" in result.text


def test_what_must_be_kept_is_kept_even_in_a_tag() -> None:
    result = compress(QUERY, [PAGE], max_tokens=90, must_keep=["https://mirror.example/3"])
    assert "There is a  https://mirror.example/3 ready-made archive of it." in result.text
    check(result, PAGE)
    result = compress(QUERY, [PAGE], max_tokens=90, must_keep=['<pre class="shell">inst'])
    assert '<pre class="shell">inst' in result.text


WORDS = st.lists(st.sampled_from("harbour tide 42 keeper light rope sand Montag été".split()), min_size=1, max_size=6)
plain = WORDS.map(" ".join)
inline = st.one_of(
    plain,
    st.tuples(st.sampled_from("b i a code em".split()), plain).map("<{0[0]} class='x'>{0[1]}</{0[0]}>".format),
    st.tuples(plain, plain).map("{0[0]}<span>{0[1]}</span>ly".format),
    st.just("<br/>"),
    st.just("<!-- lost -->"),
)
sentences = st.lists(inline, min_size=1, max_size=4).map(" ".join).map("{}.".format)
cells = st.lists(sentences, min_size=2, max_size=2).map(lambda pair: "".join(f"<td>{cell}</td>" for cell in pair))
blocks = st.recursive(
    st.one_of(
        sentences.map("<p>{}</p>".format),
        plain.map("<h2>{}</h2>".format),
        plain.map("<pre>{}\n  x</pre>\n".format),
        st.lists(cells, min_size=1, max_size=3).map(
            lambda rows: f"<table><tr><th>a<th>b</tr>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"
        ),
        st.just("<script>if (a < b) lost()</script>\n"),
    ),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: f"<div>\n{''.join(parts)}</div>"),
        st.lists(inner, min_size=1, max_size=3).map(
            lambda parts: f"<ul>{''.join(f'<li>{part}</li>' for part in parts)}</ul>"
        ),
        st.tuples(plain, inner).map("<dl><dt>{0[0]}</dt><dd>{0[1]}</dd></dl>".format),
    ),
    max_leaves=12,
)
pages = st.lists(blocks, min_size=1, max_size=5).map(lambda parts: f"<html><body>{''.join(parts)}</body></html>")


@given(page=pages, query=plain, budget=st.integers(1, 120))
def test_no_tag_is_kept_and_no_words_run_together(page: str, query: str, budget: int) -> None:
    result = Compressor(CompressionConfig(max_tokens=budget)).compress(query, [page])
    assert result.tokens <= budget
    if result.text != page and visible(page).strip():  # a page without text is cut as it is
        check(result, page)
    assert Compressor(CompressionConfig(max_tokens=budget)).compress(query, [result.text]).text == result.text


def check(result: Compression, page: str) -> None:
    """Check that a result is a part of the text of the page, word for word."""
    if result.text:
        check_spans(result, page)
        assert not TAG.search(result.text)
        words = {*visible(page).split(), "https://mirror.example/3", "[…]"}
        assert len(result.text) < 20 or words.issuperset(result.text.split())


def check_spans(result: Compression, page: str) -> None:
    """Check that a result is made of spans of the page, and of gap markers and white space between them."""
    (kept,) = result.passages
    assert kept.text == result.text == shown(page, kept.spans, kept.markers)
    assert all(not marker.text.replace("[…]", "").strip() for marker in kept.markers)
    assert not TAG.search("".join(page[start:end] for start, end in kept.spans))


def visible(page: str) -> str:
    parser = _Visible()
    parser.feed(page)
    parser.close()
    return "".join(parser.parts)


class _Visible(HTMLParser):
    """What the standard library's parser takes for text, with the tags of blocks as line breaks."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.parts: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self._hidden += tag in ("script", "style", "svg")
        self.parts.append("" if tag in "b i a code em span sup sub wbr img".split() else "\n")

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in ("script", "style", "svg")
        self.parts.append("" if tag in "b i a code em span sup sub".split() else "\n")

    def handle_data(self, data: str) -> None:
        self.parts.append("" if self._hidden else data)

    def handle_entityref(self, name: str) -> None:
        self.parts.append(f"&{name};")
