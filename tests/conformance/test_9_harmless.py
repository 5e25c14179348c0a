"""Section 9: changes that do not affect a run."""

import pytest

from tests.conformance.objects import cluster_names, stage
from tests.conformance.situations import at_a_gate, goes_through
from tests.conformance.violations import Change, label
from tests.conformance.world import World
from tests.support.hand_placement import LATEST


async def edit_strategy(world: World) -> None:
    patch = {"spec": {"stages": [stage("other")]}}
    await world.patch(world.scope.strategy, world.name, patch)


async def new_version(world: World) -> None:
    await world.relabel(
        world.scope.resource_snapshot, world.hand.snapshot_name(0), {LATEST: "false"}
    )
    await world.hand.snapshot(1)


async def join_elsewhere(world: World) -> None:
    await world.member("d", {"stage": "one", "order": "0"})


@pytest.mark.parametrize(
    "change",
    [
        edit_strategy,
        lambda world: world.delete(world.scope.strategy, world.name),
        new_version,
        label("a", purpose="other"),
        label("b", order="5"),
        join_elsewhere,
    ],
    ids=[
        "the strategy is edited",
        "the strategy is deleted",
        "there is a new snapshot",
        "an unrelated label",
        "another value with the same order",
        "a cluster that is not picked",
    ],
)
async def test_9_a_change_without_effect_on_the_plan_does_not_fail_the_run(
    world: World, change: Change
) -> None:
    run = await at_a_gate(world)
    await change(world)
    seen = await goes_through(run)
    assert cluster_names(seen, 0) == world.clusters("ab")
