"""Gates: approvals before and after a stage, timed waits, side by side."""

import pytest
from temporalio.client import Client, WorkflowUpdateFailedError

from api.kinds import Scope
from tests.support.eventually import eventually
from tests.support.hand_placement import HandPlacement, condition_of, says
from tests.workflows.runs import reaches, started, workflow_id
from workflows.messages import Approve

pytestmark = pytest.mark.usefixtures("engine")

APPROVAL = {"type": "Approval"}


async def one_stage(placement: HandPlacement, unique: str, **fields: object) -> str:
    """A run over one stage with one cluster; returns the cluster."""
    cluster = f"{unique}-a"
    await placement.create({cluster: {"env": unique}})
    stage = {"name": "one", "labelSelector": {"matchLabels": {"env": unique}}, **fields}
    await placement.strategy(unique, [stage])
    await placement.create_run(unique, unique, index="0")
    return cluster


async def test_a_stage_begins_when_its_approval_is_given_with_kubectl(
    placement: HandPlacement, unique: str
) -> None:
    cluster = await one_stage(placement, unique, beforeStageTasks=[APPROVAL])

    run = await reaches(placement, unique, "UpdateRunWaiting")
    text = "The updateRun is waiting for before-stage tasks in stage one to complete"
    assert says(run, "Progressing") == ("False", "UpdateRunWaiting", text)
    stage = run["status"]["stagesStatus"][0]
    assert "startTime" not in stage
    assert (await placement.read_binding(cluster))["spec"]["state"] == "Scheduled"
    request = f"{unique}-before-one"
    assert stage["beforeStageTaskStatus"][0]["approvalRequestName"] == request

    asked = await eventually(lambda: placement.find_approval(request), bool)
    assert asked is not None
    assert asked["metadata"]["labels"] == {
        "kubernetes-fleet.io/isLatestUpdateRunApproval": "true",
        "kubernetes-fleet.io/targetUpdateRun": unique,
        "kubernetes-fleet.io/targetUpdatingStage": "one",
        "kubernetes-fleet.io/taskType": "beforeStage",
    }
    await placement.approve(request)
    await started(placement, cluster)
    accepted = await eventually(
        lambda: placement.find_approval(request),
        lambda seen: seen and condition_of(seen, "ApprovalAccepted"),
    )
    assert accepted is not None
    assert says(accepted, "ApprovalAccepted")[:2] == ("True", "ApprovalRequestApprovalAccepted")

    await placement.report(cluster)
    run = await reaches(placement, unique, "UpdateRunSucceeded", kind="Succeeded")
    task = run["status"]["stagesStatus"][0]["beforeStageTaskStatus"][0]
    assert [each["type"] for each in task["conditions"]] == [
        "ApprovalRequestCreated",
        "ApprovalRequestApproved",
    ]


async def test_wait_and_approval_after_a_stage_run_side_by_side(
    placement: HandPlacement, unique: str
) -> None:
    wait = {"type": "TimedWait", "waitTime": "2s"}
    cluster = await one_stage(placement, unique, afterStageTasks=[wait, APPROVAL])
    await started(placement, cluster)
    await placement.report(cluster)

    request = f"{unique}-after-one"
    await eventually(lambda: placement.find_approval(request), bool)
    run = await placement.read_run(unique)
    assert "conditions" not in run["status"]["stagesStatus"][0]["afterStageTaskStatus"][0]
    await placement.approve(request)

    run = await reaches(placement, unique, "UpdateRunSucceeded", kind="Succeeded")
    waited, approved = run["status"]["stagesStatus"][0]["afterStageTaskStatus"]
    assert says(waited, "WaitTimeElapsed") == (
        "True",
        "AfterStageTaskWaitTimeElapsed",
        "Wait time elapsed",
    )
    assert says(approved, "ApprovalRequestApproved")[0] == "True"


async def test_an_approval_of_another_generation_does_not_count(
    placement: HandPlacement, unique: str
) -> None:
    cluster = await one_stage(placement, unique, beforeStageTasks=[APPROVAL])
    request = f"{unique}-before-one"
    await eventually(lambda: placement.find_approval(request), bool)

    await placement.approve(request, generation=7)
    await reaches(placement, unique, "UpdateRunWaiting")
    asked = await placement.find_approval(request)
    assert asked is not None
    assert not condition_of(asked, "ApprovalAccepted")
    assert (await placement.read_binding(cluster))["spec"]["state"] == "Scheduled"

    await placement.approve(request, generation=1)
    await started(placement, cluster)


async def test_a_deleted_approval_request_is_made_anew(
    placement: HandPlacement, unique: str
) -> None:
    await one_stage(placement, unique, beforeStageTasks=[APPROVAL])
    request = f"{unique}-before-one"
    first = await eventually(lambda: placement.find_approval(request), bool)
    assert first is not None
    await reaches(placement, unique, "UpdateRunWaiting")

    await placement.hub.delete(placement.scope.approval, request, namespace=placement.namespace)
    again = await eventually(
        lambda: placement.find_approval(request),
        lambda seen: seen and seen["metadata"]["uid"] != first["metadata"]["uid"],
    )
    assert again is not None


async def test_an_approval_through_temporal_shows_in_the_object(
    placement: HandPlacement, unique: str, temporal: Client, scope: Scope
) -> None:
    cluster = await one_stage(placement, unique, beforeStageTasks=[APPROVAL])
    run = await reaches(placement, unique, "UpdateRunWaiting")
    await eventually(lambda: placement.find_approval(f"{unique}-before-one"), bool)
    handle = temporal.get_workflow_handle(workflow_id(run, scope))

    with pytest.raises(WorkflowUpdateFailedError) as refused:
        await handle.execute_update("approve", Approve(stage="two"))
    assert "stage two has no approval open; open are: stage one (before)" in str(
        refused.value.__cause__
    )

    answer = await handle.execute_update(
        "approve", Approve(by="alice", comment="looks good"), result_type=dict
    )
    assert answer == {"text": "stage one (before) is approved"}
    await started(placement, cluster)
    asked = await placement.find_approval(f"{unique}-before-one")
    assert asked is not None
    text = "looks good (by an unknown user of Temporal, who says: alice)"
    assert says(asked, "Approved")[::2] == ("True", text)


async def test_an_approval_signal_as_the_temporal_ui_sends_it_works(
    placement: HandPlacement, unique: str, temporal: Client, scope: Scope
) -> None:
    cluster = await one_stage(placement, unique, beforeStageTasks=[APPROVAL])
    run = await reaches(placement, unique, "UpdateRunWaiting")
    await eventually(lambda: placement.find_approval(f"{unique}-before-one"), bool)

    handle = temporal.get_workflow_handle(workflow_id(run, scope))
    await handle.signal("approve", {"stage": "one"})
    await started(placement, cluster)
