"""Measures the time and memory of the folder index for growing folders of Markdown files.

    python benchmarks/folder_index.py [files ...]

The files have 10,000 characters each: descriptions of the installed packages, with some words of their own. Each size
runs in a process of its own.
"""

import resource
import subprocess
import sys
from importlib.metadata import distributions
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from ctxcompress.agents.query_tool import QueryTool
from ctxcompress.apps.index import FolderIndex
from ctxcompress.apps.mcp.tools import DocumentTools

SIZES = (250, 1_000, 4_000)
CHARACTERS = 10_000
QUERIES = (
    "what is the default timeout of the client?",
    "how do I configure logging?",
    "install",
    "which license is it under?",
    "How are retries and errors handled when a request fails?",
)


def write_files(folder: Path, count: int) -> None:
    """`count` files in folders of 20."""
    texts = sorted(filter(None, {one.metadata["Description"] for one in distributions()}), key=len)
    lines = cycle([line for text in texts for line in text.split("\n")])
    for number in range(count):
        part, length = [f"# Page {number}", ""], 0
        while length < CHARACTERS:
            part.append(next(lines).replace(" is ", f" is page{number} "))
            length += len(part[-1]) + 1
        path = folder / f"part{number // 20}" / f"page{number}.md"
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n".join(part), encoding="utf-8")


def milliseconds(work: object, *arguments: object) -> float:
    """Of the quickest of five rounds."""
    times = []
    for _ in range(5):
        start = perf_counter()
        work(*arguments)  # type: ignore[operator]
        times.append(1e3 * (perf_counter() - start))
    return min(times)


def measure(count: int) -> tuple[float, ...]:
    """Chunks; seconds to index; milliseconds to see that nothing has changed, of a search, of an answer of the tool,
    and of a search after one file has changed; MB."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder, count)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        index = FolderIndex(folder)
        start = perf_counter()
        chunks = index.refresh()
        seconds = perf_counter() - start
        peak = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        index.refresh()
        tools = DocumentTools(index, QueryTool.of(top_n=5))
        tools.query({"query": "warm up"})
        look = milliseconds(index.refresh)
        search = sum(milliseconds(index.search, query) for query in QUERIES) / len(QUERIES)
        answer = sum(milliseconds(tools.query, {"query": query}) for query in QUERIES) / len(QUERIES)
        changed = folder / "part0" / "page0.md"
        changed.write_text("# Page\n\nAnother text.")
        start = perf_counter()
        index.search(QUERIES[0])
        return chunks, seconds, look, search, answer, 1e3 * (perf_counter() - start), peak


def main(sizes: list[int]) -> None:
    print(f"{'files':>6} {'chunks':>7} {'index s':>8} {'look ms':>8} {'search ms':>9} {'answer ms':>9} "
          f"{'changed ms':>10} {'MB':>6}")  # fmt: skip
    for count in sizes:
        command = [sys.executable, __file__, "--one", str(count)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        chunks, seconds, look, search, answer, changed, peak = map(float, done.stdout.split())
        print(
            f"{count:>6,} {chunks:>7,.0f} {seconds:>8.2f} {look:>8.1f} {search:>9.1f} {answer:>9.1f} "
            f"{changed:>10.0f} {peak:>6.0f}"
        )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(*measure(int(sys.argv[2])))
    else:
        main([int(size) for size in sys.argv[1:]] or list(SIZES))
