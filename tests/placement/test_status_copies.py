"""A placement's status is readable with access to only one namespace (contract: placement 7.7)."""

from typing import Any

from api import names
from api.kinds import CLUSTER_RESOURCE_PLACEMENT_STATUS, NAMESPACE
from tests.placement.world import World, cluster_scoped, now
from tests.support.eventually import eventually

Json = dict[str, Any]
SYNCED = "ClusterResourcePlacementStatusSynced"


async def place(world: World, **spec: Any) -> Json:
    return await world.place(statusReportingScope="NamespaceAccessible", **spec)


async def copy(world: World) -> Json | None:
    return await world.hub.find(
        CLUSTER_RESOURCE_PLACEMENT_STATUS, world.name, namespace=world.unique
    )


async def as_told(world: World) -> Json | None:
    """Return the copy if it matches the placement's status."""
    placement, found = await world.placement(), await copy(world)
    if placement is None or found is None or "status" not in placement:
        return None
    status = dict(placement["status"])
    status["conditions"] = [each for each in status["conditions"] if each["type"] != SYNCED]
    return found if found["sourceStatus"] == status else None


@cluster_scoped
async def test_the_copy_follows_the_placement(world: World) -> None:
    member = await world.join("a")
    placement = await place(world)
    await world.told("RolloutStarted", status="Unknown")
    first = await eventually(lambda: as_told(world))

    await world.snapshot(0)
    await world.roll_out(member)
    await world.report(member)
    await world.told("Available", status="True")

    last = await eventually(lambda: as_told(world))
    assert "finalizers" not in last["metadata"]
    assert first["sourceStatus"]["conditions"] != last["sourceStatus"]["conditions"]
    assert last["sourceStatus"]["observedResourceIndex"] == "0"
    assert last["metadata"]["ownerReferences"][0]["uid"] == placement["metadata"]["uid"]
    synced = await world.told("StatusSynced", status="True", reason="StatusSyncSucceeded")
    assert synced["message"] == (
        "Successfully created or updated ClusterResourcePlacementStatus in namespace"
        f" '{world.unique}'"
    )


@cluster_scoped
async def test_a_copy_deleted_or_changed_by_hand_is_restored(world: World) -> None:
    await place(world)
    before = await eventually(lambda: as_told(world))

    await world.hub.delete(CLUSTER_RESOURCE_PLACEMENT_STATUS, world.name, namespace=world.unique)

    async def another() -> bool:
        found = await as_told(world)
        return found is not None and found["metadata"]["uid"] != before["metadata"]["uid"]

    await eventually(another)
    patch = {"sourceStatus": {"observedResourceIndex": "9"}}
    await world.hub.patch(
        CLUSTER_RESOURCE_PLACEMENT_STATUS, world.name, patch, namespace=world.unique
    )
    await eventually(lambda: as_told(world))


@cluster_scoped
async def test_a_copy_is_deleted_with_its_placement(world: World) -> None:
    await place(world)
    await eventually(lambda: as_told(world))

    await world.hub.delete(world.scope.placement, world.name)

    await eventually(lambda: _gone(world))


@cluster_scoped
async def test_a_copy_whose_placement_was_deleted_unnoticed_is_deleted(world: World) -> None:
    await make(world)

    await eventually(lambda: _gone(world))


@cluster_scoped
async def test_a_copy_of_an_earlier_build_can_be_deleted(world: World) -> None:
    await make(world, finalizers=[names.PLACEMENT_STATUS_FINALIZER])

    await eventually(lambda: _gone(world))


async def make(world: World, **metadata: Any) -> None:
    """Create a copy that no controller has written."""
    named = {"name": world.name, "namespace": world.unique}
    body = {"metadata": named | metadata, "sourceStatus": {}, "lastUpdatedTime": now()}
    await world.hub.create(CLUSTER_RESOURCE_PLACEMENT_STATUS, body)


async def _gone(world: World) -> bool:
    return await copy(world) is None


@cluster_scoped
async def test_a_status_that_cannot_be_copied_is_reported(world: World) -> None:
    missing = f"{world.unique}-later"
    selectors = [{"group": "", "version": "v1", "kind": "Namespace", "name": missing}]
    await place(world, resourceSelectors=selectors)

    said = await world.told("StatusSynced", status="False", reason="StatusSyncFailed")

    assert said["message"] == (
        "Failed to create or update ClusterResourcePlacementStatus: namespaces"
        f' "{missing}" not found'
    )
    await world.hub.create(NAMESPACE, {"metadata": {"name": missing}})
    await world.told("StatusSynced", status="True")
    await world.hub.delete(NAMESPACE, missing)


@cluster_scoped
async def test_there_is_no_copy_unless_it_is_requested(world: World) -> None:
    await world.place()
    await world.told("Scheduled", status="True")
    assert await copy(world) is None
    assert await world.said("StatusSynced") == {}
