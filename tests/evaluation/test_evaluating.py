"""What an evaluation measures, against values computed by hand; the methods; and where passages come from."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from ctxcompress import Compressor, Passage
from ctxcompress.apps.evaluation import Question, Report, evaluate, from_langchain, from_llamaindex
from ctxcompress.apps.evaluation.measures import Needs
from ctxcompress.errors import ConfigError, InputError, MissingExtra

TEXTS = [
    "The pool opens ten connections. The default timeout is 30 seconds. Logs are kept for a week.",
    *(f"The garden of house {n} is open on Sundays. Dogs are welcome there." for n in range(6)),
]
QUERY, EVIDENCE = "What is the default timeout?", "The default timeout is 30 seconds."
PASSAGES = [Passage(str(number), text) for number, text in enumerate(TEXTS)]
QUESTION = Question(QUERY, ["30 seconds"], [EVIDENCE], PASSAGES)


class Cutting:
    """A method that returns what it was made with."""

    name = "cutting"

    def __init__(self, text: Any) -> None:
        self.text = text

    def __call__(self, query: str, passages: Sequence[Passage], max_tokens: int) -> str:
        return self.text  # type: ignore[no-any-return]


def needs(**what: Any) -> Needs:
    return Needs.of(Question("?", **what))


def test_evidence_is_whole_or_lost_whatever_the_white_space() -> None:
    wanted = needs(evidence=["One two\nthree.", "Four five."])
    assert wanted.missing("x One  two three. y") == ("Four five.",)
    assert wanted.evidence(["Four five."]) == 0.5
    assert wanted.missing("One two. Four five") == ("One two\nthree.", "Four five.")


def test_a_document_is_kept_with_one_of_its_sentences() -> None:
    wanted = needs(documents=["Short one. The second sentence is much longer. And the third one is, too."])
    assert not wanted.missing("x The second sentence is much longer.")
    assert wanted.missing("Short one. The second sentence")


@pytest.mark.parametrize(
    ("answers", "text", "has"),
    [
        (["The Eiffel-Tower"], "an EIFFEL tower.", True),
        (["2"], "in 1928", False),
        (["2"], "there are 2.", True),
        (["北京"], "他在北京工作", True),
        (["yes"], "yes", None),
        (["the"], "the", None),
        ([], "x", None),
        (["no way", "some way"], "some way", True),
    ],
)
def test_answers_are_compared_as_in_squad(answers: list[str], text: str, has: bool | None) -> None:
    assert needs(answers=answers).has_answer(text) is has


def test_precision_is_the_share_of_tokens_in_evidence() -> None:
    def words(text: str) -> int:
        return len(text.split())

    assert needs(evidence=["two three", "three four"]).precision("one two three four five six", words) == 0.5
    assert needs(documents=["Not all of it is there. But this sentence is."]).precision(
        "one But this sentence is. six", words
    ) == pytest.approx(4 / 6)
    assert needs(evidence=["x"]).precision("  ", words) is None
    assert needs(answers=["x"]).precision("x", words) is None


def test_rows_say_what_a_text_has_and_what_was_never_there() -> None:
    question = Question(QUERY, ["30 seconds"], [EVIDENCE, "Ships are late."], PASSAGES)
    report = evaluate([question], budgets=[None, 8], methods=[Cutting(EVIDENCE), "first"], encoding=str.split)
    assert report.budgets == (8, None)
    (asked,) = report.questions
    words = sum(len(text.split()) for text in TEXTS)
    assert (asked.pieces, asked.held, asked.answer, asked.input_tokens) == (2, 1, True, words)
    kept, whole, first, _ = report.rows
    assert (kept.tokens, kept.evidence, kept.answer, kept.precision, kept.lost) == (6, 0.5, True, 1.0, ())
    assert (whole.evidence, whole.tokens, whole.milliseconds) == (0.5, words, 0.0)
    assert whole.precision == pytest.approx(6 / words)
    assert first.text == "The pool opens ten connections. The default timeout"
    assert (first.evidence, first.answer, first.precision, first.lost) == (0.0, False, 0.0, (EVIDENCE,))
    assert report.retrieved == 0.5


def test_without_evidence_the_answer_is_what_can_be_lost() -> None:
    report = evaluate(
        [Question(QUERY, ["30 seconds", "half a minute"], passages=PASSAGES), Question("?", passages=PASSAGES)],
        budgets=[5, None],
        methods=["first"],
    )
    assert [row.lost for row in report.rows] == [("30 seconds",), (), (), ()]
    assert report.judged == 1
    assert report.losses("first").tolist() == [[1.0, 0.0]]


def test_the_default_is_what_compress_returns() -> None:
    report = evaluate([QUESTION], budgets=[20, None], methods=["default"])
    assert report.rows[0].text == Compressor().compress(QUERY, PASSAGES, max_tokens=20).text
    assert report.rows[1].text == "\n\n".join(TEXTS)


@pytest.mark.parametrize("method", ["default", "adaptive", "bm25", "first", "preset:docs", "encoder:words", "config:"])
def test_each_method_keeps_to_the_budget(method: str, tmp_path: Path) -> None:
    if method == "config:":
        (tmp_path / "ctx.toml").write_text("[compression]\nmin_score = 0.0\nmax_tokens = 3\n")
        method += str(tmp_path / "ctx.toml")
    report = evaluate([QUESTION], budgets=[1, 9, 40, 1_000], methods=[method])
    assert all(row.tokens <= (row.budget or 0) for row in report.rows)
    assert {summary.over for summary in report.summary()} == {0}
    assert report.rows[-1].evidence == 1.0
    if method != "first":
        assert report.rows[1].text.startswith(EVIDENCE)


def test_methods_without_their_packages_name_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctxcompress.apps.evaluation.methods.find_spec", lambda _: None)
    with pytest.raises(MissingExtra, match=r"pip install 'ctxcompress\[rank-bm25\]'"):
        evaluate([QUESTION], methods=["bm25"])
    with pytest.raises(MissingExtra, match="pip install langchain-classic langchain-community"):
        evaluate([QUESTION], methods=["EmbeddingsFilter:static"])


def test_the_filter_of_langchain_keeps_the_best_whole_passages() -> None:
    pytest.importorskip("langchain_community")
    report = evaluate([QUESTION], budgets=[25], methods=["EmbeddingsFilter:static"])
    assert report.rows[0].text == TEXTS[0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"budgets": [0]}, "a budget is 0; give a number"),
        ({"methods": ["best"]}, "there is no method 'best'; give default, adaptive"),
        ({"methods": "default"}, "methods is 'default'; give a list"),
        ({"methods": ["preset"]}, "needs a preset after a colon, such as preset:docs"),
        ({"methods": ["EmbeddingsFilter"]}, "needs an encoder after a colon"),
        ({"methods": ["EmbeddingsFilter:words"]}, "the encoder 'words' has no vectors"),
        ({"methods": ["first", "first"]}, "the same name twice: first, first"),
        ({"methods": [Cutting(7)]}, "'cutting' returned a int"),
    ],
)
def test_a_wrong_argument_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        evaluate([QUESTION], **options)


def test_questions_that_cannot_be_evaluated_are_refused() -> None:
    for questions, message in [
        ([], "there is no question"),
        ([Question("?")], r"the question '\?' has no passages; give retrieve"),
        ([Question("?", id="1"), Question("?", id="1")], "question 2 has the id '1'"),
        (["?"], "question 1 is a str"),
    ]:
        with pytest.raises(InputError, match=message):
            evaluate(questions, retrieve=None if "passages" in message else lambda _: TEXTS)  # type: ignore[arg-type]


def test_a_retriever_takes_the_place_of_the_passages_and_may_find_nothing() -> None:
    told: list[tuple[int, int]] = []
    report = evaluate([QUESTION], retrieve=lambda _: [], budgets=[9, None], progress=lambda *done: told.append(done))
    assert [row.text for row in report.rows] == ["", ""]
    assert (report.retrieved, report.failures, told) == (0.0, (), [(1, 1)])


def test_a_retriever_of_langchain() -> None:
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever

    class Retriever(BaseRetriever):
        def _get_relevant_documents(self, query: str, **_: Any) -> list[Document]:
            return [Document(TEXTS[0], id="a", metadata={"source": "pool.md"}), Document(query)]

    first, second = from_langchain(Retriever())(QUERY)
    assert first == Passage("a", TEXTS[0], file_path="pool.md", metadata={"source": "pool.md"})
    assert second == Passage("1", QUERY)
    with pytest.raises(ConfigError, match="give a retriever"):
        from_langchain(object())


def test_an_index_and_a_retriever_of_llamaindex() -> None:
    from llama_index.core import MockEmbedding, VectorStoreIndex
    from llama_index.core.schema import TextNode

    nodes = [TextNode(id_=str(n), text=text, metadata={"file_name": "pool.md"}) for n, text in enumerate(TEXTS)]
    index = VectorStoreIndex(nodes, embed_model=MockEmbedding(embed_dim=2))
    found = [*from_llamaindex(index, 3)(QUERY)]
    assert len(found) == 3
    assert isinstance(found[0], Passage)
    assert (found[0].text, found[0].file_path) == (TEXTS[int(found[0].id)], "pool.md")
    assert found[0].score is not None
    assert len([*from_llamaindex(index.as_retriever(similarity_top_k=2))(QUERY)]) == 2
    with pytest.raises(ConfigError, match="no retriever and no index"):
        from_llamaindex(object())


def test_what_is_lost_says_why() -> None:
    pages = ["The pool opens ten connections. The default timeout is 30 seconds.", "The garden is open on Sundays."]
    question = Question("What is the default timeout?", evidence=["The garden is open on Sundays."], passages=pages)
    report = evaluate([question], budgets=[9, None], methods=["default", "first"])
    ours, theirs = report.failures
    assert ours.why[0].startswith("dropped (budget): Other text is worth more of the budget. Its score is")
    assert theirs.why == ("",)
    assert Report.from_json(report.to_json()) == report
    gone = Question("What is the timeout?", documents=["Title\n\nThe garden is open on Sundays."], passages=pages)
    assert evaluate([gone], budgets=[9, None]).rows[0].why in ((), ("",))
