"""A placement's content is stored as it changes (contract: placement 2.1, 3, 5; decision 1)."""

import asyncio
import contextlib
from typing import Any

from api import names
from api.kinds import CLUSTER_SCOPE, CONFIG_MAP
from hub import Hub
from placement.built_in import BuiltInPlacement
from placement.settings import PlacementSettings
from tests.placement.world import World, taken


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


async def test_created_and_deleted_objects_are_noticed(world: World) -> None:
    await world.place()
    await world.snapshot(0)

    await world.content("other", name="another")
    await world.snapshot(1)
    await world.hub.delete(CONFIG_MAP, "another", namespace=world.unique)
    last = await world.snapshot(2)

    kept = [each["metadata"]["name"] for each in last["spec"]["selectedResources"]]
    assert kept == (["cm"] if world.home else [world.unique, "cm"])


async def test_a_change_that_is_not_placed_creates_no_snapshot(world: World) -> None:
    await world.place()
    await world.snapshot(0)

    patch = {"metadata": {"annotations": {"kubectl.kubernetes.io/last-applied-configuration": "x"}}}
    await world.hub.patch(CONFIG_MAP, "cm", patch, namespace=world.unique)
    stored = await taken(world)

    assert (stored.index, stored.created) == (0, False)
    assert len(await world.snapshots()) == 1


async def test_a_snapshot_can_be_taken_at_once(world: World) -> None:
    await world.place()
    await world.snapshot(0)
    await world.content("value2")

    stored = await taken(world)

    assert (stored.index, stored.name) == (1, f"{world.name}-1-snapshot")
    assert (await taken(world)).created is False


async def test_two_concurrent_writers_store_content_once(world: World) -> None:
    await world.place()
    await world.snapshot(0)
    await world.content("value2")

    stored = await asyncio.gather(*(taken(world) for _ in range(4)))

    assert {each.index for each in stored} == {1}
    assert len(await world.snapshots()) == 2


async def test_snapshots_on_change_can_be_turned_off(servers: Any, unique: str) -> None:
    kubeconfig = await servers.cluster("placement-off")
    async with await Hub.connect(kubeconfig) as hub:
        room = BuiltInPlacement(hub, settings=PlacementSettings(snapshot_on_change=False))
        running = asyncio.create_task(room.run())
        await room.ready()
        world = World(hub, CLUSTER_SCOPE, unique)
        await world.prepare()
        await world.place()
        await world.told("Scheduled", status="True")

        assert await world.snapshots() == []
        assert (await taken(world)).index == 0

        await world.clear()
        running.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await running
