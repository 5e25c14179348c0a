"""Health over HTTP, on a real server."""

from collections.abc import AsyncIterator

import aiohttp
import pytest

from deploy.local import ports
from telemetry import (
    AddressError,
    ProcessHealth,
    process_registry,
    register_readiness,
    serve_health,
)


@pytest.fixture
def address() -> str:
    return f"127.0.0.1:{ports.choose()}"


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


async def answer(http: aiohttp.ClientSession, url: str) -> tuple[int, str]:
    async with http.get(url) as response:
        return response.status, await response.text()


async def test_a_process_is_alive_at_once_and_ready_only_later(
    http: aiohttp.ClientSession, address: str
) -> None:
    health = ProcessHealth()
    async with serve_health(address, health):
        assert await answer(http, f"http://{address}/healthz") == (200, "ok\n")
        assert await answer(http, f"http://{address}/readyz") == (503, "not ready yet\n")
        health.ready = True
        assert await answer(http, f"http://{address}/readyz") == (200, "ready\n")


async def test_a_process_with_a_hung_task_is_not_alive(
    http: aiohttp.ClientSession, address: str
) -> None:
    hung: list[str] = []
    async with serve_health(address, ProcessHealth(hung=lambda: hung)):
        assert await answer(http, f"http://{address}/healthz") == (200, "ok\n")
        hung += ["Work a", "the heartbeat"]
        told = "hung: Work a\nhung: the heartbeat\n"
        assert await answer(http, f"http://{address}/healthz") == (503, told)


async def test_a_process_without_something_it_needs_is_alive_but_not_ready(
    http: aiohttp.ClientSession, address: str
) -> None:
    missing: list[str] = []
    health, registry = ProcessHealth(missing=lambda: missing), process_registry()
    register_readiness(registry, health)
    health.ready = True
    async with serve_health(address, health, registry):
        assert await answer(http, f"http://{address}/readyz") == (200, "ready\n")
        assert registry.get_sample_value("fleetgate_ready") == 1
        missing.append("the hub: no answer")
        told = "not ready\nthe hub: no answer\n"
        assert await answer(http, f"http://{address}/readyz") == (503, told)
        assert await answer(http, f"http://{address}/healthz") == (200, "ok\n")
        assert registry.get_sample_value("fleetgate_ready") == 0


async def test_readiness_shows_which_roles_the_process_leads(
    http: aiohttp.ClientSession, address: str
) -> None:
    health = ProcessHealth()
    async with serve_health(address, health):
        health.standings = {"placement": "stands by, b leads", "bridge": "leads"}
        told = "bridge leads\nplacement stands by, b leads\n"
        assert await answer(http, f"http://{address}/readyz") == (503, f"not ready yet\n{told}")
        health.ready = True
        assert await answer(http, f"http://{address}/readyz") == (200, f"ready\n{told}")


async def test_nothing_answers_after_it_is_closed(
    http: aiohttp.ClientSession, address: str
) -> None:
    async with serve_health(address, ProcessHealth()):
        pass
    with pytest.raises(aiohttp.ClientConnectorError):
        await answer(http, f"http://{address}/healthz")


async def test_the_address_can_be_used_again_after_it_is_closed(address: str) -> None:
    for _ in range(2):
        async with serve_health(address, ProcessHealth()):
            pass


async def test_an_address_in_use_is_refused_with_advice(address: str) -> None:
    async with serve_health(address, ProcessHealth()):
        with pytest.raises(AddressError) as refused:
            async with serve_health(address, ProcessHealth()):
                pass
    assert str(refused.value).startswith(f"cannot listen on {address} (")
    assert "set FLEETGATE_METRICS_ADDRESS to a free one" in str(refused.value)


@pytest.mark.parametrize(
    "wrong",
    [
        "",
        "9464",
        "127.0.0.1",
        "127.0.0.1:",
        "127.0.0.1:http",
        "127.0.0.1:65536",
        "x:-1",
        "x:" + "9" * 5000,
    ],
)
async def test_an_invalid_address_is_refused_with_an_example(wrong: str) -> None:
    with pytest.raises(AddressError) as refused:
        async with serve_health(wrong, ProcessHealth()):
            pass
    assert str(refused.value) == (
        f"FLEETGATE_METRICS_ADDRESS is {wrong!r}, which is not an address: "
        "write host:port, such as 127.0.0.1:9464"
    )


@pytest.mark.parametrize("host", ["127.0.0.1", "[127.0.0.1]", "localhost", ""])
async def test_a_host_may_be_written_in_several_ways(
    http: aiohttp.ClientSession, host: str
) -> None:
    port = ports.choose()
    async with serve_health(f"{host}:{port}", ProcessHealth()):
        assert (await answer(http, f"http://127.0.0.1:{port}/healthz"))[0] == 200


async def test_other_errors_are_not_blamed_on_the_address(address: str) -> None:
    with pytest.raises(ConnectionResetError):
        async with serve_health(address, ProcessHealth()):
            raise ConnectionResetError
