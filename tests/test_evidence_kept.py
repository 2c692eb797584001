"""Evidence is kept at a budget on real questions, where CTXCOMPRESS_CASES names a folder of them."""

import gzip
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from ctxcompress import CompressionConfig, Compressor, Passage
from ctxcompress.agents.query_tool import QueryTool
from ctxcompress.apps.index import FolderIndex
from ctxcompress.apps.mcp.tools import DocumentTools
from ctxcompress.config.presets import PRESETS

# Set, budget in tokens, and a floor that only a mistake goes below: docs/evidence.md has figures.
FLOORS = [
    ("page", 1000, 0.90),
    ("mdpage", 1000, 0.90),
    ("hotpot", 350, 0.85),
    ("nq", 500, 0.85),
    ("table", 400, 0.85),
    ("xquad_zh", 500, 0.85),
]


Case = Mapping[str, Any]


def read(cases_folder: Path, name: str) -> tuple[dict[str, dict[str, str]], list[Case]]:
    """The documents of a set by their keys, and thirty of its cases."""
    data = json.loads(gzip.decompress((cases_folder / f"{name}.json.gz").read_bytes()))
    return data["docs"], data["cases"][:30]


def evidence_kept(docs: Mapping[str, Mapping[str, str]], cases: list[Case], answer: Callable[[Case], str]) -> float:
    """The share of the evidence that stands in the answers, white space folded."""
    found = [
        " ".join(docs[case["docs"][document]]["text"][start:end].split()) in text
        for case in cases
        for text in [" ".join(answer(case).split())]
        for document, start, end in case["gold"]
    ]
    return sum(found) / len(found)


def compressed_by(config: CompressionConfig, docs: Mapping[str, Mapping[str, str]]) -> Callable[[Case], str]:
    """Compresses the documents of a case for its question."""

    def answer(case: Case) -> str:
        passages = [
            Passage(key, docs[key]["text"], title=docs[key]["title"] or None, doc_id=docs[key]["title"] or None)
            for key in case["docs"]
        ]
        result = Compressor(config).compress(case["query"], passages)
        assert result.tokens <= config.budget
        return result.text

    return answer


@pytest.mark.parametrize(("name", "budget", "floor"), FLOORS)
def test_evidence_survives_within_the_budget(cases_folder: Path, name: str, budget: int, floor: float) -> None:
    docs, cases = read(cases_folder, name)
    config = CompressionConfig(max_tokens=budget, encoding="cl100k_base")
    assert evidence_kept(docs, cases, compressed_by(config, docs)) >= floor


@pytest.mark.parametrize("preset", list(PRESETS))
@pytest.mark.parametrize("name", ["mdpage", "nq", "page"])
def test_no_preset_drops_evidence_that_there_is_room_for(cases_folder: Path, name: str, preset: Any) -> None:
    docs, cases = read(cases_folder, name)
    config = CompressionConfig.from_preset(preset, max_tokens=2_000)
    assert evidence_kept(docs, cases, compressed_by(config, docs)) >= 0.95


def test_the_search_tool_over_a_folder_keeps_the_evidence(cases_folder: Path, tmp_path: Path) -> None:
    docs, cases = read(cases_folder, "mdpage")
    for number, document in enumerate(docs.values()):
        (tmp_path / f"page-{number}.md").write_text(document["text"], encoding="utf-8")
    tools = DocumentTools(FolderIndex(tmp_path), QueryTool.of(top_n=5))
    assert evidence_kept(docs, cases, lambda case: tools.query({"query": case["query"]}).text) >= 0.9
