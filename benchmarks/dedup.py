"""Measures the CPU time of removing duplicates, relative to building the sets of word 3-grams.

    python benchmarks/dedup.py [passages ...]
    python benchmarks/dedup.py meaning [passages ...]

The first form cuts texts of this machine into passages of 200 words. In "half copies" every second passage is the one
before it with four other words; in "templates" all passages share their first half. Each round measures both tasks
one after the other, and the medians of the rounds are printed.

The second form measures duplicates in meaning: the cosine of vectors of 256 and of 384 dimensions, with a threshold
of .85, for different texts of 40 words. "random" vectors have any direction. In "clusters" fifty vectors share most
of their direction, and all share a mean. In "half copies" every second vector is close to the one before, and its
text has another word. In "numbers" all vectors are the same, for texts that differ in a number. "real" are word
vectors of sentences in installed packages (extra `static`), turned into 384 dimensions too. OPENBLAS_NUM_THREADS=1
avoids the time in which threads wait for each other.
"""

import random
import re
import sys
import sysconfig
from collections.abc import Callable, Sequence
from itertools import cycle, islice
from pathlib import Path
from statistics import median
from time import process_time

import numpy as np
from numpy.typing import NDArray

from ctxcompress.encoders.vectors import unit
from ctxcompress.reduce.duplicates import Particulars, exact_duplicates, near_duplicates, same_meaning

SIZES = (50, 500, 5_000)
MEANING_SIZES = (2_500, 5_000, 10_000, 20_000)
DIMENSIONS = (256, 384)
_WORDS = 200
_WORD = re.compile(r"\w+")
_ROUNDS = 5
_THRESHOLD = 0.7


def natural(count: int) -> list[str]:
    """Passages of documentation and source; what comes again comes with its words in another order."""
    folder = Path(sysconfig.get_path("purelib"))
    files = sorted(folder.glob("*.dist-info/METADATA")) + sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
    words = [word for file in files for word in file.read_text(errors="replace").split()]
    texts = [words[start : start + _WORDS] for start in range(0, len(words) - _WORDS, _WORDS)][:count]
    rng = random.Random(1)
    again = (rng.sample(text, _WORDS) for text in cycle(texts[:]))
    return [" ".join(text) for text in (*texts, *islice(again, count - len(texts)))]


def half_copies(count: int) -> list[str]:
    """Every second passage is the one before it with four other words."""
    rng = random.Random(2)
    texts = natural((count + 1) // 2)
    return [passage for text in texts for passage in (text, _edited(text, rng))][:count]


def templates(count: int) -> list[str]:
    """All passages begin with the same hundred words."""
    same, *texts = (text.split() for text in natural(count + 1))
    return [" ".join(same[: _WORDS // 2] + text[: _WORDS // 2]) for text in texts]


def _edited(text: str, rng: random.Random) -> str:
    words = text.split()
    for place in rng.sample(range(len(words)), 4):
        words[place] = "another"
    return " ".join(words)


def sets_alone(texts: Sequence[str]) -> int:
    """The least that comparing words by 3-grams needs, as plainly as Python can."""
    lists = (_WORD.findall(text.lower()) for text in texts)
    return sum(len(set(zip(words, words[1:], words[2:], strict=False))) for words in lists)


def deduplicated(texts: Sequence[str]) -> int:
    """How many passages are left without copies and near copies."""
    leaders = exact_duplicates(texts)
    left = [text for number, text in enumerate(texts) if number not in leaders]
    return len(left) - len(near_duplicates(left, _THRESHOLD, Particulars(left)))


def _milliseconds(work: Callable[[Sequence[str]], int], texts: Sequence[str]) -> tuple[float, int]:
    start = process_time()
    found = work(texts)
    return 1e3 * (process_time() - start), found


Floats = NDArray[np.float64]
Vectors = Callable[[int, int], Floats]


def random_vectors(count: int, dimensions: int) -> Floats:
    return np.random.default_rng(1).standard_normal((count, dimensions))


def clusters(count: int, dimensions: int) -> Floats:
    rng = np.random.default_rng(2)
    middles = rng.standard_normal((50, dimensions)) + 1.0
    return middles[rng.integers(0, 50, count)] + 0.9 * rng.standard_normal((count, dimensions))


def half_copies_in_meaning(count: int, dimensions: int) -> Floats:
    made = random_vectors(count, dimensions)
    made[1::2] = made[: count - 1 : 2] + 0.3 * made[1::2]
    return made


def numbers(count: int, dimensions: int) -> Floats:
    return np.ones((count, dimensions))


def real(count: int, dimensions: int) -> Floats:
    """The vectors of `sentences`."""
    import wordllama  # of the extra `static`

    model = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
    found = unit(np.asarray(model.embed(sentences(count)), dtype=float))
    return found @ np.linalg.qr(random_vectors(dimensions, found.shape[1]))[0].T if dimensions > 256 else found


def sentences(count: int) -> list[str]:
    """Different ones, of the documentation and source of this machine."""
    found: dict[str, None] = {}
    for file in sorted(Path(sysconfig.get_path("purelib")).rglob("*.py")):
        parts = re.split(r"(?<=[.!?])\s|\n\n+", file.read_text(errors="replace"))
        found.update(dict.fromkeys(part for part in parts if 60 < len(part) < 600))
        if len(found) >= 4 * count:
            break
    return random.Random(3).sample(list(found), count)


def texts_of(kind: Vectors, count: int) -> list[str]:
    """The texts that have these vectors."""
    if kind is real:
        return sentences(count)
    if kind is numbers:
        return [f"The house of number {n} stands beside the river and has a roof." for n in range(count)]
    words = [word for word in natural(200)[0].split() if word.isalpha()]
    rng = random.Random(4)
    texts = [" ".join(rng.choices(words, k=40)) for _ in range(count)]
    return (
        [f"{texts[n - n % 2]} {'surely' * (n % 2)}" for n in range(count)] if kind is half_copies_in_meaning else texts
    )


def meaning(sizes: Sequence[int]) -> None:
    print(f"{'passages':>8} {'kind':<12} {'dimensions':>10} {'left':>6} {'CPU s':>6} {'growth':>6}")
    for kind in (random_vectors, clusters, half_copies_in_meaning, numbers, real):
        for dimensions in DIMENSIONS:
            before = None
            for size in sizes:
                texts, vectors = texts_of(kind, size), unit(kind(size, dimensions))
                rounds = []
                for _ in range(_ROUNDS):
                    start = process_time()
                    left = size - len(same_meaning(vectors, 0.85, Particulars(texts)))
                    rounds.append(process_time() - start)
                taken = median(rounds)
                name, growth = kind.__name__.split("_")[0], f"{taken / before:.1f}" if before else ""
                print(f"{size:>8,} {name:<12} {dimensions:>10} {left:>6,} {taken:>6.2f} {growth:>6}", flush=True)
                before = taken


def main(sizes: Sequence[int]) -> None:
    print(f"{'passages':>8} {'kind':<12} {'left':>6} {'sets ms':>9} {'dedup ms':>9} {'ratio':>6}")
    for kind in (natural, half_copies, templates):
        for size in sizes:
            texts = kind(size)
            rounds = [(_milliseconds(sets_alone, texts), _milliseconds(deduplicated, texts)) for _ in range(_ROUNDS)]
            alone, whole = median(a for (a, _), _ in rounds), median(b for _, (b, _) in rounds)
            ratio = median(b / a for (a, _), (b, _) in rounds)
            left = rounds[0][1][1]
            name = kind.__name__.replace("_", " ")
            print(f"{size:>8,} {name:<12} {left:>6,} {alone:>9.2f} {whole:>9.2f} {ratio:>6.2f}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["meaning"]:
        meaning([int(size) for size in sys.argv[2:]] or MEANING_SIZES)
    else:
        main([int(size) for size in sys.argv[1:]] or SIZES)
