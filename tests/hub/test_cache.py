"""A cache mirrors the API server's objects, and notifies subscribers of each change."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from api.kinds import CONFIG_MAP, Kind
from hub import Cache, Change, Hub, Json, whole
from tests.hub.support import QUICK, config_map, fill, mirrored, names, until
from tests.support.eventually import eventually


async def test_a_cache_holds_existing_and_new_objects(hub: Hub, unique: str) -> None:
    await fill(hub, unique, ["b", "a"])
    async with mirrored(Cache(hub, CONFIG_MAP, namespace=unique)) as cache:
        assert names(cache.items()) == ["a", "b"]
        assert cache.get("none", unique) is None

        await hub.create(CONFIG_MAP, config_map("c", unique))
        await hub.delete(CONFIG_MAP, "a", namespace=unique)
        await hub.patch(CONFIG_MAP, "b", {"data": {"x": "1"}}, namespace=unique)
        await until(cache, lambda: (cache.get("b", unique) or {}).get("data") == {"x": "1"})

        assert cache.keys() == [(unique, "b"), (unique, "c")]


async def test_objects_from_a_list_look_like_those_from_a_watch(hub: Hub, unique: str) -> None:
    await fill(hub, unique, ["listed"])
    async with mirrored(Cache(hub, CONFIG_MAP, namespace=unique)) as cache:
        await hub.create(CONFIG_MAP, config_map("watched", unique))
        await until(cache, lambda: len(cache.items()) == 2)

        kinds = [(item["apiVersion"], item["kind"]) for item in cache.items()]
        assert kinds == [("v1", "ConfigMap")] * 2


async def test_objects_come_without_managed_fields_and_keep_them_when_written_back(
    hub: Hub, unique: str
) -> None:
    await fill(hub, unique, [])
    await hub.apply(CONFIG_MAP, config_map("listed", unique, color="red"))
    async with mirrored(Cache(hub, CONFIG_MAP, namespace=unique)) as cache:
        await hub.apply(CONFIG_MAP, config_map("watched", unique, color="red"))
        await until(cache, lambda: len(cache.items()) == 2)
        assert not [item for item in cache.items() if "managedFields" in item["metadata"]]

        await hub.replace(CONFIG_MAP, cache.items()[0])
    stored = await hub.get(CONFIG_MAP, "listed", namespace=unique)
    assert [entry["operation"] for entry in stored["metadata"]["managedFields"]] == ["Apply"]


def without_data(body: Json) -> Json:
    return {"metadata": body["metadata"]}


async def test_a_cache_may_keep_less_of_an_object_than_its_subscribers_see(
    hub: Hub, unique: str
) -> None:
    await fill(hub, unique, [])
    await hub.create(CONFIG_MAP, config_map("listed", unique, color="red"))
    told: list[Change] = []
    cache = Cache(hub, CONFIG_MAP, namespace=unique, keep=without_data)
    cache.subscribe(told.append)
    async with mirrored(cache):
        await hub.create(CONFIG_MAP, config_map("watched", unique, color="red"))
        await hub.patch(CONFIG_MAP, "listed", {"data": {"color": "blue"}}, namespace=unique)
        await until(cache, lambda: told[-1].key[1] == "listed" and len(told) == 3)

    assert all(list(item) == ["metadata"] for item in cache.items())
    colors = [change.new["data"]["color"] for change in told if change.new]
    assert colors == ["red", "red", "blue"]
    assert [list(change.old) for change in told if change.old] == [["metadata"]]


async def test_a_cache_of_metadata_receives_nothing_else(hub: Hub, unique: str) -> None:
    await fill(hub, unique, [])
    await hub.create(CONFIG_MAP, config_map("listed", unique, color="red"))
    told: list[Change] = []
    cache = Cache(hub, CONFIG_MAP, namespace=unique, metadata_only=True)
    cache.subscribe(told.append)
    async with mirrored(cache):
        await hub.create(CONFIG_MAP, config_map("watched", unique, color="red"))
        await until(cache, lambda: len(told) == 2)

    assert [change.new for change in told] == cache.items()
    for body in cache.items():
        assert sorted(body) == ["apiVersion", "kind", "metadata"]
        assert (body["apiVersion"], body["kind"]) == ("v1", "ConfigMap")


async def test_partly_kept_objects_are_listed_in_smaller_pages(
    hub_kubeconfig: Path, unique: str
) -> None:
    async with await Hub.connect(hub_kubeconfig, limits=replace(QUICK, large_page_size=1)) as hub:
        await fill(hub, unique, ["a", "b", "c"])
        for keep, pages in ((without_data, 3), (whole, 1)):
            before = hub.requests["list", "configmaps"]
            async with mirrored(Cache(hub, CONFIG_MAP, namespace=unique, keep=keep)) as cache:
                assert names(cache.items()) == ["a", "b", "c"]
                assert hub.requests["list", "configmaps"] == before + pages


async def test_a_large_list_is_read_page_by_page(hub_kubeconfig: Path, unique: str) -> None:
    async with await Hub.connect(hub_kubeconfig, limits=replace(QUICK, page_size=2)) as hub:
        await fill(hub, unique, ["a", "b", "c"])
        cache = Cache(hub, CONFIG_MAP, namespace=unique)
        seen: list[tuple[str, int]] = []
        cache.subscribe(lambda change: seen.append((change.key[1], len(cache.keys()))))
        async with mirrored(cache):
            assert names(cache.items()) == ["a", "b", "c"]
    assert seen == [("a", 2), ("b", 2), ("c", 3)]


async def test_a_cache_sees_only_what_its_selectors_match(hub: Hub, unique: str) -> None:
    await fill(hub, unique, ["other"])
    selected = Cache(hub, CONFIG_MAP, labels=f"test={unique}", fields="metadata.name!=no")
    async with mirrored(selected) as cache:
        for name in ("no", "yes"):
            body = config_map(name, unique)
            body["metadata"]["labels"] = {"test": unique}
            await hub.create(CONFIG_MAP, body)
        await until(cache, lambda: len(cache.items()) == 1)
        assert names(cache.items()) == ["yes"]

        # An object that stops matching is deleted from the cache, but not from the API server.
        await hub.patch(CONFIG_MAP, "yes", {"metadata": {"labels": None}}, namespace=unique)
        await until(cache, lambda: cache.items() == [])


async def test_a_subscriber_sees_all_objects_from_the_start(hub: Hub, unique: str) -> None:
    await fill(hub, unique, ["a"])
    early: list[Change] = []
    late: list[Change] = []
    cache = Cache(hub, CONFIG_MAP, namespace=unique)
    cache.subscribe(early.append)
    async with mirrored(cache):
        unsubscribe = cache.subscribe(late.append)
        assert [change.key for change in late] == [(unique, "a")]
        unsubscribe()
        unsubscribe()
        await hub.delete(CONFIG_MAP, "a", namespace=unique)
        await until(cache, lambda: cache.items() == [])

    told = [
        (change.key[1], bool(change.old), bool(change.new))
        for change in early
        if change.key[1] == "a"
    ]
    assert told == [("a", False, True), ("a", True, False)]
    assert len(late) == 1


async def test_a_failing_subscriber_does_not_stop_the_cache(
    hub: Hub, unique: str, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(change: Change) -> None:
        raise RuntimeError("a bug")

    await fill(hub, unique, ["a"])
    cache = Cache(hub, CONFIG_MAP, namespace=unique)
    cache.subscribe(fail)
    async with mirrored(cache):
        await hub.create(CONFIG_MAP, config_map("b", unique))
        await until(cache, lambda: len(cache.items()) == 2)

    assert f"a subscriber failed on {unique}/a" in caplog.messages


def watches_more_than(number: int, hub: Hub) -> bool:
    return hub.requests["watch", "configmaps"] > number


async def test_a_cache_stays_in_sync_from_stream_to_stream(quick_hub: Hub, unique: str) -> None:
    await fill(quick_hub, unique, [])
    async with mirrored(Cache(quick_hub, CONFIG_MAP, namespace=unique)) as cache:
        for number in range(3):
            await eventually(partial(watches_more_than, number, quick_hub))
            await quick_hub.create(CONFIG_MAP, config_map(str(number), unique))
        await eventually(lambda: len(cache.items()) == 3)

    assert quick_hub.requests["list", "configmaps"] == 1


async def test_a_cache_lists_again_from_time_to_time(hub_kubeconfig: Path, unique: str) -> None:
    limits = replace(QUICK, relist_after=timedelta(seconds=1))
    async with await Hub.connect(hub_kubeconfig, limits=limits) as hub:
        await fill(hub, unique, ["a"])
        async with mirrored(Cache(hub, CONFIG_MAP, namespace=unique)) as cache:
            # Simulate a missed deletion of this object.
            cache._store.objects[unique, "missed"] = config_map("missed", unique)
            await eventually(lambda: names(cache.items()) == ["a"])

        assert hub.requests["list", "configmaps"] >= 2


async def test_a_cache_waits_for_a_kind_that_is_not_served_yet(
    quick_hub: Hub, caplog: pytest.LogCaptureFixture
) -> None:
    kind = Kind("none.example.com", "v1", "None", "nones", namespaced=False)
    cache = Cache(quick_hub, kind)
    task = asyncio.create_task(cache.run())
    await eventually(lambda: quick_hub.requests["list", "nones"] >= 3)

    task.cancel()

    assert not cache._ready.is_set()
    (warning,) = caplog.messages
    assert "list /apis/none.example.com/v1/nones: 404 page not found" in warning
