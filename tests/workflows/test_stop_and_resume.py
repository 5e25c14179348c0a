"""Stop and resume at every point, from kubectl and from Temporal."""

import pytest
from temporalio.client import Client, WorkflowUpdateFailedError

from api.kinds import Scope
from tests.support.eventually import eventually
from tests.support.hand_placement import HandPlacement, condition_of, says
from tests.workflows.runs import reaches, started, workflow_id
from workflows.messages import ChangeState

pytestmark = pytest.mark.usefixtures("engine")


async def two_clusters(
    placement: HandPlacement, unique: str, *, state: str = "Run", **fields: object
) -> tuple[str, str]:
    """A run over one stage with two clusters, one at a time."""
    first, second = f"{unique}-a", f"{unique}-b"
    await placement.create({first: {"env": unique}, second: {"env": unique}})
    stage = {"name": "one", "labelSelector": {"matchLabels": {"env": unique}}, **fields}
    await placement.strategy(unique, [stage])
    await placement.create_run(unique, unique, index="0", state=state)
    return first, second


async def test_an_initialized_run_touches_nothing_until_it_is_started(
    placement: HandPlacement, unique: str
) -> None:
    first, _ = await two_clusters(placement, unique, state="Initialize")
    run = await reaches(placement, unique, "UpdateRunInitializedSuccessfully", kind="Initialized")
    assert [each["type"] for each in run["status"]["conditions"]] == ["Initialized"]
    assert [each["clusterName"] for each in run["status"]["stagesStatus"][0]["clusters"]] == [
        f"{unique}-a",
        f"{unique}-b",
    ]
    assert (await placement.read_binding(first))["spec"]["state"] == "Scheduled"

    await placement.set_state(unique, "Run")
    await started(placement, first)
    run = await reaches(placement, unique, "UpdateRunProgressing")
    assert {each["observedGeneration"] for each in run["status"]["conditions"]} == {
        run["metadata"]["generation"]
    }


async def test_a_run_created_stopped_is_initialized_and_stopped(
    placement: HandPlacement, unique: str
) -> None:
    first, _ = await two_clusters(placement, unique, state="Stop")
    run = await reaches(placement, unique, "UpdateRunStopped")
    stage = run["status"]["stagesStatus"][0]
    assert says(stage, "Progressing")[:2] == ("False", "StageUpdatingStopped")
    assert "startTime" not in stage

    await placement.set_state(unique, "Run")
    await started(placement, first)


async def test_a_stop_waits_for_the_cluster_in_flight_and_starts_no_other(
    placement: HandPlacement, unique: str
) -> None:
    first, second = await two_clusters(placement, unique)
    await started(placement, first)
    await placement.set_state(unique, "Stop")

    run = await reaches(placement, unique, "UpdateRunStopping")
    assert says(run, "Progressing")[0] == "Unknown"
    stage = run["status"]["stagesStatus"][0]
    assert says(stage, "Progressing")[:2] == ("Unknown", "StageUpdatingStopping")

    await placement.report(first)
    run = await reaches(placement, unique, "UpdateRunStopped")
    stage = run["status"]["stagesStatus"][0]
    assert says(run, "Progressing") == (
        "False",
        "UpdateRunStopped",
        "The update run has been stopped",
    )
    assert says(stage, "Progressing")[:2] == ("False", "StageUpdatingStopped")
    assert says(stage["clusters"][0], "Succeeded")[0] == "True"
    assert (await placement.read_binding(second))["spec"]["state"] == "Scheduled"

    await placement.set_state(unique, "Run")
    await started(placement, second)
    await placement.report(second)
    await reaches(placement, unique, "UpdateRunSucceeded", kind="Succeeded")


async def test_an_approval_given_while_stopped_counts_after_the_resume(
    placement: HandPlacement, unique: str
) -> None:
    first, _ = await two_clusters(placement, unique, beforeStageTasks=[{"type": "Approval"}])
    request = f"{unique}-before-one"
    await eventually(lambda: placement.find_approval(request), bool)
    await placement.set_state(unique, "Stop")
    await reaches(placement, unique, "UpdateRunStopped")

    await placement.approve(request)
    await placement.set_state(unique, "Run")
    await started(placement, first)


async def test_a_stopped_run_at_a_gate_waits_there_again_when_resumed(
    placement: HandPlacement, unique: str
) -> None:
    await two_clusters(placement, unique, beforeStageTasks=[{"type": "Approval"}])
    await reaches(placement, unique, "UpdateRunWaiting")
    await placement.set_state(unique, "Stop")
    await reaches(placement, unique, "UpdateRunStopped")
    await placement.set_state(unique, "Run")
    run = await reaches(placement, unique, "UpdateRunWaiting")
    stage = run["status"]["stagesStatus"][0]
    assert says(stage, "Progressing")[:2] == ("False", "StageUpdatingWaiting")


async def test_a_pause_through_temporal_shows_in_the_spec(
    placement: HandPlacement, unique: str, temporal: Client, scope: Scope
) -> None:
    first, second = await two_clusters(placement, unique)
    await started(placement, first)
    handle = temporal.get_workflow_handle(workflow_id(await placement.read_run(unique), scope))

    answer = await handle.execute_update("pause", ChangeState(by="alice"), result_type=dict)
    assert answer == {
        "text": f"run {unique} stops: 1 cluster in flight will be waited for, no other is started"
    }
    assert (await placement.read_run(unique))["spec"]["state"] == "Stop"
    await placement.report(first)
    run = await reaches(placement, unique, "UpdateRunStopped")
    assert run["metadata"]["generation"] == 2

    await handle.signal("resume")
    await started(placement, second)
    assert (await placement.read_run(unique))["spec"]["state"] == "Run"


async def test_a_run_that_never_started_cannot_be_paused(
    placement: HandPlacement, unique: str, temporal: Client, scope: Scope
) -> None:
    await two_clusters(placement, unique, state="Initialize")
    run = await reaches(placement, unique, "UpdateRunInitializedSuccessfully", kind="Initialized")
    handle = temporal.get_workflow_handle(workflow_id(run, scope))
    with pytest.raises(WorkflowUpdateFailedError) as refused:
        await handle.execute_update("pause", ChangeState())
    assert "was never started, so there is nothing to stop" in str(refused.value.__cause__)

    await handle.execute_update("resume", ChangeState())
    run = await reaches(placement, unique, "UpdateRunProgressing")
    assert run["spec"]["state"] == "Run"


async def test_a_generation_that_the_spec_never_had_does_not_make_real_changes_old(
    placement: HandPlacement, unique: str, temporal: Client, scope: Scope
) -> None:
    first, second = await two_clusters(placement, unique)
    await started(placement, first)
    handle = temporal.get_workflow_handle(workflow_id(await placement.read_run(unique), scope))

    await handle.signal("pause", {"generation": 999})
    await placement.report(first)
    await started(placement, second)

    await handle.signal("resume", {"generation": 999})
    await placement.set_state(unique, "Stop")
    await reaches(placement, unique, "UpdateRunStopping")
    await placement.report(second)
    run = await reaches(placement, unique, "UpdateRunStopped")
    assert condition_of(run, "Progressing")["observedGeneration"] == 2
