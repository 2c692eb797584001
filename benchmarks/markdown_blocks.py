"""Tables in Markdown documents, each between two comments that say its name, so that a script can put a new one there.

python benchmarks/markdown_blocks.py --docs docs/evidence.md   # the tables of what evidence.json says

<!-- table: results -->
what is replaced
<!-- end -->
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

__all__ = ["publish", "replaced", "share", "table"]

EVIDENCE = Path(__file__).parent.parent / "core" / "ctxcompress" / "score" / "evidence.json"
_END = "<!-- end -->"
_NOT_MEASURED = "–"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The lines of a Markdown table, its first column to the left and the others to the right."""
    for row in rows:
        if len(row) != len(header):
            raise ValueError(f"the row {list(row)} has {len(row)} cells under {len(header)} headings")
    lines = [header, ["---"] + ["---:"] * (len(header) - 1), *rows]
    return "\n".join(f"| {' | '.join(_escaped(cell) for cell in line)} |" for line in lines)


def _escaped(cell: str) -> str:
    return " ".join(cell.split()).replace("|", "\\|")


def share(value: float) -> str:
    """A number from 0 to 1 with three digits, without the 0 before the point."""
    text = f"{value:.3f}"
    return text.removeprefix("0") if text.startswith("0.") else text


def replaced(document: str, name: str, block: str) -> str:
    """The document with what stands under this name replaced. Raises ValueError unless it stands there once."""
    start = f"<!-- table: {name} -->"
    if document.count(start) != 1:
        raise ValueError(f"the document has {start} {document.count(start)} times; it must stand there once")
    before, after = document.split(start)
    former, end, rest = after.partition(_END)
    if not end or "<!-- table: " in former:
        raise ValueError(f"the document has no {_END} after {start}")
    return f"{before}{start}\n{block}\n{end}{rest}"


def publish(blocks: Mapping[str, str], docs: Path | None) -> None:
    """Prints the blocks and puts them into the document, if there is one."""
    for block in blocks.values():
        print(f"{block}\n", flush=True)
    if docs:
        document = docs.read_text(encoding="utf-8")
        for name, block in blocks.items():
            document = replaced(document, name, block)
        docs.write_text(document, encoding="utf-8")


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
