"""The metrics of the server, as a page for Prometheus: `ctxcompress mcp --http --metrics`.

They have a registry of their own, so that several servers of a process do not mix. Nothing on the page contains a query
or text.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from ctxcompress.apps.index import FolderIndex
from ctxcompress.apps.mcp.tools import ToolResult, ToolSpec
from ctxcompress.data.results import Reason
from ctxcompress.data.stats import Observation, Observer, Report

__all__ = ["ServerMetrics"]

_PATH = "/metrics"
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class ServerMetrics:
    """Counts and times calls of tools and compressions. Threads share it.

    As an observer it is told of the compressions, and tells another observer.
    """

    def __init__(self, index: FolderIndex, other: Observer | None = None) -> None:
        self._other = other
        self.registry = registry = CollectorRegistry()
        self._calls = Counter("ctxcompress_calls", "Calls of tools.", ["tool", "outcome"], registry=registry)
        self._seconds = Histogram(
            "ctxcompress_call_duration_seconds", "Duration of calls.", ["tool"], registry=registry, buckets=_SECONDS
        )
        tokens = partial(Counter, registry=registry)
        self._input = tokens("ctxcompress_input_tokens", "Tokens of the passages found.")
        self._output = tokens("ctxcompress_output_tokens", "Tokens of what was kept of them.")
        self._saved = tokens("ctxcompress_saved_tokens", "Tokens saved.")
        self._dropped = Counter(
            "ctxcompress_dropped_passages", "Passages of which text was dropped.", ["reason"], registry=registry
        )
        self._lookups = Counter("ctxcompress_cache_lookups", "Lookups in the cache.", ["result"], registry=registry)
        files = Gauge("ctxcompress_index_files", "Files in the index.", registry=registry)
        files.set_function(lambda: index.size[0])
        chunks = Gauge("ctxcompress_index_chunks", "Chunks in the index.", registry=registry)
        chunks.set_function(lambda: index.size[1])
        self._show_zeros()

    def timed(self, spec: ToolSpec) -> ToolSpec:
        """Return the tool, whose calls are counted and timed."""
        return spec._replace(call=partial(self._call, spec.name, spec.call))

    @contextmanager
    def observe(self) -> Iterator[Report]:
        """Return a block around a compression, see Observer."""
        with ExitStack() as stack:
            other = None if self._other is None else stack.enter_context(self._other.observe())
            yield partial(self._report, other)

    def page_before(self, app: ASGIApp) -> ASGIApp:
        """Return an application that serves the page, and everything else from `app`."""
        return _MetricsPage(app, self)

    def page(self) -> bytes:
        """Return the page in Prometheus's text format."""
        return generate_latest(self.registry)

    def _call(
        self, name: str, call: Callable[[Mapping[str, Any]], ToolResult], arguments: Mapping[str, Any]
    ) -> ToolResult:
        begin, outcome = perf_counter(), "error"
        try:
            result = call(arguments)
            outcome = "ok"
        finally:
            self._calls.labels(name, outcome).inc()
            self._seconds.labels(name).observe(perf_counter() - begin)
        return result

    def _report(self, other: Report | None, found: Observation) -> None:
        if other is not None:
            other(found)
        self._input.inc(found.original_tokens)
        self._output.inc(found.compressed_tokens)
        self._saved.inc(max(found.tokens_saved, 0))
        for reason, passages in found.dropped.items():
            self._dropped.labels(reason).inc(passages)
        self._lookups.labels("hit").inc(found.cache.hits)
        self._lookups.labels("miss").inc(found.cache.misses)

    def _show_zeros(self) -> None:
        """Show what has not happened yet as 0: Prometheus computes no rate from a series that begins later."""
        for reason in Reason:
            self._dropped.labels(str(reason))
        for found in ("hit", "miss"):
            self._lookups.labels(found)


@dataclass(frozen=True, slots=True)
class _MetricsPage:
    """An application that answers GET /metrics, and passes everything else on."""

    app: ASGIApp
    metrics: ServerMetrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] == _PATH:
            answer = Response("only GET is served", 405, {"Allow": "GET, HEAD"})
            if scope["method"] in ("GET", "HEAD"):
                answer = Response(self.metrics.page(), media_type=CONTENT_TYPE_LATEST)
            await answer(scope, receive, send)
        else:
            await self.app(scope, receive, send)
