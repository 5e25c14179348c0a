"""The largest runs: one within the limits succeeds, one beyond them does not start."""

import asyncio
import json
from collections.abc import AsyncIterator

import pytest
from temporalio.client import Client

from api.kinds import CLUSTER_SCOPE
from hub import Hub, Json
from planning.runs import sizes
from tests.bench.fleets import in_parallel
from tests.bench.simulated_members import SimulatedMembers
from tests.support.conditions import says
from tests.support.eventually import eventually
from tests.support.hand_placement import HandPlacement
from tests.workflows.runs import workflow_id

pytestmark = [pytest.mark.usefixtures("engine"), pytest.mark.timeout(1200)]

STAGES = 31
MOST_EVENTS = 20_000


@pytest.fixture
async def members(hub: Hub) -> AsyncIterator[None]:
    """Clusters on which everything becomes available at once."""
    simulated = asyncio.create_task(SimulatedMembers(hub, delay=0).run())
    yield
    simulated.cancel()
    await asyncio.gather(simulated, return_exceptions=True)


async def fleet(hub: Hub, name: str, clusters: int) -> HandPlacement:
    """A placement on this many clusters with the longest names, in the most stages allowed."""
    placement = HandPlacement(hub, CLUSTER_SCOPE, name)
    await placement.create({})

    async def join(number: int) -> None:
        cluster = f"{name}-{number}-".ljust(63, "x")[:62] + "9"
        await placement.member(cluster, {name: str(number % STAGES)})
        await placement.binding(cluster)

    await in_parallel(range(clusters), join)
    stages: list[Json] = [
        {
            "name": f"stage-{number}-".ljust(62, "x") + "9",
            "labelSelector": {"matchLabels": {name: str(number)}},
            "maxConcurrency": "100%",
        }
        for number in range(STAGES)
    ]
    await placement.strategy(name, stages)
    await placement.create_run(name, name, index="0")
    return placement


@pytest.mark.long("1,000 clusters on real servers")
async def test_a_thousand_clusters_in_31_stages_are_updated(
    hub: Hub, unique: str, temporal: Client, members: None
) -> None:
    placement = await fleet(hub, unique, 1000)
    run = await eventually(
        lambda: placement.read_run(unique), lambda seen: says(seen, "Succeeded")[0], within=900
    )
    assert says(run, "Succeeded")[0] == "True"
    status = len(json.dumps(run["status"], separators=(",", ":")))
    assert status < sizes.MOST_STATUS / 2
    found = await temporal.get_workflow_handle(workflow_id(run, CLUSTER_SCOPE)).describe()
    assert found.history_length < MOST_EVENTS
    size = found.raw_description.workflow_execution_info.history_size_bytes
    print(f"status {status} bytes; history {found.history_length} events, {size} bytes")  # noqa: T201


@pytest.mark.long("3,100 clusters on real servers")
async def test_a_run_with_more_clusters_than_a_status_can_hold_fails_and_changes_nothing(
    hub: Hub, unique: str
) -> None:
    placement = await fleet(hub, unique, 3100)
    run = await eventually(
        lambda: placement.read_run(unique), lambda seen: says(seen, "Initialized")[0], within=900
    )
    status, _, text = says(run, "Initialized")
    assert status == "False"
    assert "the run is too large: its status would grow to" in text
    assert "with 3100 clusters" in text
