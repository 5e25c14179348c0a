"""The deletion stage, the last one: removing clusters that the placement no longer picks.

contract: update-runs 8.8
"""

import asyncio

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities import stubs
    from activities.requests import FollowBindings, RemoveCluster
    from planning.runs import adopting, concurrency, marks
    from planning.runs.ledger import DELETION
    from workflows import calls
    from workflows.rollout import Rollout


async def remove_clusters(rollout: Rollout) -> None:
    """Delete all bindings, with as much concurrency as Temporal allows, and wait for the end."""
    rollout.position.enter(DELETION)
    stage = rollout.ledger.stage(DELETION)
    if rollout.position.resumes(DELETION):
        await rollout.until_certain()
    else:
        await rollout.until_running()
        marks.run_progressing(rollout.ledger, workflow.now())
        marks.stage_started(rollout.ledger, DELETION, workflow.now())
    positions = adopting.open_clusters(stage)
    if positions:
        await _remove(rollout, positions)
        await rollout.until_running()
    marks.stage_succeeded(rollout.ledger, DELETION, workflow.now())


async def _remove(rollout: Rollout, positions: list[int]) -> None:
    follower = rollout.follow(
        FollowBindings(
            run=rollout.run,
            placement=rollout.placement,
            stage=rollout.ledger.stage(DELETION).stage_name,
            clusters=rollout.targets.leaving,
        ),
        summary=f"deletion: bindings of {rollout.placement}",
    )
    slots = asyncio.Semaphore(concurrency.MOST)

    async def remove(position: int) -> None:
        async with slots:
            await _remove_one(rollout, position)

    try:
        await asyncio.gather(*map(remove, positions))
    finally:
        follower.cancel()


async def _remove_one(rollout: Rollout, position: int) -> None:
    cluster = rollout.ledger.cluster(DELETION, position).cluster_name
    await rollout.pace.turn()
    now = workflow.now()
    rollout.begin(cluster, now)
    marks.cluster_started(rollout.ledger, DELETION, position, now)
    # An earlier workflow may have removed it already.
    if binding := rollout.targets.leaving.get(cluster):
        request = RemoveCluster(run=rollout.run, cluster=cluster, binding=binding)
        await calls.cluster(stubs.REMOVE_CLUSTER, request, cluster=cluster)
    await rollout.end(cluster)
    marks.cluster_succeeded(rollout.ledger, DELETION, position, workflow.now())
