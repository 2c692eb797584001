"""The lowest versions that are declared: each package has one, and that of tree-sitter is safe."""

from pathlib import Path

import pytest
from minimums import minimums
from packaging.version import Version

from ctxcompress.code import outline as grammars


def test_every_package_has_one_lowest_version():
    pins = dict(pin.split("==") for pin in minimums())
    assert {"numpy", "tiktoken", "langchain-core", "llama-index-core", "sentence-transformers"} <= set(pins)
    assert not {"pytest", "ruff", "ctxcompress"} & set(pins)
    assert len(set(minimums())) == len(pins)


def test_a_package_without_one_is_refused(tmp_path: Path):
    project = tmp_path / "pyproject.toml"
    project.write_text('[project]\nname = "a"\ndependencies = ["b<2"]\n[project.optional-dependencies]\nall = []\n')
    with pytest.raises(SystemExit, match="b<2: no lowest version"):
        list(minimums(project))


def test_the_lowest_tree_sitter_is_the_first_that_does_not_crash():
    pins = dict(pin.split("==") for pin in minimums())
    assert Version(pins["tree-sitter"]) == Version(".".join(map(str, grammars._SAFE)))
