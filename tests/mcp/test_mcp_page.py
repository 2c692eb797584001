"""What docs/mcp.md says of arguments and results is so."""

import json
import re
from pathlib import Path

from ctxcompress.agents.query_tool import OUTPUT_SCHEMA, QueryTool

PAGE = (Path(__file__).parents[2] / "docs" / "mcp.md").read_text(encoding="utf-8")


def test_the_arguments_are_those_of_the_tool() -> None:
    rows = re.findall(r"^\| `(\w+)` \| ([^|\s]+) \|\s*([\d.]*)(?: to )?([\d.]*)\s*\|", PAGE, re.MULTILINE)
    said = {name: [json.loads(value) if value else None for value in values] for name, *values in rows}
    assert said == {
        name: [of.default, of.least, of.most] for name, of in QueryTool.of().parameters.besides_query.items()
    }


def test_the_result_is_as_the_schema_has_it() -> None:
    import jsonschema

    client, result = (json.loads(block) for block in re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL))
    jsonschema.validate(result, dict(OUTPUT_SCHEMA))
    assert client["mcpServers"]["docs"]["args"][0] == "mcp"
