"""The lowest versions that are declared: each package has one."""

from pathlib import Path

import pytest
from minimums import minimums


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
