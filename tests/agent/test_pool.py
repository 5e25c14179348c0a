"""Many members in one process, from Secrets on the hub; none affects another."""

from base64 import b64encode
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from agent import AgentPool, MemberSecrets
from api.kinds import NAMESPACE, SECRET, WORK
from hub import Hub, Json
from tests.agent.credentials import with_user
from tests.agent.support import Member, namespace
from tests.agent.test_membership import heartbeat, read
from tests.support.conditions import conditions_of
from tests.support.eventually import eventually
from tests.support.running import running


@pytest.fixture
async def kubeconfig(member_kubeconfig: Callable[[str], Awaitable[Path]]) -> str:
    """A kubeconfig of the members' shared cluster that refers to no other files."""
    return (await member_kubeconfig("agents")).read_text()


@pytest.fixture
async def secrets(hub: Hub, unique: str) -> str:
    """A namespace of the hub for kubeconfigs."""
    name = f"{unique}-members"
    await hub.create(NAMESPACE, {"metadata": {"name": name}})
    return name


@pytest.fixture
async def members(hub: Hub, cluster: Hub, unique: str) -> AsyncIterator[list[Member]]:
    found = [Member(name=f"{unique}-{letter}", hub=hub, cluster=cluster) for letter in "abc"]
    async with AsyncExitStack() as stack:
        for each in found:
            await each.register(heartbeat_seconds=1)
            stack.push_async_callback(each.unregister)
        yield found


@asynccontextmanager
async def serving(hub: Hub, secrets: str) -> AsyncIterator[None]:
    pool = AgentPool(hub)
    async with running(pool), running(MemberSecrets(hub, pool, namespace=secrets)):
        yield


async def hand_over(hub: Hub, secrets: str, member: Member, kubeconfig: str) -> None:
    """Store a kubeconfig on the hub, or change the existing one."""
    metadata = {
        "name": member.name,
        "namespace": secrets,
        "labels": {"fleetgate.dev/member": member.name},
    }
    data = {"kubeconfig": b64encode(kubeconfig.encode()).decode()}
    await hub.apply(SECRET, {"metadata": metadata, "data": data}, manager="test")


async def serves(member: Member, work: str) -> None:
    await member.put(work, namespace(f"{work}-ns"))
    await member.reported(work)


async def test_each_secret_starts_an_agent(
    hub: Hub, secrets: str, members: list[Member], kubeconfig: str
) -> None:
    async with serving(hub, secrets):
        for each in members:
            await hand_over(hub, secrets, each, kubeconfig)
        for each in members:
            await serves(each, each.name)
            assert await heartbeat(each)


async def test_a_bad_secret_does_not_affect_others_and_can_be_fixed(
    hub: Hub,
    secrets: str,
    members: list[Member],
    kubeconfig: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    good, nonsense, plugin = members
    await hand_over(hub, secrets, nonsense, "nonsense")
    program = {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "touch"}}
    await hand_over(hub, secrets, plugin, with_user(kubeconfig, program))
    await hand_over(hub, secrets, good, kubeconfig)
    async with serving(hub, secrets):
        await serves(good, good.name)
        assert (
            f"cannot run an agent for member {nonsense.name}: Secret {nonsense.name} cannot be used"
            in caplog.text
        )
        assert "exec runs a program on this machine" in caplog.text
        await hand_over(hub, secrets, plugin, kubeconfig)
        await serves(plugin, plugin.name)


async def test_a_member_with_wrong_credentials_is_unhealthy_until_they_are_fixed(
    hub: Hub, secrets: str, members: list[Member], kubeconfig: str
) -> None:
    member, *_ = members
    async with serving(hub, secrets):
        await hand_over(hub, secrets, member, with_user(kubeconfig, {"token": "wrong"}))
        await member.put(member.name, namespace(f"{member.name}-ns"))

        async def is_unhealthy() -> Json | None:
            said = conditions_of((await read(member)).get("status", {})).get("Healthy", {})
            return said if said.get("status") == "False" else None

        said = await eventually(is_unhealthy)
        assert "Unauthorized" in said["message"]
        # As for an unreachable member, no status is written to its Works.
        assert "status" not in await member.work(member.name)
        await hand_over(hub, secrets, member, kubeconfig)
        await member.reported(member.name)


async def test_a_deleted_secret_stops_the_agent_and_leaves_the_member_as_it_is(
    hub: Hub, secrets: str, members: list[Member], kubeconfig: str
) -> None:
    member, other, _ = members
    async with serving(hub, secrets):
        for each in (member, other):
            await hand_over(hub, secrets, each, kubeconfig)
            await serves(each, each.name)
        await hub.delete(SECRET, member.name, namespace=secrets)

        await eventually(lambda: _is_silent(member, other))
    assert await member.cluster.find(NAMESPACE, f"{member.name}-ns")
    assert await hub.find(WORK, member.name, namespace=member.namespace)


async def _is_silent(member: Member, other: Member) -> bool:
    """True if a member sends no heartbeat while another one sends three."""
    before, begun = await heartbeat(member), await eventually(lambda: heartbeat(other))
    await eventually(
        lambda: heartbeat(other), lambda seen: seen and seen >= begun + timedelta(seconds=3)
    )
    return await heartbeat(member) == before
