"""fleetgate's processes on a hub for these tests only, each with the rights shipped for it."""

import asyncio
import logging
import secrets
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Protocol

import pytest

from api.kinds import SCOPES, Kind, Scope, ScopeName
from bridge import BridgeSettings
from deploy.installing import policies
from hub import Forbidden, Hub, Json, Unavailable
from placement.built_in import BuiltInPlacement
from tests.agent.credentials import grant, of_account
from tests.placement.world import World
from tests.rights.gates import Gate
from tests.rights.people import CLUSTER_ROLE, bind, kubeconfig_of
from tests.support.conditions import condition, says
from tests.support.engine import running_engine
from tests.support.eventually import eventually
from tests.support.servers import Servers
from workflows.messages import TemporalApprovals
from workflows.plugin import connect

PARTS = ("engine", "bridge", "placement")
_ROLES = "hub-side.yaml"
_PEOPLE = "people.yaml"
_WRITES_STATUS = {
    "metadata": {"name": "writes-status"},
    "rules": [
        {
            "apiGroups": ["placement.kubernetes-fleet.io"],
            "resources": ["clusterapprovalrequests/status", "approvalrequests/status"],
            "verbs": ["get", "update", "patch"],
        }
    ],
}
"""A role that may write the status of approval requests, but lacks the verb `approve`."""

_REPORTED = {"policyObservedClusterCount": 7}


class Person(Protocol):
    """Creates a client for a user with the given ClusterRoles."""

    async def __call__(self, user: str, *roles: str) -> Hub: ...


@pytest.fixture(scope="package")
async def own_kubeconfig(servers: Servers) -> AsyncIterator[Path]:
    """Kubeconfig of a hub on which no other test or process places or rolls out anything."""
    async with servers.own_cluster("rights") as kubeconfig:
        yield kubeconfig


@pytest.fixture(scope="package")
async def admin(own_kubeconfig: Path) -> AsyncIterator[Hub]:
    """The administrator of the hub, with the shipped rights and policies installed."""
    async with await Hub.connect(own_kubeconfig, manager="kubectl") as hub:
        await grant(hub, _ROLES)
        await grant(hub, _PEOPLE)
        await hub.apply(CLUSTER_ROLE, _WRITES_STATUS, manager="test")
        await policies.install(hub)
        for name in ScopeName:
            gate = Gate(hub, SCOPES[name], f"probe-{name.lower()}")
            await gate.prepare()
            await _in_force(gate)
            await gate.clear()
        yield hub


async def _in_force(gate: Gate) -> None:
    """Wait until the policies sign approvals and refuse writes, which takes a moment."""
    hub, scope = gate.admin, gate.scope

    async def written(kind: Kind, status: Json) -> Json | None:
        """The object that a status write would store, None if it is refused."""
        body = {"metadata": {"name": gate.unique} | gate.place, "status": status}
        try:
            return await hub.apply(kind, body, subresource="status", manager="probe", dry_run=True)
        except Forbidden:
            return None

    async def signed() -> bool:
        found = await written(scope.approval, {"conditions": [condition("Approved")]})
        return "(by " in says(found, "Approved")[2]

    async def refused() -> bool:
        accepted = await written(scope.approval, {"conditions": [condition("ApprovalAccepted")]})
        return accepted is None and await written(scope.run, _REPORTED) is None

    async def both() -> bool:
        try:
            return await signed() and await refused()
        except Unavailable:
            return False  # Policies learn of new kinds later than the API server.

    await eventually(both)


@pytest.fixture(scope="package")
async def clients(
    admin: Hub, own_kubeconfig: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[dict[str, Hub]]:
    """A client for each role, with the rights of its ServiceAccount."""
    folder = tmp_path_factory.mktemp("rights")
    async with AsyncExitStack() as stack:
        made = {}
        for part in PARTS:
            kubeconfig = await of_account(
                own_kubeconfig, admin, f"fleetgate-{part}", namespace="fleetgate", folder=folder
            )
            made[part] = await stack.enter_async_context(await Hub.connect(kubeconfig))
        yield made


@pytest.fixture
async def person(admin: Hub, own_kubeconfig: Path, tmp_path: Path) -> AsyncIterator[Person]:
    """Clients of people, until the test ends."""
    async with AsyncExitStack() as stack:

        async def make(user: str, *roles: str) -> Hub:
            for role in roles:
                await bind(admin, user, role)
            kubeconfig = kubeconfig_of(user, admin=own_kubeconfig, folder=tmp_path)
            return await stack.enter_async_context(await Hub.connect(kubeconfig))

        yield make


@pytest.fixture
async def gate(admin: Hub, scope: Scope, unique: str) -> AsyncIterator[Gate]:
    """A run that waits at a gate."""
    found = Gate(admin, scope, unique)
    await found.prepare()
    yield found
    await found.clear()


@pytest.fixture(scope="package")
def temporal_approvals(request: pytest.FixtureRequest) -> TemporalApprovals:
    """The operator's setting; a test may override it."""
    return getattr(request, "param", TemporalApprovals.ACCEPT)


class _Refusals(logging.Handler):
    """Collects the log messages about requests that the API server refused."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.seen: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        message = record.getMessage()
        if "forbidden" in message.lower():
            self.seen.append(message)


@pytest.fixture(scope="package")
async def refused(
    clients: dict[str, Hub], temporal_address: str, temporal_approvals: TemporalApprovals
) -> AsyncIterator[list[str]]:
    """Run engine, bridge and placement; yield the requests that they were refused."""
    refusals, root = _Refusals(), logging.getLogger()
    root.addHandler(refusals)
    async with _at_work(clients, temporal_address, temporal_approvals):
        yield refusals.seen
    root.removeHandler(refusals)


@pytest.fixture
def processes(refused: list[str]) -> Iterator[None]:
    """Run engine, bridge and placement, and check that no request of theirs was refused."""
    yield
    assert refused == []


@asynccontextmanager
async def _at_work(
    clients: dict[str, Hub], temporal_address: str, temporal_approvals: TemporalApprovals
) -> AsyncIterator[None]:
    settings = BridgeSettings(
        task_queue=f"rights-{secrets.token_hex(4)}", temporal_approvals=temporal_approvals
    )
    temporal = await connect({"TEMPORAL_ADDRESS": temporal_address})
    placement = BuiltInPlacement(clients["placement"])
    async with running_engine(
        clients["engine"], temporal, settings=settings, bridge_hub=clients["bridge"]
    ):
        placing = asyncio.create_task(placement.run())
        await placement.ready()
        yield
        placing.cancel()
        await asyncio.gather(placing, return_exceptions=True)


@pytest.fixture
async def world(admin: Hub, processes: None, scope: Scope, unique: str) -> AsyncIterator[World]:
    """The surroundings of a placement on that hub."""
    del processes
    surroundings = World(admin, scope, unique)
    await surroundings.prepare()
    yield surroundings
    await surroundings.clear()
