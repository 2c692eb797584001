"""Tables in Markdown documents, each between two comments with its name, so that a command can replace it.

    <!-- table: results -->
    the table
    <!-- end -->

A command prints its tables, and replaces them in a document.
"""

from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Mapping, Sequence
from pathlib import Path

__all__ = ["publish", "publishing_parser", "replaced", "share", "table"]

_END = "<!-- end -->"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The lines of a Markdown table, its first column to the left and the others to the right."""
    for row in rows:
        if len(row) != len(header):
            raise ValueError(f"the row {list(row)} has {len(row)} cells under {len(header)} headings")
    lines = [header, ["---"] + ["---:"] * (len(header) - 1), *rows]
    return "\n".join(f"| {' | '.join(_escaped(cell) for cell in line)} |" for line in lines)


def _escaped(cell: str) -> str:
    return " ".join(cell.split()).replace("|", "\\|")


def share(value: float) -> str:
    """A number from 0 to 1 with three digits, without the 0 before the point."""
    text = f"{value:.3f}"
    return text.removeprefix("0") if text.startswith("0.") else text


def replaced(document: str, name: str, block: str) -> str:
    """The document with what stands under this name replaced. Raises ValueError unless it stands there once."""
    start = f"<!-- table: {name} -->"
    if document.count(start) != 1:
        raise ValueError(f"the document has {start} {document.count(start)} times; it must stand there once")
    before, after = document.split(start)
    former, end, rest = after.partition(_END)
    if not end or "<!-- table: " in former:
        raise ValueError(f"the document has no {_END} after {start}")
    return f"{before}{start}\n{block}\n{end}{rest}"


def publishing_parser(description: str | None) -> ArgumentParser:
    """Return the parser of a command that publishes, with the option --docs."""
    parser = ArgumentParser(description=description, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("--docs", type=Path, help="a page whose tables are replaced")
    return parser


def publish(blocks: Mapping[str, str], docs: Path | None) -> None:
    """Prints the blocks and puts them into the document, if there is one."""
    for block in blocks.values():
        print(f"{block}\n", flush=True)
    if docs:
        document = docs.read_text(encoding="utf-8")
        for name, block in blocks.items():
            document = replaced(document, name, block)
        docs.write_text(document, encoding="utf-8")
