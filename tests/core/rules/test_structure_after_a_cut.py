"""What can be read in its form before a cut can be read after it, if any whole part of it fits."""

import ast
import csv
import io
import json
import xml.etree.ElementTree as ET

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from record_texts import are_all_tried, fitting
from rule_inputs import code, fences, headings, items, paragraphs, sentences, tables, words
from structures import is_whole

from ctxcompress import Passage, compress
from ctxcompress.text.tokens import TokenCounter

COUNT = TokenCounter("o200k_base")
NAMES = {"JSON": "a.json", "XML": "a.xml", "YAML": "a.yaml", "TOML": "a.toml"}
keys = st.sampled_from("id name type items value timeout Straße x-y".split())
leaves = st.none() | st.booleans() | st.integers(-99, 10**6) | words | sentences
values = st.recursive(leaves, lambda inner: st.lists(inner, max_size=5) | st.dictionaries(keys, inner, max_size=5))
records = st.lists(st.dictionaries(keys, values, min_size=1, max_size=5), min_size=2, max_size=8)
cells = st.one_of(words, st.integers(0, 999).map(str), st.sampled_from(["a, b", 'say "hi"', "two\nlines", ""]))
plain = st.sampled_from("timeout server Zürich 东京 30 a&b <x> yes. don't".split())


def cut(form, text, query, budget):
    """Return what is kept of a text of this form."""
    return compress(query, [Passage("p", text, file_path=NAMES.get(form, form))], max_tokens=budget).text


def xml(rows):
    shop = ET.Element("shop")
    for number, names in enumerate(rows):
        item = ET.SubElement(shop, "item", id=str(number))
        for name in names:
            ET.SubElement(item, "name").text = name
    ET.indent(shop)
    return ET.tostring(shop, encoding="unicode")


def toml(rows):
    return "".join(
        f"[shop{number}]\n" + "".join(f"name{n} = {json.dumps(name)}\n" for n, name in enumerate(names)) + "\n"
        for number, names in enumerate(rows)
    )


styles = st.sampled_from([{}, {"indent": 2}, {"separators": (",", ":")}, {"ensure_ascii": False}])
widths = st.sampled_from([40, 1_000])
named = st.lists(st.lists(plain, min_size=1, max_size=4), min_size=2, max_size=9)
TEXTS = {
    "JSON": st.builds(lambda value, style: json.dumps(value, **style), records, styles),
    "XML": named.map(xml),
    "YAML": st.builds(lambda value, width: yaml.safe_dump(value, allow_unicode=True, width=width), records, widths),
    "TOML": named.map(toml),
}


@pytest.mark.parametrize("form", TEXTS)
@given(data=st.data(), query=words | plain, budget=st.integers(5, 150))
def test_records_can_be_read_if_any_fits(form, data, query, budget):
    text = data.draw(TEXTS[form])
    kept = cut(form, text, query, budget)
    if not is_whole(form, kept) and (budget > 100 or are_all_tried(text, budget, NAMES[form])):
        assert not any(is_whole(form, alone) for alone in fitting(text, budget, NAMES[form])), kept


@given(rows=st.lists(st.dictionaries(keys, leaves), min_size=2, max_size=12), query=words, budget=st.integers(5, 120))
def test_lines_of_json_are_whole_if_each_fits(rows, query, budget):
    text = "\n".join(map(json.dumps, rows))
    if max(map(COUNT, text.split("\n"))) <= budget:
        assert is_whole("JSON Lines", cut("a.jsonl", text, query, budget))


@given(
    rows=st.lists(st.lists(cells, min_size=3, max_size=3), min_size=2, max_size=12), query=words, share=st.floats(0, 1)
)
def test_rows_have_all_their_fields_if_each_fits_with_the_header(rows, query, share):
    lines = []
    for row in (["id", "name", "note"], *rows):
        file = io.StringIO(newline="")
        csv.writer(file, lineterminator="\n").writerow(row)
        lines.append(file.getvalue())
    text, least = "".join(lines), COUNT(lines[0]) + max(map(COUNT, lines)) + 1
    assert is_whole("CSV", cut("a.csv", text, query, least + int(share * COUNT(text))))


def test_a_cell_of_two_lines_is_not_cut_between_them():
    text = 'id,name,note\ntimeout,timeout,timeout\na,0,0\n0,0,"two\nlines"\n'
    assert cut("a.csv", text, "timeout", COUNT(text) - 1) == "id,name,note\ntimeout,timeout,timeout\na,0,0"


@given(
    blocks=st.lists(st.one_of(paragraphs, headings, items, tables, fences, fences), min_size=1, max_size=7),
    query=words,
    budget=st.integers(1, 200),
)
def test_no_fence_is_left_open(blocks, query, budget):
    assert is_whole("Markdown", cut("a.md", "\n\n".join(blocks), query, budget))


@given(text=st.lists(code, min_size=1, max_size=4).map("\n".join), query=words, share=st.floats(0, 1))
def test_python_parses_if_each_definition_fits(text, query, share):
    text = text.replace("don't", "do not")
    longest = max(COUNT(ast.get_source_segment(text, node)) for node in ast.parse(text).body)
    kept = cut("a.py", text, query, longest + 3 + int(share * COUNT(text)))
    assert is_whole("Python", kept), kept
