"""Sections 2 and 3, a sample of what the API server refuses; tests/api covers all of it."""

import pytest

from hub import Invalid, Json
from tests.conformance.objects import APPROVAL, stage, timed_wait
from tests.conformance.runs import Run
from tests.conformance.world import World


async def test_2_a_name_longer_than_63_characters_is_refused(world: World) -> None:
    with pytest.raises(Invalid, match=r"metadata\.name max length is 63"):
        await Run.create(world, suffix="r" * 63)


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ({"name": "Upper"}, "in body should match"),
        ({"name": "s" * 64}, "Too long"),
        ({"afterStageTasks": [APPROVAL] * 3}, "Too many: 3: must have at most 2 items"),
        (
            {"afterStageTasks": [{**APPROVAL, "waitTime": "1s"}]},
            "AfterStageTaskType is Approval, waitTime is not allowed",
        ),
        (
            {"afterStageTasks": [timed_wait("1d")]},
            r"spec.stages\[0\].afterStageTasks\[0\].waitTime in body should match",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
async def test_3_an_impossible_stage_is_refused(world: World, field: Json, text: str) -> None:
    with pytest.raises(Invalid, match=text):
        await world.strategy(stage() | field)


async def test_3_more_than_31_stages_are_refused(world: World) -> None:
    with pytest.raises(Invalid, match=r"spec\.stages: Too many: 32: must have at most 31 items"):
        await world.strategy(*(stage(f"s{index}") for index in range(32)))


async def test_decision_2_a_stage_name_may_have_hyphens(world: World) -> None:
    await world.strategy(stage("dev-clusters"))


async def test_decision_2_two_stages_with_the_same_name_are_refused(world: World) -> None:
    with pytest.raises(Invalid, match="name"):
        await world.strategy(stage("one"), stage("two"), stage("one"))
