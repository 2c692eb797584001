"""The options of a component as LlamaIndex writes them into a dictionary or JSON."""

from collections.abc import Mapping
from os import PathLike, fspath
from typing import Any

from llama_index.core.bridge.pydantic import field_serializer
from typing_extensions import override

from ctxcompress.tools.component_options import ComponentOptions
from llamaindex_ctxcompress.embeddings import as_encoder, read_back, written_down
from llamaindex_ctxcompress.llms import as_language_model, read_back_llm, written_down_llm
from llamaindex_ctxcompress.window import context_window

__all__ = ["SerializedOptions"]


class SerializedOptions(ComponentOptions):
    """The options of a component, which can be written as JSON. A callable `encoding` is written by its name alone."""

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

    @staticmethod
    def _read_back(options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the models among the options, made again of what was written down of them."""
        readers = {"encoder": read_back, "llm": read_back_llm}
        return {name: read(options[name]) for name, read in readers.items() if name in options}

    @field_serializer("encoding")
    def _name_of_encoding(self, encoding: object) -> str:
        """Return a callable's name in brackets, which is no encoding's name: reading it back is refused."""
        if isinstance(encoding, str):
            return encoding
        return f"<callable {getattr(encoding, '__qualname__', type(encoding).__qualname__)}>"

    @field_serializer("encoder")
    def _description_of_encoder(self, encoder: object) -> object:
        return written_down(encoder)

    @field_serializer("llm", check_fields=False)
    def _description_of_llm(self, llm: object) -> object:
        return written_down_llm(llm)

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
