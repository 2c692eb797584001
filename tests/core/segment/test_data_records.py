"""Data is cut at records: the record asked for is kept, whole, with its header, parents or brackets."""

import ast
import csv
import io
import json
import re
import time
import xml.etree.ElementTree as ET
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxcompress import Passage, compress
from ctxcompress.cache import Cache
from ctxcompress.data.passages import Kind
from ctxcompress.segment.formats import segment

_CITIES = "Lyon Porto Ghent Bergen Turku Graz Split Kaunas Vigo Cork Bari Varna Linz Nantes Bilbao Aarhus Tartu".split()
ORDERS: list[dict[str, Any]] = [
    {
        "id": f"ord-{1000 + n}",
        "customer": f"{_CITIES[n % 17]} {_CITIES[n * 7 % 15]} Ltd",
        "status": "ok",
        "total": round(n * 13.7 % 997, 2),
        "address": {"city": _CITIES[n * 3 % 17], "zip": str(10_000 + n)},
    }
    for n in range(200)
]
QUERY = "What is the total of order ord-1117?"
WANTED = ORDERS[117]


def _geo(order: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Feature", "geometry": {"type": "Point", "coordinates": [order["total"], 7.5]}, "properties": order}


def _endpoint(city: str, other: str) -> dict[str, Any]:
    return {
        "get": {
            "operationId": f"get{city}{other}",
            "summary": f"Return the trains from {city} to {other}",
            "parameters": [{"name": "limit", "in": "query", "schema": {"type": "integer"}}],
            "responses": {"200": {"description": "The trains"}, "404": {"description": "No such line"}},
        }
    }


PAGE = {"data": ORDERS, "paging": {"cursors": {"after": "MTAx"}, "next": "https://api.example/orders?page=2"}}
SPEC = {
    "openapi": "3.1.0",
    "info": {"title": "Trains"},
    "paths": {f"/{city}/{other}": _endpoint(city, other) for city in _CITIES[:12] for other in _CITIES[:12]},
}
SHAPES: dict[str, object] = {
    "list": ORDERS,
    "results": {"status": 200, "results": ORDERS, "next": None},
    "map": {order["id"]: order for order in ORDERS},
    "nested lists": [ORDERS[n : n + 10] for n in range(0, 200, 10)],
    "pages": PAGE,
    "places": {"type": "FeatureCollection", "features": [_geo(order) for order in ORDERS]},
    "rows": [[order["id"], order["customer"], order["total"]] for order in ORDERS],
    "deep": {"a": {"b": {"c": {"d": {"orders": ORDERS}}}}},
}
STYLES: list[dict[str, Any]] = [{}, {"indent": 2}, {"separators": (",", ":")}]


def orders_in(value: object) -> list[object]:
    """Return all orders within a value, also within JSON text."""
    if isinstance(value, str) and value[:1] in ("[", "{"):
        return orders_in(json.loads(value))
    if isinstance(value, dict) and "total" in value:
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return [order for part in inner for order in orders_in(part)]


@pytest.mark.parametrize("style", STYLES, ids=str)
@pytest.mark.parametrize("shape", SHAPES)
def test_the_record_asked_for_is_kept_in_what_can_be_parsed(shape: str, style: dict[str, Any]) -> None:
    result = compress(QUERY, [json.dumps(SHAPES[shape], **style)], max_tokens=300)
    assert result.tokens <= 300
    kept = json.loads(result.text)
    if shape == "rows":
        assert [WANTED["id"], WANTED["customer"], WANTED["total"]] in kept
    else:
        assert WANTED in orders_in(kept)
        assert all(order in ORDERS for order in orders_in(kept))


@pytest.mark.parametrize("max_tokens", [60, 100, 200, 400, 2_000])
def test_records_are_whole_at_any_budget(max_tokens: int) -> None:
    kept = json.loads(compress(QUERY, [json.dumps(ORDERS)], max_tokens=max_tokens).text)
    assert WANTED in kept if max_tokens > 60 else kept[0]["id"] == WANTED["id"]


@pytest.mark.parametrize("style", STYLES, ids=str)
@pytest.mark.parametrize("value", [ORDERS, {"results": ORDERS}], ids=["list", "results"])
def test_a_fence_around_json_is_closed_and_its_content_can_be_parsed(value: object, style: dict[str, Any]) -> None:
    text = f"# Orders\n\nThese are the orders:\n\n```json\n{json.dumps(value, **style)}\n```\n\nThat is all.\n"
    result = compress(QUERY, [text], max_tokens=300)
    assert result.tokens <= 300
    body = result.text[result.text.index("```json") + 7 : result.text.rindex("```")]
    assert WANTED in orders_in(json.loads(body))


def test_json_in_a_paragraph_is_cut_at_its_records() -> None:
    text = f"These are the orders.\n\n{json.dumps(ORDERS)}\n\nThat is all, and thank you.\n"
    result = compress(QUERY, [text], max_tokens=300)
    line = next(line for line in result.text.splitlines() if line.startswith("["))
    assert WANTED in json.loads(line)


def test_lines_of_json_stay_whole() -> None:
    lines = [json.dumps(order) for order in ORDERS]
    kept = compress(QUERY, ["\n".join(lines) + "\n"], max_tokens=300).text.split("\n")
    assert json.dumps(WANTED) in kept
    assert set(kept) <= set(lines)


@pytest.mark.parametrize(("start", "end"), [(700, -900), (703, -1), (731, -400), (0, -777), (18_000, 23_000)])
def test_a_chunk_may_begin_and_end_anywhere(start: int, end: int) -> None:
    text = json.dumps(ORDERS)[start:end]
    assert {part.kind for part in segment(text)} == {Kind.RECORD}
    result = compress("What is the total of order ord-1150?", [text], max_tokens=300)
    assert json.dumps(ORDERS[150]) in result.text


def test_values_as_python_writes_them_can_be_read_again() -> None:
    text = str([{**order, "paid": None, "sent": True, "note": "it's\n"} for order in ORDERS])
    kept = ast.literal_eval(compress(QUERY, [text], max_tokens=300).text)
    assert {**WANTED, "paid": None, "sent": True, "note": "it's\n"} in kept


def test_a_long_record_is_cut_into_fields_with_what_names_it() -> None:
    record = {"id": "srv-7", "name": "mail", **{f"setting_{n}": f"value {n} of the server" for n in range(200)}}
    result = compress("What is setting_150?", [json.dumps([record, {**record, "id": "srv-8"}])], max_tokens=120)
    (first, *_) = json.loads(result.text)
    assert (first["id"], first["name"], first["setting_150"]) == ("srv-7", "mail", "value 150 of the server")


def test_letters_that_are_escaped_are_found() -> None:
    people = [{"name": f"Name {n}", "city": f"Ort {n}"} for n in range(150)]
    people[77] = {"name": "Zoë Müller", "city": "Zürich", "note": "東京に住む"}
    for query in ("Wer wohnt in Zürich?", "東京に住む"):
        assert people[77] in json.loads(compress(query, [json.dumps(people)], max_tokens=120).text)


def _table(sign: str) -> str:
    file = io.StringIO()
    writer = csv.writer(file, delimiter=sign, lineterminator="\n")
    writer.writerow(["id", "customer", "status", "total"])
    writer.writerows([order["id"], f'{order["customer"]}, "now"', "ok", order["total"]] for order in ORDERS)
    return file.getvalue()


YAML = "apiVersion: v1\norders:\n" + "".join(
    f"  - id: {order['id']}\n    customer: {order['customer']}\n    address:\n      city: {order['address']['city']}\n"
    f"    # in euros\n    total: {order['total']}\n"
    for order in ORDERS
)


XML = '<?xml version="1.0"?>\n<shop>\n' + "".join(
    f'  <order id="{order["id"]}">\n    <customer>{order["customer"]}</customer>\n    <total>{order["total"]}</total>\n'
    f"  </order>\n"
    for order in ORDERS
)


@pytest.mark.parametrize("text", [XML + "</shop>\n", (XML + "</shop>\n").replace("\n", "")], ids=["lines", "one line"])
def test_what_remains_of_xml_can_be_parsed(text: str) -> None:
    result = compress(QUERY, [text], max_tokens=200)
    assert result.tokens <= 200
    kept = ET.fromstring(result.text)
    assert "ord-1117" in [order.get("id") for order in kept.iter("order")]
    assert all(order.find("total") is not None for order in kept.iter("order"))


HTML = (
    "<!DOCTYPE html><html><head><title>Shop</title><script>if (a < b) { total('ord-1117') }</script></head>"
    '<body><div class="main"><h1>Shop</h1><p>All <b>orders</b> of <a href="/y" title="a year">this year</a>.</p>'
    "<table><thead><tr><th>Order</th><th>Total</th></tr></thead><tbody>"
    + "".join(f"<tr><td>{order['id']}</td><td>{order['total']}</td></tr>" for order in ORDERS)
    + "</tbody></table><h2>Cities</h2><ul>"
    + "".join(f"<li>{city} is served on <i>weekdays</i> only</li>" for city in _CITIES)
    + "</ul></div></body></html>"
)


def test_a_row_of_html_comes_with_its_header() -> None:
    result = compress(QUERY, [HTML], max_tokens=150)
    assert "Order\tTotal\n" in result.text
    assert f"\nord-1117\t{WANTED['total']}" in result.text
    assert "<" not in result.text
    result = compress("When is Kaunas served?", [HTML], max_tokens=100)
    assert "\nKaunas is served on weekdays only" in result.text


@pytest.mark.parametrize("text", [json.dumps(ORDERS), _table(","), YAML, XML, HTML, json.dumps(SPEC, indent=1)])
def test_segments_are_the_text_and_a_cache_changes_nothing(text: str) -> None:
    assert "".join(text[part.start : part.end] for part in segment(text)) == text
    cache = Cache()
    expected = compress(QUERY, [text], max_tokens=200).text
    for _ in range(2):
        assert compress(QUERY, [text], max_tokens=200, cache=cache).text == expected
    again = compress(QUERY, [expected], max_tokens=200)
    assert again.text == expected


_SIGNS = (
    "[ ] { } < > , : ; / = - <a> </a> <p> </p> <table> <tr> <td> </td> <br> <!-- --> <script> null 12 x: k:".split()
)
_PARTS = st.lists(
    st.sampled_from(
        [*_SIGNS, " ", "\n", "\t", "\r\n", '"', "'", "\\", '"id"', '"a": ', "- y: z\n", "A b. ", "a,b,c\n"]
    ),
    max_size=60,
).map("".join)


@given(st.sampled_from(["", "[", "{", "<p>", "<x>", "a,b,c\n1,2,3\n", "k:\n  a: b\n", '"a": 1, "b": 2, "c": ']), _PARTS)
@settings(max_examples=8 * settings().max_examples)
def test_the_segments_of_any_text_are_the_text(opening: str, rest: str) -> None:
    text = opening + rest * 3
    parts = segment(text)
    assert "".join(text[part.start : part.end] for part in parts) == text
    assert all(0 <= other < len(parts) and other != n for n, part in enumerate(parts) for other in part.needs)
    assert compress("id null sentence", [text], max_tokens=20).tokens <= 20


@pytest.mark.parametrize(
    "part",
    [
        "[", "{", '{"a":', "[1,", '"', "<a>", "<a ", "<p>x. ", "a,b,c\n", 'a,"b\n', "k:\n", "- ", '{"a":1}\n', '"a": ',
        "[\n", "a = {\n", "}\n", "[[a]]\n", "# c\n\n", "k = '\n",
    ],
)  # fmt: skip
def test_hostile_data_takes_time_in_proportion(part: str) -> None:
    size = 20_000 + 600 * settings().max_examples  # more where there is more time
    long = part * (size // len(part))
    for text in (long, "[{" + long, "<p>" + part * (size // 4) + " " * (size // 4)):
        started = time.process_time()
        assert "".join(text[item.start : item.end] for item in segment(text)) == text
        assert time.process_time() - started < size / 40_000


@pytest.mark.parametrize("style", [{}, {"indent": 1}, {"ensure_ascii": False}], ids=str)
def test_a_long_text_within_json_is_cut_at_its_sentences(style: dict[str, Any]) -> None:
    sentences = [f'In room {n} stands "a lamp" of {_CITIES[n % 17]}.' for n in range(100)]
    page = {"source": "house.pdf", "page": 7, "text": "\n\n".join(sentences), "score": 0.5}
    for value in (page, [page], {"pages": [page, {**page, "page": 8, "text": "Nothing. " * 200}]}):
        result = compress("Which lamp stands in room 77?", [json.dumps(value, **style)], max_tokens=150)
        assert result.tokens <= 150
        kept = json.loads(result.text)
        pages = kept if isinstance(kept, list) else kept.get("pages", [kept])
        text = re.sub(r" \[…\]|\[…\] ", "", pages[0]["text"])
        assert sentences[77] in text
        assert all(sentence in sentences for sentence in text.split("\n\n") if sentence)


WIDE = [["code", "name", *(f"word_{n}" for n in range(40)), "population"]] + [
    [str(100 + n), f"Land{n}", *(f"Wort{n}x{m} lang" for m in range(40)), str(n * 1111)] for n in range(100)
]


@pytest.mark.parametrize("name", [None, "lands.csv"])
@pytest.mark.parametrize("max_tokens", [60, 150, 300, 400, 500, 900])
def test_no_two_rows_share_a_line_however_long_they_are(max_tokens: int, name: str | None) -> None:
    file = io.StringIO()
    csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(WIDE)
    lands = Passage("lands", file.getvalue(), file_path=name)
    lines = compress("What is the population of Land77?", [lands], max_tokens=max_tokens).text.splitlines()
    rows = file.getvalue().splitlines()
    assert all(any(row.startswith(line) for row in rows) for line in lines)
    assert any(line.startswith('"177","Land77"') for line in lines)  # where the header leaves it no room, alone
    assert len(lines) == 1 or all(line in rows for line in lines)


@pytest.mark.parametrize(
    "text",
    [
        "<code>/var/run</code> may be empty at boot time, so files in it are made anew. Do not ship any.",
        '<EM class="x">Never</EM> stand under the crane. It is old.',
    ],
)
def test_a_sentence_that_begins_with_a_marked_word_is_no_markup(text: str) -> None:
    kinds = [(part.kind, text[part.start : part.end]) for part in segment(text)]
    first, second = text.split(". ")
    assert kinds == [(Kind.PARAGRAPH, f"{first}. "), (Kind.PARAGRAPH, second)]


@pytest.mark.parametrize(
    "text", ["<data><a>1</a><b>2</b></data>", "<a href='/x'>One</a>\n<a href='/y'>Two</a>\n", "<time>9:00</time>"]
)
def test_elements_with_the_names_of_marked_words_are_markup(text: str) -> None:
    assert {part.kind for part in segment(text)} == {Kind.RECORD}


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("sign", [",", ";", "\t"])
@pytest.mark.parametrize("header", ["code{0}name{0}population", "{0}name{0}population"])
def test_a_row_comes_with_the_header_whatever_the_sign_and_the_line_end(header: str, sign: str, newline: str) -> None:
    rows = [header.format(sign), *(f"{n}{sign}Land{n}{sign}{n}000" for n in range(40))]
    found = compress("population of Land37", [newline.join(rows) + newline], max_tokens=30).text
    assert found.split(newline)[0] == rows[0]
    assert rows[38] in found


def test_rows_of_csv_come_with_the_rows_that_say_what_their_empty_cells_mean() -> None:
    rows = ["Site,Shift,Role,Rate"]
    for site in range(8):
        rows += [f"Plant {site},,,", *(f"{',Early' if n < 2 else ',Late'},Role {n},{site}{n}.50" for n in range(4))]
        rows += [f",,Inspector,{site}9.50"]
    text = "\n".join(rows) + "\n"
    for site in range(8):
        kept = compress(f"What is the rate of role 3 at plant {site}?", [text], max_tokens=60).text.split("\n")
        for place, row in enumerate(kept):
            if row.startswith(","):
                above = next(each for each in reversed(kept[:place]) if not each.startswith(","))
                assert above == f"Plant {row.rpartition(',')[2][0]},,,"
            if row.startswith(",,"):
                assert kept[place - 1].startswith((",Late", ",,"))


def test_rows_may_begin_with_any_number_of_empty_cells() -> None:
    rows = [f"{',' * n}cell {n}{',' * (1_500 - n)}" for n in range(1_500)]
    text = "\n".join(rows)
    assert "".join(text[part.start : part.end] for part in segment(text)) == text


def test_the_one_record_that_is_asked_for_is_cut_before_others_are_kept():
    passing = "".join(f'<case name="Case{number}" time="0.1"/>\n' for number in range(80))
    trace = "".join(f"\n    at org.shop.Step{number}.run(Step.java:{number})" for number in range(60))
    failing = f'<case name="LoginCase"><problem kind="Error">Error: the door is locked{trace}</problem></case>\n'
    report = f"<run>\n{passing}{failing}{passing}</run>\n"
    kept = compress("Why did LoginCase fail?", [report], max_tokens=300).text
    assert 'name="LoginCase"' in kept
    assert "the door is locked" in kept
    assert ET.fromstring(kept).tag == "run"
