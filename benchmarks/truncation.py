"""Measures what is left of Python files truncated to 2,000 characters: signatures, and whether it parses.

    python benchmarks/truncation.py [max_length]

The files are the modules of the standard library of 10 to 200 KB, except tests. "head" is the first lines. "keywords"
is the plain rule of code search tools: the first 30 %, the lines in between that have one of a list of words, and the
last 30 %. "keywords and def" adds Python's word to the list. A signature counts if its line is there. It is public if
its name does not begin with an underscore.
"""

import ast
import re
import sys
import sysconfig
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from time import process_time

from ctxcompress import Passage, compress

MAX_LENGTH = 2_000
_SIZES = range(10_000, 200_001)
_APART = frozenset(("site-packages", "test", "tests", "idlelib", "lib2to3"))
_KEYWORDS = "export function class interface type const let var enum namespace"
_EDGE = 0.3
_MARKER = "# ..."

Cutter = Callable[[str, str, int], str]
"""(text, file name, most characters) -> what is left."""


@dataclass(frozen=True, slots=True)
class Row:
    """Means over the files, from 0 to 1, but for the counts."""

    signatures: float
    public: float
    """Of the public signatures."""
    thirds: float
    """Share of the files of which a signature is kept from each third that has one."""
    parsed: int
    length: float
    seconds: float


def library() -> Iterator[Path]:
    """The modules of the standard library that are neither short nor tests."""
    folder = Path(sysconfig.get_path("stdlib"))
    for path in sorted(folder.rglob("*.py")):
        if path.stat().st_size in _SIZES and not _APART.intersection(path.relative_to(folder).parts):
            yield path


def by_structure(text: str, name: str, most: int) -> str:
    """Signatures before bodies."""
    return compress("", [Passage(name, text, file_path=name)], max_length=most, tier="complete", encoding=len).text


def head(text: str, _: str, most: int) -> str:
    """The first lines."""
    return "".join(_until(text.splitlines(keepends=True), most))


def keywords(words: str) -> Cutter:
    """The rule with these words."""
    important = re.compile(rf"\b(?:{'|'.join(words.split())})\b")

    def cut(text: str, _: str, most: int) -> str:
        lines = text.splitlines(keepends=True)
        first = _until(lines, most * _EDGE)
        last = _until(lines[len(first) :][::-1], most * _EDGE)[::-1]
        middle = [line for line in lines[len(first) : len(lines) - len(last)] if important.search(line)]
        room = most - len("".join((*first, *last))) - 2 * len(_MARKER + "\n")
        return "".join((*first, _MARKER + "\n", *_until(middle, room), _MARKER + "\n", *last))

    return cut


def measured(cut: Cutter, files: list[Path], most: int) -> Row:
    """What a way of cutting leaves of the files."""
    shares, public, thirds, lengths = [], [], [], []
    parsed = 0
    seconds = 0.0
    for path in files:
        text = path.read_text(encoding="utf-8")
        begin = process_time()
        left = cut(text, path.name, most)
        seconds += process_time() - begin
        lengths.append(len(left))
        parsed += _parses(left)
        signatures = _signatures(text)
        lines = set(left.splitlines())
        kept = [(place, name) for place, name, line in signatures if line in lines]
        if signatures:
            shares.append(len(kept) / len(signatures))
            thirds.append({place for place, _ in kept} == {place for place, *_ in signatures})
        open_ = [name for _, name, _ in signatures if not name.startswith("_")]
        if open_:
            public.append(sum(not name.startswith("_") for _, name in kept) / len(open_))
    return Row(_mean(shares), _mean(public), _mean(thirds), parsed, _mean(lengths), seconds)


def _until(lines: list[str], most: float) -> list[str]:
    taken, length = 0, 0
    while taken < len(lines) and length + len(lines[taken]) <= most:
        length += len(lines[taken])
        taken += 1
    return lines[:taken]


def _signatures(text: str) -> list[tuple[int, str, str]]:
    """(third of the file, name, line) of what is defined at its top."""
    lines = text.splitlines()
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    found = [node for node in ast.parse(text).body if isinstance(node, kinds)]
    return [(3 * (node.lineno - 1) // len(lines), node.name, lines[node.lineno - 1]) for node in found]


def _parses(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def _mean(values: list[float] | list[int] | list[bool]) -> float:
    return sum(values) / len(values) if values else 0.0


def main() -> None:
    """Prints the table."""
    most = int(sys.argv[1]) if len(sys.argv) > 1 else MAX_LENGTH
    files = list(library())
    ways: dict[str, Cutter] = {
        "signatures before bodies": by_structure,
        "keywords and def": keywords(_KEYWORDS + " def"),
        "keywords": keywords(_KEYWORDS),
        "head": head,
    }
    print(f"{len(files)} files cut to {most:,} characters\n")
    print("| | top-level signatures | public ones | all thirds of the file | parse | characters | CPU s |")
    print("|---|---|---|---|---|---|---|")
    for name, cut in ways.items():
        row = measured(cut, files, most)
        print(
            f"| {name} | {row.signatures:.3f} | {row.public:.3f} | {row.thirds:.3f} | {row.parsed} of {len(files)} | "
            f"{row.length:,.0f} | {row.seconds:.1f} |"
        )


if __name__ == "__main__":
    main()
