"""Situations of runs in which tests start: a cluster in flight, a gate, clusters being removed."""

from hub import Json
from tests.conformance.objects import APPROVAL, stage, stage_of
from tests.conformance.runs import Run
from tests.conformance.vocabulary import Says
from tests.conformance.world import World
from tests.support.conditions import condition_of

HELD = ["conformance.example.com/held"]
"""A finalizer that keeps a deleted binding until the test releases it."""


async def in_flight(world: World, shorts: str = "ab", **fields: object) -> Run:
    """Create a run with one stage, and wait until its first cluster is in flight."""
    await world.place(shorts)
    await world.strategy(stage(**fields))
    run = await Run.create(world)
    await started(run, shorts[0])
    return run


async def started(run: Run, *shorts: str) -> None:
    """Wait until these clusters of the first stage are in flight, and the run says so."""
    for short in shorts:
        await run.world.handed_out(short)
        await run.cluster_comes_to(Says.CLUSTER_STARTED, short)


async def asks(world: World, side: str = "before") -> Run:
    """Create a run with one cluster, and wait until it waits for approval before or after it."""
    await world.place("a")
    await world.strategy(stage(**{f"{side}StageTasks": [APPROVAL]}))
    run = await Run.create(world)
    if side == "after":
        await world.update("a")
    await world.asked(run.request(side))
    waiting = Says.RUN_WAITING_BEFORE if side == "before" else Says.RUN_WAITING_AFTER
    await run.comes_to(waiting, stage="one")
    return run


async def lost_and_asked_again(world: World, request: str) -> None:
    """Delete an approval request that is not accepted, and wait until it is created again."""
    first = await world.asked(request)
    await world.delete(world.scope.approval, request)
    await world.until(
        world.scope.approval,
        request,
        lambda seen: seen and seen["metadata"]["uid"] != first["metadata"]["uid"],
    )


async def at_a_gate(world: World, *, policy: Json | None = None) -> Run:
    """Create a run with a and b in stage one, which waits for approval, and c in stage two."""
    clusters = {
        "a": {"stage": "one", "order": "1"},
        "b": {"stage": "one", "order": "2"},
        "c": {"stage": "two", "tier": "second"},
    }
    await world.place(clusters, policy=policy, counted=3)
    second = {"matchLabels": {"tier": "second"}}
    await world.strategy(
        stage("one", sortingLabelKey="order", beforeStageTasks=[APPROVAL], maxConcurrency=2),
        stage("two", labelSelector=second),
    )
    run = await Run.create(world)
    await run.until(
        lambda seen: (
            seen
            and condition_of(
                stage_of(seen, 0)["beforeStageTaskStatus"][0], "ApprovalRequestCreated"
            )
        )
    )
    return run


async def goes_through(run: Run) -> Json:
    """Approve a run that waits at its gate, and wait until it succeeds."""
    await run.approve("before")
    await run.world.update("a", "b", "c")
    return await run.succeeds()


# -- clusters that are no longer picked ----------------------------------------------------


async def leaving(world: World, shorts: str, *, held: bool = True) -> None:
    """Create bindings that the scheduler has given up."""
    for short in shorts:
        await world.binding(short, state="Unscheduled", finalizers=HELD if held else ())


async def removing(world: World, shorts: str) -> Run:
    """Create a run that has updated its only cluster and deletes the held bindings of these."""
    await world.place("a")
    await leaving(world, shorts)
    await world.strategy(stage())
    run = await Run.create(world)
    await world.update("a")
    await run.cluster_comes_to(Says.CLUSTER_STARTED, shorts[-1], -1)
    return run


async def let_go(world: World, *shorts: str) -> None:
    """Release deleted bindings, as the work generator eventually does."""
    for short in shorts:
        await world.until(
            world.scope.binding,
            world.binding_name(short),
            lambda seen: seen and seen["metadata"].get("deletionTimestamp"),
        )
        await world.release(world.scope.binding, world.binding_name(short))
