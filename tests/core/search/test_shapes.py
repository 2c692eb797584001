"""The shape that came in goes out, with less text in it and nothing else changed."""

import copy
import json
import re
from dataclasses import asdict, is_dataclass

import pytest
import search_shapes
from hypothesis import given
from hypothesis import strategies as st
from search_shapes import KUBERNETES, SHAPES, shape

from ctxcompress import compress_search_results
from ctxcompress.apps.search.shapes import TEXT_KEYS
from ctxcompress.errors import InputError

JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
RESULT = st.fixed_dictionaries(
    {"url": st.sampled_from(["https://a.example/", "http://www.a.example", "b.example", "?", "[::"])},
    optional={
        "title": st.none() | st.text(max_size=20),
        "content": st.none() | st.text(max_size=900),
        "raw_content": st.none() | st.text(max_size=900),
        "highlights": st.lists(st.text(max_size=300), max_size=4),
        "score": JSON,
        "more": JSON,
    },
).filter(lambda result: any(key in result for key in TEXT_KEYS))


def plain(value):
    """Results as JSON has them."""
    if isinstance(value, str):
        return json.loads(value) if value.startswith(("{", "[{")) else value
    return (
        asdict(value) if is_dataclass(value) else [plain(item) for item in value] if isinstance(value, list) else value
    )


def rows(value):
    value = plain(value)
    if isinstance(value, dict):
        value = value["web"]["results"] if "web" in value else value["results"]
    return value


def texts_of(row):
    values = [row[key] for key in TEXT_KEYS if row.get(key)]
    return [text for value in values for text in ([value] if isinstance(value, str) else value)]


@pytest.mark.parametrize("name", [name for name in SHAPES if name not in ("duckduckgo-text", "duckduckgo-brackets")])
def test_each_shape_comes_back_as_it_came(name):
    came = shape(name)
    result = compress_search_results(came, KUBERNETES)
    assert type(result.results) is type(came)
    assert came == SHAPES[name]  # not changed
    before, after = rows(came), rows(result.results)
    assert (len(before), len(after), result.original_count, result.compressed_count) == (5, 3, 5, 3)
    for old, new in zip(before, after, strict=False):
        assert list(new) == list(old)
        assert sum(map(len, texts_of(new))) <= 300
        for key in old:
            if key not in (*TEXT_KEYS, "highlight_scores"):
                assert new[key] == old[key]
        for text in texts_of(new):
            whole = "\n".join(texts_of(old))
            assert all(sentence in whole for sentence in re.split(r"(?<=\.)\s+", text))
    outside = [
        {k: v for k, v in plain(v).items() if k not in ("results", "web")}
        for v in (came, result.results)
        if isinstance(plain(v), dict)
    ]
    assert outside[:1] == outside[1:]
    assert result.savings_percent > 60
    assert result.is_evident


@pytest.mark.parametrize("name", ["duckduckgo-text", "duckduckgo-brackets"])
def test_the_text_of_duckduckgo_keeps_its_form(name):
    came = shape(name)
    result = compress_search_results(came, KUBERNETES).results
    entries = search_shapes.duckduckgo_list()
    for entry in entries[:3]:
        assert f", title: {entry['title']}, link: {entry['link']}" in result
    assert entries[3]["title"] not in result
    assert result.startswith("[snippet: " if name.endswith("brackets") else "snippet: ")
    assert result.endswith("]" if name.endswith("brackets") else entries[2]["link"])
    assert compress_search_results(result, KUBERNETES).results == result


@pytest.mark.parametrize("name", ["tavily-json", "tavily-json-indented", "tavily-json-compact", "brave-text"])
def test_json_text_is_written_as_it_was(name):
    result = compress_search_results(shape(name), KUBERNETES).results
    styles = {"tavily-json-indented": {"indent": 2}, "tavily-json-compact": {"separators": (",", ":")}}
    assert result == json.dumps(json.loads(result), **styles.get(name, {}))


@pytest.mark.parametrize(
    "value",
    ["", "Kubernetes runs containers.", "{", '{"answer": 42}', "snippet: no more", 7, None, {"results": [1]}, [1, 2],
     [{"title": "no address", "content": "x"}], [{"url": "https://a.example"}], '"a text"', b"[]", {"web": {"web": {}}},
     "[" * 100_000, '{"results": ' * 5_000],
)  # fmt: skip
def test_what_holds_no_results_is_refused(value):
    with pytest.raises(InputError, match="holds no search results"):
        compress_search_results(value, KUBERNETES)


@pytest.mark.parametrize("value", [[], {"results": []}, "[]", '{"results": []}', ()])
def test_no_results_stay_none(value):
    result = compress_search_results(value, KUBERNETES)
    assert result.results == value
    assert (result.original_count, result.compressed_count, result.savings_percent, result.dropped) == (0, 0, 0.0, ())


@given(st.lists(RESULT, max_size=6), st.text(max_size=30))
def test_results_of_any_content_are_compressed_within_the_limits(results, query):
    came = copy.deepcopy(results)
    found = compress_search_results(results, query)
    assert repr(results) == repr(came)
    assert len(found.results) <= 5
    assert (len(found.results) > 0) is (len(results) > 0)
    for result in found.results:
        assert sum(map(len, texts_of(result))) <= 500 or not "".join(texts_of(result)).strip()


@given(JSON)
def test_any_json_is_refused_or_compressed(value):
    for given_value in (value, json.dumps(value)):
        try:
            found = compress_search_results(given_value, "a question")
        except InputError:
            continue
        assert type(found.results) is type(given_value)


@pytest.mark.parametrize("separators", [(", ", ": "), (",", ":")])
@pytest.mark.parametrize("indent", [None, 1, "\t"])
def test_numbers_stay_as_they_are_written(separators, indent):
    numbers = ["1e400", "1.10", "100000000000000000000000.0", "-0", "7", "1E5", "9" * 5_000, "-0.0e-7"]
    more = {f"key {n}": [f"@{n}@", {}, [], None, True, {"in": [n]}] for n in range(len(numbers))}
    came = [{"url": "https://a.example", "content": "Tea is hot. " * 200, "score": 0.9, "more": more}]
    text = json.dumps(came, indent=indent, separators=separators if indent is None else None)
    for n, number in enumerate(numbers):
        text = text.replace(f'"@{n}@"', number)
    result = compress_search_results(text, "Is tea hot?").results
    assert len(result) < len(text)
    assert result.replace(json.loads(result, parse_int=str)[0]["content"], came[0]["content"]) == text


def test_a_result_alone_is_one():
    page = {"url": "https://a.example", "title": "Tea", "content": "Petra has cats. Tea is hot. " * 99, "results": []}
    for value in (page, json.dumps(page)):
        result = compress_search_results(value, "Is tea hot?")
        new = json.loads(result.results) if isinstance(value, str) else result.results
        assert (result.original_count, result.compressed_count, result.is_evident) == (1, 1, True)
        assert {**new, "content": page["content"]} == page
        assert "Tea is hot." in new["content"]
        assert len(new["content"]) <= 300
    result = compress_search_results(page, "Is tea hot?", max_tokens=30)
    assert (result.results, result.compressed_count) == ({**page, "content": ""}, 0)


@pytest.mark.parametrize("key", ["body", "description", "summary", "text"])
def test_a_list_of_issues_or_bookmarks_does_not(key):
    records = [{"url": f"https://api.example/{n}", "title": "Bug", key: "It is broken."} for n in range(9)]
    for value in (records, {"items": records}, records[0], json.dumps(records)):
        assert not compress_search_results(value, KUBERNETES).is_evident
    assert compress_search_results({"results": records}, KUBERNETES).is_evident
