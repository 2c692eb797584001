"""What the servers of this machine share: they listen on 127.0.0.1, answer no other host or origin, and bound clients.

uvicorn waits without end for the rest of a request and for a client to read its answer. This module extends uvicorn's
protocol with a deadline for both, and limits the number of connections. It needs the extra `mcp`.
"""

import asyncio
import selectors
import socket
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import h11
import uvicorn
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from ctxcompress.errors import ConfigError

__all__ = ["Limits", "bounded_protocol", "local_server", "serve_on"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits on clients and their connections."""

    request_seconds: float = 10.0
    """From the connection, or the first byte of a later request, to the end of the request's body."""
    idle_seconds: int = 5
    """From an answer to the first byte of the next request."""
    answer_seconds: float = 10.0
    """Until the client has read what was sent."""
    refused_seconds: float = 1.0
    """From an early answer to the end of the request that was refused."""
    connections: int = 250
    """Open at the same time."""
    header_bytes: int = 16_384
    body_bytes: int = 1_000_000


def bounded_protocol(limits: Limits) -> type[asyncio.Protocol]:
    """Return uvicorn's protocol with limits: a late request is answered with 408, a connection too many with 503."""
    return cast("type[asyncio.Protocol]", partial(_BoundedProtocol, limits))


@dataclass(frozen=True, slots=True)
class WholeRequests:
    """An application that passes on only complete requests. A body that is too large is refused with 413.

    If a client disconnects before its request is complete, that is no error.
    """

    app: ASGIApp
    body_bytes: int

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
        elif _declared_bytes(scope) > self.body_bytes:
            await self._refuse(scope, receive, send)
        else:
            await self._answer(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = bytearray()
        while len(body) <= self.body_bytes:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            body += message.get("body", b"")
            if not message.get("more_body", False):
                break
        if len(body) > self.body_bytes:
            await self._refuse(scope, receive, send)
        else:
            await self.app(scope, _prepend({**message, "body": bytes(body)}, receive), send)

    async def _refuse(self, scope: Scope, receive: Receive, send: Send) -> None:
        await Response(f"the body has more than {self.body_bytes:,} bytes", 413)(scope, receive, send)


def _declared_bytes(scope: Scope) -> int:
    return next((int(value) for name, value in scope["headers"] if name == b"content-length"), 0)


def _prepend(first: Message, receive: Receive) -> Receive:
    """Return a `receive` that returns `first` before all other messages."""
    left = [first]

    async def receive_next() -> Message:
        return left.pop() if left else await receive()

    return receive_next


class _BoundedProtocol(H11Protocol):
    """A connection. If there are too many, it replaces the one that has waited longest for a request."""

    def __init__(
        self,
        limits: Limits,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._limits = limits
        self._request_timer: asyncio.TimerHandle | None = None
        self._answer_timer: asyncio.TimerHandle | None = None
        self._waiting_since = self.loop.time()
        self._surplus = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        transport.set_write_buffer_limits(high=0)  # calls pause_writing as soon as the client reads too slowly
        if self._make_place():
            self._watch_request()
        else:
            self._end("503 Service Unavailable")

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch_request()
        if self._is_over():
            self._surplus += len(data)
            if self._surplus > self._limits.body_bytes:
                self.flow.pause_reading()  # the client can still read the answer, and the rest costs nothing

    def on_response_complete(self) -> None:
        self._waiting_since = self.loop.time()
        super().on_response_complete()
        if self._is_over():
            _cancel(self._request_timer)
            self._request_timer = self.loop.call_later(self._limits.refused_seconds, self.transport.abort)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._answer_timer = self.loop.call_later(self._limits.answer_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        _cancel(self._answer_timer)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        _cancel(self._request_timer, self._answer_timer)

    def _watch_request(self) -> None:
        """Run the timer as long as a part of the request is missing."""
        if self.transport.is_closing() or not self._is_incomplete():
            _cancel(self._request_timer)
            self._request_timer = None
        elif self._request_timer is None:
            self._request_timer = self.loop.call_later(self._limits.request_seconds, self._end, "408 Request Timeout")

    def _is_incomplete(self) -> bool:
        return self.conn.their_state in (h11.IDLE, h11.SEND_BODY)

    def _is_answered(self) -> bool:
        return self.cycle is not None and self.cycle.response_complete

    def _is_over(self) -> bool:
        """Whether a request goes on after it was answered. No other request follows it."""
        return self._is_answered() and self.conn.their_state is h11.SEND_BODY

    def _make_place(self) -> bool:
        """Return whether this connection may stay. If there are too many, end another one for it."""
        others = [other for other in self.connections if isinstance(other, _BoundedProtocol) and other is not self]
        alive = [each for each in others if not each.transport.is_closing() or each.transport.get_write_buffer_size()]
        if len(alive) < self._limits.connections:
            return True
        # Those that wait for the client, and answer nothing: first refused requests, then connections without any
        # earlier request, then those that wait longest.
        waiting = sorted(
            (each for each in alive if each._is_incomplete() or each.cycle is None or each._is_answered()),
            key=lambda each: (not each._is_over(), each.cycle is not None, each._waiting_since),
        )
        least = next((other for other in waiting if other._is_over() or not other._has_unread()), None)
        if least is not None:
            least.transport.abort()
        return least is not None

    def _has_unread(self) -> bool:
        """Whether data has arrived that was not read yet, so that the client is not the one who is late."""
        with selectors.DefaultSelector() as selector:
            selector.register(self.transport.get_extra_info("socket"), selectors.EVENT_READ)
            return bool(selector.select(0))

    def _end(self, status: str) -> None:
        """Answer with a status, unless an answer has begun, and close the connection."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            head = f"HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
            self.transport.write(head.encode())
        self.transport.close()


def _cancel(*timers: asyncio.TimerHandle | None) -> None:
    for timer in timers:
        if timer is not None:
            timer.cancel()


_HOST = "127.0.0.1"
_NAMES = (_HOST, "localhost")
_BACKLOG = 64
"""Connections that the system accepts before the event loop handles them."""


def serve_on(port: int, make: Callable[[int], uvicorn.Server], ready: Callable[[str], object]) -> None:
    """Serve on this port of 127.0.0.1 until interrupted; 0 picks a free one.

    make: makes the server for the port. ready: called with the address, without a slash at the end, once it listens.

    Raises ConfigError if the port is in use.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listening:
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind((_HOST, port))
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or error
            raise ConfigError(f"port is {port} ({reason}); give a free port up to 65535, or 0 for any") from error
        port = listening.getsockname()[1]
        listening.listen()
        ready(f"http://{_HOST}:{port}")
        make(port).run(sockets=[listening])


def local_server(app: ASGIApp, port: int, limits: Limits) -> uvicorn.Server:
    """Make a server for a socket that listens on `port` of 127.0.0.1, with limits on slow and numerous clients.

    Requests for another host or from another origin are refused, so that no web page can reach the documents through a
    name that it points to this address (DNS rebinding).
    """
    hosts = frozenset(f"{name}:{port}" for name in _NAMES)
    return uvicorn.Server(
        uvicorn.Config(
            _OwnRequests(WholeRequests(app, limits.body_bytes), hosts),
            lifespan="on",
            http=bounded_protocol(limits),
            ws="none",
            backlog=_BACKLOG,
            h11_max_incomplete_event_size=limits.header_bytes,
            timeout_keep_alive=limits.idle_seconds,
            timeout_graceful_shutdown=2,
            log_config=None,
            log_level="error",
            access_log=False,
        )
    )


@dataclass(frozen=True, slots=True)
class _OwnRequests:
    """An application that passes on only requests for these hosts that come from no other origin."""

    app: ASGIApp
    hosts: frozenset[str]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refused = self._refusal(Headers(scope=scope)) if scope["type"] == "http" else None
        await (refused or self.app)(scope, receive, send)

    def _refusal(self, headers: Headers) -> Response | None:
        if headers.get("host") not in self.hosts:
            return Response("this host is not served", 421)
        origin = headers.get("origin")  # browsers leave it out of requests that only read their own page
        if origin is not None and origin not in {f"http://{host}" for host in self.hosts}:
            return Response("this origin is not served", 403)
        return None
