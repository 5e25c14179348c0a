"""Events that cannot be written hold up nothing."""

import asyncio

import pytest
from temporalio import activity
from temporalio.client import Client
from temporalio.exceptions import ApplicationError
from temporalio.worker import Worker

from activities.registry import all_activities
from activities.requests import RecordEvents
from api.kinds import CLUSTER_SCOPE, EVENT
from bridge import Bridge, BridgeSettings
from deploy.local import crds
from hub import Hub
from tests.support.hand_placement import HandPlacement
from tests.support.servers import PrivateApiServer
from tests.workflows.runs import reaches, started, workflow_id


@activity.defn(name="record_events")
async def cannot_record(request: RecordEvents) -> None:
    """In place of the activity, as if all its tries had failed."""
    raise ApplicationError(f"no {request.events[0].reason} today", non_retryable=True)


async def test_a_run_succeeds_though_its_events_cannot_be_written(
    private_api_server: PrivateApiServer,
    temporal: Client,
    unique: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with await Hub.connect(private_api_server.kubeconfig) as hub:
        await crds.install(hub, crds.definitions())
        others = [
            each for each in all_activities(hub, temporal) if each.__name__ != "record_events"
        ]
        placement = HandPlacement(hub, CLUSTER_SCOPE, unique)
        async with Worker(temporal, task_queue=unique, activities=[*others, cannot_record]):
            bridge = Bridge(hub, temporal, settings=BridgeSettings(task_queue=unique))
            bridging = asyncio.create_task(bridge.run())
            outcome = await roll_out(placement, temporal, unique)
            bridging.cancel()
        assert outcome["reason"] == "UpdateRunSucceeded"
        events = (await hub.list(EVENT)).items
    assert [each for each in events if each["involvedObject"]["name"] == unique] == []
    assert "events dropped: Initialized" in caplog.text


async def roll_out(placement: HandPlacement, temporal: Client, unique: str) -> dict[str, str]:
    """Take a run through one stage of one cluster; returns what its workflow returns."""
    await placement.create({unique: {"env": unique}})
    selector = {"matchLabels": {"env": unique}}
    await placement.strategy(unique, [{"name": "one", "labelSelector": selector}])
    run = await placement.create_run(unique, unique, index="0")
    await started(placement, unique)
    await placement.report(unique)
    await reaches(placement, unique, "UpdateRunSucceeded", kind="Succeeded")
    handle = temporal.get_workflow_handle(workflow_id(run, CLUSTER_SCOPE), result_type=dict)
    outcome: dict[str, str] = await handle.result()
    return outcome
