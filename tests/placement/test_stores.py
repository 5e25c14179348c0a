"""Stores show the objects on the hub, including this process's writes."""

from collections.abc import AsyncIterator

import pytest

from api.kinds import CONFIG_MAP, NAMESPACE, WORK
from hub import Hub, Json, Key
from placement.stores import Stores, WriteThroughStore
from tests.support.eventually import eventually
from tests.support.running import running


@pytest.fixture
async def store(hub: Hub) -> AsyncIterator[WriteThroughStore]:
    following = WriteThroughStore(hub, CONFIG_MAP)
    async with running(following):
        yield following


@pytest.fixture
async def key(hub: Hub, unique: str) -> AsyncIterator[Key]:
    await hub.create(NAMESPACE, {"metadata": {"name": unique}})
    yield unique, "cm"
    await hub.delete(NAMESPACE, unique)


async def create(hub: Hub, key: Key) -> Json:
    return await hub.create(CONFIG_MAP, {"metadata": {"namespace": key[0], "name": key[1]}})


async def test_a_write_is_visible_before_the_watch_shows_it(hub: Hub, key: Key) -> None:
    store = WriteThroughStore(hub, CONFIG_MAP)
    store.wrote(await create(hub, key))
    assert store.get(key) is not None
    assert [each["metadata"]["name"] for each in store.items()] == ["cm"]


async def test_a_write_is_forgotten_once_the_watch_has_shown_it(
    hub: Hub, store: WriteThroughStore, key: Key
) -> None:
    store.wrote(await create(hub, key))
    await eventually(lambda: key not in store._written)
    assert store.get(key) is not None


async def test_works_and_writes_of_works_are_kept_without_their_manifests(
    hub: Hub, key: Key
) -> None:
    works = Stores(hub).works
    metadata = {"namespace": key[0], "name": key[1]}
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}}
    spec = {"workload": {"manifests": [manifest]}, "applyStrategy": {"type": "ServerSideApply"}}
    written = await hub.create(WORK, {"metadata": metadata, "spec": spec})
    assert written["spec"]["workload"]["manifests"]

    works.wrote(written)

    own = works.get(key)
    async with running(works):
        await eventually(lambda: key not in works._written)
        told = works.get(key)
    assert own == told
    assert told is not None
    assert "workload" not in told["spec"]
    assert told["spec"]["applyStrategy"]["type"] == "ServerSideApply"
    assert "managedFields" not in told["metadata"]


async def test_an_object_deleted_soon_after_its_write_is_gone(
    hub: Hub, store: WriteThroughStore, key: Key
) -> None:
    seen: list[Json | None] = []
    store.subscribe(lambda change: seen.append(store.get(key)) if change.key == key else None)
    store.wrote(await create(hub, key))
    await hub.delete(CONFIG_MAP, "cm", namespace=key[0])

    async def told() -> bool:
        return len(seen) > 1

    await eventually(told)
    assert seen[-1] is None
    assert store.get(key) is None
