"""An agent or a server that it depends on stops in the middle; nothing is lost or done twice."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from aiohttp import web

from agent import Agent, AgentError
from api.kinds import (
    APPLIED_WORK,
    CONFIG_MAP,
    CUSTOM_RESOURCE_DEFINITION,
    MEMBER_CLUSTER,
    NAMESPACE,
    WORK,
)
from hub import Hub, Json
from tests.agent.credentials import kubeconfig_of_nobody
from tests.agent.support import Member, config_map, namespace
from tests.support.conditions import says
from tests.support.eventually import eventually, patience
from tests.support.fault_proxy import WRITES, FaultProxy, all_sprung, release
from tests.support.running import running
from tests.support.servers import PrivateApiServer, Servers

FIRST_WRITES = 7
"""Number of an agent's writes to a member for its first Work, which has four objects."""


@pytest.fixture
async def own(hub: Hub, private_api_server: PrivateApiServer, unique: str) -> AsyncIterator[Member]:
    """A member with an API server of the test's own: no controllers, no CRDs."""
    async with Member.registered(
        unique, hub=hub, kubeconfig=private_api_server.kubeconfig
    ) as member:
        yield member


async def test_an_agent_installs_what_it_needs_on_a_fresh_member(own: Member) -> None:
    async with running(own.agent()):
        await own.put(own.name, namespace("fresh"), config_map("cm", "fresh", key="value1"))
        await own.reported(own.name)
    name = f"{APPLIED_WORK.plural}.{APPLIED_WORK.group}"
    assert await own.cluster.find(CUSTOM_RESOURCE_DEFINITION, name)


async def test_an_agent_without_the_right_to_install_says_what_to_do(
    own: Member, private_api_server: PrivateApiServer, tmp_path: Path
) -> None:
    kubeconfig = await kubeconfig_of_nobody(own.cluster, private_api_server.kubeconfig, tmp_path)
    async with await Hub.connect(kubeconfig) as cluster:
        agent = Agent(member=own.name, hub=own.hub, cluster=cluster)
        with pytest.raises(AgentError, match=r"apply deploy/crds/\S*appliedworks.yaml to the"):
            await asyncio.wait_for(agent.run(), timeout=patience())


async def test_a_restarted_agent_continues_where_it_left_off(member: Member, unique: str) -> None:
    ns = f"{unique}-ns"
    async with running(member.agent()):
        await member.put(unique, namespace(ns), config_map("old", ns, a="1"))
        await member.reported(unique)
    # While no agent is running, the Work changes and loses an object.
    await member.put(unique, namespace(ns), config_map("new", ns, b="2"))
    async with running(member.agent()):
        await member.reported(unique)
        assert await member.data("new", ns) == {"b": "2"}

        async def old_is_gone() -> bool:
            return await member.data("old", ns) is None

        await eventually(old_is_gone)


@pytest.fixture(scope="module")
async def behind_proxy(servers: Servers) -> AsyncIterator[PrivateApiServer]:
    """A member's API server without controllers, for tests that put a proxy in front of it."""
    async with servers.own_hub() as server:
        yield server


def nth_write(number: int) -> Callable[[web.Request], bool]:
    """Match the nth request that changes something."""
    left = number

    def matches(request: web.Request) -> bool:
        nonlocal left
        left -= request.method in WRITES
        return left == 0

    return matches


@pytest.mark.parametrize("carried_out", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("number", range(1, FIRST_WRITES + 1))
async def test_an_agent_killed_at_any_write_leaves_nothing_behind(
    hub: Hub,
    behind_proxy: PrivateApiServer,
    unique: str,
    tmp_path: Path,
    *,
    number: int,
    carried_out: bool,
) -> None:
    """The first agent is killed at its nth write to the member, before or after it takes effect."""
    ns = f"{unique}-ns"
    maps = [config_map(f"cm{each}", ns, a="1") for each in range(3)]
    between = FaultProxy.between(behind_proxy, kubeconfig=tmp_path / "member", seed=0)
    async with between as proxy, await Hub.connect(proxy.kubeconfig) as cluster:
        member = Member(name=unique, hub=hub, cluster=cluster)
        await member.register()
        await member.put(unique, namespace(ns), *maps)
        last = proxy.trap(nth_write(number), carried_out=carried_out)
        async with running(member.agent()):
            await all_sprung([last])
        release([last])
        await member.put(unique, namespace(ns), config_map("last", ns, b="2"))
        async with running(member.agent()):
            await member.reported(unique)

            async def left() -> list[str]:
                listing = await cluster.list(CONFIG_MAP, namespace=ns)
                return [each["metadata"]["name"] for each in listing.items]

            await eventually(left, lambda found: found == ["last"])
        await member.unregister()


async def test_a_member_that_restarts_is_served_again(
    own: Member, private_api_server: PrivateApiServer
) -> None:
    async with running(own.agent()):
        await own.put(own.name, namespace("ns"), config_map("cm", "ns", key="value1"))
        before = await own.reported(own.name)
        await private_api_server.kill()
        await own.put(own.name, namespace("ns"), config_map("cm", "ns", key="value2"))
        await is_away(own)
        # An unreachable member has not refused anything: the status stays as it was.
        assert (await own.work(own.name))["status"] == before["status"]
        await private_api_server.start()
        await own.reported(own.name)
        assert await own.data("cm", "ns") == {"key": "value2"}


async def is_away(member: Member) -> None:
    """Wait until the agent reports that its member does not answer."""

    def says_so(found: Json) -> bool:
        status, _, message = says(found, "Healthy")
        return status == "False" and "the member's API server does not answer" in message

    await eventually(lambda: member.hub.get(MEMBER_CLUSTER, member.name), says_so)


async def test_an_agent_waits_for_an_unreachable_member(
    own: Member, private_api_server: PrivateApiServer
) -> None:
    await private_api_server.kill()
    async with running(own.agent()):
        await own.put(own.name, namespace("late"))
        await is_away(own)
        await private_api_server.start()
        await own.reported(own.name)
        assert await own.cluster.find(NAMESPACE, "late")


async def test_an_applied_work_deleted_on_the_member_is_recreated(
    member: Member, unique: str
) -> None:
    ns = f"{unique}-ns"
    async with running(member.agent()):
        await member.put(unique, namespace(ns), config_map("cm", ns, key="value1"))
        await member.reported(unique)
        first = await member.cluster.get(APPLIED_WORK, unique)
        await member.cluster.delete(APPLIED_WORK, unique, propagation="Background")

        async def is_back() -> bool:
            record = await member.cluster.find(APPLIED_WORK, unique)
            live = await member.cluster.find(CONFIG_MAP, "cm", namespace=ns)
            if not record or not live:
                return False
            uid = record["metadata"]["uid"]
            owners = [each["uid"] for each in live["metadata"].get("ownerReferences", [])]
            return uid != first["metadata"]["uid"] and owners == [uid]

        await eventually(is_back)
        await member.reported(unique)
        assert await member.hub.find(WORK, unique, namespace=member.namespace)
