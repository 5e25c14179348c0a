"""An agent reports its health to the kubelet and to Prometheus."""

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from pathlib import Path

import aiohttp
import pytest
from prometheus_client.parser import text_string_to_metric_families

from agent import AgentSettings
from deploy.local import ports
from hub import Hub
from tests.agent.support import Member, config_map, namespace
from tests.agent.test_process import start
from tests.support.eventually import eventually
from tests.support.limits import PATIENT
from tests.support.running import running
from tests.support.servers import PrivateApiServer, Servers

Series = dict[str, float]


async def asked(url: str) -> tuple[int, str]:
    """Status and body of a page; 0 while nothing listens."""
    try:
        async with aiohttp.ClientSession() as http, http.get(url) as answer:
            return answer.status, await answer.text()
    except aiohttp.ClientConnectorError:
        return 0, ""


async def series(address: str) -> Series:
    """All samples, by name and labels."""
    _, text = await asked(f"http://{address}/metrics")
    return {
        ",".join([sample.name, *map("=".join, sorted(sample.labels.items()))]): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


@pytest.fixture
async def api_server(servers: Servers) -> AsyncIterator[PrivateApiServer]:
    """The API server of a member, which the test stops."""
    server = await servers.started_api_server()
    yield server
    await server.kill()


@pytest.fixture
async def own(hub: Hub, api_server: PrivateApiServer, unique: str) -> AsyncIterator[Member]:
    async with Member.registered(unique, hub=hub, kubeconfig=api_server.kubeconfig) as member:
        yield member


@pytest.fixture
async def address(
    member: Member,
    hub_kubeconfig: Path,
    member_kubeconfig: Callable[[str], Awaitable[Path]],
) -> AsyncIterator[str]:
    """Metrics address of an agent that runs in its own process."""
    address = f"127.0.0.1:{ports.choose()}"
    cluster = await member_kubeconfig("agents")
    process = await start(member.name, hub_kubeconfig, cluster, "--metrics-address", address)
    yield address
    process.kill()
    await process.wait()


async def test_an_agent_has_metrics_of_its_works_and_its_heartbeat(
    address: str, member: Member, unique: str
) -> None:
    await eventually(lambda: asked(f"http://{address}/readyz"), lambda seen: seen[0] == 200)
    assert await asked(f"http://{address}/healthz") == (200, "ok\n")
    of_member = f"member={unique}"
    results = "fleetgate_agent_works_processed_total"
    before = await series(address)
    assert before[f"{results},{of_member},result=failed"] == 0

    ns = f"{unique}-ns"
    await member.put("good", namespace(ns), config_map("cm", ns, key="value"))
    await member.reported("good")
    shown = await series(address)
    assert shown[f"{results},{of_member},result=applied"] >= 1
    assert shown[f"{results},{of_member},result=failed"] == 0
    assert shown[f"fleetgate_agent_apply_duration_seconds_count,{of_member}"] >= 1
    heartbeat = f"fleetgate_agent_last_heartbeat_timestamp_seconds,{of_member}"
    await eventually(lambda: series(address), lambda seen: seen.get(heartbeat, 0) > 0)
    assert shown["fleetgate_agent_ready"] == 1
    assert shown["fleetgate_agent_hub_requests_total,resource=works,verb=list"] >= 1
    assert shown["fleetgate_agent_member_requests_total,resource=namespaces,verb=create"] >= 1
    assert shown["fleetgate_agent_hub_watches,resource=works"] == 1
    assert shown["fleetgate_agent_member_watches,resource=appliedworks"] == 1
    assert "fleetgate_agent_hub_watch_restarts_total,resource=works" in shown

    await member.put("bad", config_map("cm", f"{unique}-none", key="value"))
    await member.reported("bad", available=None)
    shown = await series(address)
    assert shown[f"{results},{of_member},result=failed"] >= 1


async def test_an_agent_is_not_ready_while_its_member_does_not_answer(
    own: Member, api_server: PrivateApiServer, hub_kubeconfig: Path
) -> None:
    address = f"127.0.0.1:{ports.choose()}"
    process = await start(
        own.name, hub_kubeconfig, api_server.kubeconfig, "--metrics-address", address
    )
    ready = f"http://{address}/readyz"
    try:
        await eventually(lambda: asked(ready), lambda seen: seen == (200, "ready\n"))
        await api_server.kill()
        _, told = await eventually(lambda: asked(ready), lambda seen: seen[0] == 503)
        assert told.startswith("not ready\nthe AppliedWorks on the member: ")
        # A restart of the agent would not bring the member back, so it stays alive.
        assert await asked(f"http://{address}/healthz") == (200, "ok\n")
        await api_server.start()
        await eventually(lambda: asked(ready), lambda seen: seen == (200, "ready\n"))
    finally:
        process.kill()
        await process.wait()


async def test_an_agent_is_not_ready_while_the_hub_does_not_answer(
    servers: Servers, cluster: Hub, unique: str
) -> None:
    async with (
        servers.own_hub() as server,
        await Hub.connect(server.kubeconfig, manager="test", limits=PATIENT) as hub,
    ):
        member = Member(name=unique, hub=hub, cluster=cluster)
        await member.register()
        agent = member.agent()

        async def missing() -> list[str]:
            return agent.missing()

        async with running(agent):
            await eventually(missing, lambda seen: not seen)
            await server.kill()
            seen = await eventually(missing)
            assert all(" on the hub: " in each for each in seen)
            await server.start()
            await eventually(missing, lambda seen: not seen)


async def test_a_heartbeat_and_a_work_without_progress_count_as_hung(
    own: Member, api_server: PrivateApiServer
) -> None:
    settings = AgentSettings(hung_after=timedelta(seconds=1))
    agent = own.agent(settings)

    async def hung() -> set[str]:
        return set(agent.hung())

    async with running(agent):
        await own.put("first", namespace("first"))
        await own.reported("first")
        api_server.pause()
        await own.put("second", namespace("second"))
        await eventually(hung, lambda seen: {"Work second", "the heartbeat"} <= seen)
        api_server.resume()
        await own.reported("second")
        await eventually(hung, lambda seen: not seen)


async def test_agents_without_a_metrics_address_can_share_a_machine(
    member: Member,
    hub_kubeconfig: Path,
    member_kubeconfig: Callable[[str], Awaitable[Path]],
    unique: str,
) -> None:
    cluster = await member_kubeconfig("agents")
    processes = [await start(member.name, hub_kubeconfig, cluster) for _ in range(2)]
    try:
        await member.put(unique, namespace(f"{unique}-ns"))
        await member.reported(unique)
        assert [process.returncode for process in processes] == [None, None]
    finally:
        for process in processes:
            process.kill()
            await process.wait()


async def test_an_address_in_use_is_reported_in_one_line(
    address: str, member: Member, hub_kubeconfig: Path
) -> None:
    await eventually(lambda: asked(f"http://{address}/healthz"), lambda seen: seen[0] == 200)
    process = await start(member.name, hub_kubeconfig, hub_kubeconfig, "--metrics-address", address)
    _, errors = await process.communicate()
    assert process.returncode == 1
    assert errors.decode().splitlines()[-1].startswith(f"error: cannot listen on {address} (")
