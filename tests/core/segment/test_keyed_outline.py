"""Data in lines: YAML, TOML, INI, properties and stanzas. What is kept can be parsed, and stands under its parents."""

import configparser
import tomllib
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from record_texts import fitting

from ctxcompress import Passage, compress
from ctxcompress.data.passages import Kind
from ctxcompress.segment.formats import segment


def kept(query: str, text: str, name: str | None, budget: int) -> str:
    return compress(query, [Passage("a", text, file_path=name)], max_tokens=budget).text


def _untagged(loader: yaml.SafeLoader, _: str, node: yaml.Node) -> Any:
    return loader.construct_sequence(node, deep=True) if isinstance(node, yaml.SequenceNode) else node.value


class _Loader(yaml.SafeLoader):
    """Reads tags such as `!Ref` as what they are before."""


_Loader.add_multi_constructor("!", _untagged)  # type: ignore[no-untyped-call]


def read_ini(text: str) -> dict[str, dict[str, str]]:
    parser = configparser.RawConfigParser()
    parser.read_string(text)
    return {name: dict(parser.items(name)) for name in parser.sections()}


def read_yaml(text: str) -> Any:
    return yaml.load(text, _Loader)


def is_part(part: Any, whole: Any) -> bool:
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(k in whole and is_part(value, whole[k]) for k, value in part.items())
    if isinstance(part, list):
        return isinstance(whole, list) and all(any(is_part(value, other) for other in whole) for value in part)
    is_piece = isinstance(part, str) and set(part.split()) <= set(str(whole).split())
    return part is None or part == whole or is_piece


SHOPS = {f"shop{n}": {"street": f"Mill Lane {n}", "ovens": n + 3, "opens": f"0{n % 9}:15"} for n in range(30)}
INI = "; shops\n" + "\n".join(
    f"[{name}]\n" + "".join(f"{key} = {value}\n" for key, value in fields.items()) for name, fields in SHOPS.items()
)
TOML = (
    INI.replace("; shops\n", "title = 'shops'\n")
    .replace("= Mill Lane", "= 1 #")
    .replace(":15", "")
    .replace("= 0", "= ")
)
BREADS = "".join(
    f'[[bread]]\nname = "loaf {n}"\n\n  [bread.dough]\n  flour = {n + 3}\n  rest = [\n    {n},\n    {n + 2},\n  ]\n\n'
    for n in range(30)
)
STACK = (
    "Description: Bread is made in these ovens,\n  and sold in the shops below.\n# All shops\nParameters:\n"
    + "".join(f"  Name{n}:\n    Description: 'The name {n}:\n      it''s long'\n    Type: String\n" for n in range(9))
    + "Resources:\n"
    + "".join(
        f"""  Shop{n}:
    Fn::Not:
      - !Equals ['', !Ref Name{n}]
    "/bread/{{id}}": &bread{n}
      $ref: "#/loaves/{n}"
    Policy: |
        {{
          {chr(10).join(['"shelf": 1,'] * 20).replace(chr(10), chr(10) + " " * 10)}
        }}
    Note: >-
      The dough rests: for hours.

      # Then it is baked.
    Rules:
    # a rule
    - Name: oven
      Expires: {{days: {n + 70}}}
"""
        for n in range(30)
    )
    + "Outputs:\n  Street:\n    Value: Mill Lane\n"
)
SERVICES = "".join(
    f"- kind: Service\n  spec:\n    name: oven-{n}\n    ports:\n    - port: {9000 + n}\n      name: http\n"
    for n in range(40)
)


@pytest.mark.parametrize("budget", [60, 100, 200, 400])
@pytest.mark.parametrize(
    ("text", "names", "read", "query", "path", "value"),
    [
        (INI, "a.ini a.cfg a.conf a.properties -", read_ini, "ovens of shop17", "shop17 ovens", "20"),
        (TOML, "a.toml -", tomllib.loads, "ovens of shop17", "shop17 ovens", 20),
        (BREADS, "a.toml -", tomllib.loads, "Which flour has loaf 17?", "bread dough flour", 20),
        (
            STACK,
            "a.yaml -",
            read_yaml,
            "When do the rules of Shop17 expire?",
            "Resources Shop17 Rules Expires days",
            87,
        ),
        (SERVICES, "a.yml -", read_yaml, "Which port has oven-17?", "spec ports port", 9017),
    ],
    ids=["ini", "toml", "elements", "yaml", "items"],
)
def test_a_value_stands_under_its_parents(
    text: str, names: str, read: Any, query: str, path: str, value: Any, budget: int
) -> None:
    for name in names.split():
        found = read(kept(query, text, name if name != "-" else None, budget))
        assert is_part(found, read(text))
        assert value in values_at(found, path.split())


def values_at(found: Any, path: list[str]) -> list[Any]:
    if isinstance(found, list):
        return [value for item in found for value in values_at(item, path)]
    return values_at(found.get(path[0]), path[1:]) if path and isinstance(found, dict) else [found]


LONG = " ".join(f"Loaf {n} is baked at {n + 100} degrees." for n in range(90))
LINES = "".join(f"    Loaf {n} is baked at {n + 100} degrees\n" for n in range(300))
LIST = "".join(f'    "Loaf {n} is baked at {n + 100} degrees",\n' for n in range(300))


@pytest.mark.parametrize(
    ("name", "head", "value", "tail"),
    [
        ("a.ini", "[oven]\nnote = ", LONG, "\nsize = 3\n[shop]\na = 1\n"),
        ("a.toml", '[oven]\nnote = "', LONG, '"\n'),
        ("a.properties", "oven.note: ", LONG, "\n"),
        ("a.cfg", "[oven]\nnote = ", LONG.replace(".", ","), "\n"),
        ("a.yaml", "bread:\n  note: ", LONG, "\n  size: 3\n"),
        ("a.cfg", "[oven]\nnote =\n", LINES, "size = 3\n"),
        ("a.toml", "[oven]\nnote = [\n", LIST, "]\nsize = 3\n"),
        ("a.yaml", "bread:\n  oven: |\n", LINES, "  price: 3\n"),
        ("a.yaml", "bread:\n  oven: >-\n", LINES, "  price: 3\n"),
        ("a.yaml", "bread:\n  oven: Hot.\n", LINES, "  price: 3\n"),
        ("a.yaml", "bread:\n  oven: '\n", LINES, "    .'\n  price: 3\n"),
        ("a.conf", "ovens {\n", LINES.replace("s\n", "s;\n"), "}\nsize 3;\n"),
    ],
)
def test_what_is_kept_of_a_long_value_comes_with_its_section_and_its_key(
    name: str, head: str, value: str, tail: str
) -> None:
    found = kept("At how many degrees is loaf 57 baked?", head + value + tail, name, 120)
    assert head in found
    assert "57 is baked at 157 degrees" in found


@pytest.mark.parametrize("budget", [40, 100, 300])
def test_documents_of_one_file_are_not_mixed(budget: int) -> None:
    text = "---\n".join(f"kind: Oven\nmeta:\n  name: oven-{n}\nspec:\n  port: {9000 + n}\n" for n in range(40))
    found = list(yaml.safe_load_all(kept("Which port has oven-23?", text, "a.yml", budget)))
    assert all(any(is_part(part, whole) for whole in yaml.safe_load_all(text)) for part in found)
    assert any(part["spec"] == {"port": 9023} for part in found if part and "spec" in part)


def test_chunks_are_data_without_a_name() -> None:
    for start in range(2_000, 12_000, 700):
        assert {part.kind for part in segment(STACK[STACK.index("\n  Shop", start) :][:1_500])} == {Kind.RECORD}


@pytest.mark.parametrize(
    "text",
    [
        "try:\n  with:\n    x = 1\nelse:\n    y = 2\n    print(x)\n    print(y)\nfinally:\n    print('done')\n",
        "You need:\n- a bowl\n- some flour\n- water: not too cold\n- salt\n\nThen knead it well, and wait.\n",
        "const oven = {\n  heat: 3,\n  rows:\n    [1, 2],\n  open: true,\n  size: 4,\n  name: 'x',\n};\n",
        "[Serializable]\npublic int Size = 3;\n[Obsolete]\npublic int Weight = 4;\npublic int Age = 5;\n",
        "# Notes\n\n[1] Smith, 2003.\n[2]\nx = y holds for all of them, as was shown before.\n",
        "rows = [\n[1, 2],\n[3, 4]\n]\ntotal = sum(map(sum, rows))\nprint(total)\nfor row in rows:\n    print(row)\n",
    ],
)
def test_code_and_prose_are_no_data(text: str) -> None:
    assert Kind.RECORD not in {part.kind for part in segment(text)}


_WORDS = st.text("abcde", min_size=1, max_size=6)
_TEXTS = st.lists(st.sampled_from(["ab", "c: d", "# e", "it's", '"f"', "- g", "{h}", "", "\n", "é"]), max_size=60).map(
    " ".join
)
_VALUES = st.recursive(
    st.one_of(st.integers(0, 99), st.booleans(), _TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(_WORDS, inner, max_size=5)),
    max_leaves=40,
)


@given(st.dictionaries(_WORDS, _VALUES, min_size=2), _WORDS, st.sampled_from([None, "|", ">", '"']), st.booleans())
def test_what_is_kept_of_any_yaml_is_part_of_it(
    value: dict[str, Any], query: str, style: str | None, flow: bool
) -> None:
    class Dumper(yaml.SafeDumper):
        """Writes strings of several words in this style."""

    Dumper.add_representer(
        str, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style if " " in text else None)
    )
    text = yaml.dump(value, Dumper=Dumper, sort_keys=False, default_flow_style=None if flow else False)
    assert is_part(yaml.safe_load(kept(query, text, "a.yaml", 300)), value)


_SCALARS = st.one_of(st.integers(0, 99).map(str), _WORDS.map(lambda word: f'"{word} # x"'))
_LISTS = st.lists(_SCALARS, max_size=30).map(lambda values: "".join(["[\n", *(f"  {v},\n" for v in values), "]"]))
_QUOTED = st.lists(_WORDS, max_size=40).map(lambda lines: "".join(['"""\n', *(f"[{line}]\n" for line in lines), '"""']))
_INDENTED = st.lists(_WORDS, min_size=1, max_size=40).map(lambda lines: "".join(f"\n    {line}" for line in lines))
_SPACES = st.sampled_from(["", "", "\n", "# note\n", "# note\n\n", "\n# a = b\n"])


def _documents(values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    keys = st.dictionaries(_WORDS, st.tuples(_SPACES, values), min_size=1, max_size=8)
    body = keys.map(lambda found: "".join(f"{space}{key} = {value}\n" for key, (space, value) in found.items()))
    sections = st.dictionaries(_WORDS, st.tuples(_SPACES, body), min_size=1, max_size=12)
    return sections.map(lambda found: "".join(f"{space}[{name}]\n{inner}" for name, (space, inner) in found.items()))


@given(
    st.one_of(
        st.tuples(st.just("a.toml"), _documents(st.one_of(_SCALARS, _LISTS, _QUOTED))),
        st.tuples(st.just("a.ini"), _documents(st.one_of(_WORDS, _INDENTED))),
    ),
    _WORDS,
    st.sampled_from([60, 120]),
)
def test_what_is_kept_of_sections_is_part_of_them(file: tuple[str, str], query: str, budget: int) -> None:
    name, text = file
    read: Any = tomllib.loads if name == "a.toml" else read_ini
    found = kept(query, text, name, budget)
    try:
        assert is_part(read(found), read(text))
    except tomllib.TOMLDecodeError:  # nothing fits, so the text is cut as text
        assert not fitting(text, budget, name)


_SIGNS = [*'a:|- |b: c\n|>|\'|"|"""|{|}|[|]|[a]|[[a]]\n|[a.b]\n|#|---|=|k|;|\\|  |\n|!x|: |\n'.split("|"), "|"]


@given(st.lists(st.sampled_from(_SIGNS), max_size=60))
@settings(max_examples=8 * settings().max_examples)
def test_the_segments_of_any_text_are_the_text(signs: list[str]) -> None:
    text = "".join(signs)
    for name in ("a.yaml", "a.toml", None):
        assert "".join(text[part.start : part.end] for part in segment(text, name=name)) == text


def test_what_is_commented_out_stays_in_its_section():
    others = "".join(
        f"; The folder of part {number} of all that is kept.\n;cache.dir{number}=/tmp\n\n" for number in range(9)
    )
    wanted = "; Largest file that is kept.\n;cache.max_file=0\n\n"
    text = f"[main]\nport = 80\nhost = a\n\n[cache]\n{others}{wanted}{others}[log]\nlevel = 1\n"
    assert kept("largest file", text, "a.ini", 24).startswith(f"[cache]\n{wanted.strip()}")


def test_the_best_entry_does_not_make_hundreds_of_its_section_likely():
    others = "".join(
        f"; About {word} of things.\n{word}_limit = {number}\n\n"
        for number, word in enumerate("memory disk socket thread cache queue".split())
    )
    wanted = "; Maximum size for uploaded files.\nmax_upload = 2M\n\n"
    best = "; How many uploaded files there can be at once: uploaded files, and how many at once.\nmax_files = 7\n\n"
    short = "".join(f"k{number} = 1\n\n" for number in range(150))
    text = f"[main]\n{short}{others}{best}{others}{wanted}"
    query = "How large can uploaded files be, and how many uploaded files can there be at once?"
    found = kept(query, text, "a.ini", 80)
    assert "max_files = 7" in found
    assert "max_upload = 2M" in found
