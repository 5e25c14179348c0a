"""A run that is removed from the hub before anything could clean up."""

import pytest
from temporalio.client import Client, WorkflowExecutionStatus

from api.kinds import Scope
from tests.support.eventually import eventually
from tests.support.hand_placement import HandPlacement
from tests.workflows.runs import started, workflow_id

pytestmark = pytest.mark.usefixtures("engine")


async def test_a_run_removed_by_force_ends_its_workflow(
    placement: HandPlacement, unique: str, temporal: Client, scope: Scope
) -> None:
    cluster = f"{unique}-a"
    await placement.create({cluster: {"env": unique}})
    stage = {"name": "one", "labelSelector": {"matchLabels": {"env": unique}}}
    await placement.strategy(unique, [stage])
    run = await placement.create_run(unique, unique, index="0")
    await started(placement, cluster)
    finalizers = {"metadata": {"finalizers": None}}
    await placement.hub.patch(scope.run, unique, finalizers, namespace=placement.namespace)
    await placement.delete_run(unique)

    handle = temporal.get_workflow_handle(workflow_id(run, scope))
    await eventually(
        handle.describe, lambda seen: seen.status is not WorkflowExecutionStatus.RUNNING
    )
