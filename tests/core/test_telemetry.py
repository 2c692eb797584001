"""OpenTelemetry is told what a compression saved, dropped and took; without the option nothing of it is imported."""

import subprocess
import sys

import pytest
from caches import QUESTIONS, passages
from opentelemetry.trace import StatusCode
from telemetry import Told

from ctxcompress import CompressionConfig, Compressor, compress
from ctxcompress.apps.telemetry import OpenTelemetry
from ctxcompress.cache import Cache
from ctxcompress.errors import ConfigError, MissingExtra, PluginError


@pytest.fixture
def told():
    return Told()


def test_a_compression_is_a_span_with_its_numbers(told):
    result = compress(QUESTIONS[0], passages(), max_tokens=60, telemetry=told.telemetry)
    stats, [span] = result.stats, told.spans
    assert span.attributes["ctxcompress.token.input"] == stats.original_tokens
    assert span.attributes["ctxcompress.token.output"] == result.tokens == stats.compressed_tokens
    assert span.attributes["ctxcompress.token.saved"] == stats.tokens_saved > 0
    assert span.attributes["ctxcompress.token.budget"] == 60
    assert span.attributes["ctxcompress.passage.input"] == 4
    assert span.attributes["ctxcompress.passage.kept"] == len(result.passages)
    assert span.attributes["ctxcompress.drop.budget"] == sum(drop.reason == "budget" for drop in result.dropped)
    assert span.attributes["ctxcompress.stage.select.duration"] == next(
        stage.milliseconds / 1e3 for stage in result.stages if stage.name == "select"
    )
    assert span.status.status_code is StatusCode.UNSET
    assert span.instrumentation_scope.name == "ctxcompress"


def test_metrics_are_added_up(told):
    results = [compress(question, passages(), max_tokens=60, telemetry=told.telemetry) for question in QUESTIONS]
    stats = [result.stats for result in results]
    assert told.count("ctxcompress.compression.duration") == len(QUESTIONS)
    assert told.metric("ctxcompress.compression.duration") > 0
    assert told.metric("ctxcompress.token.usage", gen_ai__token__type="input") == sum(s.original_tokens for s in stats)
    assert told.metric("ctxcompress.token.usage", gen_ai__token__type="output") == sum(r.tokens for r in results)
    assert told.metric("ctxcompress.token.saved") == sum(s.tokens_saved for s in stats)
    assert told.metric("ctxcompress.passage.input") == 4 * len(QUESTIONS)
    assert told.metric("ctxcompress.passage.kept") == sum(s.kept_count for s in stats)
    dropped = {(n, drop.index) for n, r in enumerate(results) for drop in r.dropped if drop.reason == "budget"}
    assert told.metric("ctxcompress.passage.dropped", ctxcompress__drop__reason="budget") == len(dropped)
    assert told.count("ctxcompress.stage.duration", ctxcompress__stage__name="score") == len(QUESTIONS)
    assert told.metric("ctxcompress.cache.lookup") == 0


def test_lookups_in_the_cache_are_counted_and_stages_of_a_stored_result_are_not(told):
    config = CompressionConfig(max_tokens=60, cache=Cache(), telemetry=told.telemetry)
    for _ in range(2):
        result = Compressor(config).compress(QUESTIONS[0], passages())
    assert result.cache.is_outcome
    assert [span.attributes["ctxcompress.cache.outcome"] for span in told.spans] == [False, True]
    assert told.metric("ctxcompress.cache.lookup", ctxcompress__cache__result="hit") == 1
    assert told.metric("ctxcompress.cache.lookup", ctxcompress__cache__result="miss") > 1
    assert told.count("ctxcompress.stage.duration", ctxcompress__stage__name="score") == 1
    assert "ctxcompress.stage.score.duration" not in told.spans[1].attributes


def test_nothing_that_is_told_has_text_in_it(told):
    compress("a secret question", ["a secret passage. " * 100], max_tokens=10, telemetry=told.telemetry)
    assert "secret" not in str(told.spans[0].to_json())
    assert "secret" not in told.reader.get_metrics_data().to_json()


def test_no_line_of_the_log_has_text_in_it(caplog):
    caplog.set_level("DEBUG", logger="ctxcompress")
    for on_empty in ("keep_best", "drop"):
        texts = ["a secret passage. " * 100, "a secret passage. " * 100]
        compress("a secret question", texts, max_tokens=10, cache=Cache(), min_score=0.9, on_empty=on_empty)
    assert caplog.records
    assert "secret" not in "".join(map(str, (vars(record) for record in caplog.records)))


class Broken:
    compares_all = True

    def compare(self, query, texts, /):
        raise ConnectionError("no route")


def test_an_error_is_told(told):
    with pytest.raises(PluginError):
        compress(QUESTIONS[0], passages(), max_tokens=60, encoder=Broken(), telemetry=told.telemetry)
    [span] = told.spans
    assert span.status.status_code is StatusCode.ERROR
    assert span.attributes["error.type"] == "ConnectionError"
    assert told.count("ctxcompress.compression.duration", error__type="ConnectionError") == 1
    assert told.metric("ctxcompress.token.saved") == 0


async def test_spans_are_below_the_span_of_the_caller_also_on_other_threads(told):
    compressor = Compressor(CompressionConfig(max_tokens=60, telemetry=told.telemetry))
    with told.tracer_provider.get_tracer("mine").start_as_current_span("chain") as chain:
        compressor.compress(QUESTIONS[0], passages())
        await compressor.acompress(QUESTIONS[0], passages())
    assert [span.parent.span_id for span in told.spans] == [chain.get_span_context().span_id] * 2


@pytest.mark.parametrize("wrong", ["yes", 1, None, OpenTelemetry, object()])
def test_what_cannot_observe_is_refused(wrong):
    with pytest.raises(ConfigError, match=r"telemetry is .*; give True, False"):
        CompressionConfig(telemetry=wrong)


def test_a_missing_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    with pytest.raises(MissingExtra, match=r"pip install 'ctxcompress\[otel\]'"):
        CompressionConfig(telemetry=True)
    monkeypatch.setitem(sys.modules, "opentelemetry.trace", None)
    with pytest.raises(MissingExtra, match=r"pip install 'ctxcompress\[otel\]'"):
        OpenTelemetry()


PROGRAM = """
import sys
from ctxcompress import compress
compress("timeout?", ["The default timeout is 30 seconds. " * 20], max_tokens=20)
assert not any(name.startswith("opentelemetry") for name in sys.modules)

from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

compress("timeout?", ["The default timeout is 30 seconds. " * 20], max_tokens=20, telemetry=True)  # to nobody
spans, reader, tracers = InMemorySpanExporter(), InMemoryMetricReader(), TracerProvider()
tracers.add_span_processor(SimpleSpanProcessor(spans))
trace.set_tracer_provider(tracers)
metrics.set_meter_provider(MeterProvider([reader]))
compress("timeout?", ["The default timeout is 30 seconds. " * 20], max_tokens=20, telemetry=True)
scope = reader.get_metrics_data().resource_metrics[0].scope_metrics[0]
print([span.name for span in spans.get_finished_spans()], len(scope.metrics) > 5)
"""


def test_true_reports_to_the_providers_of_the_process_and_without_it_nothing_is_imported():
    ended = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert ended.stdout == "['compress'] True\n", ended.stderr
