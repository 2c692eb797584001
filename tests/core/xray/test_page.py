"""The X-ray page: every text is shown as text, and none is read as markup."""

import base64
import hashlib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xray_page import OMITTED, check_safe, read, shows, written

from ctxcompress import Passage, compress
from ctxcompress.cache import Cache

QUERY = "what is the default timeout?"
ANSWER = "The default timeout is 30 seconds."
FILLER = "Lighthouses were painted white so that ships could see them by day. "
HOSTILE = (
    "</style></title></article><script>alert(1)</script><!-- <![CDATA[ <?php &lt;b&gt; &#x3c;i&#x3e; "
    "\x00\x1b[31m\r\n\r "
    '\u202eevil\u202c \u200b\ufeff \ud83d \U000e0041 \'single\' "double" onerror=x <b class="u">U+0041</b>'
)

anything = st.text(st.characters(), max_size=60)
texts = st.one_of(
    anything,
    st.just(HOSTILE),
    st.lists(st.sampled_from([ANSWER, FILLER, "# Head\n\n", "\n\n", "| a | b |\n|---|---|\n| 1 | 2 |\n", HOSTILE])).map(
        "".join
    ),
    st.just("def f(a):\n    return a\n\n\nclass C:\n    def g(self):\n        pass\n" * 3),
)
names = st.none() | anything
passages_of = st.lists(
    st.builds(
        Passage,
        anything,
        texts,
        score=st.none() | st.floats(),
        title=names,
        file_path=names,
        doc_id=names,
        header_path=st.none() | st.lists(anything, max_size=3).map(tuple),
        metadata=st.dictionaries(anything, anything, max_size=2),
    ),
    max_size=6,
)
options_of = st.fixed_dictionaries(
    {"max_tokens": st.integers(1, 200)},
    optional={
        "adaptive": st.booleans(),
        "min_score": st.just(0.5),
        "ngram_threshold": st.just(0.7),
        "max_length": st.just(120),
        "factual_length": st.just(40),
        "metadata_only": st.booleans(),
        "top_n": st.just(2),
        "order": st.sampled_from(["source", "relevance", "edges"]),
    },
) | st.one_of(
    st.builds(
        lambda n, name: {"max_tokens": n, "format": name},
        st.integers(1, 200),
        st.sampled_from(["compact", "xml", "json"]),
    ),
    st.builds(lambda n: {"max_tokens": n, "format": "preview"}, st.integers(1, 200)),
    st.builds(lambda n: {"max_tokens": n, "scorer": "bm25"}, st.integers(1, 200)),
)


def check(result):
    """All that holds for every page."""
    root = read(result.xray())
    check_safe(root)
    check_safe(read(result._repr_html_()))
    articles = root.find("article")
    passages = result.input_passages()
    assert [article.attributes["id"] for article in articles] == [f"p{index}" for index in range(len(passages))]
    for article, passage in zip(articles, passages, strict=True):
        (text,) = article.find("div", "t")
        assert shows(written(text), passage.text)
    for part in result.passages:
        marks = articles[part.index].find("mark")
        if not part.metadata_only:
            kept = "".join(part.original.text[start:end] for start, end in part.spans)
            assert "".join(map(written, marks)) == kept
    for decision in result.dropped:
        if decision.spans:
            found = articles[decision.index].find("del", f"r-{decision.reason.value}")
            assert "".join(written(node) for node in found).replace(OMITTED, "").strip() or not decision.text.strip()
            labels = [label.text for node in found for label in node.find("bdi", "why")]
            assert not decision.text.strip() or any(label.startswith(decision.reason.value) for label in labels)
    (final,) = root.find("div", "final")
    assert shows(written(final), result.text)
    return root


@given(anything, passages_of, options_of)
def test_every_character_is_on_the_page_or_counted_and_none_of_them_is_markup(query, passages, options):
    check(compress(query, passages, **options))


def long_passages(count=6):
    texts = [
        FILLER * 12 + ANSWER + FILLER * 12,
        ANSWER + " It can be changed.",
        FILLER * 30,
        HOSTILE * 5,
        ANSWER * 2,
        "  \n ",
    ]
    return [Passage(f"p{n}", texts[n % len(texts)], score=1 - n / 10, file_path=f"docs/{n}.md") for n in range(count)]


@pytest.mark.parametrize(
    "options",
    [
        {"format": "preview"},
        {"metadata_only": 0.9},
        {"factual_length": 60},
        {"adaptive": True},
        {"max_tokens": "auto"},
        {"format": "json"},
        {"format": "xml"},
        {"ngram_threshold": 1.0},
        {"min_score": 0.99, "on_empty": "drop"},
        {"min_score": 0.7, "top_n": 1},
        {"encoding": len},
        {"cache": Cache()},
    ],
    ids="-".join,
)
@pytest.mark.parametrize("tokens", [1, 60, 100_000])
def test_every_mode_has_its_page(options, tokens):
    for passages, query in ((long_passages(), QUERY), (long_passages(), ""), ([], QUERY), ([Passage("empty", "")], "")):
        check(compress(query, passages, **{"max_tokens": tokens, **options}))


def test_the_policy_allows_the_one_style_sheet_and_nothing_else():
    page = compress(HOSTILE, [Passage("a", HOSTILE)], max_tokens=1000).xray()
    root = read(page)
    (style,) = root.find("style")
    (policy,) = (node for node in root.find("meta") if node.attributes.get("http-equiv") == "Content-Security-Policy")
    digest = base64.b64encode(hashlib.sha256(style.text.encode()).digest()).decode()
    assert policy.attributes["content"] == (
        f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )
    assert "url(" not in style.text
    assert "@import" not in style.text


def test_the_page_says_what_the_numbers_say():
    result = compress(QUERY, long_passages(), max_tokens=60, min_score=0.6, ngram_threshold=0.7)
    text = read(result.xray()).text
    stats = result.stats
    assert f"{stats.compressed_tokens} of {stats.original_tokens:,} tokens" in text
    assert f"{len(result.passages)} of {stats.original_count} passages" in text
    assert f"{result.tokens} of 60 tokens of the budget" in text
    assert "complexity" in text
    assert "intent" in text
    for stage in result.stages:
        assert stage.name in text


def test_the_waterfall_ends_at_the_tokens_of_the_final_text():
    for options in ({}, {"format": "compact"}, {"format": "json"}, {"metadata_only": True}, {"format": "preview"}):
        result = compress(QUERY, long_passages(), max_tokens=80, min_score=0.6, ngram_threshold=0.7, **options)
        (table,) = read(result.xray()).find("table", "fall")
        rows = [[cell.text for cell in row.find("td")[:2]] for row in table.find("tbody")[0].find("tr")]
        left = [int(row[1].replace(",", "")) for row in rows]
        changes = [int(row[0].replace(",", "").replace("\u2212", "-") or 0) for row in rows]
        assert left[0] == result.stats.original_tokens
        assert left[-1] == result.tokens
        assert all(before + change == after for before, change, after in zip(left, changes[1:], left[1:], strict=False))


def test_copies_stand_beside_what_stands_for_them_and_link_to_it():
    near = f"{FILLER}They were lit with oil, and later with gas, by keepers who lived in them. {ANSWER}"
    passages = [Passage(name, near, score=1 - n / 10) for n, name in enumerate("ab")]
    passages += [Passage("c", near.replace("white so", "white, so"), score=0.5), Passage("d", "Something else.")]
    result = compress(QUERY, passages, max_tokens=100, ngram_threshold=0.7)
    root = check(result)
    (cluster,) = root.find("section", "cluster")
    assert [side.find("a")[0].attributes["href"] for side in cluster.find("div", "side")] == ["#p0", "#p1", "#p2"]
    assert "the same text" in cluster.text
    assert [node.text for node in cluster.find("ins")] == [","]
    assert "a duplicate: #0 stands for it" in root.find("article")[1].text
    assert "stands for #1 · #2" in root.find("article")[0].text


def test_the_page_of_ten_thousand_tokens_of_fifty_passages_is_under_300_kb():
    sentences = [
        f"Setting {n} of the server has a default timeout of {n} seconds, <unless> it is changed. " for n in range(3000)
    ]
    passages = [Passage(str(n), "".join(sentences[n * 60 : n * 60 + 60])) for n in range(50)]
    result = compress(QUERY, passages, max_tokens=10_000)
    assert result.tokens > 9_000
    assert len(result.xray().encode()) < 300_000


def test_a_notebook_shows_the_numbers_and_the_texts_without_any_style():
    result = compress(QUERY, long_passages(), max_tokens=60)
    shown = result._repr_html_()
    root = read(shown)
    assert ANSWER in root.text
    assert f"{result.tokens:,} of {result.stats.original_tokens:,} tokens" in root.text
    assert "Other text is worth more of the budget." in root.text
    assert not re.search(r"class=|style|id=", re.sub(r"<blockquote.*?</blockquote>", "", shown, flags=re.DOTALL))
