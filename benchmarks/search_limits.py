"""Measures the limits on search results, with and without `adaptive`: evidence kept, tokens and results.

    python benchmarks/search_limits.py CASES... --limit 60

CASES are files that lib/cases.py reads; each document is a search result without a score. The figures are the share of
the evidence that is whole in the output, the tokens of the output, and the number of results in it.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lib.cases import Case, read_cases, set_name

from ctxcompress import CompressionConfig
from ctxcompress.agents.output_compressor import OutputCompressor
from ctxcompress.apps.search import SearchLimits

_ALL = 100_000
"""Tokens into which everything fits."""
WAYS: Mapping[str, OutputCompressor] = {
    name: OutputCompressor(CompressionConfig(max_tokens=max_tokens, adaptive=adaptive), 0, search_limits=limits)
    for name, max_tokens, adaptive, limits in (
        ("max_tokens=1000", 1_000, False, None),
        ("max_tokens=1000, adaptive", 1_000, True, None),
        ("adaptive where everything fits", _ALL, True, None),
        ("SearchLimits()", _ALL, False, SearchLimits()),
        ("SearchLimits(), adaptive", _ALL, True, SearchLimits()),
    )
}


def results_of(case: Case, way: OutputCompressor) -> list[dict[str, Any]]:
    """Return the results that remain of a case."""
    results = [
        {"url": f"https://page.example/{number}", "title": document.title, "content": document.text}
        for number, document in enumerate(case.documents)
    ]
    found = way.search_results({"results": results}, case.query)
    return results if found is None else found.results["results"]


def kept(case: Case, results: Sequence[Mapping[str, Any]]) -> int:
    """Count the pieces of evidence that are whole, white space folded."""
    text = " ".join(" ".join(result["content"] for result in results).split())
    return sum(" ".join(case.documents[n].text[start:end].split()) in text for n, start, end in case.gold)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", type=Path, nargs="+")
    parser.add_argument("--limit", type=int, default=60)
    options = parser.parse_args()
    print(f"{'set':<12}{'way':<32}{'evidence':>9}{'tokens':>8}{'results':>9}")
    for path in options.cases:
        cases = list(read_cases(path, options.limit))
        total = sum(len(case.gold) for case in cases)
        for name, way in WAYS.items():
            outputs = [results_of(case, way) for case in cases]
            evidence = sum(map(kept, cases, outputs)) / total
            tokens = sum(way.count(json.dumps({"results": found}, ensure_ascii=False)) for found in outputs)
            number = sum(map(len, outputs)) / len(cases)
            shown = f"{evidence:>9.3f}{tokens / len(cases):>8.0f}{number:>9.1f}"
            print(f"{set_name(path):<12}{name:<32}{shown}", flush=True)


if __name__ == "__main__":
    main()
