"""Lists are read page by page, and completely."""

import asyncio
import json
import urllib.request
from dataclasses import replace

from api.kinds import CONFIG_MAP
from hub import Hub, kubeconfig
from hub.requests import ApiRequest
from tests.hub.support import config_map, fill, names
from tests.support.interrupted import Interrupted
from tests.support.limits import PATIENT
from tests.support.servers import PrivateApiServer, Servers

SMALL_PAGES = replace(PATIENT, page_size=2)


async def test_a_list_of_many_pages_is_complete(hub: Hub, unique: str) -> None:
    expected = [f"{number:04}" for number in range(hub.limits.page_size + 10)]
    await fill(hub, unique, expected)
    before = hub.requests["list", "configmaps"]

    listing = await hub.list(CONFIG_MAP, namespace=unique)

    assert names(listing.items) == expected
    assert hub.requests["list", "configmaps"] == before + 2
    assert listing.resource_version.isdecimal()


async def test_an_empty_list_has_a_version_to_watch_from(hub: Hub, unique: str) -> None:
    listing = await hub.list(CONFIG_MAP, labels=f"test={unique}")

    assert listing.items == []
    assert listing.resource_version.isdecimal()


async def compact(etcd: str, version: str) -> None:
    """Make etcd forget all versions before this one."""
    body = json.dumps({"revision": version, "physical": True}).encode()
    await asyncio.to_thread(urllib.request.urlopen, f"{etcd}/v3/kv/compaction", body)


async def test_a_list_whose_pages_expired_starts_again(
    private_api_server: PrivateApiServer, servers: Servers, unique: str
) -> None:
    access = await kubeconfig.load(private_api_server.kubeconfig)
    transport = Interrupted(access, limits=SMALL_PAGES, user_agent="test")
    times = 0

    async def forget(_: ApiRequest) -> None:
        nonlocal times
        times += 1
        if times == 1:
            newest = await hub.create(CONFIG_MAP, config_map("d", unique))
            await compact(await servers.etcd_address(), newest["metadata"]["resourceVersion"])
            # Otherwise it would serve the next page from memory.
            await private_api_server.kill()
            await private_api_server.start()

    transport.after_first_page = forget
    async with Hub(transport, manager="test", limits=SMALL_PAGES) as hub:
        await fill(hub, unique, ["a", "b", "c"])
        listing = await hub.list(CONFIG_MAP, namespace=unique)

    assert times == 2
    assert names(listing.items) == ["a", "b", "c", "d"]
