"""Measures what is left of TypeScript and JavaScript files truncated to 2,000 characters.

    python benchmarks/truncation_scripts.py FOLDER [max_length]

FOLDER has packages as the npm registry has them. Their files of 4 to 120 KB count, except tests and generated files.
The output says which exports and imports are left, and whether the rest parses. A signature counts if its line is
there. "by lines" is without the extra `code`.
"""

import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from ctxcompress.code.detection import source_language
from ctxcompress.code.elision import marks_for
from ctxcompress.code.line_outline import line_outline
from ctxcompress.code.tree_sitter_outline import parsed_outline
from ctxcompress.data.spans import shown
from ctxcompress.reduce.truncation import truncated
from ctxcompress.segment.source_code import outline

MAX_LENGTH = 2_000
_SIZES = range(4_000, 120_001)
_ENDINGS = {".ts": "TypeScript", ".tsx": "TypeScript", ".js": "JavaScript", ".mjs": "JavaScript", ".cjs": "JavaScript"}
_APART = re.compile(r"test|locale|umd|min\.|bundle|legacy|\.d\.ts$|/(?:es5|esm|esm5|cjs)/")
_VALUE = r"(?:async )?(?:\(|function\b|<\w|\w+ =>)"
_KINDS = {
    "exported functions": re.compile(
        rf"export (?:default )?(?:async )?function\b|export const \w+\s*(?::[^=]*)?= {_VALUE}"
        rf"|(?:module\.)?exports\.\w+ = {_VALUE}"
    ),
    "imports": re.compile(r"import\b|(?:const|var|let) .*= require\("),
    "default exports": re.compile(r"export default\b|(?:exports = )?module\.exports\s*="),
}


def scripts(folder: Path) -> Iterator[Path]:
    """The files that count."""
    for path in sorted(folder.rglob("*")):
        if path.suffix in _ENDINGS and path.stat().st_size in _SIZES and not _APART.search(path.as_posix()):
            yield path


def row(files: Sequence[Path], most: int, *, by_lines: bool) -> list[str]:
    """Of each kind of line the mean share that is left, over the files that have some; how many still parse."""
    shares: dict[str, list[float]] = {kind: [] for kind in _KINDS}
    valid = parse = 0
    for path in files:
        text = path.read_text(encoding="utf-8", errors="replace")
        language = source_language(text, path.name)
        nodes = line_outline(text, language) if by_lines else outline(text, path.name)
        cut = truncated(text, nodes, most, marker=marks_for(language))
        left = shown(text, cut.spans, cut.markers)
        if parsed_outline(text, language) is not None:
            valid += 1
            parse += parsed_outline(left, language) is not None
        kept = set(left.splitlines())
        for kind, sign in _KINDS.items():
            lines = [line for line in text.splitlines() if sign.match(line)]
            if lines:
                shares[kind].append(sum(line in kept for line in lines) / len(lines))
    means = (f"{sum(found) / len(found):.3f}" if found else "" for found in shares.values())
    return [*means, f"{parse} of {valid}"]


def main() -> None:
    """Prints the table."""
    most = int(sys.argv[2]) if len(sys.argv) > 2 else MAX_LENGTH
    files = list(scripts(Path(sys.argv[1])))
    print(f"{len(files)} files cut to {most:,} characters\n")
    print(f"| | {' | '.join(_KINDS)} | parse |\n|---|---|---|---|---|")
    for language in ("TypeScript", "JavaScript"):
        of_language = [path for path in files if _ENDINGS[path.suffix] == language]
        for by_lines in (False, True):
            cells = row(of_language, most, by_lines=by_lines)
            print(f"| {language}{', by lines' * by_lines} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
