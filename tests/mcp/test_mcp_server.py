"""The server through the client of the official SDK, in one process: both generations of the protocol."""

import threading
from concurrent.futures import CancelledError
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import jsonschema
import pytest
from mcp import Client, MCPError
from mcp.server import Server
from mcp.types import CallToolResult, ListToolsResult
from mcp_docs import ASKED, FILES, QUERY, SECRET, ids_of, make_docs, reading_is_held_up, text_of

from ctxcompress import Compressor
from ctxcompress.agents.query_tool import OUTPUT_SCHEMA, Answer, QueryTool
from ctxcompress.apps.index import FolderIndex
from ctxcompress.apps.mcp.server import make_server

TOOL = QueryTool.of()


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    return make_docs(tmp_path)


@pytest.fixture
def index(docs: Path) -> FolderIndex:
    return FolderIndex(docs)


@pytest.fixture
def server(index: FolderIndex) -> Server:
    return make_server(index, TOOL)


@dataclass(frozen=True)
class Calls:
    """A client that connects for each call: it has to leave in the task that it came in, which a fixture cannot."""

    server: Server
    mode: str

    async def list_tools(self) -> ListToolsResult:
        async with Client(self.server, mode=self.mode) as client:
            return await client.list_tools()

    async def call_tool(self, name: str, arguments: dict[str, object] | None) -> CallToolResult:
        refused: MCPError | None = None
        async with Client(self.server, mode=self.mode) as client:
            try:
                return await client.call_tool(name, arguments)
            except MCPError as error:  # the client would put it into groups as it leaves
                refused = error
        assert refused
        raise refused


@pytest.fixture(params=["auto", "legacy"])
def client(server: Server, request: pytest.FixtureRequest) -> Calls:
    """legacy: JSON-RPC over streams, after an initialize handshake."""
    return Calls(server, request.param)


async def test_the_tools_are_listed_with_their_schemas(client: Calls) -> None:
    query, expand = (await client.list_tools()).tools
    assert (query.name, expand.name) == (QUERY, "expand_chunk")
    assert query.input_schema == TOOL.parameters.schema
    assert query.output_schema == dict(OUTPUT_SCHEMA)
    assert query.input_schema["properties"]["top_n"] == {
        "type": ["integer", "null"],
        "description": "The most passages kept, the best ones. null switches this off.",
        "default": None,
        "minimum": 1,
        "maximum": 100,
    }
    for tool in (query, expand):
        jsonschema.Draft202012Validator.check_schema(tool.input_schema)
        jsonschema.Draft202012Validator.check_schema(tool.output_schema)
        assert tool.annotations.read_only_hint
        assert len(tool.description) > 80


async def test_a_call_returns_text_for_the_model_and_structure_for_programs(client: Calls) -> None:
    result = await client.call_tool(QUERY, ASKED)
    assert not result.is_error
    told = result.structured_content
    jsonschema.validate(told, dict(OUTPUT_SCHEMA))
    first = told["results"][0]
    assert first["file_path"] == first["doc_id"] in ("docs/client.md", "docs/copy.md")
    assert first["header_path"] == "Client > Timeouts"
    assert first["score"] == 1.0
    assert "The default timeout of the client is 30 seconds." in first["content"]
    assert told["compression_stats"]["clusters_merged"] == 1
    assert first["chunk_id"] in text_of(result)
    assert first["content"].strip() in text_of(result)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({**ASKED, "top_n": 0}, "top_n is 0; give a whole number from 1 to 100"),
        ({**ASKED, "limit": 5}, "there is no argument 'limit'; the arguments are query, top_n"),
        ({"query": 5}, "query is 5; give a question or keywords, as a string"),
        (None, "query is None; give a question or keywords, as a string"),
    ],
)
async def test_wrong_arguments_are_an_error_that_the_model_can_read(
    client: Calls, arguments: dict[str, object] | None, message: str
) -> None:
    result = await client.call_tool(QUERY, arguments)
    assert result.is_error
    assert text_of(result).startswith(message)
    assert not (await client.call_tool(QUERY, ASKED)).is_error


async def test_a_tool_that_is_not_there_is_an_error_of_the_protocol(client: Calls) -> None:
    with pytest.raises(MCPError, match="there is no tool 'rm'; the tools are query_documents_compressed, expand_chunk"):
        await client.call_tool("rm", {})


async def test_a_chunk_is_read_in_full_by_the_id_that_the_text_shows(client: Calls) -> None:
    found = await client.call_tool(QUERY, {"query": "logs"})
    (name,) = ids_of(found)
    assert name in text_of(found).splitlines()[0]
    expanded = await client.call_tool("expand_chunk", {"chunk_id": f" [{name}]"})
    assert text_of(expanded) == expanded.structured_content["content"]
    assert text_of(expanded) in FILES["docs/client.md"]
    assert expanded.structured_content["chunk_id"] == name
    assert expanded.structured_content["file_path"] == "docs/client.md"


async def test_rows_are_found_and_read_below_their_header(client: Calls, docs: Path) -> None:
    rows = [f'"Person {n}",Room {n % 7},SN{n},{n}.50' for n in range(100, 200)]
    (docs / "staff.csv").write_text("\n".join(["name,room,serial number,net price", *rows]), encoding="utf-8")
    found = await client.call_tool(QUERY, {"query": "what is the serial number of Person 167?"})
    assert rows[67] in text_of(found)
    first = ids_of(found)[0]
    lines = text_of(await client.call_tool("expand_chunk", {"chunk_id": first})).splitlines()
    assert lines[0] == "name,room,serial number,net price"
    assert rows[67] in lines


async def test_a_chunk_is_cut_to_what_answers_a_query(client: Calls) -> None:
    (name, *_) = ids_of(await client.call_tool(QUERY, ASKED))
    asked = {"chunk_id": name, "max_tokens": 12, "query": "how is the timeout set?"}
    text = text_of(await client.call_tool("expand_chunk", asked))
    assert "It is set with `timeout=`." in text
    assert Compressor().count(text) <= 12
    assert text_of(await client.call_tool("expand_chunk", {**asked, "max_tokens": 12.0})) == text


async def test_a_chunk_that_is_cut_says_how_much_is_left_out(index: FolderIndex, docs: Path) -> None:
    text = "\n".join(["# Pump", "", *(f"- Setting {n} of the pump is {n * 7} litres an hour." for n in range(24))])
    (docs / "pump.md").write_text(text, encoding="utf-8")
    count = Compressor().count
    async with Client(make_server(index, QueryTool.of(max_tokens=200))) as client:
        for asked in ({}, {"max_tokens": 100}, {"max_tokens": 100, "query": "what is the setting 17?"}):
            result = await client.call_tool("expand_chunk", {"chunk_id": "pump.md#L1-L26", **asked})
            told = result.structured_content
            assert told["tokens_left_out"] == count(text) - count(told["content"]) > 0
            assert text_of(result) == f"{told['content']}\n[… {told['tokens_left_out']} tokens left out]"
            assert count(text_of(result)) <= asked.get("max_tokens", 200)
        assert "Setting 17" in text_of(result)
    async with Client(make_server(index, QueryTool.of(max_tokens=1_000))) as client:
        whole = await client.call_tool("expand_chunk", {"chunk_id": "pump.md#L1-L26"})
        assert text_of(whole) == text
        assert whole.structured_content["tokens_left_out"] == 0


@pytest.mark.parametrize(
    "name",
    [
        "../secret.md#L1-L3",
        "docs/../../secret.md#L1-L3",
        "/etc/passwd",
        "file:///etc/passwd",
        "..%2fsecret.md#L1-L3",
        "docs\\..\\..\\secret.md",
        "docs/client.md\0#L1-L3",
        "link.md#L1-L3",
        "outside/secret.md#L1-L3",
        "\ud800",
        "",
        "~/.ssh/id_rsa",
    ],
)
async def test_no_id_leads_out_of_the_folder(client: Calls, docs: Path, name: str) -> None:
    (docs / "link.md").symlink_to(docs.parent / "secret.md")
    (docs / "outside").symlink_to(docs.parent)
    try:
        result = await client.call_tool("expand_chunk", {"chunk_id": name})
    except (MCPError, UnicodeEncodeError):
        return  # what is no valid JSON is refused earlier
    assert result.is_error
    assert SECRET not in text_of(result)
    assert "root:" not in text_of(result)


async def test_changes_of_the_files_are_seen_by_the_next_call(client: Calls, docs: Path) -> None:
    asked = {"query": "zeppelin"}
    assert text_of(await client.call_tool(QUERY, asked)).startswith("No results.")
    (docs / "new.md").write_text("# Airships\n\nA zeppelin is an airship.")
    assert ids_of(await client.call_tool(QUERY, asked)) == ["new.md#L1-L3"]
    (docs / "new.md").write_text("# Airships\n\n\n\nThe zeppelin was an airship.")
    assert ids_of(await client.call_tool(QUERY, asked)) == ["new.md#L1-L5"]
    assert (await client.call_tool("expand_chunk", {"chunk_id": "new.md#L1-L3"})).is_error
    (docs / "new.md").unlink()
    assert ids_of(await client.call_tool(QUERY, asked)) == []


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_calls_at_the_same_time_get_their_own_answers(server: Server, mode: str) -> None:
    asked = [{"query": word} for word in ("timeout of the client", "logs", "server", "open_pool")] * 5
    together: dict[int, list[str]] = {}

    async def call(client: Client, number: int) -> None:
        together[number] = ids_of(await client.call_tool(QUERY, asked[number]))

    async with Client(server, mode=mode) as client:
        alone = [ids_of(await client.call_tool(QUERY, arguments)) for arguments in asked[:4]]
        async with anyio.create_task_group() as group:
            for number in range(20):
                group.start_soon(call, client, number)
    assert [together[number] for number in range(20)] == alone * 5
    assert len(set(map(tuple, alone))) == 4


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_client_that_goes_in_the_middle_of_a_call_is_not_waited_for(
    server: Server, index: FolderIndex, mode: str
) -> None:
    with reading_is_held_up():  # as if another search was reading a large folder
        async with Client(server, mode=mode) as leaving, anyio.create_task_group() as group:
            group.start_soon(leaving.call_tool, QUERY, ASKED)
            await leaving.list_tools()
            group.cancel_scope.cancel()
        async with Client(server, mode=mode) as other:
            assert len((await other.list_tools()).tools) == 2
    async with Client(server, mode=mode) as other:
        assert ids_of(await other.call_tool(QUERY, ASKED))


async def test_clients_that_go_pile_up_no_threads(server: Server, index: FolderIndex) -> None:
    before = threading.active_count()
    with reading_is_held_up():  # as if another search was reading a large folder
        for _ in range(10):
            async with Client(server) as leaving, anyio.create_task_group() as group:
                for _ in range(5):
                    group.start_soon(leaving.call_tool, QUERY, ASKED)
                await leaving.list_tools()
                group.cancel_scope.cancel()
        assert threading.active_count() - before <= 2
    async with Client(server) as other:
        assert ids_of(await other.call_tool(QUERY, ASKED))


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_what_a_client_that_goes_has_asked_for_is_not_worked_out(
    server: Server, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    searching, has_gone, ended = threading.Event(), threading.Event(), threading.Event()
    search, answer, outcomes = FolderIndex.find, QueryTool.answer, []

    def held_up(*arguments: Any) -> Any:
        searching.set()
        assert has_gone.wait(60)
        return search(*arguments)

    def watched(*arguments: Any, **options: Any) -> Answer:
        try:
            outcomes.append(answer(*arguments, **options))
        except CancelledError as error:
            outcomes.append(error)
            raise
        finally:
            ended.set()
        return outcomes[-1]

    monkeypatch.setattr(FolderIndex, "find", held_up)
    monkeypatch.setattr(QueryTool, "answer", watched)
    async with Client(server, mode=mode) as leaving, anyio.create_task_group() as group:
        group.start_soon(leaving.call_tool, QUERY, ASKED)
        assert await anyio.to_thread.run_sync(searching.wait, 60)
        group.cancel_scope.cancel()
    has_gone.set()
    assert await anyio.to_thread.run_sync(ended.wait, 60)
    assert [type(outcome) for outcome in outcomes] == [CancelledError]


@pytest.mark.parametrize("max_tokens", [40, 60, 200])
async def test_no_answer_is_longer_than_the_server_allows(index: FolderIndex, max_tokens: int) -> None:
    count = Compressor().count
    async with Client(make_server(index, QueryTool.of(max_tokens=max_tokens, top_n=5))) as client:
        for show_stats in (False, True):
            asked = {**ASKED, "min_score": 0, "top_n": 100, "show_stats": show_stats}
            assert 0 < count(text_of(await client.call_tool(QUERY, asked))) <= max_tokens
        (name, *_) = ids_of(await client.call_tool(QUERY, {"query": "logs"}))
        for wanted in (None, 10, 1_000):
            expanded = await client.call_tool("expand_chunk", {"chunk_id": name, "max_tokens": wanted})
            assert 0 < count(text_of(expanded)) <= min(max_tokens, wanted or max_tokens)
