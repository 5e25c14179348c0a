"""The metrics of Temporal's SDK, served together with all others.

The SDK could serve them itself, but only on a second address, so they are read from its buffer.
They have the names that the SDK's own endpoint gives them, with units and `_total`.
"""

import asyncio
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from math import inf
from typing import Final

from prometheus_client import CollectorRegistry, Metric
from prometheus_client.registry import Collector
from temporalio.runtime import (
    BUFFERED_METRIC_KIND_COUNTER,
    BUFFERED_METRIC_KIND_HISTOGRAM,
    BufferedMetric,
    BufferedMetricUpdate,
    MetricBuffer,
    MetricBufferDurationFormat,
)

from telemetry.metrics import bucket

CAPACITY: Final = 20_000
"""Maximum number of updates in the buffer; a worker at its limit makes some thousands a second."""
GATHER_EVERY: Final = timedelta(seconds=1)
BOUNDS: Final = (0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
"""Bucket limits in seconds, for requests that take some milliseconds and for tasks that wait for a
worker."""

Labels = tuple[tuple[str, str], ...]


@dataclass(slots=True)
class _Series:
    """One series; the value of a histogram is its sum."""

    value: float = 0.0
    counts: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))


@dataclass(slots=True)
class _Family:
    """All series of one metric."""

    name: str
    help: str
    type: str
    series: dict[Labels, _Series] = field(default_factory=dict)


class TemporalMetrics(Collector):
    """Collects the SDK's metrics from `buffer`, which has to be passed to the SDK's runtime."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.buffer = MetricBuffer(CAPACITY, MetricBufferDurationFormat.SECONDS)
        self._families: dict[str, _Family] = {}
        registry.register(self)

    async def run(self) -> None:
        """Empty the buffer regularly, even if nothing collects the metrics, until cancelled."""
        while True:
            self._gather()
            await asyncio.sleep(GATHER_EVERY.total_seconds())

    def describe(self) -> Iterable[Metric]:
        """Return nothing: no metric is known before the SDK reports it."""
        return []

    def collect(self) -> Iterable[Metric]:
        """Return everything measured so far."""
        self._gather()
        return [_shown(family) for _, family in sorted(self._families.items())]

    def _gather(self) -> None:
        try:
            updates = self.buffer.retrieve_updates()
        except RuntimeError:
            return  # The runtime does not exist yet.
        for update in updates:
            self._take(update)

    def _take(self, update: BufferedMetricUpdate) -> None:
        metric = update.metric
        family = self._families.get(metric.name)
        if family is None:
            family = self._families[metric.name] = _family(metric)
        labels = _labels(update.attributes)
        series = family.series.get(labels)
        if series is None:
            series = family.series[labels] = _Series()
        if family.type == "gauge":
            series.value = update.value
            return
        series.value += update.value
        if family.type == "histogram":
            series.counts[bisect_left(BOUNDS, update.value)] += 1


def _labels(attributes: Mapping[str, str | int | float | bool]) -> Labels:
    return tuple(sorted((name, str(value)) for name, value in attributes.items()))


def _family(metric: BufferedMetric) -> _Family:
    unit = "_seconds" if metric.unit == "s" else ""
    kind = {BUFFERED_METRIC_KIND_COUNTER: "counter", BUFFERED_METRIC_KIND_HISTOGRAM: "histogram"}
    return _Family(
        metric.name + unit, metric.description or metric.name, kind.get(metric.kind, "gauge")
    )


def _shown(family: _Family) -> Metric:
    shown = Metric(family.name, family.help, family.type)
    for labels, series in family.series.items():
        if family.type == "histogram":
            _add_histogram(shown, dict(labels), series)
        else:
            suffix = "_total" if family.type == "counter" else ""
            shown.add_sample(family.name + suffix, dict(labels), series.value)
    return shown


def _add_histogram(shown: Metric, labels: dict[str, str], series: _Series) -> None:
    count = 0
    for bound, more in zip((*BOUNDS, inf), series.counts, strict=True):
        count += more
        shown.add_sample(f"{shown.name}_bucket", labels | {"le": bucket(bound)}, count)
    shown.add_sample(f"{shown.name}_count", labels, count)
    shown.add_sample(f"{shown.name}_sum", labels, series.value)
