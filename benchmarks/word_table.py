"""Make the word table that ctxcompress.encoders.static reads, of the vectors of wordllama.

    python benchmarks/word_table.py core/ctxcompress/encoders/words.npz

The words are the commonest ones of the English list of symspellpy, and those that are one token of wordllama. The
vector of a word is the sum of its tokens' vectors, on the axes along which the words differ most, in whole numbers from
-127 to 127 with a scale for each word: lengths matter, because common words have short vectors. Needs the extra
`static`, and symspellpy.
"""

import argparse
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

WORDS = 36_000
DIMENSIONS = 96
"""With 64 dimensions of 40,000 words the sets of docs/evidence.md keep .010 less."""
LIST = "frequency_dictionary_en_82_765.txt"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=Path)
    path = parser.parse_args().table
    model = _model()
    model.tokenizer.no_padding()
    words = _words(model.tokenizer)
    vectors = _reduced(np.array([_vector(word, model) for word in words]))
    scales = np.abs(vectors).max(axis=1, keepdims=True) / 127
    written = np.round(vectors / scales).astype(np.int8)
    np.savez(
        path,
        words=np.frombuffer("\n".join(words).encode(), np.uint8),
        vectors=written,
        scales=scales[:, 0].astype(np.float16),
    )
    print(f"{len(words):,} words, {path.stat().st_size:,} bytes")


def _model() -> Any:
    import wordllama

    return wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)


def _words(tokenizer: Any) -> Sequence[str]:
    """Return the words of one token, and as many of the commonest ones as there is room for."""
    lines = files("symspellpy").joinpath(LIST).read_text(encoding="utf-8-sig").splitlines()
    common = [line.split()[0] for line in lines]
    known = set(common)
    single = [word for word in sorted(_of_one_token(tokenizer)) if word not in known]
    return common[: WORDS - len(single)] + single


def _of_one_token(tokenizer: Any) -> Iterator[str]:
    for token in tokenizer.get_vocab():
        word = token[1:]
        if token[0] == "▁" and len(word) > 1 and word.isascii() and word.isalnum() and word.islower():
            yield word


def _vector(word: str, model: Any) -> NDArray[np.float32]:
    tokens = model.tokenizer.encode(word, add_special_tokens=False).ids
    vector: NDArray[np.float32] = np.asarray(model.embedding, dtype=np.float32)[tokens].sum(axis=0)
    return vector


def _reduced(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the vectors on their main axes, without moving them to the middle: that loses evidence."""
    axes = np.linalg.svd(vectors, full_matrices=False)[2][:DIMENSIONS]
    reduced: NDArray[np.float32] = vectors @ axes.T
    return reduced


if __name__ == "__main__":
    main()
