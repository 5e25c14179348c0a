"""Changes that people make while no bridge is running take effect when one starts."""

from temporalio.client import Client, WorkflowExecutionStatus

from api.kinds import Scope
from hub import Hub, Json
from tests.bridge.support import BridgeProcess
from tests.support.conditions import condition_of, says
from tests.support.eventually import eventually
from tests.support.hand_placement import HandPlacement
from tests.workflows.runs import reaches, started, workflow_id
from workflows.messages import ChangeState

APPROVAL = {"beforeStageTasks": [{"type": "Approval"}]}


async def prepare(placement: HandPlacement, unique: str, **fields: object) -> str:
    """Create a placement and a strategy with one stage and one cluster; return the cluster."""
    cluster = f"{unique}-a"
    await placement.create({cluster: {"env": unique}})
    stage = {"name": "one", "labelSelector": {"matchLabels": {"env": unique}}, **fields}
    await placement.strategy(unique, [stage])
    return cluster


async def at_its_gate(placement: HandPlacement, unique: str) -> str:
    """Start a run that waits for an approval; return the request's name."""
    await placement.create_run(unique, unique, index="0")
    await reaches(placement, unique, "UpdateRunWaiting")
    request = f"{unique}-before-one"
    await eventually(lambda: placement.find_approval(request))
    return request


async def test_a_run_created_meanwhile_is_started(
    bridge: BridgeProcess, placement: HandPlacement, unique: str
) -> None:
    cluster = await prepare(placement, unique)
    await bridge.stop()
    await placement.create_run(unique, unique, index="0")
    await bridge.start()
    await started(placement, cluster)


async def test_a_run_created_and_stopped_meanwhile_is_planned_and_stopped(
    bridge: BridgeProcess, placement: HandPlacement, unique: str
) -> None:
    cluster = await prepare(placement, unique)
    await bridge.stop()
    await placement.create_run(unique, unique, index="0")
    await placement.set_state(unique, "Stop")
    await bridge.start()
    run = await reaches(placement, unique, "UpdateRunStopped")
    assert condition_of(run, "Initialized")["observedGeneration"] == 2
    assert (await placement.read_binding(cluster))["spec"]["state"] == "Scheduled"


async def test_a_stop_requested_meanwhile_takes_effect(
    bridge: BridgeProcess, placement: HandPlacement, unique: str
) -> None:
    cluster = await prepare(placement, unique)
    await placement.create_run(unique, unique, index="0")
    await started(placement, cluster)
    await bridge.stop()
    await placement.set_state(unique, "Stop")
    await bridge.start()
    await reaches(placement, unique, "UpdateRunStopping")
    await placement.report(cluster)
    await reaches(placement, unique, "UpdateRunStopped")


async def test_a_resume_requested_meanwhile_takes_effect(
    bridge: BridgeProcess, placement: HandPlacement, unique: str
) -> None:
    cluster = await prepare(placement, unique)
    await placement.create_run(unique, unique, index="0", state="Stop")
    await reaches(placement, unique, "UpdateRunStopped")
    await bridge.stop()
    await placement.set_state(unique, "Run")
    await bridge.start()
    await started(placement, cluster)


async def test_a_stop_and_a_resume_meanwhile_leave_the_run_where_it_was(
    bridge: BridgeProcess, placement: HandPlacement, unique: str
) -> None:
    await prepare(placement, unique, **APPROVAL)
    await at_its_gate(placement, unique)
    await bridge.stop()
    await placement.set_state(unique, "Stop")
    await placement.set_state(unique, "Run")
    await bridge.start()
    run = await eventually(
        lambda: placement.read_run(unique),
        lambda seen: condition_of(seen, "Progressing")["observedGeneration"] == 3,
    )
    assert says(run, "Progressing")[1] == "UpdateRunWaiting"


async def test_an_approval_given_meanwhile_counts(
    bridge: BridgeProcess, placement: HandPlacement, unique: str
) -> None:
    cluster = await prepare(placement, unique, **APPROVAL)
    request = await at_its_gate(placement, unique)
    await bridge.stop()
    await placement.approve(request)
    await bridge.start()
    await started(placement, cluster)


async def test_an_approval_request_deleted_meanwhile_is_created_again(
    hub: Hub, bridge: BridgeProcess, placement: HandPlacement, unique: str
) -> None:
    cluster = await prepare(placement, unique, **APPROVAL)
    request = await at_its_gate(placement, unique)
    await bridge.stop()
    await hub.delete(placement.scope.approval, request, namespace=placement.namespace)
    await bridge.start()
    await eventually(lambda: placement.find_approval(request))
    await placement.approve(request)
    await started(placement, cluster)


async def test_a_status_wiped_meanwhile_is_restored(
    hub: Hub, bridge: BridgeProcess, placement: HandPlacement, unique: str
) -> None:
    cluster = await prepare(placement, unique, **APPROVAL)
    request = await at_its_gate(placement, unique)
    await bridge.stop()
    await hub.patch(
        placement.scope.run,
        unique,
        [{"op": "replace", "path": "/status", "value": {}}],
        namespace=placement.namespace,
        subresource="status",
    )
    await bridge.start()
    run = await reaches(placement, unique, "UpdateRunWaiting")
    assert says(run, "Initialized")[0] == "True"
    assert [each["clusterName"] for each in run["status"]["stagesStatus"][0]["clusters"]] == [
        cluster
    ]
    await placement.approve(request)
    await started(placement, cluster)


async def test_a_placement_deleted_meanwhile_ends_the_run(
    hub: Hub, bridge: BridgeProcess, placement: HandPlacement, unique: str
) -> None:
    await prepare(placement, unique, **APPROVAL)
    await at_its_gate(placement, unique)
    await bridge.stop()
    await hub.delete(placement.scope.placement, placement.name, namespace=placement.namespace)
    await bridge.start()
    run = await reaches(placement, unique, "UpdateRunFailed", kind="Succeeded")
    assert says(run, "Succeeded")[2].endswith("parent placement not found")


async def test_a_run_deleted_meanwhile_leaves_nothing_behind(
    bridge: BridgeProcess, placement: HandPlacement, unique: str, temporal: Client, scope: Scope
) -> None:
    await prepare(placement, unique, **APPROVAL)
    request = await at_its_gate(placement, unique)
    run = await placement.read_run(unique)
    await bridge.stop()
    await placement.delete_run(unique)
    assert (await placement.read_run(unique))["metadata"]["deletionTimestamp"]
    await bridge.start()
    await absent(placement, unique)
    await eventually(lambda: placement.find_approval(request), lambda seen: seen is None)
    handle = temporal.get_workflow_handle(workflow_id(run, scope))
    await eventually(handle.describe, lambda seen: seen.status is WorkflowExecutionStatus.CANCELED)


async def test_a_run_replaced_meanwhile_by_one_with_the_same_name_gets_a_workflow(
    hub: Hub, bridge: BridgeProcess, placement: HandPlacement, unique: str, scope: Scope
) -> None:
    cluster = await prepare(placement, unique, **APPROVAL)
    request = await at_its_gate(placement, unique)
    before = await placement.read_run(unique)
    await bridge.stop()
    # Impatient people do this to an object whose deletion hangs.
    freed = {"metadata": {"finalizers": None}}
    await hub.patch(scope.run, unique, freed, namespace=placement.namespace)
    await placement.delete_run(unique)
    await absent(placement, unique)
    await placement.create_run(unique, unique, index="0")
    await bridge.start()
    after = await reaches(placement, unique, "UpdateRunWaiting")
    assert workflow_id(after, scope) != workflow_id(before, scope)
    await placement.approve(request)
    await started(placement, cluster)


async def test_requests_through_temporal_need_no_bridge(
    bridge: BridgeProcess, placement: HandPlacement, unique: str, temporal: Client, scope: Scope
) -> None:
    await prepare(placement, unique, **APPROVAL)
    await at_its_gate(placement, unique)
    await bridge.stop()
    handle = temporal.get_workflow_handle(workflow_id(await placement.read_run(unique), scope))
    await handle.execute_update("pause", ChangeState(by="alice"))
    run = await reaches(placement, unique, "UpdateRunStopped")
    assert run["spec"]["state"] == "Stop"


async def absent(placement: HandPlacement, run: str) -> None:
    async def look() -> Json | None:
        return await placement.hub.find(placement.scope.run, run, namespace=placement.namespace)

    await eventually(look, lambda seen: seen is None)
