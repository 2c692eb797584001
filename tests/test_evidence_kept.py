"""Evidence kept at a budget on real questions, where such cases stand beside the repository."""

import gzip
import json
from pathlib import Path

import pytest

from ctxcompress import CompressionConfig, Compressor, Passage

# Set, budget in tokens, and a floor that only a mistake goes below: the figures are in the README.
FLOORS = [
    ("page", 1000, 0.90),
    ("mdpage", 1000, 0.90),
    ("hotpot", 350, 0.85),
    ("nq", 500, 0.85),
    ("table", 400, 0.85),
    ("xquad_zh", 500, 0.85),
]


@pytest.mark.parametrize(("name", "budget", "floor"), FLOORS)
def test_evidence_survives_within_the_budget(shared_cases: Path, name: str, budget: int, floor: float) -> None:
    data = json.loads(gzip.decompress((shared_cases / f"{name}.json.gz").read_bytes()))
    compressor = Compressor(CompressionConfig(max_tokens=budget, encoding="cl100k_base"))
    kept = total = 0
    for case in data["cases"][:30]:
        documents = [data["docs"][key] for key in case["docs"]]
        passages = [Passage(str(n), d["text"], title=d["title"] or None) for n, d in enumerate(documents)]
        result = compressor.compress(case["query"], passages)
        assert result.tokens <= budget
        folded = " ".join(result.text.split())
        gold = [" ".join(documents[d]["text"][start:end].split()) for d, start, end in case["gold"]]
        kept += sum(text in folded for text in gold)
        total += len(gold)
    assert kept / total >= floor
