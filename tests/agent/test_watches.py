"""An agent watches its member once per kind, without getting in the way of anything else."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path

import pytest

from agent import Agent, AgentSettings
from agent.object_watches import ObjectWatches, ObservedChange, Spot
from api.kinds import APPLIED_WORK, CONFIG_MAP, MEMBER_CLUSTER, NAMESPACE, Kind
from hub import Hub, Json
from tests.agent.credentials import of_account
from tests.agent.support import (
    PASSIVE,
    PATIENT,
    RBAC,
    Member,
    config_map,
    namespace,
    one_of_each_kind,
)
from tests.agent.test_membership import heartbeat
from tests.support import limits
from tests.support.conditions import says
from tests.support.eventually import eventually
from tests.support.fault_proxy import FaultProxy, all_sprung, release
from tests.support.running import running
from tests.support.servers import PrivateApiServer, Servers

NAMESPACES = 100


@pytest.fixture(scope="module")
async def server(servers: Servers) -> AsyncIterator[PrivateApiServer]:
    """Hub and member in one API server, all of whose connections one test's client may hold."""
    async with servers.own_hub() as server:
        yield server


async def test_a_hundred_namespaces_with_ten_kinds_need_one_watch_per_kind(
    server: PrivateApiServer, unique: str
) -> None:
    async with (
        await Hub.connect(server.kubeconfig, limits=limits.PATIENT) as hub,
        await Hub.connect(server.kubeconfig) as cluster,
    ):
        member = Member(name=unique, hub=hub, cluster=cluster)
        await member.register(heartbeat_seconds=1)
        names = [f"{unique}-{number}" for number in range(NAMESPACES)]
        for each in names:
            await member.put(each, namespace(each), *one_of_each_kind(each))
        async with running(member.agent()):
            for each in names:
                await member.reported(each)
            watches = {kind: count for kind, count in cluster.watches.running().items() if count}
            assert len(watches) == len(PASSIVE) + len(("namespaces", "appliedworks"))
            assert set(watches.values()) == {1}

            changed = config_map("a", names[0], key="changed")
            await member.put(names[0], namespace(names[0]), changed)
            await member.reported(names[0])
            assert await member.data("a", names[0]) == {"key": "changed"}
            assert watches.items() <= cluster.watches.running().items()
            await beats(member)
        assert says(await hub.get(MEMBER_CLUSTER, unique), "Healthy")[0] == "True"
        await member.unregister()


async def beats(member: Member) -> None:
    """Wait for two more heartbeats: the first may have been in progress already."""
    for _ in range(2):
        last = await heartbeat(member)

        async def later(last: datetime | None = last) -> bool:
            latest = await heartbeat(member)
            return latest is not None and (last is None or latest > last)

        await eventually(later)


async def test_requests_without_an_answer_do_not_stop_the_heartbeat(
    server: PrivateApiServer, unique: str, tmp_path: Path
) -> None:
    few = replace(limits.PATIENT, connections=2)
    async with AsyncExitStack() as stack:
        enter = stack.enter_async_context
        between = FaultProxy.between(server, kubeconfig=tmp_path / "proxied", seed=0)
        proxy = await enter(between)
        hub = await enter(await Hub.connect(proxy.kubeconfig, limits=few))
        cluster = await enter(await Hub.connect(proxy.kubeconfig, limits=few))
        direct = await enter(await Hub.connect(server.kubeconfig, limits=limits.PATIENT))
        member = Member(name=unique, hub=direct, cluster=direct)
        await member.register(heartbeat_seconds=1)
        await enter(running(Agent(member=unique, hub=hub, cluster=cluster, settings=PATIENT)))
        await beats(member)

        traps = [
            proxy.trap(lambda request: request.path.endswith("/configmaps/hung"))
            for _ in range(2 * few.connections)
        ]
        stuck = (
            client.find(CONFIG_MAP, "hung", namespace="default")
            for client in (hub, cluster)
            for _ in range(few.connections)
        )
        asking = asyncio.gather(*stuck, return_exceptions=True)
        await all_sprung(traps)
        await beats(member)
        assert says(await direct.get(MEMBER_CLUSTER, unique), "Healthy")[0] == "True"
        release(traps)
        await asking
        await member.unregister()


async def test_an_object_that_was_seen_before_a_work_named_it_is_restored_when_deleted(
    member: Member, unique: str
) -> None:
    """After a restart, the watch sees objects before their Works have been applied."""
    ns = f"{unique}-ns"
    names = [f"{unique}-{number}" for number in range(3)]
    async with running(member.agent()):
        await member.put(ns, namespace(ns))
        await member.reported(ns)
        for each in names:
            await member.put(each, config_map(each, ns, key="value"))
            await member.reported(each)
    one_by_one = AgentSettings(works_at_once=1)
    async with running(member.agent(one_by_one)):
        for each in names:
            # Change each Work, because otherwise nothing shows that it was applied again.
            await member.put(each, config_map(each, ns, key="value"), reportBackStrategy={})
            await member.reported(each)
        for each in names:
            await member.cluster.delete(CONFIG_MAP, each, namespace=ns)
        for each in names:
            await eventually(partial(member.data, each, ns), bool)


async def test_only_the_identity_is_kept_of_objects_that_no_work_names(
    cluster: Hub, unique: str
) -> None:
    told: list[ObservedChange] = []
    await cluster.create(NAMESPACE, namespace(unique))
    for name in ("placed", "foreign"):
        await cluster.create(CONFIG_MAP, config_map(name, unique, key="value"))
    watches = ObjectWatches(cluster, notify=told.append)
    placed, foreign = (Spot(CONFIG_MAP, unique, name) for name in ("placed", "foreign"))
    watches.look("work", [placed])
    await eventually(lambda: watches.get(placed) is not None)
    await eventually(lambda: watches.get(foreign) is not None)
    found, unread = watches.get(placed), watches.get(foreign)
    assert found is not None
    assert found.content
    assert unread is not None
    assert not unread.content
    assert [each.spot for each in told] == [placed]
    await watches.close()


async def limited_account(cluster: Hub, name: str, namespaces: list[str]) -> None:
    """Create a ServiceAccount that may place ConfigMaps, only in these namespaces."""
    verbs = ["get", "list", "watch", "create", "patch", "delete"]
    records = ["appliedworks", "appliedworks/status"]
    rules = {
        name: {"apiGroups": [APPLIED_WORK.group], "resources": records, "verbs": verbs},
        f"{name}-content": {"apiGroups": [""], "resources": ["configmaps"], "verbs": verbs},
    }
    account = Kind("", "v1", "ServiceAccount", "serviceaccounts", namespaced=True)
    await cluster.create(account, {"metadata": {"name": name, "namespace": namespaces[0]}})
    roles = Kind(RBAC, "v1", "ClusterRole", "clusterroles", namespaced=False)
    for role, rule in rules.items():
        await cluster.create(roles, {"metadata": {"name": role}, "rules": [rule]})
    await grant_everywhere(cluster, name, name, namespaces[0])
    bindings = Kind(RBAC, "v1", "RoleBinding", "rolebindings", namespaced=True)
    for each in namespaces:
        metadata = {"name": name, "namespace": each}
        body = granting(f"{name}-content", name, namespaces[0])
        await cluster.create(bindings, {"metadata": metadata, **body})


async def grant_everywhere(cluster: Hub, account: str, role: str, home: str) -> None:
    bindings = Kind(RBAC, "v1", "ClusterRoleBinding", "clusterrolebindings", namespaced=False)
    await cluster.create(bindings, {"metadata": {"name": role}, **granting(role, account, home)})


def granting(role: str, account: str, home: str) -> Json:
    subject = {"kind": "ServiceAccount", "name": account, "namespace": home}
    return {
        "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": role},
        "subjects": [subject],
    }


async def test_an_agent_that_may_not_watch_all_namespaces_watches_each_that_works_name(
    member: Member,
    unique: str,
    member_kubeconfig: Callable[[str], Awaitable[Path]],
    tmp_path: Path,
) -> None:
    names = [f"{unique}-{number}" for number in range(2)]
    for each in names:
        await member.cluster.create(NAMESPACE, namespace(each))
    await limited_account(member.cluster, unique, names)
    file = await of_account(
        await member_kubeconfig("agents"),
        member.cluster,
        unique,
        namespace=names[0],
        folder=tmp_path,
    )

    async def watched(count: int) -> None:
        await eventually(lambda: cluster.watches.running().get("configmaps") == count)

    async with await Hub.connect(file) as cluster:
        agent = Agent(member=member.name, hub=member.hub, cluster=cluster)
        async with running(agent):
            await member.put(unique, *(config_map("cm", each, key="value") for each in names))
            await member.reported(unique)
            await watched(1 + len(names))
            for each in names:
                await member.cluster.delete(CONFIG_MAP, "cm", namespace=each)
            for each in names:
                await eventually(partial(member.data, "cm", each), bool)

            # Once the agent may watch all namespaces, one watch serves all of them.
            await grant_everywhere(member.cluster, unique, f"{unique}-content", names[0])
            await watched(1)
            await member.cluster.delete(CONFIG_MAP, "cm", namespace=names[1])
            await eventually(lambda: member.data("cm", names[1]), bool)
