"""A run whose history grows long goes on in a new execution, as if nothing had happened."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from temporalio.client import Client
from temporalio.worker import Worker

from activities.registry import all_activities
from api.kinds import CLUSTER_SCOPE
from bridge import Bridge, BridgeSettings
from deploy.local import crds
from hub import Hub
from planning.identity import RunRef
from starter.history import in_temporal, of_workflow
from starter.history.entries import What
from tests.support.conditions import says
from tests.support.eventually import eventually
from tests.support.hand_placement import HandPlacement
from tests.support.servers import PrivateApiServer, Servers
from tests.support.temporal_server import TemporalServer
from tests.workflows.record import impatient
from tests.workflows.runs import reaches, started, workflow_id
from workflows.plugin import connect


@pytest.fixture
async def own_temporal(servers: Servers, tmp_path: Path) -> AsyncIterator[TemporalServer]:
    """A Temporal server that suggests a new execution before a stage is over."""
    async with impatient(servers, tmp_path).running() as server:
        yield server


async def test_a_run_goes_on_in_a_new_execution_between_stages(
    private_api_server: PrivateApiServer, own_temporal: TemporalServer, unique: str
) -> None:
    """On servers of its own: a second engine on the shared hub would drive its runs too."""
    async with await Hub.connect(private_api_server.kubeconfig) as hub:
        await crds.install(hub, crds.definitions())
        client = await connect({"TEMPORAL_ADDRESS": own_temporal.address})
        executions = await _roll_out(hub, client, unique)
        assert executions > 1


async def _roll_out(hub: Hub, client: Client, unique: str) -> int:
    """Take a run through three stages, and count the executions of its workflow."""
    placement = HandPlacement(hub, CLUSTER_SCOPE, unique)
    stages = {name: {"matchLabels": {"env": name}} for name in ("one", "two", "three")}
    await placement.create({name: {"env": name} for name in stages})
    await placement.strategy(
        unique, [{"name": name, "labelSelector": selector} for name, selector in stages.items()]
    )
    bridge = Bridge(hub, client, settings=BridgeSettings())
    async with Worker(client, task_queue="fleetgate", activities=all_activities(hub, client)):
        bridging = asyncio.create_task(bridge.run())
        created = await placement.create_run(unique, unique, index="0")
        for cluster in stages:
            await started(placement, cluster)
            await placement.report(cluster)
        run = await reaches(placement, unique, "UpdateRunSucceeded", kind="Succeeded")
        found_by = f"WorkflowId = '{workflow_id(created, CLUSTER_SCOPE)}'"
        ended = f"{found_by} and FleetgateState = 'succeeded' and ExecutionStatus = 'Completed'"
        await eventually(lambda: client.count_workflows(ended), lambda found: found.count == 1)
        bridging.cancel()
    ref = RunRef(scope_name=CLUSTER_SCOPE.name, name=unique, uid=created["metadata"]["uid"])
    events = await in_temporal.history(client, ref)
    told = of_workflow.entries(events, client.data_converter.payload_converter)
    of_run = [each.what for each in told if not each.stage]
    assert of_run == [What.TAKEN_UP, What.PLANNED, What.SUCCEEDED]
    assert [each.cluster for each in told if each.what is What.CLUSTER_DONE] == list(stages)
    for stage in run["status"]["stagesStatus"]:
        assert says(stage, "Succeeded")[0] == "True"
        assert says(stage["clusters"][0], "Succeeded")[0] == "True"
    return (await client.count_workflows(found_by)).count
