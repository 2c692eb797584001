"""What remains of JSON can be parsed, and every value that remains is the one at its place in the original."""

import json
import re
from collections.abc import Iterator

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from record_texts import are_all_tried, fitting

from ctxcompress import compress
from ctxcompress.segment.formats import segment

_NOTHING = object()

_WORDS = st.sampled_from(["order", "ok", "error", "Zürich", "东京", 'say "hi"', "a\\b", "line\nbreak", "[x]", "{", ","])
_TEXTS = st.one_of(st.lists(_WORDS, max_size=12).map(" ".join), st.text(max_size=20))
_LONG_TEXTS = st.lists(
    st.one_of(_WORDS, st.sampled_from(["Yes.", "No!\n", "\\n.", '"Why?"', "\n\n", "。"])), min_size=150
).map(" ".join)
_PLAIN = st.one_of(st.none(), st.booleans(), st.integers(-(10**6), 10**6), st.floats(allow_nan=False), _TEXTS)
_KEYS = st.sampled_from(["id", "name", "type", "a:b", "items", "value", "Straße", "x y", 'q"', "deep", "0"])
_RECORDS = st.recursive(
    _PLAIN,
    lambda inner: st.one_of(st.lists(inner, max_size=6), st.dictionaries(_KEYS, inner, max_size=7)),
    max_leaves=60,
)
_DATA = st.one_of(
    st.lists(_RECORDS, min_size=1, max_size=8),
    st.dictionaries(_KEYS, _RECORDS, min_size=1, max_size=8),
    st.lists(
        st.fixed_dictionaries({"id": st.integers(), "name": _TEXTS, "inner": _RECORDS | _LONG_TEXTS}),
        min_size=2,
        max_size=12,
    ),
)
_STYLES = st.sampled_from([{}, {"indent": 2}, {"separators": (",", ":")}, {"ensure_ascii": False}, {"indent": "\t"}])


def _is_part(part: object, whole: object) -> bool:
    """Tell whether `part` is `whole` without some values of its lists and objects, and some sentences of long
    texts."""
    if isinstance(part, dict) and isinstance(whole, dict):
        return all(key in whole and _is_part(value, whole[key]) for key, value in part.items())
    if isinstance(part, list) and isinstance(whole, list):
        left: Iterator[object] = iter(whole)
        return all(any(_is_part(value, other) for other in left) for value in part)
    if isinstance(part, str) and isinstance(whole, str) and len(whole) > 500:
        characters = iter(whole)
        return all(character in characters for character in part)
    return repr(part) == repr(whole)


@given(
    _DATA, _STYLES, st.integers(8, 200), st.sampled_from(["order status", "what is wrong?", "id 5", "Zürich 东京", ""])
)
@settings(suppress_health_check=list(HealthCheck))
def test_what_remains_of_json_can_be_parsed(data: object, style: dict[str, object], budget: int, query: str) -> None:
    text = json.dumps(data, **style)
    result = compress(query, [text], max_tokens=budget)
    assert result.tokens <= budget
    spans = [span for passage in result.passages for span in passage.spans]
    verbatim = re.sub(r" \[…\]|\[…\] ", "", result.text)  # within a string, where some of it is missing
    assert verbatim == "".join(text[start:end] for start, end in spans)
    segments = segment(text)
    assert "".join(text[part.start : part.end] for part in segments) == text
    assert (_parsed(result.text) is _NOTHING) == (_parsed(verbatim) is _NOTHING)
    kept = _parsed(verbatim)
    if (kept is _NOTHING or not _is_part(kept, data)) and (are_all_tried(text, budget) or budget > 100):
        assert not fitting(text, budget), result.text


def _parsed(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return _NOTHING


@given(
    st.lists(st.sampled_from(["timeout", "server", "thirty", "seconds.", "The", "pool,"]), min_size=60, max_size=120),
    st.sampled_from([("text",), ("a", "b", "text"), (0,), ("id", "text"), ("text", "port")]),
    _STYLES,
)
@settings(suppress_health_check=list(HealthCheck))
def test_more_budget_never_leaves_less_of_an_object_with_one_long_text(
    words: list[str], path: tuple[object, ...], style: dict[str, object]
) -> None:
    value: object = " ".join(words)
    data = (
        {path[0]: 7, path[1]: value}
        if path[0] == "id"
        else {path[0]: value, path[1]: 80}
        if path[-1] == "port"
        else value
    )
    for key in reversed(path) if data is value else ():
        data = [data] if key == 0 else {key: data}
    text, most = json.dumps(data, **style), (False, False)
    for budget in range(1, 100, 5):
        result = compress("default timeout", [text], max_tokens=budget)
        is_whole = isinstance(_parsed(result.text), dict | list)
        state = is_whole, any(word in result.text.partition("text")[2] for word in words) or path == (0,)
        assert state >= most, (budget, result.text)
        most = state


def test_a_marker_shows_where_sentences_of_a_string_are_missing() -> None:
    birds = "Pump B is new. Birds sing in the garden. " * 20
    notes = f"Pump A leaks. {birds}It was replaced in May."
    for budget in range(20, 60):
        result = compress("when was the pump replaced?", [json.dumps([{"id": 1, "notes": notes}])], max_tokens=budget)
        for piece in re.split(r" ?\[…\] ?", json.loads(result.text)[0].get("notes", "")):
            assert piece in notes


def test_an_object_that_names_a_record_is_closed() -> None:
    names = {"id": "\x1f\x1f𐀀", "name": "\x1f\x1f𐀀", "type": "0\x0b0000\x1f\x0b", "a:b": None}
    text = json.dumps([{"id": names, "name": [None] * 6}])
    for budget in range(17, 70):
        kept = compress("order status", [text], max_tokens=budget).text
        assert not kept.startswith("[") or json.loads(kept)
