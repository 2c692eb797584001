"""The server of the page: its files, and one address that compresses."""

import asyncio
import json
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from types import MappingProxyType

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ctxcompress.apps.loopback.connections import Limits
from ctxcompress.apps.loopback.serving import local_server, serve_on
from ctxcompress.apps.playground import Source
from ctxcompress.apps.playground.answers import answer
from ctxcompress.apps.playground.page import POLICY, PageFile, page_files
from ctxcompress.data.passages import Passage
from ctxcompress.errors import CtxCompressError
from ctxcompress.guarded import cancellable

__all__ = ["LIMITS", "application", "serve_page"]

LIMITS = Limits(body_bytes=100_000)
"""A question is short, and the texts are here already."""
_THREADS = 2
"""Compressions at the same time: one of them may have been overtaken, and ends at its next stage."""
_HEADERS: Mapping[str, str] = MappingProxyType(
    {
        "Content-Security-Policy": POLICY,
        "Cross-Origin-Resource-Policy": "same-origin",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "no-store",
    }
)


def serve_page(source: Source, name: str, port: int, ready: Callable[[str], object]) -> None:
    """Serve the page until interrupted: see `play`."""
    app = application(source, name)
    _warm_up()
    serve_on(port, lambda port: local_server(app, port, LIMITS), ready)


def _warm_up() -> None:
    """Load what is loaded when it is first used, so that it does not count in the time of the first answer."""
    answer(lambda _: [Passage("warm-up", "Some are warm. Others are cold. " * 9)], {"query": "warm", "max_tokens": 9})


def application(source: Source, name: str) -> Starlette:
    """Make the application. It has the files of the page and POST /compress, and reads no path from a request."""
    return Starlette(
        routes=[
            *(Route(file.path, _File(file).get, methods=["GET"]) for file in page_files(name)),
            Route("/compress", _Compressing(source).post, methods=["POST"]),
        ]
    )


@dataclass(frozen=True, slots=True)
class _File:
    file: PageFile

    async def get(self, _: Request) -> Response:
        return Response(self.file.content, media_type=self.file.kind, headers=_HEADERS)


class _OvertakenError(Exception):
    """The page no longer waits for the answer."""


@dataclass(frozen=True, slots=True)
class _Compressing:
    """Answers requests on threads of its own, so that others are served meanwhile."""

    source: Source
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
            work = asyncio.wrap_future(self.threads.submit(call, answer, self.source, given))
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
