"""Generated inputs of every kind that a retriever returns, and tokenizers that count in unlike ways."""

import math
from collections.abc import Callable

from hypothesis import strategies as st

from ctxcompress import Passage

WORDS = (
    "timeout default server the a of 3.14 C++ don't module.Class self._retry 你好世界 重启服务器 サーバー ภาษาไทย "
    "مهلة الاتصال सर्वर сервер yapılandırma e\u0301te\u0301 👩\u200d👩\u200d👧 🇩🇪 👍🏽 <b> "
    "`code` **bold** [x](http://a.b/c) ==== ||"
).split()
SCRIPTS = "aB1 _.,;\n\t你。ไท\u0e38ع\u064bक\u094d😀\u200d\ud83d\udc00\u2028\u0085\x00\u200b|#>`~-*"

words = st.sampled_from(WORDS)
sentences = st.lists(words, min_size=1, max_size=12).map(lambda parts: " ".join(parts) + ". ")
paragraphs = st.lists(sentences, min_size=1, max_size=6).map("".join)
headings = st.builds(lambda level, title: "#" * level + " " + title, st.integers(1, 6), words)
tables = st.lists(st.tuples(words, words), min_size=1, max_size=8).map(
    lambda rows: "| k | v |\n|---|---|\n" + "\n".join(f"| {a.replace('|', '')} | {b} |" for a, b in rows)
)
code = st.lists(words, min_size=1, max_size=30).map(
    lambda names: "\n".join(f"def f{n}(x):\n    return '{name}' + x\n" for n, name in enumerate(names))
)
fences = st.builds(lambda mark, body: f"{mark}python\n{body}\n{mark}", st.sampled_from(["```", "~~~"]), code)
items = st.lists(sentences, min_size=1, max_size=5).map(lambda parts: "\n".join("- " + part for part in parts))
giants = st.builds(
    lambda unit, times: unit * times, st.sampled_from(["x", "字", "é", "👍🏽", "a_b", "\ud800"]), st.integers(300, 900)
)
soup = st.text(alphabet=SCRIPTS, max_size=300)
blocks = st.one_of(paragraphs, headings, tables, code, fences, items, giants, soup)
texts = st.one_of(
    st.builds(
        lambda parts, gap: gap.join(parts),
        st.lists(blocks, min_size=1, max_size=5),
        st.sampled_from(["\n\n", "\r\n\r\n", "\n"]),
    ),
    st.sampled_from(["", " ", "\n\n", "\t \r\n"]),
)
passages = st.lists(texts, max_size=6)
queries = st.one_of(st.none(), st.just(""), words, sentences)
budgets = st.one_of(st.integers(1, 12), st.integers(1, 300))

TOKENIZERS: dict[str, Callable[[str], object]] = {
    "characters": len,
    "words": lambda text: len(text.split()),
    "lists of words": str.split,
    "lines": lambda text: text.count("\n") + 1,
    "one whatever the text": lambda text: 1,
    "three more than the words": lambda text: len(text.split()) + 3,
    "more than the sum of parts": lambda text: len(text) + len(text) // 7,
    "square": lambda text: len(text) * math.isqrt(len(text)),
}
"""Of an empty text each of them is taken to count 0."""


def framed(passage: Passage, text: str) -> str:
    return f"<{passage.id}>\n{text}\n</{passage.id}>"


def bare(passage: Passage, text: str) -> str:
    return text
