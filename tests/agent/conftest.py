from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from api.kinds import NAMESPACE
from hub import Hub
from tests.agent.support import Member
from tests.support.limits import PATIENT


@pytest.fixture(scope="package")
async def cluster(
    member_kubeconfig: Callable[[str], Awaitable[Path]],
) -> AsyncIterator[Hub]:
    """The API server of members, shared by the tests of agents."""
    kubeconfig = await member_kubeconfig("agents")
    async with await Hub.connect(kubeconfig, manager="test", limits=PATIENT) as client:
        yield client


@pytest.fixture
async def member(hub: Hub, cluster: Hub, unique: str) -> AsyncIterator[Member]:
    """A registered member that no other test uses, on the shared member's API server."""
    member = Member(name=unique, hub=hub, cluster=cluster)
    await member.register()
    yield member
    await member.unregister()


@pytest.fixture
async def ns(member: Member, unique: str) -> str:
    """A namespace on the member that was not created by a Work."""
    name = f"{unique}-ns"
    await member.cluster.create(NAMESPACE, {"metadata": {"name": name}})
    return name
