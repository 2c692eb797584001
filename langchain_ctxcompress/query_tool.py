"""A tool for agents that searches: what a retriever finds, compressed, with the arguments of the search tool."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.callbacks import Callbacks
from langchain_core.documents import Document
from langchain_core.retrievers import RetrieverLike
from langchain_core.runnables import run_in_executor
from langchain_core.tools import BaseTool, StructuredTool
from pydantic import BaseModel, ConfigDict, Field, create_model, model_validator

from ctxcompress import CompressionConfig
from ctxcompress.querying import (
    DESCRIPTION,
    NAME,
    PARAMETERS,
    QUERY,
    Answer,
    QueryArguments,
    answer,
    answer_off_loop,
    tool_config,
)
from langchain_ctxcompress.convert import compressed_document, passages_from_documents
from langchain_ctxcompress.embeddings import as_encoder

__all__ = ["query_tool"]

_TYPES = {"integer": int, "number": float, "boolean": bool}


class _Checked(BaseModel):
    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _check(cls, given: object) -> object:
        # Before pydantic looks at the types: it would take "10" or True for a number.
        if isinstance(given, Mapping):
            QueryArguments.of(given)
        return given


_FIELDS: dict[str, Any] = {
    name: (
        _TYPES[parameter.kind],
        Field(parameter.default, ge=parameter.least, le=parameter.most, description=parameter.description),
    )
    for name, parameter in PARAMETERS.items()
}
_QueryInput = create_model(
    "QueryInput", __base__=_Checked, query=(str, Field(min_length=1, description=QUERY)), **_FIELDS
)


def query_tool(retriever: RetrieverLike, *, max_tokens: int | None = None, **options: Any) -> BaseTool:
    """The tool `query_documents_compressed` with query, top_n, min_score, similarity_threshold and show_stats.

    It returns what of the documents that `retriever` finds answers the query, each under a line that says where it is
    from, in at most `max_tokens` tokens (2,000 if neither this nor `tier` is given), statistics included. Results below
    `min_score` of the best one's score are left out, copies, and more than two of one document. Its artifact is the
    documents: copies that hold what is kept, as CtxCompressor makes them.

    top_n is 1 to 100, min_score 0 to 1, similarity_threshold 0.5 to 1; another value gives a message with status
    "error" that says so. Scores and embeddings are used where documents carry them: `CtxCompressRetriever` and
    `ScoredSearch` say how.

    retriever: or any runnable from a query to a list of documents; its run is a child of the tool's. It decides how
    many documents there are to choose from: let it find some more than `top_n`.
    options: those of CtxCompressor other than `preset`, which is "docs", and the arguments of the call.

    Raises ValueError for a wrong value. The tool raises on what the retriever, or an encoder, raises.
    """
    config = tool_config(max_tokens, **{**options, "encoder": as_encoder(options.get("encoder"))})
    search = _Search(retriever, config)
    return StructuredTool(
        name=NAME,
        description=DESCRIPTION,
        args_schema=_QueryInput,
        func=search.query,
        coroutine=search.aquery,
        response_format="content_and_artifact",
        handle_validation_error=_message,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Search:
    """What the tool does."""

    retriever: RetrieverLike
    config: CompressionConfig

    def query(self, query: str, callbacks: Callbacks = None, **given: Any) -> tuple[str, list[Document]]:
        asked = QueryArguments(query=query, **given)
        documents = self.retriever.invoke(query, {"callbacks": callbacks})
        found = answer(asked, passages_from_documents(documents, self.config), self.config)
        return self._shown(documents, found)

    async def aquery(self, query: str, callbacks: Callbacks = None, **given: Any) -> tuple[str, list[Document]]:
        asked = QueryArguments(query=query, **given)
        documents = await self.retriever.ainvoke(query, {"callbacks": callbacks})
        # Documents with large metadata take their time to be read and copied.
        passages = await run_in_executor(None, passages_from_documents, documents, self.config)
        found = await answer_off_loop(asked, passages, self.config)
        return await run_in_executor(None, self._shown, documents, found)

    def _shown(self, documents: Sequence[Document], found: Answer) -> tuple[str, list[Document]]:
        kept = found.kept
        return found.text, [compressed_document(documents[part.index], part, self.config) for part in kept]


def _message(error: Any) -> str:
    """What is wrong with the arguments, for the model to read. error: pydantic's, of either version."""
    return "; ".join(found["msg"].removeprefix("Value error, ") for found in error.errors())
