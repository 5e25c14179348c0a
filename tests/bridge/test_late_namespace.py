"""Temporal is up before its namespace exists, as after a start with an empty database."""

from temporalio.client import WorkflowExecutionStatus
from temporalio.service import RPCError

from api.kinds import Scope
from hub import Hub
from tests.bridge.support import BridgeProcess
from tests.support.eventually import eventually
from tests.support.hand_placement import HandPlacement
from tests.support.temporal import register
from tests.workflows.runs import workflow_id
from workflows.plugin import connect


async def test_a_run_is_started_once_the_namespace_exists(
    hub: Hub, placement: HandPlacement, scope: Scope, temporal_address: str, unique: str
) -> None:
    late = await connect({"TEMPORAL_ADDRESS": temporal_address, "TEMPORAL_NAMESPACE": unique})
    bridge = BridgeProcess(hub, late, task_queue=unique)
    await bridge.start()
    run = await placement.create_run(unique, "nowhere")
    handle = late.get_workflow_handle(workflow_id(run, scope))

    async def status() -> WorkflowExecutionStatus | None:
        return (await handle.describe()).status

    async def refusal() -> str:
        try:
            await status()
        except RPCError as error:
            return error.message
        return ""

    assert f"Namespace {unique} is not found" in await refusal()
    # Wait for the finalizer, which the bridge adds just before it asks Temporal and is refused.
    await eventually(
        lambda: placement.read_run(unique), lambda seen: seen["metadata"].get("finalizers")
    )
    await register(late)
    await eventually(refusal, lambda text: not text)
    assert await status() is WorkflowExecutionStatus.RUNNING
    await bridge.stop()
    await _forget(scope, placement)


async def _forget(scope: Scope, placement: HandPlacement) -> None:
    """Delete the run, so that no later bridge of these tests finds it."""
    await placement.hub.patch(
        scope.run,
        placement.name,
        {"metadata": {"finalizers": None}},
        namespace=placement.namespace,
    )
    await placement.delete_run(placement.name)
