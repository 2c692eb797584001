"""Models of LlamaIndex in options that are written as JSON, and read back."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.base.llms.base import BaseLLM
from llama_index.core.embeddings.loading import RECOGNIZED_EMBEDDINGS, load_embed_model
from llama_index.core.llms.loading import RECOGNIZED_LLMS, load_llm

__all__ = ["read_back", "written_down"]

_LOADERS: Mapping[str, tuple[Collection[str], Callable[[dict[str, Any]], object]]] = {
    "encoder": (RECOGNIZED_EMBEDDINGS, load_embed_model),
    "llm": (RECOGNIZED_LLMS, load_llm),
}
"""Option -> the classes that LlamaIndex loads by name, and what loads them."""


def written_down(option: str, model: object) -> object:
    """Return the model of an option as JSON can hold it: one of LlamaIndex as it writes itself, of others the class.

    The name of a class is in brackets, so that reading it back is refused.
    """
    if isinstance(model, BaseEmbedding | BaseLLM):
        return model.to_dict()
    return model if isinstance(model, str | None) else f"<{option} {type(model).__qualname__}>"


def read_back(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the models among the options, made again of what was written down of them.

    Raises ValueError for a model whose class LlamaIndex does not know by name.
    """
    return {option: _loaded(option, options[option]) for option in _LOADERS if option in options}


def _loaded(option: str, model: object) -> object:
    """Return the model that LlamaIndex reads from its own description; anything else as it is."""
    if not isinstance(model, Mapping):
        return model
    (known, load), name = _LOADERS[option], model.get("class_name")
    if name not in known:  # the rest may contain an API key, and stays out of the message
        raise ValueError(
            f"{option} is the description of a {name!r}, which LlamaIndex does not load by its name; give the model "
            f"itself: from_dict(data, {option}=...)"
        )
    return load(dict(model))
