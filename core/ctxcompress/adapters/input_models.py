"""The arguments of the tools as pydantic models, of which frameworks make the schemas that language models read.

Only the adapters import it: pydantic comes with their frameworks.
"""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, create_model, model_validator

from ctxcompress.agents.arguments import QUERY, Parameters
from ctxcompress.agents.keeper import HANDLE, LINES, QUESTION
from ctxcompress.agents.preview_tools import CHUNK_ID, MAX_TOKENS

__all__ = ["ExpandInput", "LeftOutInput", "NoInput", "SearchInput", "query_input"]

_TYPES: Mapping[str, Any] = {"integer": int, "number": float, "boolean": bool}


class NoInput(BaseModel):
    pass


class SearchInput(BaseModel):
    query: str = Field(description=QUERY)


class ExpandInput(BaseModel):
    # Models write an id of digits as a number.
    model_config = ConfigDict(coerce_numbers_to_str=True)

    chunk_id: str = Field(description=CHUNK_ID)
    max_tokens: int | None = Field(default=None, ge=1, description=MAX_TOKENS)


class LeftOutInput(BaseModel):
    # Models write a single line as a number.
    model_config = ConfigDict(coerce_numbers_to_str=True)

    handle: str = Field(description=HANDLE)
    lines: str | None = Field(default=None, description=LINES)
    question: str | None = Field(default=None, description=QUESTION)


def query_input(parameters: Parameters) -> type[BaseModel]:
    """Return a model of the search tool's arguments, which the core checks."""

    class Checked(BaseModel):
        model_config = ConfigDict(extra="forbid")

        @model_validator(mode="before")
        @classmethod
        def _check(cls, given: object) -> object:
            # Before pydantic looks at the types: it would take "10" or True for a number.
            if isinstance(given, Mapping):
                parameters.read(given)
            return given

    fields: dict[str, Any] = {
        name: (
            _TYPES[parameter.kind] | None if parameter.nullable else _TYPES[parameter.kind],
            Field(parameter.default, ge=parameter.least, le=parameter.most, description=parameter.description),
        )
        for name, parameter in parameters.besides_query.items()
    }
    return create_model("QueryInput", __base__=Checked, query=(str, Field(min_length=1, description=QUERY)), **fields)
