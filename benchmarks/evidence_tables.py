"""Writes the table of docs/evidence.md that comes from evidence.json: the evidence kept of kinds that were left out.

    python benchmarks/evidence_tables.py                          # print the table
    python benchmarks/evidence_tables.py --docs docs/evidence.md  # print it, and replace it in the document

The numbers are those of the last run of train_evidence.py. The sets of a kind stand together.
"""

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from statistics import mean

from lib.kinds import kind_of
from lib.markdown_blocks import publish, share, table

EVIDENCE = Path(__file__).parent.parent / "core" / "ctxcompress" / "score" / "evidence.json"
_COLUMNS = {"bm25": "bm25", "word_table": "default", "static": "static"}
"""Name of what train_evidence.py measures -> name of its column."""


def held_out(left_out: Mapping[str, Mapping[str, float]]) -> str:
    """Return the table of the evidence kept of each set by each model that had nothing of its kind."""
    ordered = sorted(left_out.items(), key=lambda item: kind_of(item[0]))
    rows = [[name, *(share(row[column]) for column in _COLUMNS)] for name, row in ordered]
    means = [share(mean(row[column] for row in left_out.values())) for column in _COLUMNS]
    return table(["set", *_COLUMNS.values()], [*rows, ["mean", *means]])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--docs", type=Path, help="the document to put the table into")
    options = parser.parse_args()
    publish({"held-out": held_out(json.loads(EVIDENCE.read_text(encoding="utf-8"))["left_out"])}, options.docs)


if __name__ == "__main__":
    main()
