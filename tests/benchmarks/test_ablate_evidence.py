"""Every feature is in one group and explained once; tables go where the document says, and nowhere else."""

import importlib
import re
from itertools import chain
from pathlib import Path
from types import ModuleType

import pytest

from ctxcompress.score.bridges import BRIDGES
from ctxcompress.score.features import FEATURES
from ctxcompress.score.neighbours import TURNS
from ctxcompress.score.semantic import READ, SEMANTIC
from ctxcompress.score.source_features import SOURCE

DOCS = Path(__file__).parents[2] / "docs" / "evidence.md"
DOCUMENT = "before\n<!-- table: a -->\nold\n<!-- end -->\nbetween\n<!-- table: b -->\n<!-- end -->\nafter\n"


@pytest.fixture
def ablate(scripts: None) -> ModuleType:
    pytest.importorskip("sklearn")
    return importlib.import_module("ablate_evidence")


@pytest.fixture
def blocks(scripts: None) -> ModuleType:
    return importlib.import_module("lib.markdown_blocks")


@pytest.fixture
def docs() -> str:
    if not DOCS.is_file():
        pytest.skip("the source distribution has no docs")
    return DOCS.read_text(encoding="utf-8")


def test_every_feature_is_in_exactly_one_group(ablate: ModuleType) -> None:
    assert sorted(chain.from_iterable(ablate.GROUPS.values())) == sorted(FEATURES + BRIDGES + SOURCE[1:])


def test_the_differences_are_to_the_first_row(ablate: ModuleType) -> None:
    found = {"everything": {"x": 0.9, "y": 1.0}, "without names": {"x": 0.812, "y": 1.0}, "not measured": {}}
    assert ablate.ablation(found).splitlines() == [
        "| learned | mean | difference | loses most |",
        "| --- | ---: | ---: | ---: |",
        "| everything | .950 | 0 |  |",
        "| without names | .906 | −44 | x −88 |",
    ]
    assert [ablate.difference(value) for value in (0.0124, -0.0004, -0.0006)] == ["+12", "0", "−1"]


# The document


def test_a_block_is_replaced_and_nothing_else(blocks: ModuleType) -> None:
    once = blocks.replaced(DOCUMENT, "a", "| new |")
    assert once == DOCUMENT.replace("old", "| new |")
    assert blocks.replaced(once, "a", "| new |") == once
    assert blocks.replaced(DOCUMENT, "b", "x").endswith("<!-- table: b -->\nx\n<!-- end -->\nafter\n")


@pytest.mark.parametrize(
    "document",
    ["nothing", DOCUMENT + DOCUMENT, "<!-- table: a -->\n", "<!-- table: a -->\n<!-- table: b -->\n<!-- end -->"],
)
def test_a_block_that_is_not_there_once_and_whole_is_an_error(blocks: ModuleType, document: str) -> None:
    with pytest.raises(ValueError, match="table: a"):
        blocks.replaced(document, "a", "x")


def test_blocks_are_published_in_a_document_all_or_none(blocks: ModuleType, tmp_path: Path) -> None:
    file = tmp_path / "docs.md"
    file.write_text(DOCUMENT, encoding="utf-8")
    with pytest.raises(ValueError, match="table: c"):
        blocks.publish({"a": "x", "c": "y"}, file)
    assert file.read_text(encoding="utf-8") == DOCUMENT
    blocks.publish({"a": "x", "b": "y"}, file)
    assert file.read_text(encoding="utf-8") == blocks.replaced(blocks.replaced(DOCUMENT, "a", "x"), "b", "y")


def test_the_document_explains_every_feature_and_has_every_block(docs: str) -> None:
    rows = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \|", docs, re.MULTILINE)
    explained = [name for row in rows for name in re.findall(r"\w+", row)]
    assert sorted(explained) == sorted(FEATURES + BRIDGES + SEMANTIC + SOURCE + TURNS + READ)
    names = re.findall(r"<!-- table: ([\w-]+) -->", docs)
    assert sorted(names) == "ablation adaptive calibration confidence held-out rules".split()
    assert docs.count("<!-- end -->") == len(names)
