"""Makes cases from source code: the first sentence of a function's comment as the question, the function as evidence.

    python benchmarks/source_cases.py FOLDER three.json.gz --ending js
    python benchmarks/train_evidence.py three.json.gz CASES... --only source

The comment is taken out of the file. The documents are the chunk with the function and the 19 chunks of the folder that
BM25 finds for the question, shuffled. At most one question is asked of a file.
"""

import argparse
import gzip
import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rank_bm25 import BM25Okapi  # type: ignore[import-untyped]

from ctxcompress.data.passages import Node, NodeKind, walk
from ctxcompress.segment.source_code import outline

CHUNK = 1_500
DOCUMENTS = 20
MOST_FILES = 450
MOST_CHARACTERS = 200_000
SHORTEST, LONGEST = 120, 1_100
"""Characters of a function that is asked about."""
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_COMMENT_LINE = re.compile(r"[ \t]*(?:///?!?|/\*\*?|\*/|\*|#|\"{3}|--)?[ \t]*")
_MARKS = ("/", "*", "#", '"', "--")


class Question(NamedTuple):
    """A question about a file without the comment that asks it."""

    text: str
    file: str
    start: int
    end: int


class Chunk(NamedTuple):
    """A piece of a file."""

    file: str
    start: int
    text: str


def questions(text: str, name: str) -> Iterator[tuple[Question, str]]:
    """Yield a question for each function with a comment, and the text without the comment."""
    for node in walk(outline(text, name)):
        if node.kind not in (NodeKind.FUNCTION, NodeKind.METHOD):
            continue
        start, end, begin = _comment(text, node)
        sentence = _first_sentence(text[start:end])
        stop = node.start + len(text[node.start : node.end].rstrip()) - (end - start)
        begin -= end - start if begin >= end else 0
        if 20 < len(sentence) < 200 and SHORTEST < stop - begin < LONGEST:
            yield Question(sentence, name, begin, stop), text[:start] + text[end:]


def _comment(text: str, node: Node) -> tuple[int, int, int]:
    """Return where the comment of a function starts and ends, and where the function begins."""
    docs = [child for child in node.children[:1] if child.kind is NodeKind.DOC]
    if docs:
        return docs[0].start, docs[0].end, node.signature
    lines = text[node.start : node.signature].splitlines(keepends=True)
    comment = [line for line in lines if not line.strip() or line.lstrip().startswith(_MARKS)]
    end = node.start + sum(map(len, comment))
    return (node.start, end, node.signature) if comment == lines[: len(comment)] else (node.start, node.start, -1)


def _first_sentence(comment: str) -> str:
    lines = [line[_COMMENT_LINE.match(line).end() :] for line in comment.splitlines()]  # type: ignore[union-attr]
    return re.split(r"\.\s|\.$|@|\"{3}|\*/", " ".join(lines).strip())[0].strip()


def chunks(file: str, text: str) -> Iterator[Chunk]:
    """Yield pieces of whole lines of a file, of CHUNK characters at most if no line is longer."""
    start, piece = 0, ""
    for line in text.splitlines(keepends=True):
        if piece and len(piece) + len(line) > CHUNK:
            yield Chunk(file, start, piece)
            start, piece = start + len(piece), ""
        piece += line
    if piece:
        yield Chunk(file, start, piece)


def cases(folder: Path, ending: str, limit: int, seed: int) -> dict[str, object]:
    """Return the cases of the files in a folder, in the form that lib/cases.py reads."""
    rng = random.Random(seed)
    files = sorted(path for path in folder.rglob(f"*.{ending}") if 1_000 < path.stat().st_size < MOST_CHARACTERS)
    every: list[Chunk] = []
    asked: list[Question] = []
    for path in rng.sample(files, min(len(files), MOST_FILES)):
        name = str(path.relative_to(folder))
        text = path.read_text(encoding="utf-8", errors="ignore").replace("\r\n", "\n")
        found = list(questions(text, name))
        if found:
            question, text = rng.choice(found)
            asked.append(question)
        every += chunks(name, text)
    ranking = BM25Okapi([_words(chunk.text) for chunk in every])
    docs: dict[str, dict[str, str]] = {}
    made = []
    for question in asked:
        gold = next((n for n, chunk in enumerate(every) if _holds(chunk, question)), None)
        if gold is not None and len(made) < limit:
            order = np.argsort(-ranking.get_scores(_words(question.text)), kind="stable").tolist()
            shown = [gold, *(number for number in order[:DOCUMENTS] if number != gold)][:DOCUMENTS]
            rng.shuffle(shown)
            docs |= {str(number): {"title": every[number].file, "text": every[number].text} for number in shown}
            place, first = shown.index(gold), every[gold].start
            span = [place, question.start - first, question.end - first]
            made.append({"query": question.text, "answers": [], "docs": list(map(str, shown)), "gold": [span]})
    return {"set": folder.name, "docs": docs, "cases": made}


def _holds(chunk: Chunk, question: Question) -> bool:
    end = chunk.start + len(chunk.text)
    return chunk.file == question.file and chunk.start <= question.start and question.end <= end


def _words(text: str) -> list[str]:
    return [part.lower() for part in _PART.findall(text)] or [""]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("output", type=Path, help="file of cases, such as three.json.gz")
    parser.add_argument("--ending", default="py", help="ending of the files' names")
    parser.add_argument("--limit", type=int, default=140)
    parser.add_argument("--seed", type=int, default=3)
    options = parser.parse_args()
    found = cases(options.folder, options.ending, options.limit, options.seed)
    options.output.write_bytes(gzip.compress(json.dumps(found).encode()))
    print(f"{len(found['cases'])} cases")  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
