"""Environments of other compressors, and processes in them that compress cases.

    for way in ways_of("llmslim"):
        with Running(way, interpreter(way, Path("environments"))) as running:
            print(running.compress("who?", ["a text"], budget=100).text)

Making an environment needs a network; compressing does not.
"""

import json
import os
import re
import runpy
import subprocess
import sys
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import IO, NamedTuple, Self, cast

__all__ = ["ADAPTERS", "WITH_MODEL", "Answer", "Running", "Way", "interpreter", "ways_of"]

_FOLDER = Path(__file__).parent
ADAPTERS = ("ctxcompress", "llmslim", "trimwise", "entroly", "hypertok", "barber", "contextpress", "rank_bm25")
"""The names of the adapters, in the order of the tables."""
WITH_MODEL = ("quasar", "tokenpack")
"""Those that need a sentence encoder, whose folder is in the environment variable RIVAL_MODEL, and torch."""
_FORBIDDEN = "torch==0\n"
"""A constraint that no version fulfils: pip fails, and does not download gigabytes that no adapter asks for."""

_CARRIER = find_spec("llama_index.core")
_CARRIED = {"TIKTOKEN_CACHE_DIR": "tiktoken_cache", "NLTK_DATA": "nltk_cache"}
"""LlamaIndex carries the vocabularies of tiktoken and the data of NLTK: nothing is downloaded while it is measured."""
_DATA = (
    {name: str(Path(_CARRIER.origin).parent / "_static" / folder) for name, folder in _CARRIED.items()}
    if _CARRIER and _CARRIER.origin
    else {}
)


class Way(NamedTuple):
    """A way to compress."""

    name: str
    adapter: Path
    requirements: Sequence[str]

    @property
    def version(self) -> str:
        """The version of the compressor; nothing if the interpreter of this command has it."""
        return self.requirements[0].partition("==")[2] if self.requirements else ""


class Answer(NamedTuple):
    """What a compressor made of a case."""

    text: str = ""
    milliseconds: float = 0.0
    """CPU time in its own process."""
    unchanged: bool = True
    """Whether it left the case as it was."""
    error: str = ""
    """What it raised; then there is no text."""


def ways_of(*adapters: str | Path) -> tuple[Way, ...]:
    """Return the ways of adapters, which are names of this folder or files."""
    files = [adapter if isinstance(adapter, Path) else _FOLDER / f"{adapter}.py" for adapter in adapters]
    found = [(file, runpy.run_path(str(file))) for file in files]
    return tuple(Way(name, file, names["REQUIREMENTS"]) for file, names in found for name in names["WAYS"])


def interpreter(way: Way, folder: Path) -> Path:
    """Return the interpreter that runs a way. Makes its environment in the folder, unless it is there already."""
    if not way.requirements:
        return Path(sys.executable)
    environment = folder.absolute() / way.adapter.stem
    python, made = environment / "bin" / "python", environment / "made.txt"
    wanted = "\n".join(way.requirements)
    if not made.is_file() or made.read_text(encoding="utf-8") != wanted:
        subprocess.run([sys.executable, "-m", "venv", "--clear", environment], check=True)
        constraint = environment / "forbidden.txt"
        is_asked_for = any(of.startswith("torch") for of in way.requirements)
        constraint.write_text("" if is_asked_for else _FORBIDDEN, encoding="utf-8")
        subprocess.run([python, "-m", "pip", "install", "-q", "-c", constraint, *way.requirements], check=True)
        made.write_text(wanted, encoding="utf-8")
    return python


class Running:
    """A way to compress, in a process that is stopped at the end of `with`. It has a folder of its own to write to."""

    def __init__(self, way: Way, python: Path) -> None:
        self._folder = TemporaryDirectory()
        self._process = subprocess.Popen(
            [python, "-I", _FOLDER / "serve.py", way.adapter.absolute(), way.name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=self._folder.name,
            env=_DATA | os.environ | {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "RIVAL_FOLDER": self._folder.name},
            text=True,
        )
        self._questions, self._answers = cast(IO[str], self._process.stdin), cast(IO[str], self._process.stdout)

    def compress(self, query: str, texts: Iterable[str], budget: int, titles: Iterable[str] | None = None) -> Answer:
        """Return what the compressor makes of a case. Raises RuntimeError if its process ends."""
        given = list(texts)
        case = {"query": query, "texts": given, "titles": list(titles or [""] * len(given)), "budget": budget}
        try:
            print(json.dumps(case), file=self._questions, flush=True)
            return Answer(**json.loads(self._answers.readline()))
        except (BrokenPipeError, json.JSONDecodeError) as error:
            raise RuntimeError(f"{self._process.args!r} ended without an answer; its error is above") from error

    def megabytes(self) -> float | None:
        """Return the peak of the process's memory so far, None where the system does not tell."""
        status = Path(f"/proc/{self._process.pid}/status")
        found = re.search(r"VmHWM:\s+(\d+) kB", status.read_text()) if status.is_file() else None
        return int(found[1]) / 1024 if found else None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._process.communicate()
        self._folder.cleanup()
