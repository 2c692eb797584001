"""Runs an agent of each framework for 30 steps with everything on, and prints what its model read.

    python benchmarks/agent_runs.py

The runs are those of tests/langchain/test_langchain_long_run.py and tests/llamaindex/test_llamaindex_long_run.py, which
check at each step what must hold: 500 source files and descriptions of installed packages, a scripted model, and a
restart in the middle. Needs the extra `dev`.
"""

import asyncio
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lib.markdown_blocks import table

_TESTS = Path(__file__).parents[1] / "tests"
sys.path[:0] = [str(_TESTS / folder) for folder in (".", "core", "langchain", "llamaindex")]

import test_langchain_long_run as langchain_run  # noqa: E402 - found only now
import test_llamaindex_long_run as llamaindex_run  # noqa: E402
from long_runs import Seen, count, size  # noqa: E402

_HEADS = ("", "LangChain", "LlamaIndex")


def langchain(folder: Path) -> Sequence[str]:
    """Return the figures of LangChain's agent."""
    start = time.process_time()
    run = langchain_run.in_two_processes(folder)
    seconds = time.process_time() - start
    shown = [message.text for message in langchain_run.results(run)]
    saved = run.state["ctxcompress"]
    original = saved["tokens_saved"] + sum(map(count, map(str, shown)))
    prompts = [[(message.type, langchain_run.as_text(message)) for message in prompt] for prompt in run.prompts]
    return _figures(prompts, original, shown, seconds)


def llamaindex(folder: Path) -> Sequence[str]:
    """Return the figures of LlamaIndex's agent."""
    start = time.process_time()
    run = asyncio.run(llamaindex_run.in_two_processes(folder))
    seconds = time.process_time() - start
    shown = [call.tool_output.content for call in run.results]
    original = sum(count(llamaindex_run.whole_output(call) or call.tool_output.content) for call in run.results)
    prompts = [[(message.role.value, message.content or "") for message in prompt] for prompt in run.prompts]
    return _figures(prompts, original, shown, seconds)


def _figures(prompts: list[Any], original: int, shown: Sequence[Any], seconds: float) -> Sequence[str]:
    seen = Seen(prompts)
    return (
        f"{original:,}",
        f"{sum(map(count, map(str, shown))):,}",
        f"{max(size(prompt) for prompt in prompts):,}",
        f"{seen.known():.0%}",
        str(seen.generations()),
        str(len(seen.handles)),
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
        columns = langchain(Path(one)), llamaindex(Path(other))
    rows = [(name, *figures) for name, *figures in zip(_ROWS, *columns, strict=True)]
    print(table(_HEADS, rows))


if __name__ == "__main__":
    main()
