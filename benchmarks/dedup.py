"""CPU time of leaving out copies, beside the time of making the sets of word 3-grams alone.

    python benchmarks/dedup.py [passages ...]

Real texts of this machine as passages of 200 words. Of "half copies" every second one is another with four words
changed, of "templates" all share their first half. Each round measures both one after the other; medians of the rounds.
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

from ctxcompress.reduce.dedup import copies, near_copies, preference

SIZES = (50, 500, 5_000)
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
    order = preference(texts, [0.0] * len(texts), [str(number) for number in range(len(texts))])
    leaders = copies(texts, order)
    left = [texts[number] for number in order if number not in leaders]
    return len(left) - len(near_copies(left, range(len(left)), _THRESHOLD))


def _milliseconds(work: Callable[[Sequence[str]], int], texts: Sequence[str]) -> tuple[float, int]:
    start = process_time()
    found = work(texts)
    return 1e3 * (process_time() - start), found


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
    main([int(size) for size in sys.argv[1:]] or SIZES)
