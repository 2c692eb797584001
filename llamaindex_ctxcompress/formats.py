"""Nodes as the text of a prompt: by their own templates, in the formats of the core, and citations of them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from llama_index.core.base.llms.types import CitationBlock, TextBlock
from llama_index.core.schema import BaseNode, MetadataMode, Node, NodeWithScore, TextNode

from ctxcompress import CompressionConfig, Compressor, KeptPassage, Passage
from llamaindex_ctxcompress.convert import RECORD_KEY, copy_node, kept_passages

__all__ = ["NodeFrames", "cite", "format_nodes", "framing", "showing", "templates"]

_KNOWN = (TextNode.get_content, Node.get_content)


class NodeFrames:
    """The frame of the core's compressor for one call: each kept text looks as `get_content(mode)` of its node would
    return it.

    Everything that does not depend on the text is computed once, because a budget asks many times for one node. A class
    with its own `get_content` is asked through a copy of the node.
    """

    def __init__(self, passages: Sequence[Passage], nodes: Sequence[BaseNode], mode: MetadataMode) -> None:
        """nodes: the node of each passage."""
        # By identity, because two nodes can have one id.
        self._frames = {id(passage): framing(node, mode) for passage, node in zip(passages, nodes, strict=True)}
        self._passages = passages  # keeps their identities from being used again

    def __call__(self, passage: Passage, text: str, /) -> str:
        """Return the text as the prompt shows it."""
        return self._frames[id(passage)](text)

    def __getstate__(self) -> tuple[Sequence[Passage], list["Framing"]]:
        return self._passages, [self._frames[id(passage)] for passage in self._passages]

    def __setstate__(self, state: tuple[Sequence[Passage], list["Framing"]]) -> None:
        self._passages, frames = state  # in another process, the passages have other identities
        self._frames = {id(passage): frame for passage, frame in zip(self._passages, frames, strict=True)}

    @property
    def description(self) -> str | None:
        """The metadata and templates of all nodes; None if a class shows its text in its own way."""
        described = [frame.description for frame in self._frames.values()]
        return None if None in described else json.dumps(described)


@dataclass(frozen=True, slots=True)
class _Bare:
    description: tuple[str, str] = ("", "")

    def __call__(self, text: str, /) -> str:
        return text


@dataclass(frozen=True, slots=True)
class _Templated:
    template: str
    metadata: str

    @property
    def description(self) -> tuple[str, str]:
        return self.template, self.metadata

    def __call__(self, text: str, /) -> str:
        return self.template.format(content=text, metadata_str=self.metadata).strip()


@dataclass(frozen=True, slots=True)
class _Asked:
    copy: BaseNode
    mode: MetadataMode
    description: None = None

    def __call__(self, text: str, /) -> str:
        self.copy.set_content(text)
        return self.copy.get_content(self.mode)


Framing = _Bare | _Templated | _Asked
"""A function from a text to what a node with that text would show."""


def framing(node: BaseNode, mode: MetadataMode) -> Framing:
    """Return a function from a text to what `get_content(mode)` would return if `node` held that text."""
    if not isinstance(node, TextNode | Node) or type(node).get_content not in _KNOWN:
        return _Asked(copy_node(node), mode)
    metadata = node.get_metadata_str(mode)
    if isinstance(node, TextNode):
        metadata = metadata.strip()
    return _Templated(node.text_template, metadata) if metadata else _Bare()


_PLACE = "\ufdd0"
"""The place of the text in a template: a character that no header contains."""


def format_nodes(
    nodes: Sequence[NodeWithScore],
    *,
    format: str = "compact",
    query: str = "",
    metadata_map: Mapping[str, str] | None = None,
) -> str:
    """Return the nodes as one text for a prompt, each with a number and its source.

    The text has at most N tokens for all nodes that `CtxCompressPostprocessor(max_tokens=N, format=...)` returned, in
    their order, if `format`, and where it is used `metadata_map`, are the same and nodes bring nothing but text. Other
    nodes are shown whole, however long they are. No node's text or metadata can imitate the beginning of another node.
    The format "preview" writes one line for each node that `CtxCompressPostprocessor(format="preview")` returned:
    `[id] (relevance) title › headings: sentence`.

    query: the query that "json" shows. metadata_map: the same as for CtxCompressPostprocessor.

    Raises ConfigError (a ValueError) for an unknown format, and RuntimeError where "json" cannot count tokens.
    """
    options: Any = {"format": format, "metadata_map": metadata_map or {}}
    config = CompressionConfig(**options)
    return Compressor(config).formatted(kept_passages(nodes, config), query=query)


def templates(config: CompressionConfig, kept: Sequence[KeptPassage]) -> list[str]:
    """Return for each passage the `text_template` that shows it in the format of the options, with its number.

    The text takes the place of `{content}`. If lines of it need a backslash, which no template could add, the template
    contains the text itself.
    """
    compressor = Compressor(config)
    bare = compressor.entries([replace(part, text=_PLACE) for part in kept])
    return [
        _template(around, part.text, entry)
        for around, part, entry in zip(bare, kept, compressor.entries(kept), strict=True)
    ]


def showing(item: NodeWithScore, template: str) -> NodeWithScore:
    """Return `item` with a copy of its node whose `get_content(MetadataMode.LLM)` follows the template.

    A node of a class without templates stays as it is.
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


def cite(
    quote: str, nodes: Sequence[NodeWithScore], *, metadata_map: Mapping[str, str] | None = None
) -> list[CitationBlock]:
    """Return where a quote comes from, as blocks for a chat message; no blocks if no node contains it.

    nodes: as CtxCompressPostprocessor returned them; other nodes count as uncut. `source` is the node's id, `title` its
    title or path, and `additional_location_info` has `start_char_idx` and `end_char_idx`, half-open offsets into the
    node's original text. A quote across a gap has one block for each part. White space may differ, and the quote may
    have quotation marks around it and dots ("...") where it skips text. metadata_map: the same as for
    CtxCompressPostprocessor.
    """
    config = CompressionConfig(metadata_map=metadata_map or {})
    return [
        CitationBlock(
            cited_content=TextBlock(text=text),
            source=citation.passage.id,
            title=citation.passage.title or citation.passage.file_path or "",
            additional_location_info={"start_char_idx": span.start, "end_char_idx": span.end},
        )
        for citation in Compressor(config).cite(quote, kept_passages(nodes, config))
        for span, text in zip(citation.spans, citation.texts, strict=True)
    ]
