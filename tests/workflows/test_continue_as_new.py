"""A run with a long history continues in a new execution, without visible effects."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client, WorkflowHandle
from temporalio.worker import Worker

from activities.registry import all_activities
from api.kinds import CLUSTER_SCOPE
from bridge import Bridge, BridgeSettings
from deploy.installing import crds
from hub import Hub
from planning.identity import RunRef
from planning.runs.gates import GateSide
from starter.history import in_temporal, of_workflow
from starter.history.entries import What
from tests.support.conditions import says
from tests.support.engine import running_engine
from tests.support.eventually import eventually
from tests.support.hand_placement import HandPlacement
from tests.support.servers import PrivateApiServer, Servers
from tests.support.temporal_server import TemporalServer
from tests.workflows.record import impatient
from tests.workflows.runs import reaches, started, workflow_id
from wiring.temporal import polling
from workflows.messages import ApprovalLost
from workflows.plugin import connect
from workflows.update_run import LEAST_EVENTS


@pytest.fixture
async def own_temporal(servers: Servers, tmp_path: Path) -> AsyncIterator[TemporalServer]:
    """A Temporal server that suggests a new execution before the first stage is over."""
    async with impatient(servers, tmp_path).running() as server:
        yield server


async def test_a_run_continues_in_a_new_execution_between_stages(
    private_api_server: PrivateApiServer, own_temporal: TemporalServer, unique: str
) -> None:
    """On separate servers, because a second engine on the shared hub would drive its runs too."""
    async with await Hub.connect(private_api_server.kubeconfig) as hub:
        await crds.install(hub, crds.definitions())
        client = await connect({"TEMPORAL_ADDRESS": own_temporal.address})
        executions = await _roll_out(hub, client, unique)
        assert executions > 1


async def test_a_stage_continues_in_a_new_execution_with_its_clusters_in_flight(
    private_api_server: PrivateApiServer, own_temporal: TemporalServer, unique: str
) -> None:
    """Each cluster is written once, and each event of the run is recorded once."""
    async with await Hub.connect(private_api_server.kubeconfig) as hub:
        await crds.install(hub, crds.definitions())
        client = await connect({"TEMPORAL_ADDRESS": own_temporal.address})
        placement = HandPlacement(hub, CLUSTER_SCOPE, unique)
        clusters = [f"{unique}-{each}" for each in "abc"]
        await placement.create({each: {"env": unique} for each in clusters})
        stage = {
            "name": "one",
            "labelSelector": {"matchLabels": {"env": unique}},
            "beforeStageTasks": [{"type": "Approval"}],
            "maxConcurrency": 2,
        }
        await placement.strategy(unique, [stage])
        async with running_engine(hub, client, settings=BridgeSettings()):
            created = await placement.create_run(unique, unique, index="0")
            handle = client.get_workflow_handle(workflow_id(created, CLUSTER_SCOPE))
            await reaches(placement, unique, "UpdateRunWaiting")
            await _lengthen(handle)
            await placement.approve(f"{unique}-before-one")
            written = [await started(placement, each) for each in clusters[:2]]
            await _lengthen(handle)
            await placement.report(clusters[1])
            await started(placement, clusters[2])
            for each in (clusters[0], clusters[2]):
                await placement.report(each)
            await reaches(placement, unique, "UpdateRunSucceeded", kind="Succeeded")
            outcome = await handle.result()
            assert outcome["reason"] == "UpdateRunSucceeded"
        for binding in written:
            now = await placement.read_binding(binding["spec"]["targetCluster"])
            assert now["metadata"]["generation"] == binding["metadata"]["generation"]
        described = await handle.describe()
        assert not described.raw_description.pending_activities
        ref = RunRef(scope_name=CLUSTER_SCOPE.name, name=unique, uid=created["metadata"]["uid"])
        events = await in_temporal.history(client, ref)
    told = of_workflow.entries(events, client.data_converter.payload_converter)
    assert Counter(each.what for each in told) == {
        What.TAKEN_UP: 1,
        What.PLANNED: 1,
        What.APPROVAL_ASKED: 1,
        What.APPROVED: 1,
        What.STAGE_STARTED: 1,
        What.CLUSTER_STARTED: 3,
        What.CLUSTER_DONE: 3,
        What.SUCCEEDED: 1,
    }


async def _lengthen(handle: WorkflowHandle[Any, Any]) -> None:
    """Send a run so many signals without effect that it continues in a new execution."""
    before = (await handle.describe()).run_id
    message = ApprovalLost(stage="none", side=GateSide.BEFORE)
    for _ in range(LEAST_EVENTS // 50):
        await asyncio.gather(*(handle.signal("approval_lost", message) for _ in range(50)))
    await eventually(handle.describe, lambda seen: seen.run_id != before)


async def _roll_out(hub: Hub, client: Client, unique: str) -> int:
    """Run three stages, and return the number of executions of the workflow."""
    placement = HandPlacement(hub, CLUSTER_SCOPE, unique)
    stages = {name: {"matchLabels": {"env": name}} for name in ("one", "two", "three")}
    await placement.create({name: {"env": name} for name in stages})
    await placement.strategy(
        unique, [{"name": name, "labelSelector": selector} for name, selector in stages.items()]
    )
    bridge = Bridge(hub, client, settings=BridgeSettings())
    async with polling(
        Worker(client, task_queue="fleetgate", activities=all_activities(hub, client))
    ):
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
