"""A member joins, sends heartbeats and leaves, as its MemberCluster shows."""

import asyncio
from datetime import datetime

from agent import AgentSettings
from api.kinds import APPLIED_WORK, MEMBER_CLUSTER, NAMESPACE, WORK
from hub import Hub, Json
from tests.agent.support import PATIENT, Member, config_map, namespace
from tests.support.conditions import condition, conditions_of
from tests.support.eventually import eventually
from tests.support.running import running

HOLD = "example.com/hold"


async def read(member: Member) -> Json:
    return await member.hub.get(MEMBER_CLUSTER, member.name)


async def heartbeat(member: Member) -> datetime | None:
    for agent in (await read(member)).get("status", {}).get("agentStatus", []):
        if agent["type"] == "MemberAgent":
            return datetime.fromisoformat(agent["lastReceivedHeartbeat"])
    return None


async def test_a_member_joins_when_its_agent_starts(member: Member) -> None:
    async with running(member.agent(PATIENT)):
        await eventually(lambda: heartbeat(member))
    status = (await read(member))["status"]
    shown = {kind: (each["status"], each["reason"]) for kind, each in conditions_of(status).items()}
    assert shown == {
        "ReadyToJoin": ("True", "MemberClusterReadyToJoin"),
        "Joined": ("True", "MemberClusterJoined"),
        "Healthy": ("True", "MemberClusterHealthy"),
        "ClusterPropertyProviderStarted": ("True", "Started"),
        "ClusterPropertyCollectionSucceeded": ("True", "PropertiesCollected"),
    }
    agent = status["agentStatus"][0]
    assert {kind: each["status"] for kind, each in conditions_of(agent).items()} == {
        "Joined": "True",
        "Healthy": "True",
    }


async def test_the_heartbeat_is_repeated(hub: Hub, cluster: Hub, unique: str) -> None:
    member = Member(name=unique, hub=hub, cluster=cluster)
    await member.register(heartbeat_seconds=1)
    async with running(member.agent(PATIENT)):
        first = await eventually(lambda: heartbeat(member))

        async def beat_again() -> bool:
            latest = await heartbeat(member)
            return latest is not None and latest > first

        await eventually(beat_again)
    times = [each["lastTransitionTime"] for each in (await read(member))["status"]["conditions"]]
    assert len(set(times)) == 1, "only the heartbeat changes, not the conditions"
    await member.unregister()


async def test_the_status_that_others_write_to_a_member_is_kept(member: Member) -> None:
    collected = condition("NamespaceCollectionSucceeded")
    other = {"type": "OtherAgent", "lastReceivedHeartbeat": "2026-01-01T00:00:00Z"}
    status = {"conditions": [collected], "agentStatus": [other]}
    await member.hub.patch(MEMBER_CLUSTER, member.name, {"status": status}, subresource="status")
    async with running(member.agent()):
        await eventually(lambda: heartbeat(member))
    found = (await read(member))["status"]
    assert conditions_of(found)["NamespaceCollectionSucceeded"]["status"] == "True"
    assert {each["type"] for each in found["agentStatus"]} == {"OtherAgent", "MemberAgent"}


async def test_an_agent_waits_for_its_member_to_be_registered(
    hub: Hub, cluster: Hub, unique: str
) -> None:
    member = Member(name=unique, hub=hub, cluster=cluster)
    await hub.create(NAMESPACE, {"metadata": {"name": member.namespace}})
    await member.put(unique, namespace(f"{unique}-ns"))
    async with running(member.agent()):
        assert (await member.work(unique)).get("status") is None
        await member.register()
        await member.reported(unique)
    await member.unregister()


async def test_a_member_that_leaves_keeps_its_objects_and_rejoins(
    member: Member, unique: str
) -> None:
    ns = f"{unique}-ns"
    hold = {"metadata": {"finalizers": [HOLD]}}
    await member.hub.patch(MEMBER_CLUSTER, member.name, hold)
    async with running(member.agent()):
        await member.put(unique, namespace(ns), config_map("cm", ns, key="value1"))
        await member.reported(unique)
        await member.hub.delete(MEMBER_CLUSTER, member.name)

        async def has_left() -> bool:
            said = conditions_of((await read(member))["status"])
            return bool(said["Joined"]["reason"] == "MemberClusterLeft")

        await eventually(has_left)
        await member.hub.delete(WORK, unique, namespace=member.namespace)
        await member.gone(unique)
        assert await member.data("cm", ns) == {"key": "value1"}
        assert await member.cluster.find(APPLIED_WORK, unique) is not None

        await member.hub.patch(MEMBER_CLUSTER, member.name, {"metadata": {"finalizers": []}})
        await _registered_again(member)
        await member.put(unique, namespace(ns), config_map("cm", ns, key="value2"))
        await member.reported(unique)
        assert await member.data("cm", ns) == {"key": "value2"}
        assert await heartbeat(member)


async def _registered_again(member: Member) -> None:
    async def is_gone() -> bool:
        return await member.hub.find(MEMBER_CLUSTER, member.name) is None

    await eventually(is_gone)
    await member.register()


async def test_many_agents_run_in_one_process(hub: Hub, cluster: Hub, unique: str) -> None:
    members = [Member(name=f"{unique}-{number}", hub=hub, cluster=cluster) for number in range(5)]
    for each in members:
        await each.register()
    agents = [asyncio.create_task(each.agent(AgentSettings()).run()) for each in members]
    for each in members:
        await each.put(each.name, namespace(f"{each.name}-ns"))
    await asyncio.gather(*(each.reported(each.name) for each in members))
    for agent in agents:
        agent.cancel()
    await asyncio.gather(*agents, return_exceptions=True)
    await asyncio.gather(*(each.unregister() for each in members))
