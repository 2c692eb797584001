"""Measures what is left of TypeScript and JavaScript files truncated to 2,000 characters.

    python benchmarks/truncation_scripts.py FOLDER [max_length]

FOLDER has packages as the npm registry has them. Their files of 4 to 120 KB count, except tests and generated files.
The output says which exports and imports are left, and whether the rest parses. A signature counts if its line is
there. tree-sitter parses.
"""

import functools
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import tree_sitter_javascript
import tree_sitter_typescript
from tree_sitter import Language, Parser

from ctxcompress.code.detection import source_language
from ctxcompress.code.elision import marks_for
from ctxcompress.data.passages import shown
from ctxcompress.reduce.truncation import truncated
from ctxcompress.segment.source_code import outline

MAX_LENGTH = 2_000
_SIZES = range(4_000, 120_001)
_ENDINGS = {".ts": "TypeScript", ".tsx": "TypeScript", ".js": "JavaScript", ".mjs": "JavaScript", ".cjs": "JavaScript"}
_GRAMMARS = {
    "typescript": tree_sitter_typescript.language_typescript,
    "tsx": tree_sitter_typescript.language_tsx,
    "javascript": tree_sitter_javascript.language,
}
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


@functools.cache
def _parser(language: str) -> Parser:
    return Parser(Language(_GRAMMARS[language]()))


def parses(text: str, language: str) -> bool:
    """Whether a script is valid."""
    return not _parser(language).parse(text.encode()).root_node.has_error


def row(files: Sequence[Path], most: int) -> list[str]:
    """Of each kind of line the mean share that is left, over the files that have some; how many still parse."""
    shares: dict[str, list[float]] = {kind: [] for kind in _KINDS}
    valid = parse = 0
    for path in files:
        text = path.read_text(encoding="utf-8", errors="replace")
        language = source_language(text, path.name)
        cut = truncated(text, outline(text, path.name), most, marker=marks_for(language))
        left = shown(text, cut.spans, cut.markers)
        if parses(text, language):
            valid += 1
            parse += parses(left, language)
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
        print(f"| {language} | {' | '.join(row(of_language, most))} |")


if __name__ == "__main__":
    main()
