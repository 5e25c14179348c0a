"""Changes of members cause placements to be scheduled again (contract: placement 4, 11)."""

import asyncio

import pytest

from api.kinds import MEMBER_CLUSTER
from tests.placement.scheduled import observe, picked, refused, states, taint
from tests.placement.world import Json, World
from tests.support.eventually import eventually

NODES = "kubernetes-fleet.io/node-count"
UNATTRACTED = "cluster does not match with any of the required cluster affinity terms"


def property_of(value: str) -> Json:
    return {NODES: {"value": value, "observationTime": "2026-01-01T00:00:00Z"}}


def with_many_nodes(world: World) -> Json:
    """Return a policy that picks all of the test's members with enough nodes."""
    policy = world.pick_all()
    affinity = policy["affinity"]["clusterAffinity"]
    (term,) = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["clusterSelectorTerms"]
    enough = {"name": NODES, "operator": "Ge", "values": ["3"]}
    term["propertySelector"] = {"matchExpressions": [enough]}
    return policy


@pytest.mark.alone("a placement lists only twenty refused clusters, including those of other tests")
async def test_adding_a_label_gets_a_member_picked_and_removing_it_keeps_the_member(
    world: World,
) -> None:
    member = await world.join("a", test="not-yet")
    await world.place()
    await refused(world, member, UNATTRACTED)

    await _label(world, member, world.unique)
    await picked(world, member)
    binding = await world.binding(member)

    await _label(world, member, "no-more")
    # Another member shows that scheduling has run again.
    other = await world.join("b")
    await picked(world, member, other)
    assert await world.binding(member) == binding


@pytest.mark.alone("a placement lists only twenty refused clusters, including those of other tests")
async def test_a_taint_keeps_a_member_out_until_it_is_removed(world: World) -> None:
    member = await world.join("a")
    await taint(world, member, "gpu")
    await world.place()
    await refused(world, member, "taint &{Key:gpu Value:yes Effect:NoSchedule} cannot be tolerated")

    await taint(world, member)
    await picked(world, member)

    await taint(world, member, "gpu", "disk")
    other = await world.join("b")
    await picked(world, member, other)
    assert await states(world) == {"a": "Scheduled", "b": "Scheduled"}


async def test_adding_a_toleration_gets_a_member_picked(world: World) -> None:
    plain, tainted = await world.join("a"), await world.join("b")
    await taint(world, tainted, "gpu")
    await world.place()
    await picked(world, plain)

    tolerations = [{"key": "gpu", "operator": "Exists"}]
    await world.change(policy=world.pick_all() | {"tolerations": tolerations})

    policy = await picked(world, plain, tainted)
    assert policy["metadata"]["name"] == f"{world.name}-1"


async def test_a_property_that_reaches_the_required_value_gets_a_member_picked(
    world: World,
) -> None:
    member = await world.join("a")
    await world.place(with_many_nodes(world))
    await refused(world, member, UNATTRACTED)

    await observe(world, member, properties=property_of("2"))
    await observe(world, member, properties=property_of("3"))

    await picked(world, member)

    await observe(world, member, properties=property_of("1"))
    other = await world.join("b")
    await observe(world, other, properties=property_of("5"))
    await picked(world, member, other)


async def test_a_member_whose_heartbeat_is_back_is_picked(world: World) -> None:
    member = await world.join("a", online=False)
    await world.beat(member, silent=600)
    await world.place()
    await refused(world, member, "no recent heartbeat signals (last received 10.")

    await world.beat(member)

    await picked(world, member)


@pytest.mark.alone("a placement lists only twenty refused clusters, including those of other tests")
async def test_a_member_that_stops_reporting_is_reported_as_not_connected(world: World) -> None:
    member = await world.join("a", online=False)
    await taint(world, member, "gpu")
    await world.beat(member)
    await world.place()
    await refused(world, member, "cannot be tolerated")

    # Eligible for three more seconds; no event will mark their end.
    await world.beat(member, silent=297)

    await refused(world, member, "no recent heartbeat signals")


async def test_a_member_that_stays_unhealthy_is_not_picked_but_one_that_recovers_is(
    world: World,
) -> None:
    sick = await world.join("a", online=False)
    await world.beat(sick, Joined="Unknown")
    await world.place()
    await refused(world, sick, "member agent not joined yet")

    await world.beat(sick, Healthy="False")

    await picked(world, sick)


@pytest.mark.alone("no other test may write")
async def test_heartbeats_alone_cause_no_writes(world: World) -> None:
    await eventually(lambda: _without_strangers(world))
    member, silent = await world.join("a"), await world.join("b", online=False)
    await world.beat(silent, silent=600)
    await world.place()
    await refused(world, silent, "no recent heartbeat signals")
    before = await picked(world, member)

    for seconds in range(700, 705):
        await world.beat(member)
        await world.beat(silent, silent=seconds)
    await world.join("c", online=False)

    changed = await world.becomes(world.scope.policy_snapshot, before, lambda _: True)
    decisions = {each["clusterName"]: each for each in changed["status"]["targetClusters"]}
    assert f"{world.unique}-c" in decisions, "nothing was written before the third member joined"
    for each in before["status"]["targetClusters"]:
        assert decisions[each["clusterName"]] == each


async def test_many_members_that_join_at_once_are_all_picked(world: World) -> None:
    await world.place()
    await world.told("Scheduled", status="True")
    members = await asyncio.gather(*(world.join(f"m{number:02}") for number in range(20)))
    await picked(world, *members)


async def _label(world: World, member: str, value: str) -> None:
    await world.hub.patch(MEMBER_CLUSTER, member, {"metadata": {"labels": {"test": value}}})


async def _without_strangers(world: World) -> bool:
    return not (await world.hub.list(MEMBER_CLUSTER, labels=f"test!={world.unique}")).items
