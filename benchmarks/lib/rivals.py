"""Other compressors, which run and are measured in an environment of their own.

    with Rivals(Path("other/bin/python")) as rivals:
        for name, run in rivals.compress(query, texts, tokens, budget).items():
            print(name, run.milliseconds, run.text)

This file is both ends of a pipe: the other interpreter runs it as a script, reads a case from each line and answers
with a line. It needs `pip install llmslim entroly tiktoken`, and nothing of ctxcompress. Each compressor is called as
its documentation says for retrieved documents, and its time is the CPU time of that call in its own process.
"""

import json
import logging
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from types import TracebackType
from typing import Any, NamedTuple, Self

__all__ = ["NAMES", "RivalRun", "Rivals"]

NAMES = ("llmslim", "entroly")
_OF_BUDGET = 0.96
"""The share of the budget that llmslim is asked for, because it takes more than it is asked for."""

Case = Mapping[str, Any]


class RivalRun(NamedTuple):
    """What a compressor made of a case."""

    milliseconds: float
    text: str


class Rivals:
    """The other compressors, in a process that is stopped at the end of `with`."""

    def __init__(self, python: Path) -> None:
        """python: the interpreter of the other environment."""
        self._folder = TemporaryDirectory()
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        self._process = subprocess.Popen(
            [python, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment | {"ENTROLY_DIR": self._folder.name},
            text=True,
        )
        self.versions: Mapping[str, str] = self._answer()

    def compress(self, query: str, texts: Sequence[str], tokens: int, budget: int) -> dict[str, RivalRun]:
        """Return what each compressor makes of a case. tokens: those of all texts."""
        print(json.dumps({"query": query, "texts": texts, "tokens": tokens, "budget": budget}), file=self._stdin)
        self._stdin.flush()
        return {name: RivalRun(*run) for name, run in self._answer().items()}

    @property
    def _stdin(self) -> Any:
        return self._process.stdin

    def _answer(self) -> Any:
        line = self._process.stdout.readline() if self._process.stdout else ""
        if not line:
            raise RuntimeError(f"{self._process.args!r} ended without an answer; its error is above")
        return json.loads(line)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stdin.close()
        self._process.wait()
        self._folder.cleanup()


def _llmslim() -> Callable[[Case], str]:
    from llmslim import compress_documents  # type: ignore[import-not-found]

    def run(case: Case) -> str:
        ratio = min(1.0, _OF_BUDGET * case["budget"] / case["tokens"])
        found = compress_documents(case["texts"], query=case["query"], target_ratio=ratio)
        return "\n\n".join(kept.compressed_text for kept in found if kept.compressed_text)

    return run


def _entroly() -> Callable[[Case], str]:
    from entroly import optimize  # type: ignore[import-not-found]

    def run(case: Case) -> str:
        fragments = [{"content": text, "source": str(number)} for number, text in enumerate(case["texts"])]
        return str(optimize(fragments, budget=case["budget"], query=case["query"])["context_text"])

    return run


def main() -> None:
    """Answer with the versions, and then each case."""
    answers, sys.stdout = sys.stdout, sys.stderr  # whatever the compressors print is not an answer
    logging.disable(logging.INFO)
    print(json.dumps({name: version(name) for name in NAMES}), file=answers, flush=True)
    ways = dict(zip(NAMES, (_llmslim(), _entroly()), strict=True))
    for line in sys.stdin:
        case = json.loads(line)
        print(json.dumps({name: _measured(way, case) for name, way in ways.items()}), file=answers, flush=True)


def _measured(way: Callable[[Case], str], case: Case) -> tuple[float, str]:
    start = process_time()
    text = way(case)
    return 1e3 * (process_time() - start), text


if __name__ == "__main__":
    main()
