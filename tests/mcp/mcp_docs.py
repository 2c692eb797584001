"""The documents that the tests of the server serve, and how it is started as a program."""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from threading import Event
from unittest.mock import patch

import mcp.types as types

from ctxcompress.apps.index.folder import Folder

COMMAND = (sys.executable, "-m", "ctxcompress.apps.cli", "mcp")
ENVIRONMENT = {name: os.environ[name] for name in ("PYTHONPATH", "TIKTOKEN_CACHE_DIR") if name in os.environ}
QUERY = "query_documents_compressed"
ASKED = {"query": "what is the default timeout of the client?"}
SECRET = "xyzzy-secret"

TIMEOUTS = (
    "# Client\n\n## Timeouts\n\nThe default timeout of the client is 30 seconds. It is set with `timeout=`. "
    "Nobody has measured how long a restart takes, and it is not known whether that matters to anybody at all.\n"
)
FILES = {
    "docs/client.md": TIMEOUTS + "\n## Logs\n\n" + "Logs are kept for a week and are then thrown away. " * 6,
    "docs/copy.md": TIMEOUTS,
    "docs/server.md": "# Server\n\nThe server has a timeout of its own, which a client does not see.\n",
    "src/pool.py": "def open_pool(size):\n    return [connect() for _ in range(size)]\n",
}


@contextmanager
def served(docs: Path, *options: str) -> Iterator[int]:
    """A server of the folder over HTTP as a program: its port."""
    arguments = [*COMMAND, "--docs", str(docs), "--http", "--port", "0", *options]
    with subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr
            said = server.stderr.readline()
            assert said.endswith("/mcp\n"), said
            yield int(said.rpartition(":")[2].removesuffix("/mcp\n"))
            assert server.poll() is None, server.stderr.read()
        finally:
            server.terminate()


def request(
    port: int, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
) -> tuple[int, str, str]:
    """What the server answers: the status, the type of the content, and the content."""
    with closing(HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        connection.request(method, path, body, dict(headers or {}))
        response = connection.getresponse()
        return response.status, response.getheader("Content-Type") or "", response.read().decode()


def make_docs(folder: Path) -> Path:
    """The folder, with the documents, and beside it what must not be seen."""
    served = folder / "served"
    for name, text in FILES.items():
        (served / name).parent.mkdir(parents=True, exist_ok=True)
        (served / name).write_text(text, encoding="utf-8")
    (folder / "secret.md").write_text(f"# Client\n\nThe {SECRET} default timeout of the client.")
    return served


def text_of(result: types.CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, types.TextContent)
    return content.text


def ids_of(result: types.CallToolResult) -> list[str]:
    return [found["chunk_id"] for found in result.structured_content["results"]]


@contextmanager
def reading_is_held_up() -> Iterator[None]:
    """Within this, searches wait for their folder to be read."""
    goes_on, files = Event(), Folder.files

    def held_up(folder: Folder) -> object:
        assert goes_on.wait(60)
        return files(folder)

    with patch.object(Folder, "files", held_up):
        try:
            yield
        finally:
            goes_on.set()
