"""Every feature is in one group; tables go where the document says, and nowhere else."""

import importlib
import re
from itertools import chain
from pathlib import Path
from types import ModuleType

import pytest

from ctxcompress.score.bridges import BRIDGES
from ctxcompress.score.features import FEATURES
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


# The document


def test_blocks_are_published_in_a_document_all_or_none(blocks: ModuleType, tmp_path: Path) -> None:
    file = tmp_path / "docs.md"
    file.write_text(DOCUMENT, encoding="utf-8")
    with pytest.raises(ValueError, match="table: c"):
        blocks.publish({"a": "x", "c": "y"}, file)
    assert file.read_text(encoding="utf-8") == DOCUMENT
    blocks.publish({"a": "x", "b": "y"}, file)
    assert file.read_text(encoding="utf-8") == blocks.replaced(blocks.replaced(DOCUMENT, "a", "x"), "b", "y")


def test_the_document_has_every_block(docs: str) -> None:
    names = re.findall(r"<!-- table: ([\w-]+) -->", docs)
    assert sorted(names) == "ablation adaptive brier calibration confidence held-out rules".split()
    assert docs.count("<!-- end -->") == len(names)
