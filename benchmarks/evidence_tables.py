"""Writes the tables of docs/evidence.md that come from evidence.json: the results, and the calibration.

    python benchmarks/evidence_tables.py                          # print the tables
    python benchmarks/evidence_tables.py --docs docs/evidence.md  # print them, and replace them in the document

The numbers are those of the last run of train_evidence.py.
"""

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lib.markdown_blocks import publish, share, table

EVIDENCE = Path(__file__).parent.parent / "core" / "ctxcompress" / "score" / "evidence.json"
_NOT_MEASURED = "–"


def learned(data: Mapping[str, Any]) -> dict[str, str]:
    """The tables of what stands in evidence.json: the evidence kept, and the numbers of the calibration."""
    return {"results": _results(data), "constants": _constants(data["models"])}


def _results(data: Mapping[str, Any]) -> str:
    models = list(dict.fromkeys(model for row in data["folds"].values() for model in row))
    kinds = {"folds": data["folds"], "left out": data["left_out"]}
    header = ["set", "cases", *(f"{kind}: {model}" for kind in kinds for model in models)]
    rows = [
        [name, str(cases), *(_measured(of, name, model) for of in kinds.values() for model in models)]
        for name, cases in data["cases"].items()
    ]
    return table(header, rows)


def _measured(of: Mapping[str, Mapping[str, float]], name: str, model: str) -> str:
    value = of.get(name, {}).get(model)
    return _NOT_MEASURED if value is None else share(value)


def _constants(models: Mapping[str, Any]) -> str:
    names = list(next(iter(models.values()))["calibration"])
    rows = [[model, *(f"{of['calibration'][name]:.3f}" for name in names)] for model, of in models.items()]
    return table(["model", *(f"`{name}`" for name in names)], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--docs", type=Path, help="the document to put the tables into")
    options = parser.parse_args()
    publish(learned(json.loads(EVIDENCE.read_text(encoding="utf-8"))), options.docs)


if __name__ == "__main__":
    main()
