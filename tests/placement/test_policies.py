"""Policy snapshots are created and pruned, except those that runs need (contract: placement 4)."""

import pytest

from api.kinds import EVENT
from tests.placement.scheduled import latest_policy, picked, taint
from tests.placement.world import World, over
from tests.support.eventually import eventually


async def change_policy(world: World, key: str) -> None:
    """Make the placement tolerate one more taint."""
    placement = await world.placement()
    assert placement is not None
    policy = placement["spec"]["policy"]
    more = {"key": key, "operator": "Exists"}
    await world.change(policy={"tolerations": [*policy.get("tolerations", []), more]})


async def indexes(world: World) -> list[str]:
    found = await world.policies()
    return sorted(each["metadata"]["name"].removeprefix(f"{world.name}-") for each in found)


async def settled(world: World, *wanted: str) -> None:
    async def look() -> bool:
        return await indexes(world) == list(wanted)

    await eventually(look)


async def plan_run(world: World, *, index: str) -> str:
    """Create a run that was planned from a policy snapshot; return its name."""
    run = await world.start_run("", name=f"run-{index}")
    await world.tell_run(run, policySnapshotIndexUsed=index)
    return run


@pytest.fixture
async def placed(world: World) -> World:
    """Create a placement that keeps two snapshots."""
    await world.join("a")
    await world.place(revisionHistoryLimit=2)
    await world.told("Scheduled", status="True")
    return world


async def test_only_the_newest_policy_snapshots_are_kept(placed: World) -> None:
    await change_policy(placed, "first")
    await settled(placed, "0", "1")
    await change_policy(placed, "second")
    await settled(placed, "1", "2")
    await change_policy(placed, "third")
    await settled(placed, "2", "3")


async def test_the_policy_snapshot_of_an_active_run_is_kept_until_the_run_ends(
    placed: World,
) -> None:
    await plan_run(placed, index="0")
    ended = await plan_run(placed, index="1")
    await placed.tell_run(ended, conditions=[over("True")])
    await change_policy(placed, "first")
    await settled(placed, "0", "1")
    await change_policy(placed, "second")
    await settled(placed, "0", "1", "2")

    await change_policy(placed, "third")

    await settled(placed, "0", "2", "3")


async def test_a_policy_snapshot_deleted_by_hand_is_created_again(placed: World) -> None:
    (before,) = await placed.policies()
    name = before["metadata"]["name"]
    await placed.hub.delete(placed.scope.policy_snapshot, name, namespace=placed.home)

    async def is_back() -> bool:
        found = await placed.policies()
        return bool(found and found[0]["metadata"]["uid"] != before["metadata"]["uid"])

    await eventually(is_back)
    await eventually(lambda: _is_decided(placed))


async def warned(world: World) -> str:
    """Wait for the event that says what is wrong with the policy; return its message."""
    fields = f"involvedObject.name={world.name},reason=InvalidPolicy"

    async def look() -> str | None:
        found = (await world.hub.list(EVENT, fields=fields)).items
        return found[0]["message"] if found else None

    return await eventually(look)


async def test_an_invalid_policy_places_nothing_until_it_is_fixed(
    world: World,
) -> None:
    member = await world.join("a")
    policy = world.pick_all()
    preferred = [{"weight": 1, "preference": {}}]
    affinity = policy["affinity"]["clusterAffinity"]
    await world.place(
        policy
        | {
            "affinity": {
                "clusterAffinity": affinity
                | {"preferredDuringSchedulingIgnoredDuringExecution": preferred}
            }
        }
    )

    assert await warned(world) == (
        "ignored: spec.policy.affinity.clusterAffinity."
        "preferredDuringSchedulingIgnoredDuringExecution:"
        " PreferredDuringSchedulingIgnoredDuringExecution will be ignored"
        " for placement policy type PickAll. Fix it; until then nothing is placed"
    )
    await world.told("Scheduled", status="Unknown", reason="SchedulePending")
    assert (await world.policies(), await world.bindings()) == ([], [])

    await world.change(
        policy={"affinity": {"clusterAffinity": {
            "preferredDuringSchedulingIgnoredDuringExecution": None
        }}}
    )  # fmt: skip

    await picked(world, member)
    await world.told("Scheduled", status="True")


async def test_while_a_policy_is_invalid_the_last_valid_one_stays_in_force(world: World) -> None:
    tainted = await world.join("a")
    await taint(world, tainted, "gpu")
    tolerations = [{"key": "gpu", "operator": "Exists"}]
    await world.place(world.pick_all() | {"tolerations": tolerations})
    await picked(world, tainted)

    await world.change(policy={"tolerations": None})

    assert await warned(world) == (
        "ignored: spec.policy.tolerations: tolerations have been updated/deleted,"
        " only additions to tolerations are allowed."
        f" Fix it; until then {world.name}-0 stays in force"
    )
    await world.told("Scheduled", status="Unknown", reason="SchedulePending")
    also_tainted = await world.join("b")
    await taint(world, also_tainted, "gpu")
    await picked(world, tainted, also_tainted)
    assert await indexes(world) == ["0"]

    await world.change(policy={"tolerations": tolerations})

    await world.told("Scheduled", status="True", observedGeneration=3)
    assert await indexes(world) == ["0"]


async def _is_decided(world: World) -> bool:
    latest = await latest_policy(world)
    return bool(latest and latest.get("status", {}).get("targetClusters"))
