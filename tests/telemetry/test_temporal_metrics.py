"""The metrics of Temporal's SDK, as the process serves them."""

import asyncio
from contextlib import suppress

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from temporalio.common import MetricMeter

from telemetry import TemporalMetrics, temporal_runtime


@pytest.fixture
def registry() -> CollectorRegistry:
    return CollectorRegistry()


@pytest.fixture
def metrics(registry: CollectorRegistry) -> TemporalMetrics:
    return TemporalMetrics(registry)


@pytest.fixture
def meter(metrics: TemporalMetrics) -> MetricMeter:
    return temporal_runtime(metrics.buffer).metric_meter


def value(registry: CollectorRegistry, name: str, **labels: str) -> float | None:
    return registry.get_sample_value(name, {"service_name": "temporal-core-sdk"} | labels)


def test_counters_add_up_for_each_set_of_labels(
    meter: MetricMeter, registry: CollectorRegistry
) -> None:
    counter = meter.create_counter("tasks", "How many")
    counter.add(2, {"queue": "a"})
    counter.add(5)
    assert value(registry, "tasks_total", queue="a") == 2
    counter.add(3, {"queue": "a"})
    assert value(registry, "tasks_total", queue="a") == 5
    assert value(registry, "tasks_total") == 5
    assert b"# TYPE tasks_total counter" in generate_latest(registry)


def test_gauges_show_the_last_value(meter: MetricMeter, registry: CollectorRegistry) -> None:
    gauge = meter.create_gauge("slots")
    gauge.set(9)
    gauge.set(4)
    assert value(registry, "slots") == 4


def test_times_are_histograms_in_seconds(meter: MetricMeter, registry: CollectorRegistry) -> None:
    histogram = meter.create_histogram_float("latency", unit="s")
    for seconds in (0.002, 0.25, 99.0):
        histogram.record(seconds)
    assert value(registry, "latency_seconds_count") == 3
    assert value(registry, "latency_seconds_sum") == pytest.approx(99.252)
    for bound, count in {"0.001": 0, "0.005": 1, "0.25": 2, "60.0": 2, "+Inf": 3}.items():
        assert value(registry, "latency_seconds_bucket", le=bound) == count


async def test_the_buffer_is_emptied_even_if_nothing_collects_the_metrics(
    metrics: TemporalMetrics, meter: MetricMeter
) -> None:
    meter.create_counter("tasks").add(1)
    running = asyncio.create_task(metrics.run())
    await asyncio.sleep(0)
    assert list(metrics.buffer.retrieve_updates()) == []
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running


def test_without_a_runtime_there_are_no_metrics(
    metrics: TemporalMetrics, registry: CollectorRegistry
) -> None:
    assert list(metrics.collect()) == []
    assert generate_latest(registry) == b""
