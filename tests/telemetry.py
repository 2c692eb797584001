"""Providers of OpenTelemetry that keep in memory what they are told, as the SDK has them for tests."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from ctxcompress.apps.telemetry import OpenTelemetry


@dataclass
class Told:
    """An observer, and what it has told OpenTelemetry."""

    exporter: InMemorySpanExporter = field(default_factory=InMemorySpanExporter)
    reader: InMemoryMetricReader = field(default_factory=InMemoryMetricReader)
    tracer_provider: TracerProvider = field(default_factory=TracerProvider)

    def __post_init__(self) -> None:
        self.tracer_provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        meters = MeterProvider([self.reader])
        self.telemetry = OpenTelemetry(tracer_provider=self.tracer_provider, meter_provider=meters)

    @property
    def spans(self) -> list[ReadableSpan]:
        return [span for span in self.exporter.get_finished_spans() if span.name == "compress"]

    def metric(self, name: str, **attributes: str) -> Any:
        """The value of a counter, or the sum of a histogram; 0 if there is none with these attributes."""
        return sum(
            getattr(point, "value", None) or getattr(point, "sum", 0) for point in self._points(name, attributes)
        )

    def count(self, name: str, **attributes: str) -> int:
        """The number of values in a histogram."""
        return sum(point.count for point in self._points(name, attributes))

    def _points(self, name: str, attributes: Mapping[str, str]) -> list[Any]:
        data = self.reader.get_metrics_data()
        metrics = data.resource_metrics[0].scope_metrics[0].metrics if data else []
        found = [point for metric in metrics if metric.name == name for point in metric.data.data_points]
        wanted = {key.replace("__", "."): value for key, value in attributes.items()}
        return [point for point in found if wanted.items() <= dict(point.attributes).items()]
