"""The playground's server: whom it answers, what it has, and what a request gets."""

import asyncio
import json
import subprocess
import sys
import webbrowser
from collections.abc import Sequence
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from starlette.testclient import TestClient
from starlette.types import ASGIApp, Receive
from typer.testing import CliRunner

import ctxcompress.apps.playground as playground
from ctxcompress import Passage, compress
from ctxcompress.apps.cli.app import app
from ctxcompress.apps.index import FolderIndex
from ctxcompress.apps.loopback import local_server
from ctxcompress.apps.playground import Source, found_in
from ctxcompress.apps.playground.server import LIMITS, application
from ctxcompress.apps.prices import InputPrice

QUESTION = "what is the default timeout?"
PASSAGES = [
    Passage("client", "The pool has ten connections. The default timeout is 30 seconds.", file_path="client.md"),
    Passage("news", "The logo was redrawn in spring. " * 5, title="What is new"),
]
HOSTILE = "</div><script>alert(1)</script><img src=x onerror=alert(2)> the default timeout \u202e is \ud800 5"


def client(source: Source | None = None, name: str = "two files", price: InputPrice | None = None) -> TestClient:
    served = application(source or (lambda _: PASSAGES), name, price)
    return TestClient(local_server(served, 8765, LIMITS).config.app, base_url="http://127.0.0.1:8765")


def asked(server: TestClient, **settings: object) -> dict[str, Any]:
    response = server.post("/compress", json={"query": QUESTION, "max_tokens": 10, **settings})
    assert response.status_code == 200, response.text
    return response.json()


def test_the_page_has_no_script_or_style_within_and_may_ask_nobody_else() -> None:
    response = client().get("/")
    assert response.status_code == 200
    policy = dict(part.split(" ", 1) for part in response.headers["content-security-policy"].split("; "))
    assert policy.pop("default-src") == "'none'"
    assert set(policy.values()) == {"'self'", "'none'"}
    assert "://" not in response.text
    assert response.text.count("<script") == response.text.count('<script src="/playground.js" defer></script>') == 1
    assert not [sign for sign in ("<style", "style=", "onclick", "onload") if sign in response.text]
    for path in ("/playground.js", "/playground.css"):
        assert "://" not in client().get(path).text


def test_a_preset_that_needs_scores_says_so() -> None:
    scored = [Passage(each.id, each.text, score=0.9) for each in PASSAGES]
    for source, preset, note in (
        (PASSAGES, None, ""),
        (PASSAGES, "page", ""),
        (PASSAGES, "docs", "Most of this preset judges scores of a retriever"),
        (scored, "docs", ""),
    ):
        found = asked(client(lambda _, texts=source: texts), preset=preset)["note"]  # type: ignore[misc]
        assert found.startswith(note)
        assert bool(found) == bool(note)


HOSTS = ("evil.example", "evil.example:8765", "127.0.0.1.evil.example:8765", "127.0.0.1:1")
ORIGINS = ("http://evil.example", "https://127.0.0.1:8765", "127.0.0.1:8765", "null")


@pytest.mark.parametrize("headers", [*({"Host": host} for host in HOSTS), *({"Origin": origin} for origin in ORIGINS)])
def test_another_host_or_origin_is_refused(headers: dict[str, str]) -> None:
    for response in (client().get("/", headers=headers), client().post("/compress", json={}, headers=headers)):
        assert response.status_code == (421 if "Host" in headers else 403)
        assert "timeout" not in response.text
    for own in ({"Host": "localhost:8765"}, {"Origin": "http://127.0.0.1:8765"}):
        assert client().post("/compress", json={}, headers=own).status_code == 200


@pytest.mark.parametrize(
    "path", ["/server.py", "/page.html", "/../server.py", "/%2e%2e/server.py", "//etc/passwd", "/client.md", "/."]
)
async def test_nothing_but_the_files_of_the_page_is_there(path: str) -> None:
    async def receive() -> Any:
        return {"type": "http.request", "body": b""}

    assert await status(application(lambda _: PASSAGES, "a file"), "GET", path, receive) == 404


async def status(served: ASGIApp, method: str, path: str, receive: Receive) -> int:
    """The status of an answer to a request whose path no client has tidied up."""
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": method, "path": path, "headers": [], "query_string": b""}
    await asyncio.wait_for(served(scope, receive, send), 60)
    return sent[0]["status"]


def test_a_request_has_a_method_and_a_size() -> None:
    assert client().get("/compress").status_code == 405
    assert client().post("/compress", content=b"x" * (LIMITS.body_bytes + 1)).status_code == 413
    assert client().post("/compress", content=iter([b"x" * 60_000] * 2)).status_code == 413


def test_the_answer_is_the_compression_with_its_reasons_and_numbers() -> None:
    answer = asked(client())
    expected = compress(QUESTION, PASSAGES, max_tokens=10)
    assert answer["text"] == expected.text
    stats, tokens_in = answer["stats"], expected.original.tokens()
    assert (stats["tokens"], stats["tokens_in"]) == (expected.tokens, tokens_in)
    assert stats["saved"] == pytest.approx(1 - expected.tokens / tokens_in)
    html = answer["html"]
    assert f"{expected.tokens}</strong> of {tokens_in} tokens" in html["numbers"]
    assert 'class="p kept' in html["passages"]
    assert "The logo was redrawn in spring." in html["passages"]
    assert "Other text is worth more of the budget." in html["passages"]


def test_the_answer_says_what_is_saved_if_the_price_is_known() -> None:
    price = InputPrice.of("gpt-5-mini")
    answer = asked(client(price=price))
    stats = answer["stats"]
    saving = price.saving([(stats["tokens_in"], stats["tokens"])], 1_000)
    numbers = answer["html"]["numbers"]
    assert f"<strong>${saving.before - saving.after:,.2f}</strong> of ${saving.before:,.2f}" in numbers
    assert "1,000 calls of gpt-5-mini" in numbers
    assert "calls of" not in asked(client())["html"]["numbers"]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"max_tokens": 0}, "max_tokens is 0; it must be at least 1"),
        ({"preset": "doc"}, "preset is 'doc'; give one of docs"),
        ({"encoder": "torch"}, "encoder is 'torch'; give one of"),
        ({"adaptive": 7}, "give True, False or a number"),
        ({"query": 7}, "give a string"),
        ({"cache": "memory"}, "there is no setting 'cache'; the settings are query"),
        ({"formt": "xml"}, "did you mean 'format'?"),
    ],
)
def test_a_wrong_setting_gets_a_message(settings: dict[str, object], said: str) -> None:
    response = client().post("/compress", json={"query": QUESTION, **settings})
    assert response.status_code == 422
    assert said in response.json()["error"]


@pytest.mark.parametrize(
    ("body", "status"), [(b"", 400), (b"{", 400), (b"\xff", 400), (b"[" * 90_000, 400), (b"[]", 422), (b"null", 422)]
)
def test_what_is_no_request_gets_a_message(body: bytes, status: int) -> None:
    response = client().post("/compress", content=body)
    assert response.status_code == status
    assert "the request is" in response.json()["error"]


@pytest.mark.parametrize("format", ["plain", "xml", "json", "preview"])
def test_a_hostile_text_is_text(format: str) -> None:
    hostile = [Passage(HOSTILE, HOSTILE, title=HOSTILE, file_path=HOSTILE), *PASSAGES]
    server = client(lambda _: hostile, HOSTILE)
    response = server.post("/compress", content=json.dumps({"query": HOSTILE, "max_tokens": 160, "format": format}))
    assert response.status_code == 200
    html = response.json()["html"]
    assert "alert" in html["passages"]
    for shown in (*html.values(), server.get("/").text):
        assert not [sign for sign in ("<script>", "<img src=x", "\u202e", "\ud800") if sign in shown]


def test_a_folder_gives_what_it_has_for_the_question(tmp_path: Path) -> None:
    (tmp_path / "client.md").write_text("# Client\n\nThe default timeout is 30 seconds.\n")
    (tmp_path / "news.md").write_text("# News\n\nThe logo was redrawn.\n")
    server = client(found_in(FolderIndex(tmp_path)))
    assert "30 seconds" in asked(server)["text"]
    assert "client.md#L1-L3" in asked(server)["html"]["passages"]
    assert asked(server, query="")["note"] == "Ask a question to find passages in this folder."
    nothing = asked(server, query="zeppelin")
    assert (nothing["note"][:7], nothing["text"], nothing["html"]["passages"]) == ("No text", "", "")


async def test_a_request_that_the_page_has_dropped_ends() -> None:
    goes_on, begun = Event(), Event()

    def held_up(_: str) -> Sequence[Passage]:
        begun.set()
        assert goes_on.wait(60)
        return PASSAGES

    messages = [{"type": "http.request", "body": b"{}", "more_body": False}]

    async def receive() -> Any:
        if messages:
            return messages.pop()
        await asyncio.to_thread(begun.wait, 60)
        return {"type": "http.disconnect"}

    assert await status(application(held_up, "a file"), "POST", "/compress", receive) == 499
    goes_on.set()


def test_the_command_says_what_is_wrong(tmp_path: Path) -> None:
    for arguments, code, said in (
        ((), 2, "give either FILE, one or more, or --docs DIR"),
        ((str(tmp_path / "none"),), 1, "is skipped"),
    ):
        ended = CliRunner().invoke(app, ["play", *arguments])
        assert (ended.exit_code, said in ended.stderr) == (code, True)


@pytest.mark.parametrize("missing", ["starlette", "uvicorn"])
def test_a_missing_extra_is_named(missing: str) -> None:
    program = (
        f"import sys; sys.modules[{missing!r}] = None; from ctxcompress.apps.playground import play; play(None, '')"
    )
    ended = subprocess.run([sys.executable, "-c", program[:-1] + ", port=0)"], capture_output=True, text=True)
    assert f"the playground needs {missing}; run: pip install 'ctxcompress[mcp]'" in ended.stderr


def test_a_browser_is_opened_only_if_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    monkeypatch.setattr(playground, "play", lambda *_, port, price, ready: ready(f"http://127.0.0.1:{port}"))
    for arguments in (["--port", "0"], ["--open"]):
        ended = CliRunner().invoke(app, ["play", "--docs", str(tmp_path), *arguments])
        assert ended.exit_code == 0
    assert ended.stdout == "http://127.0.0.1:8765\n"
    assert opened == ["http://127.0.0.1:8765"]
