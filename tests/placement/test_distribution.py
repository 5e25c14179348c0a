"""Bindings become Works, and Works become conditions (contract: placement 6, 8, 12)."""

import asyncio

import pytest

from api import names
from api.kinds import CLUSTER_SCOPE, NAMESPACE, NAMESPACED_SCOPE, WORK
from hub import Hub
from placement.built_in import BuiltInPlacement
from tests.placement.world import STRATEGY, World, shows
from tests.support.conditions import condition, condition_of
from tests.support.eventually import eventually

NO_OVERRIDES = "74234e98afe7498fb5daf1f36ac2d78acc339464f950703b8c019892f982b90b"
"""SHA-256 of `null`."""


async def test_a_bound_binding_becomes_a_work(world: World) -> None:
    member = await world.join("a")
    await world.place()
    snapshot = await world.snapshot(0)

    binding = await world.roll_out(member)

    work = await eventually(lambda: world.work(member))
    base = f"{world.home}.{world.name}" if world.home else world.name
    assert work["metadata"]["name"] == f"{base}-work"
    labels = {
        "kubernetes-fleet.io/parent-CRP": world.name,
        "kubernetes-fleet.io/parent-resource-binding": binding["metadata"]["name"],
        "kubernetes-fleet.io/parent-resource-snapshot-index": "0",
    }
    if world.home:
        labels["kubernetes-fleet.io/parent-placement-namespace"] = world.home
    assert work["metadata"]["labels"] == labels
    assert work["metadata"]["annotations"] == {
        "kubernetes-fleet.io/parent-resource-snapshot-name": f"{world.name}-0-snapshot",
        "kubernetes-fleet.io/parent-resource-override-snapshot-hash": NO_OVERRIDES,
        "kubernetes-fleet.io/parent-cluster-resource-override-snapshot-hash": NO_OVERRIDES,
    }
    assert work["spec"]["applyStrategy"] == STRATEGY
    assert work["spec"]["workload"]["manifests"] == snapshot["spec"]["selectedResources"]


async def test_nothing_is_distributed_before_a_run_announces_it(world: World) -> None:
    member = await world.join("a")
    await world.place()
    await world.snapshot(0)
    binding = await world.binding(member)
    patch = {"spec": {"state": "Bound", "resourceSnapshotName": f"{world.name}-0-snapshot"}}

    await world.hub.patch(
        world.scope.binding, binding["metadata"]["name"], patch, namespace=world.home
    )
    later = await world.join("b")
    await world.roll_out(later)
    await eventually(lambda: world.work(later))

    assert await world.work(member) is None


async def test_a_request_to_apply_again_reaches_the_works(world: World) -> None:
    member = await world.join("a")
    await world.place()
    await world.snapshot(0)
    binding = await world.roll_out(member)
    before = await eventually(lambda: world.work(member))

    asked = {names.APPLY_AGAIN: "2026-01-02T03:04:05Z"}
    await world.hub.patch(
        world.scope.binding,
        binding["metadata"]["name"],
        {"metadata": {"annotations": asked}},
        namespace=world.home,
    )

    after = await eventually(
        lambda: world.work(member),
        lambda work: bool(work and asked.items() <= work["metadata"]["annotations"].items()),
    )
    assert before
    assert after
    assert after["metadata"]["generation"] == before["metadata"]["generation"]
    assert after["spec"] == before["spec"]


async def test_a_slow_member_is_reported_as_in_progress_and_then_as_late(world: World) -> None:
    member = await world.join("a")
    await world.place()
    await world.snapshot(0)
    binding = await world.roll_out(member)

    # This phase ends after five seconds.
    await world.becomes(
        world.scope.binding, binding, lambda seen: shows(seen, "Applied", reason="ApplyInProgress")
    )
    late = await world.bound(member, "Applied", reason="NotAllWorkHaveBeenApplied")

    work = await eventually(lambda: world.work(member))
    name = work["metadata"]["name"]
    said = condition_of(late, "Applied")
    assert said["message"] == f"Work object {name} has not yet completed the apply op"
    assert "failedPlacements" not in late["status"]

    await world.report(member)
    await world.bound(member, "Available", status="True")


async def test_unavailable_objects_are_listed(world: World) -> None:
    member = await world.join("a")
    await world.place()
    await world.snapshot(0)
    await world.roll_out(member)
    failing = {
        "identifier": {
            "ordinal": 1,
            "version": "v1",
            "kind": "ConfigMap",
            "resource": "configmaps",
            "name": "cm",
            "namespace": world.unique,
        },
        "conditions": [
            condition(
                "Available",
                "False",
                None,
                reason="ManifestNotAvailableYet",
                message="Manifest is not yet available; Fleet will check again later",
            )
        ],
    }

    reason = "SomeManifestsAreNotAvailable"
    await world.report(member, available="False", reason=reason, manifests=[failing])
    body = await world.bound(member, "Available", status="False")

    work = await eventually(lambda: world.work(member))
    message = condition_of(body, "Available")["message"]
    assert message == f"Work object {work['metadata']['name']} is not yet available"
    (entry,) = body["status"]["failedPlacements"]
    assert (entry["kind"], entry["name"]) == ("ConfigMap", "cm")
    assert entry["condition"]["reason"] == "ManifestNotAvailableYet"
    await world.told("Available", status="False", reason="ResourceNotAvailableYet")
    entries = (await world.placement() or {})["status"]["placementStatuses"]
    assert entries[0]["failedPlacements"] == [entry]

    await world.report(member)
    body = await world.bound(member, "Available", status="True")
    assert "failedPlacements" not in body["status"]


async def test_new_content_replaces_the_old_in_the_same_work(world: World) -> None:
    member = await world.join("a")
    await world.place()
    await world.snapshot(0)
    await world.roll_out(member)
    await world.report(member)
    first = await world.bound(member, "Available", status="True")
    await world.content("value2")
    await world.snapshot(1)
    await world.roll_out(member, 1, run="second")

    async def rewritten() -> bool:
        work = await world.work(member)
        labels = work["metadata"]["labels"] if work else {}
        return bool(labels.get(names.PARENT_RESOURCE_SNAPSHOT_INDEX) == "1")

    await eventually(rewritten)
    assert len(await world.works()) == 1
    await world.report(member)
    second = await world.bound(member, "Available", status="True")
    assert "second" in condition_of(second, "RolloutStarted")["message"]
    assert second["metadata"]["generation"] > first["metadata"]["generation"]


async def test_a_missing_snapshot_is_named(world: World) -> None:
    member = await world.join("a")
    await world.place()
    await world.snapshot(0)

    await world.roll_out(member, 7)

    body = await world.bound(member, "WorkSynchronized", status="False", reason="SyncWorkFailed")
    message = condition_of(body, "WorkSynchronized")["message"]
    assert message.endswith("the master resource snapshot is not found")


async def test_a_deleted_binding_is_removed_after_the_member_has_released_its_work(
    world: World,
) -> None:
    member = await world.join("a")
    await world.place(world.pick_fixed(member))
    await world.snapshot(0)
    binding = await world.roll_out(member)
    work = await eventually(lambda: world.work(member))
    await world.hold(work)
    await world.change(policy={"clusterNames": ["nowhere"]})

    async def unscheduled() -> bool:
        return bool((await world.binding(member))["spec"]["state"] == "Unscheduled")

    await eventually(unscheduled)
    name = binding["metadata"]["name"]
    await world.hub.delete(world.scope.binding, name, namespace=world.home)

    async def going() -> bool:
        body = await world.work(member)
        return body is not None and "deletionTimestamp" in body["metadata"]

    await eventually(going)
    assert await world.hub.find(world.scope.binding, name, namespace=world.home)
    await world.let_go(work)

    async def gone() -> bool:
        return await world.hub.find(world.scope.binding, name, namespace=world.home) is None

    await eventually(gone)
    assert await world.work(member) is None


async def test_a_deleted_placement_takes_everything_with_it(world: World) -> None:
    member = await world.join("a")
    await world.place()
    await world.snapshot(0)
    await world.roll_out(member)
    work = await eventually(lambda: world.work(member))
    await world.hold(work)

    await world.hub.delete(world.scope.placement, world.name, namespace=world.home)

    async def going() -> bool:
        body = await world.work(member)
        return body is not None and "deletionTimestamp" in body["metadata"]

    await eventually(going)
    assert await world.placement() is not None
    await world.let_go(work)

    async def gone() -> bool:
        return await world.placement() is None

    await eventually(gone)
    await asyncio.sleep(0)
    assert await world.bindings() == []
    assert await world.snapshots() == []
    assert await world.policies() == []
    assert await world.works() == []


async def test_a_member_gets_its_namespace(hub: Hub, room: BuiltInPlacement, world: World) -> None:
    del room
    member = await world.join("a")

    namespace = names.member_namespace(member)
    body = await eventually(lambda: hub.find(NAMESPACE, namespace))

    assert body["metadata"]["labels"][names.MEMBER_NAME] == member


async def test_claims_of_another_members_agent_are_ignored(world: World) -> None:
    """An agent may write the Works of its own member, and put any label on them."""
    liar, honest = await world.join("a"), await world.join("b")
    await world.place()
    await world.snapshot(0)
    await world.roll_out(honest)
    work = await eventually(lambda: world.work(honest))
    await world.hold(work)

    for name in (work["metadata"]["name"], f"{world.unique}-other"):
        claims = work["metadata"]["labels"] | {names.ENVELOPE_WORK: "NoSuchType"}
        forged = {"name": name, "namespace": names.member_namespace(liar), "labels": claims}
        forged |= {"annotations": work["metadata"]["annotations"], "finalizers": ["test/kept"]}
        made = await world.hub.create(WORK, {"metadata": forged, "spec": work["spec"]})
        await world.report_on(made)

    # What the member itself reports counts at once.
    await world.report(honest, available="False", reason="SomeManifestsAreNotAvailable")
    await world.bound(honest, "Available", status="False")
    still = await eventually(lambda: world.work(honest))
    assert "deletionTimestamp" not in still["metadata"]

    # The claim does not delay deletion, either.
    placement = await world.placement()
    assert placement is not None
    await world.hub.delete(world.scope.placement, world.name, namespace=world.home)

    async def let_go() -> bool:
        own = await world.work(honest)
        if own is not None:
            await world.let_go(own)
        return not await world.bindings()

    await eventually(let_go)
    for each in await world.works():
        await world.let_go(each)


@pytest.mark.usefixtures("room")
async def test_one_of_two_placements_with_the_same_work_names_gets_an_error(
    hub: Hub, unique: str
) -> None:
    """ClusterResourcePlacement team.web, and ResourcePlacement web in namespace team."""
    first, second = World(hub, NAMESPACED_SCOPE, unique), World(hub, CLUSTER_SCOPE, unique)
    second.name = f"{first.home}.{first.name}"
    await first.prepare()
    try:
        member = await first.join("a")
        second.members.append(member)
        for each in (first, second):
            await each.place()
            await each.snapshot(0)
        await first.roll_out(member)
        own = await eventually(lambda: first.work(member))
        await first.report(member)
        await first.bound(member, "Available", status="True")

        await second.roll_out(member)
        binding = await second.bound(member, "WorkSynchronized", status="False")

        assert condition_of(binding, "WorkSynchronized")["message"].endswith(
            f"belongs to ResourcePlacement {unique}/{first.name}, whose Works have the same names: "
            "give one of the two placements another name"
        )
        found = await eventually(lambda: first.work(member))
        assert found["metadata"]["generation"] == own["metadata"]["generation"]
        assert found["metadata"]["labels"] == own["metadata"]["labels"]

        # Once the first one is deleted, the name is free.
        await hub.delete(first.scope.placement, first.name, namespace=first.home)
        await second.bound(member, "WorkSynchronized", status="True")
    finally:
        await second.clear()
        await first.clear()
