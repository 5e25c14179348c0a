"""Input that the API server refuses, so that a run never sees it, with the contract's section.

KubeFleet checks for it anyway; here no one could ever see those error messages.
"""

from typing import Any

import pytest

from hub import Invalid
from tests.conformance.objects import APPROVAL, Json, stage, timed_wait
from tests.conformance.runs import Run
from tests.conformance.world import World

STAGE = r"spec\.stages\[0\]"
NO_TIME = "AfterStageTaskType is Approval, waitTime is not allowed"


async def refuse(world: World, text: str, **fields: Any) -> None:
    """Check that a stage is refused, both in a new strategy and in an existing one."""
    await world.strategy(stage())
    changed: Json = {"spec": {"stages": [stage(**fields)]}}
    with pytest.raises(Invalid, match=text):
        await world.strategy(stage(**fields), name=f"{world.name}-new")
    with pytest.raises(Invalid, match=text):
        await world.patch(world.scope.strategy, world.name, changed)


@pytest.mark.parametrize(
    ("tasks", "text"),
    [
        ([APPROVAL, APPROVAL], "Too many: 2: must have at most 1 item"),
        ([timed_wait("1s")], "BeforeStageTaskType cannot be TimedWait"),
        ([{**APPROVAL, "waitTime": "1s"}], NO_TIME),
    ],
    ids=["two tasks", "a wait", "an approval with a time"],
)
async def test_7_5a_impossible_tasks_before_a_stage_are_refused_by_the_api(
    world: World, tasks: list[Json], text: str
) -> None:
    """So 8.2 never sees a timed wait before a stage either."""
    await refuse(world, text, beforeStageTasks=tasks)


@pytest.mark.parametrize(
    ("tasks", "text"),
    [
        ([{"type": "TimedWait"}], "AfterStageTaskType is TimedWait, waitTime is required"),
        ([{**APPROVAL, "waitTime": "1s"}], NO_TIME),
        ([timed_wait("-1s")], rf"{STAGE}\.afterStageTasks\[0\]\.waitTime in body should match"),
    ],
    ids=["a wait without a time", "an approval with a time", "a negative time"],
)
async def test_7_5b_impossible_tasks_after_a_stage_are_refused_by_the_api(
    world: World, tasks: list[Json], text: str
) -> None:
    await refuse(world, text, afterStageTasks=tasks)


@pytest.mark.parametrize("concurrency", ["0", "50", "0%", "101%", "-1%", "x", ""])
async def test_8_3_a_concurrency_that_cannot_be_parsed_is_refused_by_the_api(
    world: World, concurrency: str
) -> None:
    """So section 9 never sees one either."""
    text = rf"{STAGE}\.maxConcurrency in body should match"
    await refuse(world, text, maxConcurrency=concurrency)


@pytest.mark.parametrize("concurrency", [0, -1])
async def test_8_3_a_concurrency_below_one_is_refused_by_the_api(
    world: World, concurrency: int
) -> None:
    await refuse(world, "maxConcurrency must be at least 1", maxConcurrency=concurrency)


async def test_9_a_placement_cannot_change_back_from_the_external_strategy(world: World) -> None:
    """Only a placement that is deleted and recreated can have another strategy type."""
    await world.place("a")
    text = "cannot change rollout strategy type from 'External' to other types"
    changed = {"spec": {"strategy": {"type": "RollingUpdate"}}}
    with pytest.raises(Invalid, match=text):
        await world.patch(world.scope.placement, world.name, changed)


async def test_2_1_an_empty_state_is_refused(world: World) -> None:
    """Section 16: only a missing state is defaulted."""
    with pytest.raises(Invalid, match='supported values: "Initialize", "Run", "Stop"'):
        await Run.create(world, state="")


@pytest.mark.parametrize("state", ["Initialize", "Run", "Stop"])
async def test_2_1_the_same_state_may_be_set_again(world: World, state: str) -> None:
    run = await Run.create(world, state=state)
    seen = await run.set_state(state)
    assert seen["metadata"]["generation"] == 1


async def test_2_1_the_name_of_a_placement_may_have_255_characters(world: World) -> None:
    spec = {"stagedRolloutStrategyName": world.name}
    with pytest.raises(Invalid, match=r"spec\.placementName: Too long"):
        await world.create(
            world.scope.run, world.name, {"spec": spec | {"placementName": "p" * 256}}
        )
    await world.create(world.scope.run, world.name, {"spec": spec | {"placementName": "p" * 255}})
