"""Serves an application to this machine alone: the socket, the checks of host and origin, the limits on clients."""

import socket
from collections.abc import Callable
from dataclasses import dataclass

import uvicorn
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from ctxcompress.apps.loopback.connections import Limits, WholeRequests, bounded_protocol
from ctxcompress.errors import ConfigError

__all__ = ["local_server", "serve_on"]

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
