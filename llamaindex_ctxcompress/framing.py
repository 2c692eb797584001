"""How a text looks in the prompt: between a node's metadata, as its templates say."""

from collections.abc import Callable

from llama_index.core.schema import BaseNode, MetadataMode, Node, TextNode

from llamaindex_ctxcompress.convert import copy_node

__all__ = ["Framing", "framing"]

Framing = Callable[[str], str]
"""From a text to what `get_content` returns of a node that holds it."""

_KNOWN = (TextNode.get_content, Node.get_content)


def framing(node: BaseNode, mode: MetadataMode) -> Framing:
    """What `get_content(mode)` would return if `node` held another text.

    What does not depend on the text is worked out here, once: a budget asks many times for one
    node. A class with a `get_content` of its own is asked itself, through a copy of the node.
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
