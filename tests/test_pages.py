"""The code of the README and of all pages of docs/ runs, and prints what the pages say.

The blocks of a page share one namespace, as if they were typed one after the other. Where a block of text follows a
block of Python right away, it is what that prints; "..." stands for anything. A block that cannot run here says why in
its title, which readers see.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from doctest import ELLIPSIS, OutputChecker
from itertools import pairwise
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).parent.parent
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
NOT_RUN = 'title="not run: '
AT_MOST_NOT_RUN = 4


@dataclass(frozen=True)
class Block:
    code: str
    line: int
    info: str
    printed: str | None
    """What the page says that it prints."""

    @property
    def runs(self) -> bool:
        return NOT_RUN not in self.info


def tokens_of(page: Path) -> list[Token]:
    return MarkdownIt("commonmark").enable("table").parse(page.read_text(encoding="utf-8"))


def blocks_of(page: Path) -> Iterator[Block]:
    for token, following in pairwise([*tokens_of(page), Token("end", "", 0)]):
        if token.type == "fence" and token.info.split()[:1] == ["python"]:
            is_output = following.type == "fence" and following.info.strip() == "text"
            assert token.map is not None
            yield Block(token.content, token.map[0] + 1, token.info, following.content if is_output else None)


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


WITH_CODE = [page for page in PAGES if any(block.runs for block in blocks_of(page))]


@pytest.mark.parametrize("page", WITH_CODE, ids=name_of)
def test_the_code_of_a_page_prints_what_the_page_says(
    page: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # where a page writes a file
    names: dict[str, object] = {"__name__": "__main__"}
    for block in blocks_of(page):
        if not block.runs:
            continue
        # Empty lines before it, so that a traceback names the line of the page.
        exec(compile("\n" * block.line + block.code, str(page), "exec", dont_inherit=True), names)
        printed = capsys.readouterr().out
        if block.printed is not None:
            said = OutputChecker().check_output(block.printed.rstrip() + "\n", printed.rstrip() + "\n", ELLIPSIS)
            assert said, f"{name_of(page)}:{block.line} prints:\n{printed}\nand not:\n{block.printed}"


def test_pages_were_found() -> None:
    if not (ROOT / "docs").is_dir():
        pytest.skip("there are no docs here")
    assert len(WITH_CODE) > 10


def test_few_blocks_are_not_run_and_each_says_why() -> None:
    skipped = [f"{name_of(page)}:{block.line}" for page in PAGES for block in blocks_of(page) if not block.runs]
    assert len(skipped) <= AT_MOST_NOT_RUN, skipped


PACKAGES = {
    "langchain": r"from langchain_(?:core|ctxcompress)",
    "agents": r"from (?:langchain\.|langgraph)|CtxCompressMiddleware",
    "langchain-classic": r"from langchain_classic",
    "llamaindex": r"from llama(?:_index|index_ctxcompress)",
    "static": r"StaticVectors",
    "otel": r"telemetry=True|from opentelemetry",
    "opentelemetry-sdk": r"from opentelemetry\.sdk",
    "qdrant": r"QdrantStore\(",
    "batch": r"import pyarrow",
    "ray": r"import ray",
}
"""The extra, or the package, that brings what code uses."""


@pytest.mark.parametrize("page", WITH_CODE, ids=name_of)
def test_a_page_names_what_its_code_needs(page: Path) -> None:
    """A new user installs what the page says, and no more."""
    text, code = page.read_text(encoding="utf-8"), "\n".join(block.code for block in blocks_of(page) if block.runs)
    for name, use in PACKAGES.items():
        if re.search(use, code):
            named = rf"pip install [^\n]*\b{name}\b|\[{name}\]|extras? (?:`\w+` (?:and|or) )?`{name}`"
            assert re.search(named, text), f"{name_of(page)} does not say that it needs {name}"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_no_python_stands_in_a_block_that_is_not_run(page: Path) -> None:
    """Indented blocks, and fences of no language or another one, are not run: so none is Python. TOML looks like it."""
    outputs = [block.printed for block in blocks_of(page)]
    for token in tokens_of(page):
        if token.type in ("fence", "code_block") and token.info.split()[:1] not in (["python"], ["toml"]):
            assert token.map is not None
            is_program = _is_program(token.content) and token.content not in outputs
            assert not is_program, f"{name_of(page)}:{token.map[0] + 1}: fence it as ```python"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_what_belongs_to_an_item_of_a_list_is_indented_by_four(page: Path) -> None:
    """Less is enough for other readers of Markdown, but not for the one that makes the site."""
    lines, depth = page.read_text(encoding="utf-8").splitlines(), 0
    for token in tokens_of(page):
        depth += token.nesting * (token.type.startswith("list_item"))
        if depth and token.map and token.type in ("paragraph_open", "table_open", "fence", "list_item_open"):
            line = lines[token.map[0]]
            indent = len(line) - len(line.lstrip())
            assert indent % 4 == 0, f"{name_of(page)}:{token.map[0] + 1}"


def _is_program(text: str) -> bool:
    """Whether it is Python that does something: JSON and single expressions are Python, too."""
    try:
        statements = ast.parse(text).body
    except SyntaxError:
        return False
    return any(not isinstance(statement, ast.Expr) for statement in statements)
