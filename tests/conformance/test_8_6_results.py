"""Section 8.6b: the meaning of a binding's conditions, and clusters that take too long."""

import pytest

from hub import Json
from tests.conformance.objects import stage, stage_of, types_of
from tests.conformance.pace import QUIET
from tests.conformance.runs import Run
from tests.conformance.situations import in_flight
from tests.conformance.vocabulary import Says
from tests.conformance.world import World

TOLERATED = [
    ("Overridden", "OverriddenPending"),
    ("WorkSynchronized", "WorkNotSynchronizedYet"),
    ("Applied", "ApplyPending"),
    ("Available", "ResourceNotAvailableYet"),
]
FAILING = [
    ("Overridden", "OverriddenFailed"),
    ("WorkSynchronized", "SyncWorkFailed"),
    ("Applied", "ApplyInProgress"),
    ("Applied", "NotAllWorkHaveBeenApplied"),
    ("Available", "NotAllWorkAreAvailable"),
    ("DiffReported", "NotAllWorkHaveDiffReported"),
]


# -- success -------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["Available", "DiffReported"])
async def test_8_6b_available_or_diff_reported_is_success(world: World, kind: str) -> None:
    run = await in_flight(world, "a")
    await world.report("a", kind)
    seen = await run.succeeds()
    run.shows(seen, Says.CLUSTER_SUCCEEDED, part=run.cluster(seen, "a"))


async def test_8_6b_a_run_with_the_strategy_report_diff_succeeds(world: World) -> None:
    report = {"type": "External", "applyStrategy": {"type": "ReportDiff"}}
    await world.place("ab", strategy=report)
    await world.strategy(stage())
    run = await Run.create(world)
    for short in "ab":
        binding = await world.handed_out(short)
        assert binding["spec"]["applyStrategy"]["type"] == "ReportDiff"
        await world.report(short, "DiffReported")
    await run.succeeds()


@pytest.mark.parametrize("kind", ["Available", "DiffReported"])
async def test_8_6b_success_of_another_generation_does_not_count(world: World, kind: str) -> None:
    run = await in_flight(world, "ab")
    generation = (await world.read_binding("a"))["metadata"]["generation"]
    await world.report("a", kind, generation=generation - 1)
    await run.stays(Says.RUN_PROGRESSING, seconds=QUIET)
    await world.untouched("b")


async def test_8_6b_applied_alone_is_not_success(world: World) -> None:
    run = await in_flight(world, "ab")
    for kind in ("Overridden", "WorkSynchronized", "Applied"):
        await world.report("a", kind)
    await run.stays(Says.RUN_PROGRESSING, seconds=QUIET)
    await world.untouched("b")


# -- failure -------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "reason"), TOLERATED + FAILING)
async def test_8_6b_a_failing_binding_changes_no_condition(
    world: World, kind: str, reason: str
) -> None:
    """Decision 7; the cluster continues as soon as its binding recovers."""
    run = await in_flight(world, "ab")
    before = await run.read()
    await world.report("a", kind, "False", reason)

    def is_as_before(seen: Json | None) -> bool:
        return seen is not None and seen["status"] == before["status"]

    await world.throughout(world.scope.run, run.name, is_as_before, seconds=QUIET)
    await world.untouched("b")
    await world.report("a")
    await world.handed_out("b")


# -- stuck ---------------------------------------------------------------------------------


@pytest.mark.parametrize("failing", [True, False], ids=["failing", "silent"])
async def test_8_4_a_cluster_that_takes_too_long_is_stuck_for_any_reason(
    world: World, failing: bool
) -> None:
    run = await in_flight(world, "a")
    if failing:
        await world.report("a", "Available", "False", "NotAllWorkAreAvailable")
    seen = await run.comes_to(Says.RUN_STUCK, clusters=world.cluster("a"), stage="one")
    run.shows(seen, Says.STAGE_STARTED, part=stage_of(seen, 0))
    assert types_of(run.cluster(seen, "a")) == ["Started"]


async def test_8_4_a_cluster_is_not_stuck_before_the_threshold(world: World) -> None:
    run = await in_flight(world, "a")
    await run.stays(Says.RUN_PROGRESSING, seconds=world.stuck_after / 4)


@pytest.mark.parametrize(
    ("clusters", "shown"),
    [("ab", "{a}, {b}"), ("abc", "{a}, {b}, {c}"), ("abcd", "{a}, {b}, {c}...")],
)
async def test_8_4_up_to_three_stuck_clusters_are_named_in_the_order_of_the_stage(
    world: World, clusters: str, shown: str
) -> None:
    await world.place(clusters)
    await world.strategy(stage(maxConcurrency=len(clusters)))
    run = await Run.create(world)
    named = shown.format(**{short: world.cluster(short) for short in clusters})
    await run.comes_to(Says.RUN_STUCK, clusters=named, stage="one")


async def test_8_4_a_run_recovers_from_stuck_and_starts_the_next_cluster(world: World) -> None:
    run = await in_flight(world, "ab")
    await run.comes_to(Says.RUN_STUCK, clusters=world.cluster("a"), stage="one")
    await world.untouched("b")
    await world.report("a")
    await world.handed_out("b")
    await run.comes_to(Says.RUN_PROGRESSING)
    await world.report("b")
    await run.succeeds()


async def test_8_4_a_run_stays_stuck_while_other_clusters_are_stuck(world: World) -> None:
    run = await in_flight(world, "abc", maxConcurrency=2)
    await world.handed_out("b")
    both = ", ".join(world.clusters("ab"))
    await run.comes_to(Says.RUN_STUCK, clusters=both, stage="one")
    await world.report("a")
    await world.handed_out("c")
    seen = await run.comes_to(Says.RUN_STUCK, clusters=world.cluster("b"), stage="one")
    run.shows(seen, Says.CLUSTER_SUCCEEDED, part=run.cluster(seen, "a"))
