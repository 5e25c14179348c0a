"""Placements without a strategy are rolled out by rolling update (contract: placement 2.3, 7)."""

from functools import partial
from typing import Any

from tests.placement.overriding import Overrides, add
from tests.placement.world import World
from tests.support.conditions import condition_of
from tests.support.eventually import eventually

Json = dict[str, Any]
ROLLING: Json = {"type": "RollingUpdate"}
STARTED = "Detected the new changes on the resources and started the rollout process"


async def served(world: World, *members: str, index: int) -> None:
    """Wait until members have a snapshot, and report that it is available."""
    for member in members:
        await eventually(partial(has, world, member, index))
        await world.report(member)
        await world.bound(member, "Available", status="True")


async def has(world: World, member: str, index: int) -> bool:
    """Return whether the member's Work holds this snapshot."""
    work = await world.work(member)
    labels = work["metadata"]["labels"] if work else {}
    return bool(labels.get("kubernetes-fleet.io/parent-resource-snapshot-index") == str(index))


async def status(world: World) -> Json:
    body = await world.placement()
    assert body is not None
    return dict(body["status"])


async def test_a_new_placement_reaches_all_its_clusters(world: World) -> None:
    members = [await world.join(name) for name in ("a", "b", "c")]
    await world.place(strategy={})
    await served(world, *members, index=0)

    await world.told("Available", status="True", reason="ResourceAvailable")
    said = await status(world)
    assert said["observedResourceIndex"] == "0"
    assert [(each["status"], each["reason"]) for each in said["conditions"]] == [
        ("True", "SchedulingPolicyFulfilled"),
        ("True", "RolloutStarted"),
        ("True", "NoOverrideSpecified"),
        ("True", "WorkSynchronized"),
        ("True", "ApplySucceeded"),
        ("True", "ResourceAvailable"),
    ]
    for cluster in said["placementStatuses"]:
        assert cluster["observedResourceIndex"] == "0"
        assert cluster["conditions"][1]["message"] == STARTED


async def test_a_change_is_rolled_out_one_cluster_at_a_time(world: World) -> None:
    members = [await world.join(name) for name in ("a", "b", "c")]
    await world.place(strategy=ROLLING)
    await served(world, *members, index=0)
    await world.told("Available", status="True")

    await world.content("value2")
    await world.told("RolloutStarted", status="False", reason="RolloutNotStartedYet")
    first = await eventually(lambda: _with(world, members, 1))
    assert len(first) == 1
    blocked = await world.told(
        "RolloutStarted",
        status="False",
        message="The rollout is being blocked by the rollout strategy in 2 cluster(s)",
    )
    assert blocked["reason"] == "RolloutNotStartedYet"
    said = (await status(world))["placementStatuses"]
    assert [each["observedResourceIndex"] for each in said] == ["1", "1", "1"]

    for done in (1, 2, 3):
        newest = await eventually(partial(_just, world, members, done))
        for member in newest:
            await world.report(member)
            await world.bound(member, "Available", status="True")
    await world.told("Available", status="True")
    assert (await status(world))["observedResourceIndex"] == "1"


async def _with(world: World, members: list[str], index: int) -> list[str]:
    return [each for each in members if await has(world, each, index)]


async def _just(world: World, members: list[str], count: int) -> list[str]:
    found = await _with(world, members, 1)
    assert len(found) <= count, "more clusters are unavailable than allowed"
    return found if len(found) == count else []


async def test_a_cluster_that_joins_gets_the_latest_snapshot(world: World) -> None:
    first = await world.join("a")
    await world.place(strategy=ROLLING)
    await served(world, first, index=0)
    second = await world.join("b")
    await served(world, second, index=0)
    await world.told("Available", status="True")


async def test_a_cluster_no_longer_picked_loses_the_content(world: World) -> None:
    first, second = [await world.join(name) for name in ("a", "b")]
    await world.place(world.pick_fixed(first, second), strategy=ROLLING)
    await served(world, first, second, index=0)

    await world.change(policy=world.pick_fixed(first))

    await eventually(lambda: _gone(world, second))
    await world.told("Available", status="True")
    assert await world.work(first) is not None


async def _gone(world: World, member: str) -> bool:
    return await world.work(member) is None


async def test_overrides_and_their_changes_are_applied(world: World) -> None:
    member = await world.join("a")
    overrides = Overrides(world)
    await world.place(strategy=ROLLING)
    await served(world, member, index=0)
    await overrides.write_namespaced(add("/data/key", "overridden"), latest=True)

    await eventually(lambda: _value(world, member, "overridden"))
    await world.report(member)
    await world.told("Overridden", status="True", reason="OverriddenSucceeded")


async def _value(world: World, member: str, value: str) -> bool:
    work = await world.work(member)
    manifests = work["spec"]["workload"]["manifests"] if work else []
    return any(each.get("data") == {"key": value} for each in manifests)


async def test_becoming_external_keeps_what_is_placed(world: World) -> None:
    members = [await world.join(name) for name in ("a", "b")]
    await world.place(strategy=ROLLING)
    await served(world, *members, index=0)
    await world.told("Available", status="True")
    before = {each["metadata"]["name"]: each["spec"] for each in await world.bindings()}

    placement = await world.change(strategy={"type": "External", "rollingUpdate": None})
    generation = placement["metadata"]["generation"]
    await world.content("value2")
    await world.snapshot(1)

    await world.told("Available", status="True", observedGeneration=generation)
    after = {each["metadata"]["name"]: each["spec"] for each in await world.bindings()}
    assert after == before
    assert (await status(world))["observedResourceIndex"] == "0"


async def test_a_run_takes_over_where_the_rolling_update_ended(world: World) -> None:
    member = await world.join("a")
    await world.place(strategy=ROLLING)
    await served(world, member, index=0)
    await world.change(strategy={"type": "External", "rollingUpdate": None})
    await world.content("value2")
    await world.snapshot(1)

    await world.roll_out(member, 1)
    await served(world, member, index=1)

    binding = await world.binding(member)
    assert condition_of(binding, "RolloutStarted")["message"].endswith("updateRun: run")
    await world.told("Available", status="True")
