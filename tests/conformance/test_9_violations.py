"""Section 9: changes after which an active run cannot continue.

The runs wait at a gate, so that only the change itself can make an engine check (contract decision
8); each has to end within three seconds of the change.
"""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from tests.conformance.objects import stage, stage_of, timed_wait
from tests.conformance.pace import BETWEEN_TWO_STEPS, LOOKED_TWICE, between_two_looks
from tests.conformance.runs import Run
from tests.conformance.situations import at_a_gate, goes_through, in_flight, removing, started
from tests.conformance.texts import E_USER, E_VALID, unplaced
from tests.conformance.violations import APPLIED_OTHERWISE, PASSING, VIOLATIONS, Violation
from tests.conformance.vocabulary import Says
from tests.conformance.world import World
from tests.support.conditions import condition_of


@pytest.mark.parametrize("violation", VIOLATIONS, ids=str)
async def test_9_a_violation_fails_the_run_even_at_a_gate(
    world: World, violation: Violation
) -> None:
    """Within three seconds; stages and clusters stay as they were (contract decision 8)."""
    run = await at_a_gate(world, policy=violation.policy)
    before = await run.read()
    await violation.change(world)
    after = await run.fails(violation.text(world))
    assert after["status"]["stagesStatus"] == before["status"]["stagesStatus"]
    await world.untouched(*await remaining(world, "abc"))


async def test_9_a_changed_apply_strategy_fails_the_run(world: World) -> None:
    run = await at_a_gate(world)
    await APPLIED_OTHERWISE.change(world)
    seen = await run.until(lambda found: found and condition_of(found, "Succeeded"))
    message = condition_of(seen, "Succeeded")["message"]
    assert message.startswith(APPLIED_OTHERWISE.text(world))
    assert ", recorded: " in message
    run.shows(seen, Says.RUN_FAILED, error=message)
    run.shows(seen, Says.RUN_ABORTED)


@pytest.mark.parametrize("violation", PASSING, ids=str)
async def test_decision_8_a_temporary_violation_does_not_count(
    world: World, violation: Violation
) -> None:
    run = await at_a_gate(world, policy=violation.policy)
    with between_two_looks():
        await violation.change(world)
        await asyncio.sleep(BETWEEN_TWO_STEPS)
        assert violation.undo
        await violation.undo(world)
    await goes_through(run)


@pytest.mark.parametrize(
    "violation",
    [
        each
        for each in VIOLATIONS
        if "placement is deleted" in each.name or "loses its" in each.name
    ],
    ids=str,
)
async def test_9_a_violation_fails_a_run_with_clusters_in_flight(
    world: World, violation: Violation
) -> None:
    run = await at_a_gate(world, policy=violation.policy)
    await run.approve("before")
    await started(run, "a", "b")
    await violation.change(world)
    seen = await run.fails(violation.text(world))
    run.shows(seen, Says.STAGE_STARTED, part=stage_of(seen, 0))
    assert not condition_of(run.cluster(seen, "a"), "Succeeded")
    await world.untouched("c")


async def waiting_after_a_stage(world: World) -> Run:
    run = await in_flight(world, "a", afterStageTasks=[timed_wait("1h")])
    await world.report("a")
    await run.comes_to(Says.RUN_WAITING_AFTER, stage="one")
    return run


async def stuck(world: World) -> Run:
    run = await in_flight(world, "a")
    await run.comes_to(Says.RUN_STUCK, stage="one", clusters=world.cluster("a"))
    return run


async def deleting(world: World) -> Run:
    return await removing(world, "x")


@pytest.mark.parametrize(
    "moment", [waiting_after_a_stage, stuck, deleting], ids=lambda moment: moment.__name__
)
async def test_9_a_violation_fails_the_run_at_other_moments_too(
    world: World, moment: Callable[[World], Awaitable[Run]]
) -> None:
    run = await moment(world)
    before = (await run.read())["status"]
    await world.delete(world.scope.placement, world.name)
    after = await run.fails(f"{E_VALID}: {E_USER}: parent placement not found")
    for part in ("stagesStatus", "deletionStageStatus"):
        assert after["status"][part] == before[part]


# -- when the engine checks ----------------------------------------------------------------


async def test_9_an_initialized_run_is_not_checked_before_it_starts(world: World) -> None:
    await world.place("a")
    await world.strategy(stage())
    run = await Run.create(world, state="Initialize")
    await run.comes_to(Says.RUN_INITIALIZED)
    await world.label("a", {"stage": "other"})
    await run.stays(Says.RUN_INITIALIZED, seconds=LOOKED_TWICE)
    await run.set_state("Run")
    await run.fails(unplaced(world.cluster("a")))
    await world.untouched("a")


async def test_decision_8_a_stopped_run_is_not_checked_before_it_resumes(world: World) -> None:
    run = await in_flight(world)
    await run.set_state("Stop")
    await run.comes_to(Says.RUN_STOPPING)
    await world.report("a")
    await run.comes_to(Says.RUN_STOPPED)
    await world.label("b", {"stage": "other"})
    await run.stays(Says.RUN_STOPPED, seconds=LOOKED_TWICE)
    await run.set_state("Run")
    await run.fails(unplaced(world.cluster("b")))
    await world.untouched("b")


async def test_decision_8_a_violation_that_is_fixed_while_stopped_does_not_count(
    world: World,
) -> None:
    await world.place("ab")
    await world.strategy(stage())
    run = await Run.create(world, state="Stop")
    await run.comes_to(Says.RUN_STOPPED)
    await world.label("b", {"stage": "other"})
    await asyncio.sleep(BETWEEN_TWO_STEPS)
    await world.label("b", {"stage": "one"})
    await run.set_state("Run")
    await world.update("a", "b")
    await run.succeeds()


async def remaining(world: World, shorts: str) -> list[str]:
    """The clusters whose bindings still exist."""
    return [
        short
        for short in shorts
        if await world.find(world.scope.binding, world.binding_name(short))
    ]
