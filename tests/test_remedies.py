"""The remedies that messages and pages name work as they are printed."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("core", "langchain_ctxcompress", "llamaindex_ctxcompress")
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
MESSAGES = {
    named: path.relative_to(ROOT)
    for folder in PACKAGES
    for path in sorted((ROOT / folder).rglob("*.py"))
    for named in re.findall(r"pip install '?(ctxcompress\[[\w,]+\])", path.read_text(encoding="utf-8"))
}
PAGES = [path for name in ("README.md", "docs/**/*.md", "notebooks/*.ipynb") for path in ROOT.glob(name)]


@pytest.mark.parametrize("named", sorted(MESSAGES))
def test_a_message_names_extras_that_exist(named: str) -> None:
    assert set(re.findall(r"\w+", named)[1:]) <= set(EXTRAS), MESSAGES[named]


def test_where_it_is_installed_an_extra_is_added_without_an_index() -> None:
    """pip and uv take the extras of what is installed, so that the remedy of a message needs no index that has it."""
    command = [sys.executable, "-m", "pip", "install", "--no-index", "--dry-run", "ctxcompress[cli,otel]"]
    done = subprocess.run(command, capture_output=True, text=True, cwd="/")
    if "No module named pip" in done.stderr:
        pytest.skip("pip is not installed")
    assert done.returncode == 0, done.stderr
    assert "(from ctxcompress[cli,otel])" in done.stdout


@pytest.mark.parametrize(
    ("package", "name", "missing", "extra"),
    [
        ("langchain_ctxcompress", "CtxCompressor", "langchain_core", "langchain"),
        ("langchain_ctxcompress", "CtxCompressMiddleware", "langchain", "agents"),
        ("llamaindex_ctxcompress", "CtxCompressPostprocessor", "llama_index", "llamaindex"),
    ],
)
def test_an_adapter_without_its_framework_names_the_extra(package: str, name: str, missing: str, extra: str) -> None:
    program = f"import sys; sys.modules[{missing!r}] = None; from {package} import {name}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT)
    assert f"MissingExtra: {name} needs {missing}; run: pip install 'ctxcompress[{extra}]'" in done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_a_page_installs_from_a_checkout(page: Path) -> None:
    """What is not installed yet comes from no index."""
    text = page.read_text(encoding="utf-8")
    for line in text.splitlines():
        assert not re.search(r"pip install.*ctxcompress\[", line) or "print(" in line, line
    for named in re.findall(r"pip install \\?\"?\.\[([\w,]+)\]", text):
        assert set(named.split(",")) <= set(EXTRAS), named
