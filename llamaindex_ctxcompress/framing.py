"""How texts look in the prompt: with the nodes' metadata around them, by the nodes' templates."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from llama_index.core.schema import BaseNode, MetadataMode, Node, TextNode

from ctxcompress import Passage
from llamaindex_ctxcompress.convert import copy_node

__all__ = ["NodeFrames", "framing"]

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
