"""Runs an agent of each framework for 30 steps with everything on, and prints what its model read.

    python benchmarks/agent_runs.py

The runs are those of tests/adapters/test_adapters_long_run.py, which checks what must hold: 500 source files and
descriptions of installed packages, a scripted model, and a restart in the middle. Needs the extra `dev`.
"""

import sys
import tempfile
import time
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from lib.markdown_blocks import table

_TESTS = Path(__file__).parents[1] / "tests"
sys.path[:0] = [str(_TESTS / folder) for folder in (".", "core", "adapters")]

from long_runs import Result, count, generations, handles, known, size  # noqa: E402 - found only now

_HEADS = ("", "LangChain", "LlamaIndex")


def figures(framework: str, folder: Path) -> Sequence[str]:
    """Return the figures of an agent of "langchain" or "llamaindex"."""
    start = time.process_time()
    run = import_module(f"{framework}_run").run_in(folder)
    seconds = time.process_time() - start

    def whole(result: Result) -> str:
        found = handles(result.text) if result.name != "expand" else []
        return run.expand(found[0], max_tokens=1_000_000) if found else result.text

    return (
        f"{sum(count(whole(result)) for result in run.results):,}",
        f"{sum(count(result.text) for result in run.results):,}",
        f"{max(map(size, run.prompts)):,}",
        f"{known(run.prompts):.0%}",
        str(generations(run.prompts)),
        str(len({handle for prompt in run.prompts for _, text in prompt for handle in handles(text)})),
        f"{seconds:.1f}",
    )


_ROWS = (
    "tokens that the tools return",
    "tokens that the model is shown of them",
    "tokens of the largest prompt",
    "of all tokens read, known from the prompt before",
    "prompts that begin differently from the one before",
    "handles, all of which give back the whole text",
    "seconds of CPU",
)


def main() -> None:
    """Run the command."""
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        columns = figures("langchain", Path(one)), figures("llamaindex", Path(other))
    rows = [(name, *figures) for name, *figures in zip(_ROWS, *columns, strict=True)]
    print(table(_HEADS, rows))


if __name__ == "__main__":
    main()
