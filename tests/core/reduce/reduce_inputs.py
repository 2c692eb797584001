"""What the tests of leaving out share: passages in a line, generated ones, and what must hold of every result."""

from accounts import assert_partition, assert_shown
from hypothesis import strategies as st

from ctxcompress import Passage

HARMLESS = "quickly simply easily safely gladly calmly kindly surely".split()


def scored(*scores):
    """Passages "0", "1", ... with these scores and texts that have nothing in common."""
    return [Passage(str(n), f"Only here: {chr(97 + n) * 9}.", score=score) for n, score in enumerate(scores)]


def ids(result):
    return [kept.id for kept in result.passages]


def dropped(result):
    """id -> why all of the passage was left out."""
    whole = [decision for decision in result.dropped if decision.text == decision.passage.text]
    return {decision.passage.id: str(decision.reason) for decision in whole}


def note(result, stage):
    return next(found.note for found in result.stages if found.name == stage)


def assert_whole(result, given):
    """Every kept text is the join of its spans and markers, and every character is kept once or dropped once."""
    assert_partition(result, given)
    for kept in result.passages:
        assert_shown(kept, given[kept.index])


_sentences = st.sampled_from(
    [
        "The server reads its settings when it starts.",
        "A client waits until the server answers it.",
        "The timeout is 30 seconds.",
        "The timeout is 45 seconds.",
        "You must restart the server afterwards.",
        "You must not restart the server afterwards.",
        "服务器重新启动后读取所有设置。",
        "# Settings",
        "```\nport = 8080\n```",
        "    indented = True",
        "Paris has a gate.\nLondon has a bridge.\r\n",
        "| name | port |\n|---|---|\n| web | 80 |",
        "",
        " \n\n",
        "\ud800 👍🏽",
    ]
)
texts = st.builds(
    lambda parts, gap: gap.join(parts),
    st.lists(_sentences, min_size=1, max_size=6),
    st.sampled_from([" ", "\n", "\n\n", "\r\n\r\n"]),
)
scores = st.one_of(
    st.none(), st.floats(-1, 1), st.sampled_from([0, 1, 0.3, 5.0, float("nan"), float("inf"), True, "0.9"])
)
vectors = st.one_of(st.none(), st.sampled_from([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.0, 0.0], [1.0]]))
_given = st.builds(
    lambda text, score, doc, url, heading, vector: {
        "text": text,
        "score": score,
        "doc_id": doc,
        "file_path": url,
        "header_path": heading,
        "embedding": vector,
        "metadata": {"nested": {"list": [1, 2]}},
    },
    texts,
    scores,
    st.sampled_from([None, "a", "b"]),
    st.sampled_from([None, "http://x.org/p", "https://x.org/p/#top"]),
    st.sampled_from([None, ("Top",)]),
    vectors,
)
many = st.lists(_given, max_size=7).map(lambda given: [Passage(f"p{n}", **fields) for n, fields in enumerate(given)])
