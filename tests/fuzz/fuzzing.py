"""Run one harness with inputs that coverage chooses: `python tests/fuzz/fuzzing.py TARGET [options of libFuzzer]`.

A harness is a module `fuzz_TARGET` with a function `check(data)`, which raises if something is wrong, and the mutator
that knows the structure of its inputs. Inputs to begin with are in `corpus/TARGET`.
"""

import importlib
import json
import random
import re
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
CORPUS = HERE / "corpus"
HEAD = 3
"""Bytes before the text of an input, which choose the query, the budget and something else."""
Mutator = Callable[[bytes, int, int], bytes]
_UNIT = re.compile(rb"\w+|\s+|[^\w\s]")
_STYLES: Sequence[dict[str, Any]] = ({}, {"indent": 2}, {"separators": (",", ":")}, {"ensure_ascii": False})
_LEAVES = (
    None,
    True,
    False,
    0,
    -1,
    10**30,
    0.5,
    1e308,
    "",
    " ",
    "a",
    "\ud800",
    "The timeout is 30 s. " * 20,
    "\n",
    "1",
)


class Given(NamedTuple):
    """What an input says."""

    text: str
    query: str
    budget: int
    choice: int
    """For what a harness chooses itself."""


def read(data: bytes) -> Given:
    """Return what an input says. Bytes that are no UTF-8 become lone surrogates."""
    word, budget, choice = data[:HEAD].ljust(HEAD, b"\0")
    text = data[HEAD:].decode("utf-8", "surrogateescape")
    words = ["", "timeout", *re.findall(r"\w+", text[:2_000])]
    return Given(text, words[word % len(words)], 1 + budget, choice)


def json_of(data: bytes) -> Any:
    """Return the JSON value that an input has after its head; None if it is none."""
    try:
        return json.loads(data[HEAD:])
    except (ValueError, RecursionError):
        return None


def spliced(*pieces: str) -> Mutator:
    """Return a mutator that moves lines and words of a text, and puts in pieces that mean something in its form."""

    def mutate(data: bytes, size: int, seed: int) -> bytes:
        chance = random.Random(seed)
        if chance.random() < 0.3:
            return _atheris().Mutate(data, size)
        text = data[HEAD:]
        units = text.splitlines(keepends=True) if chance.random() < 0.5 else _UNIT.findall(text)
        for _ in range(chance.randint(1, 4)):
            _change(units, [piece.encode("utf-8", "surrogatepass") for piece in pieces], chance)
        return _head(data, chance) + b"".join(units)[: size - HEAD]

    return mutate


def _change(units: list[bytes], pieces: list[bytes], chance: random.Random) -> None:
    place = chance.randrange(len(units) + 1)
    end = min(place + chance.randint(1, 5), len(units))
    match chance.randrange(5):
        case 0:
            del units[place:end]
        case 1:
            units[place:place] = units[place:end] * chance.choice((1, 2, 30))
        case 2:
            other = chance.randrange(len(units) + 1)
            units[other:other] = units[place:end]
        case _:
            units.insert(place, chance.choice(pieces) * chance.choice((1, 1, 1, 2, 20)))


def json_changed(*words: str) -> Mutator:
    """Return a mutator of JSON, with keys and strings that mean something to the harness."""

    def mutate(data: bytes, size: int, seed: int) -> bytes:
        chance = random.Random(seed)
        value = json_of(data)
        if value is None or chance.random() < 0.1:
            return _atheris().Mutate(data, size)
        for _ in range(chance.randint(1, 3)):
            value = _grown(value, words, chance)
        written = json.dumps(value, **chance.choice(_STYLES)).encode("utf-8", "surrogatepass")
        return _head(data, chance) + written if len(written) + HEAD <= size else data

    return mutate


def _grown(value: Any, words: Sequence[str], chance: random.Random) -> Any:
    """Return a value in which one part is another one."""
    if not value or not isinstance(value, dict | list) or chance.random() < 0.15:
        return _new(value, words, chance)
    key = chance.choice(list(value) if isinstance(value, dict) else range(len(value)))
    changed: Any = dict(value) if isinstance(value, dict) else list(value)
    if chance.random() < 0.6:
        changed[key] = _grown(value[key], words, chance)
    elif chance.random() < 0.3:
        del changed[key]
    elif isinstance(changed, dict):
        changed[chance.choice(words)] = changed[key]
    else:
        changed.insert(chance.randrange(len(changed) + 1), value[key])
    return changed


def _new(value: Any, words: Sequence[str], chance: random.Random) -> Any:
    word = chance.choice(words)
    return chance.choice([*_LEAVES, word, [value], {word: value}, [value] * chance.choice((2, 12)), [], {}])


def _head(data: bytes, chance: random.Random) -> bytes:
    return bytes(chance.randrange(256) if chance.random() < 0.2 else byte for byte in data[:HEAD].ljust(HEAD, b"\0"))


def _atheris() -> Any:
    import atheris  # only where there is fuzzing

    return atheris


def main(target: str, *options: str) -> None:
    """Fuzz one target until libFuzzer ends or something is found."""
    atheris = _atheris()
    warnings.simplefilter("ignore")
    with atheris.instrument_imports(include=["ctxcompress"]):
        harness = importlib.import_module(f"fuzz_{target}")
    arguments = [sys.argv[0], "-print_final_stats=1", "-timeout=20", "-max_len=4096", *options, str(CORPUS / target)]
    atheris.Setup(arguments, harness.check, custom_mutator=harness.mutate)
    atheris.Fuzz()


if __name__ == "__main__":
    main(*sys.argv[1:])
