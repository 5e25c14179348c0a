"""What the bridge keeps in memory and watches for runs, and what it does not."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest
from temporalio.client import Client

from api.kinds import MEMBER_CLUSTER, Scope
from api.runs import UpdateRun
from bridge.dependencies import Dependencies
from bridge.run_dependencies import RunDependencies
from bridge.runs import RunIndex, is_live, kept
from bridge.temporal import Workflows
from hub import Cache, Hub, Json, SharedCaches
from tests.hub.support import mirrored, until
from tests.support.conditions import condition
from tests.support.eventually import eventually
from tests.support.hand_placement import HandPlacement

RUNS = 66
"""More than the 64 runs that once could have watches of their own."""


def stages(clusters: int) -> list[Json]:
    """Return the status of the stages of a run that has just been planned."""
    named = [{"clusterName": f"member-{number}", "conditions": []} for number in range(clusters)]
    return [{"stageName": "one", "clusters": named, "conditions": []}]


async def plan(placement: HandPlacement, run: str, *more: Json) -> None:
    """Create a run with a status that shows that it is planned, and more conditions."""
    await placement.create_run(run, "none")
    said = [condition("Initialized"), *more]
    status = {"conditions": said, "stagesStatus": stages(20)}
    await placement.say(placement.scope.run, run, status)


async def test_a_run_that_is_over_is_kept_without_its_stages_but_reported_once_with_them(
    hub: Hub, placement: HandPlacement, unique: str, scope: Scope
) -> None:
    cache = Cache(hub, scope.run, keep=kept)
    index, told = RunIndex(scope, cache), list[UpdateRun]()
    key = (placement.namespace, unique)
    async with mirrored(cache):

        def active() -> bool:
            run = index.get(key)
            return run is not None and bool(run.status.stages_status)

        cache.subscribe(lambda change: told.extend(filter(None, [index.update(change)])))
        await plan(placement, unique)
        await until(cache, active)
        said = [condition("Initialized"), condition("Succeeded")]
        await placement.say(scope.run, unique, {"conditions": said})
        await until(cache, lambda: not active())

        run, ended = index.get(key), told[-1]
    assert run is not None
    assert not is_live(run)
    assert run.status.stages_status == []
    assert run.status.conditions == ended.status.conditions
    assert [len(each.clusters) for each in ended.status.stages_status] == [20]
    await placement.delete_run(unique)


@pytest.mark.alone("it opens a watch for each of many runs")
async def test_the_65th_run_has_no_more_watches_than_the_first(
    hub: Hub, temporal: Client, placement: HandPlacement, unique: str, scope: Scope
) -> None:
    runs, placements = Cache(hub, scope.run), Cache(hub, scope.placement)
    shared = SharedCaches(hub)
    workflows = Workflows(temporal, task_queue=unique, stuck_after=timedelta(minutes=1))
    names = [f"{unique}-{number}" for number in range(RUNS)]
    for name in names:
        own = HandPlacement(hub, scope, name, namespace=placement.namespace)
        await plan(own, name, condition("Progressing", reason="UpdateRunProgressing"))
    async with mirrored(runs), mirrored(placements):
        dependencies = Dependencies(
            RunIndex(scope, runs),
            placements,
            Cache(hub, scope.report),
            workflows,
            shared,
            lost=lambda _: None,
        )
        for name in names:
            dependencies.note((placement.namespace, name))

        # One watch for each placement's bindings, one for all policies and one for all members.
        await eventually(lambda: len(shared) == RUNS + 2)
    for name in names:
        await placement.delete_run(name)
    await shared.close()


@contextmanager
def following(
    dependencies: RunDependencies, shared: SharedCaches, seen: list[int]
) -> Iterator[None]:
    """Follow the dependencies of a run; each call of `changed` adds an item to `seen`."""
    task = asyncio.create_task(dependencies.follow(shared, changed=lambda: seen.append(1)))
    yield
    task.cancel()


async def test_only_changes_of_members_with_the_placement_cause_a_check(
    hub: Hub, placement: HandPlacement, unique: str, scope: Scope
) -> None:
    has, other = f"{unique}-has", f"{unique}-other"
    await placement.create({has: {"env": "a"}})
    await placement.member(other, {"env": "a"})
    spec = placement.run_spec("none")
    run = UpdateRun.from_wire({**placement.body({"spec": spec}), "apiVersion": "v1", "kind": "R"})
    shared, seen = SharedCaches(hub), list[int]()
    placements = Cache(hub, scope.placement)
    async with mirrored(placements), shared.use(MEMBER_CLUSTER, metadata_only=True) as members:
        dependencies = RunDependencies(run, scope=scope, placements=placements)
        with following(dependencies, shared, seen):
            await eventually(lambda: dependencies.facts(run) is not None)
            begun = len(seen)
            for cluster in (other, has):
                await placement.member(cluster, {"env": "b"})

            def is_told() -> bool:
                found = members.get(has)
                return found is not None and found["metadata"]["labels"].get("env") == "b"

            await until(members, is_told)
            facts = dependencies.facts(run)
    await shared.close()

    assert len(seen) == begun + 1
    assert facts is not None
    assert [each.name for each in facts.clusters] == [has]
