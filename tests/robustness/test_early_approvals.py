"""Approvals that exist before the run requests them."""

import asyncio

import pytest
from temporalio.client import Client, WorkflowUpdateFailedError

from api.names import RUN_UID
from planning.runs.gates import GateSide
from tests.robustness.rollouts import Rollout, in_time
from tests.support.conditions import says
from tests.workflows.runs import workflow_id
from workflows.messages import Approve

pytestmark = pytest.mark.usefixtures("one_engine")


async def test_a_request_approved_before_its_stage_counts_at_the_gate(
    rollout: Rollout,
) -> None:
    await rollout.begin(gate=True)
    await rollout.written("one")
    await rollout.create_approval(stage="two")
    await rollout.approved(f"{rollout.name}-before-two")
    assert await rollout.scheduled("two")

    await rollout.update("one")
    await rollout.finish()
    asked = await rollout.placement.find_approval(f"{rollout.name}-before-two")
    assert asked is not None
    assert says(asked, "ApprovalAccepted")[:2] == ("True", "ApprovalRequestApprovalAccepted")
    task = (await rollout.read())["status"]["stagesStatus"][1]["beforeStageTaskStatus"][0]
    assert [each["type"] for each in task["conditions"]] == [
        "ApprovalRequestCreated",
        "ApprovalRequestApproved",
    ]


async def test_a_request_created_for_another_stage_fails_the_run_at_the_gate(
    rollout: Rollout,
) -> None:
    await rollout.begin(gate=True)
    await rollout.written("one")
    await rollout.create_approval(stage="one")
    await rollout.update("one")
    run = await rollout.reaches("UpdateRunFailed", kind="Succeeded")
    key, space = rollout.name, rollout.placement.namespace
    assert says(run, "Succeeded")[2] == (
        "cannot continue the updateRun: unexpected behavior which cannot be handled by the "
        f"controller: the approval request task `{space}/{key}-before-two` is targeting update "
        f"run `{space}/{key}` and stage `one`, want target update run `{space}/{key} and stage "
        "`two`"
    )


async def test_an_early_approval_through_temporal_is_refused_or_ignored(
    rollout: Rollout, temporal: Client
) -> None:
    await rollout.begin(gate=True)
    await rollout.written("one")
    handle = temporal.get_workflow_handle(workflow_id(await rollout.read(), rollout.scope))
    early = Approve(stage="two", side=GateSide.BEFORE)
    with pytest.raises(WorkflowUpdateFailedError) as refused:
        await handle.execute_update("approve", early)
    text = "stage two has no open before-stage approval; the run is not waiting for any approval"
    assert str(refused.value.__cause__).endswith(text)
    await handle.signal("approve", early)

    request = await rollout.at_gate()
    asked = await in_time(lambda: rollout.placement.find_approval(request), bool)
    assert asked is not None
    assert says(asked, "Approved")[0] == ""
    assert await rollout.scheduled("two")
    await handle.execute_update("approve", early)
    await rollout.finish()


async def test_an_approval_for_another_run_of_the_same_name_does_not_count(
    rollout: Rollout,
) -> None:
    await rollout.prepare(gate=True)
    # Create the run first: without it, a request for another run would be deleted at once.
    await rollout.placement.create_run(rollout.name, rollout.name, index="0", state="Initialize")
    before = await approved_request(rollout, annotations={RUN_UID: "of-another-run"})
    await rollout.placement.set_state(rollout.name, "Run")
    await asks_again(rollout, before)


async def test_an_approval_from_before_the_run_existed_does_not_count(rollout: Rollout) -> None:
    await rollout.prepare(gate=True)
    before = await approved_request(rollout)
    await asyncio.sleep(1.1)  # The API server records whole seconds.
    await rollout.placement.create_run(rollout.name, rollout.name, index="0")
    await asks_again(rollout, before)


async def approved_request(rollout: Rollout, *, annotations: dict[str, str] | None = None) -> str:
    """Create the request of the gate of stage two, already approved; return its uid."""
    placement, request = rollout.placement, f"{rollout.name}-before-two"
    await placement.ask(request, run=rollout.name, stage="two", annotations=annotations)
    await placement.approve(request)
    found = await placement.find_approval(request)
    assert found is not None
    uid: str = found["metadata"]["uid"]
    return uid


async def asks_again(rollout: Rollout, before: str) -> None:
    """Check that the gate waits for a new approval, and passes with it."""
    placement, request = rollout.placement, f"{rollout.name}-before-two"
    await rollout.at_gate()
    assert await rollout.scheduled("two")
    asked = await in_time(lambda: placement.find_approval(request), bool)
    assert asked is not None
    assert asked["metadata"]["uid"] != before
    assert says(asked, "Approved")[0] == ""
    await rollout.approve_and_finish()
