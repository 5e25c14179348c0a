"""PickN on a real hub: growing, shrinking, replacing (contract: placement 2.2, 4, 6, 7.5)."""

import pytest

from api import names
from api.kinds import MEMBER_CLUSTER
from tests.placement.scheduled import observe, pick_n, picked, refused, states, taint
from tests.placement.world import World
from tests.support.conditions import condition_of
from tests.support.eventually import eventually


async def test_the_number_grows_and_shrinks_within_one_policy_snapshot(world: World) -> None:
    a, b, c = [await world.join(name) for name in ("a", "b", "c")]
    await world.place(pick_n(world, 1))
    policy = await picked(world, c)
    assert policy["metadata"]["annotations"] == {
        names.CRP_GENERATION: "1",
        names.NUMBER_OF_CLUSTERS: "1",
    }
    first = await world.binding(c)

    await world.change(policy={"numberOfClusters": 3})

    grown = await picked(world, a, b, c)
    await world.told("Scheduled", status="True", observedGeneration=2)
    assert grown["metadata"]["name"] == policy["metadata"]["name"]
    assert grown["metadata"]["annotations"] == {
        names.CRP_GENERATION: "2",
        names.NUMBER_OF_CLUSTERS: "3",
    }
    assert condition_of(grown, "Scheduled")["message"].endswith("found 3 cluster(s)")
    assert await world.binding(c) == first, "clusters picked before are left alone"

    await world.change(policy={"numberOfClusters": 2})

    await picked(world, b, c)
    assert await states(world) == {"a": "Unscheduled", "b": "Scheduled", "c": "Scheduled"}
    await refused(world, a, f'Cluster "{a}" does not score high enough')


@pytest.mark.alone("a placement lists only twenty refused clusters, including those of other tests")
async def test_clusters_that_were_dropped_are_not_listed(world: World) -> None:
    a, b = [await world.join(name) for name in ("a", "b")]
    await world.place(pick_n(world, 2))
    await picked(world, a, b)

    for count, left in ((1, [b]), (0, [])):
        await world.change(policy={"numberOfClusters": count})

        await world.told("Scheduled", status="True", observedGeneration=3 - count)
        assert [cluster for cluster, _ in await entries(world)] == left


async def test_shrinking_keeps_clusters_that_have_been_rolled_out(world: World) -> None:
    a, b, c = [await world.join(name) for name in ("a", "b", "c")]
    await world.place(pick_n(world, 3))
    await picked(world, a, b, c)
    await world.snapshot(0)
    await world.roll_out(a)

    await world.change(policy={"numberOfClusters": 1})

    await picked(world, a)
    assert await states(world) == {"a": "Bound", "b": "Unscheduled", "c": "Unscheduled"}

    await world.change(policy={"numberOfClusters": 2})

    await picked(world, a, c)
    assert await states(world) == {"a": "Bound", "b": "Unscheduled", "c": "Scheduled"}
    assert names.PREVIOUS_BINDING_STATE not in (await world.binding(c))["metadata"].get(
        "annotations", {}
    )


async def test_too_few_clusters_are_reported_until_another_joins(world: World) -> None:
    # The situation "unfulfilled PickN" of the reference.
    first = await world.join("a")
    await world.place(pick_n(world, 2))

    said = await world.told("Scheduled", status="False", reason="SchedulingPolicyUnfulfilled")

    assert said["message"] == (
        "could not find all clusters needed as specified by the scheduling policy,"
        " found 1 cluster(s) instead"
    )
    await picked(world, first)

    second = await world.join("b")

    await picked(world, first, second)
    await world.told("Scheduled", status="True", reason="SchedulingPolicyFulfilled")


@pytest.mark.alone("a placement lists only twenty refused clusters, including those of other tests")
async def test_the_placement_says_why_a_cluster_is_missing(world: World) -> None:
    picked, other = await world.join("a"), await world.join("b")
    await taint(world, other, "gpu")
    await world.place(pick_n(world, 2))
    await refused(world, other, "taint &{Key:gpu Value:yes Effect:NoSchedule} cannot be tolerated")

    async def shown() -> bool:
        return await entries(world) == [(picked, "Scheduled"), (None, "ScheduleFailed")]

    await eventually(shown)


async def entries(world: World) -> list[tuple[str | None, str]]:
    """Return the placement's entries: the name and the scheduling reason of each cluster."""
    status = (await world.placement() or {}).get("status", {})
    return [
        (each.get("clusterName"), each["conditions"][0]["reason"])
        for each in status.get("placementStatuses", [])
    ]


async def test_a_member_that_leaves_is_replaced_by_the_next_best(world: World) -> None:
    a, b, c = [await world.join(name) for name in ("a", "b", "c")]
    await world.place(pick_n(world, 2))
    await picked(world, b, c)

    await world.hub.delete(MEMBER_CLUSTER, c)

    await picked(world, a, b)
    assert await states(world) == {"a": "Scheduled", "b": "Scheduled", "c": "Unscheduled"}


async def test_preferences_and_properties_decide_which_clusters_are_picked(world: World) -> None:
    count = "kubernetes-fleet.io/node-count"
    a, b, c = [await world.join(name) for name in ("a", "b", "c")]
    for member, nodes in ((a, "10"), (b, "4"), (c, "2")):
        observed = {"value": nodes, "observationTime": "2026-01-01T00:00:00Z"}
        await observe(world, member, properties={count: observed})
    many = {"name": count, "operator": "Ge", "values": ["3"]}
    policy = pick_n(world, 2)
    affinity = policy["affinity"]["clusterAffinity"]
    (term,) = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["clusterSelectorTerms"]
    term["propertySelector"] = {"matchExpressions": [many]}
    sorter = {"propertySorter": {"name": count, "sortOrder": "Descending"}}
    affinity["preferredDuringSchedulingIgnoredDuringExecution"] = [
        {"weight": 40, "preference": sorter}
    ]

    await world.place(policy)

    snapshot = await picked(world, a, b)
    scores = {
        each["clusterName"]: each.get("clusterScore")
        for each in snapshot["status"]["targetClusters"]
        if each["selected"]
    }
    assert scores == {
        a: {"affinityScore": 40, "priorityScore": 0},
        b: {"affinityScore": 10, "priorityScore": 0},
    }
    assert (await world.binding(b))["spec"]["clusterDecision"]["clusterScore"] == scores[b]
    await refused(
        world, c, "cluster does not match with any of the required cluster affinity terms"
    )


@pytest.mark.alone("a placement lists only twenty refused clusters, including those of other tests")
async def test_clusters_are_spread_over_the_values_of_a_label(world: World) -> None:
    members = [await world.join(name, zone=name[0]) for name in ("a1", "a2", "a3", "b1")]
    constraint = {"topologyKey": "zone", "maxSkew": 1}

    await world.place(pick_n(world, 4, topologySpreadConstraints=[constraint]))

    a1, a2, a3, b1 = members
    await picked(world, b1, a3, a2)
    await refused(
        world, a1, 'violated doNotSchedule topology spread constraint "zone" (max skew 1)'
    )
    await world.told("Scheduled", status="False")
