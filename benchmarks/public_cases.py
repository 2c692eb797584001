"""Makes files of cases from sets that everybody can download without an account, as the other commands take them.

    python benchmarks/public_cases.py DOWNLOADED... -o FOLDER [--limit 100]

| download | set | licence |
|---|---|---|
| https://rajpurkar.github.io/SQuAD-explorer/dataset/dev-v1.1.json | page | CC BY-SA 4.0 |
| http://curtis.ml.cmu.edu/datasets/hotpot/hotpot_dev_distractor_v1.json | hotpot | CC BY-SA 4.0 |
| https://raw.githubusercontent.com/google-deepmind/xquad/master/xquad.en.json (es, zh, ar) | xquad_en | CC BY-SA 4.0 |
| musique_ans_v1.0_dev.jsonl of https://github.com/StonyBrookNLP/musique | musique | CC BY 4.0 |

The names of the files must be those of the downloads. Of each set it takes cases at equal distances, so that not all
are about the first few articles, and writes FOLDER/SET.json.gz in the form of marked cases; set and budget are known by
this name. A passage of SQuAD or XQuAD is shown among up to 20 of its article. Nothing is downloaded here.
"""

import argparse
import gzip
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from pathlib import Path

from lib.cases import Case, Document, read_cases

__all__ = ["marked", "spread"]

_SETS = {
    r"dev-v\d.*": "page",
    r"hotpot_dev_distractor.*": "hotpot",
    r"xquad\.(\w\w)": r"xquad_\1",
    r"musique_.*": "musique",
}
"""The names of downloads, and the set that each holds."""


def spread(cases: Sequence[Case], limit: int) -> list[Case]:
    """Return this many cases, or all, at equal distances."""
    return [cases[number * len(cases) // limit] for number in range(limit)] if limit < len(cases) else list(cases)


def marked(cases: Iterable[Case]) -> Mapping[str, object]:
    """Return cases in the form that docs/evidence.md describes, each document once."""
    keys: dict[Document, str] = {}
    fresh = count()
    found = [
        {
            "query": case.query,
            "docs": [keys.setdefault(document, f"d{next(fresh)}") for document in case.documents],
            "gold": case.gold,
            "answers": case.answers,
        }
        for case in cases
    ]
    return {"docs": {key: {"title": of.title, "text": of.text} for of, key in keys.items()}, "cases": found}


def _set_of(file: Path) -> str:
    for pattern, name in _SETS.items():
        match = re.fullmatch(pattern, file.stem)
        if match:
            return match.expand(name)
    raise SystemExit(f"{file.name} is not the name of a download in the table: see --help")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("downloaded", type=Path, nargs="+")
    parser.add_argument("-o", "--out", type=Path, required=True, help="the folder to write to")
    parser.add_argument("--limit", type=int, default=100, help="cases of a set at most")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for file in options.downloaded:
        cases = spread(list(read_cases(file)), options.limit)
        out = options.out / f"{_set_of(file)}.json.gz"
        out.write_bytes(gzip.compress(json.dumps(marked(cases), ensure_ascii=False).encode(), mtime=0))
        print(f"{out}: {len(cases)} cases")


if __name__ == "__main__":
    main()
