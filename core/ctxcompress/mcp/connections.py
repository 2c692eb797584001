"""HTTP connections that come to an end: how long a client may take, how much it may send, how many there can be.

The server that the SDK brings along, uvicorn, waits for the rest of a request, and for an answer to be taken, for as
long as a client likes. What is here is uvicorn's own protocol with a deadline for both, and a limit of connections.
"""

import asyncio
import selectors
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import h11
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

__all__ = ["Limits", "WholeRequests", "bounded_protocol"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a client is given."""

    request_seconds: float = 10.0
    """From the connection, or the first byte of a later request, until a request is there, body and all."""
    idle_seconds: int = 5
    """From an answer until the next request begins."""
    answer_seconds: float = 10.0
    """Until what is sent is taken."""
    refused_seconds: float = 1.0
    """From an answer to the end of its request, where that goes on all the same."""
    connections: int = 250
    """At one time."""
    header_bytes: int = 16_384
    body_bytes: int = 1_000_000


def bounded_protocol(limits: Limits) -> type[asyncio.Protocol]:
    """What uvicorn makes of each connection: a request that is late is answered with 408, one too many with 503."""
    return cast("type[asyncio.Protocol]", partial(_BoundedProtocol, limits))


@dataclass(frozen=True, slots=True)
class WholeRequests:
    """An application that is asked once a request is there as a whole, and only what it can answer.

    There are no sessions, so a GET, which would wait for messages of one and stay open, is refused with 405. A body
    that is too large is refused with 413. A client that goes before its request is complete is no error.
    """

    app: ASGIApp
    body_bytes: int

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
        elif scope["method"] != "POST":
            await Response("only POST is served", 405, {"Allow": "POST"})(scope, receive, send)
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
            await self.app(scope, _after({**message, "body": bytes(body)}, receive), send)

    async def _refuse(self, scope: Scope, receive: Receive, send: Send) -> None:
        await Response(f"the body has more than {self.body_bytes:,} bytes", 413)(scope, receive, send)


def _declared_bytes(scope: Scope) -> int:
    return next((int(value) for name, value in scope["headers"] if name == b"content-length"), 0)


def _after(first: Message, receive: Receive) -> Receive:
    """Receives `first`, and then what `receive` does."""
    left = [first]

    async def received() -> Message:
        return left.pop() if left else await receive()

    return received


class _BoundedProtocol(H11Protocol):
    """A connection. Where there are too many, the one that has waited longest for a request makes room for it."""

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
        self._late: asyncio.TimerHandle | None = None
        self._stuck: asyncio.TimerHandle | None = None
        self._waits_since = self.loop.time()
        self._surplus = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        transport.set_write_buffer_limits(high=0)  # to be told as soon as something is not taken
        if self._has_place():
            self._watch_request()
        else:
            self._end("503 Service Unavailable")

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch_request()
        if self._is_over():
            self._surplus += len(data)
            if self._surplus > self._limits.body_bytes:
                self.flow.pause_reading()  # the answer can still be read, and the rest costs nothing

    def on_response_complete(self) -> None:
        self._waits_since = self.loop.time()
        super().on_response_complete()
        if self._is_over():
            _cancel(self._late)
            self._late = self.loop.call_later(self._limits.refused_seconds, self.transport.abort)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._stuck = self.loop.call_later(self._limits.answer_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        _cancel(self._stuck)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        _cancel(self._late, self._stuck)

    def _watch_request(self) -> None:
        """Runs the timer while something of a request is missing, and only then."""
        if self.transport.is_closing() or not self._is_incomplete():
            _cancel(self._late)
            self._late = None
        elif self._late is None:
            self._late = self.loop.call_later(self._limits.request_seconds, self._end, "408 Request Timeout")

    def _is_incomplete(self) -> bool:
        return self.conn.their_state in (h11.IDLE, h11.SEND_BODY)

    def _is_answered(self) -> bool:
        return self.cycle is not None and self.cycle.response_complete

    def _is_over(self) -> bool:
        """Whether a request goes on although it was answered: there is no other one after it."""
        return self._is_answered() and self.conn.their_state is h11.SEND_BODY

    def _is_waiting(self) -> bool:
        """Whether it is the client's turn: nothing is being answered."""
        return self._is_incomplete() or self.cycle is None or self._is_answered()

    def _has_place(self) -> bool:
        """Whether there is a place for this connection; for that another one may have been ended."""
        others = [other for other in self.connections if isinstance(other, _BoundedProtocol) and other is not self]
        there = [other for other in others if not other._has_ended()]
        if len(there) < self._limits.connections:
            return True
        waiting = sorted((other for other in there if other._is_waiting()), key=lambda other: other._merit())
        least = next((other for other in waiting if other._is_over() or not other._has_unread()), None)
        if least is not None:
            least.transport.abort()
        return least is not None

    def _has_ended(self) -> bool:
        return self.transport.is_closing() and not self.transport.get_write_buffer_size()

    def _merit(self) -> tuple[bool, bool, float]:
        """Grows with what speaks for keeping it, above all that it was of use before; then the shorter wait."""
        return not self._is_over(), self.cycle is not None, self._waits_since

    def _has_unread(self) -> bool:
        """Whether something has come that was not read yet: then it is not the client that is late."""
        with selectors.DefaultSelector() as selector:
            selector.register(self.transport.get_extra_info("socket"), selectors.EVENT_READ)
            return bool(selector.select(0))

    def _end(self, status: str) -> None:
        """Says why, where no answer has begun, and closes."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            head = f"HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
            self.transport.write(head.encode())
        self.transport.close()


def _cancel(*timers: asyncio.TimerHandle | None) -> None:
    for timer in timers:
        if timer is not None:
            timer.cancel()
