"""Section 8.5: accepting an approval, also if the acceptance cannot be written."""

import pytest

from hub import Invalid
from tests.conformance.admission import acceptance_refused
from tests.conformance.objects import APPROVAL, stage, stage_of
from tests.conformance.pace import QUIET
from tests.conformance.runs import Run
from tests.conformance.situations import asks, lost_and_asked_again
from tests.conformance.vocabulary import Says
from tests.conformance.world import World
from tests.support.conditions import condition, condition_of


async def test_8_5_an_acceptance_that_cannot_be_written_is_retried(world: World) -> None:
    run = await asks(world)
    request = run.request("before")
    async with acceptance_refused(world, request):
        await world.approve(request)
        await run.stays(Says.RUN_WAITING_BEFORE, seconds=2 * QUIET)
        await world.untouched("a")
        assert not condition_of(await world.asked(request), "ApprovalAccepted")
    await world.handed_out("a")
    assert condition_of(await world.asked(request), "ApprovalAccepted")


async def test_8_5_a_request_deleted_while_its_acceptance_cannot_be_written_is_recreated(
    world: World,
) -> None:
    """The approval is deleted with it, and has to be given again."""
    run = await asks(world)
    request = run.request("before")
    async with acceptance_refused(world, request):
        await world.approve(request)
        await run.stays(Says.RUN_WAITING_BEFORE, seconds=QUIET)
        await lost_and_asked_again(world, request)
    await run.stays(Says.RUN_WAITING_BEFORE, seconds=QUIET)
    await world.untouched("a")
    await world.approve(request)
    await world.handed_out("a")


async def test_8_5_an_approval_withdrawn_while_its_acceptance_cannot_be_written_does_not_count(
    world: World,
) -> None:
    run = await asks(world)
    request = run.request("before")
    async with acceptance_refused(world, request):
        await world.approve(request)
        await run.stays(Says.RUN_WAITING_BEFORE, seconds=QUIET)
        await world.approve(request, status="False")
    await run.stays(Says.RUN_WAITING_BEFORE, seconds=QUIET)
    await world.untouched("a")
    await world.approve(request)
    await world.handed_out("a")


async def test_8_5_an_earlier_acceptance_counts_without_an_approval(world: World) -> None:
    await world.place("a")
    await world.strategy(stage(beforeStageTasks=[APPROVAL]))
    # A request older than the run would belong to another run of the same name.
    run = await Run.create(world, state="Initialize")
    request = run.request("before")
    await world.hand.ask(request, run=run.name, stage="one")
    accepted = condition("ApprovalAccepted", "True", 1)
    await world.patch_status(world.scope.approval, request, {"conditions": [accepted]})
    await run.set_state("Run")
    seen = await run.stage_comes_to(Says.STAGE_STARTED)
    run.shows(seen, Says.TASK_APPROVED, part=stage_of(seen, 0)["beforeStageTaskStatus"][0])
    await world.delete(world.scope.approval, request)


@pytest.mark.parametrize(
    ("field", "text"),
    [("lastTransitionTime", "lastTransitionTime: Required"), ("reason", "reason: Required")],
)
async def test_4_an_approval_without_all_its_fields_is_refused(
    world: World, field: str, text: str
) -> None:
    """Section 15, row 13: the patch shown in older user documentation."""
    run = await asks(world)
    approved = condition("Approved", "True", 1)
    del approved[field]
    with pytest.raises(Invalid, match=text):
        await world.patch_status(
            world.scope.approval, run.request("before"), {"conditions": [approved]}
        )
