"""The lowest versions that are declared: each package has one, and that of tree-sitter is safe."""

import importlib.metadata
from pathlib import Path

import pytest
from fresh_modules import fresh
from minimums import minimums

LOWEST = dict(pin.split("==") for pin in minimums())


def test_every_package_has_one_lowest_version() -> None:
    pins = dict(pin.split("==") for pin in minimums())
    assert {"numpy", "tiktoken", "langchain-core", "llama-index-core", "sentence-transformers"} <= set(pins)
    assert not {"pytest", "ruff", "ctxcompress"} & set(pins)
    assert len(set(minimums())) == len(pins)


def test_a_package_without_one_is_refused(tmp_path: Path) -> None:
    project = tmp_path / "pyproject.toml"
    project.write_text('[project]\nname = "a"\ndependencies = ["b<2"]\n[project.optional-dependencies]\nall = []\n')
    with pytest.raises(SystemExit, match="b<2: no lowest version"):
        list(minimums(project))


@pytest.mark.parametrize(
    ("version", "is_used"), [(LOWEST["tree-sitter"], True), ("0.26.0", False), ("0.25.2", False), ("1.0", True)]
)
def test_no_tree_sitter_is_used_that_is_older_than_the_lowest_which_does_not_crash(
    version: str, is_used: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("tree_sitter_python")
    monkeypatch.setattr(importlib.metadata, "version", lambda _: version)
    outline = fresh("ctxcompress.code.tree_sitter_outline").parsed_outline("def f(): pass\n", "python")
    assert (outline is not None) is is_used
