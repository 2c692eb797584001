"""Spans and metrics of compressions for OpenTelemetry: the option `telemetry`.

`telemetry=True` reports to the providers that the application has set for the process, `OpenTelemetry(...)` to others.
The names follow OpenTelemetry's conventions, with those for generative AI where they fit. docs/how-to/metrics.md lists
all of them. Nothing reported contains a query or text. Importing this module does not import OpenTelemetry.
"""

import functools
import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any

from ctxcompress.data.stats import Observation, Observer, Report
from ctxcompress.errors import MissingExtra, PluginError
from ctxcompress.version import __version__

if TYPE_CHECKING:
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import Span, TracerProvider

__all__ = ["OpenTelemetry", "of_the_process"]

_SCOPE = "ctxcompress"
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper limits of the histograms of durations."""
_TOKENS = (1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864)
"""Upper limits of the histogram of tokens, as the conventions have them for the tokens of language models."""


class OpenTelemetry:
    """Reports each compression to OpenTelemetry as a span, `compress`, and as metrics. Needs the extra `otel`.

    tracer_provider, meter_provider: where to report to; None for the providers that the application has set for the
    process.

    Reading the number of tokens saved counts the tokens of the whole input. Raises MissingExtra.
    """

    def __init__(
        self, *, tracer_provider: "TracerProvider | None" = None, meter_provider: "MeterProvider | None" = None
    ) -> None:
        trace, metrics = _modules()
        self._providers = tracer_provider, meter_provider
        self._tracer = trace.get_tracer(_SCOPE, __version__, tracer_provider)
        meter = metrics.get_meter(_SCOPE, __version__, meter_provider)
        seconds = {"unit": "s", "explicit_bucket_boundaries_advisory": _SECONDS}
        self._duration = meter.create_histogram(
            "ctxcompress.compression.duration", description="Duration of compressions.", **seconds
        )
        self._stages = meter.create_histogram(
            "ctxcompress.stage.duration", description="Duration of the stages of compressions.", **seconds
        )
        self._tokens = meter.create_histogram(
            "ctxcompress.token.usage",
            unit="{token}",
            description="Tokens of the retrieved context (input) and of the final text (output).",
            explicit_bucket_boundaries_advisory=_TOKENS,
        )
        count = meter.create_counter
        self._saved = count("ctxcompress.token.saved", unit="{token}", description="Tokens saved.")
        self._passages = count("ctxcompress.passage.input", unit="{passage}", description="Passages given.")
        self._kept = count("ctxcompress.passage.kept", unit="{passage}", description="Passages of which text is kept.")
        self._drops = count(
            "ctxcompress.passage.dropped", unit="{passage}", description="Passages of which text was dropped."
        )
        self._lookups = count("ctxcompress.cache.lookup", unit="{lookup}", description="Lookups in the cache.")

    @contextmanager
    def observe(self) -> Iterator[Report]:
        """Return a block around one compression: its span."""
        begin = perf_counter()
        # It is the current span, so that calls of an embedding model are below it.
        with self._tracer.start_as_current_span("compress") as span:
            try:
                yield partial(self._report, span)
            except BaseException as error:
                cause = error.__cause__ if type(error) is PluginError else error
                failed = {"error.type": type(cause).__qualname__}
                span.set_attributes(failed)
                self._duration.record(perf_counter() - begin, failed)
                raise

    def _report(self, span: "Span", found: Observation) -> None:
        span.set_attributes(_attributes(found))
        self._duration.record(found.duration)
        self._tokens.record(found.original_tokens, {"gen_ai.token.type": "input"})
        self._tokens.record(found.compressed_tokens, {"gen_ai.token.type": "output"})
        self._saved.add(max(found.tokens_saved, 0))
        self._passages.add(found.passages)
        self._kept.add(found.kept)
        for reason, passages in found.dropped.items():
            self._drops.add(passages, {"ctxcompress.drop.reason": reason})
        for outcome, lookups in (("hit", found.cache.hits), ("miss", found.cache.misses)):
            if lookups:
                self._lookups.add(lookups, {"ctxcompress.cache.result": outcome})
        for stage, seconds in found.seconds.items():
            self._stages.record(seconds, {"ctxcompress.stage.name": stage})

    def __reduce__(self) -> tuple[Any, tuple[()]]:
        tracers, meters = self._providers
        return partial(OpenTelemetry, tracer_provider=tracers, meter_provider=meters), ()


@functools.cache
def of_the_process() -> Observer:
    """Return the observer for the providers of the process, which OpenTelemetry looks up when it reports."""
    return OpenTelemetry()


def _attributes(found: Observation) -> dict[str, str | int | float | bool]:
    """Return the attributes of the span. Not `gen_ai.usage`: no language model has read these tokens."""
    return {
        "gen_ai.operation.name": "compress",
        **({} if found.max_tokens is None else {"ctxcompress.token.budget": found.max_tokens}),
        "ctxcompress.token.input": found.original_tokens,
        "ctxcompress.token.output": found.compressed_tokens,
        "ctxcompress.token.saved": found.tokens_saved,
        "ctxcompress.passage.input": found.passages,
        "ctxcompress.passage.kept": found.kept,
        "ctxcompress.cache.hits": found.cache.hits,
        "ctxcompress.cache.misses": found.cache.misses,
        "ctxcompress.cache.outcome": found.cache.is_outcome,
        **{f"ctxcompress.drop.{reason}": passages for reason, passages in sorted(found.dropped.items())},
        **{f"ctxcompress.stage.{stage}.duration": seconds for stage, seconds in found.seconds.items()},
    }


def _modules() -> tuple[Any, Any]:
    try:
        return importlib.import_module("opentelemetry.trace"), importlib.import_module("opentelemetry.metrics")
    except ImportError as error:
        raise MissingExtra(
            "telemetry needs opentelemetry-api; install it with: pip install 'ctxcompress[otel]'"
        ) from error
