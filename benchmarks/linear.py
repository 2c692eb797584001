"""Measures the CPU time and memory of one compression for growing inputs.

    python benchmarks/linear.py [tokens ...]

First come texts of this machine, repeated with variation: each size as one passage, and as chunks of about 1,000
characters. Then come texts that consist of one thing alone, of half a million and of five million characters. Each
runs in a process of its own. Ten times the input should take ten times as long.
"""

import resource
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterable, Sequence
from itertools import chain, cycle
from pathlib import Path
from time import process_time

from ctxcompress import compress
from ctxcompress.tokens import TokenCounter

SIZES = (10_000, 100_000, 1_000_000)
QUERY = "how is the default timeout of a socket set and read?"
BUDGET = 1_000
_EXTREME_SIZES = (500_000, 5_000_000)
_ROUNDS = 3


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


REAL = {
    "one passage": lambda characters: [sample(characters)],
    "chunks": lambda characters: as_chunks(sample(characters)),
}
EXTREME = {
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
INPUTS = {**REAL, **EXTREME}


def measure(name: str, characters: int, rounds: int) -> tuple[float, float, int]:
    """CPU milliseconds of the quickest of some rounds, peak memory of it in MB above what was there, passages."""
    passages = INPUTS[name](characters)
    compress(QUERY, ["warm up " * 2_000], max_tokens=10)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    times = []
    for _ in range(rounds):
        start = process_time()
        result = compress(QUERY, passages, max_tokens=BUDGET)
        times.append(1e3 * (process_time() - start))
    assert TokenCounter("o200k_base")(result.text) <= BUDGET
    return min(times), (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024, len(passages)


def table(names: Iterable[str], sizes: Sequence[int], rounds: int) -> None:
    """Prints a row for each input of each size."""
    print(f"{'input':<24} {'characters':>10} {'passages':>9} {'CPU ms':>9} {'ratio':>6} {'peak MB':>8}")
    for name in names:
        previous = None
        for characters in sizes:
            command = [sys.executable, __file__, "--one", name, str(characters), str(rounds)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            milliseconds, memory, count = map(float, done.stdout.split())
            ratio = f"{milliseconds / previous:.1f}" if previous else ""
            print(
                f"{name:<24} {characters:>10,} {int(count):>9,} {milliseconds:>9.1f} {ratio:>6} {memory:>8.1f}",
                flush=True,
            )
            previous = milliseconds


def main(sizes: Sequence[int]) -> None:
    """Prints both tables."""
    table(REAL, [tokens * 4 for tokens in sizes], _ROUNDS)
    print()
    table(EXTREME, _EXTREME_SIZES, 1)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(*measure(sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
    else:
        main([int(size) for size in sys.argv[1:]] or SIZES)
