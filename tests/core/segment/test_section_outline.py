"""In INI, TOML and properties, a key is kept with the line of its section."""

import configparser
import tomllib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from record_texts import fitting

from ctxcompress import Passage, compress
from ctxcompress.data.passages import Kind
from ctxcompress.segment.segments import segment

_BAKERIES = {f"bakery{n}": {"street": f"Mill Lane {n}", "ovens": n + 3, "opens": f"0{n % 9}:15"} for n in range(30)}
INI = "; opening hours\n" + "\n".join(
    f"[{name}]\n" + "".join(f"{key} = {value}\n" for key, value in fields.items()) for name, fields in _BAKERIES.items()
)
TOML = "title = 'bakeries'\n\n" + "\n".join(
    f"[{name}]\n" + "".join(f"{key} = {value!r}\n" for key, value in fields.items())
    for name, fields in _BAKERIES.items()
)
BREADS = "".join(
    f'[[bread]]\nname = "loaf {n}"\n\n  [bread.dough]\n  flour = {n}\n  rest = [\n    {n + 1},\n    {n + 2},\n  ]\n\n'
    for n in range(30)
)


def _ini(text: str) -> dict[str, dict[str, str]]:
    parser = configparser.RawConfigParser()
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    parser.read_string(text)
    return {name: dict(parser.items(name)) for name in parser.sections()}


def _is_part(part: Any, whole: Any) -> bool:
    if isinstance(part, dict):
        return all(key in whole and _is_part(value, whole[key]) for key, value in part.items())
    if isinstance(part, list):
        return all(any(_is_part(value, other) for other in whole) for value in part)
    return bool(part == whole)


@pytest.mark.parametrize("name", ["shops.ini", "shops.cfg", "shops.conf", "shops.properties", None])
@pytest.mark.parametrize("budget", [40, 60, 100, 200, 400])
def test_a_key_of_ini_stands_under_its_own_section(name: str | None, budget: int) -> None:
    result = compress("How many ovens has bakery17?", [Passage("a", INI, file_path=name)], max_tokens=budget)
    found = _ini(result.text)
    assert _is_part(found, _ini(INI))
    assert found["bakery17"]["ovens"] == "20"


@pytest.mark.parametrize("name", ["shops.toml", None])
@pytest.mark.parametrize("budget", [40, 60, 100, 200, 400])
def test_a_key_of_toml_stands_under_its_own_section(name: str | None, budget: int) -> None:
    result = compress("How many ovens has bakery17?", [Passage("a", TOML, file_path=name)], max_tokens=budget)
    found = tomllib.loads(result.text)
    assert _is_part(found, tomllib.loads(TOML))
    assert found["bakery17"]["ovens"] == 20


@pytest.mark.parametrize("budget", [60, 100, 200])
def test_a_table_within_an_element_of_a_list_stands_under_this_element(budget: int) -> None:
    result = compress("Which flour has loaf 19?", [Passage("a", BREADS, file_path="b.toml")], max_tokens=budget)
    found = tomllib.loads(result.text)["bread"]
    assert _is_part(found, tomllib.loads(BREADS)["bread"])
    assert {"flour": 19}.items() <= next(bread for bread in found if bread.get("name") == "loaf 19")["dough"].items()


def test_a_long_list_is_cut_into_its_lines() -> None:
    text = "[project]\nname = 'oven'\ndependencies = [\n" + "".join(
        f'  "flour-{n}>={n}.1",\n' for n in range(200)
    ) + "]\nlicense = 'MIT'\n"  # fmt: skip
    result = compress("Which version of flour-117?", [Passage("a", text, file_path="pyproject.toml")], max_tokens=60)
    assert "flour-117>=117.1" in tomllib.loads(result.text)["project"]["dependencies"]
    text = "[options]\ninstall_requires =\n" + "".join(f"    flour-{n}>={n}.1\n" for n in range(200))
    result = compress("Which version of flour-117?", [Passage("a", text, file_path="setup.cfg")], max_tokens=60)
    assert "flour-117>=117.1" in _ini(result.text)["options"]["install_requires"]


def test_a_comment_stands_with_the_key_below_it() -> None:
    text = "".join(f"[shop{n}]\n# baked on stone in hall {n}\ncrust = {n + 40}\n\n" for n in range(40))
    result = compress("What is baked on stone in hall 23?", [Passage("a", text, file_path="a.conf")], max_tokens=40)
    assert "[shop23]\n# baked on stone in hall 23\ncrust = 63" in result.text


@pytest.mark.parametrize(
    "text",
    [
        "[Serializable]\npublic int Size = 3;\n[Obsolete]\npublic int Weight = 4;\npublic int Age = 5;\n",
        "# Notes\n\n[1] Smith, 2003.\n[2]\nx = y holds for all of them, as was shown before.\n",
        "rows = [\n[1, 2],\n[3, 4]\n]\ntotal = sum(map(sum, rows))\nprint(total)\nfor row in rows:\n    print(row)\n",
    ],
)
def test_code_and_prose_have_no_sections(text: str) -> None:
    assert Kind.RECORD not in {part.kind for part in segment(text)}


_WORDS = st.text("abcde", min_size=1, max_size=6)
_SCALARS = st.one_of(st.integers(0, 99).map(str), _WORDS.map(lambda word: f'"{word} # x"'))
_LISTS = st.lists(_SCALARS, max_size=30).map(lambda values: "".join(["[\n", *(f"  {v},\n" for v in values), "]"]))
_TEXTS = st.lists(_WORDS, max_size=40).map(lambda lines: "".join(['"""\n', *(f"[{line}]\n" for line in lines), '"""']))
_SPACES = st.sampled_from(["", "", "\n", "# note\n", "# note\n\n", "\n# a = b\n"])


def _document(values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    keys = st.dictionaries(_WORDS, st.tuples(_SPACES, values), min_size=1, max_size=8)
    body = keys.map(lambda found: "".join(f"{space}{key} = {value}\n" for key, (space, value) in found.items()))
    sections = st.dictionaries(_WORDS, st.tuples(_SPACES, body), min_size=1, max_size=12)
    return sections.map(lambda found: "".join(f"{space}[{name}]\n{inner}" for name, (space, inner) in found.items()))


@given(_document(st.one_of(_SCALARS, _LISTS, _TEXTS)), _WORDS, st.sampled_from([60, 120]))
@settings(max_examples=150, deadline=None)
def test_what_is_kept_of_toml_can_be_parsed(text: str, query: str, budget: int) -> None:
    kept = compress(query, [Passage("a", text, file_path="a.toml")], max_tokens=budget).text
    found = _parsed(kept)
    if found is None:  # nothing fits, so the text is cut as text
        assert not fitting(text, budget, "a.toml"), kept
        return
    for name, fields in found.items():
        for key, value in fields.items():
            original = tomllib.loads(text)[name][key]
            assert set(value.split()) <= set(original.split()) if isinstance(value, str) else _is_part(value, original)


def _parsed(text: str) -> dict[str, dict[str, Any]] | None:
    """Return the sections of TOML, or None if the text is anything else."""
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None
    return found if all(isinstance(fields, dict) for fields in found.values()) else None


_INDENTED = st.lists(_WORDS, min_size=1, max_size=40).map(lambda lines: "".join(f"\n    {line}" for line in lines))


@given(_document(st.one_of(_WORDS, _INDENTED)), _WORDS, st.sampled_from([60, 120]))
@settings(max_examples=150, deadline=None)
def test_what_is_kept_of_ini_can_be_parsed(text: str, query: str, budget: int) -> None:
    for section, fields in _ini(
        compress(query, [Passage("a", text, file_path="a.ini")], max_tokens=budget).text
    ).items():
        for key, value in fields.items():
            assert set(value.split()) <= set(_ini(text)[section][key].split())


@given(
    st.lists(st.sampled_from(["[a]", "[[a]]", "[a.b]", "=", "k", "[", "]", "{", '"', '"' * 3, "#", " ", "\n", "\\"]))
)
@settings(max_examples=200, deadline=None)
def test_the_segments_of_any_text_are_the_text(signs: list[str]) -> None:
    text = "".join(signs)
    for name in ("a.toml", "a.ini", None):
        assert "".join(text[part.start : part.end] for part in segment(text, name=name)) == text
