"""Measures what a shortlist of many passages costs in evidence and saves in time.

    python benchmarks/shortlist.py CASES... [--limit 30]

CASES are files of question answering cases that lib/cases.py reads, one for each set. The passages of all cases of a
set are one retrieval, and each question is asked of all of them: once as they are, and once of a shortlist of a tenth.
A set with fewer than 200 passages is skipped. Times are CPU milliseconds of a question.
"""

from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Sequence
from pathlib import Path
from time import process_time

from lib.cases import Case, read_cases, set_name
from lib.evaluation import ENCODING, budget_of
from lib.markdown_blocks import share, table

from ctxcompress import Passage, compress
from ctxcompress.query.terms import query_terms
from ctxcompress.reduce.filters import shortlist
from ctxcompress.text.language import detect_language
from ctxcompress.text.words import Terms

FEWEST = 200
"""The least passages of a set."""
SHARE = 10
"""One of so many passages is on the shortlist."""


def passages_of(cases: Sequence[Case]) -> list[Passage]:
    """The documents of all cases, each text once."""
    documents = {document.text: document for case in cases for document in case.documents}
    return [Passage(str(n), text, title=found.title or None) for n, (text, found) in enumerate(documents.items())]


def listed(query: str, passages: Sequence[Passage]) -> list[Passage]:
    texts = [passage.text for passage in passages]
    language = detect_language(" ".join((query, *texts[:3])))
    terms = query_terms(query, language=language, terms=Terms(language))
    return [passages[number] for number in shortlist(texts, terms, len(texts) // SHARE)]


def survivors(case: Case, text: str) -> int:
    """How much of the evidence of a case is in the text, white space aside."""
    folded = " ".join(text.split())
    return sum(" ".join(case.documents[number].text[start:end].split()) in folded for number, start, end in case.gold)


def measured(cases: Sequence[Case], passages: Sequence[Passage], budget: int) -> tuple[list[float], list[float]]:
    """The evidence kept and the milliseconds of a question: of all passages, and of the shortlist."""
    kept, spent = [0, 0], [0.0, 0.0]
    for case in cases:
        for way in (0, 1):
            start = process_time()
            some = listed(case.query, passages) if way else passages
            kept[way] += survivors(case, compress(case.query, some, max_tokens=budget, encoding=ENCODING).text)
            spent[way] += process_time() - start
    evidence = sum(len(case.gold) for case in cases)
    return [part / evidence for part in kept], [1e3 * part / len(cases) for part in spent]


def main() -> None:
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("cases", type=Path, nargs="+")
    parser.add_argument("--limit", type=int, default=30, help="questions of a set at most")
    options = parser.parse_args()
    rows = []
    for path in options.cases:
        cases = list(read_cases(path))
        passages = passages_of(cases)
        if len(passages) < FEWEST:
            continue
        asked = cases[:: max(1, len(cases) // options.limit)][: options.limit]
        evidence, milliseconds = measured(asked, passages, budget_of(set_name(path)))
        cells = (*map(share, evidence), *(f"{part:.0f}" for part in milliseconds))
        rows.append([set_name(path), f"{len(passages):,}", *cells])
    header = ["set", "passages", "evidence, all", "evidence, shortlist", "ms, all", "ms, shortlist"]
    print(table(header, rows))


if __name__ == "__main__":
    main()
