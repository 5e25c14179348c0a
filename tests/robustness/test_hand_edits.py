"""People edit the objects of an active run by hand."""

import pytest

from api import names
from hub import Json
from tests.robustness.rollouts import Rollout, in_time
from tests.support.conditions import condition, says

pytestmark = pytest.mark.usefixtures("one_engine")

WIPED: list[Json] = [{"op": "replace", "path": "/status", "value": {}}]
EDITED: list[Json] = [
    {"op": "replace", "path": "/status/conditions", "value": [condition("Odd", "True", 1)]},
    {"op": "remove", "path": "/status/stagesStatus/0/clusters/0/conditions"},
]
NO_STAGE: list[Json] = [{"op": "remove", "path": "/status/stagesStatus/1"}]
NO_CLUSTERS: list[Json] = [
    {"op": "replace", "path": "/status/stagesStatus/0/clusters", "value": []},
    {"op": "remove", "path": "/status/deletionStageStatus"},
]
TYPED = "/status/conditions/-"
ENDED: list[Json] = [
    {"op": "add", "path": TYPED, "value": condition("Succeeded", "True", 1, reason="Enough")}
]
REFUSED: list[Json] = [
    {"op": "replace", "path": "/status/conditions/0", "value": condition("Initialized", "False", 1)}
]
EDITS = {
    "ended": ENDED,
    "refused": REFUSED,
    "wiped": WIPED,
    "edited": EDITED,
    "no stage": NO_STAGE,
    "no clusters": NO_CLUSTERS,
}


@pytest.mark.parametrize("edit", sorted(EDITS))
async def test_a_status_edited_in_mid_stage_is_repaired_and_the_run_continues(
    rollout: Rollout, edit: str
) -> None:
    await rollout.begin()
    await rollout.written("one")
    await rollout.patch_status(EDITS[edit])
    await rollout.update("one")
    await rollout.finish()


@pytest.mark.parametrize("edit", sorted(EDITS))
async def test_a_status_edited_at_a_gate_is_repaired_before_anything_else_happens(
    rollout: Rollout, edit: str
) -> None:
    await rollout.begin(gate=True)
    request = await rollout.at_gate()
    # The run has written everything that it writes at a gate.
    before = await rollout.read()
    await rollout.patch_status(EDITS[edit])
    await in_time(rollout.read, lambda run: run.get("status") == before["status"])

    await rollout.approved(request)
    await rollout.finish()


async def test_an_approval_request_lost_while_the_status_is_wiped_is_created_again(
    rollout: Rollout,
) -> None:
    await rollout.begin(gate=True)
    request = await rollout.at_gate()
    await rollout.patch_status(WIPED)
    placement = rollout.placement
    await rollout.hub.delete(placement.scope.approval, request, namespace=placement.namespace)
    await in_time(rollout.approval_names, lambda found: request in found)
    await rollout.approved(request)
    await rollout.finish()


@pytest.mark.parametrize(
    "spec",
    [
        {"resourceSnapshotName": "other"},
        {"state": "Scheduled"},
        {"applyStrategy": {"type": "ReportDiff"}},
    ],
    ids=lambda spec: next(iter(spec)),
)
async def test_a_binding_edited_in_flight_fails_the_run_as_preempted(
    rollout: Rollout, spec: Json
) -> None:
    await rollout.begin()
    await rollout.written("one")
    await rollout.started("one")
    cluster = rollout.stages["one"][1]
    placement = rollout.placement
    name = placement.binding_name(cluster)
    await rollout.hub.patch(
        placement.scope.binding, name, {"spec": spec}, namespace=placement.namespace
    )
    reference = f"{placement.namespace}/{name}" if placement.namespace else name
    text = (
        "cannot continue the updateRun: failed to process the request due to a client error: "
        f"the binding of the updating cluster `{cluster}` in the stage `one` is not up-to-date "
        f"with the desired status, please check the status of binding `{reference}` and see if "
        "there is a concurrent updateRun referencing the same placement and updating the same "
        "cluster"
    )
    run = await rollout.reaches("UpdateRunFailed", kind="Succeeded")
    assert says(run, "Succeeded") == ("False", "UpdateRunFailed", text)
    assert says(run, "Progressing")[:2] == ("False", "UpdateRunFailed")
    edited = run["status"]["stagesStatus"][0]
    assert says(edited, "Succeeded") == ("False", "StageUpdatingFailed", text)
    assert says(edited["clusters"][1], "Succeeded")[:2] == ("False", "ClusterUpdatingFailed")
    # The run does not write the binding again, and starts nothing else.
    generations = await rollout.generations()
    assert generations == dict(zip(rollout.clusters, [2, 3, 1, 1], strict=True))


async def test_labels_and_annotations_of_a_run_change_nothing(rollout: Rollout) -> None:
    await rollout.begin(gate=True)
    await rollout.written("one")
    await rollout.annotate("first")
    request = await rollout.at_gate()
    await rollout.annotate("second")
    await rollout.approved(request)
    await rollout.written("two")
    await rollout.annotate("third")
    await rollout.finish()
    meta = (await rollout.read())["metadata"]
    assert meta["labels"]["by-hand"] == meta["annotations"]["by-hand"] == "third"
    assert meta["generation"] == 1


async def test_a_finalizer_removed_by_hand_is_restored(rollout: Rollout) -> None:
    await rollout.begin(gate=True)
    request = await rollout.at_gate()
    await rollout.without_finalizer()
    await in_time(
        rollout.read,
        lambda run: names.RUN_FINALIZER in run["metadata"].get("finalizers", []),
    )
    await rollout.approved(request)
    await rollout.finish()
    await rollout.placement.delete_run(rollout.name)
    await rollout.absent()
    assert request not in await rollout.approval_names()
