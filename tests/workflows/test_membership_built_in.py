"""A run whose clusters change by what the built-in placement decides (policies 2.1, membership)."""

import secrets
from collections.abc import AsyncIterator

import pytest
from temporalio.client import Client

from api.kinds import Scope
from bridge import BridgeSettings
from hub import Hub, Json
from placement.built_in import BuiltInPlacement
from tests.placement.world import World
from tests.support.conditions import condition_of, says
from tests.support.engine import running_engine
from tests.support.eventually import eventually
from tests.support.limits import PATIENT
from tests.support.running import running
from tests.support.servers import Servers


@pytest.fixture(scope="module")
async def hub(servers: Servers, temporal: Client) -> AsyncIterator[Hub]:
    """A hub with an engine and the built-in placement, used only by these tests."""
    settings = BridgeSettings(task_queue=f"membership-{secrets.token_hex(4)}")
    async with (
        servers.own_cluster("membership") as kubeconfig,
        await Hub.connect(kubeconfig, limits=PATIENT) as client,
        running_engine(client, temporal, settings=settings),
        running(BuiltInPlacement(client)),
    ):
        yield client


@pytest.fixture
async def world(hub: Hub, scope: Scope, unique: str) -> World:
    """A namespace with content."""
    world = World(hub, scope, unique)
    await world.prepare()
    return world


async def begin(world: World) -> None:
    """Create a policy, a strategy of one stage, and a run."""
    scope, name = world.scope, world.unique
    policy = {
        "targetRefs": [{"kind": scope.placement.kind, "name": world.name}],
        "membership": {"removed": "Skip", "added": "Append"},
    }
    run = {"placementName": world.name, "stagedRolloutStrategyName": name, "state": "Run"}
    metadata = {"name": name} | ({"namespace": world.home} if world.home else {})
    for kind, spec in (
        (scope.policy, policy),
        (scope.strategy, {"stages": [{"name": "all", "labelSelector": {}}]}),
        (scope.run, run),
    ):
        await world.hub.create(kind, {"metadata": metadata, "spec": spec})


async def read(world: World) -> Json:
    """Return the run as it is now."""
    return await world.hub.get(world.scope.run, world.unique, namespace=world.home)


async def test_a_list_of_clusters_that_changes_while_the_run_updates_one(world: World) -> None:
    a, b, c, d = [await world.join(each) for each in "abcd"]
    await world.place(world.pick_fixed(a, b, d))
    await world.told("Scheduled", status="True")
    await begin(world)
    await world.bound(a, "RolloutStarted", status="True")

    await world.change(policy=world.pick_fixed(a, c, d))
    run = await eventually(
        lambda: read(world), lambda seen: len(seen["status"]["stagesStatus"][0]["clusters"]) == 4
    )
    clusters = run["status"]["stagesStatus"][0]["clusters"]
    assert [each["clusterName"] for each in clusters] == [a, b, d, c]
    assert says(clusters[1], "Succeeded")[:2] == ("False", "ClusterLeft")

    for member in (a, d, c):
        await world.bound(member, "RolloutStarted", status="True")
        await world.bound(member, "WorkSynchronized", status="True")
        await world.report(member)
    run = await eventually(lambda: read(world), lambda seen: condition_of(seen, "Succeeded"))
    assert condition_of(run, "Succeeded")["message"].startswith(
        "All stages are completed; 1 cluster left, see"
    )
    assert (await world.binding(b))["spec"]["state"] == "Unscheduled"
