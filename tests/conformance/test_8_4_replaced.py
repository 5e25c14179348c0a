"""Section 8.4, steps 4 and 6: bindings that the scheduler replaces."""

from tests.conformance.pace import between_two_looks
from tests.conformance.runs import Run
from tests.conformance.situations import at_a_gate, in_flight
from tests.conformance.vocabulary import Says
from tests.conformance.world import World
from tests.support.conditions import condition_of


async def replace(world: World, short: str) -> str:
    """Replace a cluster's binding, and return the short name of the new one."""
    again = f"{short}-again"
    with between_two_looks():
        await world.delete(world.scope.binding, world.binding_name(short))
        await world.binding(again, cluster=short)
    return again


async def test_8_4_a_cluster_is_updated_through_its_current_binding(world: World) -> None:
    run = await at_a_gate(world)
    again = await replace(world, "c")
    await run.approve("before")
    await world.update("a", "b", again)
    seen = await run.succeeds()
    run.shows(seen, Says.CLUSTER_SUCCEEDED, part=run.cluster(seen, "c", 1))
    announced = condition_of(await world.read_binding(again), "RolloutStarted")
    assert announced["message"].endswith(f"updateRun: {run.name}")


async def test_8_4_a_binding_replaced_while_another_cluster_is_in_flight_is_used_too(
    world: World,
) -> None:
    run = await in_flight(world)
    again = await replace(world, "b")
    await world.update("a", again)
    await run.succeeds()


async def test_8_4_a_binding_replaced_while_stopped_is_used_after_the_resume(
    world: World,
) -> None:
    run = await in_flight(world)
    await run.set_state("Stop")
    await run.comes_to(Says.RUN_STOPPING)
    await world.report("a")
    await run.comes_to(Says.RUN_STOPPED)
    again = await replace(world, "b")
    await run.set_state("Run")
    await world.update(again)
    await run.succeeds()


async def test_8_4_a_binding_replaced_in_flight_preempts_the_cluster(
    world: World,
) -> None:
    """Step 6: the new binding does not have the content that the run has written."""
    run = await in_flight(world)
    again = await replace(world, "a")
    await run.is_preempted(binding=again)
    await world.untouched(again, "b")


async def test_8_4_a_binding_recreated_under_its_name_in_flight_preempts_the_cluster_too(
    world: World,
) -> None:
    run: Run = await in_flight(world)
    with between_two_looks():
        await world.delete(world.scope.binding, world.binding_name("a"))
        await world.binding("a")
    await run.is_preempted()
    await world.untouched("a", "b")
