"""Compares two ways to choose three sentences of each search result: by the scorer, and by shared words.

    python benchmarks/key_sentences.py CASES... --limit 120

CASES are files that lib/cases.py reads; each document is a search result. All results are kept, with three sentences
and at most so many characters of each. "words" is the published method: the sentences that share most words with the
question, cut at the limit. The figure is the share of the evidence that is whole.
"""

import argparse
import re
from collections.abc import Sequence
from pathlib import Path

from lib.cases import Case, read_cases, set_name

from ctxcompress import compress_search_results

_SENTENCES = 3
_CHARACTERS = (300, 500)
_STOP_WORDS = frozenset(
    "the a an is are was were in on at to for of and or but with what how why when where which who".split()
)


def by_words(text: str, query: str, characters: int) -> str:
    """The sentences that share most words with the query, in their order, cut between words."""
    sentences = re.split(r"(?<=[.!?])\s+", text.strip())
    wanted = set(re.findall(r"\w+", query.lower())) - _STOP_WORDS
    shared = [len(wanted.intersection(re.findall(r"\w+", sentence.lower()))) for sentence in sentences]
    best = sorted(range(len(sentences)), key=lambda number: -shared[number])[:_SENTENCES]
    kept = " ".join(sentences[number] for number in sorted(best))
    return kept if len(kept) <= characters else kept[:characters].rsplit(" ", 1)[0]


def by_scorer(case: Case, characters: int) -> list[str]:
    """The texts of the results, as `compress_search_results` shortens them."""
    results = [
        {"url": f"https://page.example/{number}", "title": document.title, "content": document.text}
        for number, document in enumerate(case.documents)
    ]
    found = compress_search_results(results, case.query, max_results=len(results), max_characters=characters)
    return [str(result["content"]) for result in found.results]


def kept(case: Case, texts: Sequence[str]) -> int:
    """The pieces of evidence that are whole, white space folded."""
    folded = [" ".join(text.split()) for text in texts]
    return sum(" ".join(case.documents[n].text[start:end].split()) in folded[n] for n, start, end in case.gold)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", type=Path, nargs="+")
    parser.add_argument("--limit", type=int, default=120)
    options = parser.parse_args()
    print(f"{'set':<12}{'characters':>11}{'scorer':>8}{'words':>8}")
    for path in options.cases:
        cases = list(read_cases(path, options.limit))
        total = sum(len(case.gold) for case in cases)
        for characters in _CHARACTERS:
            scorer = sum(kept(case, by_scorer(case, characters)) for case in cases)
            words = sum(
                kept(case, [by_words(document.text, case.query, characters) for document in case.documents])
                for case in cases
            )
            print(f"{set_name(path):<12}{characters:>11}{scorer / total:>8.3f}{words / total:>8.3f}", flush=True)


if __name__ == "__main__":
    main()
