"""A heading goes with the text under it, and a line that announces a block with some of the block."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selections import kept_of, pages, structure_of

from ctxcompress import CompressionConfig, Compressor, Passage, compress

QUESTION = "which option serializes datetime objects without a tzinfo as UTC?"
UTC = (
    "Serialize `datetime.datetime` objects without a `tzinfo` as UTC. This has no effect on `datetime.datetime` "
    "objects that have `tzinfo` set."
)
OTHER = (
    "Serialize `dict` keys of type other than `str`. This allows `dict` keys to be one of `str`, `int`, `float` or "
    "`None`. There is more to say of it, and none of it is about time."
)


@pytest.mark.parametrize("tail", ["", "This is the tail of the section above.\n\n", "and so on. It ends here.\n\n"])
@pytest.mark.parametrize(("mark", "name"), [("#####", "OPT_NAIVE_UTC"), ("##", "`OPT_SIX`"), ("#", "Clocks, part two")])
@pytest.mark.parametrize("max_tokens", [50, 60, 70, 80])
def test_a_heading_that_is_the_answer_is_kept_before_noise(tail, mark, name, max_tokens):
    passage = f"{tail}{mark} {name}\n\n{UTC}\n\n{mark} OPT_NON_STR_KEYS\n\n{OTHER}\n"
    text = compress(QUESTION, [passage], max_tokens=max_tokens).text
    assert f"{mark} {name}\n\nSerialize `datetime.datetime` objects" in text


words = st.sampled_from("amber birch cedar dune ember fjord grove heron inlet juniper".split())


@given(
    name=st.lists(words, min_size=1, max_size=3),
    tail=st.lists(words, min_size=1, max_size=12),
    noise=st.lists(st.lists(words, min_size=3, max_size=10), min_size=1, max_size=5),
    more=st.integers(0, 12),
)
def test_the_heading_of_the_best_text_is_kept_where_there_is_room_for_both(name, tail, noise, more):
    best = "The quota of the frobnicator is seven."
    sections = "".join(f"## {line[0]}\n\n{' '.join(line)}.\n\n" for line in noise)
    page = f"{' '.join(tail)}.\n\n## {' '.join(name)}\n\n{best}\n\n{sections}"
    config = CompressionConfig(max_tokens=len(name) + 1 + 7 + more, encoding=lambda text: len(text.split()))
    result = Compressor(config).compress("what is the quota of the frobnicator?", [page])
    assert f"## {' '.join(name)}\n\n{best}" in result.text


PLANS = "Alder Birch Cedar Dogwood Elm Fir Ginkgo Hazel Ivy Juniper Katsura Larch Maple Nutmeg Oak Pine".split()


@pytest.mark.parametrize("max_tokens", [60, 100, 200])
def test_a_heading_above_a_sub_heading_is_kept_with_the_text_below_both(max_tokens):
    page = "# Handbook\n\n" + "\n".join(
        f"## {name}\n\n### Price\n\nIt costs {7 * number + 3} euro.\n\n### Limits\n\nUp to {number} may share it.\n"
        for number, name in enumerate(PLANS)
    )
    text = compress("What does the Maple plan cost?", [page], max_tokens=max_tokens).text
    assert "## Maple" in text
    assert "It costs 87 euro" in text


# Announcements

NOISE = "The harbour has two piers. Ferries leave at noon. The ticket office is closed on Sundays. " * 3


LONG_POINT = "- " + "a long point about nothing much " * 12
LONG_PARAGRAPH = "Other paragraph of words without an end " * 9 + "."


def test_an_announcement_goes_where_its_block_does_not_fit():
    block = f"| n |\n|---|\n| {'seven ' * 60}|"
    text = compress("where do the results follow?", [f"Results follow here:\n\n{block}\n\n{NOISE}"], max_tokens=40).text
    assert "Results follow here:" not in text
    assert text


@pytest.mark.parametrize("block", [LONG_POINT, LONG_PARAGRAPH])
def test_an_announcement_comes_with_the_beginning_of_a_long_block(block):
    text = compress("where do the results follow?", [f"Results follow here:\n\n{block}\n\n{NOISE}"], max_tokens=40).text
    assert f"Results follow here:\n\n{block[:60]}" in text


@pytest.mark.parametrize("block", ["- seven of ten\n- all of them", "Seven of ten were late.", "| n |\n|---|\n| 7 |"])
def test_an_announcement_comes_with_some_of_its_block(block):
    text = compress("where do the results follow?", [f"Results follow here:\n\n{block}\n\n{NOISE}"], max_tokens=40).text
    assert f"Results follow here:\n\n{block[:7]}" in text


@given(page=pages, other=pages, data=st.data())
def test_right_after_a_kept_announcement_comes_what_it_announces(page, other, data):
    structure = structure_of([page, other])
    count = len(structure.table.segments)
    values = data.draw(st.lists(st.integers(0, 30).map(lambda n: n / 10), min_size=count, max_size=count))
    kept = kept_of([page, other], structure, values, data.draw(st.integers(12, 90)))
    for number, block in structure.announced.items():
        if number in kept and kept != [number]:
            assert min((n for n in kept if n > number), default=-1) in block


def test_a_short_sentence_under_another_heading_is_no_duplicate():
    page = (
        "# T\n\n## read\n\nThe read timeout limits how long the client waits. The default is 30 seconds.\n\n"
        "## connect\n\nThe connect timeout limits how long it waits. The default is 30 seconds. Zero is for ever."
    )
    text = compress("what is the default connect timeout?", [page], max_tokens=25).text
    assert "## connect" in text
    assert "30 seconds" in text.partition("## connect")[2]


@pytest.mark.parametrize("sign", ["|", "|-", "|+", ">", ">-", ">+"])
def test_a_line_of_yaml_that_announces_a_text_goes_if_the_text_goes(sign):
    script = "\n".join(f"            echo step {n} of the long script that prepares the node" for n in range(40))
    manifest = (
        "kind: StatefulSet\nspec:\n  containers:\n  - name: db\n    image: db:1.2\n    command:\n      - bash\n"
        f"      - {sign}\n{script}\n  claims:\n  - name: data\n    storage: 10Gi\n"
    )
    passage = Passage("m", manifest, metadata={"file_path": "m.yaml"})
    text = compress("how much storage does each claim request?", [passage], max_tokens=60).text
    assert "10Gi" in text
    assert f"- {sign}" not in text


LOG = "\n".join(f"2026-05-01 10:{n:02}:00 INFO worker: job {n} has finished" for n in range(5))


@pytest.mark.parametrize(
    ("texts", "announced"),
    [
        (["Results:\n\n- one\n- two\n\nOther text."], ["- one", "- two"]),
        (["Results follow:\n\nSix were late. Two were not.\n\nOther text."], ["Six were late.", "Two were not."]),
        (["结果如下：\n\n七。\n\n其他。"], ["七。"]),
        (["- Salt:\n  - fine\n  - coarse\n- Pepper\n- Sugar"], ["- fine", "- coarse"]),
        (["- Salt:\n\n  It is white. It is cheap.\n\n- Pepper"], ["It is white. It is cheap."]),
        (["First text.", "Name:", "Ann Lee. She is new.", "Other text."], ["Ann Lee."]),
        (["First text.\n\nShips\n\n    Indented text.", "Other text."], ["Indented text."]),
        (
            ["First text.\n\nSalt\n\n    It is white.\n\n    It is cheap.\n\nOther text."],
            ["It is white.", "It is cheap."],
        ),
        (["- Salt\n\n  It is white.\n\n- Pepper\n\n- Sugar"], ["It is white."]),
        (["The pool is open. A guest\nmay not, however,\n1. run,\n2. dive."], ["1. run,", "2. dive."]),
        (
            ["The pool is open. A guest may not: • Run. • Dive. It is shallow. • Shout. The end is near."],
            ["• Run.", "• Dive.", "It is shallow.", "• Shout."],
        ),
        (["A guest may not:\n• run\n• dive\n\nOther text."], ["• run", "• dive"]),
        (
            ["Salt\n\n    It is white, as everybody knows. It is cheap in all shops of the town.\n\nOther text."],
            ["It is white, as everybody knows.", "It is cheap in all shops of the town."],
        ),
        (
            [f'{LOG}\nTraceback (most recent call last):\n  File "a.py", line 3\n    x\nValueError: x\n{LOG}'],
            ['File "a.py", line 3\n    x'],
        ),
        ([f"{LOG}\n2026-05-01 10:05:00 ERROR worker failed:\nno disk\n{LOG}"], None),
        (["First text.\n\nNothing follows here:"], None),
        (["Nothing follows here:\n\n## Heading\n\nOther text."], None),
        (["Ships of the year.\n\n    Indented text.\n\nOther text."], None),
        (["First text.\n\nShips of the year,\nand boats\n\n    Indented text.\n\nOther text."], None),
        (["First text. Ships of the year\n\n    Indented text.\n\nOther text."], None),
        (["- Salt\n\n- Pepper\n\n- Sugar"], None),
        (["First text.\n\nShips", "    Indented text.", "Other text."], None),
    ],
)
def test_a_colon_or_a_title_announces_its_list_what_is_indented_or_a_paragraph(texts, announced):
    structure = structure_of(texts)
    blocks = [[structure.table.texts[n].strip() for n in block] for block in structure.announced.values()]
    assert blocks == ([] if announced is None else [announced])
