"""Sections 7.7 and 7.9: the resource snapshot that a run rolls out."""

from contextlib import aclosing

import pytest

from api.kinds import CONFIG_MAP, NAMESPACE
from hub import Json
from tests.conformance.objects import cluster_names, stage
from tests.conformance.runs import Run
from tests.conformance.texts import E_UNEXP, E_USER, E_VALID
from tests.conformance.vocabulary import Says
from tests.conformance.waiting import states
from tests.conformance.world import World
from tests.support.conditions import condition_of
from tests.support.hand_placement import LATEST, PARENT, RESOURCE_INDEX


async def refused(world: World, error: str, *, index: str | None) -> Json:
    await world.strategy(stage())
    run = await Run.create(world, index=index)
    status: Json = (await run.is_refused(f"{E_VALID}: {error}"))["status"]
    return status


@pytest.mark.parametrize(
    "index", ["x", "-1", "1.0", "1_0", " 0", "0x1", "٣", "9223372036854775808"]
)
async def test_7_7_an_index_that_is_not_a_natural_number_is_a_user_error(
    world: World, index: str
) -> None:
    await world.place("a")
    text = f"invalid resource snapshot index `{index}` provided, expected an integer >= 0"
    status = await refused(world, f"{E_USER}: {text}", index=index)
    assert sorted(status) == [
        "appliedStrategy",
        "conditions",
        "deletionStageStatus",
        "policyObservedClusterCount",
        "policySnapshotIndexUsed",
        "stagedUpdateStrategySnapshot",
        "stagesStatus",
    ], "earlier findings are kept"


@pytest.mark.parametrize(("index", "shown"), [("1", "1"), ("007", "7"), ("+0", "0")])
async def test_7_7_an_index_without_a_snapshot_is_a_user_error(
    world: World, index: str, shown: str
) -> None:
    """The label is compared as given, but the message shows the number."""
    await world.place("a")
    text = (
        f"no resourceSnapshots with index `{shown}` found for placement `{world.key(world.name)}`"
    )
    await refused(world, f"{E_USER}: {text}", index=index)


async def test_7_7_snapshots_without_a_master_are_unexpected(world: World) -> None:
    await world.place("a", versions=0)
    await world.hand.snapshot(0, hashed=False)
    text = f"no master resourceSnapshot found for placement {world.key(world.name)}"
    await refused(world, f"{E_UNEXP}: {text}", index="0")


async def test_7_7_the_master_of_a_group_of_snapshots_is_rolled_out(world: World) -> None:
    await world.place("a")
    await world.hand.part(0, 0)
    await world.hand.part(0, 1)
    await world.strategy(stage())
    run = await Run.create(world)
    await world.handed_out("a", index=0)
    seen = await run.comes_to(Says.RUN_INITIALIZED)
    assert seen["status"]["resourceSnapshotIndexUsed"] == "0"


async def test_7_7_an_older_snapshot_may_be_rolled_out(world: World) -> None:
    await world.place("a", versions=3)
    await world.strategy(stage())
    run = await Run.create(world, index="1")
    await world.update("a", index=1)
    seen = await run.succeeds()
    assert seen["status"]["resourceSnapshotIndexUsed"] == "1"


async def test_7_7_a_run_without_an_index_takes_a_snapshot_of_the_current_content(
    world: World,
) -> None:
    await world.place("a", versions=0)
    content = await write_content(world, "v1")
    await world.strategy(stage())
    run = await Run.create(world, index=None, state="Initialize")
    seen = await run.comes_to(Says.RUN_INITIALIZED)
    assert seen["status"]["resourceSnapshotIndexUsed"] == "0"
    taken = await world.read(world.scope.resource_snapshot, world.hand.snapshot_name(0))
    labels = taken["metadata"]["labels"]
    assert (labels[PARENT], labels[RESOURCE_INDEX], labels[LATEST]) == (world.name, "0", "true")
    assert content in [each["metadata"]["name"] for each in taken["spec"]["selectedResources"]]
    await world.untouched("a")


async def test_7_7_unchanged_content_gets_no_second_snapshot(world: World) -> None:
    await world.place("a", versions=0)
    await write_content(world, "v1")
    await world.strategy(stage())
    first = await Run.create(world, index=None, suffix="first", state="Initialize")
    await first.comes_to(Says.RUN_INITIALIZED)
    second = await Run.create(world, index="", suffix="second", state="Initialize")
    seen = await second.comes_to(Says.RUN_INITIALIZED)
    assert seen["status"]["resourceSnapshotIndexUsed"] == "0"


async def test_7_7_changed_content_gets_a_snapshot_with_the_next_index_at_once(
    world: World,
) -> None:
    await world.place("a", versions=0)
    await write_content(world, "v1")
    await world.strategy(stage())
    first = await Run.create(world, index=None, suffix="first", state="Initialize")
    await first.comes_to(Says.RUN_INITIALIZED)
    await write_content(world, "v2")
    second = await Run.create(world, index=None, suffix="second")
    await world.update("a", index=1)
    seen = await second.succeeds()
    assert seen["status"]["resourceSnapshotIndexUsed"] == "1"
    outdated = await world.read(world.scope.resource_snapshot, world.hand.snapshot_name(0))
    assert outdated["metadata"]["labels"][LATEST] == "false"


async def test_7_7_old_snapshots_are_pruned_to_the_history_limit(world: World) -> None:
    await world.place("a", versions=0, revisionHistoryLimit=2)
    await world.strategy(stage())
    for version in range(3):
        await write_content(world, f"v{version}")
        run = await Run.create(world, index=None, suffix=f"{version}", state="Initialize")
        await run.comes_to(Says.RUN_INITIALIZED)
        # A run that may still be started keeps its snapshot from being pruned.
        await world.delete(world.scope.run, run.name)
        await world.gone(world.scope.run, run.name)
    assert await world.find(world.scope.resource_snapshot, world.hand.snapshot_name(0)) is None
    for index in (1, 2):
        assert await world.find(world.scope.resource_snapshot, world.hand.snapshot_name(index))


async def test_7_7_a_placement_that_selects_nothing_gets_an_empty_snapshot(world: World) -> None:
    await world.place("a", versions=0)
    await world.strategy(stage())
    run = await Run.create(world, index=None, state="Initialize")
    await run.comes_to(Says.RUN_INITIALIZED)
    taken = await world.read(world.scope.resource_snapshot, world.hand.snapshot_name(0))
    assert taken["spec"]["selectedResources"] == []


async def test_7_7_selectors_that_cannot_be_resolved_are_a_user_error(world: World) -> None:
    unknown = {"group": "nowhere.example.com", "version": "v1", "kind": "Gadget", "name": "x"}
    await world.place("a", versions=0, resourceSelectors=[unknown])
    await world.strategy(stage())
    run = await Run.create(world, index=None)
    seen = await run.until(
        lambda found: found and found["status"]["conditions"][0]["status"] == "False"
    )
    message = seen["status"]["conditions"][0]["message"]
    assert message.startswith(f"{E_VALID}: {E_USER}: "), message
    run.shows(seen, Says.RUN_NOT_INITIALIZED, error=message)
    assert cluster_names(seen) == world.clusters("a")


async def test_7_9_initialization_is_recorded_before_anything_else_is_done(
    world: World,
) -> None:
    await world.place("a")
    await world.strategy(stage())
    run = Run(world, f"{world.name}-run")
    async with aclosing(states(world.hub, world.scope.run, run.name, world.namespace)) as each:
        assert await anext(each) is None
        await Run.create(world)
        first = await anext(
            seen async for seen in each if seen and condition_of(seen, "Initialized")
        )
    run.shows(first, Says.RUN_INITIALIZED)
    assert cluster_names(first) == world.clusters("a")
    assert "conditions" not in run.cluster(first, "a")


async def test_decision_9_a_run_without_an_index_announces_the_index_it_uses(world: World) -> None:
    await world.place("a", versions=0)
    await write_content(world, "v1")
    await world.strategy(stage())
    run = await Run.create(world, index=None)
    binding = await world.handed_out("a")
    announced = binding["status"]["conditions"][0]
    assert announced["message"] == (
        "Detected the new changes on the resources and started the rollout process, "
        f"resourceSnapshotIndex: 0, updateRun: {run.name}"
    )


async def write_content(world: World, value: str) -> str:
    """Write the object that the world's placement selects, and return its name."""
    if world.namespace:
        body = {"metadata": world.meta(world.name), "data": {"key": value}}
        await world.hub.apply(CONFIG_MAP, body)
    else:
        labels = {"version": value}
        await world.hub.apply(NAMESPACE, {"metadata": {"name": world.name, "labels": labels}})
    return world.name
