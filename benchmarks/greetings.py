"""Measures what greetings, thanks and wishes around a question cost.

    python benchmarks/greetings.py CASES... [--limit 50]

CASES are files of question answering cases that lib/cases.py reads, one for each set. Each question is asked alone, and
with what people write around it. The table has the evidence kept by each, as a mean of the sets. Needs the extra `dev`.
"""

import argparse
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from entries import by_way, core, measured
from lib.cases import read_cases, set_name
from lib.evaluation import budget_of

FORMS: Mapping[str, Callable[[str], str]] = {
    "alone": lambda query: query,
    "greeting": lambda query: (
        "Hi there! I am new here and I have been reading the documents all morning, but I am stuck and my boss wants "
        f"an answer today. {query}"
    ),
    "thanks": lambda query: f"Thanks a lot for the help with the deployment yesterday, it works now. {query}",
    "instructions": lambda query: (
        "You are a helpful research assistant. Answer the question in one short paragraph and cite your sources. "
        f"Question: {query}"
    ),
    "wishes": lambda query: (
        f"{query} Please answer as precisely as you can and keep it short. Thank you very much in advance!"
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", type=Path, nargs="+")
    parser.add_argument("--limit", type=int, default=50, help="cases of a set at most")
    options = parser.parse_args()
    found = {}
    for path in options.cases:
        cases, budget = list(read_cases(path, options.limit)), budget_of(set_name(path))
        asked = {name: [replace(case, query=form(case.query)) for case in cases] for name, form in FORMS.items()}
        found[set_name(path)] = {name: measured(of_form, budget, core)[0] for name, of_form in asked.items()}
        print(set_name(path), found[set_name(path)])
    print(by_way(found))


if __name__ == "__main__":
    main()
