"""Runs a framework's own tests for agents without and with this package in every agent, and compares them.

    python benchmarks/framework_tests.py FOLDER [options of pytest]

FOLDER has the tests, such as tests/unit_tests/agents of the source distribution of langchain. They run three times: as
they are, with middleware that does nothing, and with CtxCompressMiddleware. What fails with any middleware says nothing
about ours: a graph with middleware for tools has one more node, for example. For tests of LlamaIndex the agents are
those of this package, with compressed tools. Prints the number of tests that pass, and those that only we break.
"""

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

_HERE = Path(__file__).parent
_RESULT = re.compile(r"^(PASSED|FAILED|ERROR) (\S+)", re.MULTILINE)
_PLUGINS = {"as they are": None, "with nothing": "lib.injected_nothing", "with ctxcompress": "lib.injected"}


def results(folder: Path, plugin: str | None, options: list[str]) -> dict[str, str]:
    """Return the name of each test -> what became of it."""
    # The tests import their helpers from the folder above "tests".
    root = next((parent.parent for parent in (folder, *folder.parents) if parent.name == "tests"), folder)
    command = [sys.executable, "-m", "pytest", "-rA", "-q", "-p", "no:cacheprovider", "-p", "no:warnings", *options]
    command += [*(["-p", plugin] if plugin else []), str(folder.relative_to(root))]
    paths = os.pathsep.join(filter(None, (str(_HERE), str(_HERE.parent), os.environ.get("PYTHONPATH", ""))))
    ran = subprocess.run(
        command, cwd=root, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True, check=False
    )
    found = {name: what for what, name in _RESULT.findall(ran.stdout)}
    if not found:
        raise SystemExit(f"no test ran in {folder}:\n{ran.stdout[-2_000:]}{ran.stderr[-2_000:]}")
    return found


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    given, options = parser.parse_known_args()
    runs = {name: results(given.folder.resolve(), plugin, options) for name, plugin in _PLUGINS.items()}
    for name, found in runs.items():
        passed = sum(what == "PASSED" for what in found.values())
        print(f"{name}: {passed:,} of {len(found):,} pass", flush=True)
    plain, nothing, ours = runs.values()
    broken = [
        test
        for test, what in ours.items()
        if what != "PASSED" and plain.get(test) == "PASSED" and nothing.get(test) == "PASSED"
    ]
    print("\n".join(["broken by ctxcompress:", *sorted(broken)]) if broken else "ctxcompress breaks none")
    sys.exit(bool(broken))


if __name__ == "__main__":
    main()
