"""How many content snapshots are kept (contract: placement 5, 12; decision record 0011)."""

import pytest

from api import names
from tests.placement.world import World, over
from tests.support.eventually import eventually


async def test_only_the_newest_snapshots_are_kept(world: World) -> None:
    await world.place(revisionHistoryLimit=2)
    await world.snapshot(0)

    for number in range(2, 5):
        await world.content(f"value{number}")
        await world.snapshot(number - 1)

    assert await _indexes(world) == ["2", "3"]


async def test_a_snapshot_in_use_on_a_cluster_is_kept(world: World) -> None:
    member = await world.join("a")
    await world.place(revisionHistoryLimit=2)
    await world.snapshot(0)
    await world.roll_out(member)

    for number in range(2, 5):
        await world.content(f"value{number}")
        await world.snapshot(number - 1)

    assert await _indexes(world) == ["0", "2", "3"]

    await world.roll_out(member, 3)
    await world.content("value5")
    await world.snapshot(4)
    assert await _indexes(world) == ["3", "4"]


@pytest.mark.parametrize("used", [False, True])
async def test_a_snapshot_that_a_run_needs_is_kept(world: World, used: bool) -> None:
    await world.place(revisionHistoryLimit=1)
    await world.snapshot(0)
    run = await world.start_run("" if used else "0")
    if used:
        await world.tell_run(run, resourceSnapshotIndexUsed="0")

    await world.content("value2")
    await world.snapshot(1)
    assert await _indexes(world) == ["0", "1"]

    await world.tell_run(run, conditions=[over("False")])
    await world.content("value3")
    await world.snapshot(2)
    assert await _indexes(world) == ["2"]


async def test_a_snapshot_is_deleted_when_its_last_cluster_moves_on(world: World) -> None:
    first, second = await world.join("a"), await world.join("b")
    await world.place(revisionHistoryLimit=1)
    await world.snapshot(0)
    await world.roll_out(first)
    await world.roll_out(second)
    await world.content("value2")
    await world.snapshot(1)

    await world.roll_out(first, 1)
    assert await _indexes(world) == ["0", "1"]
    await world.roll_out(second, 1)

    await eventually(lambda: _indexes(world), lambda found: found == ["1"])


async def test_snapshots_are_deleted_when_the_last_run_that_needs_them_ends(world: World) -> None:
    await world.place(revisionHistoryLimit=1)
    await world.snapshot(0)
    await world.told("Scheduled", status="True")
    ended, deleted = await world.start_run("0"), await world.start_run("0", name="other")
    await world.tell_run(ended, policySnapshotIndexUsed="0")
    await world.content("value2")
    await world.snapshot(1)
    await world.change(policy=world.pick_all() | {"tolerations": [{"operator": "Exists"}]})
    await world.told("Scheduled", status="True", observedGeneration=2)
    # The stages in the status of an active run change.
    stage = {"stageName": "s", "clusters": [], "conditions": []}
    await world.tell_run(ended, stagesStatus=[stage])
    assert (await _indexes(world), await _policies(world)) == (["0", "1"], ["0", "1"])

    await world.tell_run(ended, conditions=[over("True")])
    await eventually(lambda: _policies(world), lambda found: found == ["1"])
    assert await _indexes(world) == ["0", "1"]
    await world.hub.delete(world.scope.run, deleted, namespace=world.home)

    await eventually(lambda: _indexes(world), lambda found: found == ["1"])


async def test_a_smaller_limit_takes_effect_at_once(world: World) -> None:
    await world.place()
    await world.snapshot(0)
    await world.content("value2")
    await world.snapshot(1)

    await world.change(revisionHistoryLimit=1)

    await eventually(lambda: _indexes(world), lambda found: found == ["1"])


async def _policies(world: World) -> list[str]:
    found = await world.policies()
    return sorted(each["metadata"]["labels"][names.POLICY_INDEX] for each in found)


async def _indexes(world: World) -> list[str]:
    return [each["metadata"]["labels"][names.RESOURCE_INDEX] for each in await world.snapshots()]
