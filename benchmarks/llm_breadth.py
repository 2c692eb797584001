"""Shows what a language model reads with `llm`, and the evidence that it could keep at most.

    python benchmarks/llm_breadth.py CASES... --limit 60 --docs docs/how-to/language-model.md

CASES are files that lib/cases.py reads, one for each set. No language model is called: the one here knows the evidence,
and names what it reads of it. A row is a breadth: the evidence that is kept, the tokens that are read and those of the
result, as means of the sets. Without a model, extraction fills the budget. --docs replaces the table "llm-breadth" of
that document.
"""

import argparse
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from lib.cases import Case, read_cases, set_name
from lib.evaluation import ENCODING, budget_of
from lib.markdown_blocks import publish, share, table

from ctxcompress import Compression, Passage, compress
from ctxcompress.language_model import Answer, LLMSelector, Prompt

BREADTHS = (2, 3, 4, 6)
_SEGMENT = re.compile(r"^\[(\d+)\] (.*(?:\n    .*)*)", re.MULTILINE)
_SHORTEST = 4
"""Characters: a shorter segment is part of any evidence by chance."""


@dataclass(frozen=True, slots=True)
class Oracle:
    """A language model that knows the evidence. It names each segment that has some, those with most of it first."""

    evidence: Sequence[str]
    identity: str = ""

    def complete(self, prompt: Prompt, /) -> Answer:
        has = {number: self._characters(_folded(text)) for number, text in _SEGMENT.findall(prompt.user)}
        named = sorted((number for number in has if has[number]), key=lambda number: -has[number])
        return Answer(", ".join(named) or "none")

    def _characters(self, text: str) -> int:
        """The characters of evidence in a segment."""
        is_part = len(text) >= _SHORTEST
        return sum(len(text) if is_part and text in part else len(part) * (part in text) for part in self.evidence)


def evidence_of(case: Case) -> list[str]:
    """The evidence of a case, white space folded."""
    return [_folded(case.documents[number].text[start:end]) for number, start, end in case.gold]


def compressed(case: Case, budget: int, breadth: float | None) -> Compression:
    """The case compressed with the oracle, or without one if there is no breadth."""
    passages = [Passage(str(n), document.text, title=document.title) for n, document in enumerate(case.documents)]
    llm = None if breadth is None else LLMSelector(Oracle(evidence_of(case)), breadth=breadth)
    return compress(case.query, passages, max_tokens=budget, encoding=ENCODING, llm=llm)


def figures(cases: Sequence[Case], budget: int, breadth: float | None) -> tuple[float, float, float]:
    """(the share of the evidence that is kept, the tokens that the model reads, the tokens of the result)."""
    kept = total = read = tokens = 0
    for case in cases:
        result, evidence = compressed(case, budget, breadth), evidence_of(case)
        text = _folded(result.text)
        kept += sum(part in text for part in evidence)
        total += len(evidence)
        read += result.llm.input_tokens if result.llm else 0
        tokens += result.tokens
    return kept / max(total, 1), read / len(cases), tokens / len(cases)


def rows(paths: Iterable[Path], limit: int) -> Iterable[list[str]]:
    sets = [(budget_of(set_name(path)), list(read_cases(path, limit))) for path in paths]
    for breadth in (None, *BREADTHS):
        kept, read, tokens = zip(*(figures(cases, budget, breadth) for budget, cases in sets), strict=True)
        yield [str(breadth or "off"), share(mean(kept)), f"{mean(read):,.0f}", f"{mean(tokens):,.0f}"]


def _folded(text: str) -> str:
    return " ".join(text.split())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", type=Path, nargs="+")
    parser.add_argument("--limit", type=int, default=60)
    parser.add_argument("--docs", type=Path)
    options = parser.parse_args()
    header = ["breadth", "evidence", "tokens read", "tokens kept"]
    publish({"llm-breadth": table(header, list(rows(options.cases, options.limit)))}, options.docs)


if __name__ == "__main__":
    main()
