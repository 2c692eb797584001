"""Calls of the MCP server's tools: an answer within its schema, or an error of ours."""

import atexit
import json
import shutil
import tempfile
from pathlib import Path

import jsonschema
from fuzzing import json_changed, json_of
from mcp.types import CallToolRequestParams
from pydantic import ValidationError

from ctxcompress.agents.query_tool import QueryTool
from ctxcompress.apps.index import FolderIndex
from ctxcompress.apps.mcp.tools import DocumentTools, ToolResult
from ctxcompress.errors import CtxCompressError

mutate = json_changed(
    *(
        "query_documents_compressed",
        "expand_chunk",
        "name",
        "arguments",
        "query",
        "chunk_id",
        "max_tokens",
        "top_n",
        "min_score",
    ),
    *(
        "client.md#L1-L5",
        "client.md",
        "[client.md#L1-L5]",
        "…md#L1-L5",
        "../secret.md",
        "/etc/passwd",
        "client.md\0",
        "timeout",
    ),
    *("ngram_threshold", "similarity_threshold", "show_stats", "filters", "secret.md#L1", "..%2fsecret.md", "format"),
)
SECRET = "xyzzy-secret"
_FOLDER = Path(tempfile.mkdtemp())
atexit.register(shutil.rmtree, _FOLDER, ignore_errors=True)
_SERVED = _FOLDER / "served"
_SERVED.mkdir()
(_FOLDER / "secret.md").write_text(f"# Client\n\nThe {SECRET} default timeout.", encoding="utf-8")
(_SERVED / "client.md").write_text(
    "# Client\n\nThe default timeout is 30 s.\n\n" + "Logs are kept. " * 40, encoding="utf-8"
)
(_SERVED / "pool.py").write_text("def open_pool(size):\n    return [size]\n", encoding="utf-8")
_TOOLS = {spec.name: spec for spec in DocumentTools(FolderIndex(_SERVED), QueryTool.of()).specs()}


def check(data: bytes) -> None:
    try:
        asked = CallToolRequestParams.model_validate(json_of(data))
        spec = _TOOLS[asked.name]
    except (ValidationError, KeyError):
        return
    try:
        result = spec.call(asked.arguments or {})
    except CtxCompressError as error:
        result = ToolResult(str(error), {})
    assert SECRET not in result.text
    if result.structured:
        jsonschema.validate(json.loads(json.dumps(result.structured, allow_nan=False)), dict(spec.output_schema))
