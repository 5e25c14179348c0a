"""The properties of a member are in its MemberCluster (contract: placement 11)."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from agent import AgentSettings
from agent.membership import Properties
from api.kinds import MEMBER_CLUSTER, NODE, POD
from hub import Hub, Json
from tests.agent.credentials import kubeconfig_of_nobody
from tests.agent.support import PATIENT, Member
from tests.support.conditions import conditions_of
from tests.support.eventually import eventually
from tests.support.running import running
from tests.support.servers import Servers

OFTEN = replace(PATIENT, properties_age=timedelta(milliseconds=200))
RESOURCES = {"cpu": "4", "memory": "16Gi"}


@pytest.fixture
async def kubeconfig(servers: Servers, unique: str) -> Path:
    """Kubeconfig of a member to which no other test adds nodes."""
    del unique
    return await servers.cluster("properties")


@pytest.fixture
async def own(hub: Hub, kubeconfig: Path, unique: str) -> AsyncIterator[Member]:
    async with await Hub.connect(kubeconfig, manager="test") as cluster:
        member = Member(name=unique, hub=hub, cluster=cluster)
        await member.register(heartbeat_seconds=1)
        yield member
        await member.unregister()


async def status(member: Member) -> Json:
    found: Json = (await member.hub.get(MEMBER_CLUSTER, member.name)).get("status", {})
    return found


async def add_node(cluster: Hub, name: str) -> None:
    await cluster.create(NODE, {"metadata": {"name": name}})
    amounts = {"capacity": RESOURCES, "allocatable": RESOURCES | {"cpu": "3500m"}}
    await cluster.patch(NODE, name, {"status": amounts}, subresource="status")


async def add_pod(cluster: Hub, name: str, *, node: str) -> None:
    requests = {"requests": {"cpu": "1", "memory": "1Gi"}}
    container = {"name": "main", "image": "example.com/app:1", "resources": requests}
    await cluster.create(
        POD,
        {
            "metadata": {"name": name, "namespace": "default"},
            "spec": {"nodeName": node, "containers": [container]},
        },
    )


async def shown(member: Member, *, nodes: str, available: dict[str, str]) -> Json:
    """Wait until the member reports this many nodes and these available resources."""

    def shows(found: Json) -> bool:
        counted = found.get("properties", {}).get("kubernetes-fleet.io/node-count", {})
        shown = counted.get("value"), found.get("resourceUsage", {}).get("available")
        return shown == (nodes, available)

    return await eventually(lambda: status(member), shows)


async def test_properties_follow_the_nodes_and_the_pods_of_a_member(own: Member) -> None:
    async with running(own.agent(OFTEN)):
        found = await shown(own, nodes="0", available={"cpu": "0", "memory": "0"})
        assert found["properties"]["k8s.io/k8s-version"]["value"].startswith("v1.")
        said = conditions_of(found)
        assert said["ClusterPropertyProviderStarted"]["reason"] == "Started"
        assert said["ClusterPropertyCollectionSucceeded"]["status"] == "True"

        await add_node(own.cluster, own.name)
        found = await shown(own, nodes="1", available={"cpu": "3500m", "memory": "16Gi"})
        assert found["resourceUsage"]["capacity"] == RESOURCES
        assert found["resourceUsage"]["allocatable"] == RESOURCES | {"cpu": "3500m"}

        await add_pod(own.cluster, own.name, node=own.name)
        await shown(own, nodes="1", available={"cpu": "2500m", "memory": "15Gi"})

        done = {"status": {"phase": "Succeeded"}}
        await own.cluster.patch(POD, own.name, done, namespace="default", subresource="status")
        await shown(own, nodes="1", available={"cpu": "3500m", "memory": "16Gi"})
    await own.cluster.delete(NODE, own.name)


async def test_a_missing_right_to_read_nodes_is_reported(
    own: Member, kubeconfig: Path, tmp_path: Path, unique: str
) -> None:
    nobody = await kubeconfig_of_nobody(own.cluster, kubeconfig, tmp_path, name=unique)
    async with await Hub.connect(nobody) as cluster:
        found = Properties(cluster, settings=OFTEN)
        await found.renew()
    assert found.observed is None
    assert "nodes is forbidden" in found.problem


async def test_a_slow_member_does_not_delay_the_heartbeat(own: Member) -> None:
    found = Properties(own.cluster, settings=AgentSettings(properties_patience=timedelta(0)))
    await found.renew()
    assert (found.observed, found.problem) == (None, "no answer within 0 s")


async def test_fresh_properties_are_not_collected_again(own: Member) -> None:
    found = Properties(own.cluster, settings=PATIENT)
    await found.renew()
    asked = own.cluster.requests.total()
    first = found.observed
    await found.renew()
    assert first is not None
    assert found.observed is first
    assert own.cluster.requests.total() == asked
