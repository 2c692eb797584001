"""Entries of YAML are kept under the keys above them, whatever their keys and values look like."""

from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxcompress import Passage, compress
from ctxcompress.data.passages import Kind, walk
from ctxcompress.segment.segments import segment
from ctxcompress.segment.line_outline import line_outline

_POLICY = "".join(f'            {{ "shelf": {n}, "days": {n * 3} }},\n' for n in range(5))
STACK = (
    "Description: Bread is made in these ovens,\n  and sold in the shops below.\n# All shops\nParameters:\n"
    + "".join(
        f"  Name{n}:\n    Description: 'The name of shop {n}:\n      it''s long'\n    Type: String\n" for n in range(9)
    )
    + "Resources:\n"
    + "".join(
        f"""  Shop{n}:
    Type: Bakery::Shop
    Properties:
      Fn::Not:
        - !Equals ['', !Ref Name{n}]
      "/bread/{{id}}": &bread{n}
        $ref: "#/loaves/{n}"
      Policy: |
          {{
{_POLICY}          }}
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
SERVICES = "---\n".join(
    f"kind: Service\nmetadata:\n  name: oven-{n}\n  labels:\n    app: bread\nspec:\n"
    f"  ports:\n  - port: {9000 + n}\n    name: http\n"
    for n in range(40)
)


class _Loader(yaml.SafeLoader):
    """Reads tags such as `!Ref` as what they are before."""


def _untagged(loader: yaml.SafeLoader, _: str, node: yaml.Node) -> Any:
    if isinstance(node, yaml.MappingNode):
        return loader.construct_mapping(node, deep=True)
    return loader.construct_sequence(node, deep=True) if isinstance(node, yaml.SequenceNode) else node.value


_Loader.add_multi_constructor("!", _untagged)  # type: ignore[no-untyped-call]


def _load(text: str) -> list[Any]:
    return [document for document in yaml.load_all(text, _Loader) if document is not None]


def _is_part(part: Any, whole: Any) -> bool:
    if part is None:
        return True
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(
            key in whole and _is_part(value, whole[key]) for key, value in part.items()
        )
    if isinstance(part, list):
        return isinstance(whole, list) and all(any(_is_part(value, other) for other in whole) for value in part)
    return part == whole or (isinstance(part, str) and set(part.split()) <= set(str(whole).split()))


@pytest.mark.parametrize("name", ["stack.yaml", None])
@pytest.mark.parametrize("budget", [100, 150, 300, 600, 1000])
def test_what_is_kept_can_be_parsed_and_stands_under_its_parents(name: str | None, budget: int) -> None:
    query = "After how many days do the rules of Shop17 expire?"
    kept = _load(compress(query, [Passage("a", STACK, file_path=name)], max_tokens=budget).text)[0]
    assert _is_part(kept, _load(STACK)[0])
    assert kept["Resources"]["Shop17"]["Properties"]["Rules"] == [{"Name": "oven", "Expires": {"days": 87}}]


@pytest.mark.parametrize("budget", [40, 100, 300])
def test_documents_of_one_file_are_not_mixed(budget: int) -> None:
    passage = Passage("a", SERVICES, file_path="services.yml")
    kept = _load(compress("Which port has oven-23?", [passage], max_tokens=budget).text)
    assert all(any(_is_part(document, whole) for whole in _load(SERVICES)) for document in kept)
    assert any(document["spec"]["ports"][0]["port"] == 9023 for document in kept if document.get("spec"))


@pytest.mark.parametrize("sign", ["|", ">-", "'", ""])
def test_a_long_scalar_is_cut_into_parts(sign: str) -> None:
    lines = "".join(f"    Loaf number {n} is baked at {n + 100} degrees\n" for n in range(300))
    close = "    .'\n" if sign == "'" else ""
    text = f"bread:\n  oven: {sign or 'Hot.'}\n{lines}{close}  price: 3\n"
    passage = Passage("a", text, file_path="a.yaml")
    result = compress("At how many degrees is loaf number 217 baked?", [passage], max_tokens=150)
    assert "217 is baked at 317 degrees" in yaml.safe_load(result.text)["bread"]["oven"]


def test_an_entry_is_kept_with_the_comment_above_it() -> None:
    text = "ovens:\n" + "".join(f"  # Built by family {n}.\n  oven{n}:\n    heat: {n}\n" for n in range(60))
    result = compress("What was built by family 41?", [Passage("a", text, file_path="a.yaml")], max_tokens=40)
    assert "ovens:\n" in result.text
    assert "  # Built by family 41.\n  oven41:\n    heat: 41" in result.text


@pytest.mark.parametrize(
    ("chunk", "beside"),
    [
        ("first:\n    a: 1\n    b: 2\n  second:\n    c: 3\n", "second"),
        ("first: 1\n    second: 2\n    third:\n      d: 4\n", "second"),
        ("first: 1\n  - second: 2\n    d: 4\n", "second"),
        ("- first: 1\n      a: 2\n    - second: 3\n      a: 4\n", "second"),
        ("first:\n      - a\n  - second: 3\n", "second"),
        ("first: |\n        some text\n      second: 3\n", "second"),
        ("end of a text.\n  second: 3\n  third: 3\n", "second"),
    ],
)
def test_the_first_line_of_a_chunk_has_lost_its_indentation(chunk: str, beside: str) -> None:
    nodes = line_outline(chunk, "chunk.yaml")
    assert any(node.name == beside for node in nodes)
    assert all(node.name != beside for node in walk(nodes[0].children))


def test_chunks_are_yaml_without_a_name() -> None:
    for start in range(2_000, 12_000, 700):
        assert {part.kind for part in segment(STACK[STACK.index("\n  Shop", start) :][:1_500])} == {Kind.RECORD}


@pytest.mark.parametrize(
    "text",
    [
        "try:\n  with:\n    x = 1\nelse:\n    y = 2\n    print(x)\n    print(y)\nfinally:\n    print('done')\n",
        "You need:\n- a bowl\n- some flour\n- water: not too cold\n- salt\n\nThen knead it well, and wait.\n",
        "const oven = {\n  heat: 3,\n  rows:\n    [1, 2],\n  open: true,\n  size: 4,\n  name: 'x',\n};\n",
    ],
)
def test_code_and_prose_are_no_yaml(text: str) -> None:
    assert line_outline(text) == ()


@pytest.mark.parametrize(
    "first",
    [
        'hours: {north: "from eight\n    to six", south: late}\n',
        "rows: [1, 2,\n    c: 3]\n",
        "note: 'open\n    at: noon'\n",
    ],
)
def test_a_value_in_brackets_or_quotes_goes_on_on_the_next_line(first: str) -> None:
    nodes = line_outline(f"{first}ovens: 3\nclosed: false\n", "a.yaml")
    assert [node.name for node in nodes] == [first.partition(":")[0], "ovens", "closed"]


_WORDS = st.text("abcde", min_size=1, max_size=6)
_SCALARS = st.one_of(
    st.integers(0, 99),
    st.booleans(),
    st.lists(st.sampled_from(["ab", "c: d", "# e", "it's", '"f"', "- g", "{h}", "", "\n", "é"]), max_size=60).map(
        " ".join
    ),
)
_VALUES = st.recursive(
    _SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(_WORDS, inner, max_size=5)),
    max_leaves=40,
)


def _dumper(style: str | None) -> type[yaml.SafeDumper]:
    """Return a class that writes strings of several words in this style."""

    class Dumper(yaml.SafeDumper):
        def represent_words(self, text: str) -> yaml.ScalarNode:
            return self.represent_scalar("tag:yaml.org,2002:str", text, style if " " in text else None)

    Dumper.add_representer(str, Dumper.represent_words)
    return Dumper


@given(
    st.dictionaries(_WORDS, _VALUES, min_size=2, max_size=6),
    _WORDS,
    st.sampled_from([None, "|", ">", '"']),
    st.booleans(),
)
@settings(max_examples=150, deadline=None)
def test_what_is_kept_of_any_yaml_is_part_of_it(
    value: dict[str, Any], query: str, style: str | None, flow: bool
) -> None:
    dumper = _dumper(style)
    text = yaml.dump(value, Dumper=dumper, sort_keys=False, default_flow_style=None if flow else False)
    kept = compress(query, [Passage("a", text, file_path="a.yaml")], max_tokens=300).text
    assert _is_part(yaml.safe_load(kept), value)


@given(
    st.lists(
        st.sampled_from(["a:", "- ", "b: c\n", "|", ">", "'", '"', "{", "#", "---", "  ", "\n", "!x", "&y"]),
        max_size=60,
    )
)
@settings(max_examples=200, deadline=None)
def test_the_segments_of_any_text_are_the_text(signs: list[str]) -> None:
    text = "".join(signs)
    for name in ("a.yaml", None):
        assert "".join(text[part.start : part.end] for part in segment(text, name=name)) == text
