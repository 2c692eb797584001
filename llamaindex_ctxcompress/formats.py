"""Nodes as the text of a prompt, and how each of them shows its part of it itself."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from llama_index.core.schema import MetadataMode, NodeWithScore

from ctxcompress import CompressionConfig, Compressor, KeptPassage
from llamaindex_ctxcompress.convert import RECORD_KEY, copy_node, kept_passages

__all__ = ["format_nodes", "showing", "templates"]

_PLACE = "\ufdd0"
"""Where the text stands in a template; no header has it, which has no character that means nothing."""


def format_nodes(
    nodes: Sequence[NodeWithScore],
    *,
    format: Literal["plain", "compact", "verbose", "json", "xml"] = "compact",
    query: str = "",
    metadata_map: Mapping[str, str] | None = None,
) -> str:
    """The texts of the nodes as one, each with a number and where it is from, for a prompt of one's own.

    For what `CtxCompressPostprocessor(max_tokens=N, format=...)` returned, all of it in its order, the text has at most
    N tokens if `format`, and where it is used `metadata_map`, are the same and no node has more than its text. Any
    other nodes are shown whole, however long they are. No node's text or metadata can look like the beginning of
    another one.

    query: what "json" says was asked. metadata_map: as of CtxCompressPostprocessor.

    Raises ConfigError (a ValueError) for another format, and RuntimeError where "json" cannot count tokens.
    """
    options: Any = {"format": format, "metadata_map": metadata_map or {}}
    config = CompressionConfig(**options)
    return Compressor(config).formatted(kept_passages(nodes, config), query=query)


def templates(config: CompressionConfig, kept: Sequence[KeptPassage]) -> list[str]:
    """Of each passage the `text_template` that shows it in the format of the options, with its number.

    The text takes the place of `{content}`, unless lines of it need a backslash, which no template could add: such a
    text stands in the template itself.
    """
    compressor = Compressor(config)
    bare = compressor.entries([replace(part, text=_PLACE) for part in kept])
    return [
        _template(around, part.text, entry)
        for around, part, entry in zip(bare, kept, compressor.entries(kept), strict=True)
    ]


def showing(item: NodeWithScore, template: str) -> NodeWithScore:
    """The same with a node whose `get_content(MetadataMode.LLM)` is what the template says.

    A class of nodes without templates stays as it is.
    """
    if "text_template" not in type(item.node).model_fields:
        return item
    shown = copy_node(item.node, {"text_template": template})
    if not shown.get_metadata_str(MetadataMode.LLM).strip():
        # LlamaIndex uses a template only where there is metadata to show.
        shown.excluded_llm_metadata_keys = [key for key in shown.excluded_llm_metadata_keys if key != RECORD_KEY]
    return item.model_copy(update={"node": shown})


def _template(around: str, text: str, entry: str) -> str:
    before, _, after = around.partition(_PLACE)
    if entry != f"{before}{text}{after}":
        return _literal(entry)
    return f"{_literal(before)}{{content}}{_literal(after)}"


def _literal(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")
