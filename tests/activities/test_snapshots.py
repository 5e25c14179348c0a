"""Finding the snapshot with an index (contract: update-runs 7.7)."""

import pytest
from temporalio.exceptions import ApplicationError

from activities.snapshots import SnapshotActivities
from api.kinds import NAMESPACE, Kind
from hub import Hub
from planning.placements.selecting import SelectionRules
from planning.runs.facts import SnapshotFacts
from tests.activities.content import Content
from tests.support.hand_overrides import OVERRIDES_OF_ALL

pytestmark = OVERRIDES_OF_ALL

CLAIM = Kind("", "v1", "PersistentVolumeClaim", "persistentvolumeclaims", namespaced=True)

VALID = "cannot continue the updateRun: failed to validate the updateRun: "
USER = "failed to process the request due to a client error: "
UNEXPECTED = "unexpected behavior which cannot be handled by the controller: "


async def refusal(snapshots: SnapshotActivities, content: Content, index: str) -> str:
    """Return the message with which the initialization of a run with that index fails."""
    with pytest.raises(ApplicationError) as caught:
        await snapshots.find_snapshot(content.request(index))
    assert caught.value.type == "InitializationError"
    assert caught.value.non_retryable
    return caught.value.message


async def test_each_index_has_its_master(content: Content, snapshots: SnapshotActivities) -> None:
    for number in (1, 2, 11):
        await content.master(number)
    for index in ("11", "1"):
        assert await snapshots.find_snapshot(content.request(index)) == SnapshotFacts(
            index=index, name=f"{content.name}-{index}-snapshot"
        )


async def test_the_master_is_distinguished_from_its_parts(
    content: Content, snapshots: SnapshotActivities
) -> None:
    await content.part(0, 0)
    await content.part(0, 1)
    await content.master(0, size=3)
    found = await snapshots.find_snapshot(content.request("0"))
    assert found.name == f"{content.name}-0-snapshot"


async def test_parts_without_a_master_are_refused(
    content: Content, snapshots: SnapshotActivities
) -> None:
    await content.master(0)
    await content.part(1, 0)
    assert await refusal(snapshots, content, "1") == (
        f"{VALID}{UNEXPECTED}no master resourceSnapshot found for placement {content.key}"
    )


@pytest.mark.parametrize(
    ("index", "number"), [("1", "1"), ("+0", "0"), ("-0", "0"), ("007", "7"), ("0" * 70, "0")]
)
async def test_an_index_without_a_snapshot_is_named(
    content: Content, snapshots: SnapshotActivities, index: str, number: str
) -> None:
    await content.master(0)
    assert await refusal(snapshots, content, index) == (
        f"{VALID}{USER}no resourceSnapshots with index `{number}` found "
        f"for placement `{content.key}`"
    )


@pytest.mark.parametrize("index", ["x", "-1", "1_0"])
async def test_an_invalid_index_is_named(
    content: Content, snapshots: SnapshotActivities, index: str
) -> None:
    assert await refusal(snapshots, content, index) == (
        f"{VALID}{USER}invalid resource snapshot index `{index}` provided, expected an integer >= 0"
    )


async def test_parts_that_are_not_needed_may_be_missing(
    content: Content, snapshots: SnapshotActivities
) -> None:
    await content.master(0, size=2)
    assert (await snapshots.find_snapshot(content.request("0"))).overrides == []


@pytest.mark.parametrize(
    ("rules", "kinds"),
    [
        (SelectionRules(), {"PersistentVolumeClaim"}),
        (SelectionRules(hub_runs_workloads=True), set()),
    ],
)
async def test_a_run_stores_what_may_be_placed_from_the_hub(
    hub: Hub, content: Content, rules: SelectionRules, kinds: set[str]
) -> None:
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    metadata = {"name": "data", "namespace": content.name}
    await hub.create(CLAIM, {"metadata": metadata, "spec": claim})
    name = "data" if content.home else content.name
    kind = CLAIM if content.home else NAMESPACE
    placed = {"name": content.name} | ({"namespace": content.home} if content.home else {})
    selector = {"group": "", "version": "v1", "kind": kind.kind, "name": name}
    spec = {"resourceSelectors": [selector], "strategy": {"type": "External"}}
    await hub.create(content.scope.placement, {"metadata": placed, "spec": spec})

    activities = SnapshotActivities(hub, rules=rules)
    taken = await activities.find_snapshot(content.request(clusters=""))

    stored = await hub.get(content.scope.resource_snapshot, taken.name, namespace=content.home)
    found = {each["kind"] for each in stored["spec"]["selectedResources"]}
    assert found & {"PersistentVolumeClaim"} == kinds
