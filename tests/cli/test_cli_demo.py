"""The demonstration, on the documentation that is installed where the tests run."""

from importlib.metadata import metadata

from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from ctxcompress.apps.cli.app import app
from ctxcompress.apps.cli.demo import MODEL
from ctxcompress.apps.cli.demo_texts import installed_documentation, split_markdown

MARKDOWN = st.lists(
    st.sampled_from(["# Heading\n", "words\n", "\n", " \n", "```\n", "~~~ py\n", "x" * 60 + "\n", "end"])
)


def test_three_questions_are_compared_with_all_that_was_retrieved_and_with_bm25() -> None:
    result = CliRunner().invoke(app, ["demo"], env={"COLUMNS": "120"})
    assert result.exit_code == 0
    assert "OPT_NAIVE_UTC" in result.stdout or "lossless" in result.stdout
    assert "tungsten" in result.stdout
    assert all(word in result.stdout for word in ("retrieved", "ctxcompress", "BM25", "milliseconds", MODEL))
    answered = [line for line in result.stdout.splitlines() if "has the answer" in line]
    assert answered
    assert all(line.split("│")[2].strip() == "yes" for line in answered)


def test_another_question_and_budget() -> None:
    result = CliRunner().invoke(app, ["demo", "--question", "What is [bold] in Rich?", "--max-tokens", "50"])
    assert result.exit_code == 0
    assert "[bold]" in result.stdout


def test_chunks_together_are_the_description() -> None:
    text = "".join(chunk.text for chunk in installed_documentation() if chunk.package == "tiktoken")
    assert text == metadata("tiktoken")["Description"]


@given(MARKDOWN.map("".join))
def test_splitting_loses_nothing(text: str) -> None:
    assert "".join(split_markdown(text, limit=100)) == text
