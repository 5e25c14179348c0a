"""The metrics that a process serves to Prometheus, on a real server."""

from collections import Counter

import aiohttp
import pytest
from prometheus_client import CollectorRegistry, Histogram
from prometheus_client.parser import text_string_to_metric_families

from deploy.local import ports
from telemetry import ProcessHealth, process_registry, register_hub_requests, serve_health


@pytest.fixture
def registry() -> CollectorRegistry:
    return process_registry()


async def scrape(registry: CollectorRegistry, *, accept: str = "") -> tuple[str, str]:
    """Return the content type and text of `/metrics`, requested over HTTP."""
    address = f"127.0.0.1:{ports.choose()}"
    async with (
        serve_health(address, ProcessHealth(), registry),
        aiohttp.ClientSession(headers={"Accept": accept} if accept else None) as http,
        http.get(f"http://{address}/metrics") as response,
    ):
        assert response.status == 200
        return response.headers["Content-Type"], await response.text()


def series(text: str, name: str) -> dict[tuple[tuple[str, str], ...], float]:
    """Return the values of all series with a name, by their labels."""
    return {
        tuple(sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == name
    }


async def test_memory_and_cpu_time_of_the_process_are_measured(
    registry: CollectorRegistry,
) -> None:
    content_type, text = await scrape(registry)
    assert content_type.startswith("text/plain; version=")
    assert series(text, "process_resident_memory_bytes")[()] > 0
    assert series(text, "process_cpu_seconds_total")[()] > 0


async def test_a_client_may_ask_for_the_newer_format(registry: CollectorRegistry) -> None:
    content_type, text = await scrape(registry, accept="application/openmetrics-text")
    assert content_type.startswith("application/openmetrics-text")
    assert text.endswith("# EOF\n")


async def test_requests_to_the_hub_are_counted_by_verb_and_resource(
    registry: CollectorRegistry,
) -> None:
    sent = Counter({("patch", "clusterstagedupdateruns/status"): 3})
    register_hub_requests(registry, lambda: sent)
    sent["list", "memberclusters"] += 1

    _, text = await scrape(registry)
    assert series(text, "fleetgate_hub_requests_total") == {
        (("resource", "clusterstagedupdateruns/status"), ("verb", "patch")): 3,
        (("resource", "memberclusters"), ("verb", "list")): 1,
    }


async def test_histograms_have_no_series_that_kubefleet_does_not_have(
    registry: CollectorRegistry,
) -> None:
    Histogram("waiting_seconds", "How long", registry=registry, buckets=(1,)).observe(0.5)
    _, text = await scrape(registry)
    assert "waiting_seconds_bucket" in text
    assert "_created" not in text


def test_two_registries_are_independent(registry: CollectorRegistry) -> None:
    Histogram("waiting_seconds", "How long", registry=registry)
    Histogram("waiting_seconds", "How long", registry=process_registry())


async def test_without_a_registry_there_is_nothing_to_scrape() -> None:
    address = f"127.0.0.1:{ports.choose()}"
    async with (
        serve_health(address, ProcessHealth()),
        aiohttp.ClientSession() as http,
        http.get(f"http://{address}/metrics") as response,
    ):
        assert response.status == 404
