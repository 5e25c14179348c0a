"""When an API server stops, falls silent or forgets, the hub says so and comes back."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from api.kinds import CONFIG_MAP
from hub import (
    BadConfiguration,
    Cache,
    Change,
    Gone,
    Hub,
    TimedOut,
    Unauthorized,
    Unavailable,
)
from tests.hub.support import QUICK, config_map, eventually, fill, mirrored, names, until
from tests.hub.test_kubeconfig import named, written
from tests.support.servers import PrivateApiServer


async def connected(server: PrivateApiServer) -> Hub:
    return await Hub.connect(server.kubeconfig, limits=QUICK)


@pytest.mark.parametrize("graceful", [True, False])
async def test_a_cache_is_in_step_again_after_a_restart(
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
    async with await connected(private_api_server) as hub:
        await fill(hub, unique, ["a"])
        async with mirrored(Cache(hub, CONFIG_MAP, namespace=unique)) as cache:
            private_api_server.pause()
            try:
                with pytest.raises(TimedOut, match="did not answer in time"):
                    await hub.get(CONFIG_MAP, "a", namespace=unique)
                await eventually(lambda: "out of step" in caplog.text)
            finally:
                private_api_server.resume()
            await hub.create(CONFIG_MAP, config_map("b", unique))
            await until(cache, lambda: names(cache.items()) == ["a", "b"])


async def test_a_version_that_the_server_forgot_is_gone_and_listed_again(
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
            await eventually(lambda: hub.requests["list", "configmaps"] == 2)
            await hub.create(CONFIG_MAP, config_map("c", unique))
            await until(cache, lambda: names(cache.items()) == ["a", "b", "c"])


async def test_a_server_that_is_not_there_is_named(tmp_path: Path) -> None:
    file = written(tmp_path, named("x", server="http://127.0.0.1:1"))
    async with await Hub.connect(file) as hub:
        with pytest.raises(Unavailable, match=r"no API server answers at http://127\.0\.0\.1:1"):
            await hub.version()


async def test_what_is_no_api_server_is_unavailable(tmp_path: Path) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nHello")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server:
        file = written(tmp_path, named("x", server=f"http://127.0.0.1:{port}"))
        async with await Hub.connect(file) as hub:
            with pytest.raises(Unavailable, match="did not answer in JSON"):
                await hub.version()


async def test_a_certificate_of_someone_else_is_not_trusted(hub: Hub, tmp_path: Path) -> None:
    async with await Hub.connect(written(tmp_path, named("x", server=hub.url))) as stranger:
        with pytest.raises(BadConfiguration, match="certificate-authority"):
            await stranger.version()


async def test_a_wrong_token_is_unauthorized(hub: Hub, tmp_path: Path) -> None:
    content = named("x", server=hub.url, token="wrong")
    content["clusters"][0]["cluster"]["insecure-skip-tls-verify"] = True
    async with await Hub.connect(written(tmp_path, content)) as stranger:
        with pytest.raises(Unauthorized):
            await stranger.version()


def test_the_default_limits_fit_together() -> None:
    limits = type(QUICK)()

    assert limits.watch_duration < limits.silence
    assert limits.reconnect_first < limits.reconnect_most < timedelta(minutes=1)
