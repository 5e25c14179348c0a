"""Section 9: bindings that the scheduler changes or gives up during a run."""

import asyncio

import pytest

from tests.conformance.objects import stage_of
from tests.conformance.pace import LOOKED_TWICE, between_two_looks
from tests.conformance.situations import at_a_gate, goes_through, started
from tests.conformance.texts import E_ABORT, E_UNEXP
from tests.conformance.violations import Change, change_policy
from tests.conformance.vocabulary import Says
from tests.conformance.world import World
from tests.support.conditions import condition_of

pytestmark = pytest.mark.both_scopes


@pytest.mark.parametrize(
    ("change", "left"),
    [
        (lambda world: world.delete(world.scope.binding, world.binding_name("b")), 1),
        (lambda world: world.change_binding("b", state="Unscheduled"), 1),
    ],
    ids=["is gone", "is no longer picked"],
)
async def test_9_losing_the_binding_of_a_cluster_in_flight_fails_the_run_in_validation(
    world: World, change: Change, left: int
) -> None:
    """Validation comes before execution: this is not a preemption, and no stage has failed."""
    run = await at_a_gate(world)
    await run.approve("before")
    await started(run, "b")
    await change(world)
    seen = await run.fails(
        f"{E_ABORT}: the number of clusters in index `0` stage has changed, "
        f"new: {left}, existing: 2",
    )
    assert not condition_of(stage_of(seen, 0), "Succeeded")
    assert not condition_of(run.cluster(seen, "b"), "Succeeded")


async def test_9_a_new_policy_is_reported_before_changed_bindings(world: World) -> None:
    """The scheduler moves the bindings to a new policy while one of them is in flight."""
    run = await at_a_gate(world)
    await run.approve("before")
    await started(run, "a")
    with between_two_looks():
        await change_policy(world)
        for short in "abc":
            await world.change_binding(short, schedulingPolicySnapshotName=f"{world.name}-1")
    await run.fails(
        f"{E_ABORT}: the policy snapshot index used in the updateRun is outdated, "
        "latest: 1, recorded: 0",
    )


async def test_9_a_run_waits_for_a_binding_of_an_old_policy_without_failing(
    world: World,
) -> None:
    run = await at_a_gate(world)
    await world.binding("d", policy=7)
    await run.stays(Says.RUN_WAITING_BEFORE, seconds=LOOKED_TWICE)
    await world.delete(world.scope.binding, world.binding_name("d"))
    await goes_through(run)


async def test_9_a_binding_of_an_old_policy_that_is_given_up_fails_the_run(world: World) -> None:
    run = await at_a_gate(world)
    await world.binding("d", policy=7)
    await run.stays(Says.RUN_WAITING_BEFORE, seconds=LOOKED_TWICE)
    await world.change_binding("d", state="Unscheduled")
    await run.fails(
        f"{E_ABORT}: {E_UNEXP}: the cluster `{world.cluster('d')}` to be deleted is not in the "
        "delete stage",
    )


async def test_9_while_a_binding_belongs_to_an_old_policy_nothing_new_starts(world: World) -> None:
    run = await at_a_gate(world)
    await world.binding("d", policy=7)
    await run.stays(Says.RUN_WAITING_BEFORE, seconds=LOOKED_TWICE)
    await run.approve("before")
    await asyncio.sleep(LOOKED_TWICE)
    await world.untouched("a", "b")
    await world.delete(world.scope.binding, world.binding_name("d"))
    await world.update("a", "b", "c")
    await run.succeeds()
