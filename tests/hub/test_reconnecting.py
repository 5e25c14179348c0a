"""Clients notice when an API server stops, hangs or drops old versions, and recover."""

from dataclasses import replace
from datetime import timedelta

import pytest

from api.kinds import CONFIG_MAP
from hub import Cache, Change, Gone, Hub, Limits, TimedOut
from tests.hub.support import QUICK, config_map, fill, mirrored, names, until
from tests.support.eventually import eventually
from tests.support.servers import PrivateApiServer

IMPATIENT = replace(QUICK, request_timeout=timedelta(seconds=5), silence=timedelta(seconds=3))


async def connected(server: PrivateApiServer, *, limits: Limits = QUICK) -> Hub:
    return await Hub.connect(server.kubeconfig, limits=limits)


@pytest.mark.parametrize("graceful", [True, False])
async def test_a_cache_is_in_sync_again_after_a_restart(
    private_api_server: PrivateApiServer, unique: str, graceful: bool
) -> None:
    changes: list[Change] = []
    async with await connected(private_api_server) as hub:
        await fill(hub, unique, ["a", "b"])
        async with mirrored(Cache(hub, CONFIG_MAP, namespace=unique)) as cache:
            cache.subscribe(changes.append)
            changes.clear()
            await (private_api_server.stop() if graceful else private_api_server.kill())
            await eventually(lambda: hub.requests["list", "configmaps"] > 2)
            await private_api_server.start()
            await hub.delete(CONFIG_MAP, "a", namespace=unique)
            await hub.create(CONFIG_MAP, config_map("c", unique))
            await until(cache, lambda: names(cache.items()) == ["b", "c"])

    assert sorted(change.key[1] for change in changes) == ["a", "c"]


async def test_a_silent_server_is_noticed(
    private_api_server: PrivateApiServer, unique: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with (
        await connected(private_api_server) as patient,
        await connected(private_api_server, limits=IMPATIENT) as hub,
    ):
        await fill(patient, unique, ["a"])
        async with mirrored(Cache(hub, CONFIG_MAP, namespace=unique)) as cache:
            private_api_server.pause()
            try:
                with pytest.raises(TimedOut, match="did not answer in time"):
                    await hub.get(CONFIG_MAP, "a", namespace=unique)
                await eventually(lambda: "out of sync" in caplog.text)
            finally:
                private_api_server.resume()
            await patient.create(CONFIG_MAP, config_map("b", unique))
            await until(cache, lambda: names(cache.items()) == ["a", "b"])


async def test_a_cache_lists_again_when_its_version_has_expired(
    private_api_server: PrivateApiServer, unique: str
) -> None:
    async with await connected(private_api_server) as hub:
        await fill(hub, unique, ["a"])
        old = (await hub.get(CONFIG_MAP, "a", namespace=unique))["metadata"]["resourceVersion"]
        await hub.create(CONFIG_MAP, config_map("b", unique))
        await private_api_server.kill()
        await private_api_server.start()

        with pytest.raises(Gone):
            await anext(hub.watch(CONFIG_MAP, resource_version=old, namespace=unique))

        async with mirrored(Cache(hub, CONFIG_MAP, namespace=unique)) as cache:
            cache._store.version = old
            await eventually(lambda: hub.requests["list", "configmaps"] >= 2)
            await hub.create(CONFIG_MAP, config_map("c", unique))
            await until(cache, lambda: names(cache.items()) == ["a", "b", "c"])


def test_the_default_limits_fit_together() -> None:
    limits = type(QUICK)()

    assert limits.watch_duration < limits.silence
    assert limits.reconnect_first < limits.reconnect_most < timedelta(minutes=1)
