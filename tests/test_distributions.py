"""The three distributions: their versions move together, and each names what it brings."""

import json
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

from ctxcompress import __version__

ROOT = Path(__file__).parents[1]
THIN = {"langchain-ctxcompress": "langchain", "llama-index-postprocessor-ctxcompress": "llamaindex"}


def project(folder: Path) -> dict:
    return tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("name", "extra"), THIN.items())
def test_a_thin_distribution_brings_this_version_and_its_framework(name: str, extra: str) -> None:
    given, whole = project(ROOT / "packages" / name)["project"], project(ROOT)["project"]
    assert given["name"] == name
    assert given["version"] == whole["version"] == __version__
    assert f"ctxcompress[{extra}]=={__version__}" in given["dependencies"]
    assert given["requires-python"] == whole["requires-python"]
    assert (ROOT / "packages" / name / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


def test_the_registry_of_mcp_servers_is_told_this_version() -> None:
    server = json.loads((ROOT / "server.json").read_text(encoding="utf-8"))
    [package] = server["packages"]
    assert server["version"] == package["version"] == __version__
    assert len(server["description"]) <= 100  # the registry's limit


def test_llamahub_is_told_the_path_of_the_class(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = ROOT / "packages" / "llama-index-postprocessor-ctxcompress"
    hub = project(folder)["tool"]["llamahub"]
    import llama_index

    monkeypatch.setattr(llama_index, "__path__", [*llama_index.__path__, str(folder / "llama_index")])
    module = import_module(hub["import_path"])
    assert [*hub["class_authors"]] == module.__all__ == ["CtxCompressPostprocessor"]
    import llamaindex_ctxcompress

    assert module.CtxCompressPostprocessor is llamaindex_ctxcompress.CtxCompressPostprocessor
