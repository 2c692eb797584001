"""Measures ctxcompress by other people's data and rules. Nothing is downloaded here.

    python benchmarks/public longbench DATA [--docs docs/comparison.md]

| table | DATA | rule |
|---|---|---|
| longbench | a clone of https://github.com/MilkThink-Lab/MiniLongBench | an accepted answer is still in the text |
| logdx | a clone of https://github.com/eyuansu62/LogDx | share of the critical signals that are still in the log |
| sentences | HotpotQA's file or a Parquet file: see sentences.py | precision, recall and F2 of kept sentences |

`python -m benchmarks.public` is the same. The interval is the bootstrap's over the cases. Needs the extra `dev`.
"""

from pathlib import Path

from lib.markdown_blocks import publish, publishing_parser
from lib.measured import measured

from public.logdx import logdx
from public.longbench import longbench
from public.sentences import sentences

__all__ = ["main"]

_TABLES = {"longbench": longbench, "logdx": logdx, "sentences": sentences}


def main() -> None:
    parser = publishing_parser(__doc__)
    parser.add_argument("table", choices=_TABLES)
    parser.add_argument("data", type=Path)
    given = parser.parse_args()
    what, table = _TABLES[given.table](given.data)
    publish({given.table: f"{measured(what)}\n\n{table}"}, given.docs)
