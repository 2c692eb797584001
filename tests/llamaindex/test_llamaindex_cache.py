"""With a cache, the same call finds its outcome, and anything that changes the prompt changes the outcome."""

import pytest
from li_nodes import QUERY, four_nodes, joined, text_node, tokens
from llama_index.core.schema import MetadataMode, NodeWithScore, TextNode

from ctxcompress.cache import Cache
from llamaindex_ctxcompress import CtxCompressPostprocessor


class Shouting(TextNode):
    """A node that shows its text in its own way."""

    def get_content(self, metadata_mode: MetadataMode = MetadataMode.NONE) -> str:
        return self.text.upper() if metadata_mode is MetadataMode.LLM else self.text


def compressed(nodes: list[NodeWithScore], cache: Cache | None = None, **options: object) -> list[NodeWithScore]:
    postprocessor = CtxCompressPostprocessor(**{"max_tokens": 60, "cache": cache, **options})
    return postprocessor.postprocess_nodes(nodes, query_str=QUERY)


def lookups(cache: Cache) -> tuple[int, int]:
    return cache.stats()[:2]


@pytest.mark.parametrize("options", [{}, {"metadata_mode": MetadataMode.NONE}, {"preset": "docs"}, {"format": "xml"}])
def test_the_same_call_finds_its_outcome(options: dict[str, object]) -> None:
    cache, nodes = Cache(), four_nodes()
    for item in nodes:
        item.node.embedding = [1.0, 0.5, len(item.node.text)]
    first = compressed(nodes, cache, **options)
    hits, misses = lookups(cache)
    again = compressed(nodes, cache, **options)
    assert lookups(cache) == (hits + 1, misses)
    assert again == first == compressed(nodes, **options)


async def test_an_async_call_finds_the_outcome_of_a_sync_one() -> None:
    cache, nodes = Cache(), four_nodes()
    postprocessor = CtxCompressPostprocessor(max_tokens=60, cache=cache)
    first = postprocessor.postprocess_nodes(nodes, query_str=QUERY)
    hits, misses = lookups(cache)
    assert await postprocessor.apostprocess_nodes(nodes, query_str=QUERY) == first
    assert lookups(cache) == (hits + 1, misses)


@pytest.mark.parametrize(
    "fields",
    [
        {"text_template": "{metadata_str}\n====\n{content}"},
        {"metadata_template": "the key {key} has the value {value}"},
        {"metadata_separator": " | "},
        {"excluded_llm_metadata_keys": []},
        {"metadata": {"file_name": "a file with a much longer name than before.md"}},
    ],
)
def test_what_changes_the_prompt_changes_the_outcome(fields: dict[str, object]) -> None:
    cache = Cache()
    compressed(four_nodes(), cache)
    others = [NodeWithScore(node=text_node(number, **fields), score=0.5) for number in range(4)]
    found = compressed(others, cache)
    assert found == compressed(others)
    assert tokens(joined(found)) <= 60


def test_a_class_that_shows_its_text_in_its_own_way_is_compressed_each_time() -> None:
    cache = Cache()
    nodes = [NodeWithScore(node=Shouting(text=item.node.text), score=item.score) for item in four_nodes()]
    found = [compressed(nodes, cache) for _ in range(2)]
    assert found[0] == found[1] == compressed(nodes)
    assert lookups(cache)[1] > 0
    before = lookups(cache)[0]
    compressed(nodes, cache)
    assert lookups(cache)[0] > before + 1  # of texts, and of no outcome
