"""The metrics of real runs, scraped from a bridge on real servers."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import timedelta
from functools import partial

import aiohttp
import pytest
from prometheus_client import CollectorRegistry
from prometheus_client.parser import text_string_to_metric_families
from temporalio.client import Client

from bridge import Bridge, BridgeSettings
from deploy.local import ports
from hub import Hub
from telemetry import ProcessHealth, process_registry, register_hub_requests, serve_health
from tests.support.eventually import eventually
from tests.support.hand_placement import HandPlacement
from tests.workflows.runs import reaches, started

PREFIX = "fleet_workload_update_run_"
STATUS = f"{PREFIX}status_last_timestamp_seconds"
LATENCY = f"{PREFIX}approval_request_latency_seconds_count"
DURATION = f"{PREFIX}stage_cluster_updating_duration_seconds_count"

Series = list[dict[str, str]]


@pytest.fixture
def registry() -> CollectorRegistry:
    return process_registry()


@pytest.fixture
async def metrics_url(
    hub: Hub, temporal: Client, task_queue: str, registry: CollectorRegistry
) -> AsyncIterator[str]:
    """URL of the metrics of a bridge, the only one on the hub."""
    settings = BridgeSettings(task_queue=task_queue, stuck_after=timedelta(seconds=1))
    bridge = Bridge(hub, temporal, settings=settings, registry=registry)
    register_hub_requests(registry, lambda: hub.requests)
    address = f"127.0.0.1:{ports.choose()}"
    async with serve_health(address, ProcessHealth(), registry):
        running = asyncio.create_task(bridge.run())
        await bridge.ready()
        yield f"http://{address}/metrics"
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running


async def scrape(url: str, name: str, run: str) -> Series:
    """Return the labels of all series of a metric for a run, without the run's name.

    A counter's labels are repeated as often as it counts.
    """
    async with aiohttp.ClientSession() as http, http.get(url) as response:
        text = await response.text()
    return [
        {key: value for key, value in sample.labels.items() if key != "name"}
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == name and sample.labels["name"] == run
        for _ in range(int(sample.value) if name.endswith("_count") else 1)
    ]


async def test_a_run_has_metrics_from_its_plan_until_it_is_deleted(
    metrics_url: str, placement: HandPlacement, unique: str
) -> None:
    cluster = f"{unique}-a"
    await placement.create({cluster: {"env": unique}})
    selector = {"labelSelector": {"matchLabels": {"env": unique}}}
    approval = {"beforeStageTasks": [{"type": "Approval"}]}
    await placement.strategy(unique, [{"name": "one"} | selector | approval])
    await placement.create_run(unique, unique, index="0")
    await reaches(placement, unique, "UpdateRunWaiting")
    request = f"{unique}-before-one"
    await eventually(lambda: placement.find_approval(request))
    await placement.approve(request)
    await started(placement, cluster)
    await reaches(placement, unique, "UpdateRunStuck")
    await placement.report(cluster)
    await reaches(placement, unique, "UpdateRunSucceeded", kind="Succeeded")

    common = {"namespace": placement.namespace, "state": "Run"}
    expected = [
        common | {"condition": kind, "status": status, "reason": reason, "failureType": failure}
        for kind, status, reason, failure in (
            ("Progressing", "False", "UpdateRunWaiting", "none"),
            ("Progressing", "False", "UpdateRunStuck", "internal_error"),
            ("Succeeded", "True", "UpdateRunSucceeded", "none"),
        )
    ]
    shown = await eventually(
        lambda: scrape(metrics_url, STATUS, unique),
        lambda seen: seen and seen[-1]["condition"] == "Succeeded",
    )
    assert [each for each in shown if each in expected] == expected
    named = {"namespace": placement.namespace}
    assert await scrape(metrics_url, LATENCY, unique) == [named | {"taskType": "beforeStage"}]
    assert await scrape(metrics_url, DURATION, unique) == [named]

    await placement.delete_run(unique)
    for name in (STATUS, LATENCY, DURATION):
        await eventually(partial(scrape, metrics_url, name, unique), lambda seen: not seen)


async def test_a_run_that_cannot_be_initialized_counts_as_a_user_error(
    metrics_url: str, placement: HandPlacement, unique: str
) -> None:
    await placement.create_run(unique, unique)
    [shown] = await eventually(lambda: scrape(metrics_url, STATUS, unique))
    assert shown == {
        "namespace": placement.namespace,
        "state": "Run",
        "condition": "Initialized",
        "status": "False",
        "reason": "UpdateRunInitializedFailed",
        "failureType": "user_error",
    }


async def test_requests_to_the_hub_are_shown(
    metrics_url: str, hub: Hub, placement: HandPlacement
) -> None:
    plural = placement.scope.run.plural
    async with aiohttp.ClientSession() as http, http.get(metrics_url) as response:
        text = await response.text()
    line = f'fleetgate_hub_requests_total{{resource="{plural}",verb="list"}}'
    count = hub.requests["list", plural]
    assert count > 0
    assert any(float(each.split()[-1]) <= count for each in text.splitlines() if line in each)
