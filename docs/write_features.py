"""Write the table of features into README.md: `python docs/write_features.py`.

docs/features.md has the features, with a test in each cell. In the README each name is a link to the file of its test.
A test fails where the README differs from what this writes.
"""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
FEATURES = ROOT / "docs" / "features.md"
HEAD = "| feature | LangChain | LlamaIndex |\n"
CELL = re.compile(r"(?P<name>\S.*) `(?P<file>tests/[\w/]+\.py)::\w+`")


def main() -> None:
    README.write_text(written(), encoding="utf-8")


def written() -> str:
    """Return the text of the README with the table that follows from the features."""
    readme = README.read_text(encoding="utf-8")
    lines = [_row(line) for line in table_of(FEATURES.read_text(encoding="utf-8")).splitlines()]
    return readme.replace(table_of(readme), "\n".join(lines) + "\n")


def table_of(page: str) -> str:
    """Return the table of features of a page."""
    start = page.index(HEAD)
    end = page.find("\n\n", start)
    return page[start:] if end < 0 else page[start : end + 1]


def _row(line: str) -> str:
    feature, *cells = line.strip("| ").split(" | ")
    return line if not cells else f"| {' | '.join((feature, *map(_link, cells)))} |"


def _link(cell: str) -> str:
    found = CELL.fullmatch(cell)
    return f"[{found['name']}]({found['file']})" if found else cell


if __name__ == "__main__":
    main()
