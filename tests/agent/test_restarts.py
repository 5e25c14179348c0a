"""An agent, or what it depends on, goes away in the middle; nothing is lost or done twice."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest

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
from tests.agent.support import Member, config_map, eventually, namespace, running
from tests.support.conditions import conditions_of
from tests.support.servers import PrivateApiServer


@pytest.fixture
async def own(hub: Hub, private_api_server: PrivateApiServer, unique: str) -> AsyncIterator[Member]:
    """A member whose API server is the test's own: no controllers, no definitions."""
    async with await Hub.connect(private_api_server.kubeconfig, manager="test") as cluster:
        member = Member(name=unique, hub=hub, cluster=cluster)
        await member.register()
        yield member
        await member.unregister()


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
            await asyncio.wait_for(agent.run(), timeout=10)


async def test_a_restarted_agent_goes_on_where_the_other_was(member: Member, unique: str) -> None:
    ns = f"{unique}-ns"
    async with running(member.agent()):
        await member.put(unique, namespace(ns), config_map("old", ns, a="1"))
        await member.reported(unique)
    # While no agent is there, the Work changes and loses an object.
    await member.put(unique, namespace(ns), config_map("new", ns, b="2"))
    async with running(member.agent()):
        await member.reported(unique)
        assert await member.data("new", ns) == {"b": "2"}

        async def old_is_gone() -> bool:
            return await member.data("old", ns) is None

        await eventually(old_is_gone)


@pytest.mark.parametrize("moment", range(1, 9))
async def test_an_agent_killed_at_any_moment_leaves_nothing_behind(
    member: Member, unique: str, moment: int
) -> None:
    """The first agent ends at its nth write to the member, before or after it is carried out."""
    ns = f"{unique}-ns"
    maps = [config_map(f"cm{number}", ns, a="1") for number in range(3)]
    await member.put(unique, namespace(ns), *maps)
    async with running(member.agent()):
        start = member.cluster.requests.total()

        async def enough_requests() -> bool:
            return member.cluster.requests.total() - start >= 2 * moment

        with suppress(AssertionError):
            await eventually(enough_requests, within=2)
    await member.put(unique, namespace(ns), config_map("last", ns, b="2"))
    async with running(member.agent()):
        await member.reported(unique)

        async def only_the_last_is_left() -> bool:
            listing = await member.cluster.list(CONFIG_MAP, namespace=ns)
            found = {each["metadata"]["name"] for each in listing.items}
            return found - {"kube-root-ca.crt"} == {"last"}

        await eventually(only_the_last_is_left)


async def test_a_member_that_restarts_is_served_again(
    own: Member, private_api_server: PrivateApiServer
) -> None:
    async with running(own.agent()):
        await own.put(own.name, namespace("ns"), config_map("cm", "ns", key="value1"))
        before = await own.reported(own.name)
        await private_api_server.kill()
        await own.put(own.name, namespace("ns"), config_map("cm", "ns", key="value2"))
        await asyncio.sleep(1)
        # A member that is away has not refused anything: the report stays as it was.
        assert (await own.work(own.name))["status"] == before["status"]
        await private_api_server.start()
        await own.reported(own.name)
        assert await own.data("cm", "ns") == {"key": "value2"}


async def test_an_agent_waits_for_a_member_that_is_away(
    own: Member, private_api_server: PrivateApiServer
) -> None:
    await private_api_server.kill()
    async with running(own.agent()):
        await own.put(own.name, namespace("late"))

        async def says_so() -> bool:
            found = await own.hub.get(MEMBER_CLUSTER, own.name)
            healthy = conditions_of(found.get("status", {})).get("Healthy")
            assert healthy
            assert "the member's API server does not answer" in healthy["message"]
            return bool(healthy["status"] == "False")

        await eventually(says_so)
        await private_api_server.start()
        await own.reported(own.name)
        assert await own.cluster.find(NAMESPACE, "late")


async def test_an_applied_work_deleted_on_the_member_comes_back(
    member: Member, unique: str
) -> None:
    ns = f"{unique}-ns"
    async with running(member.agent()):
        await member.put(unique, namespace(ns), config_map("cm", ns, key="value1"))
        await member.reported(unique)
        first = await member.cluster.get(APPLIED_WORK, unique)
        await member.cluster.delete(APPLIED_WORK, unique, propagation="Background")

        async def is_back() -> Json | None:
            record = await member.cluster.find(APPLIED_WORK, unique)
            assert record
            assert record["metadata"]["uid"] != first["metadata"]["uid"]
            live = await member.cluster.find(CONFIG_MAP, "cm", namespace=ns)
            assert live
            owners = live["metadata"]["ownerReferences"]
            assert [each["uid"] for each in owners] == [record["metadata"]["uid"]]
            return live

        await eventually(is_back, within=60)
        await member.reported(unique)
        assert await member.hub.find(WORK, unique, namespace=member.namespace)
