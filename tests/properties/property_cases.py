"""Random cases for the rules: each follows from its seed alone."""

import csv
import io
import json
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["TOKENIZERS", "Case"]

_WORDS = (
    "timeout server default the a of is and 30 seconds retry pool Client.get request_id C++ don't 3.14 ERROR v2 "
    "München Straße naïve файл настройка сервер 数据库 超时 默认 サーバー 再起動 เวลา ภาษาไทย "
    "المهلة सर्वर e\u0301te\u0301 👩\u200d👧 🇩🇪 "
    "**bold** `code` [x](http://a.b) <b> && || == x=1 INV-0042 2024-05-17 https://a.b/c?d=e id, no; (so) “yes” $5 50%"
).split()
_ODD = "\ud800 \udc00 \x00 \u200b \u202e \ufeff \u2028 \u0085 \x0b \r \u0301 \u200d \t \u00a0".split(" ")
_FORGED = (
    "[1] a.md",
    "[2]",
    "**Result 2**",
    "</document>",
    '<document index="2">',
    "]]>",
    "```",
    "File: x",
    "§",
    "\x1b[0m",
)
TOKENIZERS: dict[str, Any] = {
    "o200k_base": "o200k_base",
    "cl100k_base": "cl100k_base",
    "characters": len,
    "words": lambda text: len(text.split()),
    "list": str.split,
    "bytes": lambda text: len(text.encode("utf-8", "surrogatepass")),
    "grows": lambda text: len(text) + len(text) // 9,
    "square": lambda text: len(text) * math.isqrt(len(text)),
}


class _Writer:
    """Writes texts of many kinds."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance

    def words(self, most: int = 12) -> str:
        return " ".join(self.chance.choices(_WORDS, k=self.chance.randint(1, most)))

    def sentence(self) -> str:
        return self.words() + self.chance.choice((". ", ". ", "? ", "! ", "。", "… ", ".\n", " "))

    def some(self, write: Callable[[], str], join: str = "", most: int = 8) -> str:
        return join.join(write() for _ in range(self.chance.randint(1, most)))

    def prose(self) -> str:
        return self.some(self.sentence)

    def heading(self) -> str:
        return "#" * self.chance.randint(1, 4) + " " + self.words(4)

    def items(self) -> str:
        mark = self.chance.choice(("- ", "* ", "1. ", "  - ", "> ", "> - "))
        return self.some(lambda: mark + self.sentence().strip("\n"), "\n")

    def table(self) -> str:
        width = self.chance.randint(1, 4)
        rows = [
            " | ".join(self.words(2).replace("|", "") for _ in range(width)) for _ in range(self.chance.randint(1, 9))
        ]
        return "\n".join([f"| {rows[0]} |", "|" + "---|" * width, *(f"| {row} |" for row in rows[1:])])

    def code(self) -> str:
        return self.some(self._function, "\n\n", 4)

    def _function(self) -> str:
        name = self.chance.choice(("get", "retry", "close", "Pool")) + str(self.chance.randrange(9))
        lines = [f"    x{n} = {self.words(4)!r}" for n in range(self.chance.randint(1, 6))]
        if self.chance.random() < 0.3:
            return "\n".join(
                [f"class {name}:", *(f"    def f{n}(self):\n        return {n}\n" for n in range(len(lines)))]
            )
        return "\n".join(
            [f"def {name}(x):", *(['    """Do it."""'] * self.chance.randint(0, 1)), *lines, "    return x"]
        )

    def fence(self) -> str:
        mark = self.chance.choice(("```", "~~~", "````"))
        body = self.chance.choice((self.code, self.json, self.prose))().replace("`", "'").replace("~", "-")
        return f"{mark}{self.chance.choice(('', 'python', 'json'))}\n{body}\n{mark}"

    def value(self, depth: int = 0) -> Any:
        kind = self.chance.randrange(8 if depth < 3 else 5)
        if kind < 5:
            return (None, self.chance.randrange(-9, 10**6), self.words(), self.chance.random(), self.prose())[kind]
        if kind == 5:
            return [self.value(depth + 1) for _ in range(self.chance.randint(0, 5))]
        return {word: self.value(depth + 1) for word in self.words(6).split()}

    def json(self) -> str:
        style = self.chance.choice(({}, {"indent": 2}, {"separators": (",", ":")}, {"ensure_ascii": False}))
        return json.dumps([self.value(1) for _ in range(self.chance.randint(1, 6))], **style)

    def json_lines(self) -> str:
        return self.some(lambda: json.dumps({"id": self.chance.randrange(99), "note": self.words()}), "\n")

    def rows(self) -> str:
        file, width = io.StringIO(newline=""), self.chance.randint(2, 5)
        writer = csv.writer(file, delimiter=self.chance.choice(",;\t"), lineterminator="\n")
        writer.writerows([self.words(3) for _ in range(width)] for _ in range(self.chance.randint(2, 12)))
        return file.getvalue()

    def xml(self) -> str:
        items = self.some(lambda: f"  <item id='{self.chance.randrange(99)}'><name>{self._plain()}</name></item>\n")
        return f"<shop>\n{items}</shop>\n"

    def html(self) -> str:
        cells = "".join(f"<tr><td>{self._plain()}</td><td>{n}</td></tr>" for n in range(self.chance.randint(1, 6)))
        return f"<html><h1>{self._plain()}</h1><p>{self._plain()}. It is <b>so</b>.<table>{cells}</table></html>"

    def _plain(self) -> str:
        return self.words(5).replace("<", "").replace("&", "")

    def keyed(self) -> str:
        if self.chance.random() < 0.5:
            return self.some(
                lambda: f"[part{self.chance.randrange(99)}]\nname = 'x'\nsize = {self.chance.randrange(99)}\n", "\n"
            )
        return "all:\n" + self.some(
            lambda: f"  - id: {self.chance.randrange(99)}\n    note: a b c\n    # why\n    size: 3\n"
        )

    def log(self) -> str:
        return self.some(lambda: f"2026-01-01 12:00:{self.chance.randrange(10, 60)} {self.words(5)}", "\n")

    def talk(self) -> str:
        return self.some(lambda: f"{self.chance.choice(('Alice', 'Bob', 'User'))}: {self.sentence().strip()}", "\n")

    def manual(self) -> str:
        return "OPTIONS\n" + self.some(
            lambda: f"       -{self.chance.choice('abct')}, --all\n              {self.words()}\n"
        )

    def giant(self) -> str:
        return self.chance.choice(("x", "字", "e\u0301", "👍🏽", "a_b", "\ud800", "กำ", "क्ष")) * self.chance.randint(
            50, 900
        )

    def soup(self) -> str:
        return "".join(self.chance.choices([*_WORDS, *_ODD, *_FORGED, " ", "\n", "\n\n"], k=self.chance.randint(1, 60)))

    def blank(self) -> str:
        return self.chance.choice(("", " ", "\n\n", "\t\r\n"))

    def text(self) -> str:
        if self.chance.random() < 0.35:  # of one kind
            whole = (self.json, self.json_lines, self.rows, self.xml, self.html, self.keyed, self.log, self.talk)
            return self.chance.choice((*whole, self.manual, self.code, self.blank, self.giant))()
        kinds = (
            self.prose,
            self.prose,
            self.heading,
            self.items,
            self.table,
            self.code,
            self.fence,
            self.soup,
            self.json,
        )
        gap = self.chance.choice(("\n\n", "\n\n", "\n", "\r\n\r\n"))
        return gap.join(self.chance.choice(kinds)() for _ in range(self.chance.randint(1, 6)))


@dataclass
class Case:
    """What is asked of whom about what."""

    seed: int
    query: str | None = None
    texts: Sequence[str] = ()
    metadata: Sequence[dict[str, Any]] = ()
    scores: Sequence[float | None] = ()
    tokenizer: str = "o200k_base"
    options: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, seed: int) -> "Case":
        """Return the case of a seed."""
        chance = random.Random(seed)
        writer = _Writer(chance)
        texts = [writer.text() for _ in range(chance.choice((0, 1, 1, 2, 3, 4, 6)))]
        if texts and chance.random() < 0.2:
            texts.append(chance.choice(texts))
        words = [word for text in texts for word in text.split()] or ["timeout"]
        query = chance.choice((None, "", writer.words(6), " ".join(chance.choices(words, k=chance.randint(1, 5)))))
        return cls(
            seed,
            query,
            texts,
            [_metadata(writer, n) for n in range(len(texts))],
            [chance.choice((None, chance.random(), chance.uniform(-5, 5), 0.0, math.inf)) for _ in texts],
            chance.choice(list(TOKENIZERS)),
            _options(chance, words),
        )


def _metadata(writer: _Writer, number: int) -> dict[str, Any]:
    chance = writer.chance
    found: dict[str, Any] = {"tags": ["a", {"b": [number]}]}
    for key in ("title", "source", "Header 1", "doc_id"):
        if chance.random() < 0.3:
            found[key] = chance.choice(
                (*_FORGED, "Guide", "a.md", "b.py", "c.json", "d.csv", "e.xml", "f.yaml", writer.soup())
            )
    return found


def _options(chance: random.Random, words: Sequence[str]) -> dict[str, Any]:
    options: dict[str, Any] = {"max_tokens": chance.choice((chance.randint(1, 12), chance.randint(1, 400)))}
    offered: dict[str, Sequence[Any]] = {
        "separator": ("", " ", "\n---\n", "。"),
        "order": ("relevance", "edges"),
        "gap_markers": (False,),
        "scorer": ("bm25",),
        "adaptive": (True, 0.3),
        "on_empty": ("original", "drop"),
        "min_score": (0.0, 0.3, 0.9),
        "score_kind": ("distance", "rank", "none", "absolute"),
        "ngram_threshold": (0.2, 0.7),
        "max_chunks_per_doc": (1, 2),
        "top_n": (1, 3),
        "metadata_only": (True, 0.9),
        "max_length": (100, 200),
        "factual_length": (20, 200),
        "keep_all_sources": (True,),
        "must_keep": (["ids"], ["dates", "urls"], ["code"], [chance.choice(words)]),
        "encoder": (None,),
        "language": ("de", "zh"),
        "synonyms": ({"timeout": ["deadline"]},),
        "type_weights": ({"code": 3.0, "heading": 0.1},),
        "format": ("compact", "verbose", "json", "xml", "preview"),
    }
    for name in chance.sample(list(offered), k=chance.choice((0, 0, 1, 2, 4))):
        options[name] = chance.choice(offered[name])
    return options
