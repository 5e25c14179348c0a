"""Caches are shared while they are used, and end a while after."""

import asyncio

import pytest

from api.kinds import CONFIG_MAP
from hub import Hub, SharedCaches
from tests.hub.support import config_map, fill, names, until
from tests.support.eventually import eventually


async def test_users_of_one_selection_share_one_cache(quick_hub: Hub, unique: str) -> None:
    await fill(quick_hub, unique, ["a"])
    caches = SharedCaches(quick_hub)
    async with (
        caches.use(CONFIG_MAP, namespace=unique) as one,
        caches.use(CONFIG_MAP, namespace=unique) as two,
        caches.use(CONFIG_MAP, namespace=unique, labels="a=b") as other,
    ):
        assert one is two
        assert names(one.items()) == ["a"]
        assert other.items() == []
        assert len(caches) == 2
    await caches.close()

    assert quick_hub.requests["list", "configmaps"] == 2


async def test_a_cache_ends_a_while_after_its_last_user(quick_hub: Hub, unique: str) -> None:
    caches = SharedCaches(quick_hub)
    async with caches.use(CONFIG_MAP, namespace=unique) as first:
        pass
    async with caches.use(CONFIG_MAP, namespace=unique) as second:
        assert second is first
        async with caches.use(CONFIG_MAP, namespace=unique, labels="a=b"):
            pass
        # The other one, whose user left later, has ended.
        await eventually(lambda: len(caches) == 1)
        async with caches.use(CONFIG_MAP, namespace=unique) as again:
            assert again is first
    await eventually(lambda: len(caches) == 0)

    async with caches.use(CONFIG_MAP, namespace=unique) as third:
        assert third is not first
    await caches.close()


async def test_a_failing_user_leaves_the_cache_in_sync_for_others(
    quick_hub: Hub, unique: str
) -> None:
    await fill(quick_hub, unique, [])
    caches = SharedCaches(quick_hub)

    async def fail() -> None:
        async with caches.use(CONFIG_MAP, namespace=unique):
            raise RuntimeError("a bug")

    async with caches.use(CONFIG_MAP, namespace=unique) as cache:
        (error,) = await asyncio.gather(fail(), return_exceptions=True)
        assert isinstance(error, RuntimeError)
        await quick_hub.create(CONFIG_MAP, config_map("a", unique))
        await until(cache, lambda: names(cache.items()) == ["a"])
    await eventually(lambda: len(caches) == 0)


@pytest.mark.alone("checks all tasks of the event loop")
async def test_closing_ends_all_caches(quick_hub: Hub, unique: str) -> None:
    caches = SharedCaches(quick_hub)
    async with caches.use(CONFIG_MAP, namespace=unique):
        await caches.close()

    assert len(caches) == 0
    assert not [task for task in asyncio.all_tasks() if task.get_name() == "cache of configmaps"]
