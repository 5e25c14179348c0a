"""Each run has its own workflow while it exists, and leaves nothing behind."""

import pytest
from temporalio.client import Client, WorkflowExecutionStatus

from api.kinds import Scope
from api.names import RUN_FINALIZER
from hub import Hub, Json
from tests.bridge.support import BridgeProcess
from tests.support.eventually import eventually
from tests.support.hand_placement import HandPlacement
from tests.workflows.runs import reaches, started, workflow_id

OTHERS = "example.com/keep"
RUNNING, CANCELED = WorkflowExecutionStatus.RUNNING, WorkflowExecutionStatus.CANCELED


async def prepare(placement: HandPlacement, unique: str, **fields: object) -> str:
    """Create a placement and a strategy with one stage and one cluster; return the cluster."""
    cluster = f"{unique}-a"
    await placement.create({cluster: {"env": unique}})
    stage = {"name": "one", "labelSelector": {"matchLabels": {"env": unique}}, **fields}
    await placement.strategy(unique, [stage])
    return cluster


async def gone(placement: HandPlacement, run: str) -> None:
    await eventually(
        lambda: placement.hub.find(placement.scope.run, run, namespace=placement.namespace),
        lambda seen: seen is None,
    )


async def status_of(temporal: Client, run: Json, scope: Scope) -> WorkflowExecutionStatus | None:
    return (await temporal.get_workflow_handle(workflow_id(run, scope)).describe()).status


def finalizers(run: Json) -> list[str]:
    found: list[str] = run["metadata"].get("finalizers", [])
    return found


@pytest.mark.usefixtures("bridge")
async def test_a_run_gets_a_finalizer_and_a_workflow(
    placement: HandPlacement, unique: str, temporal: Client, scope: Scope
) -> None:
    await prepare(placement, unique)
    await placement.create_run(unique, unique, index="0", state="Initialize")
    run = await reaches(placement, unique, "UpdateRunInitializedSuccessfully", kind="Initialized")
    assert finalizers(run) == [RUN_FINALIZER]
    assert run["metadata"]["generation"] == 1
    assert await status_of(temporal, run, scope) is RUNNING


@pytest.mark.usefixtures("bridge")
async def test_deleting_a_run_cancels_its_workflow(
    placement: HandPlacement, unique: str, temporal: Client, scope: Scope
) -> None:
    await prepare(placement, unique)
    await placement.create_run(unique, unique, index="0", state="Initialize")
    run = await reaches(placement, unique, "UpdateRunInitializedSuccessfully", kind="Initialized")
    await placement.delete_run(unique)
    await gone(placement, unique)
    await eventually(lambda: status_of(temporal, run, scope), lambda seen: seen is CANCELED)


@pytest.mark.usefixtures("bridge")
async def test_finalizers_of_others_stay(
    hub: Hub, placement: HandPlacement, unique: str, scope: Scope
) -> None:
    await prepare(placement, unique)
    body = placement.body({"spec": placement.run_spec(unique, index="0", state="Initialize")})
    body["metadata"]["finalizers"] = [OTHERS]
    await hub.create(scope.run, body)
    run = await eventually(
        lambda: placement.read_run(unique), lambda seen: RUN_FINALIZER in finalizers(seen)
    )
    assert finalizers(run) == [OTHERS, RUN_FINALIZER]

    await placement.delete_run(unique)
    await eventually(lambda: placement.read_run(unique), lambda seen: finalizers(seen) == [OTHERS])
    patch = {"metadata": {"finalizers": None}}
    await hub.patch(scope.run, unique, patch, namespace=placement.namespace)
    await gone(placement, unique)


@pytest.mark.usefixtures("bridge")
async def test_a_new_run_with_the_same_name_has_its_own_workflow_and_approval(
    placement: HandPlacement, unique: str, temporal: Client, scope: Scope
) -> None:
    cluster = await prepare(placement, unique, beforeStageTasks=[{"type": "Approval"}])
    request = f"{unique}-before-one"
    await placement.create_run(unique, unique, index="0")
    first = await reaches(placement, unique, "UpdateRunWaiting")
    asked = await eventually(lambda: placement.find_approval(request))

    await placement.delete_run(unique)
    await gone(placement, unique)
    await placement.create_run(unique, unique, index="0")
    second = await reaches(placement, unique, "UpdateRunWaiting")
    assert workflow_id(second, scope) != workflow_id(first, scope)
    assert await status_of(temporal, second, scope) is RUNNING
    await eventually(lambda: status_of(temporal, first, scope), lambda seen: seen is CANCELED)
    again = await eventually(
        lambda: placement.find_approval(request),
        lambda seen: seen and seen["metadata"]["uid"] != asked["metadata"]["uid"],
    )
    assert again is not None
    await placement.approve(request)
    await started(placement, cluster)


async def test_a_run_that_is_over_is_not_started_again_by_another_bridge(
    bridge: BridgeProcess, placement: HandPlacement, unique: str, temporal: Client, scope: Scope
) -> None:
    await placement.create_run(unique, "nowhere")
    over = await reaches(placement, unique, "UpdateRunInitializedFailed", kind="Initialized")
    handle = temporal.get_workflow_handle(workflow_id(over, scope))
    await eventually(handle.describe, lambda seen: seen.status is WorkflowExecutionStatus.COMPLETED)
    before = await handle.describe()

    await bridge.stop()
    await bridge.start()
    await placement.set_state(unique, "Run")
    # When a later run is in progress, the bridge has also handled the earlier one.
    await prepare(placement, unique)
    await placement.create_run(f"{unique}-later", unique, index="0")
    await reaches(placement, f"{unique}-later", "UpdateRunProgressing")
    assert (await handle.describe()).run_id == before.run_id
    assert (await placement.read_run(unique))["status"] == over["status"]


@pytest.mark.usefixtures("bridge")
async def test_two_bridges_at_once_do_no_harm(
    hub: Hub, placement: HandPlacement, unique: str, temporal: Client, task_queue: str
) -> None:
    second = BridgeProcess(hub, temporal, task_queue=task_queue)
    await second.start()
    cluster = await prepare(placement, unique, beforeStageTasks=[{"type": "Approval"}])
    await placement.create_run(unique, unique, index="0")
    request = f"{unique}-before-one"
    await eventually(lambda: placement.find_approval(request))
    await placement.set_state(unique, "Stop")
    await reaches(placement, unique, "UpdateRunStopped")
    await placement.set_state(unique, "Run")
    await placement.approve(request)
    await started(placement, cluster)
    await placement.report(cluster)
    await reaches(placement, unique, "UpdateRunSucceeded", kind="Succeeded")

    await placement.delete_run(unique)
    await gone(placement, unique)
    await second.stop()
