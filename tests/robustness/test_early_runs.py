"""Runs that are created together with their placement, before it has been scheduled."""

import pytest

from tests.robustness.rollouts import Rollout, in_time
from tests.support.conditions import condition, says
from tests.support.hand_placement import HandPlacement

pytestmark = pytest.mark.usefixtures("one_engine")


async def test_a_run_waits_until_its_placement_has_been_scheduled(rollout: Rollout) -> None:
    await _prepare_unscheduled(rollout)
    await _has_scheduler(rollout)
    await rollout.placement.create_run(rollout.name, rollout.name, index="0")
    await in_time(rollout.told, lambda told: told == ["PlacementAwaited"])
    await rollout.placement.policy(0, scheduled="")
    await rollout.placement.say_scheduled(0, "True")
    await rollout.update("one")
    await rollout.finish()
    assert (await rollout.told())[:2] == ["PlacementAwaited", "Initialized"]


@pytest.mark.long("it waits as long as a run does")
async def test_a_placement_that_is_never_scheduled_fails_the_run(rollout: Rollout) -> None:
    await _prepare_unscheduled(rollout)
    await _has_scheduler(rollout)
    await rollout.placement.create_run(rollout.name, rollout.name, index="0")
    run = await rollout.reaches("UpdateRunInitializedFailed", kind="Initialized")
    assert "no latest policy snapshot found for placement" in says(run, "Initialized")[2]


async def _has_scheduler(rollout: Rollout) -> None:
    """Create another, scheduled placement, to show that a scheduler is running."""
    known = rollout.placement
    other = HandPlacement(known.hub, known.scope, f"{known.name}-other", namespace=known.namespace)
    await other.place()
    kind = known.scope.placement.kind
    said = {"conditions": [condition(f"{kind}Scheduled", "True", 1)]}
    await other.say(known.scope.placement, other.name, said)


async def _prepare_unscheduled(rollout: Rollout) -> None:
    await rollout.prepare()
    placement = rollout.placement
    await placement.hub.delete(
        placement.scope.policy_snapshot, f"{placement.name}-0", namespace=placement.namespace
    )
