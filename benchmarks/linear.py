"""CPU time and memory of one compression for growing inputs: real texts of this machine, repeated with variation.

    python benchmarks/linear.py [tokens ...]

Each size runs in a process of its own, once as one passage and once as chunks of about 1,000 characters.
"""

import resource
import subprocess
import sys
import sysconfig
from itertools import chain, cycle
from pathlib import Path
from time import process_time

from ctxcompress import compress
from ctxcompress.tokens import TokenCounter

SIZES = (10_000, 100_000, 1_000_000)
QUERY = "how is the default timeout of a socket set and read?"
BUDGET = 1_000
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


def measure(tokens: int, as_chunks: bool) -> tuple[float, float, int]:
    """CPU milliseconds of the quickest of some rounds, peak memory of it in MB above what was there, passages."""
    text = sample(tokens * 4)
    passages = [text[start : start + 1_000] for start in range(0, len(text), 1_000)] if as_chunks else [text]
    compress(QUERY, ["warm up " * 2_000], max_tokens=10)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    times = []
    for _ in range(_ROUNDS):
        start = process_time()
        result = compress(QUERY, passages, max_tokens=BUDGET)
        times.append(1e3 * (process_time() - start))
    assert TokenCounter("o200k_base")(result.text) <= BUDGET
    return min(times), (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024, len(passages)


def main(sizes: list[int]) -> None:
    print(f"{'tokens':>9} {'passages':>8} {'CPU ms':>9} {'ratio':>6} {'peak MB':>8}")
    for as_chunks in (False, True):
        previous = None
        for tokens in sizes:
            command = [sys.executable, __file__, "--one", str(tokens), str(int(as_chunks))]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            milliseconds, memory, count = map(float, done.stdout.split())
            ratio = f"{milliseconds / previous:.1f}" if previous else ""
            print(f"{tokens:>9,} {int(count):>8} {milliseconds:>9.1f} {ratio:>6} {memory:>8.1f}")
            previous = milliseconds


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(*measure(int(sys.argv[2]), sys.argv[3] == "1"))
    else:
        main([int(size) for size in sys.argv[1:]] or list(SIZES))
