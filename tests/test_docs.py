"""The pages describe the repository as it is: the tests that they name exist, and the picture shows the imports."""

import ast
import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")
RULES = 9
FRAMEWORKS = ("langchain", "llamaindex")

pytestmark = pytest.mark.skipif(not (DOCS / "guarantees.md").is_file(), reason="there are no docs here")


def _load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_each_rule_names_tests_and_all_of_them_exist() -> None:
    page = (DOCS / "guarantees.md").read_text(encoding="utf-8")
    rules = re.split(r"^## (?=\d)", page, flags=re.MULTILINE)[1:]
    assert [rule.split(".")[0] for rule in rules] == [str(number) for number in range(1, RULES + 1)]
    for rule in rules:
        named = TEST.findall(rule)
        assert named, rule
        assert not [f"{file}::{name}" for file, name in named if name not in _functions(ROOT / file)]


def test_each_line_about_who_controls_what_names_a_test_that_exists() -> None:
    controls = (DOCS / "trust.md").read_text(encoding="utf-8").partition("## Where")[0]
    lines = [line for line in controls.splitlines() if line.startswith("|")][2:]
    assert len(lines) > 20
    for line in lines:
        [(file, name)] = TEST.findall(line)
        assert name in _functions(ROOT / file), line


def test_each_cell_of_the_features_names_a_test_that_exists() -> None:
    features = _table(DOCS / "features.md", "feature")
    assert [features.pop("feature"), features.pop("---|---|---")] == [["LangChain", "LlamaIndex"], []]
    assert len(features) > 15
    for feature, cells in features.items():
        assert len(cells) == len(FRAMEWORKS), feature
        for folder, cell in zip(FRAMEWORKS, cells, strict=True):
            assert cell == "-" or TEST.search(cell), f"{feature} names no test of {folder}"
            for file, name in TEST.findall(cell):
                assert file.startswith(("tests/adapters/", f"tests/{folder}/")), f"{feature}: {file}"
                assert name in _functions(ROOT / file), f"{feature}: there is no {file}::{name}"


def test_each_line_of_the_contract_for_production_names_tests_that_exist() -> None:
    page, _, _ = (DOCS / "how-to" / "production.md").read_text(encoding="utf-8").partition("## Not promised")
    lines = re.split(r"^(?:- |\*\*(?!Failures))", page, flags=re.MULTILINE)[1:]
    assert len(lines) > 7
    for line in lines:
        named = TEST.findall(line)
        assert named, line
        assert not [f"{file}::{name}" for file, name in named if name not in _functions(ROOT / file)]


def _functions(file: Path) -> set[str]:
    if not file.is_file():
        return set()
    functions = ast.FunctionDef | ast.AsyncFunctionDef
    return {node.name for node in ast.parse(file.read_text(encoding="utf-8")).body if isinstance(node, functions)}


@pytest.mark.parametrize("name", ["draw_imports", "draw_before_after"])
def test_a_picture_is_what_the_code_says(name: str) -> None:
    pytest.importorskip("grimp")
    drawing = _load(name)
    assert drawing.PICTURE.read_text(encoding="utf-8") == drawing.picture(), f"make it anew: python docs/{name}.py"


@pytest.mark.parametrize("package", ["ctxcompress", "langchain_ctxcompress", "llamaindex_ctxcompress"])
def test_every_exported_name_is_in_the_reference(package: str) -> None:
    """In a module that counts it among its own; which names of a module are shown, its `__all__` or the page says."""
    exported = importlib.import_module(package)
    pages = "\n".join(page.read_text(encoding="utf-8") for page in (DOCS / "reference").glob("*.md"))
    modules = set(re.findall(r"^::: ([\w.]++)$", pages, re.MULTILINE)) - {package}
    shown = {name for module in modules for name in importlib.import_module(module).__all__}
    missing = set(exported.__all__) - shown
    assert not missing


def test_the_figures_of_the_decision_for_learned_weights_are_those_of_left_out_kinds() -> None:
    measured = _table(DOCS / "evidence.md", "set")
    decided = _table(DOCS / "decisions" / "learned-weights.md", "")
    named = {"mean": "all sets, mean"} | {
        name.rpartition("(")[2].rstrip(")"): name for name in decided if name.endswith(")")
    }
    assert len(named) > 4
    for row, name in named.items():
        assert decided[name] == measured[row], row


def _table(page: Path, corner: str) -> dict[str, list[str]]:
    """The rows of the table whose first cell is `corner`, by their first cells."""
    lines = page.read_text(encoding="utf-8").splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith(f"| {corner} |".replace("|  |", "| |")))
    rows = [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in lines[start:]]
    end = next(number for number, line in enumerate(lines[start:]) if not line.startswith("|"))
    heads = [cell.strip() for cell in lines[start].strip("|").split("|")]
    return {corner: heads[1:], **{row[0]: row[1:] for row in rows[1:end]}}


EXAMPLES = ("haystack", "declarations_csharp")
"""Parts of names of files that a how-to page makes."""


def test_files_that_pages_name_exist() -> None:
    named = re.compile(r"`((?:[\w-]+/)+[\w-]+\.(?:py|ipynb))`")
    rooms = (ROOT, ROOT / "core" / "ctxcompress", DOCS)
    pages = [*DOCS.rglob("*.md"), *ROOT.glob("*.md"), *(ROOT / "benchmarks").glob("*.md")]
    names = {(page, name) for page in pages for name in named.findall(page.read_text(encoding="utf-8"))}
    assert len(names) > 20
    for page, name in names:
        is_example = any(example in name for example in EXAMPLES)
        found = any((room / name).is_file() for room in (page.parent, *rooms))
        assert found or is_example, f"{page.name} names {name}"


def test_links_between_pages_and_from_the_readme_lead_somewhere() -> None:
    """A strict build checks those of the pages; this one needs no build, and checks the README's, too."""
    for page in [ROOT / "README.md", ROOT / "SECURITY.md", DOCS / "llms.txt", *DOCS.rglob("*.md")]:
        for address in re.findall(r"\]\(([^)#\s]++)(?:#[^)]*+)?\)", page.read_text(encoding="utf-8")):
            assert "://" in address or (page.parent / address).exists(), f"{page.name}: {address}"
