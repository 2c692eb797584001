"""The options of a component as LlamaIndex writes them into a dictionary or JSON."""

from os import PathLike, fspath
from typing import Any

from llama_index.core.bridge.pydantic import ConfigDict, field_serializer
from typing_extensions import override

from ctxcompress.adapters.component_options import ComponentOptions
from llamaindex_ctxcompress.embeddings import as_encoder
from llamaindex_ctxcompress.llms import as_language_model
from llamaindex_ctxcompress.window import context_window
from llamaindex_ctxcompress.written_models import written_down

__all__ = ["SerializedOptions"]


class SerializedOptions(ComponentOptions):
    """The options of a component, which can be written as JSON. A callable `encoding` is written by its name alone."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    @staticmethod
    @override
    def _as_encoder(encoder: object) -> Any:
        return as_encoder(encoder)

    @staticmethod
    @override
    def _as_language_model(llm: object) -> Any:
        return as_language_model(llm)

    @staticmethod
    @override
    def _context_window(model: object) -> int | None:
        return context_window(model)

    @field_serializer("encoding")
    def _name_of_encoding(self, encoding: object) -> str:
        """Return a callable's name in brackets, which is no encoding's name: reading it back is refused."""
        if isinstance(encoding, str):
            return encoding
        return f"<callable {getattr(encoding, '__qualname__', type(encoding).__qualname__)}>"

    @field_serializer("encoder")
    def _description_of_encoder(self, encoder: object) -> object:
        return written_down("encoder", encoder)

    @field_serializer("llm", check_fields=False)
    def _description_of_llm(self, llm: object) -> object:
        return written_down("llm", llm)

    @field_serializer("trace_to")
    def _path_as_text(self, trace_to: str | PathLike[str] | None) -> str | None:
        return None if trace_to is None else fspath(trace_to)

    @field_serializer("cache")
    def _nothing_of_cache(self, _: object) -> None:
        """Write no cache: it only saves time, and can be given again."""

    @field_serializer("telemetry")
    def _switch_of_telemetry(self, telemetry: object) -> bool:
        """Write no observer: it changes nothing, and can be given again."""
        return telemetry is True
