"""Measures the evidence kept when documents come as overlapping chunks and exact duplicates.

    python benchmarks/overlapping_windows.py CASES... --budget 500 --limit 100

CASES are files that lib/cases.py reads. Each document is cut into windows of three sentences, and each window begins
with the last sentence of the one before. Three of ten windows come a second time, at a random place. For comparison,
there are the documents as they are, and the windows with duplicates but without deduplication. "repeat" is the share
of the runs of eight words that occur more than once in the final text.
"""

import argparse
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from lib.cases import Case, Document, read_cases, set_name

from ctxcompress import CompressionConfig, Compressor, Passage
from ctxcompress.segment.sentences import split_sentences
from ctxcompress.text.language import detect_language

_SENTENCES, _STRIDE = 3, 2
_COPIED = 0.3
_RUN = 8


def windows(document: Document, language: str) -> Iterator[Document]:
    """Every three sentences that begin with every second one."""
    ends = split_sentences(document.text, 0, len(document.text), language)
    starts = [0, *ends[:-1]]
    for first in range(0, max(len(starts) - _SENTENCES + _STRIDE, 1), _STRIDE):
        last = min(first + _SENTENCES, len(starts)) - 1
        yield Document(document.title, document.text[starts[first] : ends[last]].strip())


def with_copies(documents: Sequence[Document], rng: random.Random) -> list[Document]:
    """The documents, some of them a second time."""
    found = list(documents)
    for document in documents:
        if rng.random() < _COPIED:
            found.insert(rng.randrange(len(found) + 1), document)
    return found


def repeated(text: str) -> float:
    """The share of the runs of eight words that came before."""
    words = text.lower().split()
    runs = list(zip(*(words[shift:] for shift in range(_RUN)), strict=False))
    return 1 - len(set(runs)) / len(runs) if runs else 0.0


def measure(compressor: Compressor, case: Case, documents: Sequence[Document]) -> tuple[int, float]:
    """(pieces of evidence that are kept whole, white space folded; what repeats)."""
    passages = [Passage(str(n), d.text, title=d.title or None, doc_id=d.title or None) for n, d in enumerate(documents)]
    text = compressor.compress(case.query, passages).text
    folded = " ".join(text.split())
    gold = (" ".join(case.documents[number].text[start:end].split()) for number, start, end in case.gold)
    return sum(piece in folded for piece in gold), repeated(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", type=Path, nargs="+")
    parser.add_argument("--budget", type=int, default=500)
    parser.add_argument("--limit", type=int, default=100)
    options = parser.parse_args()
    usual = Compressor(CompressionConfig(max_tokens=options.budget))
    print(f"{'set':<12}{'':<24}{'evidence':>9}{'repeat':>8}")
    for path in options.cases:
        cases = list(read_cases(path, options.limit))
        rng = random.Random(1)
        cut = [[w for d in case.documents for w in windows(d, detect_language(d.text[:400]))] for case in cases]
        doubled = [with_copies(of_case, rng) for of_case in cut]
        rows = (
            ("documents", usual, [case.documents for case in cases]),
            ("windows", usual, cut),
            ("windows and copies", usual, doubled),
        )
        total = sum(len(case.gold) for case in cases)
        for name, compressor, given in rows:
            found = [measure(compressor, case, documents) for case, documents in zip(cases, given, strict=True)]
            kept, repeats = sum(kept for kept, _ in found) / total, sum(r for _, r in found) / len(found)
            print(f"{set_name(path):<12}{name:<27}{kept:>6.3f}{repeats:>8.4f}", flush=True)


if __name__ == "__main__":
    main()
