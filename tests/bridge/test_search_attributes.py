"""Runs in a namespace without their search attributes."""

from collections.abc import AsyncIterator

import pytest
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest
from temporalio.client import Client
from temporalio.worker import Worker

from activities.registry import all_activities
from api.kinds import Scope
from hub import Hub
from tests.bridge.support import BridgeProcess
from tests.support.hand_placement import HandPlacement
from tests.support.temporal import bare_namespace
from tests.workflows.runs import reaches, started, workflow_id
from wiring.temporal import polling
from workflows import search_attributes


@pytest.fixture
async def bare(temporal_address: str, unique: str) -> Client:
    return await bare_namespace(temporal_address, unique)


@pytest.fixture
async def engine(hub: Hub, bare: Client) -> AsyncIterator[None]:
    """A worker and a bridge in that namespace."""
    bridge = BridgeProcess(hub, bare, task_queue="fleetgate")
    async with polling(Worker(bare, task_queue="fleetgate", activities=all_activities(hub, bare))):
        await bridge.start()
        yield
        await bridge.stop()


async def roll_out(placement: HandPlacement, run: str, index: int) -> str:
    """Complete a run on the only cluster, and return its workflow's id."""
    await placement.create_run(run, run, index=str(index))
    await started(placement, placement.name, index=index)
    await placement.report(placement.name)
    ended = await reaches(placement, run, "UpdateRunSucceeded", kind="Succeeded")
    return workflow_id(ended, placement.scope)


@pytest.mark.usefixtures("engine")
async def test_runs_work_without_search_attributes_and_use_them_once_registered(
    placement: HandPlacement,
    scope: Scope,
    bare: Client,
    unique: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    await placement.create({unique: {"env": unique}})
    selector = {"matchLabels": {"env": unique}}
    stages = [{"name": "all", "labelSelector": selector}]
    runs = [f"{unique}-{number}" for number in range(3)]
    for run in runs:
        await placement.strategy(run, stages)
    first = await roll_out(placement, runs[0], 0)
    await roll_out(placement, runs[1], 0)
    # Runs left by other tests are started as soon as the bridge runs.
    records = caplog.get_records("setup") + caplog.get_records("call")
    (warning,) = (each.getMessage() for each in records if each.name == "bridge.temporal")
    assert "`fleetgate search-attributes`" in warning
    assert f"namespace {unique}" in warning
    described = await bare.get_workflow_handle(first).describe()
    assert described.typed_search_attributes.get(search_attributes.STATE) is None

    await bare.operator_service.add_search_attributes(
        AddSearchAttributesRequest(
            namespace=unique,
            search_attributes={
                key.name: search_attributes.KEYWORD for key in search_attributes.ALL
            },
        )
    )
    third = await roll_out(placement, runs[2], 0)
    handle = bare.get_workflow_handle(third)
    await handle.result()
    described = await handle.describe()
    assert described.typed_search_attributes[search_attributes.STATE] == "succeeded"
