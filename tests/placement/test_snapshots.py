"""A placement's content is stored as it changes (contract: placement 2.1, 3, 5; decision 1)."""

import asyncio
import contextlib
from typing import Any

import pytest

from api import names
from api.kinds import CONFIG_MAP, CUSTOM_RESOURCE_DEFINITION, SCOPES, Kind, ScopeName
from hub import Hub
from placement import Placement, PlacementSettings, SelectionError, take_snapshot
from tests.placement.world import World, until


async def test_a_new_placement_has_its_content_stored(world: World) -> None:
    placement = await world.place()

    snapshot = await world.snapshot(0)

    metadata = snapshot["metadata"]
    assert metadata["labels"] == {
        "kubernetes-fleet.io/parent-CRP": world.name,
        "kubernetes-fleet.io/is-latest-snapshot": "true",
        "kubernetes-fleet.io/resource-index": "0",
    }
    assert metadata["annotations"].keys() == {
        "kubernetes-fleet.io/resource-hash",
        "kubernetes-fleet.io/number-of-resource-snapshots",
        "kubernetes-fleet.io/number-of-enveloped-object",
    }
    assert metadata["annotations"][names.NUMBER_OF_RESOURCE_SNAPSHOTS] == "1"
    assert metadata["ownerReferences"][0]["uid"] == placement["metadata"]["uid"]
    config_map = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "cm", "namespace": world.unique},
        "data": {"key": "value1"},
    }
    namespace = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {
            "name": world.unique,
            "labels": {"kubernetes.io/metadata.name": world.unique},
        },
        "spec": {"finalizers": ["kubernetes"]},
    }
    wanted = [config_map] if world.home else [namespace, config_map]
    assert snapshot["spec"]["selectedResources"] == wanted


async def test_changed_content_becomes_the_next_snapshot(world: World) -> None:
    await world.place()
    await world.snapshot(0)

    await world.content("value2")

    await world.snapshot(1)
    marks = [
        each["metadata"]["labels"][names.IS_LATEST_SNAPSHOT] for each in await world.snapshots()
    ]
    assert marks == ["false", "true"]


async def test_objects_that_come_and_go_are_seen(world: World) -> None:
    await world.place()
    await world.snapshot(0)

    await world.content("other", name="another")
    await world.snapshot(1)
    await world.hub.delete(CONFIG_MAP, "another", namespace=world.unique)
    last = await world.snapshot(2)

    kept = [each["metadata"]["name"] for each in last["spec"]["selectedResources"]]
    assert kept == (["cm"] if world.home else [world.unique, "cm"])


async def test_a_change_that_is_not_placed_makes_no_snapshot(world: World) -> None:
    await world.place()
    await world.snapshot(0)

    patch = {"metadata": {"annotations": {"kubectl.kubernetes.io/last-applied-configuration": "x"}}}
    await world.hub.patch(CONFIG_MAP, "cm", patch, namespace=world.unique)
    taken = await _take(world)

    assert (taken.index, taken.created) == (0, False)
    assert len(await world.snapshots()) == 1


async def test_a_snapshot_can_be_taken_at_once(world: World) -> None:
    await world.place()
    await world.snapshot(0)
    await world.content("value2")

    taken = await _take(world)

    assert (taken.index, taken.name) == (1, f"{world.name}-1-snapshot")
    assert (await _take(world)).created is False


async def test_two_writers_at_once_store_content_once(world: World) -> None:
    await world.place()
    await world.snapshot(0)
    await world.content("value2")

    taken = await asyncio.gather(*(_take(world) for _ in range(4)))

    assert {each.index for each in taken} == {1}
    assert len(await world.snapshots()) == 2


async def test_large_content_is_stored_in_parts(world: World) -> None:
    for number in range(3):
        await world.content("x" * 500_000, name=f"big{number}")
    member = await world.join("a")
    await world.place()

    snapshot = await world.snapshot(0)

    assert snapshot["metadata"]["annotations"][names.NUMBER_OF_RESOURCE_SNAPSHOTS] == "3"

    async def complete() -> bool:
        return len(await world.snapshots()) == 3

    await until(complete, "all parts are there")
    parts = {each["metadata"]["name"] for each in await world.snapshots()}
    assert parts == {f"{world.name}-0-snapshot", f"{world.name}-0-0", f"{world.name}-0-1"}
    await world.roll_out(member)

    async def distributed() -> bool:
        return len(await world.works()) == 3

    await until(distributed, "each part is a Work")
    base = f"{world.home}.{world.name}" if world.home else world.name
    works = {each["metadata"]["name"] for each in await world.works()}
    assert works == {f"{base}-work", f"{base}-0", f"{base}-1"}


async def test_a_kind_that_the_hub_does_not_serve_is_said(world: World) -> None:
    await world.place(
        resourceSelectors=[{"group": "", "version": "v1", "kind": "Nonsense", "name": "x"}]
    )

    said = await world.told("Scheduled", status="False", reason="InvalidResourceSelectors")

    error = (
        "failed to process the request due to a client error: invalid placement "
        f"{world.home}/{world.name}, failed to get GVR of the selector: "
        'no matches for kind "Nonsense" in version "v1"'
    )
    assert said["message"] == f"The resource selectors are invalid: {error}"
    with pytest.raises(SelectionError) as caught:
        await _take(world)
    assert str(caught.value) == error

    await world.change(resourceSelectors=world.selectors())
    await world.told("Scheduled", status="True")


async def test_a_kind_of_the_other_scope_is_refused(world: World) -> None:
    if world.home:
        kind = {"group": "rbac.authorization.k8s.io", "version": "v1", "kind": "ClusterRole"}
        text = (
            "cannot select cluster-scoped resource "
            "rbac.authorization.k8s.io/v1, Resource=clusterroles in a resourcePlacement"
        )
    else:
        kind = {"group": "", "version": "v1", "kind": "ConfigMap"}
        text = (
            "cannot select namespace-scoped resource /v1, Resource=configmaps "
            "in a clusterResourcePlacement"
        )
    await world.place(resourceSelectors=[kind | {"name": "x"}])

    said = await world.told("Scheduled", status="False", reason="InvalidResourceSelectors")

    assert said["message"].endswith(f"invalid placement {world.home}/{world.name}: {text}")


async def test_custom_resources_are_placed_and_followed(world: World) -> None:
    kind = await _define(world)
    body = {"metadata": {"name": "one", "namespace": world.unique}, "spec": {"size": 1}}
    await world.hub.create(kind, body)
    selectors = world.selectors()
    if world.home:
        selectors = [{"group": kind.group, "version": "v1", "kind": kind.kind}]
    await world.place(resourceSelectors=selectors)
    first = await world.snapshot(0)

    await world.hub.patch(kind, "one", {"spec": {"size": 2}}, namespace=world.unique)
    second = await world.snapshot(1)

    assert _sizes(first, kind) == [1]
    assert _sizes(second, kind) == [2]
    await world.hub.delete(CUSTOM_RESOURCE_DEFINITION, f"{kind.plural}.{kind.group}")


async def test_objects_are_selected_by_label(hub: Hub, room: Placement, unique: str) -> None:
    del room
    world = World(hub, SCOPES[ScopeName.NAMESPACED], unique)
    await world.prepare()
    for name, tier in (("one", "front"), ("two", "back")):
        metadata = {"name": name, "namespace": unique, "labels": {"tier": tier}}
        await hub.create(CONFIG_MAP, {"metadata": metadata})
    chosen = {"matchExpressions": [{"key": "tier", "operator": "In", "values": ["back"]}]}
    term = {"group": "", "version": "v1", "kind": "ConfigMap", "labelSelector": chosen}

    await world.place(resourceSelectors=[term])

    selected = (await world.snapshot(0))["spec"]["selectedResources"]
    assert [each["metadata"]["name"] for each in selected] == ["two"]
    await world.clear()


async def test_a_namespace_of_the_fleet_is_refused(hub: Hub, room: Placement, unique: str) -> None:
    del room
    world = World(hub, SCOPES[ScopeName.CLUSTER], unique)
    await world.prepare()
    term = {"group": "", "version": "v1", "kind": "Namespace", "name": "kube-system"}

    await world.place(resourceSelectors=[term])

    said = await world.told("Scheduled", status="False", reason="InvalidResourceSelectors")
    assert said["message"].endswith(
        f"invalid clusterRresourcePlacement {world.name}: "
        "namespace kube-system is not allowed to propagate"
    )
    await world.clear()


async def test_a_namespace_may_be_placed_alone(hub: Hub, room: Placement, unique: str) -> None:
    del room
    world = World(hub, SCOPES[ScopeName.CLUSTER], unique)
    await world.prepare()
    await world.place(
        resourceSelectors=[each | {"selectionScope": "NamespaceOnly"} for each in world.selectors()]
    )

    selected = (await world.snapshot(0))["spec"]["selectedResources"]

    assert [each["kind"] for each in selected] == ["Namespace"]
    await world.clear()


async def test_further_selectors_pick_from_a_namespace(
    hub: Hub, room: Placement, unique: str
) -> None:
    del room
    world = World(hub, SCOPES[ScopeName.CLUSTER], unique)
    await world.prepare()
    await world.content("other", name="another")
    namespace = world.selectors()[0] | {"selectionScope": "NamespaceWithResourceSelectors"}
    config_map = {"group": "", "version": "v1", "kind": "ConfigMap", "name": "another"}
    await world.place(resourceSelectors=[namespace, config_map])

    selected = (await world.snapshot(0))["spec"]["selectedResources"]

    assert [each["metadata"]["name"] for each in selected] == [unique, "another"]
    await world.clear()


async def test_a_namespace_to_pick_from_must_exist(hub: Hub, room: Placement, unique: str) -> None:
    del room
    world = World(hub, SCOPES[ScopeName.CLUSTER], unique)
    await world.prepare()
    missing = world.selectors()[0] | {"selectionScope": "NamespaceWithResourceSelectors"}
    await world.place(resourceSelectors=[missing | {"name": f"{unique}-missing"}])

    said = await world.told("Scheduled", status="False", reason="InvalidResourceSelectors")

    assert said["message"].endswith("but no namespaces were selected")
    await world.clear()


async def test_an_object_that_two_selectors_match_is_said(world: World) -> None:
    await world.place(resourceSelectors=world.selectors() * 2)

    said = await world.told("Scheduled", status="False", reason="InvalidResourceSelectors")

    assert "found duplicate resource {Group: Version:v1" in said["message"]


async def test_snapshots_on_change_can_be_turned_off(servers: Any, unique: str) -> None:
    kubeconfig = await servers.cluster("placement-off")
    async with await Hub.connect(kubeconfig) as hub:
        room = Placement(hub, settings=PlacementSettings(snapshot_on_change=False))
        running = asyncio.create_task(room.run())
        await room.ready()
        world = World(hub, SCOPES[ScopeName.CLUSTER], unique)
        await world.prepare()
        await world.place()
        await world.told("Scheduled", status="True")

        assert await world.snapshots() == []
        assert (await _take(world)).index == 0

        await world.clear()
        running.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await running


async def _take(world: World) -> Any:
    return await take_snapshot(
        world.hub, scope=world.scope, namespace=world.home, placement=world.name
    )


async def _define(world: World) -> Kind:
    """Have the hub serve a kind of the test's own."""
    group, kind = f"{world.unique}.example.com", "Widget"
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    await world.hub.create(
        CUSTOM_RESOURCE_DEFINITION,
        {
            "metadata": {"name": f"widgets.{group}"},
            "spec": {
                "group": group,
                "scope": "Namespaced",
                "names": {"kind": kind, "plural": "widgets"},
                "versions": [
                    {
                        "name": "v1",
                        "served": True,
                        "storage": True,
                        "schema": {"openAPIV3Schema": schema},
                    }
                ],
            },
        },
    )
    return await until(lambda: world.hub.kind_for(f"{group}/v1", kind), "the kind is served")


def _sizes(snapshot: dict[str, Any], kind: Kind) -> list[int]:
    selected = snapshot["spec"]["selectedResources"]
    return [each["spec"]["size"] for each in selected if each["kind"] == kind.kind]
