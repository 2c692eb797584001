"""Measures how the CPU time and the memory of one compression grow with the input.

    python benchmarks/scale.py [--tokens 100000 1000000 10000000] [--json scale.json] [--docs docs/speed.md]

The first table has prose as one text, as passages of a paragraph, as nodes of one document, and as passages of one
line. The second has manuals and source code of this machine, and texts that consist of one thing alone. Each input runs
in a process of its own. Ten times the input should take ten times as long. Memory is the peak above what the process
had with the input in it.
"""

import argparse
import json
import random
import re
import resource
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import distributions
from itertools import chain, cycle
from pathlib import Path
from time import process_time

from lib.markdown_blocks import publish, table

from ctxcompress import Passage, compress
from ctxcompress.text.tokens import TokenCounter

QUERY = "how is the default timeout of a socket set and read?"
BUDGET = 1_000
SIZES = (100_000, 1_000_000, 10_000_000)
_CHARACTERS = 5
"""Of a token of prose."""
_MANUAL_SIZES = (400_000, 4_000_000)
_EXTREME_SIZES = (500_000, 5_000_000)
_SAMPLE = 20_000
"""The characters of an input whose tokens are counted: all of a long run of one sign would take too long."""
_ROUNDS = 3

Passages = Sequence[str | Passage]
Figures = Mapping[str, float]


def lines(characters: int) -> list[str]:
    """Lines of prose from the manuals of installed packages, in which some words are replaced, so that all differ."""
    manuals = sorted(distributions(), key=lambda installed: str(installed.name))
    payloads = (manual.metadata.get_payload() for manual in manuals)
    paragraphs = (" ".join(part.split()) for text in payloads if isinstance(text, str) for part in text.split("\n\n"))
    split = (line for part in paragraphs for line in re.split(r"(?<=\.) (?=[A-Z])", part))
    known = [*dict.fromkeys(line for line in split if re.fullmatch(r"[A-Z][\w ,;:'()/.-]{60,160}\.", line, re.ASCII))]
    words = sorted({word for line in known for word in line.split() if word.isalpha()})
    chance, found, length = random.Random(0), list[str](), 0
    while length < characters:
        line = chance.choice(known).split()
        for _ in range(len(line) // 4):
            line[chance.randrange(1, len(line) - 1)] = chance.choice(words)
        found.append(" ".join(line))
        length += len(found[-1]) + 1
    return found


def grouped(characters: int, together: int) -> list[str]:
    """Prose in texts of so many lines."""
    prose = lines(characters)
    return [" ".join(prose[start : start + together]) for start in range(0, len(prose), together)]


def sample(characters: int) -> str:
    """Documentation and source that is on this machine, in turn; what comes again comes with other numbers in it."""
    folder = Path(sysconfig.get_path("purelib"))
    manuals = sorted(folder.glob("*.dist-info/METADATA"))
    modules = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
    parts, length = [], 0
    for turn, file in enumerate(cycle(chain.from_iterable(zip(manuals, modules, strict=False)))):
        text = file.read_text(errors="replace").replace(" is ", f" is {turn} ")[:4_000]
        parts.append(text)
        length += len(text)
        if length >= characters:
            break
    return "\n\n".join(parts)[:characters]


def as_chunks(text: str) -> list[str]:
    """The text in passages of 1,000 characters."""
    return [text[start : start + 1_000] for start in range(0, len(text), 1_000)]


def repeated(part: str) -> Callable[[int], list[str]]:
    """One passage of so many characters."""
    return lambda characters: [part * (characters // len(part))]


def passages_of(size: int) -> Callable[[int], list[str]]:
    """Passages of this size, each with another number in it."""
    begin = "The item "[: size - 5]
    return lambda characters: [f"{begin}{number:05x}".ljust(size, ".") for number in range(characters // size)]


PROSE: Mapping[str, Callable[[int], Passages]] = {
    "one text": lambda characters: ["\n\n".join(grouped(characters, 6))],
    "passages of 250 tokens": lambda characters: grouped(characters, 12),
    "nodes of one document": lambda characters: [
        Passage(str(number), text, doc_id="manual") for number, text in enumerate(grouped(characters, 48))
    ],
    "passages of one line": lines,
    "one nested list": lambda characters: [
        "\n".join(f"- Part number {n}\n  - {line}" for n, line in enumerate(lines(characters)))
    ],
}
MANUALS: Mapping[str, Callable[[int], Passages]] = {
    "manuals and code, one passage": lambda characters: [sample(characters)],
    "manuals and code, chunks": lambda characters: as_chunks(sample(characters)),
}
EXTREME: Mapping[str, Callable[[int], Passages]] = {
    "{ and } in lines": repeated("{\n}\n"),
    "{ in lines": repeated("{\n"),
    "} in lines": repeated("}\n"),
    "{} in one line": repeated("{}"),
    "{ in one line": repeated("{"),
    "headings": repeated("# h\n"),
    "headings of two levels": repeated("# h\n\n## i\n\n"),
    "quotes in quotes": repeated("> > > x\n"),
    "quotes in one line": repeated(">"),
    "passages of 50": passages_of(50),
    "passages of 20": passages_of(20),
    "passages of 5": passages_of(5),
}
INPUTS = {**PROSE, **MANUALS, **EXTREME}


def measured_here(name: str, characters: int, rounds: int) -> Figures:
    """The quickest of some rounds, and the peak of memory."""
    passages = INPUTS[name](characters)
    compress(QUERY, ["warm up " * 2_000], max_tokens=10)
    texts = [passage if isinstance(passage, str) else passage.text for passage in passages]
    length, beginning = sum(map(len, texts)), "\n".join(texts[:1_000])[:_SAMPLE]
    before = _resident()
    times = []
    for _ in range(rounds):
        start = process_time()
        result = compress(QUERY, passages, max_tokens=BUDGET)
        times.append(1e3 * (process_time() - start))
    if result.tokens > BUDGET:
        raise SystemExit(f"{name}: {result.tokens} tokens for a budget of {BUDGET}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before
    return {
        "characters": length,
        "tokens": TokenCounter("o200k_base")(beginning) / len(beginning) * length,
        "passages": len(passages),
        "milliseconds": min(times),
        "megabytes": peak / 1e6,
    }


def _resident() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


def measured(name: str, characters: int, rounds: int) -> Figures:
    """The same, in a process of its own."""
    command = [sys.executable, __file__, "--one", name, str(characters), str(rounds)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    figures: Figures = json.loads(done.stdout)
    print(name, figures, file=sys.stderr, flush=True)
    return figures


def growth(names: Sequence[str], sizes: Sequence[int], rounds: int) -> dict[str, list[Figures]]:
    """The figures of each input in each size."""
    return {name: [measured(name, characters, rounds) for characters in sizes] for name in names}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokens", type=int, nargs="+", default=SIZES, help="sizes of the prose")
    parser.add_argument("--rounds", type=int, default=_ROUNDS, help="of each input")
    parser.add_argument("--prose", action="store_true", help="leave the second table out, which takes 15 minutes")
    parser.add_argument("--json", type=Path, help="the file to write the figures to")
    parser.add_argument("--docs", type=Path, help="the document to put the tables into")
    parser.add_argument("--one", nargs=3, metavar=("INPUT", "CHARACTERS", "ROUNDS"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        name, characters, rounds = options.one
        print(json.dumps(measured_here(name, int(characters), int(rounds))))
        return
    prose = growth([*PROSE], [tokens * _CHARACTERS for tokens in options.tokens], options.rounds)
    other = (
        {}
        if options.prose
        else growth([*MANUALS], _MANUAL_SIZES, options.rounds) | growth([*EXTREME], _EXTREME_SIZES, 1)
    )
    publish({"growth": _table({name: [sizes[0], sizes[-1]] for name, sizes in prose.items()})}, options.docs)
    print(_table(other))
    if options.json:
        options.json.write_text(json.dumps({"growth": prose | other}, indent=1) + "\n", "utf-8")


def _table(figures: Mapping[str, Sequence[Figures]]) -> str:
    header = ["input", "tokens", "passages", "CPU ms", "memory MB"]
    return table(header, [[name, *_row(size)] for name, sizes in figures.items() for size in sizes])


def _row(size: Figures) -> list[str]:
    return [
        f"{size['tokens'] / 1e6:.2f} M",
        f"{size['passages']:,.0f}",
        f"{size['milliseconds']:,.0f}",
        f"{size['megabytes']:,.0f}",
    ]


if __name__ == "__main__":
    main()
