"""The lock pins what pyproject.toml asks for, by hashes; torch and addresses of package indexes stay out of it."""

import re
import tomllib
from pathlib import Path

import pytest
from minimums import flat
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
LOCK = ROOT / "requirements-dev.txt"
PIN = re.compile(r"^([\w.-]+)==([^\s;\\]+)(.*?\\\n(?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", re.MULTILINE)

pytestmark = pytest.mark.skipif(not LOCK.is_file(), reason="there is no lock here")


@pytest.fixture(scope="module")
def pinned() -> dict[str, list[str]]:
    """The versions of each package. There are two where Python 3.11 needs an older one."""
    found: dict[str, list[str]] = {}
    for name, version, _ in PIN.findall(LOCK.read_text(encoding="utf-8")):
        found.setdefault(name, []).append(version)
    return found


def test_every_release_has_its_hashes_and_nothing_else_is_in_the_file(pinned: dict[str, list[str]]) -> None:
    text = LOCK.read_text(encoding="utf-8")
    assert not [line for line in PIN.sub("", text).splitlines() if not line.lstrip().startswith("#")]
    assert "://" not in text
    assert not [name for name in pinned if name == "torch" or name.startswith("nvidia")]


def test_what_the_project_asks_for_is_pinned(pinned: dict[str, list[str]]) -> None:
    """After a change of pyproject.toml: make lock."""
    whole = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    project, extras = whole["project"], whole["project"]["optional-dependencies"]
    asked = [*whole["build-system"]["requires"], *project["dependencies"], *extras["dev"], *extras["docs"]]
    for requirement in flat(asked, project["name"], extras):
        versions = pinned.get(canonicalize_name(requirement.name), [])
        assert any(map(requirement.specifier.contains, versions)), requirement
