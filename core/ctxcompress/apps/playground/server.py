"""The server of the page: its files, which stand beside this module, and one address that compresses."""

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from importlib.resources import files
from string import Template
from types import MappingProxyType

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ctxcompress.apps.loopback import Limits, local_server, serve_on
from ctxcompress.apps.playground import Source
from ctxcompress.apps.playground.answers import answer
from ctxcompress.apps.playground.settings import FORMATS, PRESETS, encoders
from ctxcompress.apps.prices import InputPrice
from ctxcompress.apps.xray.html import Html, element, label, with_codes
from ctxcompress.apps.xray.page import style_sheet
from ctxcompress.config.options import OPTIONS
from ctxcompress.data.passages import Passage
from ctxcompress.errors import CtxCompressError
from ctxcompress.guarded import cancellable

__all__ = ["LIMITS", "application", "serve_page"]

LIMITS = Limits(body_bytes=100_000)
"""A question is short, and the texts are here already."""
_THREADS = 2
"""Compressions at the same time: one of them may have been overtaken, and ends at its next stage."""
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""The content security policy: nothing but these files, and no script or style within the page."""
_HEADERS: Mapping[str, str] = MappingProxyType(
    {
        "Content-Security-Policy": _POLICY,
        "Cross-Origin-Resource-Policy": "same-origin",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "no-store",
    }
)


def serve_page(source: Source, name: str, port: int, price: InputPrice | None, ready: Callable[[str], object]) -> None:
    """Serve the page until interrupted: see `play`."""
    app = application(source, name, price)
    # Loads what is loaded when it is first used, so that it does not count in the time of the first answer.
    answer(lambda _: [Passage("warm-up", "Some are warm. Others are cold. " * 9)], {"query": "warm", "max_tokens": 9})
    serve_on(port, lambda port: local_server(app, port, LIMITS), ready)


def application(source: Source, name: str, price: InputPrice | None = None) -> Starlette:
    """Make the application. It has the files of the page and POST /compress, and reads no path from a request."""
    return Starlette(
        routes=[
            *(Route(file.path, file.get, methods=["GET"]) for file in _page_files(name)),
            Route("/compress", _Compressing(source, price).post, methods=["POST"]),
        ]
    )


@dataclass(frozen=True, slots=True)
class _PageFile:
    """A file that the server has."""

    path: str
    kind: str
    content: str

    async def get(self, _: Request) -> Response:
        return Response(self.content, media_type=self.kind, headers=_HEADERS)


class _OvertakenError(Exception):
    """The page no longer waits for the answer."""


@dataclass(frozen=True, slots=True)
class _Compressing:
    """Answers requests on threads of its own, so that others are served meanwhile."""

    source: Source
    price: InputPrice | None
    threads: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(_THREADS, "ctxcompress-play"))

    async def post(self, request: Request) -> Response:
        try:
            given = json.loads(await request.body())
        except (ValueError, RecursionError) as error:
            return _json({"error": f"the request is not JSON ({error})"}, 400)
        try:
            return _json(await self._answer(request, given))
        except CtxCompressError as error:
            return _json({"error": str(error)}, 422)
        except _OvertakenError:
            return Response(status_code=499)  # nobody reads it

    async def _answer(self, request: Request, given: object) -> object:
        """Answer, but stop if the client goes away first."""
        with cancellable() as call:
            work = asyncio.wrap_future(self.threads.submit(call, answer, self.source, given, self.price))
            gone = asyncio.ensure_future(request.receive())  # after the body comes nothing but the end
            await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
            gone.cancel()
            if not work.done():
                work.cancel()
                raise _OvertakenError
            return work.result()


def _json(value: object, status: int = 200) -> Response:
    # In ASCII: a text can hold half of a surrogate pair, which UTF-8 has no bytes for.
    return Response(json.dumps(value), status, media_type="application/json", headers=_HEADERS)


def _page_files(name: str) -> list[_PageFile]:
    """Return the files of the page. name: what it says of its texts."""
    style = style_sheet() + _read("playground.css")
    return [
        _PageFile("/", "text/html", _page(name)),
        _PageFile("/playground.css", "text/css", style),
        _PageFile("/playground.js", "text/javascript", _read("playground.js")),
        _PageFile("/icon.svg", "image/svg+xml", _read("icon.svg")),
    ]


def _page(name: str) -> str:
    return Template(_read("page.html")).substitute(
        title=Html.of([with_codes(name)]),
        name=label(name, 80),
        presets=_choices([("", "none"), *((preset, preset) for preset in PRESETS)], ""),
        encoders=_choices(((each, each) for each in encoders()), OPTIONS["encoder"].default),
        formats=_choices(((each, each) for each in FORMATS), OPTIONS["format"].default),
    )


def _choices(choices: Iterable[tuple[str, str]], chosen: object) -> Html:
    return Html.of(
        element("option", {"value": value, **({"selected": ""} if value == chosen else {})}, shown)
        for value, shown in choices
    )


def _read(name: str) -> str:
    return files("ctxcompress.apps.playground").joinpath(name).read_text(encoding="utf-8")
