"""Sections 4 and 8.5: approval requests, sentence by sentence."""

import pytest

from api.kinds import EVENT
from hub import Invalid, Json
from tests.conformance.objects import APPROVAL, stage, stage_of, timed_wait
from tests.conformance.pace import QUIET
from tests.conformance.runs import Run
from tests.conformance.situations import asks, lost_and_asked_again
from tests.conformance.texts import E_ABORT, E_UNEXP
from tests.conformance.vocabulary import Says
from tests.conformance.world import World
from tests.support.conditions import condition_of
from tests.support.eventually import eventually

pytestmark = pytest.mark.both_scopes

# -- the object (section 4) ----------------------------------------------------------------


@pytest.mark.parametrize("side", ["before", "after"])
async def test_4_the_request_says_what_to_approve(world: World, side: str) -> None:
    run = await asks(world, side)
    request = await world.asked(f"{run.name}-{side}-one")
    assert request["spec"] == {"parentStageRollout": run.name, "targetStage": "one"}
    assert request["metadata"]["labels"] == {
        "kubernetes-fleet.io/targetUpdatingStage": "one",
        "kubernetes-fleet.io/targetUpdateRun": run.name,
        "kubernetes-fleet.io/taskType": f"{side}Stage",
        "kubernetes-fleet.io/isLatestUpdateRunApproval": "true",
    }
    assert "ownerReferences" not in request["metadata"]
    assert request["metadata"].get("namespace", "") == world.namespace


async def test_4_the_request_is_immutable(world: World) -> None:
    run = await asks(world)
    with pytest.raises(Invalid, match="The spec field is immutable"):
        await world.patch(
            world.scope.approval, run.request("before"), {"spec": {"targetStage": "two"}}
        )


@pytest.mark.parametrize("generation", [None, 0, 2, 7])
async def test_4_an_approval_for_another_generation_does_not_count(
    world: World, generation: int | None
) -> None:
    run = await asks(world)
    request = run.request("before")
    await world.approve(request, generation=generation)
    await run.stays(Says.RUN_WAITING_BEFORE, seconds=QUIET)
    assert not condition_of(await world.asked(request), "ApprovalAccepted")
    await world.untouched("a")
    await world.approve(request)
    await world.handed_out("a")


async def test_4_an_approval_with_status_false_does_not_count(world: World) -> None:
    run = await asks(world)
    await world.approve(run.request("before"), status="False")
    await run.stays(Says.RUN_WAITING_BEFORE, seconds=QUIET)
    await world.untouched("a")


async def test_decision_3_the_longest_names_of_run_and_stage_fit_into_the_name_of_a_request(
    world: World,
) -> None:
    """Each has at most 63 characters, so the name of a request is never too long."""
    long_stage = "s" * 63
    await world.place("a")
    await world.strategy(
        stage(
            long_stage, labelSelector={"matchLabels": {"stage": "one"}}, beforeStageTasks=[APPROVAL]
        )
    )
    suffix = "r" * (63 - len(world.name) - 1)
    run = await Run.create(world, suffix=suffix)
    request = await world.asked(f"{run.name}-before-{long_stage}")
    assert len(run.name) == 63
    assert request["spec"]["targetStage"] == long_stage
    await world.approve(request["metadata"]["name"])
    await world.handed_out("a")


async def test_decision_12_an_approval_that_does_not_count_is_explained(world: World) -> None:
    run = await asks(world)
    request = run.request("before")
    await world.approve(request, generation=7)
    where = world.namespace or "default"
    fields = f"involvedObject.name={request},involvedObject.kind={world.scope.approval.kind}"
    listing = await eventually(
        lambda: world.hub.list(EVENT, namespace=where, fields=fields), lambda seen: seen.items
    )
    event = listing.items[0]
    assert event["type"] == "Warning"
    assert "kubectl" in event["message"]


# -- the gate (section 8.5) ----------------------------------------------------------------


@pytest.mark.parametrize("side", ["before", "after"])
async def test_8_5_an_approval_is_requested_given_and_accepted(world: World, side: str) -> None:
    run = await asks(world, side)
    request = run.request(side)

    def task(seen: Json) -> Json:
        found: Json = stage_of(seen, 0)[f"{side}StageTaskStatus"][0]
        return found

    seen = await run.until(
        lambda found: found and condition_of(task(found), "ApprovalRequestCreated")
    )
    run.shows(seen, Says.TASK_CREATED, part=task(seen))
    assert len(task(seen)["conditions"]) == 1

    await world.approve(request)
    seen = await run.until(
        lambda found: found and condition_of(task(found), "ApprovalRequestApproved")
    )
    run.shows(seen, Says.TASK_APPROVED, part=task(seen))
    accepted = condition_of(await world.asked(request), "ApprovalAccepted")
    row = Says.APPROVAL_ACCEPTED.value
    assert {key: accepted[key] for key in ("status", "reason", "message")} == {
        "status": row.status,
        "reason": row.reason,
        "message": row.message,
    }
    assert accepted["observedGeneration"] == 1
    world.note(Says.APPROVAL_ACCEPTED)
    if side == "before":
        await world.update("a")
    await run.succeeds()


async def test_8_5_an_approval_given_before_it_is_requested_counts(world: World) -> None:
    """An existing request that targets this run and stage is used as it is.

    A request older than the run belongs to another run of the same name.
    """
    await world.place("a")
    await world.strategy(stage(beforeStageTasks=[APPROVAL]))
    run = await Run.create(world, state="Initialize")
    labels = {"kubernetes-fleet.io/targetUpdateRun": "later"}
    await world.hand.ask(run.request("before"), run=run.name, stage="one", labels=labels)
    await world.approve(run.request("before"))
    await run.set_state("Run")
    seen = await run.stage_comes_to(Says.STAGE_STARTED)
    for says in (Says.TASK_CREATED, Says.TASK_APPROVED):
        run.shows(seen, says, part=stage_of(seen, 0)["beforeStageTaskStatus"][0])


@pytest.mark.parametrize("wrong", ["run", "stage"])
async def test_8_5_a_request_that_targets_something_else_fails_the_run(
    world: World, wrong: str
) -> None:
    await world.place("a")
    await world.strategy(stage(beforeStageTasks=[APPROVAL]))
    run = await Run.create(world, state="Initialize")
    target = {"run": ("other", "one"), "stage": (run.name, "two")}[wrong]
    name = run.request("before")
    await world.hand.ask(name, run=target[0], stage=target[1])
    await run.set_state("Run")
    text = (
        f"{E_ABORT}: {E_UNEXP}: the approval request task `{world.key(name)}` is targeting update "
        f"run `{world.key(target[0])}` and stage `{target[1]}`, want target update run "
        f"`{world.key(run.name)} and stage `one`"
    )
    seen = await run.fails(text)
    run.shows(seen, Says.STAGE_FAILED, part=stage_of(seen, 0), error=text)
    await world.untouched("a")
    await world.delete(world.scope.approval, name)


async def test_8_5_an_approved_request_is_no_longer_checked(world: World) -> None:
    run = await asks(world)
    await run.approve("before")
    await world.handed_out("a")
    await world.delete(world.scope.approval, run.request("before"))
    await world.report("a")
    seen = await run.succeeds()
    run.shows(seen, Says.TASK_APPROVED, part=stage_of(seen, 0)["beforeStageTaskStatus"][0])
    assert await world.find(world.scope.approval, run.request("before")) is None


async def test_6_an_approval_without_a_run_triggers_nothing(world: World) -> None:
    run = await asks(world)
    name = f"{world.name}-stray"
    await world.hand.ask(name, run="", stage="one")
    await world.approve(name)
    await run.stays(Says.RUN_WAITING_BEFORE, seconds=QUIET)
    await world.untouched("a")
    await world.delete(world.scope.approval, name)


async def test_8_5_an_acceptance_cannot_be_reverted(world: World) -> None:
    """It is approved while another task still waits, and then withdrawn."""
    await world.place("a")
    await world.strategy(stage(afterStageTasks=[APPROVAL, timed_wait("2s")]))
    run = await Run.create(world)
    await world.update("a")
    request = run.request("after")
    await world.approve(request)
    await world.until(
        world.scope.approval,
        request,
        lambda seen: seen and condition_of(seen, "ApprovalAccepted"),
    )
    await world.approve(request, status="False")
    seen = await run.succeeds()
    run.shows(seen, Says.TASK_APPROVED, part=stage_of(seen, 0)["afterStageTaskStatus"][0])


async def test_8_5_a_request_deleted_before_its_acceptance_is_recreated(world: World) -> None:
    run = await asks(world)
    request = run.request("before")
    await lost_and_asked_again(world, request)
    await run.stays(Says.RUN_WAITING_BEFORE, seconds=QUIET)
    await world.untouched("a")
    await world.approve(request)
    await world.handed_out("a")


async def test_8_5_an_approval_withdrawn_before_it_counts_has_to_be_given_again(
    world: World,
) -> None:
    run = await asks(world)
    await run.set_state("Stop")
    await run.comes_to(Says.RUN_STOPPED)
    request = run.request("before")
    await world.approve(request)
    await world.approve(request, status="False")
    await run.set_state("Run")
    await run.comes_to(Says.RUN_WAITING_BEFORE, stage="one")
    await run.stays(Says.RUN_WAITING_BEFORE, seconds=QUIET)
    await world.untouched("a")
    await world.approve(request)
    await world.handed_out("a")
