"""Prints a constraint for pip on each package that ctxcompress and its extras need: the lowest version declared.

    python tests/minimums.py > constraints.txt
    pip install --constraint constraints.txt --editable '.[test]'

What the tests themselves need is not constrained. pip refuses where the lowest versions contradict each other.
"""

import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

from packaging.requirements import Requirement

_PROJECT = Path(__file__).parents[1] / "pyproject.toml"


def minimums(project: Path = _PROJECT) -> Iterator[str]:
    """A constraint for each package that is needed to run, with all extras."""
    declared = tomllib.loads(project.read_text(encoding="utf-8"))["project"]
    extras = declared["optional-dependencies"]
    for requirement in flat([*declared["dependencies"], *extras["all"]], declared["name"], extras):
        yield f"{requirement.name}=={_lowest(requirement)}"


def flat(written: Iterable[str], name: str, extras: dict[str, list[str]]) -> Iterator[Requirement]:
    """The requirements, with those of the extras that they name."""
    for requirement in map(Requirement, written):
        if requirement.name == name:
            for extra in sorted(requirement.extras):
                yield from flat(extras[extra], name, extras)
        else:
            yield requirement


def _lowest(requirement: Requirement) -> str:
    lowest = [limit.version for limit in requirement.specifier if limit.operator == ">="]
    if len(lowest) != 1:
        raise SystemExit(f"{requirement}: no lowest version; declare one with >=")
    return lowest[0]


if __name__ == "__main__":
    print("\n".join(dict.fromkeys(minimums())))
