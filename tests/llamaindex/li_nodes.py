"""Nodes as splitters write them, and what a synthesizer makes of them."""

from collections.abc import Iterable

import tiktoken
from llama_index.core import Settings
from llama_index.core.schema import (
    BaseNode,
    MetadataMode,
    NodeRelationship,
    NodeWithScore,
    ObjectType,
    RelatedNodeInfo,
    TextNode,
)

TEXTS = (
    "The service reads its configuration at start. The default timeout is thirty seconds. "
    "It can be changed with the option request_timeout. Values are given in seconds.",
    "The colour of the logo is blue. Its font is a serif font. Marketing chose both in spring. "
    "The logo stands at the left of the header, above the navigation.",
    "Retries are made three times. Between two retries the client waits for one second. "
    "A retry that times out counts as a failure. Failures are written to the log.",
    "The office is closed on Sundays. Visitors park behind the building. Coffee is free on every floor.",
)
QUERY = "What is the default timeout?"


def text_node(number: int = 0, text: str | None = None, **fields: object) -> TextNode:
    """A chunk with all that a splitter and an index leave on it."""
    text = TEXTS[number % len(TEXTS)] if text is None else text
    values: dict[str, object] = {
        "id_": f"node-{number}",
        "text": text,
        "metadata": {
            "file_name": f"guide-{number}.md",
            "file_size": 1234,
            "Header 1": "Guide",
            "nested": {"tags": ["a", "b"]},
        },
        "excluded_llm_metadata_keys": ["file_size", "nested"],
        "excluded_embed_metadata_keys": ["file_size"],
        "relationships": {
            NodeRelationship.SOURCE: RelatedNodeInfo(
                node_id=f"document-{number}", node_type=ObjectType.DOCUMENT, metadata={"author": {"name": "Ada"}}
            ),
            NodeRelationship.NEXT: RelatedNodeInfo(node_id=f"node-{number + 1}"),
            NodeRelationship.CHILD: [RelatedNodeInfo(node_id="child", metadata={"a": 1})],
        },
        "start_char_idx": 100,
        "end_char_idx": 100 + len(text),
    }
    return TextNode(**{**values, **fields})


def scored(nodes: Iterable[BaseNode], score: float | None = 0.5) -> list[NodeWithScore]:
    return [NodeWithScore(node=node, score=score) for node in nodes]


def four_nodes() -> list[NodeWithScore]:
    return scored(text_node(number) for number in range(4))


def joined(nodes: Iterable[NodeWithScore], mode: MetadataMode = MetadataMode.LLM) -> str:
    """What a compact synthesizer puts into the prompt."""
    return "\n\n".join(item.node.get_content(mode) for item in nodes)


def tokens(text: str) -> int:
    """Counted by tiktoken itself, with the vocabulary that llama-index carries."""
    tokenizer = Settings.tokenizer
    assert isinstance(tokenizer.func.__self__, tiktoken.Encoding)
    return len(tokenizer(text))


def is_subsequence(part: str, whole: str) -> bool:
    characters = iter(whole)
    return all(character in characters for character in part)


def count_words(text: str) -> int:
    """A tokenizer that a module defines, so that it can be pickled."""
    return len(text.split())
