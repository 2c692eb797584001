"""What the page exports runs, and gives what the page shows."""

from pathlib import Path
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda
from llama_index.core import MockEmbedding, Settings, VectorStoreIndex
from llama_index.core.llms import MockLLM
from llama_index.core.schema import TextNode

from ctxcompress import CompressionConfig, Passage
from ctxcompress.apps.playground.answers import answer
from ctxcompress.encoders import encoder_named

QUESTION = "what is the default timeout?"
TEXTS = ["The pool has ten connections. The default timeout is 30 seconds.", "The logo was redrawn in spring. " * 5]
CHOSEN: list[dict[str, Any]] = [
    {"max_tokens": None},
    {"max_tokens": 40, "format": "compact", "adaptive": True},
    {"max_tokens": 12, "preset": "docs", "encoder": "static"},
    {"max_tokens": 14, "preset": "page"},
]


@pytest.fixture(params=CHOSEN, ids=lambda chosen: "-".join(map(str, chosen.values())))
def answered(request: pytest.FixtureRequest) -> dict[str, Any]:
    passages = [Passage(str(number), text) for number, text in enumerate(TEXTS)]
    return answer(lambda _: passages, {"query": QUESTION, **request.param})


def run(answered: dict[str, Any], framework: str, **names: object) -> dict[str, Any]:
    found: dict[str, Any] = {"question": QUESTION, **names}
    exec(answered["exports"][framework], found)
    return found


def test_the_code_for_the_core_gives_the_same_text(
    answered: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    found = run(answered, "python", passages=TEXTS)
    assert capsys.readouterr().out == f"{found['result'].text}\n"
    assert found["result"].tokens == answered["stats"]["tokens"]
    assert found["result"].max_tokens == answered["stats"]["max_tokens"]


def test_the_code_for_langchain_has_the_same_options(answered: dict[str, Any]) -> None:
    retriever = RunnableLambda(lambda _: [Document(text) for text in TEXTS])
    found = run(answered, "langchain", your_retriever=retriever)
    assert "30 seconds" in found["documents"][0].page_content
    assert made(found["compressor"]) == made(run(answered, "python", passages=TEXTS)["config"])


def test_the_code_for_llamaindex_does_so_too(answered: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Settings, "_llm", MockLLM())
    index = VectorStoreIndex([TextNode(text=text) for text in TEXTS], embed_model=MockEmbedding(embed_dim=4))
    found = run(answered, "llamaindex", index=index)
    assert "30 seconds" in str(found["response"])
    assert made(found["postprocessor"]) == made(run(answered, "python", passages=TEXTS)["config"])


def test_the_file_gives_an_equal_config(answered: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "ctxcompress.toml"
    path.write_text(answered["exports"]["toml"], encoding="utf-8")
    assert CompressionConfig.from_file(path) == run(answered, "python", passages=TEXTS)["config"]


def made(component: Any) -> list[object]:
    """The options that the page can set, and some of presets."""
    names = ("max_tokens", "tier", "format", "adaptive", "min_score", "ngram_threshold", "synonyms")
    encoder = component.encoder
    return [encoder_named(encoder) if isinstance(encoder, str) else encoder, *(getattr(component, x) for x in names)]
