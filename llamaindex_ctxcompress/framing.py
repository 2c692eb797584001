"""How a text looks in the prompt: with the node's metadata around it, by the node's templates."""

from collections.abc import Callable

from llama_index.core.schema import BaseNode, MetadataMode, Node, TextNode

from llamaindex_ctxcompress.convert import copy_node

__all__ = ["Framing", "framing"]

Framing = Callable[[str], str]
"""A function from a text to what `get_content` returns for a node with that text."""

_KNOWN = (TextNode.get_content, Node.get_content)


def framing(node: BaseNode, mode: MetadataMode) -> Framing:
    """Return a function from a text to what `get_content(mode)` would return if `node` held that text.

    Everything that does not depend on the text is computed here, once, because a budget asks many times for one node. A
    class with its own `get_content` is asked through a copy of the node.
    """
    if isinstance(node, TextNode | Node) and type(node).get_content in _KNOWN:
        return _templated(node, mode)
    return _asked(copy_node(node), mode)


def _templated(node: TextNode | Node, mode: MetadataMode) -> Framing:
    metadata = node.get_metadata_str(mode)
    if isinstance(node, TextNode):
        metadata = metadata.strip()
    if not metadata:
        return str
    template = node.text_template
    return lambda text: template.format(content=text, metadata_str=metadata).strip()


def _asked(copy: BaseNode, mode: MetadataMode) -> Framing:
    def ask(text: str) -> str:
        copy.set_content(text)
        return copy.get_content(mode)

    return ask
