"""Runs that cannot begin, cannot go on, take too long, or are deleted."""

import pytest
from temporalio.client import Client, WorkflowExecutionStatus

from api.kinds import Scope
from hub import Json
from tests.support.eventually import eventually
from tests.support.hand_placement import HandPlacement, says
from tests.workflows.runs import reaches, started, workflow_id

pytestmark = pytest.mark.usefixtures("engine")

INVALID = "cannot continue the updateRun: failed to validate the updateRun: "
USER = "failed to process the request due to a client error: "


def stage(unique: str, **fields: object) -> Json:
    return {"name": "one", "labelSelector": {"matchLabels": {"env": unique}}, **fields}


async def refused(placement: HandPlacement, run: str) -> str:
    found = await reaches(placement, run, "UpdateRunInitializedFailed", kind="Initialized")
    assert [each["type"] for each in found["status"]["conditions"]] == ["Initialized"]
    return says(found, "Initialized")[2]


async def test_a_run_without_its_placement_is_refused(
    placement: HandPlacement, unique: str
) -> None:
    await placement.create({f"{unique}-a": {"env": unique}})
    await placement.hub.delete(
        placement.scope.placement, placement.name, namespace=placement.namespace
    )
    await placement.create_run(unique, unique)
    assert await refused(placement, unique) == INVALID + USER + "parent placement not found"


async def test_a_run_without_its_strategy_is_refused(placement: HandPlacement, unique: str) -> None:
    await placement.create({f"{unique}-a": {"env": unique}})
    await placement.create_run(unique, "nowhere")
    key = f"{placement.namespace}/nowhere"
    assert await refused(placement, unique) == (
        INVALID + USER + f"referenced updateStrategy not found: `{key}`"
    )


@pytest.mark.parametrize(
    ("index", "text"),
    [
        ("9", "no resourceSnapshots with index `9` found for placement `{key}`"),
        ("x", "invalid resource snapshot index `x` provided, expected an integer >= 0"),
        ("-1", "invalid resource snapshot index `-1` provided, expected an integer >= 0"),
    ],
)
async def test_a_run_of_a_bad_index_is_refused_and_shows_its_plan(
    placement: HandPlacement, unique: str, index: str, text: str
) -> None:
    await placement.create({f"{unique}-a": {"env": unique}})
    await placement.strategy(unique, [stage(unique)])
    await placement.create_run(unique, unique, index=index)
    key = f"{placement.namespace}/{placement.name}"
    assert await refused(placement, unique) == INVALID + USER + text.format(key=key)

    status = (await placement.read_run(unique))["status"]
    assert status["stagesStatus"][0]["clusters"] == [{"clusterName": f"{unique}-a"}]
    assert status["policyObservedClusterCount"] == 1
    assert "resourceSnapshotIndexUsed" not in status


async def test_a_cluster_without_a_stage_is_named(placement: HandPlacement, unique: str) -> None:
    await placement.create({f"{unique}-a": {"env": unique}, f"{unique}-b": {}})
    await placement.strategy(unique, [stage(unique)])
    await placement.create_run(unique, unique, index="0")
    assert await refused(placement, unique) == (
        INVALID
        + USER
        + f"some clusters are not placed in any stage, total 1, showing up to 10: {unique}-b"
    )


async def test_a_cluster_that_takes_too_long_is_stuck_until_it_is_done(
    placement: HandPlacement, unique: str
) -> None:
    cluster = f"{unique}-a"
    await placement.create({cluster: {"env": unique}})
    await placement.strategy(unique, [stage(unique)])
    await placement.create_run(unique, unique, index="0")
    await started(placement, cluster)
    await placement.report(cluster, "Available", "False", "NotAllWorkAreAvailable")

    run = await reaches(placement, unique, "UpdateRunStuck")
    assert says(run, "Progressing")[2] == (
        f"The updateRun is stuck waiting for {cluster} cluster(s) in stage one to finish updating, "
        "please check placement status for potential errors"
    )
    await placement.report(cluster)
    await reaches(placement, unique, "UpdateRunSucceeded", kind="Succeeded")


async def test_a_cluster_preempted_by_another_run_fails_the_run(
    placement: HandPlacement, unique: str
) -> None:
    cluster = f"{unique}-a"
    await placement.create({cluster: {"env": unique}}, versions=2)
    await placement.strategy(unique, [stage(unique)])
    await placement.create_run(f"{unique}-x", unique, index="0")
    await started(placement, cluster)
    await placement.create_run(f"{unique}-y", unique, index="1")

    run = await reaches(placement, f"{unique}-x", "UpdateRunFailed", kind="Succeeded")
    binding = placement.binding_name(cluster)
    reference = f"{placement.namespace}/{binding}" if placement.namespace else binding
    text = USER + (
        f"the binding of the updating cluster `{cluster}` in the stage `one` is not up-to-date "
        f"with the desired status, please check the status of binding `{reference}` and see if "
        "there is a concurrent updateRun referencing the same placement and updating the same "
        "cluster"
    )
    assert says(run, "Succeeded")[2] == f"cannot continue the updateRun: {text}"
    failed = run["status"]["stagesStatus"][0]
    assert says(failed["clusters"][0], "Succeeded") == ("False", "ClusterUpdatingFailed", text)
    assert says(failed, "Succeeded")[:2] == ("False", "StageUpdatingFailed")
    assert says(failed, "Succeeded")[2] == says(run, "Succeeded")[2]

    await started(placement, cluster, index=1)
    await placement.report(cluster)
    await reaches(placement, f"{unique}-y", "UpdateRunSucceeded", kind="Succeeded")


async def test_a_placement_deleted_while_the_run_waits_fails_the_run(
    placement: HandPlacement, unique: str
) -> None:
    await placement.create({f"{unique}-a": {"env": unique}})
    await placement.strategy(unique, [stage(unique, beforeStageTasks=[{"type": "Approval"}])])
    await placement.create_run(unique, unique, index="0")
    await reaches(placement, unique, "UpdateRunWaiting")
    await placement.hub.delete(
        placement.scope.placement, placement.name, namespace=placement.namespace
    )
    run = await reaches(placement, unique, "UpdateRunFailed", kind="Succeeded")
    assert says(run, "Succeeded")[2] == INVALID + USER + "parent placement not found"
    waiting = run["status"]["stagesStatus"][0]
    assert says(waiting, "Progressing")[1] == "StageUpdatingWaiting"


async def test_a_deleted_run_takes_its_approvals_and_its_workflow_with_it(
    placement: HandPlacement, unique: str, temporal: Client, scope: Scope
) -> None:
    await placement.create({f"{unique}-a": {"env": unique}})
    await placement.strategy(unique, [stage(unique, beforeStageTasks=[{"type": "Approval"}])])
    await placement.create_run(unique, unique, index="0")
    run = await reaches(placement, unique, "UpdateRunWaiting")
    request = f"{unique}-before-one"
    await eventually(lambda: placement.find_approval(request), bool)

    await placement.delete_run(unique)
    await eventually(
        lambda: placement.hub.find(scope.run, unique, namespace=placement.namespace),
        lambda seen: seen is None,
    )
    await eventually(lambda: placement.find_approval(request), lambda seen: seen is None)
    handle = temporal.get_workflow_handle(workflow_id(run, scope))
    await eventually(handle.describe, lambda seen: seen.status is WorkflowExecutionStatus.CANCELED)


async def test_a_cluster_no_longer_picked_is_removed_after_the_stages(
    placement: HandPlacement, unique: str
) -> None:
    kept, leaving = f"{unique}-a", f"{unique}-b"
    await placement.create({kept: {"env": unique}})
    await placement.member(leaving, {"env": unique})
    await placement.binding(leaving, state="Unscheduled")
    await placement.strategy(unique, [stage(unique)])
    await placement.create_run(unique, unique, index="0")
    await started(placement, kept)
    await placement.read_binding(leaving)
    await placement.report(kept)

    run = await reaches(placement, unique, "UpdateRunSucceeded", kind="Succeeded")
    deletion = run["status"]["deletionStageStatus"]
    assert deletion["clusters"][0]["clusterName"] == leaving
    assert says(deletion["clusters"][0], "Succeeded")[0] == "True"
    name = placement.binding_name(leaving)
    assert (
        await placement.hub.find(placement.scope.binding, name, namespace=placement.namespace)
        is None
    )


async def test_clusters_preempted_together_fail_the_run_and_no_other_is_started(
    placement: HandPlacement, unique: str
) -> None:
    clusters = [f"{unique}-{letter}" for letter in "abc"]
    await placement.create({name: {"env": unique} for name in clusters}, versions=2)
    await placement.strategy(unique, [stage(unique, maxConcurrency=2)])
    await placement.create_run(f"{unique}-x", unique, index="0")
    first, second, third = clusters
    await started(placement, first)
    await started(placement, second)
    await placement.create_run(f"{unique}-y", unique, index="1")

    run = await reaches(placement, f"{unique}-x", "UpdateRunFailed", kind="Succeeded")
    names = [
        each["clusterName"]
        for each in run["status"]["stagesStatus"][0]["clusters"]
        if says(each, "Started")[0] == "True"
    ]
    assert names == [first, second]
    assert (await placement.read_binding(third))["spec"]["state"] == "Scheduled"


async def test_a_run_removed_by_force_ends_its_workflow(
    placement: HandPlacement, unique: str, temporal: Client, scope: Scope
) -> None:
    cluster = f"{unique}-a"
    await placement.create({cluster: {"env": unique}})
    await placement.strategy(unique, [stage(unique)])
    run = await placement.create_run(unique, unique, index="0")
    await started(placement, cluster)
    finalizers = {"metadata": {"finalizers": None}}
    await placement.hub.patch(scope.run, unique, finalizers, namespace=placement.namespace)
    await placement.delete_run(unique)

    handle = temporal.get_workflow_handle(workflow_id(run, scope))
    await eventually(
        handle.describe, lambda seen: seen.status is not WorkflowExecutionStatus.RUNNING
    )
