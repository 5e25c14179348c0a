"""Section 8.8: the stage that removes clusters that are no longer picked."""

from hub import Json
from tests.conformance.objects import (
    APPROVAL,
    DELETION_STAGE,
    stage,
    stage_of,
)
from tests.conformance.runs import Run
from tests.conformance.situations import leaving, let_go, removing
from tests.conformance.texts import E_ABORT, E_UNEXP
from tests.conformance.vocabulary import Says
from tests.conformance.world import World
from tests.support.conditions import condition_of


async def test_8_8_bindings_are_deleted_only_after_all_stages(world: World) -> None:
    await world.place("a")
    await leaving(world, "x")
    await world.strategy(stage(afterStageTasks=[APPROVAL]))
    run = await Run.create(world)
    await world.update("a")
    seen = await run.comes_to(Says.RUN_WAITING_AFTER, stage="one")
    assert "conditions" not in stage_of(seen, -1)
    assert "deletionTimestamp" not in (await world.read_binding("x"))["metadata"]
    await run.approve("after")
    await let_go(world, "x")
    await run.succeeds()


async def test_8_8_all_bindings_are_deleted_at_once_and_reported_separately(world: World) -> None:
    await world.place("a")
    await leaving(world, "xyz")
    await world.strategy(stage())
    run = await Run.create(world)
    await world.update("a")
    for short in "xyz":
        await world.until(
            world.scope.binding,
            world.binding_name(short),
            lambda seen: seen and seen["metadata"].get("deletionTimestamp"),
        )
    seen = await run.cluster_comes_to(Says.CLUSTER_STARTED, "z", -1)
    deletion = stage_of(seen, -1)
    assert deletion["stageName"] == DELETION_STAGE
    run.shows(seen, Says.STAGE_STARTED, part=deletion)
    run.shows(seen, Says.RUN_PROGRESSING)
    assert deletion["startTime"]
    for cluster in deletion["clusters"]:
        assert not condition_of(cluster, "Succeeded")

    await let_go(world, "y")
    seen = await run.cluster_comes_to(Says.CLUSTER_SUCCEEDED, "y", -1)
    assert not condition_of(run.cluster(seen, "x", -1), "Succeeded")
    run.shows(seen, Says.RUN_PROGRESSING)

    await let_go(world, "x", "z")
    seen = await run.succeeds()
    deletion = stage_of(seen, -1)
    run.shows(seen, Says.STAGE_COMPLETED, part=deletion)
    run.shows(seen, Says.STAGE_SUCCEEDED, part=deletion)
    assert deletion["endTime"]


async def test_8_8_a_binding_that_is_already_gone_counts_as_deleted(world: World) -> None:
    await world.place("a")
    await leaving(world, "x", held=False)
    await world.strategy(stage())
    run = await Run.create(world)
    await world.handed_out("a")
    await world.delete(world.scope.binding, world.binding_name("x"))
    await world.report("a")
    seen = await run.succeeds()
    for says in (Says.CLUSTER_STARTED, Says.CLUSTER_SUCCEEDED):
        run.shows(seen, says, part=run.cluster(seen, "x", -1))


async def test_8_8_the_stage_succeeds_at_once_if_there_is_nothing_to_delete(world: World) -> None:
    await world.place("a")
    await world.strategy(stage())
    run = await Run.create(world)
    await world.update("a")
    seen = await run.succeeds()
    deletion = stage_of(seen, -1)
    assert deletion["clusters"] == []
    run.shows(seen, Says.STAGE_SUCCEEDED, part=deletion)


async def test_8_8_a_slow_deletion_is_not_reported_as_stuck(world: World) -> None:
    run = await removing(world, "x")
    await run.stays(Says.RUN_PROGRESSING, seconds=world.stuck_after + 0.5)
    await let_go(world, "x")
    await run.succeeds()


async def test_8_8_a_binding_that_comes_back_after_its_deletion_fails_the_run(
    world: World,
) -> None:
    run = await removing(world, "xy")
    await let_go(world, "x")
    await run.cluster_comes_to(Says.CLUSTER_SUCCEEDED, "x", -1)
    await leaving(world, "x")
    await is_aborted(
        run,
        f"the deleted cluster `{world.cluster('x')}` in the deleting stage still has a binding",
    )


async def is_aborted(run: Run, text: str) -> None:
    """Wait until the run has failed in the deletion stage."""
    text = f"{E_ABORT}: {E_UNEXP}: {text}"
    seen = await run.fails(text)
    run.shows(seen, Says.STAGE_FAILED, part=stage_of(seen, -1), error=text)
    run.shows(seen, Says.STAGE_ABORTED, part=stage_of(seen, -1))
    assert stage_of(seen, -1)["endTime"]


async def test_8_8_a_second_binding_of_a_cluster_being_deleted_fails_the_run(
    world: World,
) -> None:
    run = await removing(world, "x")
    await world.binding("x-again", cluster="x", state="Unscheduled")
    await is_aborted(
        run,
        f"the cluster `{world.cluster('x')}` in the deleting stage is marked as deleting but its "
        "corresponding binding is not deleting",
    )


async def test_8_8_another_cluster_to_be_deleted_fails_the_run_in_validation(
    world: World,
) -> None:
    """Section 9 comes first, so the message is from there, and the stage has not failed."""
    run = await removing(world, "x")
    await world.binding("y", state="Unscheduled")
    text = f"the cluster `{world.cluster('y')}` to be deleted is not in the delete stage"
    seen = await run.fails(f"{E_ABORT}: {E_UNEXP}: {text}")
    assert not condition_of(stage_of(seen, -1), "Succeeded")
    assert "deletionTimestamp" not in (await world.read_binding("y"))["metadata"]


async def test_decision_15_a_run_that_only_deletes_succeeds(world: World) -> None:
    await world.place("")
    await leaving(world, "xy")
    await world.strategy(stage(), stage("two"))
    run = await Run.create(world)
    await let_go(world, "x", "y")
    seen = await run.succeeds()
    run.shows(seen, Says.STAGE_SKIPPED, part=stage_of(seen, 0))
    assert _done(seen) == ["True", "True"]
    assert "policyObservedClusterCount" not in seen["status"], "omitted when it is 0"


def _done(run: Json) -> list[str]:
    return [
        condition_of(cluster, "Succeeded")["status"] for cluster in stage_of(run, -1)["clusters"]
    ]
